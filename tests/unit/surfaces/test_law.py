"""What every surface shares: points in any shape, numbers out in the same, clear refusals."""

import numpy as np
import pytest

from alight.core.errors import DeviceError, InputError
from alight.shapes.icosphere import icosphere
from alight.surfaces import DistanceField, FractalNoise, Plane, Rough, Sphere, Surface

NOISE = FractalNoise(0.01, 0.5, octaves=2, seed=5)


@pytest.fixture(scope="module")
def laws():
    ball = icosphere(2)
    fields = {
        kind: DistanceField.from_mesh(ball, 0.1, interpolation=kind, store=False, device="cpu")
        for kind in ("smooth", "trilinear")
    }
    return {
        "plane": Plane((0.0, 0.0, 0.5), (1.0, 0.0, 2.0)),
        "sphere": Sphere((0.1, 0.0, 0.0), 1.0),
        **fields,
        "rough plane": Rough(Plane(), NOISE),
        "rough sphere": Rough(Sphere(), NOISE),
        "rough field": Rough(fields["smooth"], NOISE),
    }


@pytest.fixture(
    params=["plane", "sphere", "smooth", "trilinear", "rough plane", "rough sphere", "rough field"]
)
def law(request, laws):
    return laws[request.param]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (2, 5), (3, 0)])
def test_shapes_are_kept(law, shape):
    points = np.random.default_rng(0).uniform(-2.0, 2.0, (*shape, 3))
    found = law.sample(points)
    assert found.distance.shape == shape
    assert found.normal.shape == found.gradient.shape == (*shape, 3)
    assert {a.dtype for a in found} == {np.dtype(np.float64)}
    distance, normal = law.query(points)
    assert np.array_equal(distance, found.distance)
    assert np.array_equal(normal, found.normal)


def test_normals_are_unit_and_along_the_gradient(law, device):
    points = np.random.default_rng(1).uniform(-5.0, 5.0, (4000, 3))
    found = law.sample(points, device)
    assert np.isfinite(found.distance).all()
    assert np.linalg.norm(found.normal, axis=1) == pytest.approx(1.0, rel=1e-14)
    length = np.linalg.norm(found.gradient, axis=1)
    assert found.normal * length[:, None] == pytest.approx(found.gradient, rel=1e-13, abs=1e-15)


def test_bounds_are_never_exceeded_outside(law):
    """Gradients and their change between near points, at 20 000 random points outside."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(20_000, 3)) * rng.uniform(0.5, 3.0, (20_000, 1))
    step = 1e-5 * _directions(rng, len(points))
    one, other = law.sample(points), law.sample(points + step)
    outside = (one.distance > 0.0) & (other.distance > 0.0)
    assert outside.sum() > 5000
    bounds = law.bounds
    assert np.linalg.norm(one.gradient, axis=1)[outside].max() <= bounds.slope * (1 + 1e-12)
    change = np.linalg.norm(one.gradient - other.gradient, axis=1)[outside] / 1e-5
    assert change.max() <= bounds.curvature * (1.0 + 1e-6) + 1e-9


def test_the_distance_over_the_slope_is_a_safe_step(law):
    """From 2000 points a step of distance / slope in any direction stays outside."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(2000, 3)) * 1.5
    distance, _ = law.query(points)
    points, distance = points[distance > 0.0], distance[distance > 0.0]
    ways = np.concatenate([_directions(rng, len(points)), -law.query(points)[1]])
    ends = np.tile(points, (2, 1)) + ways * np.tile(distance, 2)[:, None] / law.bounds.slope
    assert law.query(ends)[0].min() > -1e-12


def _directions(rng, n):
    u = rng.normal(size=(n, 3))
    return u / np.linalg.norm(u, axis=1)[:, None]


def test_devices_agree(law, device):
    """Rounding alone differs: fused multiplications, and square roots of the last bit."""
    points = np.random.default_rng(4).uniform(-1.5, 1.5, (5000, 3))
    here, there = law.sample(points, "cpu"), law.sample(points, device)
    for a, b in zip(here, there, strict=True):
        assert b == pytest.approx(a, rel=1e-11, abs=1e-12)


def test_threads_do_not_change_a_bit(law):
    points = np.random.default_rng(5).uniform(-1.5, 1.5, (5000, 3))
    one, two = (law.sample(points, "cpu", threads=n) for n in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        (3.0, r"shape \(\)"),
        ("here", "numbers"),
        ([[1, 2, 3], [1, 2]], "numbers"),
        ([[0, 0, 0], [np.nan, 0, 0]], r"1 of 2 points are not finite \(first at index \(1,\)\)"),
    ],
)
def test_points_that_cannot_be_used(points, says):
    with pytest.raises(InputError, match=says):
        Plane().query(points)


def test_an_absent_device():
    with pytest.raises(DeviceError):
        Plane().query([[0, 0, 0]], device="cuda:77")


def test_an_unfinished_law_says_so():
    with pytest.raises(NotImplementedError):
        _ = Surface().bounds
    with pytest.raises(NotImplementedError):
        Surface().data(None)

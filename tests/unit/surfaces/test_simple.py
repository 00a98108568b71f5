"""Plane and sphere are their closed forms."""

import numpy as np
import pytest

from alight.core import devices
from alight.core.errors import InputError
from alight.surfaces import Plane, Sphere

POINTS = np.random.default_rng(0).normal(size=(200, 3)) * 10.0


def test_plane(device):
    up = np.array([1.0, -2.0, 2.0]) / 3.0
    ground = Plane((1.0, 2.0, 3.0), 7.0 * up)
    found = ground.sample(POINTS, device)
    assert found.distance == pytest.approx((POINTS - [1, 2, 3]) @ up, rel=1e-13, abs=1e-14)
    assert found.normal == pytest.approx(np.tile(up, (200, 1)), rel=1e-15)
    assert np.array_equal(found.normal, found.gradient)
    assert (ground.bounds.slope, ground.bounds.curvature) == (1.0, 0.0)


def test_default_plane_is_the_floor():
    distance, normal = Plane().query([5.0, 6.0, -2.0])
    assert distance == -2.0
    assert np.array_equal(normal, [0.0, 0.0, 1.0])


def test_normals_of_any_length():
    for size in (1e-200, 1.0, 1e200):
        assert Plane(normal=(0.0, 0.0, size)).query([0.0, 0.0, 2.0])[0] == 2.0


def test_sphere(device):
    center = np.array([1.0, 0.0, -2.0])
    ball = Sphere(center, 3.0)
    found = ball.sample(POINTS, device)
    r = np.linalg.norm(POINTS - center, axis=1)
    assert found.distance == pytest.approx(r - 3.0, rel=1e-13, abs=1e-14)
    assert found.normal == pytest.approx((POINTS - center) / r[:, None], rel=1e-13)
    assert np.array_equal(found.normal, found.gradient)


def test_the_centre_of_a_sphere():
    distance, normal = Sphere((1, 2, 3), 2.0).query([1.0, 2.0, 3.0])
    assert distance == -2.0
    assert np.array_equal(normal, [0.0, 0.0, 1.0])


def test_bounds_of_a_sphere_are_exact():
    ball = Sphere(radius=4.0)
    assert (ball.bounds.slope, ball.bounds.curvature) == (1.0, 0.25)
    assert ball.bounds_to(2.0).curvature == 0.5
    with pytest.raises(InputError, match="lies its centre"):
        ball.bounds_to(4.0)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, "2", None])
def test_radii_that_cannot_be_used(radius):
    with pytest.raises(InputError, match="radius"):
        Sphere(radius=radius)


@pytest.mark.parametrize("vector", [[1, 2], "up", [1, 2, np.nan], None])
def test_vectors_that_cannot_be_used(vector):
    with pytest.raises(InputError, match="normal"):
        Plane(normal=vector)
    with pytest.raises(InputError, match="point"):
        Plane(point=vector)
    with pytest.raises(InputError, match="center"):
        Sphere(center=vector)


def test_a_plane_needs_a_direction():
    with pytest.raises(InputError, match="zero vector"):
        Plane(normal=(0, 0, 0))


def test_names():
    assert repr(Plane()) == "Plane(point=[0.0, 0.0, 0.0], normal=[0.0, 0.0, 1.0])"
    assert repr(Sphere(radius=2)) == "Sphere(center=[0.0, 0.0, 0.0], radius=2.0)"


def test_planes_of_runs_are_planes_alone(device):
    """Rows of points and normals: distances and parameters have the bits of each plane alone."""
    draw = np.random.default_rng(5)
    points, normals = draw.normal(size=(40, 3)), draw.normal(size=(40, 3))
    x = draw.normal(size=(40, 6, 3))
    planes = Plane(points, normals)
    found = planes.sample(x, device=device)
    some = planes.of([7, 3])
    for run in range(40):
        alone = Plane(points[run], normals[run])
        one = alone.sample(x[run], device=device)
        assert all((a[run] == b).all() for a, b in zip(found, one, strict=True))
        assert planes.table()[run] == alone.table()[0]
    assert (some.sample(x[[7, 3]], device=device).distance == found.distance[[7, 3]]).all()
    assert (planes.count, some.count, Plane(points, normals[0]).count) == (40, 2, 40)


def test_planes_of_runs_are_refused_where_all_runs_have_one(device):
    planes = Plane((0, 0, 0), [(0, 0, 1), (0, 1, 1)])
    with pytest.raises(InputError, match="numbers for 2 runs"):
        planes.data(devices.resolve(device))
    with pytest.raises(InputError, match="as many for each run"):
        planes.query(np.zeros((3, 3)), device=device)
    with pytest.raises(InputError, match="one for all, or one for each"):
        Plane(np.zeros((3, 3)), np.ones((2, 3)))
    with pytest.raises(InputError, match="three for each run"):
        Plane(np.zeros((3, 2)))

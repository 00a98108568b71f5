"""SmoothField: one smooth potential that follows a polyhedron's away from its kinks."""

import numpy as np
import pytest

import alight
from alight.core.errors import InputError
from alight.gravity import Polyhedron, SmoothField

SPACING = 30.0


@pytest.fixture(scope="module")
def polyhedron():
    body = alight.body("ryugu")
    return Polyhedron(body.mesh(320), gm=body.gm)


@pytest.fixture(scope="module")
def field(polyhedron):
    return SmoothField(polyhedron, spacing=SPACING, store=False)


def above(polyhedron, height, count=200):
    rng = np.random.default_rng(4)
    face = rng.integers(0, polyhedron.mesh.n_faces, count)
    corner = polyhedron.mesh.vertices[polyhedron.mesh.faces[face]]
    start = np.einsum("ij,ijk->ik", rng.dirichlet([1.0, 1.0, 1.0], count), corner)
    return start + height * polyhedron.mesh.face_normals[face]


def error(field, polyhedron, points):
    g = polyhedron.acceleration(points)
    return np.linalg.norm(field.acceleration(points) - g, axis=1) / np.linalg.norm(g, axis=1)


def test_error_is_small_on_the_ground_and_vanishes_above(field, polyhedron):
    """The kink of the potential at the surface is smoothed over one or two spacings."""
    radius = field.series.radius
    on_ground = error(field, polyhedron, above(polyhedron, 0.5))
    assert on_ground.max() < 0.5 * SPACING / radius
    assert on_ground.max() > 1e-5  # it is not the polyhedron itself
    assert error(field, polyhedron, above(polyhedron, 4.0 * SPACING)).max() < 1e-4


def test_error_reported_is_that_of_unseen_points(field, polyhedron):
    points = above(polyhedron, 2.0)
    assert error(field, polyhedron, points).max() < 1.5 * field.report.max_error
    assert 0.0 < field.report.mean_error < field.report.max_error
    assert field.report.spacing == SPACING


def test_acceleration_and_gradient_are_derivatives_of_the_potential(field, polyhedron):
    x = np.concatenate([above(polyhedron, 1.0, 20), above(polyhedron, 300.0, 20)])
    h = 0.5
    _, g, gradient = field.evaluate(x)
    for axis in range(3):
        step = h * np.eye(3)[axis]
        up, down = field.evaluate(x + step), field.evaluate(x - step)
        # Central differences of a field that varies over spacings err by (h / spacing)^2.
        assert (up[0] - down[0]) / (2 * h) == pytest.approx(g[:, axis], abs=1e-3 * 1.5e-4)
        scale = np.abs(gradient).max()
        assert (up[1] - down[1]) / (2 * h) == pytest.approx(gradient[:, axis], abs=2e-3 * scale)


def test_far_away_it_is_the_series(field, polyhedron):
    x = np.array([[8000.0, 1000.0, -2000.0], [0.0, 0.0, 5000.0]])
    for ours, exact in zip(field.evaluate(x), field.series.evaluate(x), strict=True):
        assert ours == pytest.approx(exact, rel=1e-12, abs=1e-25)


def test_a_table_is_kept_and_found_again(polyhedron, tmp_path):
    first = SmoothField(polyhedron, spacing=60.0, store=tmp_path)
    again = SmoothField(polyhedron, spacing=60.0, store=tmp_path)
    assert len(list(tmp_path.rglob("*.npz"))) == 1
    x = above(polyhedron, 3.0, 10)
    for a, b in zip(first.evaluate(x), again.evaluate(x), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", ["nbytes", "grid0_coefficient"])
def test_a_table_without_an_array_is_built_again(polyhedron, tmp_path, name):
    first = SmoothField(polyhedron, spacing=60.0, store=tmp_path)
    (file,) = tmp_path.rglob("*.npz")
    whole = file.read_bytes()
    with np.load(file) as kept:
        arrays = {key: array for key, array in kept.items() if key != name}
    np.savez(file, **arrays)
    again = SmoothField(polyhedron, spacing=60.0, store=tmp_path)
    x = above(polyhedron, 3.0, 10)
    for a, b in zip(first.evaluate(x), again.evaluate(x), strict=True):
        assert np.array_equal(a, b)
    assert abs(len(file.read_bytes()) - len(whole)) < 100  # kept again, with all its arrays


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"spacing": 0.0}, "spacing"),
        ({"spacing": 400.0}, "at most a fifth"),
        ({"spacing": 30.0, "memory": 1e4}, "wider spacing"),
    ],
)
def test_bad_input(polyhedron, options, says):
    with pytest.raises(InputError, match=says):
        SmoothField(polyhedron, store=False, **options)


def test_needs_a_polyhedron():
    with pytest.raises(InputError, match="PointMass"):
        SmoothField(alight.gravity.PointMass(30.0))

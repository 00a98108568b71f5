"""Hulls of simple landers: closed, centred, outward, and no vertex that is not a corner."""

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.vehicles import hull_corners
from alight.vehicles.rigid import hull_meshes
from alight.vehicles.rigid import inertia as uniform


@pytest.mark.parametrize("sides", [3, 4, 5, 8, 16, 17])
def test_prism_is_closed_and_measures_what_it_should(sides):
    mesh = hull_meshes.prism(sides, 0.2, 0.3)
    assert mesh.health.ok
    assert mesh.n_vertices == 2 * sides
    area = sides / 2 * 0.1**2 * np.sin(2 * np.pi / sides)
    assert mesh.volume == pytest.approx(0.3 * area, rel=1e-13)
    assert np.abs(mesh.center_of_mass).max() < 1e-15
    np.testing.assert_allclose(np.hypot(*mesh.vertices[:, :2].T), 0.1, rtol=1e-14)
    np.testing.assert_allclose(mesh.vertices[0], [0.1, 0.0, -0.15], rtol=1e-14)


def test_box_has_its_corners_and_nothing_else():
    mesh = hull_meshes.box([0.2, 0.3, 0.5])
    assert mesh.health.ok
    assert mesh.volume == pytest.approx(0.03, rel=1e-14)
    assert {tuple(v) for v in np.abs(mesh.vertices)} == {(0.1, 0.15, 0.25)}
    assert len(hull_corners(mesh)) == mesh.n_vertices == 8
    # each side is flat: the normals are the axes
    np.testing.assert_allclose(np.abs(mesh.face_normals).max(axis=1), 1.0, rtol=1e-15)


def test_sphere_touches_its_radius():
    mesh = hull_meshes.sphere(0.4)
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices, axis=1), 0.2, rtol=1e-14)


@pytest.mark.parametrize(
    ("mesh", "inertia"),
    [
        (hull_meshes.box([0.3, 0.2, 0.1]), uniform.box([0.3, 0.2, 0.1], 2.0)),
        (hull_meshes.prism(8, 0.15, 0.16), uniform.prism(8, 0.15, 0.16, 2.0)),
        (hull_meshes.prism(3, 0.15, 0.16), uniform.prism(3, 0.15, 0.16, 2.0)),
    ],
)
def test_closed_forms_are_the_integrals_over_the_mesh(mesh, inertia):
    np.testing.assert_allclose(mesh.inertia(2.0 / mesh.volume), inertia, rtol=1e-13, atol=1e-16)


def test_prism_of_many_sides_becomes_the_cylinder():
    """The polygon's moments miss those of the circle by (2 pi / n)^2 / 6 of themselves."""
    n = 400
    prism, round_ = uniform.prism(n, 0.2, 0.3, 1.5), uniform.cylinder(0.2, 0.3, 1.5)
    missing = (2 * np.pi / n) ** 2 / 6
    assert prism[2, 2] / round_[2, 2] == pytest.approx(1 - missing, abs=missing**2)


def test_ball_of_the_same_volume_has_nearly_its_moments():
    mesh = hull_meshes.sphere(2.0)
    grown = mesh.scaled(float(np.cbrt(4 / 3 * np.pi / mesh.volume)))
    moments = grown.inertia(1.0 / grown.volume).diagonal()
    np.testing.assert_allclose(moments, uniform.sphere(2.0, 1.0).diagonal(), rtol=1e-4)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: hull_meshes.box([1.0, 2.0]), "three lengths"),
        (lambda: hull_meshes.box([1.0, 2.0, -1.0]), "a side of the box"),
        (lambda: hull_meshes.box([1.0, 2.0, np.nan]), "a side of the box"),
        (lambda: hull_meshes.prism(2, 1.0, 1.0), "whole number of at least 3"),
        (lambda: hull_meshes.prism(4.5, 1.0, 1.0), "whole number"),
        (lambda: hull_meshes.prism(8, 0.0, 1.0), "diameter of a prism"),
        (lambda: hull_meshes.prism(8, 1.0, float("inf")), "height of a prism"),
        (lambda: hull_meshes.sphere("big"), "diameter of a sphere"),
    ],
)
def test_sizes_that_cannot_be(call, complaint):
    with pytest.raises(InputError, match=complaint):
        call()

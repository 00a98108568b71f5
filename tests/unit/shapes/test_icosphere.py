"""Triangulated spheres: counts, closure, evenness."""

import sys

import numpy as np
import pytest

from alight.core.errors import InputError
from alight.shapes import icosphere, sphere_points_mesh

spheres = sys.modules["alight.shapes.icosphere"]  # the room gives this name to the function


@pytest.mark.parametrize(
    ("subdivisions", "count"), list(enumerate([12, 42, 162, 642, 2562, 10242]))
)
def test_icospheres_have_their_counts_and_lie_on_the_sphere(subdivisions, count):
    sphere = icosphere(subdivisions, radius=7.0)
    assert sphere.n_vertices == count
    assert sphere.n_faces == 2 * count - 4
    np.testing.assert_allclose(np.linalg.norm(sphere.vertices, axis=1), 7.0, rtol=1e-15)
    # Normals of a sphere point along the radius.
    outward = np.einsum("ij,ij->i", sphere.vertex_normals, sphere.vertices) / 7.0
    assert outward.min() > 1.0 - 1e-3


def test_faces_of_the_icosahedron_are_those_of_its_hull():
    vertices, faces = spheres._icosahedron()
    np.testing.assert_array_equal(faces, spheres._hull_faces(vertices))


def test_icosahedron_edges_are_all_equal():
    # Edge of an icosahedron in the unit sphere: 4 / sqrt(10 + 2 sqrt 5).
    sphere = icosphere(0)
    length = np.linalg.norm(np.diff(sphere.vertices[sphere.edges], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(length, 4 / np.sqrt(10 + 2 * np.sqrt(5)), rtol=1e-14)
    assert len(sphere.edges) == 30


def test_coordinate_axes_are_two_fold_axes():
    sphere = icosphere(2)
    points = {tuple(np.round(p, 12) + 0.0) for p in sphere.vertices}
    for turn in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1]):
        assert {tuple(np.round(p * turn, 12) + 0.0) for p in sphere.vertices} == points


@pytest.mark.parametrize("count", [12, 42, 162, 642])
def test_sphere_of_an_icosphere_count_is_the_icosphere(count):
    level = [12, 42, 162, 642].index(count)
    assert sphere_points_mesh(count) == icosphere(level)


@pytest.mark.parametrize("count", [4, 5, 6, 7, 11, 13, 41, 43, 100, 161, 500, 1000, 4001])
def test_sphere_of_any_count(count):
    sphere = sphere_points_mesh(count, radius=2.0)
    assert sphere.n_vertices == count
    assert sphere.n_faces == 2 * count - 4
    assert sphere.health.ok
    np.testing.assert_allclose(np.linalg.norm(sphere.vertices, axis=1), 2.0, rtol=1e-14)
    assert sphere == sphere_points_mesh(count, radius=2.0)


@pytest.mark.parametrize("count", [100, 500, 1000, 4001])
def test_spheres_are_nearly_even(count):
    # Equal cells have area 4 pi / n; the nearest neighbour in a hexagonal lattice of such cells is
    # 1.07 times the cell's side away. The worst point of a good spread stays above 0.7.
    sphere = sphere_points_mesh(count)
    length = np.linalg.norm(np.diff(sphere.vertices[sphere.edges], axis=1)[:, 0], axis=1)
    side = np.sqrt(4 * np.pi / count)
    assert length.min() > 0.7 * side
    assert length.max() < 2.0 * side


def test_the_fibonacci_sphere_converges_like_an_icosphere():
    lacking = [1 - sphere_points_mesh(n).volume / (4 / 3 * np.pi) for n in (500, 2000)]
    assert lacking[0] / lacking[1] == pytest.approx(4.0, rel=0.1)
    assert lacking[0] == pytest.approx((1 - 0.991394) * 642 / 500, rel=0.2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: icosphere(-1),
        lambda: icosphere(10),
        lambda: icosphere(1.5),
        lambda: icosphere(True),
        lambda: icosphere(2, radius=0.0),
        lambda: icosphere(2, radius=float("nan")),
        lambda: sphere_points_mesh(3),
        lambda: sphere_points_mesh(100.0),
        lambda: sphere_points_mesh(100, radius=-1.0),
    ],
)
def test_impossible_spheres_are_refused(call):
    with pytest.raises(InputError, match=r"must be|at least 4"):
        call()

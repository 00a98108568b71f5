"""Contact points: the corners first, the rest evenly spread, the same every time."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull, cKDTree
from scipy.spatial.transform import Rotation

from alight.core.errors import InputError, MeshError
from alight.scenario import bodies
from alight.shapes import Mesh, icosphere
from alight.vehicles import hull_corners, spread
from alight.vehicles.rigid import hull_meshes
from alight.vehicles.rigid.contact_points import _cut

CUBE = hull_meshes.box([1.0, 1.0, 1.0])
SLAB = hull_meshes.box([0.37, 0.23, 0.10])
DISC = hull_meshes.prism(16, 0.18, 0.07)
BALL = icosphere(0)


def _ideal(mesh, count):
    """Distance of neighbours if points lay on the surface in equilateral triangles."""
    return np.sqrt(2.0 * mesh.area / (np.sqrt(3.0) * count))


def _nearest(points):
    return cKDTree(points).query(points, k=2)[0][:, 1]


def _on_surface(mesh, points):
    """Distance of each point from the nearest facet plane of a convex mesh; 0 on its surface."""
    heights = np.einsum(
        "fi,pfi->pf", mesh.face_normals, points[:, None] - mesh.vertices[mesh.faces[:, 0]]
    )
    return heights.max(axis=1)


def test_minerva_has_its_two_rims_of_16():
    points = spread(DISC, 32)
    np.testing.assert_array_equal(points, DISC.vertices)
    assert (points[:, 2] > 0).sum() == (points[:, 2] < 0).sum() == 16


def test_cube_of_14_and_26():
    """Corners, then middles of faces; with 12 more, the middles of edges."""

    def kind(points):
        return sorted((np.abs(points) > 0.25).sum(axis=1).tolist())

    assert kind(spread(CUBE, 8)) == [3] * 8
    assert kind(spread(CUBE, 14)) == [1] * 6 + [3] * 8
    points = spread(CUBE, 26)
    assert kind(points) == [1] * 6 + [2] * 12 + [3] * 8
    grid = np.abs(points)
    assert np.minimum(np.abs(grid - 0.5), grid).max() < 1e-12  # every coordinate 0 or +-1/2


@pytest.mark.parametrize("mesh", [CUBE, SLAB, DISC, BALL], ids=["cube", "slab", "disc", "ball"])
@pytest.mark.parametrize("count", [8, 32, 50, 200])
def test_points_are_even(mesh, count):
    points = spread(mesh, count)
    assert points.shape == (count, 3)
    corners = mesh.vertices[hull_corners(mesh)]
    if count >= len(corners):
        np.testing.assert_array_equal(points[: len(corners)], corners)
    assert np.abs(_on_surface(mesh, points)).max() < 1e-12
    # No two nearer than half of what a perfect lattice has (random points: a twentieth), unless
    # the corners themselves are; and no spot of the surface much farther than one such distance,
    # where there are points enough to choose freely.
    ideal = _ideal(mesh, count)
    between = _nearest(corners).min() if count >= len(corners) else np.inf
    assert _nearest(points).min() > min(0.99 * between, 0.49 * ideal)
    face, share = _cut(mesh, 0.1 * ideal)
    surface = np.einsum("nck,nki->nci", share, mesh.vertices[mesh.faces[face]]).mean(axis=1)
    if count >= 1.5 * len(corners):
        assert cKDTree(points).query(surface)[0].max() < 1.2 * ideal


def test_evenness_beats_chance_by_far():
    """Points drawn at random from the same places are ten times closer at their closest."""
    points = spread(BALL, 200)
    rng = np.random.default_rng(1)
    loose = rng.normal(size=(200, 3))
    loose /= np.linalg.norm(loose, axis=1, keepdims=True)
    assert _nearest(points).min() > 5.0 * _nearest(loose).min()
    assert _nearest(points).std() < 0.12 * _nearest(points).mean()


def test_thin_plate_has_points_on_both_sides():
    plate = hull_meshes.box([1.0, 1.0, 0.02])
    points = spread(plate, 60)
    inner = np.abs(points[:, :2]).max(axis=1) < 0.45
    above = (inner & (points[:, 2] > 0)).sum()
    below = (inner & (points[:, 2] < 0)).sum()
    assert above >= 4
    assert abs(int(above) - int(below)) <= 2


def test_same_points_every_time_and_wherever_the_hull_is():
    again = hull_meshes.box([0.37, 0.23, 0.10])
    np.testing.assert_array_equal(spread(SLAB, 60), spread(again, 60))


def test_more_points_never_leave_a_vertex_out():
    mesh = icosphere(2, 0.3)
    points = spread(mesh, 200)
    np.testing.assert_array_equal(points[:162], mesh.vertices)
    assert len(np.unique(points, axis=0)) == 200


def test_fewer_points_than_corners_are_some_of_them():
    mesh = icosphere(3, 0.5)
    points = spread(mesh, 32)
    assert cKDTree(mesh.vertices).query(points)[0].max() == 0.0
    assert _nearest(points).min() > 0.6 * _ideal(mesh, 32)
    assert spread(mesh, 1).shape == (1, 3)


def test_flat_spots_and_edges_are_no_corners():
    """A box with the middle of one side and of one edge as vertices still has eight corners."""
    box = hull_meshes.box([2.0, 2.0, 2.0])
    vertices = np.concatenate([box.vertices, [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]])
    top = [f for f, n in zip(box.faces, box.face_normals, strict=True) if n[2] > 0.5]
    front = [f for f, n in zip(box.faces, box.face_normals, strict=True) if n[1] > 0.5]
    rest = [f for f, n in zip(box.faces, box.face_normals, strict=True) if max(n[1], n[2]) < 0.5]
    assert (len(top), len(front)) == (2, 2)
    ring = [4, 5, 7, 9, 6]  # round the top, with the middle of the edge 7-6
    faces = [*rest, *[(8, a, b) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]]
    faces += [(9, 7, 3), (9, 3, 2), (9, 2, 6)]
    mesh = Mesh(vertices, np.array(faces))
    assert mesh.volume == pytest.approx(8.0)
    np.testing.assert_array_equal(hull_corners(mesh), np.arange(8))
    np.testing.assert_array_equal(spread(mesh, 8), box.vertices)
    np.testing.assert_array_equal(spread(mesh, 9)[:8], box.vertices)


def test_coordinates_of_32_bits_make_no_corners():
    """A finely cut box, turned and rounded as in an STL file: its flat spots stick out by 1e-8."""
    turn = Rotation.from_euler("xyz", [0.3, 0.7, -0.2]).as_matrix()
    face, share = _cut(SLAB, 0.06)
    soup = np.einsum("nck,nki->nci", share, SLAB.vertices[SLAB.faces[face]]).reshape(-1, 3)
    rounded = (soup @ turn.T).astype(np.float32).astype(np.float64)
    mesh = Mesh(rounded, np.arange(len(soup)).reshape(-1, 3), repair=True)
    assert mesh.n_vertices > 80
    assert len(ConvexHull(mesh.vertices).vertices) > 20
    corners = mesh.vertices[hull_corners(mesh)]
    assert len(corners) == 8
    assert cKDTree(SLAB.vertices @ turn.T).query(corners)[0].max() < 1e-7


def test_lumpy_hull():
    mesh = bodies.find("67P").mesh(320).scaled(1e-4)
    points = spread(mesh, 40)
    corners = mesh.vertices[ConvexHull(mesh.vertices).vertices]
    assert cKDTree(corners).query(points)[0].max() == 0.0
    assert _nearest(points).min() > 0.5 * _ideal(mesh, 40)


@pytest.mark.parametrize("count", [0, -3, 2.5, True, "many", None])
def test_counts_that_cannot_be(count):
    with pytest.raises(InputError, match="number of contact points"):
        spread(CUBE, count)


def test_open_hull_is_refused():
    with pytest.raises(MeshError, match="the hull does not bound a solid"):
        spread(Mesh(CUBE.vertices, CUBE.faces[:-1], check=False), 32)

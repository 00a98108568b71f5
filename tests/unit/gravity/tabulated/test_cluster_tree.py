"""The tree that fills tables: the polyhedron's potential, to an error that its opening sets."""

import itertools

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.tabulated import build, cluster_tree
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

CPU = devices.resolve("cpu")
STRENGTH = 2.3


def lumpy(subdivisions):
    """An off-centre, irregular body of 20 * 4^subdivisions facets."""
    ball = icosphere(subdivisions)
    x = ball.vertices
    radius = 1.0 + 0.2 * np.sin(3.0 * x[:, 0] + 1.0) * np.cos(2.0 * x[:, 1]) + 0.1 * x[:, 2] ** 3
    return Mesh(x * [1.3, 1.0, 0.8] * radius[:, None], ball.faces).translated([0.4, -0.2, 0.1])


def corners(mesh):
    return mesh.vertices[mesh.faces]


def rows_of_nodes(mesh, spacing):
    """Bricks of 8 x 8 x 8 nodes in and around a body, their origin and all their nodes.

    The tree is asked as tables ask it: for rows of nodes, lanes abreast.
    """
    bricks = np.array([[0, 0, 0], [1, 1, 0], [2, 1, 1], [1, 2, 2]], dtype=np.int32)
    origin = mesh.center_of_mass - 12.3 * spacing
    step = np.stack(np.meshgrid(*3 * [np.arange(8)], indexing="ij"), axis=-1).reshape(-1, 3)
    return bricks, origin, origin + spacing * (8 * bricks[:, None] + step).reshape(-1, 3)


def errors(mesh, openings, spacing=0.17):
    """Greatest relative error of the potential at some 2000 nodes for each opening."""
    bricks, origin, points = rows_of_nodes(mesh, spacing)
    exact = Polyhedron(mesh, density=STRENGTH, G=1.0).evaluate(points)[0]
    data = cluster_tree.tree_data(corners(mesh), STRENGTH, CPU)
    places = wp.array(bricks, dtype=wp.vec3i, device="cpu")
    gap = wp.zeros(len(points), dtype=scalar, device="cpu")
    kernel, width = build._sample_kernel(build._WIDTH), build._WIDTH
    found = []
    for opening in openings:
        data.opening = opening
        u = wp.zeros(len(points), dtype=scalar, device="cpu")
        inputs = [data, places, vec3(*origin), spacing, gap, 1.0, u]
        devices.launch(kernel, len(points) // width, inputs, CPU, min_items=8)
        found.append(np.abs(u.numpy() / exact - 1.0).max())
    return np.array(found)


@pytest.mark.parametrize("subdivisions", [0, 1, 2, 3])
def test_without_clusters_it_is_the_polyhedron(subdivisions):
    """Opening 0: every facet is summed, once, whether the leaves are full or not."""
    mesh = lumpy(subdivisions)
    # The sum has terms some ten times itself.
    assert errors(mesh, [0.0])[0] < 1e-13


def test_error_falls_with_the_opening():
    """A series of degree 7 leaves opening^8: nearly nine powers of two for half of it."""
    mesh = lumpy(3)
    found = errors(mesh, [0.6, 0.3, 0.15])
    assert found[0] < 1e-3
    assert (found[0] > 50.0 * found[1], found[1] > 50.0 * found[2]) == (True, True)
    assert found[2] < 1e-9


def test_error_at_the_openings_of_tables():
    """What tables are filled with: the potential to better than a tenth of their tolerance."""
    mesh = lumpy(3)
    assert errors(mesh, [0.27, 0.2]).max() < 1e-6


def test_far_away_the_whole_body_is_one_cluster():
    """Ten and more radii out: 0.1^8 and less."""
    assert errors(lumpy(2), [0.3], spacing=3.0)[0] < 1e-8


def test_nodes_that_are_not_needed_are_left_out():
    """Rows with no node nearer than the limit cost nothing and stay zero."""
    mesh = lumpy(1)
    bricks, origin, points = rows_of_nodes(mesh, 0.2)
    data = cluster_tree.tree_data(corners(mesh), STRENGTH, CPU)
    distance = np.linalg.norm(points - mesh.center_of_mass, axis=1)
    u = wp.zeros(len(points), dtype=scalar, device="cpu")
    places = wp.array(bricks, dtype=wp.vec3i, device="cpu")
    gap = wp.array(distance, dtype=scalar, device="cpu")
    width = build._WIDTH
    inputs = [data, places, vec3(*origin), 0.2, gap, 1.5, u]
    devices.launch(build._sample_kernel(width), len(points) // width, inputs, CPU)
    needed = (distance < 1.5).reshape(-1, width).any(axis=1).repeat(width)
    assert 0.1 < needed.mean() < 0.9
    assert np.array_equal(u.numpy() > 0.0, needed)


def test_clusters_hold_their_facets():
    corner = corners(lumpy(2))
    clusters = cluster_tree.split(corner)
    assert np.array_equal(np.sort(clusters.order), np.arange(len(corner)))
    sorted_corner = corner[clusters.order]
    for level in range(clusters.depth + 1):
        edges = np.arange(2**level + 1) * len(corner) >> level
        assert np.diff(edges).max() <= -(-len(corner) // 2**level)
        for part, (first, last) in enumerate(itertools.pairwise(edges)):
            node = 2**level + part
            away = np.linalg.norm(sorted_corner[first:last] - clusters.center[node], axis=2)
            assert away.max() == pytest.approx(clusters.radius[node], rel=1e-14)
    assert np.diff(edges).max() <= cluster_tree.LEAF

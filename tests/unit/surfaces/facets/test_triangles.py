"""Exact distances to a mesh: against brute force, and signs against the winding number."""

import numpy as np
import pytest

from alight.core import devices
from alight.scenario import bodies
from alight.shapes.icosphere import icosphere
from alight.surfaces.facets.triangles import (
    OWN_EDGE,
    OWN_VERTEX,
    RIDGE,
    distances,
    neighbours,
    owned_features,
    triangles_data,
)


def around(mesh, n, seed=0):
    """Points in and around a body, and right at its facets, edges and vertices."""
    rng = np.random.default_rng(seed)
    middle = 0.5 * (mesh.vertices.max(axis=0) + mesh.vertices.min(axis=0))
    wide = middle + rng.uniform(-0.9, 0.9, (n, 3)) * mesh.extent
    start = mesh.vertices[rng.integers(0, mesh.n_vertices, n)]
    close = start + rng.normal(size=(n, 3)) * 0.03 * mesh.extent.min()
    return np.concatenate([wide, close])


@pytest.mark.parametrize("name", ["ball", "box", "corner_block", "slit_block", "67P"])
def test_distance_and_sign(name, device, request, brute):
    if name == "ball":
        mesh = icosphere(2, 10.0)
    elif name == "67P":
        mesh = bodies.find("67P").mesh(1200)
    else:
        mesh = request.getfixturevalue(name)
    points = around(mesh, 1000)
    target = devices.resolve(device)
    found, _ = distances(triangles_data(mesh, target), points, target)
    exact = brute(mesh, points)
    scale = float(mesh.extent.max())
    assert np.abs(found - exact).max() <= 1e-13 * scale


def test_sign_where_the_nearest_feature_is_a_sharp_corner():
    """At a spike the nearest facet's own normal tells the wrong side for half of the points."""
    from alight.shapes.mesh import Mesh

    vertices = [(0, 0, 10), (1, 0, 0), (-0.5, 0.9, 0), (-0.5, -0.9, 0)]
    mesh = Mesh(vertices, [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])
    rng = np.random.default_rng(1)
    points = np.array([0, 0, 10.0]) + rng.normal(size=(2000, 3)) * [2.0, 2.0, 1.0]
    cpu = devices.resolve("cpu")
    found, _ = distances(triangles_data(mesh, cpu), points, cpu)
    assert np.array_equal(found < 0.0, mesh.contains(points))


def test_hints_change_nothing():
    mesh = bodies.find("67P").mesh(1200)
    points = around(mesh, 500)
    cpu = devices.resolve("cpu")
    tree = triangles_data(mesh, cpu)
    first, face = distances(tree, points, cpu)
    rng = np.random.default_rng(2)
    for hint in (face, rng.integers(0, mesh.n_faces, len(points)), np.full(len(points), -1)):
        again, _ = distances(tree, points, cpu, hint)
        assert again == pytest.approx(first, rel=1e-13)


def test_neighbours_across_edges_share_them():
    mesh = icosphere(2)
    across = neighbours(mesh)
    for k in range(3):
        ours = np.sort(mesh.faces[:, [k, (k + 1) % 3]], axis=1)
        theirs = mesh.faces[across[:, k]]
        assert (ours[:, :, None] == theirs[:, None, :]).any(axis=2).all()
        assert not np.array_equal(across[:, k], np.arange(mesh.n_faces))


def test_each_vertex_and_edge_belongs_to_one_facet(slit_block):
    for mesh in (icosphere(2), slit_block):
        bits = owned_features(mesh)
        owned = [(bits[:, None] & (first << np.arange(3))) != 0 for first in (OWN_VERTEX, OWN_EDGE)]
        assert sorted(mesh.faces[owned[0]]) == list(range(mesh.n_vertices))
        ends = np.sort(np.stack([mesh.faces, np.roll(mesh.faces, -1, axis=1)], axis=2), axis=2)
        assert np.array_equal(np.unique(ends[owned[1]], axis=0), mesh.edges)
        assert owned[1].sum() == len(mesh.edges)


def test_ridges_bend_outward(corner_block):
    """Of a ball every edge; of a block those of its outline but the inner one, and no diagonal."""
    side = 1 << np.arange(3)
    assert (owned_features(icosphere(1))[:, None] & (RIDGE * side)).all()
    ridge = (owned_features(corner_block)[:, None] & (RIDGE * side)) != 0
    assert ridge.sum() == 2 * (6 + 6 + 5)

"""The tree over triangles: what its nodes hold, and that none of them claims to be too far."""

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.scenario import bodies
from alight.surfaces.facets import bvh
from alight.surfaces.facets.triangles import distances, triangles_data

COUNTS = (1, 2, 3, 4, 7, 8, 37, 1000)


def soup(count, seed=0):
    """Triangles of all sizes, anywhere, far from the origin."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(count, 1, 3)) * 100.0 + [3e3, -2e3, 0.0]
    return place + rng.normal(size=(count, 3, 3)) * 10.0 ** rng.uniform(-2, 1, (count, 1, 1))


def spans(count, leaves):
    """(number, first and last triangle) of every node."""
    starts = bvh.leaf_starts(count, leaves)
    for node in range(1, 2 * leaves):
        level = node.bit_length() - 1
        width = leaves >> level
        first = (node - (1 << level)) * width
        yield node, starts[first], starts[first + width]


@pytest.mark.parametrize("count", COUNTS)
def test_leaves_share_the_triangles_evenly(count):
    built = bvh.build(soup(count))
    assert sorted(built.order) == list(range(count))
    sizes = np.diff(bvh.leaf_starts(count, built.leaves))
    assert sizes.sum() == count
    assert sizes.max() <= bvh.LEAF
    assert sizes.max() - sizes.min() <= 1
    assert sizes.min() >= 1


@pytest.mark.parametrize("count", COUNTS)
def test_nodes_are_halved_at_the_median(count):
    corners = soup(count)
    built = bvh.build(corners)
    centers = corners.mean(axis=1)[built.order]
    for node, begin, end in spans(count, built.leaves):
        if node < built.leaves:
            _, _, middle = next(s for s in spans(count, built.leaves) if s[0] == 2 * node)
            axis = np.argmax(np.ptp(centers[begin:end], axis=0))
            # Sorted in single precision, relative to the mean.
            slack = 1e-6 * np.abs(centers - centers.mean(axis=0)).max()
            assert centers[begin:middle, axis].max() <= centers[middle:end, axis].min() + slack


@pytest.mark.parametrize("count", COUNTS)
def test_boxes_and_discs_hold_their_triangles(count):
    corners = soup(count)
    built = bvh.build(corners)
    sorted_corners = corners[built.order] - built.origin
    for node, begin, end in spans(count, built.leaves):
        row = built.node[node].astype(np.float64)
        points = sorted_corners[begin:end].reshape(-1, 3)
        assert (points >= row[:3]).all()
        assert (points <= row[3:6]).all()
        d = points - 0.5 * (row[:3] + row[3:6])
        height = d @ row[6:9]
        axis = row[6:9] / np.linalg.norm(row[6:9])
        aside = np.linalg.norm(d - np.outer(d @ axis, axis), axis=1)
        assert (height >= row[9]).all()
        assert (height <= row[10]).all()
        assert (aside <= row[11]).all()
        # And not much more than that: a tree of endless boxes would be right too.
        slack = 10.0 * bvh.SLACK * np.linalg.norm(points, axis=1).max()
        assert (row[3:6] - row[:3] <= np.ptp(points, axis=0) + slack).all()
        assert row[10] - row[9] <= np.ptp(height) + slack


@wp.kernel
def gaps(
    nodes: wp.array(dtype=bvh.Node),
    center: wp.array(dtype=vec3),
    half: scalar,
    box_out: wp.array2d(dtype=scalar),
    disc_out: wp.array2d(dtype=scalar),
):
    i, j = wp.tid()
    side = vec3(half, half, half)
    box_out[i, j] = bvh.box_gap2(nodes[i], center[j] - side, center[j] + side)
    spread = half * scalar(3.0) ** scalar(0.5)
    disc_out[i, j] = bvh.disc_gap2(nodes[i], center[j], spread, spread)


@pytest.mark.parametrize("half", [0.0, 2.0])
def test_no_node_claims_to_be_farther_than_it_is(half):
    """Against the corners and many points between them, from near and from very far."""
    corners = soup(200, seed=1)
    built = bvh.build(corners)
    rng = np.random.default_rng(2)
    share = rng.dirichlet((1, 1, 1), 20)
    inner = np.einsum("sk,nki->nsi", share, corners[built.order] - built.origin)
    way = rng.normal(size=(60, 3))
    centers = way * 10.0 ** rng.uniform(0, 4, (60, 1))
    shape = (2 * built.leaves, len(centers))
    box, disc = wp.zeros(shape, dtype=scalar, device="cpu"), wp.zeros(shape, scalar, device="cpu")
    nodes = wp.array(built.node, dtype=bvh.Node, device="cpu")
    inputs = [nodes, wp.array(centers, dtype=vec3, device="cpu"), scalar(half), box, disc]
    wp.launch(gaps, shape, inputs, device="cpu")
    tight = []
    for node, begin, end in spans(200, built.leaves):
        points = inner[begin:end].reshape(-1, 3)
        apart = np.linalg.norm(points[:, None] - centers, axis=2).min(axis=0)
        # The disc takes all within a ball, the box all within a cube about the centre.
        for found in (box, disc):
            bound = np.sqrt(found.numpy()[node])
            assert (bound <= np.maximum(apart - half, 0.0) + 1e-9 * apart).all()
            tight.append(bound[-1] > 0.0)
    assert np.mean(tight) > 0.5


def test_walks_from_far_away():
    mesh = bodies.find("67P").mesh(3000)
    cpu = devices.resolve("cpu")
    tree = triangles_data(mesh, cpu)
    rng = np.random.default_rng(4)
    way = rng.normal(size=(300, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    points = way * mesh.bounding_radius * 10.0 ** rng.uniform(0.0, 3.0, (300, 1))
    found, face = distances(tree, points, cpu, np.full(300, -1))
    nearest = np.linalg.norm(points[:, None] - mesh.vertices, axis=2).min(axis=1)
    assert (found <= nearest * (1.0 + 1e-15)).all()
    assert (found >= nearest - mesh.extent.max() * 0.05).all()
    again, _ = distances(tree, points, cpu, face)
    assert again == pytest.approx(found, rel=1e-15)

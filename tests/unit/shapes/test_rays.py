"""Rays meet the facets they should, once, at the right distance."""

import numpy as np
import pytest

from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh
from alight.shapes.rays import first_hit

BALL = icosphere(2)
FACES = [
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
]  # fmt: skip
CUBE = Mesh([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], FACES)


def directions(count, seed=0):
    d = np.random.default_rng(seed).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def test_a_cube_from_inside():
    """The nearest of three planes."""
    way, origin = directions(500), np.array([0.2, -0.3, 0.1])
    planes = (np.sign(way) - origin) / way
    found = first_hit(CUBE, np.tile(origin, (500, 1)), way)
    assert found == pytest.approx(planes.min(axis=1), rel=1e-14)


def test_the_first_of_two_walls_from_outside():
    origin = np.array([[-5.0, 0.3, 0.2], [-5.0, 0.3, 0.2], [0.1, 0.2, 9.0]])
    way = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 0, -1.0]])
    assert first_hit(CUBE, origin, way).tolist() == [4.0, np.inf, 8.0]


def test_distance_counts_directions_as_given():
    assert first_hit(CUBE, np.zeros((1, 3)), np.array([[0.25, 0.01, 0.02]]))[0] == 4.0


def test_no_ray_slips_through_a_vertex_or_an_edge():
    """From the centre through every vertex and along every edge of a ball in odd position."""
    q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    ball = BALL.rotated(q * np.sign(np.linalg.det(q))).scaled(0.37)
    a, b = ball.vertices[ball.edges[:, 0]], ball.vertices[ball.edges[:, 1]]
    targets = np.concatenate([ball.vertices, *(a + t * (b - a) for t in (0.1, 0.5, 1 / 3, 0.77))])
    reach = np.linalg.norm(targets, axis=1)
    found = first_hit(ball, np.zeros_like(targets), targets / reach[:, None])
    assert found == pytest.approx(reach, rel=1e-12)


def test_far_from_the_origin():
    shift = np.array([1e6, -2e6, 5e5])
    way = directions(200, seed=3)
    near = first_hit(BALL, np.zeros((200, 3)), way)
    far = first_hit(BALL.translated(shift), np.tile(shift, (200, 1)), way)
    assert far == pytest.approx(near, rel=1e-8)


def test_a_miss_is_infinite():
    origin = np.array([[3.0, 0, 0], [0, 3.0, 0]])
    assert np.isinf(first_hit(BALL, origin, np.array([[0, 0, 1.0], [0, 1.0, 0]]))).all()


def test_no_rays_no_hits():
    assert first_hit(BALL, np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)

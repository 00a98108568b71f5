"""Rays through the tree of boxes hit what rays against every facet hit."""

import numpy as np
import pytest

from alight.analysis.shadows import Shadows
from alight.scenario import bodies
from alight.shapes import icosphere
from alight.shapes.rays import first_hit


@pytest.fixture(scope="module")
def rays():
    """From inside, from the surface and from outside, every way; some along the axes."""
    rng = np.random.default_rng(5)
    out = rng.normal(size=(2, 2000, 3))
    out /= np.linalg.norm(out, axis=2, keepdims=True)
    out[1, :300] = np.repeat(np.concatenate([np.eye(3), -np.eye(3)]), 50, axis=0)
    return out[0] * rng.uniform(0.1, 1.3, (2000, 1)), out[1]


@pytest.mark.parametrize("name", ["67p", "ryugu"])
def test_the_same_as_every_facet(name, rays):
    mesh = bodies.find(name).mesh(1280)
    origin, way = rays[0] * mesh.bounding_radius, rays[1]
    tree, expected = Shadows(mesh), first_hit(mesh, origin, way)
    assert 0.2 < np.isfinite(expected).mean() < 0.9
    np.testing.assert_array_equal(tree.hidden(origin, way), np.isfinite(expected))
    # Both tests round differently, by a few units of the coordinates.
    np.testing.assert_allclose(
        tree.first_hit(origin, way), expected, atol=1e-12 * mesh.bounding_radius
    )


def test_through_vertices_and_edges():
    """No ray from the centre slips out between facets, wherever it goes."""
    mesh = icosphere(2, 500.0)
    middles = 0.5 * (mesh.vertices[mesh.edges[:, 0]] + mesh.vertices[mesh.edges[:, 1]])
    way = np.concatenate([mesh.vertices, middles])
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    assert Shadows(mesh).hidden(np.zeros_like(way), way).all()
    assert not Shadows(mesh).hidden(1.001 * 500.0 * way, way).any()


def test_no_rays():
    assert Shadows(icosphere(0, 1.0)).hidden(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)

"""Hulls over facets with rocks on them, against every rock near by as a closed mesh of its own."""

import numpy as np
import pytest

from alight import Mesh, RigidLander, contact, surfaces
from alight.shapes.icosphere import icosphere

RADIUS = 30.0


@pytest.fixture(scope="module", params=[0, 100_000], ids=["made", "kept"])
def ground(request):
    """Rocks that are made when they are asked for, and the same rocks kept in a tree."""
    ball = icosphere(3)
    mesh = Mesh(RADIUS * ball.vertices, ball.faces)
    law = {"slope": 2.5, "density": 0.05, "reference": 1.0, "smallest": 0.15, "largest": 4.0}
    rocks = surfaces.Rocks(**law, cover=0.4, seed=3)
    return surfaces.Rocky(surfaces.Facets(mesh), mesh, rocks, kept=request.param)


@pytest.fixture(scope="module")
def poses():
    rng = np.random.default_rng(0)
    up = np.array([0.2, 0.1, 1.0]) + 0.05 * rng.normal(size=(40, 3))
    up /= np.linalg.norm(up, axis=1, keepdims=True)
    return up * (RADIUS + rng.uniform(0.3, 2.5, 40))[:, None], rng.normal(size=(40, 4))


CUBE = RigidLander.cube(0.3, 1.0)


def test_the_nearest_of_facets_and_rocks(ground, poses):
    x, q = poses
    found = contact.distance(ground, CUBE, x, q, device="cpu")
    best = contact.distance(ground.base, CUBE, x, q, device="cpu").distance
    table = ground.field.near(x.mean(axis=0), 12.0, device="cpu")
    for k in range(len(table.size)):
        if np.linalg.norm(table.ground[k] - x, axis=1).min() < table.size[k] + 3.0:
            rock = surfaces.Facets(Mesh(table.vertices[k], table.faces))
            best = np.minimum(best, contact.distance(rock, CUBE, x, q, device="cpu").distance)
    apart = best > 0.0
    assert apart.sum() > 15
    assert (found.facet[apart] == -2).sum() > 10
    assert found.distance[apart] == pytest.approx(best[apart], abs=1e-12)


def test_contacts_hold_the_nearest_pair(ground, poses):
    x, q = poses
    near = contact.distance(ground, CUBE, x, q, device="cpu")
    apart = near.distance > 0.0
    # Down along the normal until a micrometre is left.
    x = (x - (near.distance - 1e-6)[:, None] * near.normal)[apart]
    listed = contact.contacts(ground, CUBE, x, q[apart], 1e-4, device="cpu")
    for contacts, normal in zip(listed, near.normal[apart], strict=True):
        assert contacts["gap"][0] == pytest.approx(1e-6, abs=1e-9)
        assert contacts["normal"][0] @ normal == pytest.approx(1.0, abs=1e-9)

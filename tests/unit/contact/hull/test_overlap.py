"""How deep hull and ground stand in each other, against every corner, edge and rock one by one."""

import numpy as np
import pytest

from alight import Mesh, contact, engine, gravity, motions, surfaces, vehicles
from alight.contact.hull.overlap import COARSE, FACE, FINE
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.motions.rigid.rest_depth import hull_depths

SIDES = np.array([4.0, 1.0, 0.3])
PLANK = vehicles.RigidLander.box(tuple(SIDES), 100.0)
#: A square of level ground, and a tip far below.
GROUND = Mesh(
    [[-60, -60, 0], [60, -60, 0], [60, 60, 0], [-60, 60, 0], [0, 0, -80]],
    [[0, 1, 2], [0, 2, 3], [0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]],
)


@pytest.fixture(scope="module")
def rocky():
    law = {"slope": 2.6, "density": 0.05, "reference": 1.5, "smallest": 1.5, "largest": 3.0}
    return surfaces.Rocky(surfaces.Facets(GROUND), GROUND, surfaces.Rocks(**law, cover=0.4, seed=3))


def edges_of_box():
    """Points of a box's edges, 2 mm apart, body axes."""
    found = []
    for axis in range(3):
        along = np.linspace(-0.5, 0.5, int(SIDES[axis] / 2e-3) + 1) * SIDES[axis]
        for a in (-0.5, 0.5):
            for b in (-0.5, 0.5):
                p = np.empty((len(along), 3))
                p[:, axis] = along
                p[:, (axis + 1) % 3] = a * SIDES[(axis + 1) % 3]
                p[:, (axis + 2) % 3] = b * SIDES[(axis + 2) % 3]
                found.append(p)
    return np.concatenate(found)


def brute(rocky, x, q):
    """The deepest of rock corners in the box, and of its edges in the ground or a rock [m]."""
    table = rocky.field.near(x, 8.0, device="cpu")
    corners = table.vertices.reshape(-1, 3)
    inside = 0.5 * SIDES - np.abs(frames.quat_rotate(frames.quat_conjugate(q), corners - x))
    deepest = max(0.0, inside.min(axis=1).max(initial=0.0))
    points = x + frames.quat_rotate(q, edges_of_box())
    below = -points[:, 2]
    for vertices in table.vertices:
        a, b, c = (vertices[table.faces[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        height = points @ normal.T - np.einsum("ij,ij->i", normal, a)
        below = np.maximum(below, -height.max(axis=1))
    return max(deepest, below.max())


@pytest.mark.validate
def test_on_rocks_it_is_the_deepest_of_all_pairs(rocky):
    rng = np.random.default_rng(2)
    x = np.column_stack([rng.uniform(-30, 30, (24, 2)), rng.uniform(0.3, 2.0, 24)])
    q = frames.quat_normalize(rng.normal(size=(24, 4)))
    found = contact.overlap(rocky, PLANK, x, q, device="cpu")
    expected = np.array([brute(rocky, *pose) for pose in zip(x, q, strict=True)])
    assert (expected > 0.0).sum() > 12
    step = FINE * PLANK.bounding_radius
    assert np.abs(found.depth - expected).max() < 0.5 * step + 1e-3
    assert ((found.depth == 0.0) == (expected < 1e-3)).all()


@pytest.mark.validate
def test_planks_rest_on_rocks_and_not_in_them():
    """30 landings among dense rocks: by hulls no deeper than springs press, by points they are."""
    law = {"slope": 2.6, "density": 0.6, "reference": 1.5, "smallest": 1.5, "largest": 3.0}
    rocks = surfaces.Rocks(**law, cover=0.9, seed=3)
    ground = surfaces.Rocky(surfaces.Facets(GROUND), GROUND, rocks)
    rng, n = np.random.default_rng(1), 30
    release = motions.Release(
        np.column_stack([rng.uniform(-30, 30, (n, 2)), np.full(n, 5.5)]),
        0.02 * rng.normal(size=(n, 3)),
        frames.quat_normalize(rng.normal(size=(n, 4))),
        0.02 * rng.normal(size=(n, 3)),
    )
    for touch in ("hull", "points"):
        model = motions.Model(
            gravity.Uniform((0.0, 0.0, -5e-3)),
            ground,
            PLANK,
            contact.Compliant(0.4, 0.6, touch=touch),
            stop=engine.Stop(max_time=3000.0),
        )
        result = engine.run_batch(model, release, device="cpu")
        rest = np.flatnonzero(result.outcome == Outcome.SETTLED)
        assert len(rest) > 0.9 * n
        depth = hull_depths(model, result.final, "cpu")[rest]
        poses = zip(result.position[rest], result.attitude[rest], strict=True)
        expected = np.array([brute(ground, *pose) for pose in poses])
        if touch == "hull":
            assert max(depth.max(), expected.max()) < 2.5e-4
            assert result.final["gain"].max() < 1e-3 * PLANK.mass * 5e-3 * 5.5
        else:
            assert np.abs(depth - expected).max() < 0.5 * FINE * PLANK.bounding_radius + 1e-3
            assert (depth > 0.01).sum() > 0.5 * n


def test_a_hill_under_a_face_is_found():
    """A plank over the top of a ball of 1 m, between its corners and edges, 1 cm too low."""
    ball = surfaces.Sphere(radius=1.0)
    place = [(0.1, 0.05, 1.0 + 0.15 - 0.01), (0.0, 0.0, 1.16)]
    found = contact.overlap(ball, PLANK, place, (0.0, 0.0, 0.0, 1.0), device="cpu")
    sagitta = (COARSE * PLANK.bounding_radius) ** 2
    assert found.depth[0] == pytest.approx(0.01, abs=sagitta)
    assert found.kind[0] == FACE
    assert found.depth[1] == 0.0

"""Articulated landers on every kind of ground: pads rest at its surface, where rigid ones would.

At rest the pads carry the weight, and each stands (F / k)^(2/3) deep: under 1 mm here.
"""

import numpy as np
import pytest

from alight.contact.hertz import Hertz
from alight.core import frames
from alight.core.outcomes import Outcome, outcome_of
from alight.engine import simulate
from alight.gravity import PointMass
from alight.motions import TreeModel, TreeRelease, TreeSteps, TreeStop
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh
from alight.surfaces import DistanceField, Facets, Parametric, Sphere
from alight.vehicles import Branch, Joint, Pad, TreeBody, assemble, slosh_pendulum

GRAVITY = PointMass(5e-3 * 100.0**2)


def tripod():
    """12 kg on three balls of 5 cm, with liquid."""
    places = [(0.6 * np.cos(a), 0.6 * np.sin(a), -0.3) for a in np.radians([0, 120, 240])]
    pads = [Pad("bus", place, 0.05, f"pad {k}") for k, place in enumerate(places)]
    bus = Branch([TreeBody("bus", 10.0, (1.5, 1.5, 2.0))], [Joint("bus", "free")], pads)
    liquid = slosh_pendulum(
        *("liquid", "bus", (0, 0, 0.1)), mass=2.0, arm=(0, 0, -0.2), stiffness=1.0, damping=0.3
    )
    return assemble("tripod", [bus, liquid])


@pytest.fixture(scope="module")
def mesh():
    """A ball of 100 m in 320 facets."""
    ball = icosphere(2)
    return Mesh(100.0 * ball.vertices, ball.faces)


def grounds(mesh):
    """What is landed on, by name."""
    return {
        "sphere": lambda: Sphere(radius=100.0),
        "facets": lambda: Facets(mesh),
        "field": lambda: DistanceField.from_mesh(mesh, spacing=4.0),
        "parametric": lambda: Parametric.from_mesh(mesh, 8),
    }


#: Each ground is a kernel of its own: one is compiled every day.
LATER = [
    pytest.param(kind, marks=pytest.mark.validate) for kind in ("sphere", "field", "parametric")
]


@pytest.mark.parametrize("kind", ["facets", *LATER])
def test_a_tripod_comes_to_rest_on_its_pads(mesh, kind):
    ground, lander = grounds(mesh)[kind](), tripod()
    up = frames.direction(0.9, 0.4)
    turn = frames.quat_from_matrix(frames.local_frame(up))
    low, high = 0.0, 110.0
    while high - low > 1e-6:  # down the ray to 0.6 m above the ground
        middle = 0.5 * (low + high)
        gap = float(ground.query(middle * up, device="cpu")[0])
        low, high = (middle, high) if gap < 0.6 else (low, middle)
    model = TreeModel(
        *(lander.tree, lander.devices, GRAVITY, ground, Hertz(2e4, 200.0, 0.8)),
        stop=TreeStop(max_time=300.0),
        steps=TreeSteps(tolerance=1e-6),
    )
    release = TreeRelease.of(lander.tree, high * up, -0.05 * up, turn)
    found = simulate(model, release)
    assert outcome_of(found.outcome) is Outcome.SETTLED
    # Centres of the balls over the ground at the end.
    places = np.array([pad.place for pad in model.fitted.pads])
    centres = found.bodies.position[-1, 0] + frames.quat_rotate(
        np.broadcast_to(found.bodies.attitude[-1, 0], (3, 4)), places
    )
    distance, _ = ground.query(centres, device="cpu")
    np.testing.assert_allclose(distance, 0.05, atol=1e-3)
    # They carry the weight, which is 5e-3 m/s^2 a hundred metres off.
    weight = 12.0 * 5e-3 * (100.0 / np.linalg.norm(found.position[-1])) ** 2
    assert np.linalg.norm(found.pad_force[-1].sum(axis=0)) == pytest.approx(weight, rel=0.02)

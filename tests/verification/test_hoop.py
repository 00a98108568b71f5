"""A body that meets the hoop a membrane hangs from.

Virtual work: a hoop stores k/2 d^2 at each bead that is d deep in the body's convex hull; distances
of points to the hull are those of a quadratic programme (SciPy's non-negative least squares).
Momentum and energy of the pair balance. A body that comes over the side is lost, and one that leans
on the hoop goes on, where the membrane of paper 003 alone ends at its rim.
"""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation

from alight.core import devices
from alight.core.errors import AlightError
from alight.core.outcomes import Outcome
from alight.membrane import Captive, Hoop, Membrane, hexagon
from alight.motions.membrane.model import Craft, MembraneMotion
from alight.shapes import icosphere

DEVICES = [device.name for device in devices.available()]
HOOP = Hoop()
BALL = Captive.from_mesh(icosphere(1, 2.0), 1000.0)
CORNERS = hexagon(7.5)

pytestmark = pytest.mark.parametrize("device", DEVICES)


def membrane(friction=0.0, hoop=HOOP, damping=0.0):
    return Membrane(1.5, damping, friction, suspension=CORNERS, hoop=hoop, relaxation=0.05)


def distances(place, turn):
    """(n,) of the beads from the ball's hull, by least squares over its vertices."""
    corners = turn.apply(BALL.hull.vertices) + place
    found = []
    for bead in HOOP.places(CORNERS):
        heavy = 1e4  # the weight of "parts add up to 1"
        rows = np.concatenate([corners.T, np.full((1, len(corners)), heavy)])
        found.append(nnls(rows, np.append(bead, heavy))[1])
    return np.array(found)


def stored(place, turn):
    depth = np.maximum(0.0, HOOP.radius - distances(place, turn))
    return 0.5 * HOOP.stiffness * (depth**2).sum()


def leaning(above=0.0):
    """A pose that touches the hoop's first side from above and within."""
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5])
    return np.array([4.6, 2.65, 1.55 + above]), turn


def test_forces_are_virtual_work(device):
    place, turn = leaning()
    law = Membrane(1e-12, suspension=CORNERS, hoop=HOOP)
    load = law.load(BALL, place, attitude=turn.as_quat(), device=device).load[0]
    assert load["beads"] >= 1
    assert load["stored"] == pytest.approx(stored(place, turn), rel=1e-5)
    small, wanted = 1e-4, np.empty(6)
    for axis in range(6):
        step = np.zeros(3)
        step[axis % 3] = small
        if axis < 3:
            ends = [stored(place + s * step, turn) for s in (1, -1)]
        else:
            ends = [stored(place, Rotation.from_rotvec(s * step) * turn) for s in (1, -1)]
        wanted[axis] = (ends[1] - ends[0]) / (2.0 * small)
    found = np.concatenate([load["force"], load["torque"]])
    assert found == pytest.approx(wanted, rel=1e-3, abs=1e-3 * np.abs(wanted[:3]).max())
    assert load["hoop"] == pytest.approx(np.linalg.norm(load["force"]), rel=0.2)


def test_momentum_and_energy_of_a_pair(device):
    craft = Craft(1500.0, (9e3, 9e3, 2e4))
    motion = MembraneMotion(membrane(0.5, damping=3.0), BALL, craft)
    place, turn = leaning(0.5)
    flight = motion.run(
        place, (0.05, 0.03, -0.4), turn.as_quat(), (0.1, 0.2, 0.0), duration=8.0, every=0.05,
        tolerance=1e-10, device=device,
    )  # fmt: skip
    assert flight.loads["hoop"].max() > 100.0
    linear = 1000.0 * flight.velocity[0] + 1500.0 * flight.craft_velocity[0]
    assert np.abs(linear - linear[0]).max() < 1e-9 * 1000.0 * 0.4
    moving = 500.0 * (flight.velocity[0] ** 2).sum(axis=1)
    moving += 750.0 * (flight.craft_velocity[0] ** 2).sum(axis=1)
    moving += 0.5 * ((flight.rate[0] @ BALL.inertia) * flight.rate[0]).sum(axis=1)
    moving += 0.5 * ((flight.craft_rate[0] ** 2) * (9e3, 9e3, 2e4)).sum(axis=1)
    total = moving + flight.loads["stored"][0] + flight.damped[0] + flight.rubbed[0]
    assert np.abs(total - total[0]).max() < 1e-6 * total[0]
    assert flight.damped[0, -1] > 0.0


def test_over_the_side_is_lost_and_inside_goes_on(device):
    start, turn = leaning(0.5)
    start = start + np.array([0.3, 0.17, 0.0])
    out = np.array([7.6, 4.4, 3.0])
    runs = {}
    for hoop in (HOOP, None):
        motion = MembraneMotion(membrane(0.3, hoop, 3.0), BALL, gravity=(0.0, 0.0, -0.05))
        flight = motion.run([start, out], attitude=turn.as_quat(), duration=60.0, device=device)
        runs[hoop] = flight.outcome
    assert runs[None] == [Outcome.RIM, Outcome.RIM]
    assert runs[HOOP] == [Outcome.TIMED_OUT, Outcome.LOST]


def test_hoops_that_make_no_sense(device):
    for options, words in (({"radius": 0.0}, "radius"), ({"stiffness": -1.0}, "stiffness")):
        with pytest.raises(AlightError, match=words):
            Hoop(**options)
    with pytest.raises(AlightError, match="no hoop"):
        Membrane(1.0, suspension=[[-5.0, 0.0], [5.0, 0.0]], hoop=HOOP)

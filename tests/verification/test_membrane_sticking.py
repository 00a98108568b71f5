"""Fabric that sticks truly (paper 003's friction, ``contact.stick_friction``).

A point of weight m g beside the middle of a membrane: the fabric presses along -grad A, which leans
toward the middle by an angle b from gravity. It holds by friction if tan b < mu, for ever and
without motion; else it slides, with exactly mu N against it. Regularised friction creeps instead at
a part of its slip speed (1 cm/s), metres in this time.

Energy: that of motion, of weight, of fabric stretched and of fabric strained where it sticks never
rises.
"""

import numpy as np
import pytest

from alight.core import devices
from alight.membrane import Captive, Membrane, hexagon
from alight.motions.membrane.model import MembraneMotion

DEVICES = [device.name for device in devices.available()]
G = 9.8
POINT = Captive(100.0, np.eye(3), np.zeros((1, 3)))

pytestmark = pytest.mark.parametrize("device", DEVICES)


def beside(friction, device, duration=600.0, every=10.0):
    """A point that is let down on a membrane 5 m beside its middle."""
    law = Membrane(30.0, 30.0, friction, suspension=hexagon(7.5), relaxation=0.05)
    motion = MembraneMotion(law, POINT, gravity=(0.0, 0.0, -G))
    flight = motion.run((5.0, 0.0, 0.01), duration=duration, every=every, device=device)
    return flight, flight.loads[0]


def test_nothing_moves_below_the_limit(device):
    flight, load = beside(0.5, device)
    late = flight.time >= 100.0
    place = flight.position[0, late]
    assert np.abs(place - place[0]).max() < 1e-9
    assert place[0, 0] > 4.5  # where it was put, and not in the middle
    # Friction balances the slope: its part of the limit is tan b / mu.
    normal = load["force"][-1] - load["friction"][-1]
    lean = np.hypot(normal[0], normal[1]) / normal[2]
    assert 0.1 < lean < 0.45
    assert load["grip"][-1] == pytest.approx(lean / 0.5, rel=1e-4)
    assert (load["slip"][late] == 0.0).all()
    assert flight.slipped[0, -1] == flight.slipped[0, 10]


def test_slides_at_the_limit_exactly(device):
    flight, load = beside(0.05, device, duration=20.0, every=0.5)
    sliding = load["slip"] > 1e-3
    assert sliding.sum() > 5
    size = np.linalg.norm(load["friction"][sliding], axis=1)
    assert size == pytest.approx(0.05 * load["pressed"][sliding], rel=1e-12)
    assert flight.position[0, :, 0].min() < 4.0


def test_energy_never_rises(device):
    points = np.random.default_rng(3).normal(size=(40, 3))
    points = points / np.linalg.norm(points, axis=1)[:, None] * (2.25, 1.9, 1.5)
    body = Captive(100.0, np.diag([120.0, 150.0, 190.0]), points)
    law = Membrane(30.0, 0.5, 0.1, suspension=hexagon(7.5))
    motion = MembraneMotion(law, body, gravity=(0.0, 0.0, -G))
    flight = motion.run(
        (1.0, 0.5, 3.0), rate=(0.5, 1.0, -0.2), duration=12.0, every=0.02, tolerance=1e-9,
        device=device,
    )  # fmt: skip
    moving = 50.0 * (flight.velocity**2).sum(axis=-1)
    moving = moving + 0.5 * ((flight.rate @ body.inertia) * flight.rate).sum(axis=-1)
    kept = moving + 100.0 * G * flight.position[..., 2]
    kept = (kept + flight.loads["stored"] + flight.loads["strained"])[0]
    assert flight.loads["strained"].max() > 0.0
    assert flight.slipped[0, -1] > 0.1
    assert kept[-1] < 0.9 * kept[0]
    assert np.diff(kept).max() < 1e-8 * kept[0]
    # What friction has taken is stored or lost, and what is lost never comes back.
    taken = flight.rubbed[0] - flight.loads["strained"][0]
    assert np.diff(taken).min() > -1e-8 * kept[0]

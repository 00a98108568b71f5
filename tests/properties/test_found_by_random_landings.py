"""Defects that random landings brought to light, each in its smallest form."""

from __future__ import annotations

import numpy as np
import pytest

from alight import flight, gravity, surfaces
from alight.contact import Compliant
from alight.engine import Stop, run_batch
from alight.motions import Model, Release
from alight.vehicles import RigidLander


def test_spin_on_a_corner_gains_nothing() -> None:
    """Rolling resistance of half its size holds a box on a corner; its spin is not resisted."""
    box, g = RigidLander.box((0.06, 0.04, 0.03), 0.024), 5e-5
    contact = Compliant(restitution=0.5, friction=2.0, rolling_resistance=0.02, patch_radius=0.0)
    stop = Stop(max_time=5000.0, max_steps=300_000)
    model = Model(gravity.Uniform((0.0, 0.0, -g)), surfaces.Plane(), box, contact, stop=stop)
    r, n = np.random.default_rng(3), 20
    release = Release(
        np.tile([0.0, 0.0, 1.001 * box.bounding_radius], (n, 1)),
        r.normal(size=(n, 3)) * 3e-4,
        r.normal(size=(n, 4)),
        r.normal(size=(n, 3)) * 0.01,
    )
    result = run_batch(model, release, device="cpu")
    # A hold that left some spin once did work by its push: 30 times m g depth in 5000 s.
    assert result.final["gain"].max() < 0.01 * box.mass * g * contact.depth


def test_sliding_on_a_tumbling_ball_keeps_the_inertial_speed() -> None:
    """Without friction the ground's own rotation cannot matter: the path is a great circle, gone
    at a constant speed v + Omega x r in inertial space."""
    radius, seconds = 500.0, 800.0
    gm = 6.674e-11 * 2000.0 * 4.0 / 3.0 * np.pi * radius**3
    tumbling = flight.Tumbling(np.array([1.0, 1.3, 1.8]), np.array([2e-4, 1e-4, 1e-4]))
    x, v = np.array([0.0, 0.6, 0.8]) * (radius + 0.1), np.array([0.03, 0.0, 0.0])
    model = Model(
        gravity.PointMass(gm),
        surfaces.Sphere(radius=radius),
        RigidLander.sphere(0.2, 1.0),
        Compliant(restitution=0.5, friction=0.0, rolling_resistance=0.0),
        rotation=tumbling,
        stop=Stop(max_time=seconds),
    )
    final = run_batch(model, Release(x, v), device="cpu").final[0]
    rate = tumbling.evaluate([0.0, seconds], device="cpu")[0]
    before = np.linalg.norm(v + np.cross(rate[0], x))
    after = np.linalg.norm(final["v"] + np.cross(rate[1], final["x"]))
    # Coriolis' force is taken at a speed that has fallen for half a step: Omega g dt too much,
    # 2e-4 x 3e-4 x 0.1 m/s^2 or 5e-5 of the speed in all.
    assert after == pytest.approx(before, rel=2e-4)


def test_rows_of_a_release_keep_their_bits() -> None:
    attitude = np.random.default_rng(0).normal(size=(100, 4))
    release = Release((0.0, 0.0, 1.0), attitude=attitude)
    np.testing.assert_array_equal(release[:].attitude, release.attitude)

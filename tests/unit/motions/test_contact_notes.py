"""Records of contacts tell of hits, not of points that graze the ground on their way out."""

from __future__ import annotations

import numpy as np
import pytest

from alight.contact import Compliant
from alight.core import devices, frames
from alight.engine import Stop, run_batch
from alight.gravity import Uniform
from alight.motions import Model, Release
from alight.surfaces import Plane
from alight.vehicles import RigidLander

DEVICES = [device.name for device in devices.available()]


@pytest.mark.parametrize("device", DEVICES)
def test_contacts_of_a_rolling_ball_with_points_begin_inwards(device: str) -> None:
    """A ball that rolls on its 56 points: each leaves as the next comes in, some 50 contacts a run.

    A point on its way out may be found below the ground by a rounding: one in twenty contacts began
    so, and either nothing followed (no contact), or the next point's hit was told with its speed.
    """
    runs, radius = 200, 0.04
    rng = np.random.default_rng(5)
    ball = RigidLander.sphere(radius, 0.66, points=56)
    law = Compliant(restitution=0.1, friction=0.6, depth=1e-3)
    model = Model(Uniform((0.0, 0.0, -0.03)), Plane(), ball, law, stop=Stop(max_time=300.0))
    speed, zero = rng.uniform(0.5, 2.5, runs), np.zeros(runs)
    attitude = frames.quat_normalize(rng.normal(size=(runs, 4)))
    rolling = np.stack([zero, speed / radius, zero], axis=1)
    release = Release(
        np.stack([zero, zero, zero + radius + 2e-4], axis=1),
        velocity=np.stack([speed, zero, zero], axis=1),
        attitude=attitude,
        rate=frames.quat_rotate(frames.quat_conjugate(attitude), rolling),
    )
    result = run_batch(model, release, device=device)
    touches = result.touches
    assert len(touches) > 20 * runs
    assert (np.bincount(touches["run"], minlength=runs) == result.final["touches"]).all()
    assert (touches["normal_speed_in"] <= 0.0).all()
    assert (touches["normal_impulse"] > 1e-9).all()

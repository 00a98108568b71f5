"""Euler angles 1-2-3: there and back, in the lock, and their rates."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from alight.core import frames
from alight.vehicles.euler import euler_angles, euler_rates, quat_from_euler


def test_angles_are_those_of_scipy():
    turns = Rotation.random(200, random_state=1)
    angles = euler_angles(turns.as_quat())
    assert np.abs(angles - turns.as_euler("XYZ")).max() < 1e-13
    back = quat_from_euler(angles)
    assert np.abs(np.abs(np.sum(back * turns.as_quat(), axis=1)) - 1.0).max() < 1e-14


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_lock_keeps_the_attitude(sign):
    q = quat_from_euler((0.4, sign * np.pi / 2, 0.3))
    angles = euler_angles(q)
    assert angles[2] == 0.0
    assert angles[1] == pytest.approx(sign * np.pi / 2, abs=1e-8)
    assert angles[0] == pytest.approx(0.4 + sign * 0.3, abs=1e-8)
    assert np.abs(
        frames.quat_to_matrix(quat_from_euler(angles)) - frames.quat_to_matrix(q)
    ).max() < (1e-8)


def test_rates_are_derivatives():
    """Erratum 002-2: entry (3, 1) of Eq. 6 has sin a2."""
    rng = np.random.default_rng(2)
    angles, w = rng.uniform(-1.2, 1.2, (50, 3)), rng.normal(size=(50, 3))
    q, h = quat_from_euler(angles), 1e-4
    ends = [
        euler_angles(frames.quat_multiply(q, Rotation.from_rotvec(s * h * w).as_quat()))
        for s in (-1.0, 1.0)
    ]
    found = (ends[1] - ends[0]) / (2.0 * h)
    exact = euler_rates(angles, w)
    # Central differences: h^2 times third derivatives, some 100 where cos a2 is 0.36.
    assert np.abs(found - exact).max() < 1e-5 * np.abs(exact).max()

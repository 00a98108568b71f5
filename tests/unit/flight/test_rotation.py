"""Uniform rotation is its closed form, also after years; clocks lose no digits."""

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Reference

from alight.core import frames
from alight.core.errors import InputError
from alight.flight import Tumbling, UniformRotation

AXIS = np.array([1.0, -2.0, 2.0]) / 3.0
START = frames.quat_normalize([0.1, -0.4, 0.2, 0.7])


def same_attitude(q, expected, tolerance):
    """Quaternions agree up to their sign."""
    sign = np.sign(np.sum(q * expected, -1, keepdims=True))
    assert np.abs(sign * q - expected).max() < tolerance


def test_closed_form(device):
    law = UniformRotation(3e-4, 5.0 * AXIS, START)
    times = np.linspace(-2e4, 2e4, 41).reshape(41, 1)
    rate, acceleration, q_NT = law.evaluate(times, device)
    assert rate.shape == acceleration.shape == (41, 1, 3)
    assert q_NT.shape == (41, 1, 4)
    assert rate == pytest.approx(np.broadcast_to(3e-4 * AXIS, rate.shape), rel=1e-15)
    assert not acceleration.any()
    turned = Reference.from_quat(START) * Reference.from_rotvec(3e-4 * times * AXIS)
    same_attitude(q_NT[:, 0], turned.as_quat(), 4e-15)
    assert np.linalg.norm(q_NT, axis=-1) == pytest.approx(1.0, rel=1e-15)


def test_attitude_follows_its_own_rate(device):
    law = UniformRotation(2.0, AXIS, START)
    step = 1e-4
    before, now, after = law.evaluate([0.7 - step, 0.7, 0.7 + step], device)[2]
    slope = frames.quat_rate(now, law.omega)
    # Central difference: h^2/6 times the third derivative, (rate/2)^3.
    assert (after - before) / (2 * step) == pytest.approx(slope, abs=2 * step**2 / 6)


@pytest.mark.parametrize("rate", [1.7453292519943e-3, 2.286611e-4, -0.0123, 1e-9])
def test_no_digit_is_lost_in_three_years(rate, device):
    """cos(rate t) rounded at each end would be wrong by up to 1e6 rad x 1e-16."""
    times = np.array([1e8, 99_999_999.123456789, 1.3e8, -1e8, 12345.678])
    q_NT = UniformRotation(rate).evaluate(times, device)[2]
    with mp.workdps(40):
        half = [mp.mpf(rate) * mp.mpf(float(t)) / 2 for t in times]
        expected = np.array([[0, 0, float(mp.sin(h)), float(mp.cos(h))] for h in half])
    same_attitude(q_NT, expected, 2e-15)


def test_attitude_is_continuous():
    """The quaternion does not jump to its negative after a turn."""
    q = UniformRotation(1.0, AXIS, START).evaluate(np.linspace(0.0, 40.0, 4001))[2]
    assert np.abs(np.diff(q, axis=0)).max() < 0.01


def test_vector_rate():
    law = UniformRotation(omega=(0.0, -3.0, 4.0))
    assert law.rate == 5.0
    assert law.omega == pytest.approx([0.0, -3.0, 4.0], rel=1e-15)
    assert law.period == pytest.approx(2 * np.pi / 5)
    assert UniformRotation.uniform
    assert not Tumbling.uniform


def test_no_rotation():
    for law in (UniformRotation(0.0), UniformRotation(omega=(0.0, 0.0, 0.0))):
        rate, acceleration, q_NT = law.evaluate([0.0, 1e8])
        assert not rate.any()
        assert not acceleration.any()
        assert q_NT.tolist() == [[0, 0, 0, 1]] * 2
        assert law.period == np.inf


def test_empty_times():
    assert UniformRotation(1.0).evaluate([])[2].shape == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either rate"),
        ({"rate": 1.0, "omega": (0, 0, 1)}, "either rate"),
        ({"rate": np.nan}, "rate"),
        ({"rate": "fast"}, "rate"),
        ({"rate": True}, "rate"),
        ({"rate": 1.0, "axis": (0, 0, 0)}, "axis is zero"),
        ({"rate": 1.0, "axis": (0, 0)}, "three finite"),
        ({"omega": (0, 0, np.inf)}, "omega"),
        ({"rate": 1.0, "q_NT": (0, 0, 0, 0)}, "not all zero"),
        ({"rate": 1.0, "q_NT": (0, 0, 1)}, "four finite"),
        ({"rate": 1.0, "q_NT": None}, "four finite"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(InputError, match=words):
        UniformRotation(**arguments)


@pytest.mark.parametrize("times", [[np.nan], "noon", [[1.0], [np.inf]]])
def test_bad_times(times):
    with pytest.raises(InputError, match="times"):
        UniformRotation(1.0).evaluate(times)

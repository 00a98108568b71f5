"""Tumbling: special inertias, its own table, and what it refuses."""

import numpy as np
import pytest

from alight.core import frames
from alight.core.errors import InputError
from alight.flight import Tumbling, UniformRotation
from alight.flight.free_body import LEAST_COMPLEMENT, checked_inertia, solve
from alight.flight.tumbling import TOLERANCE

START = frames.quat_normalize([0.3, 0.1, -0.5, 0.6])


def test_starts_where_it_is_told(device):
    rng = np.random.default_rng(3)
    for _ in range(10):
        turn = frames.quat_to_matrix(frames.quat_normalize(rng.normal(size=4)))
        inertia = turn @ np.diag(rng.uniform(1.0, 1.9, 3)) @ turn.T
        rate = rng.normal(size=3)
        first, slope, q_NT = Tumbling(inertia, rate, START).evaluate(0.0, device)
        assert first == pytest.approx(rate, abs=1e-14)
        euler = np.linalg.solve(inertia, np.cross(inertia @ rate, rate))
        assert slope == pytest.approx(euler, abs=2e-14)
        assert abs(q_NT @ START) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("inertia", "rate"),
    [
        ((2.0, 2.0, 2.0), (0.3, -0.2, 0.5)),
        ((1.0, 2.0, 2.5), (0.7, 0.0, 0.0)),
        ((1.0, 2.0, 2.5), (0.0, 0.0, -0.7)),
        ((1.0, 1.0, 1.5), (0.3, 0.4, 0.0)),
        ((1.0, 1.5, 1.5), (0.0, 0.3, 0.4)),
    ],
)
def test_steady_rotation_is_uniform(inertia, rate, device):
    times = np.linspace(0.0, 1e4, 101)
    ours = Tumbling(inertia, rate, START).evaluate(times, device)
    plain = UniformRotation(omega=rate, q_NT=START).evaluate(times, device)
    assert ours[0] == pytest.approx(plain[0], abs=1e-15)
    assert np.abs(ours[1]).max() < 1e-15
    overlap = np.abs(np.sum(ours[2] * plain[2], -1))
    # The rate is rounded at 1e-16 of itself, and turns 1e4 times.
    assert overlap == pytest.approx(1.0, abs=1e-12)


def test_table_is_periodic_and_smooth(device):
    law = Tumbling((1.0, 2.0, 3.0), (0.5, 0.1, 1.0))
    edge = law.period * np.array([1.0 - 1e-12, 1.0, 1.0 + 1e-12, 7.0, -3.0])
    rate = law.evaluate(edge, device)[0]
    # Seven periods: the phase is right to 1e-15, and Omega turns by 1 rad/s or so.
    assert rate == pytest.approx(np.tile([0.5, 0.1, 1.0], (5, 1)), abs=2e-11)
    assert law.table_error < TOLERANCE


def test_table_against_closed_form_between_nodes(device):
    law = Tumbling((1.0, 2.0, 3.0), (0.5, 0.1, 1.0))
    phase = np.random.default_rng(0).uniform(size=1000)
    rate = law.evaluate(phase * law.period, device)[0]
    exact = law.body.rate(phase) @ law.body.R_TP.T
    assert np.abs(rate - exact).max() < 2 * TOLERANCE


def test_scale_of_inertia_does_not_matter():
    times = np.linspace(0.0, 30.0, 31)
    one = Tumbling((1.0, 2.0, 2.6), (0.5, 0.1, 1.0)).evaluate(times)
    two = Tumbling((4e20, 8e20, 10.4e20), (0.5, 0.1, 1.0)).evaluate(times)
    assert two[0] == pytest.approx(one[0], abs=1e-13)


def test_an_order_of_axes_is_as_good_as_another():
    """Turning the body in its own axes turns Omega and nothing else."""
    times = np.linspace(0.0, 40.0, 41)
    inertia, rate = np.diag([1.0, 2.0, 2.6]), np.array([0.8, 0.3, -0.2])
    plain = Tumbling(inertia, rate).evaluate(times)[0]
    for turn in (np.roll(np.eye(3), 1, axis=0), np.diag([1.0, -1.0, -1.0])):
        turned = Tumbling(turn @ inertia @ turn.T, turn @ rate).evaluate(times)[0]
        assert turned == pytest.approx(plain @ turn.T, abs=1e-12)


def test_close_to_the_separatrix():
    """Near rotation about the middle axis the period grows as log(1/(1 - k^2)), then is refused."""
    tilts = [1e-1, 1e-2, 1e-3]
    laws = [Tumbling((1.0, 2.0, 3.0), (0.0, 1.0, tilt)) for tilt in tilts]
    complements = np.array([1.0 - law.body.parameter for law in laws])
    expected = 4.0 * np.log(4.0 / np.sqrt(complements))
    periods = np.array([law.period * law.body.argument_rate for law in laws])
    assert periods == pytest.approx(expected, rel=0.02)
    assert all(law.table_error < TOLERANCE for law in laws)
    with pytest.raises(InputError, match="separatrix"):
        Tumbling((1.0, 2.0, 3.0), (0.0, 1.0, 0.3 * np.sqrt(LEAST_COMPLEMENT)))


@pytest.mark.parametrize("tilt", [0.0, 1e-17])
def test_middle_axis_is_refused(tilt):
    with pytest.raises(InputError, match="middle inertia"):
        Tumbling((1.0, 2.0, 3.0), (tilt, 1.0, 0.0))


def test_on_the_separatrix_is_refused():
    # C (C - B) wc^2 = A (B - A) wa^2.
    with pytest.raises(InputError, match="separatrix"):
        Tumbling((1.0, 2.0, 3.0), (np.sqrt(3.0), 0.5, 1.0))


@pytest.mark.parametrize(
    ("inertia", "words"),
    [
        ((1.0, 1.0, 2.5), "sum of the other two"),
        ((1.0, -1.0, 1.0), "positive"),
        ((0.0, 0.0, 0.0), "not zero"),
        ([[1, 0.2, 0], [0, 1, 0], [0, 0, 1]], "symmetric"),
        (np.eye(2), "shape"),
        ("round", "3x3"),
        ((1.0, np.nan, 1.0), "finite"),
    ],
)
def test_bad_inertia(inertia, words):
    with pytest.raises(InputError, match=words):
        Tumbling(inertia, (0.1, 0.2, 0.3))


def test_bad_rate():
    with pytest.raises(InputError, match="UniformRotation"):
        Tumbling((1.0, 2.0, 2.5), (0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="rate"):
        solve((1.0, 2.0, 2.5), (0.0, np.nan, 0.0))


def test_flat_bodies_are_allowed():
    assert np.trace(checked_inertia((1.0, 1.0, 2.0))) == pytest.approx(1.0)

"""``solve(..., "pece")``: dense output, events, history, how it ends."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.integrators import solve

#: An ellipse of semi-axis 1 and eccentricity 0.6, from its pericentre.
ELLIPSE = [0.4, 0.0, 0.0, 2.0]


def kepler(t, y):
    return np.concatenate([y[2:], -y[:2] / np.linalg.norm(y[:2]) ** 3])


def forced(t, y):
    return np.array([y[1], -math.sin(y[0]) - 0.1 * y[1] + 0.8 * math.cos(2.0 * t)])


def test_evaluations_are_counted():
    calls = []

    def counted(t, y):
        calls.append(t)
        return kepler(t, y)

    done = solve(counted, (0, 5), ELLIPSE, "pece", first_step=0.5)
    assert done.evaluations == len(calls) == 1 + 2 * done.steps + done.rejected
    assert done.rejected >= 1
    assert done.history.order.shape == done.history.size.shape == (done.steps,)


def test_history_tells_of_every_step():
    done = solve(kepler, (0, 5), ELLIPSE, "pece", rtol=1e-8)
    np.testing.assert_array_equal(done.history.t, done.t[:-1])
    np.testing.assert_allclose(done.history.size, np.diff(done.t), rtol=1e-12)
    # It starts at order 1, and both rise by themselves.
    assert done.history.order[:4].tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(done.history.size[1:4] / done.history.size[:3], 2.0)
    assert solve(kepler, (0, 1), ELLIPSE, "rk45").history.order.tolist()[0] == 5
    assert set(solve(kepler, (0, 1), ELLIPSE, "rk4", step=0.1).history.order) == {4}


def test_steps_grow_by_two_at_most_and_shrink_by_two_where_none_fails():
    done = solve(forced, (0, 30), [0.3, -0.2], "pece", rtol=1e-7)
    ratio = done.history.size[1:] / done.history.size[:-1]
    assert ratio.max() < 2.0 + 1e-9
    assert done.rejected <= 3
    assert np.sum(ratio < 0.5 - 1e-9) <= done.rejected


@pytest.mark.parametrize("end", [6.0, -6.0])
def test_t_eval_and_sample_agree_with_the_solution(end):
    rtol = 1e-9
    t = np.linspace(0.0, end, 41)
    best = solve_ivp(kepler, (0, end), ELLIPSE, "DOP853", t, rtol=1e-13, atol=1e-14).y.T
    given = solve(kepler, (0, end), ELLIPSE, "pece", rtol=rtol, t_eval=t)
    dense = solve(kepler, (0, end), ELLIPSE, "pece", rtol=rtol, dense=True)
    np.testing.assert_allclose(given.y, best, rtol=0, atol=1000 * rtol)
    assert np.array_equal(dense.sample(t), given.y)
    assert np.array_equal(dense.sample(dense.t), dense.y)
    assert dense.sample(1.0 if end > 0 else -1.0).shape == (4,)


def test_states_and_slopes_go_on_from_step_to_step():
    done = solve(kepler, (0, 6), ELLIPSE, "pece", rtol=1e-6, dense=True)
    h = 1e-5
    for left, right in itertools.pairwise(done.segments):
        # The last bits just inside the start: no jump of the size of the error allowed.
        np.testing.assert_allclose(right.part(1e-9), right.y0, rtol=0, atol=3e-9)
        before = (left.y1 - left.part(1.0 - h)) / (h * (left.t1 - left.t0))
        after = (right.part(h) - right.y0) / (h * (right.t1 - right.t0))
        np.testing.assert_allclose(before, after, rtol=0, atol=1e-3 * np.abs(before).max())


def test_dense_output_is_as_good_as_the_steps():
    """Inside the long steps of high orders too, where a cubic through the ends would be far off."""
    done = solve(forced, (0, 20), [0.3, -0.2], "pece", rtol=1e-9, atol=1e-9, dense=True)
    best = solve_ivp(
        forced, (0, 20), [0.3, -0.2], "DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    )
    ends = np.abs(done.y - best.sol(done.t).T).max()
    middles = np.array([s.part(0.5) for s in done.segments])
    times = np.array([s.time(0.5) for s in done.segments])
    assert np.abs(middles - best.sol(times).T).max() < 3.0 * ends
    cubic = [0.5 * (s.y0 + s.y1) + (s.t1 - s.t0) / 8 * (s.k0 - s.k1) for s in done.segments]
    assert np.abs(cubic - best.sol(times).T).max() > 300.0 * ends


def test_events_are_found():
    def crossing(t, y):
        return y[0]

    swing = solve(
        lambda t, y: np.array([y[1], -y[0]]), (0, 10), [0.0, 1.0], "pece",
        rtol=1e-11, atol=1e-13, events=crossing,
    )  # fmt: skip
    np.testing.assert_allclose(swing.events[0].t, np.pi * np.arange(1, 4), rtol=1e-9)
    crossing.terminal = 2
    ended = solve(
        lambda t, y: np.array([y[1], -y[0]]), (0, 10), [0.0, 1.0], "pece",
        rtol=1e-11, atol=1e-13, events=crossing,
    )  # fmt: skip
    assert ended.stopped_by == 0
    assert ended.t[-1] == pytest.approx(2.0 * math.pi, rel=1e-9)


def test_rounding_does_not_gather():
    """Steps add 1e-5 to a state of 1: its own rounding would take up to half a unit from each."""
    done = solve(lambda t, y: np.array([0.01]), (0, 3), [1.0], "pece", max_step=1e-3)
    assert done.steps > 3000
    assert abs(done.y[-1, 0] - 1.03) <= 2.0 * np.spacing(1.0)


def test_there_and_back():
    there = solve(kepler, (0, 6), ELLIPSE, "pece", rtol=1e-11, atol=1e-13)
    back = solve(kepler, (6, 0), there.y[-1], "pece", rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(back.y[-1], ELLIPSE, rtol=0, atol=1e-8)


def test_max_step_and_first_step_are_kept():
    done = solve(forced, (0, 10), [0.3, -0.2], "pece", rtol=1e-3, max_step=0.25, first_step=1e-3)
    assert done.history.size[0] == 1e-3
    assert done.history.size.max() <= 0.25 * (1 + 1e-12)


@pytest.mark.parametrize("late", [1e6, -1e9])
def test_late_times_are_no_harder(late):
    y0 = [0.0, 1.0]
    done = solve(lambda t, y: np.array([y[1], -y[0]]), (late, late + 10), y0, "pece", rtol=1e-8)
    soon = solve(lambda t, y: np.array([y[1], -y[0]]), (0, 10), y0, "pece", rtol=1e-8)
    assert done.steps <= 1.1 * soon.steps
    np.testing.assert_allclose(done.y[-1], [math.sin(10), math.cos(10)], rtol=0, atol=1e-6)


def test_a_state_without_a_scale_takes_steps():
    assert solve(lambda t, y: 0.0 * y, (0, 1e-9), [0.0, 0.0], "pece").success
    far = solve(lambda t, y: np.array([math.cos(t / 1e7)]), (0, 1e8), [0.0], "pece")
    assert far.y[-1] == pytest.approx(1e7 * math.sin(10.0), rel=1e-7)
    empty = solve(kepler, (2, 2), ELLIPSE, "pece", dense=True)
    assert empty.success
    assert np.array_equal(empty.sample([2.0]), [ELLIPSE])


# How solutions end ---------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_rejects_a_step_until_the_floor(bad):
    done = solve(lambda t, y: np.array([1.0 if t <= 1.0 else bad]), (0, 3), [0.0], "pece")
    assert done.outcome is Outcome.STEP_FLOOR
    assert "floor" in done.message
    assert "min_step" in done.message
    assert "rtol" in done.message
    assert 1.0 - 1e-13 < done.t[-1] <= 1.0
    np.testing.assert_allclose(done.y[:, 0], done.t, rtol=1e-14)
    assert done.rejected > 10


@pytest.mark.parametrize("call", [2, 3, 4, 7, 12])
def test_nan_in_either_evaluation_rejects_the_step(call):
    calls = []

    def flaky(t, y):
        calls.append(t)
        return np.array([math.nan if len(calls) == call else math.cos(t)])

    done = solve(flaky, (0, 1), [0.0], "pece", rtol=1e-6, atol=1e-6, first_step=1e-3)
    assert done.rejected >= 1
    assert np.isfinite(done.y).all()
    assert done.y[-1, 0] == pytest.approx(math.sin(1.0), rel=1e-5)


def test_min_step_is_the_floor():
    def blow(t, y):  # 1/(1 - t)
        return y * y

    done = solve(blow, (0, 2), [1.0], "pece", min_step=1e-4, rtol=1e-7)
    assert done.outcome is Outcome.STEP_FLOOR
    assert 0.5 < done.t[-1] < 1.0
    assert np.diff(done.t).min() >= 1e-4 * (1 - 1e-11)
    np.testing.assert_allclose(done.y[:, 0], 1.0 / (1.0 - done.t), rtol=1e-3)
    # Order 1, at which it starts, needs steps of the root of the tolerance.
    assert solve(blow, (0, 2), [1.0], "pece", min_step=1e-4, rtol=1e-10).steps == 0


def test_a_slope_that_is_not_finite_from_the_start():
    done = solve(lambda t, y: y * math.nan, (0, 1), [1.0], "pece")
    assert done.outcome is Outcome.NOT_FINITE
    assert np.array_equal(done.y, [[1.0]])


def test_the_allowance_of_steps():
    done = solve(kepler, (0, 100), ELLIPSE, "pece", max_steps=7, dense=True)
    assert done.outcome is Outcome.STEP_LIMIT
    assert "max_steps" in done.message
    assert np.array_equal(done.sample(done.t), done.y)


def test_a_fixed_step_is_refused():
    with pytest.raises(InputError, match='"pece" finds its own steps'):
        solve(forced, (0, 1), [0.3, -0.2], "pece", step=0.1)

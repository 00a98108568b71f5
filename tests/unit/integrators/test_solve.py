"""``solve`` against closed forms and against scipy; how it ends; what it refuses."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.integrators import solve


def kepler(t, y):
    return np.concatenate([y[2:], -y[:2] / np.linalg.norm(y[:2]) ** 3])


#: An ellipse of semi-axis 1 and eccentricity 0.6, from its pericentre.
ELLIPSE = [0.4, 0.0, 0.0, 2.0]


def predators(t, y):
    return np.array([1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3.0 * y[1]])


def forced(t, y):
    return np.array([y[1], -math.sin(y[0]) - 0.1 * y[1] + 0.8 * math.cos(2.0 * t)])


PROBLEMS = {
    "kepler": (kepler, (0.0, 15.0), ELLIPSE),
    "predators": (predators, (0.0, 10.0), [2.0, 1.0]),
    "forced pendulum": (forced, (1.0, 12.0), [0.3, -0.2]),
    "backward": (forced, (3.0, -4.0), [0.3, -0.2]),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_against_scipy(name, rtol):
    rhs, span, y0 = PROBLEMS[name]
    best = solve_ivp(rhs, span, y0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    other = solve_ivp(rhs, span, y0, "RK45", rtol=rtol, atol=1e-3 * rtol)
    ours = solve(rhs, span, y0, rtol=rtol, atol=1e-3 * rtol)
    assert ours.success
    assert ours.t[0] == span[0]
    assert ours.t[-1] == span[1]
    assert np.array_equal(ours.y[0], y0)
    # The same method under the same norm and nearly the same control: like errors, like cost.
    theirs = np.abs(other.y[:, -1] - best).max()
    assert np.abs(ours.y[-1] - best).max() < 2.0 * theirs + 1e-12
    assert 0.8 < ours.evaluations / other.nfev < 1.25


def test_one_step_and_its_inside_are_scipys_to_rounding():
    h = 0.1
    ours = solve(forced, (0, h), [0.3, -0.2], rtol=1e-2, first_step=h, dense=True)
    other = solve_ivp(
        forced, (0, h), [0.3, -0.2], "RK45", rtol=1e-2, first_step=h, dense_output=True
    )
    t = np.linspace(0.0, h, 7)
    assert ours.steps == 1
    assert len(other.t) == 2
    np.testing.assert_allclose(ours.sample(t), other.sol(t).T, rtol=0, atol=2e-16)


def test_there_and_back():
    there = solve(kepler, (0, 6), ELLIPSE, rtol=1e-11, atol=1e-13)
    back = solve(kepler, (6, 0), there.y[-1], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(back.y[-1], ELLIPSE, rtol=0, atol=1e-8)
    assert (np.diff(back.t) < 0).all()


def test_fixed_steps_end_where_they_should():
    done = solve(forced, (0, 1), [0.3, -0.2], "rk4", step=0.1)
    assert done.steps == 10
    assert done.evaluations == 1 + 4 * 10
    assert done.t[-1] == 1.0
    short = solve(forced, (0, -1), [0.3, -0.2], "rk4", step=0.3)
    np.testing.assert_allclose(short.t, [0.0, -0.3, -0.6, -0.9, -1.0], rtol=1e-15)


def test_evaluations_are_counted():
    calls = []

    def counted(t, y):
        calls.append(t)
        return kepler(t, y)

    done = solve(counted, (0, 5), ELLIPSE, first_step=0.5)
    assert done.evaluations == len(calls) == 1 + 6 * (done.steps + done.rejected)
    assert done.rejected >= 1
    assert len(done.t) == done.steps + 1


def test_t_eval_and_sample_agree_with_the_solution():
    rtol = 1e-9
    t = np.linspace(0.0, 6.0, 41)
    best = solve_ivp(kepler, (0, 6), ELLIPSE, "DOP853", t, rtol=1e-13, atol=1e-14).y.T
    given = solve(kepler, (0, 6), ELLIPSE, rtol=rtol, t_eval=t)
    dense = solve(kepler, (0, 6), ELLIPSE, rtol=rtol, dense=True)
    assert np.array_equal(given.t, t)
    np.testing.assert_allclose(given.y, best, rtol=0, atol=300 * rtol)
    assert np.array_equal(dense.sample(t), given.y)
    assert np.array_equal(dense.sample(dense.t), dense.y)
    assert dense.sample(1.0).shape == (4,)
    assert dense.sample(t.reshape(1, -1)).shape == (1, 41, 4)
    back = solve(kepler, (6, 0), best[-1], rtol=rtol, t_eval=t[::-1], dense=True)
    np.testing.assert_allclose(back.y, best[::-1], rtol=0, atol=1000 * rtol)
    assert np.array_equal(back.sample(t[::-1]), back.y)


def test_slopes_of_dense_output_are_continuous():
    done = solve(kepler, (0, 6), ELLIPSE, dense=True)
    h = 1e-5
    for left, right in zip(done.segments[:-1], done.segments[1:], strict=True):
        before = (left.y1 - left.part(1.0 - h)) / (h * (left.t1 - left.t0))
        after = (right.part(h) - right.y0) / (h * (right.t1 - right.t0))
        np.testing.assert_allclose(before, after, rtol=0, atol=1e-3 * np.abs(before).max())


def test_max_step_and_first_step_are_kept():
    done = solve(forced, (0, 10), [0.3, -0.2], rtol=1e-3, max_step=0.25, first_step=0.125)
    sizes = np.diff(done.t)
    assert sizes[0] == 0.125
    assert sizes.max() <= 0.25 * (1 + 1e-12)


def test_a_state_without_a_scale_takes_steps():
    # Zero state, zero slope, or both: nothing to take a first step from but the span.
    assert solve(lambda t, y: 0.0 * y, (0, 1e-9), [0.0, 0.0]).success
    far = solve(lambda t, y: np.array([math.cos(t / 1e7)]), (0, 1e8), [0.0])
    assert far.y[-1] == pytest.approx(1e7 * math.sin(10.0), rel=1e-7)
    assert solve(lambda t, y: np.array([0.0, y[0]]), (0, 1), [1.0, 0.0], atol=0.0).success


def test_an_empty_span_is_its_start():
    done = solve(kepler, (2, 2), ELLIPSE, dense=True)
    assert done.success
    assert np.array_equal(done.t, [2.0])
    assert np.array_equal(done.sample([2.0]), [ELLIPSE])


def test_a_work_array_that_is_reused_does_no_harm():
    work = np.zeros(2)

    def reused(t, y):
        work[:] = forced(t, y)
        return work

    ours, other = (solve(f, (0, 3), [0.3, -0.2]) for f in (reused, forced))
    assert np.array_equal(ours.y, other.y)


# How solutions end ---------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_rejects_a_step_until_the_floor(bad):
    def wall(t, y):
        return np.array([1.0 if t <= 1.0 else bad])

    done = solve(wall, (0, 3), [0.0])
    assert done.outcome is Outcome.STEP_FLOOR
    assert not done.success
    assert "floor" in done.message
    # What was computed is kept, up to the wall.
    assert 1.0 - 1e-13 < done.t[-1] <= 1.0
    np.testing.assert_allclose(done.y[:, 0], done.t, rtol=1e-14)
    assert done.rejected > 10


@pytest.mark.parametrize("call", range(2, 8))
def test_nan_in_any_stage_rejects_the_step(call):
    calls = []

    def flaky(t, y):
        calls.append(t)
        return np.array([math.nan if len(calls) == call else math.cos(t)])

    # The last call gives the slope at the new state, which the new state itself does not use.
    done = solve(flaky, (0, 1), [0.0], rtol=1e-6, first_step=0.1)
    assert done.rejected == 1
    assert done.t[1] == pytest.approx(0.02)
    assert np.isfinite(done.y).all()
    assert done.y[-1, 0] == pytest.approx(math.sin(1.0), rel=1e-6)


def test_a_hole_that_a_shorter_step_avoids_is_no_failure():
    done = solve(lambda t, y: -0.5 / np.sqrt(y), (0, 0.8), [1.0], first_step=100.0)
    assert done.success
    assert done.rejected >= 1
    exact = (1.0 - 0.75 * 0.8) ** (2.0 / 3.0)
    assert done.y[-1, 0] == pytest.approx(exact, rel=1e-8)


def test_min_step_is_the_floor():
    done = solve(lambda t, y: y * y, (0, 2), [1.0], min_step=1e-3)  # 1/(1 - t)
    assert done.outcome is Outcome.STEP_FLOOR
    assert 0.5 < done.t[-1] < 1.0
    assert np.diff(done.t).min() >= 1e-3 * (1 - 1e-12)
    np.testing.assert_allclose(done.y[:, 0], 1.0 / (1.0 - done.t), rtol=1e-5)


def test_a_slope_that_is_not_finite_from_the_start():
    done = solve(lambda t, y: y * math.nan, (0, 1), [1.0])
    assert done.outcome is Outcome.NOT_FINITE
    assert np.array_equal(done.y, [[1.0]])
    fixed = solve(lambda t, y: y if t < 0.5 else y * math.nan, (0, 1), [1.0], "rk4", step=0.1)
    assert fixed.outcome is Outcome.NOT_FINITE
    assert fixed.t[-1] == pytest.approx(0.4)


def test_the_allowance_of_steps():
    done = solve(kepler, (0, 100), ELLIPSE, max_steps=7, dense=True)
    assert done.outcome is Outcome.STEP_LIMIT
    assert done.steps == 7
    assert np.array_equal(done.sample(done.t), done.y)


# What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"method": "rk54"}, 'Did you mean "rk4'),
        ({"method": None}, "unknown method"),
        ({"rhs": 3}, "rhs is 3"),
        ({"rhs": lambda t, y: np.zeros(3)}, r"shape \(3,\)"),
        ({"t_span": (0, 1, 2)}, "two times"),
        ({"t_span": (0, math.inf)}, "finite"),
        ({"t_span": "ab"}, "t_span"),
        ({"y0": [1.0, math.nan]}, "finite"),
        ({"y0": [[1.0]]}, "shape"),
        ({"y0": []}, "shape"),
        ({"y0": [1j, 0]}, "complex"),
        ({"rtol": -1.0}, "rtol"),
        ({"rtol": 1e-17}, "rounding"),
        ({"rtol": 0.0, "atol": 0.0}, "no error would be allowed"),
        ({"atol": [1e-3] * 5}, "components"),
        ({"atol": -1e-3}, "atol"),
        ({"first_step": 0.0}, "first_step"),
        ({"max_step": -1.0}, "max_step"),
        ({"max_step": math.nan}, "max_step"),
        ({"min_step": 2.0, "max_step": 1.0}, "exceeds"),
        ({"step": 0.1}, "finds its own steps"),
        ({"method": "rk4"}, "give step"),
        ({"method": "rk4", "step": 0.1, "max_step": 0.1}, "leave out"),
        ({"t_eval": [0.5, 2.0]}, "within"),
        ({"t_eval": [0.5, 0.2]}, "rise"),
        ({"t_eval": 0.5}, "shape"),
        ({"max_steps": 0}, "max_steps"),
        ({"events": [3]}, "event 0"),
        ({"events": lambda t, y: math.nan}, "event 0 returned NaN"),
    ],
)
def test_bad_input(change, said):
    given = {"rhs": forced, "t_span": (0, 1), "y0": [0.3, -0.2], **change}
    with pytest.raises(InputError, match=said):
        solve(**given)


def test_sampling_what_is_not_there():
    with pytest.raises(InputError, match="dense=True"):
        solve(forced, (0, 1), [0.3, -0.2]).sample(0.5)
    with pytest.raises(InputError, match="reaches from 0 to 1"):
        solve(forced, (0, 1), [0.3, -0.2], dense=True).sample([0.5, 1.5])
    with pytest.raises(InputError, match="reaches"):
        solve(forced, (0, 1), [0.3, -0.2], dense=True).sample(math.nan)

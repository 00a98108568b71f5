"""Events: found, in order, where they should be, and not where they should not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from alight.core.errors import InputError
from alight.integrators import solve


def event(function, terminal=False, direction=0):
    function.terminal, function.direction = terminal, direction
    return function


def swing(t, y):
    """A harmonic oscillator: (sin t, cos t)."""
    return np.array([y[1], -y[0]])


SWING = [0.0, 1.0]


@pytest.mark.parametrize(
    ("direction", "turns"), [(0, [1, 2, 3]), (1, [2]), (-1, [1, 3]), (2.5, [2]), (-0.5, [1, 3])]
)
def test_zeros_of_a_sine(direction, turns):
    crossing = event(lambda t, y: y[0], direction=direction)
    done = solve(swing, (0, 10), SWING, rtol=1e-11, atol=1e-13, events=crossing)
    # The zero at the start is where the solution begins, not something that happens to it.
    np.testing.assert_allclose(done.events[0].t, np.pi * np.array(turns), rtol=1e-9)
    np.testing.assert_allclose(done.events[0].y[:, 1], [(-1.0) ** n for n in turns], rtol=1e-9)


def test_zeros_backward_in_time():
    rises = event(lambda t, y: y[0] - 0.5, direction=1)
    done = solve(swing, (0, -10), SWING, rtol=1e-11, atol=1e-13, events=rises)
    # Along the way taken, from 0 to -10, the sine rises through 1/2 at these times.
    expected = [-7 * math.pi / 6, -19 * math.pi / 6]
    np.testing.assert_allclose(done.events[0].t, expected, rtol=1e-9)


def test_roots_are_found_to_a_part_in_a_million_million_of_the_step():
    # Uniform acceleration: dense output is exact, so only the root's own error is left.
    for height in np.linspace(0.011, 0.99, 23):
        fall = event(lambda t, y, z=height: y[0] - z, terminal=True)
        done = solve(lambda t, y: np.array([y[1], -2.0]), (0, 1), [1.0, 0.0],
                     first_step=1.0, events=fall)  # fmt: skip
        assert done.steps == 1
        assert abs(done.t[-1] - math.sqrt(1.0 - height)) < 1e-12


def test_a_terminal_event_ends_all():
    stop = event(lambda t, y: y[0], terminal=True, direction=-1)
    others = [lambda t, y: y[1], lambda t, y: y[0] - 2.0, lambda t, y: t - 3.5]
    times = np.linspace(0, 10, 101)
    tight = {"rtol": 1e-11, "atol": 1e-13, "events": [*others, stop]}
    done = solve(swing, (0, 10), SWING, **tight, dense=True)
    assert done.success
    assert done.stopped_by == 3
    assert "event 3" in done.message
    assert [len(e.t) for e in done.events] == [1, 0, 0, 1]
    assert done.events[1].y.shape == (0, 2)
    assert done.t[-1] == done.events[3].t[0] == done.span[1]
    assert np.array_equal(done.y[-1], done.events[3].y[0])
    assert done.t[-1] == pytest.approx(math.pi, rel=1e-9)
    with pytest.raises(InputError):
        done.sample(3.2)
    # At given times only those before the end are left.
    given_times = solve(swing, (0, 10), SWING, **tight, t_eval=times)
    assert np.array_equal(given_times.t, times[times < math.pi])


def test_terminal_may_count():
    third = event(lambda t, y: y[0], terminal=3)
    done = solve(swing, (0, 100), SWING, rtol=1e-11, events=third)
    assert done.t[-1] == pytest.approx(3 * math.pi, rel=1e-8)


def test_events_in_one_step_are_in_order_and_later_ones_dropped():
    def go(t, y):
        return np.ones(1)

    late = event(lambda t, y: y[0] - 0.9)
    middle = event(lambda t, y: y[0] - 0.6, terminal=True)
    early = event(lambda t, y: y[0] - 0.3)
    done = solve(go, (0, 1), [0.0], first_step=1.0, events=[late, middle, early])
    assert done.steps == 1
    assert done.stopped_by == 1
    assert [len(e.t) for e in done.events] == [0, 1, 1]


def test_a_zero_at_the_end_of_a_step_counts_once():
    done = solve(lambda t, y: np.ones(1), (0, 4), [0.0], "rk4", step=1.0,
                 events=lambda t, y: t - 2.0)  # fmt: skip
    assert done.events[0].t.tolist() == [2.0]
    # A touch of zero is a fall to it.
    touch = event(lambda t, y: (t - 2.0) ** 2, direction=-1)
    done = solve(lambda t, y: np.ones(1), (0, 4), [0.0], "rk4", step=1.0, events=touch)
    assert done.events[0].t.tolist() == [2.0]


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.001, 9.999),
    st.sampled_from([-1.0, 1.0]),
    st.floats(1e-150, 1e150),
    st.floats(0.01, 3.0),
)
def test_no_change_of_sign_is_missed(place, way, scale, step):
    crossing = event(lambda t, y: way * scale * (y[0] - place), direction=way)
    never = event(lambda t, y: way * scale * (y[0] - place), direction=-way)
    done = solve(lambda t, y: np.ones(1), (0, 10), [0.0], "rk4", step=step,
                 events=[crossing, never])  # fmt: skip
    np.testing.assert_allclose(done.events[0].t, [place], rtol=0, atol=1e-11)
    assert not len(done.events[1].t)


@pytest.mark.parametrize("e", [0.3, 0.8])
@pytest.mark.parametrize("first_step", [None, 100.0])
def test_bouncing_ball_comes_to_rest_in_its_closed_form_time(e, first_step):
    """From height h: rest after sqrt(2h/g)(1 + e)/(1 - e), a path of h(1 + e^2)/(1 - e^2)."""
    g, h = 1.2e-4, 30.0
    ground = event(lambda t, y: y[0], terminal=True, direction=-1)
    first = math.sqrt(2.0 * g * h)
    t, y, path, bounces = 0.0, np.array([h, 0.0]), h, 0
    while bounces == 0 or y[1] > 1e-6 * first:
        done = solve(lambda t, y: np.array([y[1], -g]), (t, t + 1e5), y,
                     first_step=first_step, events=ground)  # fmt: skip
        assert done.stopped_by == 0
        # The ball stands on the ground exactly: zero at the start of the next flight.
        t, y = done.t[-1], np.array([0.0, -e * done.y[-1, 1]])
        path += y[1] ** 2 / g
        bounces += 1
    total = math.sqrt(2.0 * h / g) * (1.0 + e) / (1.0 - e)
    # Left out: flights after the last bounce, 2e-6/(1 - e) of the first fall's time at most, whose
    # rises are 1e-12 of its height. Roots are right to 1e-12 of their steps.
    assert total * (1.0 - 2e-6) - 1e-8 * total < t < total * (1.0 + 1e-8)
    assert path == pytest.approx(h * (1.0 + e**2) / (1.0 - e**2), rel=1e-8)
    assert bounces == math.ceil(math.log(1e-6) / math.log(e))


def test_against_scipy():
    def pull(t, y):
        return np.concatenate([y[2:], -y[:2] / np.linalg.norm(y[:2]) ** 3])

    def node(t, y):
        return y[1]

    def near(t, y):
        return y[0] * y[2] + y[1] * y[3]

    y0, tight = [0.5, 0.1, -0.3, 1.6], {"rtol": 1e-12, "atol": 1e-14, "events": [node, near]}
    ours = solve(pull, (0, 12), y0, **tight)
    other = solve_ivp(pull, (0, 12), y0, "DOP853", **tight)
    for mine, t, y in zip(ours.events, other.t_events, other.y_events, strict=True):
        assert len(t) > 3
        np.testing.assert_allclose(mine.t, t, rtol=1e-8)
        np.testing.assert_allclose(mine.y, y, rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"direction": "up"}, "direction"),
        ({"terminal": -1}, "terminal"),
        ({"terminal": "yes"}, "t"),
    ],
)
def test_attributes_that_mean_nothing(attributes, said):
    def zero(t, y):
        return y[0]

    for name, value in attributes.items():
        setattr(zero, name, value)
    with pytest.raises(InputError, match=said):
        solve(swing, (0, 1), SWING, events=zero)

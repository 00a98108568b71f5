"""Adams steps in rows: formulas as in Python, states of any length and slot, how steps behave."""

import math

import numpy as np
import pytest
import warp as wp
from examples.adams_steps import adams_steps
from scipy.integrate import solve_ivp

from alight.core import devices
from alight.core.types import scalar
from alight.integrators import adams as law
from alight.integrators.pece_rows import (
    ROWS,
    Adams,
    StateRows,
    begin_rows,
    correct_rows,
    give_way,
    keep_rows,
    laws,
    predict_rows,
    row,
    state_rows,
    weigh_step,
)
from alight.integrators.runge_kutta_kernel import accepted
from alight.integrators.step_control import step_factor

DEVICES = [device.name for device in devices.available()]
EPS = np.finfo(np.float64).eps
HOST = law.laws(
    float,
    lambda: [0.0] * ROWS,
    [float(c) for c in law.ERROR_CONSTANTS],
    lambda f: f,
    step_factor,
)

vec4 = wp.types.vector(length=4, dtype=scalar)
_coefficients, _onward, _retreat = laws.coefficients, laws.onward, laws.retreat


@pytest.fixture(params=DEVICES)
def device(request):
    return devices.resolve(request.param)


# States of any length, in any slot ---------------------------------------------------------------


@wp.func
def orbits(rows: StateRows, slot: int):
    """As many Kepler orbits in the plane as the state has room for: x, y, u, v each."""
    for j in range(rows.y.shape[0] / 4):
        a = 4 * j
        x = rows.trial[a, slot]
        y = rows.trial[a + 1, slot]
        r2 = x * x + y * y
        pull = scalar(1.0) / (r2 * wp.sqrt(r2))
        rows.slope[a, slot] = rows.trial[a + 2, slot]
        rows.slope[a + 1, slot] = rows.trial[a + 3, slot]
        rows.slope[a + 2, slot] = -pull * x
        rows.slope[a + 3, slot] = -pull * y


@wp.kernel(enable_backward=False)
def fly(
    offset: int,
    rows: StateRows,
    first: scalar,
    end: scalar,
    steps_out: wp.array(dtype=int),
    order_out: wp.array(dtype=int),
) -> None:
    slot = wp.tid() + offset
    n = rows.y.shape[0]
    for k in range(n):
        rows.trial[k, slot] = rows.y[k, slot]
    orbits(rows, slot)
    adams = begin_rows(rows, slot, first)
    t = scalar(0.0)
    count = int(0)
    highest = int(0)
    while t < end and count < 100000:
        h = adams.size
        left = end - t
        if scalar(2.0) * h > left:
            h = scalar(0.5) * left
        if adams.size >= left:
            h = left
        to = wp.where(h == left, end, t + h)
        h = to - t
        step = weigh_step(rows, slot, adams, h)
        predict_rows(rows, slot, adams, step)
        orbits(rows, slot)
        found = correct_rows(rows, slot, adams, step)
        count += 1
        if accepted(found.error):
            orbits(rows, slot)
            adams = keep_rows(rows, slot, adams, step, found)
            t = to
            highest = wp.max(highest, adams.used)
        else:
            adams = give_way(adams, h, found.errors)
    steps_out[slot] = count
    order_out[slot] = highest


def state(e):
    """At the nearest point of an orbit of semi-axis 1."""
    return np.array([1.0 - e, 0.0, 0.0, np.sqrt((1.0 + e) / (1.0 - e))])


def kepler(t, y):
    y = y.reshape(-1, 4)
    pull = -y[:, :2] / np.linalg.norm(y[:, :2], axis=1, keepdims=True) ** 3
    return np.concatenate([y[:, 2:], pull], axis=1).ravel()


@pytest.mark.parametrize("shapes", [(0.3,), (0.3, 0.6, 0.1)])
def test_rows_take_the_same_steps_in_every_slot(device, shapes):
    y0 = np.concatenate([state(e) for e in shapes])
    n, slots, rtol, end = len(y0), 3, 1e-9, 10.0
    alone = adams_steps(kepler, (0.0, end), y0, rtol)
    rows = state_rows(n, slots, np.full(n, rtol), np.full(n, rtol), device)
    rows.y.assign(np.repeat(y0[:, None], slots, axis=1))
    steps = wp.zeros(slots, dtype=int, device=device.name)
    order = wp.zeros(slots, dtype=int, device=device.name)
    devices.launch(fly, slots, [rows, 1e-4, end, steps, order], device)
    assert steps.numpy().tolist() == [len(alone.order) + alone.rejected] * slots
    assert order.numpy().tolist() == [alone.order.max()] * slots
    # The slopes are rounded in another order.
    np.testing.assert_allclose(rows.y.numpy().T, np.tile(alone.y[-1], (slots, 1)), atol=1e-11)
    best = solve_ivp(kepler, (0.0, end), y0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    np.testing.assert_allclose(alone.y[-1], best, rtol=0, atol=1000 * rtol)


# One step against NumPy --------------------------------------------------------------------------


@wp.kernel(enable_backward=False)
def step_kernel(
    offset: int, rows: StateRows, adams: wp.array(dtype=Adams), h: scalar, out: wp.array(dtype=vec4)
) -> None:
    slot = wp.tid() + offset
    step = weigh_step(rows, slot, adams[slot], h)
    found = correct_rows(rows, slot, adams[slot], step)
    out[slot] = vec4(found.errors[0], found.errors[1], found.errors[2], found.error)
    adams[slot] = keep_rows(rows, slot, adams[slot], step, found)


def rms(values):
    return math.sqrt(np.mean(values**2))


@pytest.mark.parametrize("k", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("same", [0, 20])
def test_a_step_is_what_the_equations_say(device, k, same):
    """002 Eqs. 21, 32, 33 and 36 with sums over arrays; the order and step that follow."""
    n, h, rng = 5, 0.03, np.random.default_rng(k)
    psi = [0.0, *h * np.arange(1.0, ROWS)]
    phi = rng.normal(size=(k + 1, n)) * 0.5 ** np.arange(k + 1)[:, None]
    y, slope, allowed = rng.normal(size=n), rng.normal(size=n), 1e-3
    start = Adams()
    start.order, start.known, start.same = k, k + 1, same
    rows = state_rows(n, 1, np.full(n, allowed), np.full(n, allowed), device)
    memory = np.zeros((n, ROWS))
    memory[:, 1 : k + 2] = phi.T
    for name, values in (("y", y), ("slope", slope), ("phi", memory.ravel()), ("psi", psi)):
        getattr(rows, name).assign(np.array(values)[:, None])
    adams = wp.array([start], dtype=Adams, device=device.name)
    out = wp.zeros(1, dtype=vec4, device=device.name)
    devices.launch(step_kernel, 1, [rows, adams, h, out], device)

    reach, beta, sigma, g = (np.array(each) for each in HOST.coefficients(psi, h, k, k + 1))
    stars = beta[1 : k + 2, None] * phi
    missed = [slope - stars[: k - back].sum(axis=0) for back in range(3)]
    end = y + h * (g[1 : k + 1] @ stars[:k] + g[k + 1] * missed[0])
    scale = allowed * (1.0 + np.maximum(np.abs(y), np.abs(end)))
    equal = [
        HOST.constant(h, sigma[k - back + 1], k - back) * rms(missed[back] / scale)
        if k > back
        else 0.0
        for back in (2, 1, 0)
    ]
    error = abs(h * (g[k + 1] - g[k])) * rms(missed[0] / scale)
    np.testing.assert_allclose(out.numpy()[0], [*equal, error], rtol=1e-12)
    np.testing.assert_allclose(rows.y.numpy()[:, 0], end, rtol=1e-13)
    left = slope - np.concatenate([np.zeros((1, n)), np.cumsum(stars, axis=0)])
    found = rows.phi.numpy().reshape(n, ROWS)[:, 1 : k + 3]
    np.testing.assert_allclose(found, left.T, rtol=0, atol=1e-12)
    above = HOST.constant(h, 1.0, k + 1) * rms(left[k + 1] / scale)
    order, _, ratio = HOST.onward(k, False, HOST.equal_steps(same, h, psi[1]), *equal, above)
    after = adams.numpy()[0]
    assert after["order"] == order
    np.testing.assert_allclose(rows.psi.numpy()[1:, 0], reach[1:], rtol=1e-12)
    assert after["size"] == pytest.approx(ratio * h, rel=1e-12)


# How steps behave --------------------------------------------------------------------------------


def forced(t, y):
    return np.array([y[1], -math.sin(y[0]) - 0.1 * y[1] + 0.8 * math.cos(2.0 * t)])


def test_it_starts_at_order_1_and_both_rise_by_themselves():
    done = adams_steps(kepler, (0.0, 5.0), state(0.6), 1e-8, first=1e-6)
    assert done.order[:4].tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(done.size[1:4] / done.size[:3], 2.0)
    assert done.evaluations == 1 + 2 * len(done.order) + done.rejected


def test_steps_grow_by_two_at_most_and_shrink_by_two_where_none_fails():
    done = adams_steps(forced, (0.0, 30.0), [0.3, -0.2], 1e-7)
    ratio = done.size[1:] / done.size[:-1]
    assert ratio.max() < 2.0 + 1e-9
    assert done.rejected <= 3
    assert np.sum(ratio < 0.5 - 1e-9) <= done.rejected


def test_rounding_does_not_gather():
    """Steps add 1e-5 to a state of 1: its own rounding would take up to half a unit from each."""
    done = adams_steps(lambda t, y: np.array([0.01]), (0.0, 3.0), [1.0], 1e-9, longest=1e-3)
    assert len(done.order) > 3000
    assert abs(done.y[-1, 0] - 1.03) <= 2.0 * np.spacing(1.0)


@pytest.mark.parametrize("late", [1e6, -1e9])
def test_late_times_are_no_harder(late):
    def swing(t, y):
        return np.array([y[1], -y[0]])

    done = adams_steps(swing, (late, late + 10.0), [0.0, 1.0], 1e-8)
    soon = adams_steps(swing, (0.0, 10.0), [0.0, 1.0], 1e-8)
    assert len(done.order) <= 1.1 * len(soon.order)
    np.testing.assert_allclose(done.y[-1], [math.sin(10), math.cos(10)], rtol=0, atol=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_hole_ends_in_ever_smaller_steps(bad):
    done = adams_steps(lambda t, y: np.array([1.0 if t <= 1.0 else bad]), (0.0, 3.0), [0.0], 1e-6)
    assert 1.0 - 1e-13 < done.t[-1] <= 1.0
    np.testing.assert_allclose(done.y[:, 0], done.t, rtol=1e-14)
    assert done.rejected > 10


@pytest.mark.parametrize("call", [2, 3, 4, 7, 12])
def test_nan_in_either_evaluation_rejects_the_step(call):
    calls = []

    def flaky(t, y):
        calls.append(t)
        return np.array([math.nan if len(calls) == call else math.cos(t)])

    done = adams_steps(flaky, (0.0, 1.0), [0.0], 1e-6, first=1e-3)
    assert done.rejected >= 1
    assert np.isfinite(done.y).all()
    assert done.y[-1, 0] == pytest.approx(math.sin(1.0), rel=1e-5)


# The laws alone ----------------------------------------------------------------------------------


@wp.kernel(enable_backward=False)
def coefficients_kernel(offset: int, psi: row, h: scalar, out: wp.array2d(dtype=row)) -> None:
    k = wp.tid() + offset + 1
    reach, beta, sigma, g = _coefficients(psi, h, k, k + 1)
    out[k - 1, 0] = reach
    out[k - 1, 1] = beta
    out[k - 1, 2] = sigma
    out[k - 1, 3] = g


def test_coefficients_are_those_of_python(device):
    sizes = np.array([0.3, 0.3, 0.15, 0.2, 0.4, 0.4, 0.1, 0.2, 0.3, 0.3, 0.5, 0.25, 0.25, 0.25])
    psi = [0.0, *np.cumsum(sizes)]
    out = wp.zeros((law.MAX_ORDER, 4), dtype=row, device=device.name)
    inputs = [row(*psi), 0.22]
    devices.launch(coefficients_kernel, law.MAX_ORDER, inputs, device, outputs=[out])
    for k in range(1, law.MAX_ORDER + 1):
        host = HOST.coefficients(psi, 0.22, k, k + 1)
        # The recurrence for g takes differences of numbers up to 1.
        np.testing.assert_allclose(out.numpy()[k - 1], host, rtol=8 * EPS, atol=8 * EPS)


CASES = np.array(
    [
        (e2, e1, e0, a)
        for e2 in (1e-3, 0.3, 4.0)
        for e1 in (1e-4, 0.2, 0.6)
        for e0 in (1e-6, 1e-3, 0.4, 0.8, math.nan, math.inf)
        for a in (1e-5, 0.1, 0.5)
    ]
)


@wp.kernel(enable_backward=False)
def decisions_kernel(
    offset: int, errors: wp.array2d(dtype=scalar), order: int, out: wp.array2d(dtype=scalar)
) -> None:
    i = wp.tid() + offset
    e2 = errors[i, 0]
    e1 = errors[i, 1]
    e0 = errors[i, 2]
    for n in range(2):
        starting = n == 1
        k, still, ratio = _onward(order, starting, order + 1 - n, e2, e1, e0, errors[i, 3])
        out[i, 3 * n] = scalar(k)
        out[i, 3 * n + 1] = wp.where(still, scalar(1.0), scalar(0.0))
        out[i, 3 * n + 2] = ratio
    for n in range(2):
        k, start, ratio = _retreat(order, 1 + 3 * n, e2, e1, e0)
        out[i, 6 + 3 * n] = scalar(k)
        out[i, 7 + 3 * n] = wp.where(start, scalar(1.0), scalar(0.0))
        out[i, 8 + 3 * n] = ratio


@pytest.mark.parametrize("order", [1, 2, 3, 7, 12])
def test_decisions_are_those_of_python(order, device):
    errors = wp.array(CASES, dtype=scalar, device=device.name)
    out = wp.zeros((len(CASES), 12), dtype=scalar, device=device.name)
    devices.launch(decisions_kernel, len(CASES), [errors, order], device, outputs=[out])
    for case, found in zip(CASES.tolist(), out.numpy(), strict=True):
        e2, e1, e0, above = case
        host = [
            HOST.onward(order, False, order + 1, e2, e1, e0, above),
            HOST.onward(order, True, order, e2, e1, e0, above),
            HOST.retreat(order, 1, e2, e1, e0),
            HOST.retreat(order, 4, e2, e1, e0),
        ]
        # A step that was kept has an error; one that was not may have none.
        first = 0 if math.isfinite(e0) else 6
        host = np.ravel(host).astype(float)
        np.testing.assert_allclose(found[first:], host[first:], rtol=8 * EPS)

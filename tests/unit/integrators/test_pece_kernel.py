"""Adams steps inside kernels are those of the host, to rounding, on every device."""

import functools
import math

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.integrators import adams, solve
from alight.integrators.pece_kernel import (
    ROWS,
    attempt_function,
    begin_function,
    dense_function,
    laws,
    row,
)

DEVICES = [device.name for device in devices.available()]
EPS = np.finfo(np.float64).eps
SPAN, FIRST, HOLE = 12.0, 1e-4, 1e9

_coefficients, _dense_weights = laws.coefficients, laws.dense_weights
_fitted, _onward, _retreat = laws.fitted, laws.onward, laws.retreat

vec4 = wp.types.vector(length=4, dtype=scalar)


@pytest.fixture(params=DEVICES)
def device(request):
    return devices.resolve(request.param)


@wp.struct
class Pull:
    """GM, a time at which it grows, and a time past which and an x below which is no slope."""

    gm: scalar
    jump: scalar
    hole: scalar
    wall: scalar


@wp.func
def orbit(data: Pull, t: scalar, y: vec4):
    """An orbit in a plane whose centre may change or vanish."""
    gm = data.gm
    if t > data.jump:
        gm = scalar(1.5) * gm
    if t > data.hole or y[0] < data.wall:
        gm = scalar(wp.nan)
    r = wp.sqrt(y[0] * y[0] + y[1] * y[1])
    pull = -gm / (r * r * r)
    return vec4(y[2], y[3], pull * y[0], pull * y[1])


def host_orbit(t, y, jump=HOLE, hole=HOLE):
    gm = 1.0 if t <= jump else 1.5
    gm = gm if t <= hole else math.nan
    r = math.hypot(y[0], y[1])
    return np.array([y[2], y[3], -gm / r**3 * y[0], -gm / r**3 * y[1]])


@functools.cache
def march_kernel():
    begin, attempt = begin_function(orbit, vec4, Pull), attempt_function(orbit, vec4, Pull)
    inside = dense_function(vec4)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def march(
        offset: int,
        data: Pull,
        start: wp.array(dtype=vec4),
        end: scalar,
        first: scalar,
        rtol: scalar,
        atol: vec4,
        longest: scalar,
        phi: wp.array2d(dtype=vec4),
        time_out: wp.array2d(dtype=scalar),
        state_out: wp.array2d(dtype=vec4),
        middle_out: wp.array2d(dtype=vec4),
        order_out: wp.array2d(dtype=int),
        counts_out: wp.array(dtype=wp.vec2i),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        t = scalar(0.0)
        adams = begin(data, phi, i, t, y, first)
        taken = int(0)
        rejected = int(0)
        way = wp.sign(end)
        while t != end and taken + rejected < 1000 and wp.abs(adams.size) > scalar(1e-13):
            left = wp.abs(end - t)
            size = _fitted(wp.min(longest, wp.abs(adams.size)), left)
            to = t + way * size
            if size == left:
                to = end
            tried = attempt(data, phi, i, adams, t, y, to - t, rtol, atol)
            adams = tried.adams
            if tried.kept:
                middle_out[i, taken] = inside(phi, i, adams, y, tried.y, scalar(0.5))
                time_out[i, taken] = to
                state_out[i, taken] = tried.y
                order_out[i, taken] = adams.used
                t = to
                y = tried.y
                taken += 1
            else:
                rejected += 1
        counts_out[i] = wp.vec2i(taken, rejected)

    return march


def march(device, starts, end, tolerance, jump=HOLE, hole=HOLE, wall=-HOLE, gm=1.0, longest=HOLE):
    """Times, states, middles of steps, orders and counts of every run."""
    data = Pull()
    data.gm, data.jump, data.hole, data.wall = gm, jump, hole, wall
    n, name = len(starts), device.name
    shapes = [((n, 1000), scalar), ((n, 1000), vec4), ((n, 1000), vec4), ((n, 1000), int)]
    outputs = [wp.zeros(shape, dtype=kind, device=name) for shape, kind in shapes]
    outputs.append(wp.zeros(n, dtype=wp.vec2i, device=name))
    phi = wp.zeros((ROWS, n), dtype=vec4, device=name)
    start = wp.array(starts, dtype=vec4, device=name)
    first = math.copysign(FIRST, end)
    inputs = [data, start, end, first, tolerance, vec4(tolerance), longest, phi]
    devices.launch(march_kernel(), n, inputs, device, outputs=outputs)
    return [a.numpy() for a in outputs]


def ellipse(e):
    return [1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))]


def compared(device, starts, end, tolerance, jump=HOLE):
    """Every run of a kernel against ``solve``: counts, orders, states, middles of steps."""
    t, y, middle, order, counts = march(device, starts, end, tolerance, jump)
    for i, start in enumerate(starts):
        host = solve(
            lambda t, y: host_orbit(t, y, jump), (0, end), start, "pece",
            rtol=tolerance, atol=tolerance, first_step=FIRST, dense=True,
        )  # fmt: skip
        assert counts[i].tolist() == [host.steps, host.rejected]
        n = host.steps
        assert order[i, :n].tolist() == host.history.order.tolist()
        # Steps double at first. Later, rounding in differences of slopes moves them a little, and
        # with them the state by a small share of the error allowed.
        halfway = np.array([step.part(0.5) for step in host.segments[:5]])
        np.testing.assert_allclose(middle[i, :5], halfway, rtol=0, atol=30 * EPS)
        np.testing.assert_allclose(t[i, :n], host.t[1:], rtol=1e-5)
        times = t[i, :n] - 0.5 * np.diff(t[i, :n], prepend=0.0)
        near = 0.01 * tolerance
        np.testing.assert_allclose(y[i, n - 1], host.y[-1], rtol=0, atol=near)
        np.testing.assert_allclose(middle[i, :n], host.sample(times), rtol=0, atol=near)
    return order


def test_steps_are_those_of_the_host(device):
    order = compared(device, [ellipse(0.3), ellipse(0.6), ellipse(0.0)], SPAN, 1e-7)
    assert order.max() >= 9


def test_backward_in_time(device):
    compared(device, [ellipse(0.3)], -SPAN, 1e-6)


def test_a_jump_starts_the_orders_anew(device):
    order = compared(device, [ellipse(0.3)], 4.0, 1e-6, jump=2.03)
    order = order[0][order[0] > 0]
    assert (order[15:] == 1).any()
    assert order[-1] > 3


def test_a_hole_ends_in_ever_smaller_steps(device):
    t, y, _, _, counts = march(device, [ellipse(0.3)], SPAN, 1e-6, hole=3.0)
    taken, rejected = counts[0]
    assert 3.0 - 1e-11 < t[0, taken - 1] <= 3.0
    assert rejected > 10
    assert np.isfinite(y).all()


def test_a_slope_that_is_none_at_the_corrected_state_rejects_the_step(device):
    """At its pericentre an orbit goes straight up, and is predicted to; corrected, it turns in."""
    t, y, _, _, counts = march(device, [ellipse(0.3)], SPAN, 1e-6, wall=0.7)
    assert counts[0, 1] > 10
    assert t.max() < 1e-6
    assert np.isfinite(y).all()


def test_rounding_does_not_gather(device):
    """Steps add 1e-5 to a state of 1: its own rounding would take up to half a unit from each."""
    _, y, _, _, counts = march(device, [[1.0, -1.0, 0.01, 0.01]], 0.9, 1e-6, gm=0.0, longest=1e-3)
    taken = counts[0, 0]
    assert taken > 890
    end = y[0, taken - 1, :2]
    assert np.abs(end - [1.009, -0.991]).max() <= 2.0 * np.spacing(1.0)


# The laws alone --------------------------------------------------------------------------------


@wp.kernel(enable_backward=False)
def coefficients_kernel(
    offset: int, psi: row, h: scalar, back: scalar, out: wp.array2d(dtype=row)
) -> None:
    k = wp.tid() + offset + 1
    reach, beta, sigma, g = _coefficients(psi, h, k, k + 1)
    out[k - 1, 0] = reach
    out[k - 1, 1] = beta
    out[k - 1, 2] = sigma
    out[k - 1, 3] = g
    out[k - 1, 4] = _dense_weights(psi, back, k)


def test_coefficients_are_those_of_the_host(device):
    sizes = np.array([0.3, 0.3, 0.15, 0.2, 0.4, 0.4, 0.1, 0.2, 0.3, 0.3, 0.5, 0.25, 0.25, 0.25])
    psi = [0.0, *np.cumsum(sizes)]
    out = wp.zeros((adams.MAX_ORDER, 5), dtype=row, device=device.name)
    inputs = [row(*psi), 0.22, -0.11]
    devices.launch(coefficients_kernel, adams.MAX_ORDER, inputs, device, outputs=[out])
    for k in range(1, adams.MAX_ORDER + 1):
        host = [*adams.HOST.coefficients(psi, 0.22, k, k + 1)]
        host.append(adams.HOST.dense_weights(psi, -0.11, k))
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
def test_decisions_are_those_of_the_host(order, device):
    errors = wp.array(CASES, dtype=scalar, device=device.name)
    out = wp.zeros((len(CASES), 12), dtype=scalar, device=device.name)
    devices.launch(decisions_kernel, len(CASES), [errors, order], device, outputs=[out])
    for case, found in zip(CASES.tolist(), out.numpy(), strict=True):
        e2, e1, e0, above = case
        host = [
            adams.HOST.onward(order, False, order + 1, e2, e1, e0, above),
            adams.HOST.onward(order, True, order, e2, e1, e0, above),
            adams.HOST.retreat(order, 1, e2, e1, e0),
            adams.HOST.retreat(order, 4, e2, e1, e0),
        ]
        # A step that was kept has an error; one that was not may have none.
        first = 0 if math.isfinite(e0) else 6
        host = np.ravel(host).astype(float)
        np.testing.assert_allclose(found[first:], host[first:], rtol=8 * EPS)

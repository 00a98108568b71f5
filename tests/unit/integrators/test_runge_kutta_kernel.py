"""Steps inside kernels against the tableau written out in NumPy, on every device."""

import functools
import math

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.integrators import RK4, RK54, runge_kutta_kernel, step_control

DEVICES = [device.name for device in devices.available()]
EPS = np.finfo(np.float64).eps

vec6 = wp.types.vector(length=6, dtype=scalar)
vec13 = wp.types.vector(length=13, dtype=scalar)


@pytest.fixture(params=DEVICES)
def device(request):
    return devices.resolve(request.param)


@wp.struct
class Pull:
    """GM, and a push that swings with time."""

    gm: scalar
    push: vec3
    pulse: scalar


@wp.func
def orbit(data: Pull, t: scalar, y: vec6):
    """A pushed orbit: position and velocity."""
    r = vec3(y[0], y[1], y[2])
    inverse = scalar(1.0) / wp.length(r)
    g = wp.cos(data.pulse * t) * data.push - (data.gm * inverse * inverse * inverse) * r
    return vec6(y[3], y[4], y[5], g[0], g[1], g[2])


@wp.func
def tumble(data: Pull, t: scalar, y: vec13):
    """The same orbit by a body with moments 1, 2, 3: position, velocity, attitude, rate."""
    flight = orbit(data, t, vec6(y[0], y[1], y[2], y[3], y[4], y[5]))
    w = vec3(y[10], y[11], y[12])
    turn = scalar(0.5) * (quat(y[6], y[7], y[8], y[9]) * quat(w, scalar(0.0)))
    out = vec13()
    for i in range(6):
        out[i] = flight[i]
    for i in range(4):
        out[6 + i] = turn[i]
    out[10] = -w[1] * w[2]
    out[11] = w[2] * w[0]
    out[12] = -w[0] * w[1] / scalar(3.0)
    return out


GM, PUSH, PULSE = 1.3, (0.02, -0.01, 0.05), 0.7
START6 = np.array([0.7, 0.1, 0.0, 0.1, 1.4, 0.3])
START13 = np.concatenate([START6, [0.1, -0.3, 0.5, 0.806], [0.9, 0.02, -0.4]])


def host_orbit(t, y):
    g = math.cos(PULSE * t) * np.array(PUSH) - GM * y[:3] / np.linalg.norm(y[:3]) ** 3
    return np.concatenate([y[3:6], g])


def host_tumble(t, y):
    q, w = y[6:10], y[10:]
    v = np.concatenate([q[3] * w + np.cross(q[:3], w), [-q[:3] @ w]])
    rate = np.array([-w[1] * w[2], w[2] * w[0], -w[0] * w[1] / 3.0])
    return np.concatenate([host_orbit(t, y[:6]), 0.5 * v, rate])


CASES = {6: (vec6, orbit, host_orbit, START6), 13: (vec13, tumble, host_tumble, START13)}


def pull():
    data = Pull()
    data.gm, data.push, data.pulse = GM, vec3(*PUSH), PULSE
    return data


def host_step(tableau, rhs, t, y, k1, h):
    """New state, slope there and error estimate."""
    k = [k1]
    for row, c in zip(tableau.a[1:], tableau.c[1:], strict=True):
        k.append(rhs(t + float(c) * h, y + h * (np.array(row, float) @ k)))
    end = y + h * (np.array(tableau.b, float) @ k)
    k.append(rhs(t + h, end))
    error = np.array(tableau.error, float) @ k if tableau.error else np.zeros_like(y)
    return end, k[-1], h * error


def host_steps(tableau, rhs, y, h, count):
    """State, slope and error estimate of the last of ``count`` steps of size ``h``."""
    slope = rhs(0.0, y)
    for n in range(count):
        y, slope, error = host_step(tableau, rhs, n * h, y, slope, h)
    return y, slope, error


def following_step(h, norm, growth):
    """The step after one of size h whose estimate was of order 5."""
    names = ("SAFETY", "SHRINK", "TINY", "HUGE")
    constants = [getattr(step_control, name) for name in names]
    return h * step_control.step_factor(norm, 0.2, growth, *constants)


def host_adaptive(rhs, end, y, rtol, atol, h):
    """State at the end, steps taken and steps rejected."""
    t, slope, taken, rejected, growth = 0.0, rhs(0.0, y), 0, 0, step_control.GROWTH
    while t < end:
        to = end if h >= (end - t) * (1.0 - 1e-9) else t + h
        new, last, error = host_step(RK54, rhs, t, y, slope, to - t)
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(new))
        norm = math.sqrt(np.mean((error / scale) ** 2))
        h = following_step(to - t, norm, growth)
        if norm <= 1.0:
            t, y, slope, taken, growth = to, new, last, taken + 1, step_control.GROWTH
        else:
            rejected, growth = rejected + 1, 1.0
    return y, taken, rejected


@functools.cache
def fixed_kernel(n):
    """Both methods in one kernel, so that neither may be taken for the other."""
    vector, rhs = CASES[n][:2]
    first = runge_kutta_kernel.step_function(RK4, rhs, vector, Pull)
    second = runge_kutta_kernel.step_function(RK54, rhs, vector, Pull)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def run(
        offset: int,
        data: Pull,
        start: wp.array(dtype=vector),
        h: scalar,
        count: int,
        state_out: wp.array2d(dtype=vector),
        slope_out: wp.array2d(dtype=vector),
        error_out: wp.array2d(dtype=vector),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        k = rhs(data, scalar(0.0), y)
        z = y
        m = k
        for n in range(count):
            t = scalar(n) * h
            a = first(data, t, y, k, h)
            y = a.y
            k = a.slope
            error_out[0, i] = a.error
            b = second(data, t, z, m, h)
            z = b.y
            m = b.slope
            error_out[1, i] = b.error
        state_out[0, i] = y
        state_out[1, i] = z
        slope_out[0, i] = k
        slope_out[1, i] = m

    return run


@pytest.mark.parametrize("n", [6, 13])
def test_fixed_steps_are_those_of_the_host(n, device):
    vector, _, rhs, y0 = CASES[n]
    items, h, count = 3, 0.05, 40
    starts = y0 * (1.0 + 0.01 * np.arange(items)[:, None])
    start = wp.array(starts, dtype=vector, device=device.name)
    out = [wp.zeros((2, items), dtype=vector, device=device.name) for _ in range(3)]
    devices.launch(fixed_kernel(n), items, [pull(), start, h, count], device, outputs=out)
    state, slope, error = (a.numpy() for a in out)
    # Rounding of one step, a few units in the last place, grows along an orbit about as t^2.
    tolerance = 4.0 * EPS * count**1.5
    for i, y in enumerate(starts):
        for m, tableau in enumerate((RK4, RK54)):
            end, last, estimate = host_steps(tableau, rhs, y, h, count)
            np.testing.assert_allclose(state[m, i], end, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(slope[m, i], last, rtol=tolerance, atol=5 * tolerance)
            # The estimate is a difference of stages: exact to their rounding.
            np.testing.assert_allclose(error[m, i], estimate, rtol=0, atol=h * tolerance)
    assert not error[0].any()
    assert np.abs(error[1]).max() > 1e3 * h * tolerance


NORMS = [0.0, 1e-300, 1e-9, 0.3, 1.0, 1.0 + 1e-9, 40.0, 1e30, 1e250, math.inf, math.nan]


@wp.kernel(enable_backward=False)
def control_kernel(
    offset: int,
    norms: wp.array(dtype=scalar),
    growth: scalar,
    next_out: wp.array(dtype=scalar),
    accepted_out: wp.array(dtype=wp.bool),
) -> None:
    i = wp.tid() + offset
    next_out[i] = runge_kutta_kernel.next_step(scalar(2.0), norms[i], 4, growth)
    accepted_out[i] = runge_kutta_kernel.accepted(norms[i])


@pytest.mark.parametrize("growth", [step_control.GROWTH, 1.0])
def test_the_law_of_steps_is_that_of_the_host(growth, device):
    norms = NORMS
    given = wp.array(norms, dtype=scalar, device=device.name)
    following = wp.zeros_like(given)
    kept = wp.zeros(len(norms), dtype=wp.bool, device=device.name)
    devices.launch(control_kernel, len(norms), [given, growth], device, outputs=[following, kept])
    host = [following_step(2.0, x, growth) for x in norms]
    np.testing.assert_allclose(following.numpy(), host, rtol=4 * EPS)
    assert kept.numpy().tolist() == [x <= 1.0 for x in norms]
    assert following.numpy()[-2:].tolist() == [2.0 * step_control.SHRINK] * 2
    # An error 32 times what is allowed: 1/2 of the step would just do, at order 4 + 1.
    assert following_step(2.0, 32.0, growth) == pytest.approx(0.9, rel=1e-15)
    assert host[0] == 2.0 * growth


@functools.cache
def adaptive_kernel():
    step = runge_kutta_kernel.step_function(RK54, orbit, vec6, Pull)
    norm = runge_kutta_kernel.error_norm_function(vec6)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def run(
        offset: int,
        data: Pull,
        start: wp.array(dtype=vec6),
        end: scalar,
        first: scalar,
        rtol: scalar,
        atol: vec6,
        state_out: wp.array(dtype=vec6),
        steps_out: wp.array(dtype=wp.vec2i),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        k = orbit(data, scalar(0.0), y)
        t = scalar(0.0)
        h = first
        growth = scalar(step_control.GROWTH)
        taken = int(0)
        rejected = int(0)
        while t < end and taken + rejected < 10000:
            to = t + h
            if h >= (end - t) * (scalar(1.0) - scalar(1e-9)):
                to = end
            h = to - t
            result = step(data, t, y, k, h)
            error = norm(y, result.y, result.error, rtol, atol)
            h = runge_kutta_kernel.next_step(h, error, 4, growth)
            growth = scalar(1.0)
            rejected += 1
            if runge_kutta_kernel.accepted(error):
                t = to
                y = result.y
                k = result.slope
                growth = scalar(step_control.GROWTH)
                taken += 1
                rejected -= 1
        state_out[i] = y
        steps_out[i] = wp.vec2i(taken, rejected)

    return run


def test_a_kernel_with_adaptive_steps_takes_those_of_the_host(device):
    end, first, rtol, atol = 12.0, 2.0, 1e-7, 1e-9
    start = wp.array(START6[None], dtype=vec6, device=device.name)
    state = wp.zeros_like(start)
    steps = wp.zeros(1, dtype=wp.vec2i, device=device.name)
    inputs = [pull(), start, end, first, rtol, vec6(atol)]
    devices.launch(adaptive_kernel(), 1, inputs, device, outputs=[state, steps])
    last, taken, rejected = host_adaptive(host_orbit, end, START6, rtol, atol, first)
    assert steps.numpy()[0].tolist() == [taken, rejected]
    assert rejected > 3
    # Steps follow from error estimates of about 1e-8, whose rounding changes them by 1e-9; the
    # state then moves by that share of the error of the solution itself, about 1e-5.
    np.testing.assert_allclose(state.numpy()[0], last, rtol=0, atol=1e-12)


@wp.kernel(enable_backward=False)
def norm_kernel(
    offset: int,
    y: vec6,
    y_new: wp.array(dtype=vec6),
    error: wp.array(dtype=vec6),
    rtol: scalar,
    atol: vec6,
    norm_out: wp.array(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    norm_out[i] = error_norm(y, y_new[i], error[i], rtol, atol)


error_norm = runge_kutta_kernel.error_norm_function(vec6)


def test_a_state_or_error_that_is_not_finite_is_never_accepted(device):
    y_new, error = np.ones((7, 6)), np.full((7, 6), 1e-6)
    y_new[1, 2], y_new[2, 5], y_new[3, 0] = math.nan, math.inf, -math.inf
    error[4, 3], error[5, 0], error[6] = math.nan, math.inf, 0.0
    states = [wp.array(a, dtype=vec6, device=device.name) for a in (y_new, error)]
    out = wp.zeros(7, dtype=scalar, device=device.name)
    inputs = [vec6(0.5), *states, 1e-6, vec6(0.0)]
    devices.launch(norm_kernel, 7, inputs, device, outputs=[out])
    norms = out.numpy()
    assert norms[0] == pytest.approx(1.0, rel=4 * EPS)
    assert not (norms[1:6] <= 1.0).any()
    assert norms[6] == 0.0


def test_functions_are_made_once():
    args = (RK54, orbit, vec6, Pull)
    assert runge_kutta_kernel.step_function(*args) is runge_kutta_kernel.step_function(*args)

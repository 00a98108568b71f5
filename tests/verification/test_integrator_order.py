"""The order of Runge-Kutta steps in kernels, measured.

With a fixed step h a method of order p has a global error of C h^p; its embedded solution of order
q gives an error estimate of C h^(q+1) and, used to march, a global error of C h^q. The slope of
log(error) over log(h) is the order; it is fitted by least squares and must be within 0.15 of the
claim.

Problems, each with its exact solution:
- Kepler:  r'' = -r/|r|^3, an ellipse of semi-axis 1 and eccentricity e from its pericentre;
           x = cos E - e, y = sqrt(1 - e^2) sin E, E - e sin E = t.
- swing:   y1' = 2t y1 ln y2, y2' = -2t y2 ln y1 (depends on t, nonlinear, coupled);
           y1 = exp(sin t^2), y2 = exp(cos t^2).
"""

import functools
import math

import numpy as np
import pytest
import warp as wp

from alight.core import devices
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.integrators import RK4, RK54, step_control
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    next_step,
    step_function,
)

#: How far a measured order may be from the claimed one.
MARGIN = 0.15
ECCENTRICITY = 0.3

vec2 = wp.types.vector(length=2, dtype=scalar)
vec4 = wp.types.vector(length=4, dtype=scalar)


@wp.func
def kepler(data: int, t: scalar, y: vec4):
    r2 = y[0] * y[0] + y[1] * y[1]
    pull = scalar(1.0) / (r2 * wp.sqrt(r2))
    return vec4(y[2], y[3], -pull * y[0], -pull * y[1])


def kepler_exact(t):
    e, b = ECCENTRICITY, math.sqrt(1.0 - ECCENTRICITY**2)
    E = t
    for _ in range(50):
        E -= (E - e * math.sin(E) - t) / (1.0 - e * math.cos(E))
    rate = 1.0 / (1.0 - e * math.cos(E))
    return np.array([math.cos(E) - e, b * math.sin(E), -rate * math.sin(E), rate * b * math.cos(E)])


@wp.func
def swing(data: int, t: scalar, y: vec2):
    twice = scalar(2.0) * t
    return vec2(twice * y[0] * wp.log(y[1]), -twice * y[1] * wp.log(y[0]))


def swing_exact(t):
    return np.array([math.exp(math.sin(t * t)), math.exp(math.cos(t * t))])


#: Vector, right-hand side, exact solution, where it starts, how long it runs, steps in that time.
PROBLEMS = {
    "kepler": (vec4, kepler, kepler_exact, 0.0, 4.0, (120, 170, 240, 339, 480)),
    "swing": (vec2, swing, swing_exact, 0.5, 1.0, (40, 57, 80, 113, 160)),
}
problems = pytest.mark.parametrize("problem", PROBLEMS)
methods = pytest.mark.parametrize("tableau", [RK4, RK54], ids=lambda m: m.name)


@functools.cache
def march_kernel(tableau, name):
    """Fixed steps by the method, or by its embedded solution."""
    vector, rhs = PROBLEMS[name][:2]
    step = step_function(tableau, rhs, vector, int)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def march(
        offset: int,
        start: scalar,
        h: scalar,
        count: int,
        embedded: bool,
        state: wp.array(dtype=vector),
        error_out: wp.array(dtype=vector),
    ) -> None:
        i = wp.tid() + offset
        y = state[i]
        slope = rhs(0, start, y)
        for n in range(count):
            t = start + scalar(n) * h
            taken = step(0, t, y, slope, h)
            y = taken.y
            slope = taken.slope
            if embedded:
                y -= taken.error
                slope = rhs(0, t + h, y)
            error_out[i] = taken.error
        state[i] = y

    return march


def marched(tableau, name, start, step, count, embedded=False):
    """The state after fixed steps from the exact one at ``start``, and the last error estimate."""
    vector, _, exact = PROBLEMS[name][:3]
    state = wp.array(exact(start)[None], dtype=vector, device="cpu")
    error = wp.zeros_like(state)
    inputs = [start, step, count, embedded, state, error]
    devices.launch(march_kernel(tableau, name), 1, inputs, devices.resolve("cpu"))
    return state.numpy()[0], error.numpy()[0]


def global_order(tableau, name, embedded=False):
    """The slope of log(error) at the end over log(step); errors must stand clear of rounding."""
    exact, start, length, counts = PROBLEMS[name][2:]
    errors = []
    for count in counts:
        end, _ = marched(tableau, name, start, length / count, count, embedded)
        errors.append(np.abs(end - exact(start + length)).max())
    return fitted_order(length / np.array(counts), errors)


def fitted_order(sizes, errors):
    """The slope of log(error) over log(size); errors must stand clear of rounding."""
    assert min(errors) > 1e-13
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


@problems
@methods
def test_global_order(tableau, problem):
    assert global_order(tableau, problem) == pytest.approx(tableau.order, abs=MARGIN)


@problems
def test_global_order_of_the_embedded_solution(problem):
    order = global_order(RK54, problem, embedded=True)
    assert order == pytest.approx(RK54.error_order, abs=MARGIN)


@problems
def test_order_of_the_error_estimate(problem):
    """Single steps from where the solution bends, twice those of a march."""
    _, _, _, start, length, counts = PROBLEMS[problem]
    sizes = 2.0 * length / np.array(counts)
    estimates = [np.abs(marched(RK54, problem, start + 0.4 * length, h, 1)[1]).max() for h in sizes]
    order = fitted_order(sizes, estimates)
    assert order == pytest.approx(RK54.error_order + 1, abs=MARGIN)


@functools.cache
def adaptive_kernel(name):
    vector, rhs = PROBLEMS[name][:2]
    step, norm = step_function(RK54, rhs, vector, int), error_norm_function(vector)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def adaptive(
        offset: int,
        start: scalar,
        end: scalar,
        tolerance: scalar,
        state: wp.array(dtype=vector),
        steps_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        t = start
        y = state[i]
        slope = rhs(0, t, y)
        h = scalar(1e-3)
        while t < end:
            h = wp.min(h, end - t)
            taken = step(0, t, y, slope, h)
            error = norm(y, taken.y, taken.error, tolerance, vector(tolerance))
            if accepted(error):
                t = wp.where(h == end - t, end, t + h)
                y = taken.y
                slope = taken.slope
                steps_out[i] += 1
            h = next_step(h, error, 4, scalar(step_control.GROWTH))
        state[i] = y

    return adaptive


@problems
def test_error_follows_the_tolerance(problem):
    """An estimate of C h^5 held at a tolerance T makes steps h of T^(1/5), and the error of the
    solution of order 5, which is the one kept, falls as h^5 = T.
    """
    vector, _, exact, start, length, _ = PROBLEMS[problem]
    tolerances = 10.0 ** -np.arange(5.0, 11.0)
    errors = []
    for tolerance in tolerances:
        state = wp.array(exact(start)[None], dtype=vector, device="cpu")
        steps = wp.zeros(1, dtype=int, device="cpu")
        inputs = [start, start + length, tolerance, state, steps]
        devices.launch(adaptive_kernel(problem), 1, inputs, devices.resolve("cpu"))
        errors.append(np.abs(state.numpy()[0] - exact(start + length)).max())
        # Every step adds its tolerance at most; what is added grows as it is carried along.
        assert errors[-1] < 10.0 * steps.numpy()[0] * tolerance
    assert fitted_order(tolerances, errors) == pytest.approx(1.0, abs=MARGIN)

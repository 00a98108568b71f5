"""Steps for use inside kernels: factories that write a method out for one right-hand side.

A right-hand side is a Warp function ``(data, t: scalar, y: vector) -> vector`` with ``vector`` a
``wp.types.vector(length=n, dtype=scalar)``. A kernel evaluates it once at the start, then steps::

    step = step_function(RK54, rhs, vector, Data)
    norm = error_norm_function(vector)
    ...
    taken = step(data, t, y, slope, h)
    error = norm(y, taken.y, taken.error, rtol, atol)
    if accepted(error):
        t, y, slope = t + h, taken.y, taken.slope
    h = next_step(h, error, 4, growth)

Loops over stages are unrolled, coefficients are compile-time constants and zeros are left out.
"""

import functools
from fractions import Fraction
from typing import Any

import warp as wp

from alight.core.types import scalar
from alight.integrators import step_control
from alight.integrators.tableau import Tableau

step_factor_func = wp.func(step_control.step_factor)


@wp.func
def accepted(error_norm: scalar) -> bool:
    """True when a step may be kept: never when its error is not a number."""
    return error_norm <= scalar(1.0)


@wp.func
def next_step(h: scalar, error_norm: scalar, error_order: int, growth: scalar) -> scalar:
    """The step to try after one of size ``h``: larger, smaller, or 0.2 h if the error is NaN.

    ``growth`` is ``step_control.GROWTH``, or 1 for the step after a rejection.
    """
    factor = step_factor_func(
        error_norm,
        scalar(1.0) / scalar(error_order + 1),
        growth,
        wp.static(scalar(step_control.SAFETY)),
        wp.static(scalar(step_control.SHRINK)),
        wp.static(scalar(step_control.TINY)),
        wp.static(scalar(step_control.HUGE)),
    )
    return h * factor


@functools.cache
def step_type(vector: Any) -> Any:
    """The struct a step returns."""

    @wp.struct
    class Step:
        """New state, slope there, and error estimate (zeros for a method without one)."""

        y: vector
        slope: vector
        error: vector

    return Step


@functools.cache
def step_function(tableau: Tableau, rhs: Any, vector: Any, data_type: Any) -> Any:
    """A Warp function ``(data, t, y, k1, h) -> Step``, with ``k1 = rhs(data, t, y)``.

    ``Step`` has ``y``, ``slope`` (the next step's ``k1``) and ``error``.
    """
    s = tableau.stages
    rows = wp.types.matrix(shape=(s + 1, vector._length_), dtype=scalar)
    result_type = step_type(vector)
    c = tableau.c
    a = [_padded(row, s + 1) for row in (*tableau.a, tableau.b)]
    error = _padded(tableau.error, s + 1)

    @wp.func
    def step(data: data_type, t: scalar, y: vector, k1: vector, h: scalar):
        result = result_type()
        k = rows()
        k[0] = k1
        for i in range(1, wp.static(s)):
            total = vector()
            for j in range(wp.static(s)):
                if wp.static(a[i][j] != 0):
                    total += wp.static(scalar(float(a[i][j]))) * k[j]
            k[i] = rhs(data, t + wp.static(scalar(float(c[i]))) * h, y + h * total)

        total = vector()
        for j in range(wp.static(s)):
            if wp.static(a[s][j] != 0):
                total += wp.static(scalar(float(a[s][j]))) * k[j]
        result.y = y + h * total
        result.slope = rhs(data, t + h, result.y)
        k[s] = result.slope

        total = vector()
        for j in range(wp.static(s + 1)):
            if wp.static(error[j] != 0):
                total += wp.static(scalar(float(error[j]))) * k[j]
        result.error = h * total
        return result

    return step


def _padded(row: tuple[Fraction, ...], length: int) -> tuple[Fraction, ...]:
    return row + (Fraction(0),) * (length - len(row))


@functools.cache
def error_norm_function(vector: Any) -> Any:
    """A Warp function ``(y, y_new, error, rtol, atol: vector) -> scalar``.

    The root mean square of the errors, each over atol + rtol max(|y|, |y_new|): at most 1 when a
    step may be kept; infinite or NaN when the new state or the error is not finite.
    """

    @wp.func
    def error_norm(y: vector, y_new: vector, error: vector, rtol: scalar, atol: vector):
        total = scalar(0.0)
        for i in range(wp.static(vector._length_)):
            scale = atol[i] + rtol * wp.max(wp.abs(y[i]), wp.abs(y_new[i]))
            ratio = error[i] / wp.max(scale, wp.static(scalar(step_control.TINY)))
            total += ratio * ratio
            # An infinite state has an infinite scale, which would hide its error.
            if not wp.isfinite(y_new[i]):
                total = scalar(wp.inf)
        return wp.sqrt(total / wp.static(scalar(vector._length_)))

    return error_norm

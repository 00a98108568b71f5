"""Adams steps of variable order inside kernels: the formulas of ``adams`` for Warp's scalar.

A right-hand side is a Warp function ``(data, t: scalar, y: vector) -> vector``, as in
``runge_kutta_kernel``. The differences of a run's slopes are many numbers: they stay in memory, in
column ``slot`` of an array ``differences`` of shape (``ROWS``, runs) and type ``vector``. Row i is
phi_i(n), so row 1 is the slope at (t, y); row 0 is what rounding has taken from the state. All else
is in an ``Adams``::

    begin, attempt = begin_function(rhs, vector, Data), attempt_function(rhs, vector, Data)
    ...
    adams = begin(data, differences, slot, t, y, first_step)
    while ...:
        to = t + adams.size                      # or less: ``laws.fitted`` says how to end
        tried = attempt(data, differences, slot, adams, t, y, to - t, rtol, atol)
        if tried.kept:
            t, y = to, tried.y
        adams = tried.adams

``adams.size`` is the step to try next, after a failure too. The caller keeps it above a floor and
gives up when a step at the floor fails. ``attempt`` asks for two slopes, or for one if it fails.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar, vec3
from alight.integrators import adams as law
from alight.integrators.runge_kutta_kernel import accepted, error_norm_function, step_factor_func

#: Rows of ``differences``.
ROWS = law.ROWS

row = wp.types.vector(length=ROWS, dtype=scalar)

_CONSTANTS = wp.constant(row(*(float(c) for c in law.ERROR_CONSTANTS), 0.0))

laws = law.laws(scalar, row, _CONSTANTS, wp.func, step_factor_func)

_coefficients, _constant, _equal_steps = laws.coefficients, laws.constant, laws.equal_steps
_onward, _retreat, _dense_weights = laws.onward, laws.retreat, laws.dense_weights


@wp.struct
class Adams:
    """What a run keeps between steps beside its differences."""

    size: scalar
    """The step to try next; negative when time runs backward."""
    order: int
    """Its order."""
    used: int
    """Order of the last step that was kept; 0 before the first."""
    known: int
    """How many differences there are."""
    same: int
    """How many steps in a row were of one size."""
    failures: int
    """How many steps in a row were not kept."""
    starting: bool
    """True while order and step rise every time."""
    psi: row
    """psi_i(n), from 1."""


@functools.cache
def tried_type(vector: Any) -> Any:
    """The struct that ``attempt`` returns."""

    @wp.struct
    class Tried:
        """A step that was kept, or was not; then only ``error`` and ``adams`` count."""

        kept: bool
        error: scalar
        y: vector
        adams: Adams

    return Tried


@functools.cache
def begin_function(rhs: Any, vector: Any, data_type: Any) -> Any:
    """A function ``(data, differences, slot, t, y, size) -> Adams``: a start, or after a jump."""

    @wp.func
    def begin(
        data: data_type,
        differences: wp.array2d(dtype=vector),
        slot: int,
        t: scalar,
        y: vector,
        size: scalar,
    ):
        adams = Adams()
        adams.size = size
        adams.order = 1
        adams.known = 1
        adams.starting = True
        differences[0, slot] = vector()
        differences[1, slot] = rhs(data, t, y)
        return adams

    return begin


@functools.cache
def attempt_function(rhs: Any, vector: Any, data_type: Any) -> Any:
    """A function ``(data, differences, slot, adams, t, y, h, rtol, atol) -> Tried`` of one step."""
    tried_struct = tried_type(vector)
    norm = error_norm_function(vector)
    go_on = _go_on_function(vector)

    @wp.func
    def attempt(
        data: data_type,
        differences: wp.array2d(dtype=vector),
        slot: int,
        adams: Adams,
        t: scalar,
        y: vector,
        h: scalar,
        rtol: scalar,
        atol: vector,
    ):
        k = adams.order
        psi, beta, sigma, g = _coefficients(adams.psi, h, k, adams.known)
        # 002 Eq. 21, and what the last k, k - 1 and k - 2 slopes expect of the new one.
        mean = vector()
        sum0 = vector()
        sum1 = vector()
        sum2 = vector()
        for i in range(1, k + 1):
            star = beta[i] * differences[i, slot]
            mean += g[i] * star
            sum2 = sum1
            sum1 = sum0
            sum0 += star
        slope = rhs(data, t + h, y + h * mean)
        new = slope - sum0

        # 002 Eq. 32; the step is small beside the state: what the sum loses is given back later.
        moved = h * (mean + g[k + 1] * new) + differences[0, slot]
        y1 = y + moved
        lost = moved - (y1 - y)

        size = norm(y, y1, new, rtol, atol)
        errors = vec3(scalar(0.0), scalar(0.0), _constant(h, sigma, k) * size)
        if k > 1:
            errors[1] = _constant(h, sigma, k - 1) * norm(y, y1, slope - sum1, rtol, atol)
        if k > 2:
            errors[0] = _constant(h, sigma, k - 2) * norm(y, y1, slope - sum2, rtol, atol)

        out = tried_struct()
        out.error = wp.abs(h * (g[k + 1] - g[k])) * size
        out.y = y1
        if accepted(out.error):
            slope = rhs(data, t + h, y1)
            out.kept = wp.isfinite(slope)
        if out.kept:
            differences[0, slot] = lost
            out.adams = go_on(differences, slot, adams, psi, beta, slope, y, y1, errors, rtol, atol)
        else:
            out.adams = _give_way(adams, h, errors)
        return out

    return attempt


@wp.func
def _give_way(adams: Adams, h: scalar, errors: vec3) -> Adams:
    """After a step that was not kept; errors are those of equal steps at k - 2, k - 1 and k."""
    after = adams
    after.failures = adams.failures + 1
    order, starting, ratio = _retreat(adams.order, after.failures, errors[0], errors[1], errors[2])
    after.order = order
    after.starting = starting
    after.size = ratio * h
    return after


@functools.cache
def _go_on_function(vector: Any) -> Any:
    """A Warp function for after a step that was kept: new differences, and what comes next."""
    norm = error_norm_function(vector)

    @wp.func
    def go_on(
        differences: wp.array2d(dtype=vector),
        slot: int,
        adams: Adams,
        psi: row,
        beta: row,
        slope: vector,
        y: vector,
        y1: vector,
        errors: vec3,
        rtol: scalar,
        atol: vector,
    ):
        k = adams.order
        rows = wp.min(k + 1, adams.known)
        left = slope
        for i in range(1, rows + 1):
            star = beta[i] * differences[i, slot]
            differences[i, slot] = left
            left -= star
        differences[rows + 1, slot] = left

        h = psi[1]
        above = scalar(wp.inf)
        if rows > k:
            ones = row(scalar(1.0))
            above = _constant(h, ones, k + 1) * norm(y, y1, left, rtol, atol)
        same = _equal_steps(adams.same, h, adams.psi[1])
        order, starting, ratio = _onward(
            k, adams.starting, same, errors[0], errors[1], errors[2], above
        )
        after = Adams()
        after.size = ratio * h
        after.order = order
        after.used = k
        after.known = rows + 1
        after.same = same
        after.starting = starting
        after.psi = psi
        return after

    return go_on


@functools.cache
def dense_function(vector: Any) -> Any:
    """A Warp function ``(differences, slot, adams, y, y1, theta) -> vector``: inside the last step.

    ``adams`` is that after the step, from ``y`` to ``y1``; ``theta`` runs from 0 to 1 along it.
    """

    @wp.func
    def back(
        differences: wp.array2d(dtype=vector), slot: int, adams: Adams, y1: vector, way: scalar
    ):
        g = _dense_weights(adams.psi, way, adams.used)
        total = vector()
        for i in range(1, adams.used + 2):
            total += g[i] * differences[i, slot]
        return y1 + way * total

    @wp.func
    def inside(
        differences: wp.array2d(dtype=vector),
        slot: int,
        adams: Adams,
        y: vector,
        y1: vector,
        theta: scalar,
    ):
        h = adams.psi[1]
        rest = scalar(1.0) - theta
        miss = y - back(differences, slot, adams, y1, -h)
        ease = rest * rest * (scalar(3.0) - scalar(2.0) * rest)
        return back(differences, slot, adams, y1, -rest * h) + ease * miss

    return inside

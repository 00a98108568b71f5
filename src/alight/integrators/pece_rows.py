"""Adams steps of variable order inside kernels: the formulas of ``adams`` for Warp's scalar.

Predict, evaluate, correct, evaluate (002 section 3): it starts itself at order 1, order and step
vary, and every step takes two slopes. A state is a column of an array [row, slot], as long as the
problem asks, so that one compiled kernel serves all. The caller finds slopes between the calls::

    rows.trial = y; find rows.slope at t;        adams = begin_rows(rows, slot, first_step)
    step = weigh_step(rows, slot, adams, h)
    predict_rows(rows, slot, adams, step)        # fills trial
    find rows.slope at t + h;                    found = correct_rows(rows, slot, adams, step)
    if accepted(found.error):                    # trial is the corrected state
        find rows.slope at t + h
        adams = keep_rows(rows, slot, adams, step, found)
    else:
        adams = give_way(adams, h, found.errors)

``adams.size`` is the step to try next, after a failure too. The caller keeps it above a floor and
gives up when a step at the floor fails. ``examples/adams_steps.py`` is such a caller.
"""

from typing import Any

import warp as wp

from alight.core.devices import Device
from alight.core.rows import by_slot
from alight.core.types import scalar, vec3
from alight.integrators import adams as law
from alight.integrators.runge_kutta_kernel import step_factor_func

#: Rows of differences that each row of a state has.
ROWS = law.ROWS

row = wp.types.vector(length=ROWS, dtype=scalar)

#: Differences that are read at once, whether a step needs them or not: few steps need more, and a
#: GPU would wait for each one by itself.
FIRST = 4
_first = wp.types.vector(length=FIRST + 1, dtype=scalar)
_MORE = wp.constant(FIRST + 1)

_CONSTANTS = wp.constant(row(*(float(c) for c in law.ERROR_CONSTANTS), 0.0))
_ROWS = wp.constant(ROWS)

laws = law.laws(scalar, row, _CONSTANTS, wp.func, step_factor_func)

_coefficients, _constant, _equal_steps = laws.coefficients, laws.constant, laws.equal_steps
_onward, _retreat = laws.onward, laws.retreat


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


@wp.struct
class StateRows:
    """The columns of a run, [row, slot]."""

    y: wp.array2d(dtype=scalar)
    """State at t."""
    trial: wp.array2d(dtype=scalar)
    """State at which a slope is asked for."""
    slope: wp.array2d(dtype=scalar)
    """Slope there."""
    lost: wp.array2d(dtype=scalar)
    """What rounding takes from the step under way."""
    phi: wp.array2d(dtype=scalar)
    """[row ROWS + i, slot] differences; i = 0 is what rounding took before."""
    psi: wp.array2d(dtype=scalar)
    """[i, slot] psi_i(n), from 1, and those below: ROWS rows each."""
    reach: wp.array2d(dtype=scalar)
    """psi_i(n + 1) of the step under way, and its coefficients:"""
    beta: wp.array2d(dtype=scalar)
    sigma: wp.array2d(dtype=scalar)
    g: wp.array2d(dtype=scalar)
    allowed: wp.array(dtype=scalar)
    """Error of a step allowed in each row ..."""
    relative: wp.array(dtype=scalar)
    """... and in addition for each unit of its size."""


def state_rows(count: int, slots: int, allowed: Any, relative: Any, device: Device) -> StateRows:
    """Room for states of ``count`` numbers in ``slots``; the errors allowed are a row each."""
    rows = StateRows()
    sizes = dict.fromkeys(("y", "trial", "slope", "lost"), count) | {"phi": count * ROWS}
    sizes |= dict.fromkeys(("psi", "reach", "beta", "sigma", "g"), ROWS)
    for name, size in sizes.items():
        setattr(rows, name, by_slot(size, slots, scalar, device))
    rows.allowed = wp.array(allowed, dtype=scalar, device=device.name)
    rows.relative = wp.array(relative, dtype=scalar, device=device.name)
    return rows


@wp.struct
class Step:
    """The step under way; its coefficients are in ``StateRows``."""

    h: scalar
    share: scalar
    """Part of the errors allowed that this step may make; 1 unless the caller sets it."""


@wp.struct
class Corrected:
    """How large the errors of a step are, over those allowed."""

    error: scalar
    errors: vec3
    """Of equal steps at orders k - 2, k - 1 and k."""


@wp.func
def begin_rows(rows: StateRows, slot: int, size: scalar) -> Adams:
    """A start, or one after a jump: ``rows.slope`` is the slope at the state."""
    adams = Adams()
    adams.size = size
    adams.order = 1
    adams.known = 1
    adams.starting = True
    for j in range(rows.y.shape[0]):
        rows.phi[j * _ROWS, slot] = scalar(0.0)
        rows.phi[j * _ROWS + 1, slot] = rows.slope[j, slot]
    for i in range(wp.static(ROWS)):
        rows.psi[i, slot] = scalar(0.0)
    return adams


@wp.func
def weigh_step(rows: StateRows, slot: int, adams: Adams, h: scalar) -> Step:
    """Begin a step of ``h``: its coefficients."""
    psi = row()
    for i in range(wp.static(ROWS)):
        psi[i] = rows.psi[i, slot]
    reach, beta, sigma, g = _coefficients(psi, h, adams.order, adams.known)
    for i in range(wp.static(ROWS)):
        rows.reach[i, slot] = reach[i]
        rows.beta[i, slot] = beta[i]
        rows.sigma[i, slot] = sigma[i]
        rows.g[i, slot] = g[i]
    step = Step()
    step.h = h
    step.share = scalar(1.0)
    return step


@wp.func
def _first_of(values: wp.array2d(dtype=scalar), at: int, slot: int):
    """Rows 1 to FIRST after ``at``."""
    first = _first()
    for i in range(1, wp.static(FIRST + 1)):
        first[i] = values[at + i, slot]
    return first


@wp.func
def predict_rows(rows: StateRows, slot: int, adams: Adams, step: Step):
    """Fill ``rows.trial`` with the predicted state (002 Eq. 21)."""
    g = _first_of(rows.g, 0, slot)
    beta = _first_of(rows.beta, 0, slot)
    for j in range(rows.y.shape[0]):
        at = j * _ROWS
        first = _first_of(rows.phi, at, slot)
        mean = scalar(0.0)
        for i in range(1, wp.static(FIRST + 1)):
            mean += wp.where(i <= adams.order, g[i] * beta[i] * first[i], scalar(0.0))
        for i in range(_MORE, adams.order + 1):
            mean += rows.g[i, slot] * rows.beta[i, slot] * rows.phi[at + i, slot]
        rows.trial[j, slot] = rows.y[j, slot] + step.h * mean


@wp.func
def correct_rows(rows: StateRows, slot: int, adams: Adams, step: Step) -> Corrected:
    """Fill ``rows.trial`` with the corrected state (002 Eq. 32), and report the errors."""
    k = adams.order
    g = _first_of(rows.g, 0, slot)
    beta = _first_of(rows.beta, 0, slot)
    g_last = rows.g[k, slot]
    g_next = rows.g[k + 1, slot]
    total = vec3()
    count = rows.y.shape[0]
    for j in range(count):
        at = j * _ROWS
        first = _first_of(rows.phi, at, slot)
        mean = scalar(0.0)
        sum0 = scalar(0.0)
        sum1 = scalar(0.0)
        sum2 = scalar(0.0)
        for i in range(1, wp.static(FIRST + 1)):
            within = i <= k
            star = wp.where(within, beta[i] * first[i], scalar(0.0))
            mean += g[i] * star
            sum2 = wp.where(within, sum1, sum2)
            sum1 = wp.where(within, sum0, sum1)
            sum0 += star
        for i in range(_MORE, k + 1):
            star = rows.beta[i, slot] * rows.phi[at + i, slot]
            mean += rows.g[i, slot] * star
            sum2 = sum1
            sum1 = sum0
            sum0 += star
        slope = rows.slope[j, slot]
        new = slope - sum0
        y = rows.y[j, slot]
        moved = step.h * (mean + g_next * new) + rows.phi[at, slot]
        y1 = y + moved
        rows.lost[j, slot] = moved - (y1 - y)
        rows.trial[j, slot] = y1
        scale = step.share * (rows.allowed[j] + rows.relative[j] * wp.max(wp.abs(y), wp.abs(y1)))
        misses = vec3(slope - sum2, slope - sum1, new) / scale
        total += wp.cw_mul(misses, misses)
        if not wp.isfinite(y1):
            total[2] = scalar(wp.inf)
    size = vec3(wp.sqrt(total[0]), wp.sqrt(total[1]), wp.sqrt(total[2])) / wp.sqrt(scalar(count))
    errors = vec3(scalar(0.0), scalar(0.0), _constant(step.h, rows.sigma[k + 1, slot], k) * size[2])
    if k > 1:
        errors[1] = _constant(step.h, rows.sigma[k, slot], k - 1) * size[1]
    if k > 2:
        errors[0] = _constant(step.h, rows.sigma[k - 1, slot], k - 2) * size[0]
    found = Corrected()
    found.errors = errors
    found.error = wp.abs(step.h * (g_next - g_last)) * size[2]
    return found


@wp.func
def keep_rows(rows: StateRows, slot: int, adams: Adams, step: Step, found: Corrected) -> Adams:
    """Take ``rows.trial`` as the state, ``rows.slope`` being the slope there."""
    k = adams.order
    many = wp.min(k + 1, adams.known)
    count = rows.y.shape[0]
    beta = _first_of(rows.beta, 0, slot)
    total = scalar(0.0)
    for j in range(count):
        at = j * _ROWS
        left = rows.slope[j, slot]
        first = _first_of(rows.phi, at, slot)
        for i in range(1, wp.static(FIRST + 1)):
            if i <= many:
                rows.phi[at + i, slot] = left
                left -= beta[i] * first[i]
        for i in range(_MORE, many + 1):
            star = rows.beta[i, slot] * rows.phi[at + i, slot]
            rows.phi[at + i, slot] = left
            left -= star
        rows.phi[at + many + 1, slot] = left
        y = rows.y[j, slot]
        y1 = rows.trial[j, slot]
        scale = step.share * (rows.allowed[j] + rows.relative[j] * wp.max(wp.abs(y), wp.abs(y1)))
        total += (left / scale) * (left / scale)
        rows.phi[at, slot] = rows.lost[j, slot]
        rows.y[j, slot] = y1
    above = scalar(wp.inf)
    if many > k:
        above = _constant(step.h, scalar(1.0), k + 1) * wp.sqrt(total / scalar(count))
    same = _equal_steps(adams.same, step.h, rows.psi[1, slot])
    for i in range(wp.static(ROWS)):
        rows.psi[i, slot] = rows.reach[i, slot]
    order, starting, ratio = _onward(
        k, adams.starting, same, found.errors[0], found.errors[1], found.errors[2], above
    )
    after = Adams()
    after.size = ratio * step.h
    after.order = order
    after.used = k
    after.known = many + 1
    after.same = same
    after.starting = starting
    return after


@wp.func
def give_way(adams: Adams, h: scalar, errors: vec3) -> Adams:
    """After a step that was not kept; errors are those of equal steps at k - 2, k - 1 and k."""
    after = adams
    after.failures = adams.failures + 1
    order, starting, ratio = _retreat(adams.order, after.failures, errors[0], errors[1], errors[2])
    after.order = order
    after.starting = starting
    after.size = ratio * h
    return after

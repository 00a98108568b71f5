"""How an articulated lander is stepped: two ways, each a pair of functions around a slope.

``prepare(world, run, space, slot, turn) -> turn`` fills the trial state at which the kernel then
finds a slope; ``use(world, run, space, slot, turn) -> (run, turn)`` makes something of it. A turn
is ``whole`` where nothing is under way, so that a launch may end, and ``here`` where the state has
moved on (or was started) and the tree is placed and solved at it.
"""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.integrators.pece_rows import (
    ROWS,
    Adams,
    Corrected,
    StateRows,
    Step,
    begin_rows,
    correct_rows,
    give_way,
    keep_rows,
    predict_rows,
    weigh_step,
)
from alight.integrators.runge_kutta_kernel import accepted
from alight.motions.tree.composition import TreeComposition
from alight.motions.tree.state import HIT, TreeRun, TreeSpace
from alight.vehicles.fittings_kernel import DeviceData
from alight.vehicles.tree.data import TreeData

_STEP_FLOOR = wp.constant(int(Outcome.STEP_FLOOR))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))
_ROWS = wp.constant(ROWS)

#: Error of a step in contact, over the speed and what the load gives in a hit; and the least part
#: of the tolerance that is asked for.
_STEADY = wp.constant(scalar(1e-5))
_STEADIEST = wp.constant(scalar(1e-6))

# What a slope is asked for: to start, on the way to a new state, at the new state.
START = wp.constant(0)
TRIAL = wp.constant(1)
KEEP = wp.constant(2)


@wp.struct
class Turn:
    """Where a step stands."""

    stage: int  # START, TRIAL or KEEP
    part: int  # of Runge-Kutta steps: which slope comes next
    whole: bool
    here: bool
    order: int  # of the step that was taken
    h: scalar  # the step under way [s]
    at: scalar  # when the slope is asked for [s]
    step: Step
    found: Corrected


@wp.func
def finite_rows(values: wp.array2d(dtype=scalar), slot: int):
    """True when all rows are finite."""
    good = bool(True)
    for k in range(values.shape[0]):
        good = good and wp.isfinite(values[k, slot])
    return good


@wp.func
def copy_rows(source: wp.array2d(dtype=scalar), target: wp.array2d(dtype=scalar), slot: int):
    """Copy a column."""
    for k in range(source.shape[0]):
        target[k, slot] = source[k, slot]


@wp.func
def status_of(tree: TreeData, parts: DeviceData, space: TreeSpace, slot: int):
    """A number that changes when a pad begins or ceases to press or to slide, a crushable to give,
    or a stop to hold: where slopes are not smooth."""
    status = int(1)  # times an odd number: however many there are, none is shifted out
    for i in range(parts.pads.shape[0]):
        state = space.pad_state[i, slot]
        presses = wp.where(state[2] > scalar(0.0), 1, 0)
        status = 3 * status + presses * (1 + space.pad_slides[i, slot])
    for i in range(parts.crushables.shape[0]):
        status = 3 * status + wp.where(space.rate_crushed[i, slot] > scalar(0.0), 1, 0)
    for i in range(tree.count):
        body = tree.bodies[i]
        if body.stop_stiffness > scalar(0.0):
            x = space.trial_q[body.q_at, slot]
            status = 3 * status + wp.where(x < body.lower or x > body.upper, 1, 0)
    return status


@wp.func
def _forget(adams: Adams) -> Adams:
    """Order 1 with no differences, as after a start.

    The error of a high order is not to be believed where slopes are not smooth: such a step is
    taken at order 1, and differences across it are not used.
    """
    after = adams
    after.order = 1
    after.known = 1
    after.same = 0
    after.starting = True
    return after


@functools.cache
def _clock(parts: TreeComposition) -> Any:
    """``fit(world, run, h)``, a step cut at the next switch or the end, and ``later``, the time
    after it."""
    World: Any = parts.World

    @wp.func
    def fit(world: World, run: TreeRun, h: scalar):
        left = wp.min(run.until, world.limits.max_time) - run.t
        # The last two steps before an end are made equal, and none leaves a sliver.
        if h >= left * (scalar(1.0) - scalar(1e-9)):
            return left
        if wp.static(parts.laws.pece) and scalar(2.0) * h > left:
            return scalar(0.5) * left
        return h

    @wp.func
    def later(world: World, run: TreeRun, h: scalar):
        end = wp.min(run.until, world.limits.max_time)
        if run.t + h >= end - scalar(1e-9) * h:
            return end
        return run.t + h

    return fit, later


@functools.cache
def _steadiness(parts: TreeComposition) -> Any:
    """``steady_share(world, run, tolerance)``: what part of it a step in contact may be off by."""
    World: Any = parts.World

    @wp.func
    def steady_share(world: World, run: TreeRun, tolerance: scalar):
        # At rest stiff parts hold steps at the edge of stability, where errors hover about what is
        # allowed: as speeds they would shake loose what barely presses.
        hit = HIT * world.limits.contact_step
        scale = wp.length(run.v) + hit * run.normal / world.mass
        return wp.clamp(_STEADY * scale / tolerance, _STEADIEST, scalar(1.0))

    return steady_share


@functools.cache
def adams_stepper(parts: TreeComposition) -> Any:
    """Adams steps: as long as the error allows, cut where a pad could meet the ground."""
    World: Any = parts.World
    fit, later = _clock(parts)
    steady_share = _steadiness(parts)

    @wp.func
    def prepare(world: World, run: TreeRun, space: TreeSpace, slot: int, turn: Turn):
        out = turn
        out.whole = False
        out.here = False
        if out.stage == START:
            copy_rows(space.rows.y, space.rows.trial, slot)
            out.h = scalar(0.0)
            out.at = run.t
        elif out.stage == TRIAL:
            out.h = fit(world, run, wp.min(run.adams.size, wp.min(world.limits.longest, run.bound)))
            out.at = run.t + out.h
            out.step = weigh_step(space.rows, slot, run.adams, out.h)
            if run.touching != 0:
                out.step.share = steady_share(world, run, space.rows.allowed[0])
            predict_rows(space.rows, slot, run.adams, out.step)
        return out

    @wp.func
    def use(world: World, run: TreeRun, space: TreeSpace, slot: int, turn: Turn):
        after = run
        out = turn
        kept = bool(True)
        if turn.stage == START:
            after.adams = begin_rows(space.rows, slot, world.limits.first)
            after.status = status_of(world.tree, world.parts, space, slot)
            out.order = 1
            out.here = True
        elif turn.stage == TRIAL:
            after.steps += 1
            out.found = correct_rows(space.rows, slot, run.adams, turn.step)
            kept = accepted(out.found.error)
            out.stage = KEEP
        else:
            kept = finite_rows(space.rows.slope, slot)
        if not kept:
            after.adams = give_way(run.adams, turn.h, out.found.errors)
        elif turn.stage == KEEP:
            after.status = status_of(world.tree, world.parts, space, slot)
            smooth = after.status == run.status
            kept = smooth or run.adams.order == 1
            if kept:
                out.order = run.adams.order
                after.adams = keep_rows(space.rows, slot, run.adams, turn.step, turn.found)
                after.t = later(world, run, turn.h)
                out.here = True
            else:
                after.status = run.status
                after.adams.size = scalar(0.5) * turn.h
            if not smooth:
                after.adams = _forget(after.adams)
        if not kept:
            after.rejected += 1
            if after.adams.size < world.limits.shortest:
                after.outcome = _STEP_FLOOR
        out.whole = out.here or not kept
        return after, out

    return prepare, use


@wp.func
def _keep_slope(rows: StateRows, slot: int):
    """Keep the slope at the state: the first of the next step."""
    for k in range(rows.y.shape[0]):
        rows.phi[k * _ROWS + 1, slot] = rows.slope[k, slot]


@wp.func
def _rk4_trial(rows: StateRows, slot: int, h: scalar, part: int):
    """Fill ``rows.trial`` for slope 2, 3 or 4 of the classical method, or (5) with its end."""
    for k in range(rows.y.shape[0]):
        at = k * _ROWS
        slope = rows.slope[k, slot]
        total = rows.phi[at + 2, slot]
        ahead = scalar(0.5) * h
        if part == 2:
            slope = rows.phi[at + 1, slot]
            total = slope
        elif part == 5:
            total += slope
            slope = total
            ahead = h / scalar(6.0)
        else:
            total += scalar(2.0) * slope
            if part == 4:
                ahead = h
        rows.phi[at + 2, slot] = total
        rows.trial[k, slot] = rows.y[k, slot] + ahead * slope


@functools.cache
def rk4_stepper(parts: TreeComposition) -> Any:
    """Steps of one size by the classical Runge-Kutta method."""
    World: Any = parts.World
    fit, later = _clock(parts)

    @wp.func
    def prepare(world: World, run: TreeRun, space: TreeSpace, slot: int, turn: Turn):
        out = turn
        if turn.whole:
            out.part = 2
            out.h = fit(world, run, world.step)
        out.whole = False
        out.here = False
        out.at = run.t + out.h
        if out.stage == START:
            copy_rows(space.rows.y, space.rows.trial, slot)
            out.h = scalar(0.0)
            out.at = run.t
        else:
            _rk4_trial(space.rows, slot, out.h, out.part)
            if out.part < 4:
                out.at = run.t + scalar(0.5) * out.h
        return out

    @wp.func
    def use(world: World, run: TreeRun, space: TreeSpace, slot: int, turn: Turn):
        after = run
        out = turn
        out.order = 4
        if turn.stage == START:
            _keep_slope(space.rows, slot)
            out.here = True
        elif turn.stage == TRIAL:
            out.part += 1
            if out.part == 5:
                after.steps += 1
                out.stage = KEEP
        else:
            copy_rows(space.rows.trial, space.rows.y, slot)
            _keep_slope(space.rows, slot)
            after.t = later(world, run, turn.h)
            out.here = True
            if not finite_rows(space.rows.slope, slot):
                after.outcome = _NOT_FINITE
        out.whole = out.here
        return after, out

    return prepare, use

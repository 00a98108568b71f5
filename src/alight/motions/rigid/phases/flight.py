"""The flight phase: one step of free motion that cannot pass through the ground."""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.engine.clock import after, before
from alight.engine.time_to_ground import path_length, time_to_travel
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    next_step,
    step_function,
)
from alight.integrators.tableau import RK54
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.phases.clearance import points_clearance
from alight.motions.rigid.state import CONTACT, Memory, Run, vec6

_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_ESCAPED = wp.constant(int(Outcome.ESCAPED))

#: Fast along the ground and slow towards it, the way down of a step may be lost in the rounding of
#: the position: after so many steps in a row this short (over the shortest), the ground is reached.
_SKIMMING = wp.constant(scalar(64.0))
_PATIENCE = wp.constant(16)
_STEP_FLOOR = wp.constant(int(Outcome.STEP_FLOOR))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: What a bound on the acceleration is taken at, over its value now: in one step it changes by far
#: less, as a step is short against the size of the body and its rotation.
_MARGIN = wp.constant(scalar(1.5))


@functools.cache
def flight_phase(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one flight step."""
    World, laws = parts.World, parts.laws
    pull, anchor, turn = parts.pull, parts.anchor, parts.turn
    arrive = laws.scheme.arrive(parts)
    clearance = (laws.scheme.clearance or points_clearance)(parts)

    @wp.struct
    class Flying:
        world: World
        memory: Memory
        slot: int
        until: scalar  # what switches then has not switched yet

    @wp.func
    def slope_of(data: Flying, t: scalar, y: vec6):
        v = vec3(y[3], y[4], y[5])
        when = t
        if wp.static(laws.next is not None):
            when = before(t, data.until)
        a = pull(data.world, data.memory, data.slot, when, vec3(y[0], y[1], y[2]), v)
        return vec6(v[0], v[1], v[2], a[0], a[1], a[2])

    step = step_function(RK54, slope_of, vec6, Flying)
    norm = error_norm_function(vec6)

    @wp.func
    def fly(world: World, run: Run, memory: Memory, slot: int):
        """One step, accepted or not, or the change to the contact phase."""
        limits = world.limits
        out = run
        out.steps += 1
        if wp.static(laws.linearised):
            anchor(world, out, memory, slot)
        flying = Flying()
        flying.world = world
        flying.memory = memory
        flying.slot = slot
        flying.until = run.until
        y = vec6(out.x[0], out.x[1], out.x[2], out.v[0], out.v[1], out.v[2])
        k1 = slope_of(flying, out.t, y)
        g = wp.sqrt(k1[3] * k1[3] + k1[4] * k1[4] + k1[5] * k1[5])
        if not g < scalar(1e100):
            out.outcome = _NOT_FINITE
            return out
        a = _MARGIN * g
        speed = wp.length(out.v)
        size = world.body.bounding_radius
        left = run.until - out.t
        longest = wp.min(wp.min(out.h, limits.max_step), left)
        if wp.static(laws.linearised):
            longest = wp.min(longest, time_to_travel(world.reach, speed, a))
        free = clearance(world, out, a, longest, memory, slot)
        h = free.h
        out.near = free.near
        fast = speed + wp.length(out.w) * size
        ready = arrive(world, out, memory, slot, free.closing, g)
        skimming = bool(False)
        if wp.static(laws.scheme.rigid):
            out.still = wp.where(h < _SKIMMING * ready.dt, run.still + 1, 0)
            skimming = out.still > _PATIENCE and h < left
        if h < wp.min(ready.dt, left) or skimming:
            ready.phase = CONTACT
            if wp.static(laws.scheme.rigid):
                ready.still = 0
            return ready
        taken = step(flying, out.t, y, k1, h)
        place = limits.rtol * wp.length(out.x)
        pace = limits.rtol * (speed + g * h)
        error = norm(
            y, taken.y, taken.error, scalar(0.0), vec6(place, place, place, pace, pace, pace)
        )
        suggested = next_step(h, error, 4, scalar(5.0))
        if not accepted(error):
            memory.notes[slot].rejected += 1
            out.h = suggested
            if suggested < limits.min_step:
                out.outcome = _STEP_FLOOR
            return out
        # A step cut short by the ground or the clock says little about the error of a long one.
        out.h = wp.max(suggested, wp.min(out.h, scalar(5.0) * suggested))
        turned = turn(world, out.t, out.q, out.w, h)
        out.q = turned.q
        out.w = turned.w
        out.t = after(out.t, h, run.until, limits.max_time)
        out.x = vec3(taken.y[0], taken.y[1], taken.y[2])
        out.v = vec3(taken.y[3], taken.y[4], taken.y[5])
        faster = fast + a * h
        out.travel += (faster + wp.length(out.w) * size) * h
        out.path += path_length(run.v, out.v, h)
        out.quiet = scalar(0.0)
        if not wp.static(laws.scheme.rigid):
            out.still = 0
        if wp.length(out.x) > limits.escape_radius:
            out.outcome = _ESCAPED
        elif h >= left and run.until >= limits.max_time:
            out.outcome = _TIMED_OUT
        return out

    return fly

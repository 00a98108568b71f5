"""The flight phase: one step of free motion that cannot pass through the ground."""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.engine.clock import after, before
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    step_function,
)
from alight.integrators.tableau import RK54
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.phases.flight_bounds import MARGIN, flight_bounds, step_after
from alight.motions.rigid.state import Memory, Run, vec6

_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))


@functools.cache
def flight_phase(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one flight step."""
    World, laws = parts.World, parts.laws
    pull, anchor, turn = parts.pull, parts.anchor, parts.turn
    bounds = flight_bounds(parts)
    onward, rejected, flown = bounds.onward, bounds.rejected, bounds.flown

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
        a = MARGIN * g
        ahead = onward(world, out, a, g, memory, slot)
        if ahead.arrives:
            return ahead.run
        out = ahead.run
        h = ahead.h
        taken = step(flying, out.t, y, k1, h)
        place = limits.rtol * wp.length(out.x)
        pace = limits.rtol * (wp.length(out.v) + g * h)
        error = norm(
            y, taken.y, taken.error, scalar(0.0), vec6(place, place, place, pace, pace, pace)
        )
        if not accepted(error):
            return rejected(world, out, h, error, memory, slot)
        out.h = step_after(h, out.h, error)
        turned = turn(world, out.t, out.q, out.w, h)
        out.q = turned.q
        out.w = turned.w
        out.t = after(out.t, h, run.until, limits.max_time)
        out.x = vec3(taken.y[0], taken.y[1], taken.y[2])
        out.v = vec3(taken.y[3], taken.y[4], taken.y[5])
        return flown(world, run, out, h, a)

    return fly

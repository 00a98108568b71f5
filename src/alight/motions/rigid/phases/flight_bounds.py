"""Flight against the ground: how far a step may go, when flight hands over, what a step leaves.

Free flight and flight under actuators differ in what they integrate; how they keep clear of the
ground and of the clock is the same, and is here.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.engine.time_to_ground import path_length, time_to_travel
from alight.integrators.runge_kutta_kernel import next_step
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.phases.clearance import points_clearance
from alight.motions.rigid.state import CONTACT, Memory, Run

_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_ESCAPED = wp.constant(int(Outcome.ESCAPED))
_STEP_FLOOR = wp.constant(int(Outcome.STEP_FLOOR))

#: Fast along the ground and slow towards it, the way down of a step may be lost in the rounding of
#: the position: after so many steps in a row this short (over the shortest), the ground is reached.
_SKIMMING = wp.constant(scalar(64.0))
_PATIENCE = wp.constant(16)

#: What a bound on the acceleration is taken at, over its value now: in one step it changes by far
#: less, as a step is short against the size of the body and its rotation.
MARGIN = wp.constant(scalar(1.5))


@wp.struct
class Onward:
    """How flight goes on."""

    run: Run  # with what was seen of the ground; ready for contact where it arrives
    h: scalar  # step that cannot touch [s]
    arrives: bool  # flight ends here


@dataclasses.dataclass(frozen=True)
class FlightBounds:
    """What both kinds of flight are made from."""

    onward: Any
    """``(world, run, a, g, memory, slot) -> Onward`` under an acceleration of ``g`` [m/s^2], of no
    point of the lander more than ``a`` in the step."""
    rejected: Any
    """``(world, run, h, error, memory, slot) -> run`` after a step that is taken again."""
    flown: Any
    """``(world, before, run, h, a) -> run``: what is counted of a step of ``h`` [s]."""


@wp.func
def step_after(h: scalar, longest: scalar, error: scalar):
    """The step to try next [s]. One cut short by ground or clock says little of a long one."""
    suggested = next_step(h, error, 4, scalar(5.0))
    return wp.max(suggested, wp.min(longest, scalar(5.0) * suggested))


@functools.cache
def flight_bounds(parts: Composition) -> FlightBounds:
    """The functions of one composition of laws."""
    World, laws = parts.World, parts.laws
    arrive = laws.scheme.arrive(parts)
    clearance = (laws.scheme.clearance or points_clearance)(parts)

    @wp.func
    def onward(world: World, run: Run, a: scalar, g: scalar, memory: Memory, slot: int):
        out = Onward()
        out.run = run
        left = run.until - run.t
        longest = wp.min(wp.min(run.h, world.limits.max_step), left)
        if wp.static(laws.linearised):
            longest = wp.min(longest, time_to_travel(world.reach, wp.length(run.v), a))
        free = clearance(world, run, a, longest, memory, slot)
        out.h = free.h
        out.run.near = free.near
        ready = arrive(world, out.run, memory, slot, free.closing, g)
        skimming = bool(False)
        if wp.static(laws.scheme.rigid):
            out.run.still = wp.where(out.h < _SKIMMING * ready.dt, run.still + 1, 0)
            skimming = out.run.still > _PATIENCE and out.h < left
        if out.h < wp.min(ready.dt, left) or skimming:
            ready.phase = CONTACT
            if wp.static(laws.scheme.rigid):
                ready.still = 0
            out.run = ready
            out.arrives = True
        return out

    @wp.func
    def rejected(world: World, run: Run, h: scalar, error: scalar, memory: Memory, slot: int):
        out = run
        memory.notes[slot].rejected += 1
        out.h = next_step(h, error, 4, scalar(5.0))
        if out.h < world.limits.min_step:
            out.outcome = _STEP_FLOOR
        return out

    @wp.func
    def flown(world: World, before: Run, run: Run, h: scalar, a: scalar):
        out = run
        size = world.body.bounding_radius
        faster = wp.length(before.v) + wp.length(before.w) * size + a * h
        out.travel += (faster + wp.length(out.w) * size) * h
        out.path += path_length(before.v, out.v, h)
        out.quiet = scalar(0.0)
        if not wp.static(laws.scheme.rigid):
            out.still = 0
        if wp.length(out.x) > world.limits.escape_radius:
            out.outcome = _ESCAPED
        elif h >= before.until - before.t and before.until >= world.limits.max_time:
            out.outcome = _TIMED_OUT
        return out

    return FlightBounds(onward, rejected, flown)

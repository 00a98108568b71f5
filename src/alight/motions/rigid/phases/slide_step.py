"""Sliding: one step along the ground, to a stop, or off it again.

Place and velocity are integrated together with what the ground gives (see
``contact.sliding.kernel``) by RK5(4), in Cartesian coordinates of the target: no chart, so no
poles. After each step the place is put back on the surface and the velocity into its tangent plane.
The rate of the last component is the support N itself, so every step knows N at its ends and, by
the integral, in between: a step over N = 0 is cut there. Towards a stop, steps take half of the
time left, until what is left is known in closed form to within the tolerance.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.sliding.kernel import (
    Halt,
    SupportForce,
    carried,
    creeping,
    downhill,
    halt,
    local_sliding,
)
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
from alight.motions.rigid.state import FLIGHT, Limits, Memory, Run

_SETTLED = wp.constant(int(Outcome.SETTLED))
_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_STEP_FLOOR = wp.constant(int(Outcome.STEP_FLOOR))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: Support [shares of the pull] that counts as none.
_NONE = wp.constant(scalar(1e-11))
#: Way of one step [radii of curvature], on the ground and where the point leaves it.
_WAY = wp.constant(scalar(0.25))
_START = wp.constant(scalar(0.05))
#: How often a start is tried, each time over a quarter of the time, before the ground goes on.
_TRIES = wp.constant(6)
_NO_LIMIT = wp.constant(scalar(1e30))

#: Place, velocity, the velocity that the ground gave [m/s], and its part along the normal.
vec10 = wp.types.vector(length=10, dtype=scalar)


@wp.func
def first_zero(start: scalar, middle: scalar, end: scalar):
    """Where a parabola through three values is first 0, from 0 to 1; 2 where it is not."""
    none = scalar(2.0)
    c = scalar(2.0) * (start - scalar(2.0) * middle + end)
    b = end - start - c
    square = b * b - scalar(4.0) * c * start
    if square < scalar(0.0):
        return none
    root = wp.sqrt(square)
    q = scalar(-0.5) * (b + wp.where(b < scalar(0.0), -root, root))
    first = none
    if q != scalar(0.0) and start / q > scalar(0.0):
        first = start / q
    if c != scalar(0.0) and q / c > scalar(0.0):
        first = wp.min(first, q / c)
    return wp.where(first <= scalar(1.0), first, none)


@wp.func
def let_go(start: scalar, mean: scalar, end: scalar, none: scalar):
    """The share of a step after which the support falls to 0; 2 where it does not.

    Given its values at both ends and the mean over the step; ``none`` is what counts as 0.
    """
    middle = scalar(1.5) * mean - scalar(0.25) * (start + end)
    if wp.min(middle, end) >= -none or wp.abs(end) <= none:
        return scalar(2.0)
    return first_zero(start, middle, end)


@wp.func
def enter(run: Run, memory: Memory, slot: int, n: vec3, gave: vec3, weight: scalar, mass: scalar):
    """Enter in the record what the ground gave, up to the time and velocity of ``run``.

    ``gave`` and its normal part ``weight`` are velocities [m/s].
    """
    closing = wp.dot(n, run.v)
    memory.notes[slot].touch.end = run.t
    memory.notes[slot].touch.normal_speed_out = closing
    memory.notes[slot].touch.tangential_speed_out = wp.length(run.v - closing * n)
    memory.notes[slot].touch.impulse += mass * gave
    memory.notes[slot].touch.normal_impulse += mass * weight
    peak = wp.max(memory.notes[slot].touch.peak_force, run.force)
    memory.notes[slot].touch.peak_force = peak
    memory.notes[slot].touch.points = 1


@functools.cache
def law_function(parts: Composition) -> Any:
    """The function ``(world, memory, slot, x) -> SlidingData`` of a run at a place."""
    World, ground_at = parts.World, parts.laws.ground_at
    if ground_at is None:

        @wp.func
        def same_everywhere(world: World, memory: Memory, slot: int, x: vec3):
            return world.contact[memory.notes[slot].row]

        return same_everywhere

    @wp.func
    def as_of_the_place(world: World, memory: Memory, slot: int, x: vec3):
        row = memory.notes[slot].row
        return local_sliding(world.contact[row], ground_at(world.ground, row, x))

    return as_of_the_place


@functools.cache
def slide_function(parts: Composition, bend: Any) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one step on the ground."""
    World, laws = parts.World, parts.laws
    pull, anchor, spin = parts.pull, parts.anchor, laws.spin
    field, surface_point, law_at = laws.gravity_field, laws.surface_point, law_function(parts)

    @wp.struct
    class Moving:
        world: World
        memory: Memory
        slot: int
        held: scalar  # 0 where the ground has let go
        creeps: bool  # it goes the way it is pulled
        until: scalar  # what switches then has not switched yet

    @wp.func
    def rates(v: vec3, free: vec3, push: SupportForce, held: scalar):
        """Rates of change of the ten components."""
        gave = held * (push.support * push.normal + push.friction)
        a = free + gave
        weight = held * push.support
        return vec10(v[0], v[1], v[2], a[0], a[1], a[2], gave[0], gave[1], gave[2], weight)

    @wp.func
    def slope_of(data: Moving, t: scalar, y: vec10):
        x = vec3(y[0], y[1], y[2])
        v = vec3(y[3], y[4], y[5])
        when = t
        if wp.static(laws.next is not None):
            when = before(t, data.until)
        free = pull(data.world, data.memory, data.slot, when, x, v)
        push = SupportForce()
        if data.held > scalar(0.0):
            law = law_at(data.world, data.memory, data.slot, x)
            push = carried(bend(data.world.surface, x), v, free, law.friction, data.creeps)
        return rates(v, free, push, data.held)

    step = step_function(RK54, slope_of, vec10, Moving)
    norm = error_norm_function(vec10)

    @wp.func
    def error_of(
        limits: Limits,
        run: Run,
        memory: Memory,
        slot: int,
        g: scalar,
        h: scalar,
        y: vec10,
        new: vec10,
        off: vec10,
    ):
        """Error of a step over the error allowed; what the ground gave follows from the rest.

        Towards a stop, where the speed vanishes, errors count against the speed of the start.
        """
        speed = wp.length(run.v) + g * h
        speed = wp.max(speed, memory.notes[slot].touch.tangential_speed_in)
        place = limits.rtol * wp.max(wp.length(run.x), speed * h)
        pace = limits.rtol * speed
        any_ = _NO_LIMIT
        allowed = vec10(place, place, place, pace, pace, pace, any_, any_, any_, any_)
        return norm(y, new, off, scalar(0.0), allowed)

    @wp.func
    def put_back(world: World, x: vec3):
        """``x`` on the surface: Newton's step, from a place that is off by an error of a step."""
        at = surface_point(world.surface, x)
        return x - (at.distance / wp.dot(at.gradient, at.gradient)) * at.gradient

    @wp.func
    def leave(world: World, run: Run, memory: Memory, slot: int):
        """Gravity where the contact ends: its account needs the potential there."""
        if not wp.static(laws.linearised):
            memory.notes[slot].anchor = field(world.gravity, run.x)
            memory.notes[slot].anchor_x = run.x

    @wp.func
    def sure(world: World, run: Run, push: SupportForce, friction: scalar, end: Halt, g: scalar):
        """True where pull and support change too little before the stop to matter."""
        s = wp.length(run.v)
        d = s * end.time
        far = wp.length(run.x)
        now = spin(world.rotation, run.t)
        # Ground that bends, gravity that varies, and the forces of bends and of Coriolis.
        change = g * d * (push.bend + scalar(3.0) / (far + d))
        change += s * (s * push.bend + scalar(2.0) * wp.length(now.rate))
        slowing = s / end.time
        share = change * (scalar(1.0) + friction) / slowing
        allowed = scalar(0.1) * world.limits.rtol
        late = share * end.time <= allowed * (run.t - run.hit + end.time)
        return late and share * d <= allowed * (far + d)

    @wp.func
    def lost(
        limits: Limits, run: Run, memory: Memory, slot: int, push: SupportForce, friction: scalar
    ):
        """True where what is left of the velocity is within the error of the slide.

        Not of a point that has begun to go the way it is pulled.
        """
        s = wp.length(run.v)
        if s == scalar(0.0) or friction == scalar(0.0):
            return bool(False)
        if s > limits.rtol * memory.notes[slot].touch.tangential_speed_in:
            return bool(False)
        down = wp.length(push.along)
        turning = wp.dot(run.v, push.along) < scalar(0.9999) * s * down
        return turning or friction * push.support >= down

    @wp.func
    def stopped(
        world: World, run: Run, memory: Memory, slot: int, push: SupportForce, free: vec3, end: Halt
    ):
        """``run`` where and when it has stopped."""
        out = run
        out.t += end.time
        out.x = put_back(world, run.x + end.shift)
        out.v = vec3()
        out.dt = scalar(0.0)
        out.path += wp.length(end.shift)
        out.force = world.body.mass * push.support
        gave = -run.v - end.time * free
        enter(out, memory, slot, push.normal, gave, end.time * push.support, world.body.mass)
        return out

    @wp.func
    def rest(world: World, run: Run, memory: Memory, slot: int):
        """``run`` at rest for good: static friction holds it."""
        out = run
        out.w = vec3()
        out.outcome = _SETTLED
        leave(world, out, memory, slot)
        return out

    @wp.func
    def stride(world: World, run: Run, push: SupportForce, end: Halt, g: scalar, gone: bool):
        """The step to try [s]."""
        limits = world.limits
        s = wp.length(run.v)
        bent = wp.max(push.bend, scalar(1e-25))
        left = run.until - run.t
        if gone:
            quarter = wp.pow(scalar(0.25), scalar(run.still))
            return wp.min(left, quarter * time_to_travel(_START / bent, s, g))
        pace = wp.length(push.along) + wp.length(push.friction)
        h = wp.min(limits.max_step, time_to_travel(_WAY / bent, s, pace))
        h = wp.where(run.dt > scalar(0.0), wp.min(h, run.dt), scalar(0.1) * h)
        if wp.static(laws.linearised):
            h = wp.min(h, time_to_travel(world.reach, s, pace))
        drag = wp.length(push.friction)
        if s > scalar(0.0) and not downhill(push, run.v) and drag * h > scalar(2.0) * s:
            h = scalar(2.0) * s / drag  # the time in which friction turns it downhill
        return wp.min(wp.min(h, left), scalar(0.5) * end.time)

    @wp.func
    def started(world: World, run: Run, memory: Memory, slot: int, h: scalar, x: vec3, v: vec3):
        """``run`` in flight if it came clear of the ground in ``h`` [s], else as it was."""
        out = run
        middle = scalar(0.5) * (run.x + x) + scalar(0.125) * h * (run.v - v)
        half_way = surface_point(world.surface, middle)
        at = surface_point(world.surface, x)
        rises = wp.dot(at.gradient, v) > scalar(0.0)
        if not (half_way.distance > scalar(0.0) and at.distance > scalar(0.0) and rises):
            out.still += 1
            return out
        out.path += path_length(run.v, v, h)
        out.t = after(run.t, h, run.until, world.limits.max_time)
        out.x = x
        out.v = v
        out.still = 0
        out.force = scalar(0.0)
        out.phase = FLIGHT
        out.h = world.limits.max_step
        leave(world, out, memory, slot)
        return out

    @wp.func
    def moved(world: World, run: Run, memory: Memory, slot: int, h: scalar, y: vec10, last: scalar):
        """``run`` after a step that is kept: on the surface, its velocity along it."""
        out = run
        left = run.until - run.t
        out.t = after(run.t, h, run.until, world.limits.max_time)
        out.x = put_back(world, vec3(y[0], y[1], y[2]))
        at = surface_point(world.surface, out.x)
        v = vec3(y[3], y[4], y[5])
        out.v = v - wp.dot(at.normal, v) * at.normal
        out.path += path_length(run.v, out.v, h)
        out.still = 0
        out.force = world.body.mass * last
        gave = vec3(y[6], y[7], y[8])
        enter(out, memory, slot, at.normal, gave, y[9], world.body.mass)
        if h >= left and run.until >= world.limits.max_time:
            out.outcome = _TIMED_OUT
            leave(world, out, memory, slot)
        return out

    @wp.func
    def slide(world: World, run: Run, memory: Memory, slot: int):
        """One step: tried and not kept, along the ground, to a stop, or off it."""
        limits = world.limits
        out = run
        if wp.static(laws.linearised):
            anchor(world, out, memory, slot)
        free = pull(world, memory, slot, run.t, run.x, run.v)
        law = law_at(world, memory, slot, run.x)
        push = carried(bend(world.surface, run.x), run.v, free, law.friction, bool(False))
        g = wp.length(free)
        if not g + wp.abs(push.support) < scalar(1e100):
            out.outcome = _NOT_FINITE
            return out
        still = wp.dot(run.v, run.v) == scalar(0.0)
        gone = push.support <= _NONE * g and run.still < _TRIES
        left = run.until - run.t
        end = Halt()
        end.time = _NO_LIMIT
        if not gone:
            if still and wp.length(push.along) <= law.static_friction * push.support:
                return rest(world, out, memory, slot)
            if lost(limits, run, memory, slot, push, law.friction):
                out.v = vec3()
                out.dt = scalar(0.0)
                return out
            end = halt(push, run.v, law.friction)
            if end.time < left and sure(world, run, push, law.friction, end, g):
                return stopped(world, out, memory, slot, push, free, end)
        moving = Moving()
        moving.world = world
        moving.memory = memory
        moving.slot = slot
        moving.until = run.until
        moving.held = wp.where(gone, scalar(0.0), scalar(1.0))
        bent = push.bend + scalar(1.0) / wp.length(run.x)
        moving.creeps = creeping(push, run.v, law.friction, bent, limits.rtol)
        h = stride(world, run, push, end, g, gone)
        zero = scalar(0.0)
        x = run.x
        v = run.v
        y = vec10(x[0], x[1], x[2], v[0], v[1], v[2], zero, zero, zero, zero)
        taken = step(moving, run.t, y, rates(v, free, push, moving.held), h)
        error = error_of(limits, run, memory, slot, g, h, y, taken.y, taken.error)
        suggested = next_step(h, error, 4, scalar(5.0))
        if gone:
            if not accepted(error):
                out.still += 1
                return out
            x = vec3(taken.y[0], taken.y[1], taken.y[2])
            v = vec3(taken.y[3], taken.y[4], taken.y[5])
            return started(world, out, memory, slot, h, x, v)
        if not accepted(error):
            out.dt = suggested
            if suggested < limits.min_step and not suggested > scalar(1e-3) * end.time:
                out.outcome = _STEP_FLOOR
            return out
        last = taken.slope[9]
        cut = let_go(push.support, taken.y[9] / h, last, _NONE * g)
        if cut < scalar(1.0):
            out.dt = cut * h
            return out
        out.dt = wp.max(suggested, wp.min(run.dt, scalar(5.0) * suggested))
        return moved(world, out, memory, slot, h, taken.y, last)

    return slide

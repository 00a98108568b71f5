"""The contact phase: leapfrog steps with clipped impulses, down to exact rest."""

import functools
from typing import Any

import warp as wp

from alight.contact.compliant.clipped_springs import Motion, normal_pass, tangent_reach
from alight.contact.friction import held_by_ground, warm_pull
from alight.contact.state import Grip, Pressed
from alight.core.outcomes import Outcome
from alight.core.types import mat33, quat, scalar, vec3
from alight.core.vectors import over, unit
from alight.engine.clock import after, fit
from alight.motions.rigid.composition import Composition, Scheme
from alight.motions.rigid.contact_notes import begin_touch, grazed, met, note_push
from alight.motions.rigid.phases.free_motion import (
    outer_pull_function,
    pushed_function,
    turned_by,
)
from alight.motions.rigid.phases.stiffness import (
    GENTLE_SPEED,
    adjust,
    contact_step,
    hit_over,
    hit_stiffness,
    kind_of,
    outlast,
    step_of,
    wanted_stiffness,
)
from alight.motions.rigid.state import FLIGHT, Limits, Memory, Run

_SETTLED = wp.constant(int(Outcome.SETTLED))
_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: What is kept from step to step of loads and speeds that are no longer there.
_MEMORY = wp.constant(scalar(0.98))
#: Steps without motion after which a lander is at rest, and what counts as none: what this share of
#: gravity would add in all of them. So any that starts to move faster than that is seen to.
STILL_STEPS = wp.constant(20)
_STILL = wp.constant(scalar(5e-5))
_GENTLE_SPEED = wp.constant(scalar(GENTLE_SPEED))


@wp.func
def stays(run: Run, memory: Memory, slot: int, size: scalar, little: scalar):
    """True when no point has moved by more than ``little`` [m] since the watch began."""
    turned = wp.quat_inverse(memory.notes[slot].watch_q) * run.q
    angle = scalar(2.0) * wp.length(vec3(turned[0], turned[1], turned[2]))
    return wp.length(run.x - memory.notes[slot].watch_x) + angle * size < little


@wp.func
def watch(run: Run, memory: Memory, slot: int):
    """Begin the watch on the lander's place anew."""
    memory.notes[slot].watch_t = run.t
    memory.notes[slot].watch_x = run.x
    memory.notes[slot].watch_q = run.q


@wp.func
def judged(
    limits: Limits,
    size: scalar,
    run: Run,
    memory: Memory,
    slot: int,
    sums: Pressed,
    g: scalar,
    dt: scalar,
    little: scalar,
    still_steps: int,
):
    """``run`` at the end of a step: at rest, in flight again, or in contact still.

    At rest is what does not move at all for ``still_steps``, what moves more slowly than the limits
    for a time, or what for longer has stayed within ``little`` [m] of its place.
    """
    out = run
    speed = wp.length(run.v)
    rate = wp.length(run.w)
    if sums.weight > scalar(0.0):
        if speed + rate * size < _STILL * scalar(still_steps) * g * dt:
            out.still += 1
        else:
            out.still = 0
    if speed < limits.settle_speed and rate < limits.settle_rate:
        out.quiet += dt
    else:
        out.quiet = scalar(0.0)
    # A lander on the brink starts to topple no faster than this: look long enough.
    patience = wp.max(limits.settle_time, scalar(3.0) * wp.sqrt(size / g))
    stayed = bool(False)
    if run.t - memory.notes[slot].watch_t > scalar(2.0) * patience:
        stayed = stays(run, memory, slot, size, little)
        watch(run, memory, slot)
    if not speed + rate < scalar(1e100):
        out.outcome = _NOT_FINITE
    elif out.still >= still_steps or out.quiet >= patience or stayed:
        out.v = vec3()
        out.w = vec3()
        out.outcome = _SETTLED
    elif run.t >= limits.max_time:
        out.outcome = _TIMED_OUT
    elif sums.active == 0 and sums.waiting == 0:
        out.phase = FLIGHT
        out.elastic = scalar(0.0)
        out.h = scalar(100.0) * dt
    return out


@functools.cache
def arrive_clipped(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot, closing, g) -> run`` that sets the springs."""
    World, contact_of = parts.World, parts.contact_of

    @wp.func
    def arrive(world: World, run: Run, memory: Memory, slot: int, closing: scalar, g: scalar):
        out = run
        body = world.body
        contact = contact_of(world, run, memory, slot, run.x)
        fast = wp.length(run.v) + wp.length(run.w) * body.bounding_radius
        wanted = wanted_stiffness(contact, body.mass, fast, g)
        out.stiffness = wp.max(wanted, hit_stiffness(contact, body.mass, closing, g))
        out.lasting = 0
        if contact.stiffness > scalar(0.0) or fast < _GENTLE_SPEED:
            # Springs as given; or the lander is put down, not dropped: no hit.
            out.stiffness = wanted
            out.lasting = 1
        out.dt = contact_step(contact, out.stiffness, scalar(1.0) / world.lightest)
        out.load = scalar(0.0)
        out.pace = closing
        out.turning = scalar(1e30)
        watch(out, memory, slot)
        return out

    return arrive


@functools.cache
def points_near(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot, x, q, R, margin) -> count`` of near points.

    They are left in ``memory.found``.
    """
    World, laws = parts.World, parts.laws
    look_up, _ = normal_pass(laws.surface_point, laws.surface_data)

    @wp.func
    def near(
        world: World,
        run: Run,
        memory: Memory,
        slot: int,
        x: vec3,
        q: quat,
        R: mat33,
        margin: scalar,
    ):
        reach = tangent_reach(world.contact[memory.notes[slot].row], world.curvature)
        return look_up(
            world.body, world.surface, world.slope, memory.points, memory.found, slot, run.travel,
            margin, reach, x, R,
        )  # fmt: skip

    return near


@functools.cache
def press_clipped(parts: Composition, find: Any = points_near) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one step in contact.

    ``find(parts)`` finds what is near the ground; see ``points_near``.
    """
    World, laws = parts.World, parts.laws
    anchor, frame_pull = parts.anchor, parts.frame_pull
    outer_pull, contact_of = outer_pull_function(parts), parts.contact_of
    _, push_all = normal_pass(laws.surface_point, laws.surface_data)
    near_ground, driven_by = find(parts), pushed_function(parts)
    drives = laws.drive is not None

    @wp.func
    def press(world: World, run: Run, memory: Memory, slot: int):
        """One step: half a drift, pulls and pushes, half a drift."""
        body = world.body
        size = body.bounding_radius
        anchor(world, run, memory, slot)
        out = run
        out.steps += 1
        contact = contact_of(world, out, memory, slot, out.x)
        fast = wp.length(out.v) + wp.length(out.w) * size
        gravity = memory.notes[slot].anchor.acceleration
        g = wp.length(frame_pull(world, out.t, out.x, vec3(), gravity))
        if out.lasting != 0:
            out = adjust(body, out, contact, fast, g)
        elif out.touching != 0 and hit_over(contact, body.mass, out.stiffness, out.t - out.hit):
            out = outlast(body, out, contact, fast, g)
        kind = kind_of(out, contact, fast)
        dt = step_of(out, contact, world.lightest, world.curvature, fast)
        dt = fit(dt, out.t, run.until, world.limits.max_time)
        half = scalar(0.5) * dt
        x = out.x + half * out.v
        q = turned_by(out.q, out.w, half)
        out.travel += fast * half
        R = wp.quat_to_matrix(q)
        margin = scalar(2.0) * (fast + g * dt) * dt
        if wp.static(drives):
            margin += scalar(2.0) * driven_by(world) * dt * dt
        near = near_ground(world, out, memory, slot, x, q, R, margin)
        inverse = R * body.inverse_inertia * wp.transpose(R)
        outer = outer_pull(world, out, memory, slot, x, q, R, dt)
        # The grip of the last step is taken to go on, so that the springs feel it.
        warm = warm_pull(body, inverse, out.grip, dt)
        pull = Motion()
        pull.v = outer.v + warm.v
        pull.w = outer.w + warm.w
        start = Motion()
        start.v = out.v
        start.w = R * out.w
        pushed = push_all(
            contact, out.stiffness, kind, out.load, body, memory.found, near, slot, inverse,
            start, pull, dt,
        )  # fmt: skip
        sums = pushed.pressed
        m = pushed.motion
        # A load that forgets slowly: steps that change with every point that comes and goes keep a
        # lander shivering.
        out.load = wp.max(sums.stiffness, _MEMORY * out.load)
        out.pace = wp.max(sums.pace, _MEMORY * out.pace)
        out.elastic = sums.elastic
        out.force = scalar(0.0)
        if sums.weight > scalar(0.0):
            n = unit(sums.impulse)
            lever = over(sums.lever, sums.weight)
            if out.touching == 0:
                out = begin_touch(out, memory, slot, x + lever, n, lever, start)
            elif grazed(memory.notes[slot].touch, n, lever, start):
                touch = memory.notes[slot].touch
                memory.notes[slot].touch = met(touch, x + lever, n, lever, start)
            held = held_by_ground(contact, body, R, inverse, n, lever, sums, start, m, out.grip, dt)
            m = held.motion
            out.grip = held.grip
            impulse = body.mass * (m.v - run.v - outer.v)
            weight = wp.length(sums.impulse)
            out = note_push(out, memory, slot, n, lever, start, m, weight, impulse, sums, dt)
        else:
            # Nothing touched: the grip that was assumed is taken back.
            m.v = m.v - warm.v
            m.w = m.w - warm.w
            out.grip = Grip()
        out.v = m.v
        out.w = wp.transpose(R) * m.w
        out.x = x + half * out.v
        out.q = turned_by(q, out.w, half)
        out.t = after(out.t, dt, run.until, world.limits.max_time)
        out.dt = dt
        out.travel += (wp.length(out.v) + wp.length(out.w) * size) * half
        out.path += wp.length(out.v) * dt
        little = scalar(0.1) * contact.depth
        return judged(world.limits, size, out, memory, slot, sums, g, dt, little, STILL_STEPS)

    return press


#: Impulses at the middle of leapfrog steps, each clipped so that it only takes energy out.
CLIPPED = Scheme("clipped", arrive_clipped, press_clipped, hits=True)

"""The contact phase of a rigid lander: instantaneous hits, then steps in sustained contact.

Flight ends where a gap has closed. All contacts there are hit (``contact.impulse.contact_solver``),
and if every one of them opens fast enough to rise by ``hop``, the lander flies again. Else contact
continues, in leapfrog steps: half a drift, pulls and the impulses that hold, half a drift. Contacts
that come from above are not held: a step ends where the next of them touches, and it is hit there,
between two steps (``contact.impulse.awaited_hits``). So a lander rocks, slides and rolls down to
exact rest, and the endless sequence of ever smaller bounces has an end.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.hull.supported_surfaces import (
    clear_function,
    depth_function,
    hull_functions,
    is_ball,
)
from alight.contact.impulse.awaited_hits import await_hits, next_touch, touch_after_hits
from alight.contact.impulse.contact_solver import (
    SWEEPS,
    SWEEPS_OF_A_HIT,
    HeldContact,
    Strike,
    hold,
    recall,
    strike,
)
from alight.contact.state import CompliantData, Pressed
from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.engine.clock import after, fit
from alight.motions.rigid.composition import Composition, Scheme
from alight.motions.rigid.contact_notes import begin_touch, note_push
from alight.motions.rigid.phases.clipped import judged, watch
from alight.motions.rigid.phases.free_motion import (
    outer_pull_function,
    pushed_function,
    turned_by,
)
from alight.motions.rigid.phases.impulse_gaps import ball_gaps, hull_gaps, point_gaps
from alight.motions.rigid.phases.impulse_steps import (
    ROUNDING,
    SHORTEST,
    SLOWEST,
    closeness,
    leaving_speed,
    longest,
    reach,
    stride,
)
from alight.motions.rigid.state import FLIGHT, Memory, Run
from alight.surfaces import Surface
from alight.vehicles import RigidLander

_RUNNING = wp.constant(int(Outcome.RUNNING))
_SANK = wp.constant(int(Outcome.SANK))

#: Gaps [shares of the lander's radius] that count as closed at a hit, and at which flight ends; the
#: second also no less than this share of the distance from the origin, which is rounding.
_TOUCH = wp.constant(scalar(1e-6))
_END = wp.constant(scalar(1e-13))
_ROUNDING = wp.constant(scalar(ROUNDING))
_SHORTEST = wp.constant(scalar(SHORTEST))
_SLOWEST = wp.constant(scalar(SLOWEST))
#: Of the speed of a hop, what the rounding of gaps may give in a step.
_THROWN = wp.constant(scalar(1e-3))
_LOOKS = wp.constant(5)
#: Steps without motion after which a lander is at rest. Nothing swings as springs do, and steps are
#: some times longer: fewer are enough, and the time of rest is that of compliant contact.
_STILL_STEPS = wp.constant(5)
#: A time that does not come [s]: nothing is awaited.
_NEVER = wp.constant(scalar(1e30))


@functools.cache
def arrive_rigid(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot, closing, g) -> run``: the shortest flight step."""
    World = parts.World

    @wp.func
    def arrive(world: World, run: Run, memory: Memory, slot: int, closing: scalar, g: scalar):
        out = run
        size = world.body.bounding_radius
        gap = wp.max(_END * size, _ROUNDING * wp.length(run.x))
        fast = wp.length(run.v) + wp.length(run.w) * size
        out.dt = gap / (fast + wp.sqrt(g * gap))
        out.lasting = 0
        out.turning = _NEVER
        watch(out, memory, slot)
        return out

    return arrive


@functools.cache
def press_rigid(parts: Composition, gaps: Any, depth: Any, hull: bool) -> tuple[Any, Any, Any]:
    """Functions ``(world, run, memory, slot) -> run``: a hit, a step in contact, and either."""
    # Between points the ground may rise into a lander: it is lost when all of them are below.
    lost = scalar(0.0 if hull else 1.0)
    World = parts.World
    anchor, frame_pull, contact_of = parts.anchor, parts.frame_pull, parts.contact_of
    outer_pull, pushed = outer_pull_function(parts), pushed_function(parts)
    drives = parts.laws.drive is not None
    drive = parts.laws.drive
    locks = drive is not None and drive.instant
    find, _ = gaps(parts)

    @wp.func
    def noted(
        world: World,
        run: Run,
        memory: Memory,
        slot: int,
        x: vec3,
        n: vec3,
        lever: vec3,
        start: Motion,
        end: Motion,
        weight: scalar,
        impulse: vec3,
        sums: Pressed,
        dt: scalar,
    ):
        """``run`` with a push of the ground entered in its record; hits have no force."""
        out = run
        if out.touching == 0:
            out = begin_touch(out, memory, slot, x + lever, n, lever, start)
        brief = wp.max(dt, scalar(1e-300))
        peak = memory.notes[slot].touch.peak_force
        out = note_push(out, memory, slot, n, lever, start, end, weight, impulse, sums, brief)
        out.grip.lever = lever
        if dt == scalar(0.0):
            out.force = scalar(0.0)
            memory.notes[slot].touch.peak_force = peak
        return out

    @wp.func
    def forget(memory: Memory, slot: int):
        """Nothing held before."""
        for k in range(memory.before.shape[0]):
            nothing = HeldContact()
            nothing.kind = -1
            memory.before[k, slot] = nothing

    @wp.func
    def met(
        world: World, run: Run, memory: Memory, slot: int, start: Motion, hit: Strike, active: int
    ):
        """``run`` after hits."""
        out = run
        out.v = hit.motion.v
        out.w = wp.quat_rotate_inv(run.q, hit.motion.w)
        if hit.hits > 0:
            sums = Pressed()
            sums.active = active
            out = noted(
                world, out, memory, slot, run.x, hit.normal, hit.lever, start, hit.motion,
                hit.weight, hit.impulse, sums, scalar(0.0),
            )  # fmt: skip
        return out

    @wp.func
    def after_flight(
        world: World,
        run: Run,
        memory: Memory,
        slot: int,
        contact: CompliantData,
        pull: vec3,
        hit: Strike,
    ):
        """``run`` after the hits that end a flight: in flight again, or in contact that goes on."""
        out = run
        out.quiet = scalar(0.0)
        # Where nothing was hit, a step in contact makes sure that time goes on.
        if hit.hits > 0 and hit.least > leaving_speed(contact.depth, wp.length(pull)):
            out.phase = FLIGHT
            out.h = world.limits.max_step  # steps on the way down say nothing about the way up
        else:
            out.lasting = 1
            out.dt = scalar(0.0)
            out.turning = _NEVER
            out.grip.rolling = vec3()
            forget(memory, slot)
        return out

    @wp.func
    def collide(
        world: World, run: Run, memory: Memory, slot: int, contact: CompliantData, pull: vec3
    ):
        """``run`` after the hits of this instant: those that end a flight, or a step in contact.

        The two differ in what they look at and in what follows. Contacts are found, and hit, at one
        place in the code, as that is most of what there is to compile.
        """
        body = world.body
        size = body.bounding_radius
        g = wp.length(pull)
        R = wp.quat_to_matrix(run.q)
        inverse = R * body.inverse_inertia * wp.transpose(R)
        start = Motion()
        start.v = run.v
        start.w = R * run.w
        ends_flight = not run.turning < _NEVER
        # Contact that went on may have left a gap a little below 0: look farther until it is found.
        looks = _LOOKS
        near = scalar(1e300)
        slow = scalar(0.0)
        margin = wp.max(_TOUCH * size, scalar(10.0) * _ROUNDING * wp.length(run.x))
        if not ends_flight:
            looks = 1
            fast = wp.length(run.v) + wp.length(run.w) * size
            near = closeness(contact, run.x)
            slow = leaving_speed(contact.depth, g)
            margin = reach(fast, g, run.dt, size)
        least = _SLOWEST * slow
        count = int(0)
        hit = Strike()
        while hit.hits == 0 and looks > 0:
            count = find(world, run, memory, slot, run.x, run.q, margin)
            hit = strike(
                contact, body, inverse, run.x, start, memory.contacts, count, slot, near,
                least, slow,
            )  # fmt: skip
            margin = scalar(10.0) * margin
            looks -= 1
        active = int(0)
        for k in range(count):
            if memory.contacts[k, slot].gap <= near:
                active += 1
        out = met(world, run, memory, slot, start, hit, active)
        if ends_flight:
            return after_flight(world, out, memory, slot, contact, pull, hit)
        out.lasting = 1
        out.turning = touch_after_hits(
            memory.contacts, count, slot, run.x, hit.motion, pull, near, least
        )
        return out

    @wp.func
    def go_on(
        world: World, run: Run, memory: Memory, slot: int, contact: CompliantData, pull: vec3
    ):
        """``run`` after a step in contact."""
        body = world.body
        size = body.bounding_radius
        g = wp.length(pull)
        out = run
        fast = wp.length(run.v) + wp.length(run.w) * size
        most = longest(contact, size, fast, g)
        dt = stride(run, most)
        dt = fit(dt, run.t, run.until, world.limits.max_time)
        half = scalar(0.5) * dt
        x = run.x + half * run.v
        q = turned_by(run.q, run.w, half)
        out.travel += fast * half
        R = wp.quat_to_matrix(q)
        inverse = R * body.inverse_inertia * wp.transpose(R)
        outer = outer_pull(world, run, memory, slot, x, q, R, dt)
        start = Motion()
        start.v = run.v
        start.w = R * run.w
        m = Motion()
        m.v = start.v + outer.v
        m.w = start.w + outer.w
        # What pulls and actuators press into the ground within a step is held: it is no hit.
        load = g
        if wp.static(drives):
            load += pushed(world)
        count = find(world, out, memory, slot, x, q, reach(fast, load, dt, size))
        slow = leaving_speed(contact.depth, g)
        least = _SLOWEST * slow
        share = scalar(0.0)
        if run.dt > scalar(0.0):
            share = dt / run.dt
        recall(memory.contacts, memory.before, memory.held, count, slot, share)
        await_hits(memory.contacts, memory.held, count, slot, x, start, g, least)
        sweeps = SWEEPS
        # Gaps are known to rounding: over a sliver of a step, up to where something switches, they
        # would throw the lander.
        rounding = _ROUNDING * wp.length(x) / (_THROWN * slow)
        soon = wp.max(dt, wp.min(rounding, _SHORTEST * most))
        if wp.static(locks):  # noqa: SIM102
            if wp.length(world.drive.jerk) > scalar(0.0):
                sweeps = SWEEPS_OF_A_HIT
                soon = most
        done = hold(
            contact, body, inverse, x, m, memory.contacts, memory.held, count, slot,
            dt, soon, share * run.grip.rolling, slow, sweeps,
        )  # fmt: skip
        sums = done.pressed
        m = done.motion
        coming = next_touch(
            memory.contacts, memory.held, count, slot, x, start, m, dt, closeness(contact, run.x),
            least,
        )  # fmt: skip
        if coming.missed < dt and dt > scalar(1.5) * _SHORTEST * most:
            # Something touched on the way: the step is taken again, up to there.
            out.travel += fast * half
            out.turning = coming.missed
            return out
        out.grip.rolling = done.torque
        if sums.weight > scalar(0.0):
            out = noted(
                world, out, memory, slot, x, done.normal, done.lever, start, m, sums.weight,
                done.impulse, sums, dt,
            )  # fmt: skip
        forget(memory, slot)
        for k in range(count):
            memory.before[k, slot] = memory.held[k, slot]
        out.turning = coming.time
        out.lasting = 1 - coming.due
        out.v = m.v
        out.w = wp.transpose(R) * m.w
        out.x = x + half * out.v
        out.q = turned_by(q, out.w, half)
        out.t = after(out.t, dt, run.until, world.limits.max_time)
        out.dt = dt
        out.travel += (wp.length(out.v) + wp.length(out.w) * size) * half
        out.path += wp.length(out.v) * dt
        if coming.due > 0:
            sums.waiting = 1
        out = judged(
            world.limits, size, out, memory, slot, sums, g, dt, scalar(0.1) * contact.depth,
            _STILL_STEPS,
        )  # fmt: skip
        if out.phase == FLIGHT and out.outcome == _RUNNING:
            below = depth(world.surface, out.x)
            if below.distance < -wp.static(lost) * size:
                out.outcome = _SANK
        return out

    def stepped(phase: Any) -> Any:
        """``phase`` with the law and the pull [m/s^2] of the place."""

        @wp.func
        def step(world: World, run: Run, memory: Memory, slot: int):
            anchor(world, run, memory, slot)
            out = run
            out.steps += 1
            # Hits are of the place where they are, not of where the contact began.
            here = out
            here.lasting = 1
            contact = contact_of(world, here, memory, slot, out.x)
            gravity = memory.notes[slot].anchor.acceleration
            pull = frame_pull(world, out.t, out.x, vec3(), gravity)
            return phase(world, out, memory, slot, contact, pull)

        return step

    @wp.func
    def either(
        world: World, run: Run, memory: Memory, slot: int, contact: CompliantData, pull: vec3
    ):
        if run.lasting == 0:
            return collide(world, run, memory, slot, contact, pull)
        return go_on(world, run, memory, slot, contact, pull)

    return stepped(collide), stepped(go_on), stepped(either)


@functools.cache
def _scheme(name: str, gaps: Any, depth: Any, hull: bool) -> Scheme:
    def press(parts: Composition) -> Any:
        return press_rigid(parts, gaps, depth, hull)[2]

    def presses(parts: Composition) -> Any:
        return press_rigid(parts, gaps, depth, hull)[:2]

    def clearance(parts: Composition) -> Any:
        return gaps(parts)[1]

    return Scheme(
        name, arrive_rigid, press, presses, hits=True, clearance=clearance, rigid=True, hull=hull
    )


@functools.cache
def _gaps(kind: Any, contacts: Any, clear: Any) -> Any:
    return functools.partial(kind, contacts=contacts, clear=clear)


def impulse_scheme(surface: Surface, lander: RigidLander) -> Scheme:
    """The scheme of rigid contact: on facets of the hull, or of a ball; elsewhere of points."""
    functions = hull_functions(surface)
    if functions is None:
        return _scheme("impulse", point_gaps, surface.point, False)
    ball = is_ball(lander)
    gaps = _gaps(ball_gaps if ball else hull_gaps, functions[1], clear_function(surface, ball))
    name = "impulse of a ball on facets" if ball else "impulse on facets"
    return _scheme(name, gaps, depth_function(surface), True)

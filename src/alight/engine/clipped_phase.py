"""The contact phase: leapfrog steps with clipped impulses, down to exact rest."""

import functools
from typing import Any

import warp as wp

from alight.contact.clipped import (
    GENTLE,
    HIT,
    LASTING,
    Motion,
    hold,
    normal_pass,
    resist_sliding,
    resist_turning,
    sideways,
    warm_pull,
)
from alight.contact.state import CompliantData, Grip
from alight.core.outcomes import Outcome
from alight.core.types import quat, scalar, vec3
from alight.engine.run import FLIGHT, Run, Touch
from alight.engine.stiffness import (
    GENTLE_SPEED,
    contact_step,
    damped_step,
    hit_over,
    hit_stiffness,
    wanted_stiffness,
)
from alight.engine.world import Composition, Scheme
from alight.gravity.linearised import extrapolate
from alight.vehicles.rigid_data import angular_energy, linear_energy

_SETTLED = wp.constant(int(Outcome.SETTLED))
_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: In contact that lasts, the springs are set for this many times the normal speed of the points,
#: and at its beginning that is taken as this share of the speed.
_PACES = wp.constant(scalar(2.0))
_SHARE = wp.constant(scalar(0.1))
#: Share of the motion's energy that stiffening the springs may take.
_SPARE = wp.constant(scalar(0.02))
#: What is kept from step to step of loads and speeds that are no longer there.
_MEMORY = wp.constant(scalar(0.98))
#: Steps of contact that lasts are longer by this: its oscillations are damped.
_COARSE = wp.constant(scalar(1.5))
#: Steps about the deepest point of a hit are this share of the others.
_FINE = wp.constant(scalar(0.2))
#: Steps without motion after which a lander is at rest, and what counts as none: a share of what
#: gravity would add in one step if the ground did not hold.
_STILL_STEPS = wp.constant(20)
_STILL = wp.constant(scalar(1e-3))
_GENTLE_SPEED = wp.constant(scalar(GENTLE_SPEED))


@wp.func
def turned_by(q: quat, w: vec3, dt: scalar):
    """``q`` after turning at the constant body rate ``w`` [rad/s] for ``dt`` [s]."""
    half = scalar(0.5) * dt
    angle2 = wp.dot(w, w) * half * half
    # sin(a)/a and cos(a), by series where the angle is small, as it nearly always is.
    sinc = scalar(1.0) - angle2 / scalar(6.0) * (scalar(1.0) - angle2 / scalar(20.0))
    c = scalar(1.0) - scalar(0.5) * angle2 * (scalar(1.0) - angle2 / scalar(12.0))
    if angle2 > scalar(1e-5):
        angle = wp.sqrt(angle2)
        sinc = wp.sin(angle) / angle
        c = wp.cos(angle)
    s = half * sinc
    return wp.normalize(q * quat(s * w[0], s * w[1], s * w[2], c))


@functools.cache
def arrive_clipped(parts: Composition) -> Any:
    """The function ``(world, run, closing, g) -> run`` that sets the springs for a hit."""
    World = parts.World

    @wp.func
    def arrive(world: World, run: Run, closing: scalar, g: scalar):
        out = run
        body = world.body
        contact = world.contact[run.row]
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
        return out

    return arrive


@functools.cache
def press_clipped(parts: Composition) -> Any:
    """The function ``(world, run, clear, slot) -> run`` of one step in contact."""
    World, laws = parts.World, parts.laws
    anchored, frame_pull = parts.anchored, parts.frame_pull
    spin = laws.spin
    push_all = normal_pass(laws.surface_point, laws.surface_data)

    @wp.func
    def rate_change(world: World, t: scalar, q: quat, w: vec3, dt: scalar):
        """Change of the relative body rate [rad/s] without torque, by the midpoint rule.

        I w*' = -w* x I w*, seen from the target: w' = -I^-1 (w* x I w*) - w* x w - R^T O'
        (paper 004, equation 2, with w* = w + R^T O; errata 004-1 and 004-2).
        """
        now = spin(world.rotation, t)
        omega = wp.quat_rotate_inv(q, now.rate)
        change_of_omega = wp.quat_rotate_inv(q, now.acceleration)
        change = vec3()
        for _i in range(3):
            mean = w + scalar(0.5) * change
            star = mean + omega
            change = -dt * (
                world.body.inverse_inertia * wp.cross(star, world.body.inertia * star)
                + wp.cross(star, mean)
                + change_of_omega
            )
        return change

    @wp.func
    def outlast(world: World, run: Run, contact: CompliantData, fast: scalar, g: scalar):
        """``run`` with the springs of a contact that lasts: softer, and damped (see docs).

        They hold no more energy than those of the hit would have given back.
        """
        out = run
        out.pace = _SHARE * fast
        wanted = wanted_stiffness(contact, world.body.mass, _PACES * out.pace, g)
        if out.elastic > scalar(0.0):
            kept = contact.restitution * contact.restitution * out.stiffness
            if wanted > kept:
                wanted = kept
            out.elastic = out.elastic * wanted / kept
        out.stiffness = wanted
        out.lasting = 1
        return out

    @wp.func
    def adjust(world: World, run: Run, contact: CompliantData, g: scalar):
        """``run`` with springs that fit the normal speeds of a contact that lasts.

        Softer ones lose what they hold less of. Stiffer ones hold more, which is taken out of the
        motion: if there is none of it to spare, they stay.
        """
        out = run
        body = world.body
        # What is in the springs can become speed again: it counts.
        pace = _PACES * run.pace
        level = wp.sqrt(pace * pace + scalar(2.0) * run.elastic / body.mass)
        wanted = wanted_stiffness(contact, body.mass, level, g)
        ratio = wanted / run.stiffness
        if ratio < scalar(0.5) or (ratio > scalar(1.0) and run.elastic == scalar(0.0)):
            out.elastic = run.elastic * ratio
            out.stiffness = wanted
        elif ratio > scalar(2.0):
            added = run.elastic * (ratio - scalar(1.0))
            moving = linear_energy(body, run.v) + angular_energy(body, run.w)
            if added < _SPARE * moving:
                slow = wp.sqrt(scalar(1.0) - added / moving)
                out.v = slow * run.v
                out.w = slow * run.w
                out.elastic = run.elastic * ratio
                out.stiffness = wanted
        return out

    @wp.func
    def press(world: World, run: Run, clear: wp.array2d(dtype=scalar), slot: int):
        """One step in contact, or the change back to flight, or rest."""
        body = world.body
        limits = world.limits
        size = body.bounding_radius
        zero = scalar(0.0)
        out = anchored(world, run)
        out.steps += 1
        contact = world.contact[out.row]
        speed = wp.length(out.v)
        fast = speed + wp.length(out.w) * size
        # -- stiffness and step ------------------------------------------------------------------
        g = wp.length(frame_pull(world, out.t, out.x, vec3(), out.anchor.acceleration))
        if out.lasting == 0 and out.touching != 0:
            if hit_over(contact, body.mass, out.stiffness, out.t - out.hit):
                out = outlast(world, out, contact, fast, g)
        elif out.lasting != 0:
            out = adjust(world, out, contact, g)
        load = out.load
        if load == zero:
            load = scalar(4.0) / world.lightest  # several points may touch at once
        dt = contact_step(contact, out.stiffness, load)
        kind = HIT
        if out.lasting != 0:
            kind = LASTING
            if contact.stiffness == zero:
                dt = _COARSE * dt
            dt = wp.min(dt, damped_step(contact, out.stiffness, load))
            if fast > zero:
                # On its way along the ground the lander must not run into it unnoticed.
                dt = wp.min(dt, wp.sqrt(contact.depth / (scalar(2.0) * world.curvature)) / fast)
            if contact.stiffness == zero and fast < _GENTLE_SPEED:
                kind = GENTLE
        if (
            out.lasting == 0
            and contact.restitution < scalar(1.0)
            and out.turning < scalar(1.5) * dt
        ):
            dt = _FINE * dt  # points turn one after the other: resolve that
        left = limits.max_time - out.t
        dt = wp.min(dt, left)
        # -- half a drift ------------------------------------------------------------------------
        half = scalar(0.5) * dt
        x = out.x + half * out.v
        q = turned_by(out.q, out.w, half)
        out.travel += fast * half
        # -- the pull of everything but the ground, and of the grip of the last step ---------------
        R = wp.quat_to_matrix(q)
        inverse = R * body.inverse_inertia * wp.transpose(R)
        t = out.t + half
        value = extrapolate(out.anchor, x - out.anchor_x)
        dv = dt * frame_pull(world, t, x, out.v, value.acceleration)
        dv = dt * frame_pull(world, t, x, out.v + scalar(0.5) * dv, value.acceleration)
        warm = warm_pull(body, inverse, out.grip, dt)
        pull = Motion()
        pull.v = dv + warm.v
        pull.w = R * rate_change(world, t, q, out.w, dt) + warm.w
        start = Motion()
        start.v = out.v
        start.w = R * out.w
        # -- normal impulses -----------------------------------------------------------------------
        margin = scalar(2.0) * (fast + g * dt) * dt
        pushed = push_all(
            contact,
            out.stiffness,
            kind,
            out.load,
            body,
            world.surface,
            world.slope,
            clear,
            slot,
            out.travel,
            margin,
            x,
            R,
            inverse,
            start,
            pull,
            dt,
        )
        sums = pushed.pressed
        m = pushed.motion
        # A load that forgets slowly: steps that change with every point that comes and goes keep a
        # lander shivering.
        out.load = wp.max(sums.stiffness, _MEMORY * out.load)
        out.pace = wp.max(sums.pace, _MEMORY * out.pace)
        out.elastic = sums.elastic
        out.force = zero
        if sums.weight > zero:
            n = wp.normalize(sums.impulse)
            lever = sums.lever / sums.weight
            size2 = sums.spread / sums.weight - wp.dot(lever, lever)
            spread = wp.sqrt(wp.max(zero, size2))
            weight = wp.length(sums.impulse)
            if out.touching == 0:
                out.touching = 1
                out.hit = out.t
                out.touch = Touch()
                out.touch.run = out.number
                out.touch.start = out.t
                out.touch.place = x + lever
                out.touch.normal = n
                came = start.v + wp.cross(start.w, lever)
                out.touch.normal_speed_in = wp.dot(n, came)
                out.touch.tangential_speed_in = wp.length(sideways(n, came))
                out.touch.energy_in = out.energy
            held = hold(contact, body, R, inverse, n, lever, spread, weight, m, out.grip, dt)
            if held.grip.stuck == 0:
                held = resist_turning(
                    contact,
                    body,
                    inverse,
                    n,
                    lever,
                    spread,
                    weight,
                    start,
                    m,
                    out.grip,
                    dt,
                )
                before = sideways(n, start.v + wp.cross(start.w, lever))
                held = resist_sliding(
                    contact, body, inverse, n, lever, weight, before, held, out.grip, dt
                )
            m = held.motion
            out.grip = held.grip
            went = m.v + wp.cross(m.w, lever)
            closing = wp.dot(n, went)
            pace = closing - wp.dot(n, start.v + wp.cross(start.w, lever))
            out.turning = scalar(1e30)
            if closing < zero and pace > zero:
                out.turning = -closing * dt / pace
            out.touch.end = out.t + dt
            out.touch.normal_speed_out = closing
            out.touch.tangential_speed_out = wp.length(sideways(n, went))
            out.touch.impulse += body.mass * (m.v - run.v - dv)
            out.touch.normal_impulse += weight
            out.force = weight / dt
            out.touch.peak_force = wp.max(out.touch.peak_force, out.force)
            out.touch.depth = wp.max(out.touch.depth, sums.depth)
            out.touch.points = wp.max(out.touch.points, sums.active)
        else:
            # Nothing touched: the grip that was assumed is taken back.
            m.v = m.v - warm.v
            m.w = m.w - warm.w
            out.grip = Grip()
        # -- half a drift ------------------------------------------------------------------------
        out.v = m.v
        out.w = wp.transpose(R) * m.w
        out.x = x + half * out.v
        out.q = turned_by(q, out.w, half)
        out.t += dt
        out.dt = dt
        speed = wp.length(out.v)
        fast = speed + wp.length(out.w) * size
        out.travel += fast * half
        out.path += speed * dt
        if not fast < scalar(1e100):
            out.outcome = _NOT_FINITE
            return out
        # -- rest, or flight -----------------------------------------------------------------------
        if sums.weight > zero:
            if fast < _STILL * g * dt:
                out.still += 1
            else:
                out.still = 0
        if speed < limits.settle_speed and wp.length(out.w) < limits.settle_rate:
            out.quiet += dt
        else:
            out.quiet = zero
        # A lander on the brink starts to topple no faster than this: look long enough.
        patience = wp.max(limits.settle_time, scalar(3.0) * wp.sqrt(size / g))
        if out.still >= _STILL_STEPS or out.quiet >= patience:
            out.v = vec3()
            out.w = vec3()
            out.outcome = _SETTLED
        elif dt >= left:
            out.outcome = _TIMED_OUT
        elif sums.active == 0 and sums.waiting == 0:
            out.phase = FLIGHT
            out.elastic = zero
            out.h = scalar(100.0) * dt
        return out

    return press


#: Impulses at the middle of leapfrog steps, each clipped so that it only takes energy out.
CLIPPED = Scheme("clipped", arrive_clipped, press_clipped)

"""The contact phase of paper 004's own scheme: smooth forces in a Runge-Kutta integration.

Position, velocity, attitude and rate (13 numbers, equation 2 with errata 004-1 and 004-2) are
integrated together by RK5(4) under the forces of ``contact.compliant.smooth_forces``. Two things
make that fit for contact. Errors are measured on the scale of the contact: the depth speed /
omega_0, never less than the weight presses in, for a lander at rest sits 1e-8 m deep and tolerances
in metres would not see it. And steps end where a point touches or leaves, as far as that can be
reported: a damper's force jumps there, and no method keeps its order across a jump.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.compliant.smooth_forces import (
    ContactLoad,
    Instant,
    NearPoints,
    linear_push,
    linear_stored,
    smooth_load,
)
from alight.contact.rolling_resistance import tangential
from alight.contact.state import CompliantData
from alight.core.outcomes import Outcome
from alight.core.types import quat, scalar, vec3
from alight.engine.clock import after, before
from alight.engine.records import Touch
from alight.engine.time_to_ground import free_time
from alight.gravity.linearised import extrapolate
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    next_step,
    step_function,
)
from alight.integrators.tableau import RK54
from alight.motions.rigid.composition import Composition, Scheme
from alight.motions.rigid.state import FLIGHT, Memory, Run

_SETTLED = wp.constant(int(Outcome.SETTLED))
_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_STEP_FLOOR = wp.constant(int(Outcome.STEP_FLOOR))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: Share of the tolerance of a run that one step in contact may use: the errors of the fifty or so
#: steps of a hit add up.
_SHARE = wp.constant(scalar(0.1))
#: First step in contact, as a phase of the fastest oscillation of one point [rad].
_FIRST = wp.constant(scalar(0.05))
#: Shortest step, as a share of the tolerance over omega_0: across a jump of the force the error is
#: the jump times the step, so that one this short is always within the tolerance.
_LEAST = wp.constant(scalar(0.01))
#: The lander is back in flight when nothing can touch for this many first steps.
_APART = wp.constant(scalar(4.0))
#: Bound on the acceleration over its value now, as in flight.
_MARGIN = wp.constant(scalar(1.5))
#: Rounding of a place relative to its distance from the origin: no error estimate can be finer.
_ROUNDING = wp.constant(scalar(4e-16))

vec13 = wp.types.vector(length=13, dtype=scalar)


@wp.func
def linear_frequency(contact: CompliantData, mass: scalar, speed: scalar):
    """omega_0 = sqrt(k / m) [rad/s] of ``mass`` [kg] on one point; the same at every speed."""
    return wp.sqrt(contact.stiffness / mass)


@wp.func
def packed(x: vec3, v: vec3, q: quat, w: vec3):
    """The state as one vector."""
    return vec13(x[0], x[1], x[2], v[0], v[1], v[2], q[0], q[1], q[2], q[3], w[0], w[1], w[2])


@functools.cache
def arrive_function(parts: Composition, frequency: Any) -> Any:
    """The function ``(world, run, memory, slot, closing, g) -> run``: a short step to begin."""
    World, contact_of = parts.World, parts.contact_of

    @wp.func
    def arrive(world: World, run: Run, memory: Memory, slot: int, closing: scalar, g: scalar):
        out = run
        contact = contact_of(world, run, memory, slot, run.x)
        fast = wp.length(run.v) + wp.length(run.w) * world.body.bounding_radius
        out.stiffness = contact.stiffness
        out.dt = _FIRST / frequency(contact, world.lightest, fast)
        return out

    return arrive


@functools.cache
def press_function(parts: Composition, push: Any, stored: Any, frequency: Any) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one step in contact.

    ``push`` and ``stored`` are the normal law (see
    ``contact.compliant.smooth_forces.smooth_load``), and ``frequency(contact, mass, speed)`` is how
    fast it throws ``mass`` [kg] back [rad/s].
    """
    World, laws = parts.World, parts.laws
    anchor, frame_pull = parts.anchor, parts.frame_pull
    spin, surface_point = laws.spin, laws.surface_point
    contact_of = parts.contact_of
    load_of = smooth_load(surface_point, laws.surface_data, push, stored)
    drives = laws.drive is not None

    @wp.struct
    class Pressing:
        world: World
        run: Run
        memory: Memory
        look: NearPoints

    @wp.func
    def instant(data: Pressing, t: scalar, y: vec13):
        """The state ``y`` and how it would change without the ground."""
        body = data.world.body
        q = wp.normalize(quat(y[6], y[7], y[8], y[9]))
        w_B = vec3(y[10], y[11], y[12])
        now = Instant()
        now.x = vec3(y[0], y[1], y[2])
        now.v = vec3(y[3], y[4], y[5])
        now.R = wp.quat_to_matrix(q)
        now.w = now.R * w_B
        now.inverse_inertia = now.R * body.inverse_inertia * wp.transpose(now.R)
        slot = data.look.slot
        value = extrapolate(
            data.memory.notes[slot].anchor, now.x - data.memory.notes[slot].anchor_x
        )
        when = t
        if wp.static(laws.next is not None):
            when = before(t, data.run.until)
        now.pull = frame_pull(data.world, when, now.x, now.v, value.acceleration)
        # w' = -I^-1 (w* x I w*) - w* x w - R^T O', with w* = w + R^T O (paper 004, equation 2);
        # in target axes w* x w = O x w, and the derivative of R w is R w'.
        turning = spin(data.world.rotation, t)
        star = w_B + wp.transpose(now.R) * turning.rate
        free = body.inverse_inertia * wp.cross(star, body.inertia * star)
        if wp.static(drives):
            drive = data.world.drive
            gyro = drive.gyro + (t - data.run.t) * drive.gyro_rate
            spun = wp.cross(star, body.inertia * star + gyro)
            free = body.inverse_inertia * (spun + drive.gyro_rate - drive.torque)
            now.pull += now.R * drive.force / body.mass
        now.turn = -(now.R * free) - wp.cross(turning.rate, now.w) - turning.acceleration
        return now

    @wp.func
    def slope_under(data: Pressing, y: vec13, now: Instant, load: ContactLoad):
        """The derivative of ``y`` under ``load``."""
        a = now.pull + load.force / data.world.body.mass
        turn = wp.transpose(now.R) * (now.turn + now.inverse_inertia * load.torque)
        w = quat(y[10], y[11], y[12], scalar(0.0))
        dq = scalar(0.5) * (quat(y[6], y[7], y[8], y[9]) * w)
        return packed(now.v, a, dq, turn)

    @wp.func
    def slope_of(data: Pressing, t: scalar, y: vec13):
        now = instant(data, t, y)
        world = data.world
        contact = contact_of(world, data.run, data.memory, data.look.slot, now.x)
        load = load_of(contact, world.body, world.surface, now, data.look)
        return slope_under(data, y, now, load)

    step = step_function(RK54, slope_of, vec13, Pressing)
    norm = error_norm_function(vec13)

    @wp.struct
    class Scales:
        fast: scalar  # no point is faster [m/s]
        pace: scalar  # nor gets faster from what is in the springs, about [m/s]
        omega: scalar  # [rad/s]
        brief: scalar  # first step [s]
        least: scalar  # shortest step [s]
        weight: scalar  # acceleration at rest [m/s^2]
        allowed: vec13  # error of one step

    @wp.func
    def scales(world: World, run: Run, gravity: vec3, contact: CompliantData):
        """On what scale a contact takes place, and the errors that this allows."""
        body = world.body
        size = body.bounding_radius
        out = Scales()
        out.fast = wp.length(run.v) + wp.length(run.w) * size
        out.weight = wp.length(frame_pull(world, run.t, run.x, vec3(), gravity))
        out.omega = frequency(contact, body.mass, out.fast)
        out.brief = _FIRST / frequency(contact, world.lightest, out.fast)
        rest = out.weight / out.omega
        stored2 = scalar(2.0) * run.elastic / body.mass
        out.pace = wp.sqrt(out.fast * out.fast + stored2 + rest * rest)
        rtol = _SHARE * world.limits.rtol
        out.least = wp.min(world.limits.min_step, _LEAST * rtol / out.omega)
        far = rtol * out.pace / out.omega + _ROUNDING * wp.length(run.x)
        quick = out.omega * far
        bend = far / size
        spun = quick / size
        out.allowed = packed(
            vec3(far, far, far),
            vec3(quick, quick, quick),
            quat(bend, bend, bend, bend),
            vec3(spun, spun, spun),
        )
        return out

    @wp.func
    def moved(run: Run, z: vec13, t: scalar, h: scalar, scale: Scales, size: scalar):
        """``run`` in the state ``z``, ``h`` [s] later at ``t``."""
        out = run
        out.t = t
        out.x = vec3(z[0], z[1], z[2])
        out.v = vec3(z[3], z[4], z[5])
        out.q = wp.normalize(quat(z[6], z[7], z[8], z[9]))
        out.w = vec3(z[10], z[11], z[12])
        speed = wp.length(out.v)
        faster = wp.max(scale.fast, speed + wp.length(out.w) * size)
        out.travel += (scalar(2.0) * faster + scale.weight * h) * h
        out.path += scalar(0.5) * (wp.length(run.v) + speed) * h
        out.still = 0
        return out

    @wp.func
    def clearance(world: World, run: Run, a: scalar, longest: scalar, look: NearPoints):
        """The longest time [s], up to ``longest``, in which no point can touch."""
        body = world.body
        size = body.bounding_radius
        rate = wp.length(run.w)
        fast = wp.length(run.v) + rate * size
        hard = a + scalar(2.0) * rate * rate * size
        R = wp.quat_to_matrix(run.q)
        w_T = R * run.w
        h = longest
        for j in range(body.points.shape[0]):
            need = fast * h + scalar(0.5) * hard * h * h
            if look.clear[j, look.slot] <= run.travel + need:
                arm = R * (body.points[j] - body.shift)
                near = surface_point(world.surface, run.x + arm)
                gap = near.distance - body.radii[j]
                look.clear[j, look.slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                closing = wp.dot(near.gradient, run.v + wp.cross(w_T, arm))
                free = free_time(gap, closing, fast, hard, world.slope, world.curvature)
                h = wp.min(h, free)
        return h

    @wp.func
    def wanted_step(
        world: World, run: Run, was: ContactLoad, scale: Scales, a: scalar, look: NearPoints
    ):
        """The step [s]: to where a point touches or leaves, if that is near.

        Above the ground it is as long as nothing can touch, or the way to the touch if that is
        brief: bounds alone would close in on it forever.
        """
        h = wp.min(run.dt, was.soon)
        if was.active == 0:
            free = clearance(world, run, a, run.dt, look)
            h = wp.max(free, wp.min(h, scale.brief))
        return wp.max(h, scale.least)

    @wp.func
    def recorded(
        run: Run,
        memory: Memory,
        slot: int,
        old: Instant,
        was: ContactLoad,
        new: Instant,
        load: ContactLoad,
        mass: scalar,
        h: scalar,
    ):
        """``run`` with the step from ``old`` to ``new`` entered in the record of its contact."""
        out = run
        if was.active == 0 and load.active == 0:
            return out
        n = load.normal
        lever = load.lever
        if load.active == 0:
            n = was.normal
            lever = was.lever
        if out.touching == 0:
            came = old.v + wp.cross(old.w, lever)
            out.touching = 1
            begun = Touch()
            begun.run = memory.notes[slot].number
            begun.normal_speed_in = wp.dot(n, came)
            begun.tangential_speed_in = wp.length(tangential(n, came))
            since = h
            if -begun.normal_speed_in * h > load.depth:
                since = -load.depth / begun.normal_speed_in
            begun.start = out.t - since
            begun.place = new.x + lever
            begun.normal = n
            begun.energy_in = memory.notes[slot].energy
            memory.notes[slot].touch = begun
            out.hit = begun.start
        went = new.v + wp.cross(new.w, lever)
        # All that the ground did is what nothing else did to the momentum.
        impulse = mass * (new.v - old.v - scalar(0.5) * h * (old.pull + new.pull))
        touch = memory.notes[slot].touch
        touch.end = out.t
        touch.normal_speed_out = wp.dot(n, went)
        touch.tangential_speed_out = wp.length(tangential(n, went))
        touch.impulse += impulse
        touch.normal_impulse += wp.dot(n, impulse)
        touch.peak_force = wp.max(touch.peak_force, load.normal_force)
        touch.depth = wp.max(touch.depth, load.depth)
        touch.points = wp.max(touch.points, load.active)
        memory.notes[slot].touch = touch
        return out

    @wp.func
    def finished(
        world: World,
        run: Run,
        gravity: vec3,
        load: ContactLoad,
        look: NearPoints,
        h: scalar,
        left: scalar,
        brief: scalar,
    ):
        """``run`` at rest, out of time, back in flight, or as it is."""
        limits = world.limits
        out = run
        slow = wp.length(out.v) < limits.settle_speed and wp.length(out.w) < limits.settle_rate
        if slow and out.touching != 0:
            out.quiet += h
        else:
            out.quiet = scalar(0.0)
        if out.quiet >= limits.settle_time:
            out.v = vec3()
            out.w = vec3()
            out.outcome = _SETTLED
        elif h >= left and run.until >= limits.max_time:
            out.outcome = _TIMED_OUT
        elif load.active == 0 and load.soon > _APART * brief:
            a = _MARGIN * wp.length(frame_pull(world, out.t, out.x, out.v, gravity))
            if clearance(world, out, a, _APART * brief, look) >= _APART * brief:
                out.phase = FLIGHT
                out.h = scalar(100.0) * brief
        return out

    @wp.func
    def press(world: World, run: Run, memory: Memory, slot: int):
        """One step in contact, accepted or not, or the change back to flight, or rest."""
        body = world.body
        limits = world.limits
        anchor(world, run, memory, slot)
        out = run
        out.steps += 1
        out.dt = wp.min(out.dt, limits.max_step)
        contact = contact_of(world, out, memory, slot, out.x)
        gravity = memory.notes[slot].anchor.acceleration
        scale = scales(world, out, gravity, contact)
        # -- forces now --------------------------------------------------------------------------
        y = packed(out.x, out.v, out.q, out.w)
        data = Pressing()
        data.world = world
        data.run = out
        data.memory = memory
        data.look.clear = memory.points.clear
        data.look.slot = slot
        data.look.travel = out.travel
        # Four times the way that a step can take: the stages of a step stray a little.
        data.look.far = out.travel + scalar(4.0) * (scale.pace + scale.weight * out.dt) * out.dt
        data.look.slope = world.slope
        old = instant(data, out.t, y)
        was = load_of(contact, body, world.surface, old, data.look)
        data.look.slope = scalar(0.0)
        k1 = slope_under(data, y, old, was)
        if not wp.length(k1) < scalar(1e100):
            out.outcome = _NOT_FINITE
            return out
        # -- the step ----------------------------------------------------------------------------
        left = run.until - out.t
        a = _MARGIN * wp.length(old.pull)
        if wp.static(drives):
            a += _MARGIN * body.bounding_radius * wp.length(old.turn)
        h = wanted_step(world, out, was, scale, a, data.look)
        h = wp.min(h, left)
        taken = step(data, out.t, y, k1, h)
        error = norm(y, taken.y, taken.error, scalar(0.0), scale.allowed)
        suggested = next_step(h, error, 4, scalar(5.0))
        if not accepted(error):
            memory.notes[slot].rejected += 1
            out.dt = suggested
            if suggested < scale.least:
                out.outcome = _STEP_FLOOR
            return out
        # A step cut short by a touch says little about the error of the next one.
        if h < out.dt:
            suggested = wp.max(suggested, out.dt)
        # -- the new state and its forces --------------------------------------------------------
        later = after(out.t, h, run.until, limits.max_time)
        out = moved(out, taken.y, later, h, scale, body.bounding_radius)
        out.dt = suggested
        new = instant(data, out.t, taken.y)
        load = load_of(contact, body, world.surface, new, data.look)
        out.elastic = load.elastic
        out.force = load.normal_force
        out.grip.friction = load.friction
        out.grip.lever = load.lever
        out.grip.rolling = load.rolling + load.spin * load.normal
        out.grip.stuck = 0
        if load.active > 0 and wp.length(load.slip) < contact.slip_speed:
            out.grip.stuck = 1
        out = recorded(out, memory, slot, old, was, new, load, body.mass, h)
        return finished(world, out, gravity, load, data.look, h, left, scale.brief)

    return press


@functools.cache
def smooth_scheme(name: str, push: Any, stored: Any, frequency: Any) -> Scheme:
    """The scheme with another normal law, for a subclass of ``Compliant`` to name as ``stepping``.

    The Warp functions are ``push(contact, depth, closing)`` [N] and ``stored(contact, depth)`` [J]
    as for ``contact.compliant.smooth_forces.smooth_load``, and ``frequency(contact, mass, speed)``
    [rad/s], about one over the time in which a hit is thrown back; it must be positive at every
    speed, 0 too.
    """

    def arrive(parts: Composition) -> Any:
        return arrive_function(parts, frequency)

    def press(parts: Composition) -> Any:
        return press_function(parts, push, stored, frequency)

    return Scheme(name, arrive, press)


#: Paper 004's own: linear springs, integrated; friction blended between slip and stick.
SMOOTH = smooth_scheme("smooth", linear_push, linear_stored, linear_frequency)

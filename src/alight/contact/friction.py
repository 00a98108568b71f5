"""What keeps a lander from sliding, spinning and rolling: friction and its like, as impulses.

All act at the effective point of paper 004 (equation 4, weighted by impulse), on the motion that
the normal impulses of a step have left: the impulse that ends a motion where its cap allows it,
else the largest that does not turn the motion round. Each can only take energy out. What held in
the last step is taken to continue (``warm_pull``), so that at rest all of them hold exactly.

Vectors are in target axes; ``inverse_inertia`` is turned into them.
"""

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.rolling_resistance import (
    resist_turning,
    rolling_limit,
    rolling_push,
    solve_across,
    spin_limit,
    tangential,
)
from alight.contact.state import CompliantData, Grip, Pressed
from alight.core.types import mat33, scalar, vec3
from alight.core.vectors import over
from alight.vehicles.rigid.data import (
    RigidBody,
    angular_energy,
    inverse_mass_along,
    inverse_mass_at,
    linear_energy,
)


@wp.func
def kicked(body: RigidBody, inverse_inertia: mat33, m: Motion, lever: vec3, impulse: vec3):
    """``m`` after an ``impulse`` [N s] at ``lever`` [m]."""
    out = Motion()
    out.v = m.v + over(impulse, body.mass)
    out.w = m.w + inverse_inertia * wp.cross(lever, impulse)
    return out


@wp.struct
class FrictionResult:
    """Motion after friction and its like, and what held it."""

    motion: Motion
    grip: Grip


@wp.func
def warm_pull(body: RigidBody, inverse_inertia: mat33, grip: Grip, dt: scalar):
    """What the grip of the last step would change in this one."""
    out = Motion()
    out.v = (dt / body.mass) * (grip.friction + grip.push)
    out.w = dt * (inverse_inertia * (wp.cross(grip.lever, grip.friction) + grip.rolling))
    return out


@wp.func
def kinetic(body: RigidBody, R: mat33, m: Motion):
    """Kinetic energy relative to the target [J]."""
    return linear_energy(body, m.v) + angular_energy(body, wp.transpose(R) * m.w)


@wp.struct
class Stopping:
    """Impulses that leave no slip, no rolling, and no spin as far as its limit allows."""

    friction: vec3  # [N s]
    rolling: vec3  # across the normal [N m s]
    spin: scalar  # about it [N m s]


@wp.func
def stopping_torque(
    body: RigidBody, R: mat33, n: vec3, lever: vec3, m: Motion, spin: scalar, most: scalar
):
    """What stops ``m`` by friction F across n, a torque L across n and a spin torque S.

    The spin torque so far, ``spin``, stays within ``most``. What may be left is a spin W n:

        I (W n - w) = c x F + L + S n,    v_t + F/m + W n x c = 0.

    So F = -m (v_t + W n x c), and along n: (n.I n + m |n x c|^2) W = S + n.I w - m n.(c x v_t).
    """
    out = Stopping()
    turns = R * (body.inertia * (wp.transpose(R) * m.w))
    flat = tangential(n, m.v)
    around = wp.dot(n, turns) - body.mass * wp.dot(n, wp.cross(lever, flat))
    out.spin = wp.clamp(spin - around, -most, most) - spin
    arm = wp.cross(n, lever)
    axis = R * (body.inertia * (wp.transpose(R) * n))
    W = (out.spin + around) / (wp.dot(n, axis) + body.mass * wp.dot(arm, arm))
    out.friction = -body.mass * (flat + W * arm)
    out.rolling = tangential(n, W * axis - turns - wp.cross(lever, out.friction))
    return out


@wp.func
def stopping_compensated(
    body: RigidBody,
    R: mat33,
    inverse_inertia: mat33,
    n: vec3,
    lever: vec3,
    m: Motion,
    spin: scalar,
    most: scalar,
):
    """The same where a push at the centre of mass goes with L, which leaves the slip alone:

        w + I^-1 (c x F + L + S n) = 0,    v_t + F/m - T[(I^-1 L) x c] = 0,

    which is T(m* F) - (F.a) b = -slip + (n.I w) b with a = n x c, b = T[(I^-1 n) x c]. L is left to
    ``rolling_to_rest``.
    """
    out = Stopping()
    slip = tangential(n, m.v + wp.cross(m.w, lever))
    M = inverse_mass_at(body, inverse_inertia, lever)
    a = wp.cross(n, lever)
    b = tangential(n, wp.cross(inverse_inertia * n, lever))
    around = wp.dot(n, R * (body.inertia * (wp.transpose(R) * m.w)))
    out.friction = solve_across(n, M - wp.outer(b, a), slip - around * b)
    out.spin = -around - wp.dot(out.friction, a)
    if wp.abs(spin + out.spin) > most:
        out.spin = wp.clamp(spin + out.spin, -most, most) - spin
        out.friction = solve_across(n, M, slip + out.spin * b)
    return out


@wp.func
def rolling_to_rest(inverse_inertia: mat33, n: vec3, lever: vec3, m: Motion, stop: Stopping):
    """L, the torque across n [N m s] that ends what friction and spin torque leave of turning."""
    turns = wp.cross(lever, stop.friction) + stop.spin * n
    return solve_across(n, inverse_inertia, m.w + inverse_inertia * turns)


@wp.func
def hold(
    contact: CompliantData,
    body: RigidBody,
    R: mat33,
    inverse_inertia: mat33,
    n: vec3,
    lever: vec3,
    spread: scalar,
    weight: scalar,
    m: Motion,
    grip: Grip,
    dt: scalar,
):
    """Everything at once: no slip and no rolling, and no spin as far as its limit allows.

    ``held.grip.stuck`` is 2 where all limits allow the answer and 0 where they do not: one law
    after the other then. What slides, as in most hits, is found out first.
    """
    held = FrictionResult()
    held.motion = m
    before = wp.dot(n, dt * grip.rolling)
    most = spin_limit(contact, spread, weight)
    stop = Stopping()
    if contact.compensated == scalar(0.0):
        stop = stopping_torque(body, R, n, lever, m, before, most)
    else:
        stop = stopping_compensated(body, R, inverse_inertia, n, lever, m, before, most)
    friction = tangential(n, dt * grip.friction) + stop.friction
    if not wp.length(friction) <= contact.static_friction * weight:
        return held
    push = vec3()
    if contact.compensated != scalar(0.0):
        stop.rolling = rolling_to_rest(inverse_inertia, n, lever, m, stop)
        push = rolling_push(body, inverse_inertia, n, lever, stop.rolling)
    torque = tangential(n, dt * grip.rolling) + stop.rolling
    pushed = dt * grip.push + push
    if (
        not wp.length(torque) <= rolling_limit(contact, weight)
        or not wp.length(pushed) <= contact.friction * weight
    ):
        return held
    turned = wp.cross(lever, stop.friction) + stop.rolling + stop.spin * n
    ended = Motion()
    ended.v = m.v + over(stop.friction + push, body.mass)
    ended.w = m.w + inverse_inertia * turned
    # Against the motion without any grip: where spin is left, the push could do work.
    warm = warm_pull(body, inverse_inertia, grip, dt)
    free = Motion()
    free.v = m.v - warm.v
    free.w = m.w - warm.w
    if kinetic(body, R, ended) <= kinetic(body, R, free):
        held.motion = ended
        held.grip.friction = over(friction, dt)
        held.grip.lever = lever
        held.grip.rolling = over(torque + (before + stop.spin) * n, dt)
        held.grip.push = over(pushed, dt)
        held.grip.stuck = 2
    return held


@wp.func
def push_along(
    contact: CompliantData,
    body: RigidBody,
    inverse_inertia: mat33,
    n: vec3,
    lever: vec3,
    weight: scalar,
    start: Motion,
    v: vec3,
    w: vec3,
    torque: vec3,
):
    """Paper 004's push [N s] for the angular impulse ``torque`` that has left the rate ``w``.

    No larger than friction could be, and scaled down where the pair would add energy over the step
    from ``start``.
    """
    half = scalar(0.5)
    push = rolling_push(body, inverse_inertia, n, lever, torque)
    length = wp.length(push)
    most = contact.friction * weight
    if length > most:
        push = push * (most / length)
    spent = -half * wp.dot(torque, start.w + w)
    given = half * wp.dot(push, start.v + v + over(push, body.mass))
    if given > scalar(0.0) and given > spent:
        push = push * wp.max(scalar(0.0), spent / given)
    return push


@wp.func
def turn_less(
    contact: CompliantData,
    body: RigidBody,
    inverse_inertia: mat33,
    n: vec3,
    lever: vec3,
    spread: scalar,
    weight: scalar,
    start: Motion,
    m: Motion,
    grip: Grip,
    dt: scalar,
):
    """``m`` after spin friction and rolling resistance, without what the last step did about it.

    The push of paper 004 spares what slides without rolling.
    """
    held = FrictionResult()
    turn = resist_turning(contact, inverse_inertia, n, spread, weight, m.w, dt * grip.rolling)
    v = m.v - (dt / body.mass) * grip.push
    push = vec3()
    if contact.compensated != scalar(0.0) and (grip.stuck != 0 or turn.rolls != 0):
        push = push_along(
            contact, body, inverse_inertia, n, lever, weight, start, v, turn.w, turn.rolling
        )
    held.motion.v = v + over(push, body.mass)
    held.motion.w = turn.w
    held.grip.rolling = over(tangential(n, turn.rolling) + turn.spin * n, dt)
    held.grip.push = over(push, dt)
    return held


@wp.func
def resist_sliding(
    contact: CompliantData,
    body: RigidBody,
    inverse_inertia: mat33,
    n: vec3,
    lever: vec3,
    weight: scalar,
    before: vec3,
    held: FrictionResult,
    grip: Grip,
    dt: scalar,
):
    """Coulomb friction at the effective point: stick inside the cone, else slide.

    ``before`` is its slip at the start of the step. A sliding impulse is laid along the mean slip
    of the step, unless that would do more work than the slip it meets.
    """
    zero = scalar(0.0)
    warm = dt * grip.friction
    m = held.motion
    slip = tangential(n, m.v + wp.cross(m.w, lever))
    fix = solve_across(n, inverse_mass_at(body, inverse_inertia, lever), slip)
    cone = contact.friction
    if grip.stuck != 0 or wp.length(before) == zero:
        cone = contact.static_friction
    # The ground may have turned under the lander: what was friction keeps no share along n.
    flat = tangential(n, warm)
    total = flat + fix
    out = held
    if wp.length(total) <= cone * weight:
        out.motion = kicked(body, inverse_inertia, m, lever, fix + (flat - warm))
        out.grip.friction = over(total, dt)
        out.grip.stuck = 1
    else:
        free = kicked(body, inverse_inertia, m, grip.lever, -warm)
        slip = tangential(n, free.v + wp.cross(free.w, lever))
        speed = wp.length(slip)
        impulse = vec3()
        if speed > zero:
            t = over(slip, speed)
            size = contact.friction * weight
            halt = speed / inverse_mass_along(body, inverse_inertia, lever, t)
            # Close to sticking: the sticking impulse, cut to the cone, which does not overshoot.
            impulse = total * (size / wp.length(total))
            if scalar(2.0) * size < halt:
                impulse = -size * t
                ended = kicked(body, inverse_inertia, free, lever, impulse)
                mean = before + tangential(n, ended.v + wp.cross(ended.w, lever))
                length = wp.length(mean)
                if wp.dot(mean, slip) > scalar(0.5) * length * speed:
                    t = over(mean, length)
                    halt = wp.dot(t, slip) / inverse_mass_along(body, inverse_inertia, lever, t)
                    impulse = -wp.min(size, halt) * t
        out.motion = kicked(body, inverse_inertia, free, lever, impulse)
        out.grip.friction = over(impulse, dt)
        out.grip.stuck = 0
    out.grip.lever = lever
    return out


@wp.func
def held_by_ground(
    contact: CompliantData,
    body: RigidBody,
    R: mat33,
    inverse_inertia: mat33,
    n: vec3,
    lever: vec3,
    sums: Pressed,
    start: Motion,
    m: Motion,
    grip: Grip,
    dt: scalar,
):
    """Friction, spin friction and rolling resistance of one step: held at once, or one by one."""
    weight = wp.length(sums.impulse)
    # A difference of squares: of a single point its rounding would be a spread of 1e-8.
    mean2 = sums.spread / sums.weight
    spread2 = mean2 - wp.dot(lever, lever)
    spread = scalar(0.0)
    if spread2 > scalar(1e-12) * mean2:
        spread = wp.sqrt(spread2)
    held = hold(contact, body, R, inverse_inertia, n, lever, spread, weight, m, grip, dt)
    if held.grip.stuck == 0:
        held = turn_less(
            contact, body, inverse_inertia, n, lever, spread, weight, start, m, grip, dt
        )
        before = tangential(n, start.v + wp.cross(start.w, lever))
        held = resist_sliding(
            contact, body, inverse_inertia, n, lever, weight, before, held, grip, dt
        )
    return held

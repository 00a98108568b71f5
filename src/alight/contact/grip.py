"""What keeps a lander from sliding, spinning and rolling: friction and its like, as impulses.

All act at the effective point of paper 004 (equation 4, weighted by impulse), on the motion that
the normal impulses of a step have left: the impulse that ends a motion where its cap allows it,
else the largest that does not turn the motion round. Each can only take energy out. What held in
the last step is taken to go on (``warm_pull``), so that at rest all of them hold exactly.

Vectors are in target axes; ``inverse_inertia`` is turned into them.
"""

import warp as wp

from alight.contact.clipped import Motion
from alight.contact.state import CompliantData, Grip, Pressed
from alight.core.types import mat33, scalar, vec3
from alight.vehicles.rigid_data import (
    RigidBody,
    angular_energy,
    inverse_mass_along,
    inverse_mass_at,
    linear_energy,
)

#: In a kernel 2/3 would be divided in single precision.
_TWO_THIRDS = wp.constant(scalar(2.0 / 3.0))


@wp.func
def kicked(body: RigidBody, inverse_inertia: mat33, m: Motion, lever: vec3, impulse: vec3):
    """``m`` after an ``impulse`` [N s] at ``lever`` [m]."""
    out = Motion()
    out.v = m.v + impulse / body.mass
    out.w = m.w + inverse_inertia * wp.cross(lever, impulse)
    return out


@wp.func
def sideways(n: vec3, a: vec3):
    """The part of ``a`` across the unit vector ``n``."""
    return a - wp.dot(n, a) * n


@wp.func
def solve_across(n: vec3, M: mat33, s: vec3):
    """The vector y across the unit vector ``n`` with M y = -s in the plane across it.

    y = -T (T^t M T)^-1 T^t s with T a basis of that plane. With the inverse mass m* of a point and
    its slip this is the sticking impulse (erratum 004-6); with the inverse inertia and a rate, the
    angular impulse that ends the rolling.
    """
    a = vec3(scalar(1.0), scalar(0.0), scalar(0.0))
    if wp.abs(n[0]) > scalar(0.6):
        a = vec3(scalar(0.0), scalar(1.0), scalar(0.0))
    t1 = wp.normalize(wp.cross(n, a))
    t2 = wp.cross(n, t1)
    u1 = M * t1
    u2 = M * t2
    m11 = wp.dot(t1, u1)
    m12 = wp.dot(t1, u2)
    m21 = wp.dot(t2, u1)
    m22 = wp.dot(t2, u2)
    s1 = wp.dot(t1, s)
    s2 = wp.dot(t2, s)
    det = m11 * m22 - m12 * m21
    return (-(m22 * s1 - m12 * s2) * t1 - (m11 * s2 - m21 * s1) * t2) / det


@wp.struct
class Held:
    """Motion after friction and its like, and what held it."""

    motion: Motion
    grip: Grip


@wp.func
def warm_pull(body: RigidBody, inverse_inertia: mat33, grip: Grip, dt: scalar):
    """What the grip of the last step would change in this one."""
    out = Motion()
    out.v = dt * (grip.friction + grip.push) / body.mass
    out.w = dt * (inverse_inertia * (wp.cross(grip.lever, grip.friction) + grip.rolling))
    return out


@wp.func
def kinetic(body: RigidBody, R: mat33, m: Motion):
    """Kinetic energy relative to the target [J]."""
    return linear_energy(body, m.v) + angular_energy(body, wp.transpose(R) * m.w)


@wp.func
def spin_cap(contact: CompliantData, spread: scalar, weight: scalar):
    """Most angular impulse about the normal [N m s]: friction of the points about their centre.

    mu F times their mean distance from the centre of pressure, plus 2/3 of the patch radius.
    """
    return contact.friction * weight * (spread + _TWO_THIRDS * contact.patch)


@wp.func
def rolling_push(body: RigidBody, inverse_inertia: mat33, n: vec3, lever: vec3, torque: vec3):
    """The impulse at the centre of mass that goes with an angular impulse against rolling [N s].

    Together they leave the slip as it was (erratum 004-7).
    """
    return -body.mass * sideways(n, wp.cross(inverse_inertia * torque, lever))


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
    """Everything at once: no slip and no rolling, and no spin as far as its cap allows.

    Unknown are friction F across n, the torque L across n with its push, and the spin torque S:

        w + I^-1 (c x F + L + S n) = 0,    v_t + F/m - T[(I^-1 L) x c] = 0,

    which is T(m* F) - (F.a) b = -slip + (n.I w) b with a = n x c, b = T[(I^-1 n) x c]. Where S is
    at its cap, some spin is left. ``held.grip.stuck`` is 2 where all caps allow the answer and 0
    where they do not: one law after the other then.
    """
    held = Held()
    held.motion = m
    slip = sideways(n, m.v + wp.cross(m.w, lever))
    M = inverse_mass_at(body, inverse_inertia, lever)
    a = wp.cross(n, lever)
    spinning = inverse_inertia * n
    b = sideways(n, wp.cross(spinning, lever))
    around = wp.dot(n, R * (body.inertia * (wp.transpose(R) * m.w)))
    F = solve_across(n, M - wp.outer(b, a), slip - around * b)
    before = wp.dot(n, dt * grip.rolling)
    cap = spin_cap(contact, spread, weight)
    S = -around - wp.dot(F, a)
    if wp.abs(before + S) > cap:
        S = wp.clamp(before + S, -cap, cap) - before
        F = solve_across(n, M, slip + S * b)
    turned = m.w + inverse_inertia * wp.cross(lever, F) + S * spinning
    L = solve_across(n, inverse_inertia, turned)
    push = rolling_push(body, inverse_inertia, n, lever, L)
    friction = sideways(n, dt * grip.friction) + F
    torque = sideways(n, dt * grip.rolling) + L
    pushed = dt * grip.push + push
    ended = Motion()
    ended.v = m.v + (F + push) / body.mass
    ended.w = turned + inverse_inertia * L
    # Against the motion without any grip: where spin is left, the push could do work.
    warm = warm_pull(body, inverse_inertia, grip, dt)
    free = Motion()
    free.v = m.v - warm.v
    free.w = m.w - warm.w
    if (
        kinetic(body, R, ended) <= kinetic(body, R, free)
        and wp.length(friction) <= contact.static_friction * weight
        and wp.length(torque) <= contact.rolling * weight
        and wp.length(pushed) <= contact.friction * weight
    ):
        held.motion = ended
        held.grip.friction = friction / dt
        held.grip.lever = lever
        held.grip.rolling = (torque + (before + S) * n) / dt
        held.grip.push = pushed / dt
        held.grip.stuck = 2
    return held


@wp.func
def resist_turning(
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
    """Spin friction about the normal, then rolling resistance (paper 004, section 4.3).

    Rolling resistance is the torque that ends the rolling, or C_RR F against the rate where that is
    less. The push that goes with it is no larger than friction could be, and scaled down where the
    pair would add energy over the step from ``start``. What slides without rolling is spared it.
    """
    zero = scalar(0.0)
    half = scalar(0.5)
    held = Held()
    w = m.w
    cap = spin_cap(contact, spread, weight)
    before = wp.dot(n, dt * grip.rolling)
    spinning = inverse_inertia * n
    spin = wp.clamp(before - wp.dot(n, w) / wp.dot(n, spinning), -cap, cap)
    w += (spin - before) * spinning
    # Rolling, from the motion without what the last step did about it.
    w -= inverse_inertia * sideways(n, dt * grip.rolling)
    v = m.v - dt * grip.push / body.mass
    torque = solve_across(n, inverse_inertia, w)
    cap = contact.rolling * weight
    rate = wp.length(w)
    keeps = grip.stuck != 0
    if wp.length(torque) > cap:
        keeps = bool(True)
        torque = vec3()
        if rate > zero:
            axis = w / rate
            halt = rate / wp.dot(axis, inverse_inertia * axis)
            torque = -wp.min(cap, halt) * axis
    w += inverse_inertia * torque
    push = vec3()
    if keeps:
        push = rolling_push(body, inverse_inertia, n, lever, torque)
    length = wp.length(push)
    most = contact.friction * weight
    if length > most:
        push = push * (most / length)
    spent = -half * wp.dot(torque, start.w + w)
    given = half * wp.dot(push, start.v + v + push / body.mass)
    if given > zero and given > spent:
        push = push * wp.max(zero, spent / given)
    held.motion.v = v + push / body.mass
    held.motion.w = w
    held.grip.rolling = (sideways(n, torque) + spin * n) / dt
    held.grip.push = push / dt
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
    held: Held,
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
    slip = sideways(n, m.v + wp.cross(m.w, lever))
    fix = solve_across(n, inverse_mass_at(body, inverse_inertia, lever), slip)
    cone = contact.friction
    if grip.stuck != 0 or wp.length(before) == zero:
        cone = contact.static_friction
    # The ground may have turned under the lander: what was friction keeps no share along n.
    flat = sideways(n, warm)
    total = flat + fix
    out = held
    if wp.length(total) <= cone * weight:
        out.motion = kicked(body, inverse_inertia, m, lever, fix + (flat - warm))
        out.grip.friction = total / dt
        out.grip.stuck = 1
    else:
        free = kicked(body, inverse_inertia, m, grip.lever, -warm)
        slip = sideways(n, free.v + wp.cross(free.w, lever))
        speed = wp.length(slip)
        impulse = vec3()
        if speed > zero:
            t = slip / speed
            size = contact.friction * weight
            halt = speed / inverse_mass_along(body, inverse_inertia, lever, t)
            # Close to sticking: the sticking impulse, cut to the cone, which does not overshoot.
            impulse = total * (size / wp.length(total))
            if scalar(2.0) * size < halt:
                impulse = -size * t
                ended = kicked(body, inverse_inertia, free, lever, impulse)
                mean = before + sideways(n, ended.v + wp.cross(ended.w, lever))
                length = wp.length(mean)
                if wp.dot(mean, slip) > scalar(0.5) * length * speed:
                    t = mean / length
                    halt = wp.dot(t, slip) / inverse_mass_along(body, inverse_inertia, lever, t)
                    impulse = -wp.min(size, halt) * t
        out.motion = kicked(body, inverse_inertia, free, lever, impulse)
        out.grip.friction = impulse / dt
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
        held = resist_turning(
            contact, body, inverse_inertia, n, lever, spread, weight, start, m, grip, dt
        )
        before = sideways(n, start.v + wp.cross(start.w, lever))
        held = resist_sliding(
            contact, body, inverse_inertia, n, lever, weight, before, held, grip, dt
        )
    return held

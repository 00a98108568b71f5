"""Contact by clipped impulses: what one step does to the velocities of a lander.

The step stands at its middle: positions are known, velocities are to be changed. Every point that
touches pushes along the gradient G of the distance phi, so that the springs have a potential
(erratum 004-10); in the coordinate phi a point has the rate u = G.(v + w x c) and the inverse mass
G.m* G. The normal impulse is the depth integrated over the step times the stiffness. Friction,
rolling resistance and spin friction act at the effective point of paper 004 (equation 4, weighted
by impulse): the sticking impulse where the cone allows it, else the largest that does not turn
the motion round. Each can only take energy out, and at rest all of them hold exactly.

Vectors are in target axes; ``inverse_inertia`` is turned into them.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.state import CompliantData, Grip, Pressed
from alight.core.types import mat33, scalar, vec3
from alight.vehicles.rigid_data import RigidBody

#: Kinds of contact: a hit, contact that outlasts a hit, and one that is coming to rest.
HIT = wp.constant(0)
LASTING = wp.constant(1)
GENTLE = wp.constant(2)

#: In a kernel 2/3 would be divided in single precision.
_TWO_THIRDS = wp.constant(scalar(2.0 / 3.0))

#: Largest damping ratio in contact that lasts. Restitution falls little beyond it (0.18 here), and
#: stiff dampers on many points would need steps of their own.
MOST_ZETA = 2.5
_MOST_ZETA = wp.constant(scalar(MOST_ZETA))


@wp.struct
class Motion:
    """Velocity [m/s] and rate relative to the target [rad/s], both in target axes."""

    v: vec3
    w: vec3


@wp.func
def kicked(body: RigidBody, inverse_inertia: mat33, m: Motion, lever: vec3, impulse: vec3):
    """``m`` after an ``impulse`` [N s] at ``lever`` [m]."""
    out = Motion()
    out.v = m.v + impulse / body.mass
    out.w = m.w + inverse_inertia * wp.cross(lever, impulse)
    return out


# -- the normal law -------------------------------------------------------------------------------


@wp.func
def matched(phase2: scalar):
    """Factor on a stiffness that lets a leapfrog step keep the energy of a linear spring.

    Drift, kick, drift with the stiffness k' keeps v^2 + (k'/m) / (1 - k' dt^2/4m) x^2, which is the
    true energy when k' = k / (1 + k dt^2/4m). ``phase2`` is k dt^2 / m.
    """
    return scalar(1.0) / (scalar(1.0) + scalar(0.25) * phase2)


@wp.func
def depth_integral(gap: scalar, rate: scalar, dt: scalar):
    """Integral of max(0, -phi) over a step [m s], phi being ``gap`` in its middle."""
    half = scalar(0.5) * dt * wp.abs(rate)
    if gap <= -half:
        return -gap * dt
    if gap >= half:
        return scalar(0.0)
    inside = half - gap
    return scalar(0.5) * inside * inside / wp.abs(rate)


@wp.func
def energetic_impulse(u: scalar, pull: scalar, out: scalar, into: scalar, inverse_mass: scalar):
    """Impulse of the energetic spring in one step.

    ``u`` is the rate of phi before the step, ``pull`` what all other forces change it by, ``out``
    and ``into`` the impulses of a whole step of coming out and of going in. The turn falls inside
    a step: the share before it is of one kind and the share after it of the other, and where the
    pull lies between the two the point stays where it is.
    """
    zero = scalar(0.0)
    after = zero
    if u < zero:
        change = pull + into * inverse_mass
        if u + change <= zero:
            return into
        left = scalar(1.0) + u / change
        after = left * wp.max(zero, pull + out * inverse_mass)
    else:
        change = pull + out * inverse_mass
        if u + change >= zero:
            return out
        left = scalar(1.0) + u / change
        after = left * wp.min(zero, pull + into * inverse_mass)
    return wp.clamp((after - u - pull) / inverse_mass, out, into)


@wp.func
def viscous_impulse(u: scalar, pull: scalar, spring: scalar, damp: scalar, inverse_mass: scalar):
    """Impulse of a spring and a damper ``damp`` = c dt [kg]; negative where it would pull.

    The damper sees the mean of the rates before and after the step (trapezoidal rule).
    """
    mean = u + scalar(0.5) * (pull + spring * inverse_mass)
    return spring - damp * mean / (scalar(1.0) + scalar(0.5) * damp * inverse_mass)


@wp.func
def damping(contact: CompliantData, stiffness: scalar, kind: int, load: scalar, size: scalar):
    """Damping in the coordinate phi [N s/m] of a contact that lasts.

    As given; or so that one point alone has the restitution asked for, and several share it; or,
    where the lander hardly moves any more, critical.
    """
    if contact.stiffness > scalar(0.0):
        return contact.damping / (size * size)
    zeta = wp.min(contact.zeta, _MOST_ZETA)
    if kind == GENTLE and zeta > scalar(0.0):
        zeta = scalar(1.0)
    return scalar(2.0) * zeta * wp.sqrt(stiffness / load)


@functools.cache
def normal_pass(surface_point: Any, surface_data: Any) -> Any:
    """The function that lets every point that can touch push, on one kind of surface."""

    @wp.struct
    class Pushed:
        motion: Motion
        pressed: Pressed

    @wp.func
    def push_all(
        contact: CompliantData,
        stiffness: scalar,
        kind: int,
        load: scalar,
        body: RigidBody,
        surface: surface_data,
        slope: scalar,
        clear: wp.array2d(dtype=scalar),
        slot: int,
        travel: scalar,
        margin: scalar,
        x: vec3,
        R: mat33,
        inverse_inertia: mat33,
        start: Motion,
        pull: Motion,
        dt: scalar,
    ):
        """Apply the normal impulses of one step; ``start`` is before ``pull`` is added to it.

        ``clear[j, slot]`` is the travel [m] up to which point j cannot touch: points beyond it are
        not looked up, which changes nothing but the time taken. A last row of -1 ends the search.
        """
        zero = scalar(0.0)
        m = Motion()
        m.v = start.v + pull.v
        m.w = start.w + pull.w
        # In a hit the points push one after the other and each sees what those before it did: the
        # turn from going in to coming out needs that. In contact that lasts, all see the same.
        seen = m
        sums = Pressed()
        keep = contact.restitution * contact.restitution
        if kind != HIT:
            keep = scalar(1.0)
        count = body.points.shape[0]
        j = int(0)
        while j < count:
            # Threads side by side look for their next point first, then look it up together.
            while clear[j, slot] > travel + margin:
                j += 1
            if j < count:
                arm = R * body.points[j]
                found = surface_point(surface, x + arm)
                gap = found.distance - body.radii[j]
                clear[j, slot] = travel + wp.max(gap, zero) / slope
                G = found.gradient
                lever = arm - body.radii[j] * found.normal
                turn = wp.cross(lever, G)
                pulled = wp.dot(G, pull.v) + wp.dot(turn, pull.w)
                if kind == HIT:
                    seen = m
                u = wp.dot(G, seen.v) + wp.dot(turn, seen.w) - pulled
                area = depth_integral(gap, u, dt)
                if area > zero:
                    size = wp.length(G)
                    inverse = size * size / body.mass + wp.dot(turn, inverse_inertia * turn)
                    phase2 = stiffness * inverse * dt * dt
                    J = matched(phase2) * stiffness * area
                    if kind != HIT:
                        # Of a step only partly in contact, the damper sees that part.
                        inside = scalar(1.0)
                        if -gap < scalar(0.5) * dt * wp.abs(u):
                            inside = scalar(0.5) - gap / (dt * wp.abs(u))
                        c = damping(contact, stiffness, kind, wp.max(load, inverse), size)
                        damped = viscous_impulse(u, pulled, J, c * dt * inside, inverse)
                        # At rest in both directions, but never pulling; else only in compression.
                        J = wp.max(damped, wp.where(kind == GENTLE, zero, J))
                    else:
                        out = keep * matched(keep * phase2) * stiffness * area
                        J = energetic_impulse(u, pulled, out, J, inverse)
                    impulse = J * G
                    m.v += impulse / body.mass
                    m.w += inverse_inertia * (J * turn)
                    weight = J * size
                    sums.impulse += impulse
                    sums.weight += weight
                    sums.lever += weight * lever
                    sums.spread += weight * wp.dot(lever, lever)
                    sums.stiffness += inverse
                    ended = wp.max(zero, -gap - scalar(0.5) * dt * (u + pulled + J * inverse))
                    sums.elastic += scalar(0.5) * keep * stiffness * ended * ended
                    sums.depth = wp.max(sums.depth, -gap / size)
                    sums.active += 1
                    sums.pace = wp.max(sums.pace, wp.abs(u) / size)
                elif u + pulled < zero and gap + scalar(4.0) * dt * (u + pulled) < zero:
                    sums.waiting = 1
                    sums.pace = wp.max(sums.pace, wp.abs(u) / wp.length(G))
                j += 1
        result = Pushed()
        result.motion = m
        result.pressed = sums
        return result

    return push_all


# -- friction, rolling resistance, spin friction --------------------------------------------------


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


@wp.func
def inverse_mass_at(body: RigidBody, inverse_inertia: mat33, lever: vec3):
    """m* = 1/m - [c] I^-1 [c] [1/kg] (paper 000, equation 20)."""
    c = wp.skew(lever)
    return wp.identity(n=3, dtype=scalar) / body.mass - c * inverse_inertia * c


@wp.func
def inverse_mass_along(body: RigidBody, inverse_inertia: mat33, lever: vec3, t: vec3):
    """t.m* t [1/kg] for a unit vector t."""
    c = wp.cross(lever, t)
    return scalar(1.0) / body.mass + wp.dot(c, inverse_inertia * c)


@wp.struct
class Held:
    """Motion after friction and its like, what held it, and the impulse of friction [N s]."""

    motion: Motion
    grip: Grip
    friction: vec3


@wp.func
def warm_pull(body: RigidBody, inverse_inertia: mat33, grip: Grip, dt: scalar):
    """What the grip of the last step would change in this one."""
    out = Motion()
    out.v = dt * (grip.friction + grip.push) / body.mass
    out.w = dt * (inverse_inertia * (wp.cross(grip.lever, grip.friction) + grip.rolling))
    return out


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
    if (
        wp.length(friction) <= contact.static_friction * weight
        and wp.length(torque) <= contact.rolling * weight
        and wp.length(pushed) <= contact.friction * weight
    ):
        held.motion.v = m.v + (F + push) / body.mass
        held.motion.w = turned + inverse_inertia * L
        held.friction = friction
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
        out.friction = total
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
        out.friction = impulse
        out.grip.stuck = 0
    out.grip.friction = out.friction / dt
    out.grip.lever = lever
    return out

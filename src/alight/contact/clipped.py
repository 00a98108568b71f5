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
    zeta = contact.zeta
    if kind == GENTLE and zeta > scalar(0.0):
        zeta = wp.max(zeta, scalar(1.0))
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
        not looked up, which changes nothing but the time taken.
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
        for j in range(body.points.shape[0]):
            if clear[j, slot] <= travel + margin:
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
                elif u + pulled < zero and gap + scalar(4.0) * dt * (u + pulled) < zero:
                    sums.waiting = 1
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
def sticking_impulse(body: RigidBody, inverse_inertia: mat33, n: vec3, lever: vec3, slip: vec3):
    """The impulse across ``n`` at ``lever`` that takes the velocity ``slip`` across ``n`` away.

    P = -T (T^t m* T)^-1 T^t slip with T a basis across n (erratum 004-6, as an impulse).
    """
    a = vec3(scalar(1.0), scalar(0.0), scalar(0.0))
    if wp.abs(n[0]) > scalar(0.6):
        a = vec3(scalar(0.0), scalar(1.0), scalar(0.0))
    t1 = wp.normalize(wp.cross(n, a))
    t2 = wp.cross(n, t1)
    c1 = wp.cross(lever, t1)
    c2 = wp.cross(lever, t2)
    i1 = inverse_inertia * c1
    one = scalar(1.0) / body.mass
    m11 = one + wp.dot(c1, i1)
    m12 = wp.dot(c2, i1)
    m22 = one + wp.dot(c2, inverse_inertia * c2)
    s1 = wp.dot(t1, slip)
    s2 = wp.dot(t2, slip)
    det = m11 * m22 - m12 * m12
    return (-(m22 * s1 - m12 * s2) * t1 - (m11 * s2 - m12 * s1) * t2) / det


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
    out.v = dt * grip.friction / body.mass
    out.w = dt * (inverse_inertia * (wp.cross(grip.lever, grip.friction) + grip.rolling))
    return out


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
    """Everything at once: no slip, no spin, no rolling, if all three caps allow it.

    ``held.grip.stuck`` is 2 where they do, and 0 where they do not: one after the other then.
    """
    held = Held()
    held.motion = m
    # With the rate gone, the effective point moves as the centre of mass does.
    brake = -body.mass * sideways(n, m.v)
    friction = sideways(n, dt * grip.friction) + brake
    torque = dt * grip.rolling - R * (body.inertia * (wp.transpose(R) * m.w))
    torque -= wp.cross(lever, brake)
    spin = wp.dot(n, torque)
    arm = spread + scalar(2.0 / 3.0) * contact.patch
    if (
        wp.length(friction) <= contact.static_friction * weight
        and wp.abs(spin) <= contact.friction * weight * arm
        and wp.length(torque - spin * n) <= contact.rolling * weight
    ):
        held.motion.v = wp.dot(n, m.v) * n
        held.motion.w = vec3()
        held.friction = friction
        held.grip.friction = friction / dt
        held.grip.lever = lever
        held.grip.rolling = torque / dt
        held.grip.stuck = 2
    return held


@wp.func
def resist_turning(
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
    """Spin friction about the normal, then rolling resistance (paper 004, section 4.3).

    Spin friction is the friction of the points about their centre of pressure: mu F times their
    mean distance from it, plus 2/3 of the patch radius. Rolling resistance is C_RR F against the
    rate, with a force at the centre of mass that keeps the slip as it was (erratum 004-7), scaled
    down where the pair would add energy.
    """
    zero = scalar(0.0)
    held = Held()
    held.motion = m
    held.grip = Grip()
    w = m.w
    v = m.v
    warm = dt * grip.rolling
    inertia = R * body.inertia * wp.transpose(R)
    # Spin about the normal.
    arm = spread + scalar(2.0 / 3.0) * contact.patch
    most = contact.friction * weight * arm
    spin_before = wp.dot(n, warm)
    response = wp.dot(n, inverse_inertia * n)
    spin = wp.clamp(spin_before - wp.dot(n, w) / response, -most, most)
    w += (spin - spin_before) * (inverse_inertia * n)
    torque = spin * n
    # Rolling: what brings the rate across the normal to rest, if the cap allows it.
    cap = contact.rolling * weight
    before = sideways(n, warm)
    total = sideways(n, before - inertia * w)
    if wp.length(total) <= cap:
        w += inverse_inertia * (total - before)
    else:
        w -= inverse_inertia * before
        total = vec3()
        rate = wp.length(w)
        if cap > zero and rate > zero:
            axis = w / rate
            turning = inverse_inertia * axis
            halt = rate / wp.dot(axis, turning)
            size = wp.min(cap, halt)
            total = -size * axis
            push = size * body.mass * sideways(n, wp.cross(turning, lever))
            # Torque and force together must not add energy.
            spent = size * (rate - scalar(0.5) * size * wp.dot(axis, turning))
            given = wp.dot(push, v) + scalar(0.5) * wp.dot(push, push) / body.mass
            if given > spent:
                push = push * (spent / given)
            w -= size * turning
            v += push / body.mass
            total = vec3()  # sliding needs no first guess
    torque += total
    held.motion.v = v
    held.motion.w = w
    held.grip.rolling = torque / dt
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
    fix = sticking_impulse(body, inverse_inertia, n, lever, slip)
    cone = contact.friction
    if grip.stuck != 0:
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
            impulse = -wp.min(size, halt) * t
            if size < halt:
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

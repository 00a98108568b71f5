"""The springs of clipped contact: what the ground's push changes in one step.

The step stands at its middle: positions are known, velocities are to be changed. Every point that
touches pushes along the gradient G of the distance phi, so that the springs have a potential
(erratum 004-10); in the coordinate phi a point has the rate u = G.(v + w x c) and the inverse mass
G.m* G. The impulse is the stiffness times the depth integrated over the step, and never pulls.
Friction and its like follow in ``friction``.

Vectors are in target axes; ``inverse_inertia`` is turned into them.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.state import CompliantData, Found, Pressed, Tangent
from alight.core.types import mat33, scalar, vec3
from alight.core.vectors import over, unit
from alight.vehicles.rigid.data import RigidBody

#: Kinds of contact: a hit, contact that outlasts a hit, and one that is coming to rest.
HIT = wp.constant(0)
LASTING = wp.constant(1)
GENTLE = wp.constant(2)

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


#: How far from its tangent planes the ground may be, over the depth of contact.
_FLAT = wp.constant(scalar(5e-5))


@wp.struct
class PointMemory:
    """What is known of the ground near the points of a lander, [point, slot]."""

    clear: wp.array2d(dtype=scalar)  # travel up to which it cannot touch [m]; a last row of -1
    looked: wp.array2d(dtype=scalar)  # travel when its ground was last looked up [m]
    tangent: wp.array2d(dtype=Tangent)  # as it was found there


@wp.func
def tangent_reach(contact: CompliantData, curvature: scalar):
    """How far a point may go [m] from where its ground was looked up.

    A distance whose second derivatives are kappa at most is kappa d^2 / 2 from its tangent plane: a
    5e-5 of the depth to which springs are set. Given springs may press in by far less than that. No
    farther than the depth: ground that is not what its bounds say is to be noticed.
    """
    if contact.stiffness > scalar(0.0):
        return scalar(0.0)
    reach = wp.sqrt(scalar(2.0) * _FLAT * contact.depth / curvature)
    return wp.min(contact.depth, reach)


@functools.cache
def normal_pass(surface_point: Any, surface_data: Any) -> Any:
    """Functions that find the points that could touch and let them push, on one surface."""

    @wp.struct
    class PushedState:
        motion: Motion
        pressed: Pressed

    @wp.func
    def look_up(
        body: RigidBody,
        surface: surface_data,
        slope: scalar,
        known: PointMemory,
        found_out: wp.array2d(dtype=Found),
        slot: int,
        travel: scalar,
        margin: scalar,
        reach: scalar,
        x: vec3,
        R: mat33,
    ):
        """Look up the points that could touch; their number, and themselves in ``found_out``.

        Points that surely cannot are not looked up, which changes nothing but the time taken, and
        those that have moved by less than ``reach`` [m] are where their tangent plane says.
        """
        count = body.points.shape[0]
        near = int(0)
        j = int(0)
        while j < count:
            # Threads side by side look for their next point first, then look it up together.
            while known.clear[j, slot] > travel + margin:
                j += 1
            if j < count:
                arm = R * (body.points[j] - body.shift)
                point = Found()
                if travel - known.looked[j, slot] < reach:
                    plane = known.tangent[j, slot]
                    point.gradient = plane.gradient
                    point.gap = plane.distance - body.radii[j]
                    point.gap += wp.dot(plane.gradient, x + arm - plane.place)
                    point.lever = arm - body.radii[j] * unit(plane.gradient)
                else:
                    at = surface_point(surface, x + arm)
                    plane = Tangent()
                    plane.place = x + arm
                    plane.distance = at.distance
                    plane.gradient = at.gradient
                    known.tangent[j, slot] = plane
                    known.looked[j, slot] = travel
                    point.gradient = at.gradient
                    point.gap = at.distance - body.radii[j]
                    point.lever = arm - body.radii[j] * at.normal
                known.clear[j, slot] = travel + wp.max(point.gap, scalar(0.0)) / slope
                found_out[near, slot] = point
                near += 1
                j += 1
        return near

    @wp.func
    def push_all(
        contact: CompliantData,
        stiffness: scalar,
        kind: int,
        load: scalar,
        body: RigidBody,
        found: wp.array2d(dtype=Found),
        near: int,
        slot: int,
        inverse_inertia: mat33,
        start: Motion,
        pull: Motion,
        dt: scalar,
    ):
        """Apply the normal impulses of one step; ``start`` is before ``pull`` is added to it."""
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
        for i in range(near):
            point = found[i, slot]
            gap = point.gap
            G = point.gradient
            lever = point.lever
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
                m.v += over(impulse, body.mass)
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
        result = PushedState()
        result.motion = m
        result.pressed = sums
        return result

    return look_up, push_all

"""Paper 004's own contact: forces that vary smoothly enough for an ordinary integrator.

Every point that is pressed into the ground by the depth d = radius - phi pushes with a spring along
the raw gradient of phi, so that springs have a potential (erratum 004-10), and with a damper along
the unit normal while it closes in (004-4). Everything else acts once, at the effective point: the
mean of the active points weighted by depth (equation 4, 004-9), with the ground's normal there.

- Friction slides with mu F_N against the slip, or sticks with the force that keeps the slip from
  changing (004-6), capped at mu_s F_N (004-5). The two blend by eta = s^2 (3 - 2 s) with
  s = min(1, |slip| / slip_speed).
- Spin friction does the same about the normal: at most mu F_N times the spread of the active
  points, plus 2/3 of the patch radius. Friction and spin that both stick are solved together.
- Rolling resistance is a torque of C_RR F_N against the rate across the normal, or what keeps that
  from changing while friction and spin friction hold too. All three come from one linear system.
- In paper 004's own form (``compensated``) the torque is against the whole rate and comes with a
  force at the centre of mass that leaves the slip alone (004-7). That force is scaled down where
  the pair would add energy.

Vectors are in target axes unless a name ends in ``_B``.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.compliant.law import Compliant
from alight.contact.friction import stopping_torque
from alight.contact.rolling_resistance import (
    resisted,
    rolling_limit,
    rolling_push,
    solve_across,
    spin_limit,
    tangential,
)
from alight.contact.state import CompliantData
from alight.core import devices
from alight.core.checks import checked_points
from alight.core.errors import InputError
from alight.core.types import mat33, quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.surfaces import Surface
from alight.vehicles import RigidBody, RigidLander

_NEVER = wp.constant(scalar(1e30))
#: Rounding of a place, relative to its distance from the origin.
_ROUNDING = wp.constant(scalar(4e-16))


@wp.struct
class Instant:
    """Where a lander is, how it moves, and how it would without the ground; target axes."""

    x: vec3  # [m]
    v: vec3  # [m/s]
    w: vec3  # rate relative to the target [rad/s]
    R: mat33  # body to target axes
    inverse_inertia: mat33  # [1/(kg m^2)]
    pull: vec3  # acceleration without the ground [m/s^2]
    turn: vec3  # derivative of w without the ground [rad/s^2]


@wp.struct
class NearPoints:
    """Which points can be near the ground: point j is skipped where clear[j, slot] > far."""

    clear: wp.array2d(dtype=scalar)  # travel [m] up to which a point cannot touch
    slot: int
    far: scalar  # [m]
    travel: scalar  # path so far [m], for what is written into ``clear`` ...
    slope: scalar  # ... with the bound on the gradient; 0 writes nothing


@wp.struct
class ContactLoad:
    """What the ground does to a lander at one instant."""

    force: vec3  # of everything [N]
    torque: vec3  # of everything, about the centre of mass [N m]
    normal_force: scalar  # size of the sum of springs and dampers [N]
    friction: vec3  # at the effective point [N]
    rolling_force: vec3  # at the centre of mass [N]
    rolling: vec3  # torque of rolling resistance [N m]
    spin: scalar  # torque of spin friction about the normal [N m]
    normal: vec3  # of the ground at the effective point
    lever: vec3  # of the effective point [m]
    spread: scalar  # root mean square distance of the active points from it [m]
    slip: vec3  # its velocity across the normal [m/s]
    elastic: scalar  # energy in the springs [J]
    depth: scalar  # of the deepest point [m]
    inverse_mass: scalar  # trace of the inverse masses that touch, |grad phi|^2 included [1/kg]
    active: int  # points that touch
    soon: scalar  # time in which the next point touches or leaves, as far as can be told [s]


# -- the linear spring -----------------------------------------------------------------------------


@wp.func
def linear_push(contact: CompliantData, depth: scalar, closing: scalar):
    """k d + c max(0, closing) [N] at ``depth`` > 0 [m] and ``closing`` speed [m/s]."""
    return contact.stiffness * depth + contact.damping * wp.max(scalar(0.0), closing)


@wp.func
def linear_stored(contact: CompliantData, depth: scalar):
    """Energy k d^2 / 2 [J]."""
    return scalar(0.5) * contact.stiffness * depth * depth


# -- slip and stick --------------------------------------------------------------------------------


@wp.func
def blend(speed: scalar, limit: scalar):
    """eta = s^2 (3 - 2 s) with s = min(1, speed / limit): 0 sticks, 1 slips."""
    s = wp.min(scalar(1.0), speed / limit)
    return s * s * (scalar(3.0) - scalar(2.0) * s)


@wp.func
def blend_rate(speed: scalar, limit: scalar):
    """eta / speed, which is smooth through zero."""
    if speed >= limit:
        return scalar(1.0) / speed
    s = speed / limit
    return s * (scalar(3.0) - scalar(2.0) * s) / limit


@wp.func
def capped(a: vec3, most: scalar):
    """``a``, shortened to ``most`` where it is longer."""
    size = wp.length(a)
    if size > most:
        return a * (most / size)
    return a


@wp.struct
class SlipResponse:
    """How the slip and the spin answer to friction: the symmetric matrix of both.

    For a force f = f1 t1 + f2 t2 at the lever c and a torque tau n, the slip changes by
    m11 f1 + m12 f2 + g1 tau, m12 f1 + m22 f2 + g2 tau and the spin by g1 f1 + g2 f2 + m33 tau.
    """

    t1: vec3
    t2: vec3
    m11: scalar  # [1/kg]
    m12: scalar
    m22: scalar
    g1: scalar  # [1/(kg m)]
    g2: scalar
    m33: scalar  # [1/(kg m^2)]
    b1: scalar  # change of the slip without friction [m/s^2]
    b2: scalar
    b3: scalar  # change of the spin without friction [rad/s^2]


@wp.func
def hold_of(
    inverse_mass: scalar, inverse_inertia: mat33, n: vec3, lever: vec3, b: vec3, spin: scalar
):
    """The matrix, and what it must hold: ``b`` [m/s^2] and ``spin`` [rad/s^2]."""
    a = vec3(scalar(1.0), scalar(0.0), scalar(0.0))
    if wp.abs(n[0]) > scalar(0.6):
        a = vec3(scalar(0.0), scalar(1.0), scalar(0.0))
    h = SlipResponse()
    h.t1 = wp.normalize(wp.cross(n, a))
    h.t2 = wp.cross(n, h.t1)
    c1 = wp.cross(lever, h.t1)
    c2 = wp.cross(lever, h.t2)
    i1 = inverse_inertia * c1
    i3 = inverse_inertia * n
    h.m11 = inverse_mass + wp.dot(c1, i1)
    h.m12 = wp.dot(c2, i1)
    h.m22 = inverse_mass + wp.dot(c2, inverse_inertia * c2)
    h.g1 = wp.dot(c1, i3)
    h.g2 = wp.dot(c2, i3)
    h.m33 = wp.dot(n, i3)
    h.b1 = wp.dot(h.t1, b)
    h.b2 = wp.dot(h.t2, b)
    h.b3 = spin
    return h


@wp.func
def sticking_force(h: SlipResponse, spin_torque: scalar):
    """Force that keeps the slip, given the torque of spin friction [N m] (erratum 004-6)."""
    s1 = h.b1 + h.g1 * spin_torque
    s2 = h.b2 + h.g2 * spin_torque
    det = h.m11 * h.m22 - h.m12 * h.m12
    return (-(h.m22 * s1 - h.m12 * s2) * h.t1 - (h.m11 * s2 - h.m12 * s1) * h.t2) / det


@wp.func
def sticking_spin(h: SlipResponse, force: vec3):
    """Torque that keeps the spin, given the force of friction [N]."""
    return -(h.b3 + h.g1 * wp.dot(h.t1, force) + h.g2 * wp.dot(h.t2, force)) / h.m33


@wp.func
def sticking_both(h: SlipResponse):
    """Torque of spin friction where it and friction both hold: the spin's row eliminated."""
    free = h
    free.m11 = h.m11 - h.g1 * h.g1 / h.m33
    free.m12 = h.m12 - h.g1 * h.g2 / h.m33
    free.m22 = h.m22 - h.g2 * h.g2 / h.m33
    free.b1 = h.b1 - h.g1 * h.b3 / h.m33
    free.b2 = h.b2 - h.g2 * h.b3 / h.m33
    return sticking_spin(h, sticking_force(free, scalar(0.0)))


@wp.func
def resist_sliding(
    contact: CompliantData, h: SlipResponse, load: ContactLoad, spin: scalar, most: scalar
):
    """``load`` with friction and with spin friction of ``most`` [N m] against ``spin`` [rad/s]."""
    one = scalar(1.0)
    out = load
    slide = contact.friction * load.normal_force
    rate = wp.abs(spin)
    turning = blend(rate, contact.slip_rate)
    spin_slip = -most * blend_rate(rate, contact.slip_rate) * spin
    spin_stick = wp.clamp(sticking_both(h), -most, most)
    torque = spin_slip + (one - turning) * spin_stick
    stick = capped(sticking_force(h, torque), contact.static_friction * load.normal_force)
    speed = wp.length(load.slip)
    sliding = blend(speed, contact.slip_speed)
    ratio = blend_rate(speed, contact.slip_speed)
    out.friction = -(slide * ratio) * load.slip + (one - sliding) * stick
    # The torque above belongs to friction that sticks; where it slides the spin is held against
    # what friction really is.
    alone = wp.clamp(sticking_spin(h, out.friction), -most, most)
    alone = spin_slip + (one - turning) * alone
    out.spin = (one - sliding) * torque + sliding * alone
    return out


@wp.func
def rolling_torque(contact: CompliantData, now: Instant, load: ContactLoad, held: vec3):
    """Torque of rolling resistance [N m]; ``held`` keeps the rate from changing, if it may."""
    most = rolling_limit(contact, load.normal_force)
    w = resisted(contact, load.normal, now.w)
    rate = wp.length(w)
    part = scalar(1.0) - blend(rate, contact.slip_rate)
    return -(most * blend_rate(rate, contact.slip_rate)) * w + part * capped(held, most)


@wp.func
def held_with_friction(
    body: RigidBody, now: Instant, load: ContactLoad, b: vec3, turn: vec3, most: scalar
):
    """The torque across the normal [N m] that keeps the rate across it while friction sticks.

    ``b`` [m/s^2] is how the effective point is accelerated where the lander does not turn faster,
    ``turn`` [rad/s^2] how its rate changes without friction, and ``most`` [N m] what spin friction
    may be. What stops a motion by impulses stops its change by forces.
    """
    change = Motion()
    change.v = b
    change.w = turn
    stop = stopping_torque(body, now.R, load.normal, load.lever, change, scalar(0.0), most)
    return stop.rolling


@wp.func
def held_beside_slip(now: Instant, load: ContactLoad, turn: vec3):
    """The torque across the normal [N m] that keeps the rate across it, friction being what it is.

    ``turn`` [rad/s^2] is how the rate changes without friction.
    """
    torque = wp.cross(load.lever, load.friction) + load.spin * load.normal
    return solve_across(load.normal, now.inverse_inertia, turn + now.inverse_inertia * torque)


@wp.func
def resist_compensated(
    contact: CompliantData, body: RigidBody, now: Instant, load: ContactLoad, turn: vec3
):
    """``load`` with paper 004's rolling resistance (section 4.3; erratum 004-7)."""
    zero = scalar(0.0)
    out = load
    torque = wp.cross(load.lever, load.friction) + load.spin * load.normal
    change = turn + now.inverse_inertia * torque
    held = -(now.R * (body.inertia * (wp.transpose(now.R) * change)))
    L = rolling_torque(contact, now, load, held)
    F = rolling_push(body, now.inverse_inertia, load.normal, load.lever, L)
    # Torque and force together add no energy; in rolling stick no more than sticking friction may.
    given = wp.dot(F, now.v)
    part = scalar(1.0) - blend(wp.length(now.w), contact.slip_rate)
    spent = wp.max(zero, -wp.dot(L, now.w)) + part * wp.length(F) * contact.slip_speed
    if given > spent:
        F = F * (spent / given)
    out.rolling = L
    out.rolling_force = F
    return out


# -- everything, on one kind of surface ------------------------------------------------------------


@functools.cache
def smooth_load(
    surface_point: Any, surface_data: Any, push: Any = linear_push, stored: Any = linear_stored
) -> Any:
    """The function ``(contact, body, surface, now, look) -> Load``.

    ``push(contact, depth, closing)`` is the normal law [N] and ``stored(contact, depth)`` the
    energy [J] of its part at rest, push(contact, depth, 0), which acts along the raw gradient.
    """

    @wp.struct
    class ForceSums:
        load: ContactLoad
        weight: scalar  # sum of depths [m]
        first: vec3  # lever of the first active point [m]; levers are counted from it
        lever: vec3  # weighted by depth [m^2]
        arm: vec3  # of what turns with the body, the levers less the radii, likewise [m^2]
        spread: scalar  # squares of the levers [m^3]

    @wp.func
    def press_all(
        contact: CompliantData,
        body: RigidBody,
        surface: surface_data,
        now: Instant,
        look: NearPoints,
    ):
        """Springs and dampers of all points."""
        zero = scalar(0.0)
        sums = ForceSums()
        sums.load.soon = _NEVER
        rounding = _ROUNDING * wp.length(now.x)
        for j in range(body.points.shape[0]):
            if look.clear[j, look.slot] <= look.far:
                arm = now.R * (body.points[j] - body.shift)
                found = surface_point(surface, now.x + arm)
                depth = body.radii[j] - found.distance
                if look.slope > zero:
                    bound = look.travel + wp.max(-depth, zero) / look.slope
                    look.clear[j, look.slot] = bound
                G = found.gradient
                size = wp.length(G)
                lever = arm - body.radii[j] * found.normal
                rising = wp.dot(found.normal, now.v + wp.cross(now.w, lever))
                if depth > zero:
                    spring = push(contact, depth, zero)
                    damper = push(contact, depth, -rising) - spring
                    force = spring * G + damper * found.normal
                    turn = wp.cross(lever, G)
                    inverse = size * size / body.mass + wp.dot(turn, now.inverse_inertia * turn)
                    sums.load.force += force
                    sums.load.torque += wp.cross(lever, force)
                    sums.load.elastic += stored(contact, depth)
                    sums.load.depth = wp.max(sums.load.depth, depth / size)
                    sums.load.inverse_mass += inverse
                    if sums.load.active == 0:
                        sums.first = lever
                    aside = lever - sums.first
                    sums.load.active += 1
                    sums.weight += depth
                    sums.lever += depth * aside
                    sums.arm += depth * arm
                    sums.spread += depth * wp.dot(aside, aside)
                    if rising > zero:
                        # As if the point were alone on its spring, which pushes less and less.
                        omega = wp.sqrt(spring / depth * inverse)
                        ends = wp.atan(omega * depth / (size * rising)) / omega
                        sums.load.soon = wp.min(sums.load.soon, ends + rounding / (size * rising))
                elif rising < zero:
                    begins = (rounding - depth) / (-size * rising)
                    sums.load.soon = wp.min(sums.load.soon, begins)
        return sums

    @wp.func
    def load_of(
        contact: CompliantData,
        body: RigidBody,
        surface: surface_data,
        now: Instant,
        look: NearPoints,
    ):
        """Everything the ground does at one instant."""
        sums = press_all(contact, body, surface, now, look)
        load = sums.load
        if load.active == 0:
            return load
        aside = sums.lever / sums.weight
        lever = sums.first + aside
        found = surface_point(surface, now.x + lever)
        n = found.normal
        load.lever = lever
        load.normal = n
        load.normal_force = wp.length(load.force)
        load.slip = tangential(n, now.v + wp.cross(now.w, lever))
        load.spread = wp.sqrt(wp.max(scalar(0.0), sums.spread / sums.weight - wp.dot(aside, aside)))
        # How the effective point is accelerated without friction. Of its lever only what is fixed
        # in the body turns with it: the radius of a rolling ball keeps pointing down.
        pull = now.pull + load.force / body.mass
        turn = now.turn + now.inverse_inertia * load.torque
        b = pull + wp.cross(now.w, wp.cross(now.w, sums.arm / sums.weight))
        most = spin_limit(contact, load.spread, load.normal_force)
        rolling = vec3()
        if contact.compensated == scalar(0.0):
            held = held_with_friction(body, now, load, b, turn, most)
            rolling = rolling_torque(contact, now, load, held)
        turned = turn + now.inverse_inertia * rolling
        one = scalar(1.0) / body.mass
        b = b + wp.cross(turned, lever)
        h = hold_of(one, now.inverse_inertia, n, lever, b, wp.dot(n, turned))
        load = resist_sliding(contact, h, load, wp.dot(n, now.w), most)
        if contact.compensated == scalar(0.0):
            # Where friction slides, rolling is held against what friction really is.
            sliding = blend(wp.length(load.slip), contact.slip_speed)
            alone = rolling_torque(contact, now, load, held_beside_slip(now, load, turn))
            load.rolling = (scalar(1.0) - sliding) * rolling + sliding * alone
        else:
            load = resist_compensated(contact, body, now, load, turn)
        load.force += load.friction + load.rolling_force
        load.torque += wp.cross(lever, load.friction) + load.spin * n + load.rolling
        return load

    return load_of


# -- alone, on arrays ------------------------------------------------------------------------------


@functools.cache
def _load_kernel(surface_point: Any, surface_data: Any, push: Any, stored: Any) -> Any:
    """A kernel that evaluates the law for one state a thread."""
    load_of = smooth_load(surface_point, surface_data, push, stored)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_load(
        offset: int,
        contact: wp.array(dtype=CompliantData),
        body: RigidBody,
        surface: surface_data,
        look: NearPoints,
        x: wp.array(dtype=vec3),
        v: wp.array(dtype=vec3),
        q: wp.array(dtype=quat),
        w_B: wp.array(dtype=vec3),
        pull: wp.array(dtype=vec3),
        turn: wp.array(dtype=vec3),
        load_out: wp.array(dtype=ContactLoad),
    ) -> None:
        i = wp.tid() + offset
        now = Instant()
        now.x = x[i]
        now.v = v[i]
        now.R = wp.quat_to_matrix(wp.normalize(q[i]))
        now.w = now.R * w_B[i]
        now.inverse_inertia = now.R * body.inverse_inertia * wp.transpose(now.R)
        now.pull = pull[i]
        now.turn = turn[i]
        row = wp.min(i, contact.shape[0] - 1)
        load_out[i] = load_of(contact[row], body, surface, now, look)

    return evaluate_load


def load(
    contact: Compliant,
    lander: RigidLander,
    surface: Surface,
    x: npt.ArrayLike,
    v: npt.ArrayLike,
    q: npt.ArrayLike,
    w: npt.ArrayLike,
    pull: npt.ArrayLike = (0.0, 0.0, 0.0),
    turn: npt.ArrayLike = (0.0, 0.0, 0.0),
    *,
    device: str = "auto",
    push: Any = linear_push,
    stored: Any = linear_stored,
) -> Any:
    """What the ground does to ``lander`` in n states: n records with the fields of ``ContactLoad``.

    Parameters
    ----------
    x, v:
        Place (n, 3) [m] and velocity (n, 3) [m/s], in target axes.
    q, w:
        Attitude (n, 4), body to target, and rate relative to the target (n, 3) [rad/s], body axes.
    pull, turn:
        Acceleration [m/s^2] and derivative of the rate [rad/s^2] without the ground, (n, 3) in
        target axes: sticking holds against them.
    """
    if contact.scheme != "smooth":
        raise InputError(
            f'the contact has the scheme "{contact.scheme}"; forces at an instant are those of the '
            'smooth scheme: give Compliant(..., scheme="smooth").'
        )
    if contact.ground is not None:
        raise InputError(
            "the contact's ground varies from place to place; forces at an instant are evaluated "
            "for one ground: give Compliant without ground, and the values of the place."
        )
    states = [checked_points(np.atleast_2d(a), "contact") for a in (x, v, w, pull, turn)]
    turned = np.atleast_2d(np.asarray(q, dtype=np.float64))
    count = max(len(a) for a in (*states, turned))
    rows = contact.rows(lander)
    if len(rows) not in (1, count):
        raise InputError(f"contact parameters are given for {len(rows)} runs, states for {count}.")
    target = devices.resolve(device)
    arrays = [devices.array(np.broadcast_to(a, (count, 3)), vec3, target) for a in states]
    q_in = devices.array(np.broadcast_to(turned, (count, 4)), quat, target)
    look = NearPoints()
    look.clear = wp.full((lander.n_points, 1), -1.0, dtype=scalar, device=target.name)
    inputs = [
        wp.array(rows, dtype=CompliantData, device=target.name),
        lander.kernel_data(target),
        surface.data(target),
        look,
        *arrays[:2],
        q_in,
        *arrays[2:],
    ]
    kernel = _load_kernel(surface.point, surface.Data, push, stored)
    return devices.computed(kernel, count, inputs, [ContactLoad], target)[0]

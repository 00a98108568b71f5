"""Rolling resistance and spin friction: one law, which every scheme of contact takes from here.

Where the ground pushes with the force N along the normal n it also resists turning.

- **Rolling resistance**: a torque across n of at most C_RR N, against the part of the rate across
  n. C_RR is a length [m]: how far ahead of the centre the ground carries what rolls.
- **Spin friction**: a torque about n of at most mu N (r + 2/3 p), against the rate about n; p is
  the radius of the patch in which a point touches, r the distance of several points from their
  centre.

Nothing else goes with them. In a step of length dt, and in a hit, forces are impulses [N s] and
torques angular impulses [N m s]; the limits are the same.

Paper 004's own form (section 4.3, erratum 004-7) is ``compensated``: its torque is against the
whole rate where something rolls, and comes with a push at the centre of mass that leaves the slip
alone.

Vectors are in target axes; ``inverse_inertia`` is turned into them.
"""

import warp as wp

from alight.contact.state import CompliantData
from alight.core.types import mat33, scalar, vec3
from alight.core.vectors import over, unit
from alight.vehicles.rigid.data import RigidBody

#: In a kernel 2/3 would be divided in single precision.
_TWO_THIRDS = wp.constant(scalar(2.0 / 3.0))
#: Shares of a length below this are rounding.
_ROUNDING = wp.constant(scalar(1e-12))


@wp.func
def tangential(n: vec3, a: vec3):
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
    t1 = unit(wp.cross(n, a))
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
    return over((m12 * s2 - m22 * s1) * t1 + (m21 * s1 - m11 * s2) * t2, det)


# -- the limits ------------------------------------------------------------------------------------


@wp.func
def rolling_limit(contact: CompliantData, push: scalar):
    """Largest torque across the normal [N m] under the normal force ``push`` [N]."""
    return contact.rolling * push


@wp.func
def spin_limit(contact: CompliantData, spread: scalar, push: scalar):
    """Largest torque about the normal [N m]; ``spread`` [m] of the points about their centre."""
    return contact.friction * push * (spread + _TWO_THIRDS * contact.patch)


@wp.func
def resisted(contact: CompliantData, n: vec3, w: vec3):
    """The part of the rate ``w`` that rolling resistance is against."""
    return w - (scalar(1.0) - contact.compensated) * wp.dot(n, w) * n


# -- over one step ---------------------------------------------------------------------------------


@wp.struct
class Turning:
    """What resists turning over one step, and the rate afterwards."""

    rolling: vec3  # angular impulse of rolling resistance [N m s]
    spin: scalar  # of spin friction, about the normal [N m s]
    w: vec3  # [rad/s]
    rolls: int  # 1 where rolling resistance could not end the rolling
    spare: int  # keeps structs free of padding


@wp.func
def resist_turning(
    contact: CompliantData,
    inverse_inertia: mat33,
    n: vec3,
    spread: scalar,
    push: scalar,
    w: vec3,
    before: vec3,
):
    """Spin friction, then rolling resistance, under the normal impulse ``push`` [N s].

    Each ends what it acts on where its limit allows that, else it is the largest that does not turn
    it round: they can only take energy out. ``before`` [N m s] is a guess of both that is contained
    in the rate ``w`` already, and is replaced.
    """
    zero = scalar(0.0)
    out = Turning()
    spinning = inverse_inertia * n
    was = wp.dot(n, before)
    most = spin_limit(contact, spread, push)
    out.spin = wp.clamp(was - wp.dot(n, w) / wp.dot(n, spinning), -most, most)
    w += (out.spin - was) * spinning - inverse_inertia * tangential(n, before)
    out.rolling = solve_across(n, inverse_inertia, w)
    most = rolling_limit(contact, push)
    if wp.length(out.rolling) > most:
        out.rolls = 1
        out.rolling = vec3()
        against = resisted(contact, n, w)
        rate = wp.length(against)
        if rate > zero:
            axis = over(against, rate)
            halt = rate / wp.dot(axis, inverse_inertia * axis)
            out.rolling = -wp.min(most, halt) * axis
    out.w = w + inverse_inertia * out.rolling
    return out


@wp.func
def rolling_push(body: RigidBody, inverse_inertia: mat33, n: vec3, lever: vec3, torque: vec3):
    """The impulse at the centre of mass that goes with a torque against rolling [N s].

    Together they leave the slip as it was (erratum 004-7).
    """
    return -body.mass * tangential(n, wp.cross(inverse_inertia * torque, lever))


# -- over one hit ----------------------------------------------------------------------------------


@wp.func
def arsinh_of(x: scalar, h: scalar):
    """arsinh(x / h) for h > 0."""
    y = wp.abs(x) / h
    return wp.sign(x) * wp.log(y + wp.sqrt(scalar(1.0) + y * y))


@wp.func
def mean_direction(start: vec3, end: vec3):
    """Mean of the unit vector along a vector that goes evenly from ``start`` to ``end``.

    With x along the way and h the distance of the way from 0, the unit vector is (x, h)/sqrt(x^2 +
    h^2), whose integrals are sqrt(x^2 + h^2) and h arsinh(x/h).
    """
    way = end - start
    length = wp.length(way)
    one = wp.length(start)
    other = wp.length(end)
    if length <= scalar(1e-9) * (one + other):
        return wp.normalize(end)
    along = way / length
    x = wp.dot(start, along)
    aside = start - x * along
    h = wp.length(aside)
    mean = ((other - one) / length) * along
    if h > _ROUNDING * (one + other):
        mean += ((arsinh_of(x + length, h) - arsinh_of(x, h)) / length) * aside
    return mean


@wp.func
def against_mean(inverse_inertia: mat33, start: vec3, end: vec3, most: scalar):
    """Angular impulse [N m s] of a torque that resists a rate, ``most`` where it does all the time.

    The rate goes from ``start`` to ``end`` evenly. What hardly turns is not thrown about: the
    torque is no more than could undo both.
    """
    torque = -most * mean_direction(start, end)
    size = wp.length(torque)
    if size > scalar(0.0):
        axis = torque / size
        undo = (wp.length(start) + wp.length(end)) / wp.dot(axis, inverse_inertia * axis)
        torque = wp.min(size, undo) * axis
    return torque


@wp.func
def rolling_in_hit(
    contact: CompliantData, inverse_inertia: mat33, n: vec3, start: vec3, end: vec3, push: scalar
):
    """Angular impulse [N m s] of rolling resistance in a hit of the normal impulse ``push`` [N s].

    The rate goes from ``start`` to ``end``, evenly as the impulse grows.
    """
    most = rolling_limit(contact, push)
    return against_mean(inverse_inertia, tangential(n, start), tangential(n, end), most)


@wp.func
def spin_in_hit(
    contact: CompliantData, inverse_inertia: mat33, n: vec3, start: vec3, end: vec3, push: scalar
):
    """The same of spin friction, of a single point."""
    most = spin_limit(contact, scalar(0.0), push)
    return against_mean(inverse_inertia, wp.dot(n, start) * n, wp.dot(n, end) * n, most)


@wp.func
def no_farther_than_rest(torque: vec3, free: vec3, ended: vec3):
    """``torque`` of a hit, less where it would turn a motion round that it should end.

    ``free`` is the rate that the hit would leave without it and ``ended`` that with it.
    """
    without = wp.dot(torque, free)
    with_it = wp.dot(torque, ended)
    if without < scalar(0.0) and with_it > scalar(0.0):
        return torque * (without / (without - with_it))
    return torque

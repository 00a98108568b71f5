"""The impulse law of one collision, for kernels: paper 000, section 5.

``impact`` follows the contact point through compression and restitution, with the normal impulse p
as its clock. Where the slip runs straight, and where the point sticks, all is in closed form; else
it goes by Taylor series. The equations of slip are in ``impact_slip``, what is in closed form in
``impact_phases``, the rest in ``impact_curves``.

Axes are those of the contact: the third is the outward normal. Inside, masses are over m33 and
speeds over the closing speed, so that nothing depends on how slow a hit is.
"""

import warp as wp

from alight.contact.impulse.impact_curves import curved, jumped
from alight.contact.impulse.impact_phases import (
    HALTED,
    SLID,
    UNRESOLVED,
    Hit,
    straight,
    straight_along,
    without_slip,
)
from alight.contact.impulse.impact_slip import ContactInertia, bearing_of, found, no_slip, settling
from alight.core.out_of_line import out_of_line
from alight.core.types import mat22, mat33, scalar, vec2, vec3
from alight.core.warp_setup import POINT_OPTIONS

#: Ten times the pieces of any hodograph among the million of tests/properties/test_impact.py (189).
_MOST_PIECES = wp.constant(2000)

#: Part of the speed scale that may be lost where a curve is taken for straight: no less than what
#: a step may get wrong, or a direction that has settled would never be seen to have.
_STRAIGHT = wp.constant(scalar(2e-13))

#: Angle [rad] to the direction in which slip dies from which on its end is worth a try.
_NEAR = wp.constant(scalar(0.1))

_ENDLESS = wp.constant(scalar(1e300))


@wp.struct
class ImpactResult:
    """What a collision does, in contact axes."""

    impulse: vec3  # on the body [N s]
    velocity: vec3  # of the contact point afterwards [m/s]
    work_normal: scalar  # of the normal force [J]
    work_friction: scalar  # of friction [J]
    compression: scalar  # normal impulse of compression [N s]
    flags: int  # what it went through: SLID, SWERVED, ...


@wp.func
def piece(body: ContactInertia, hit: Hit):
    """The next piece of the hodograph."""
    speed = wp.length(hit.v)
    if no_slip(body, speed):
        if (hit.flags & SLID) != 0:
            hit.flags = hit.flags | HALTED
        return without_slip(body, hit)
    hit.flags = hit.flags | SLID
    at = bearing_of(body, hit.v, speed)
    turning = wp.abs(at.turn)
    settles = at.across + at.along
    slows = at.along < scalar(0.0)
    error = _STRAIGHT * body.size / speed
    if slows and turning * body.rate <= -error * at.across * at.along:
        return straight_along(body, hit, at)
    if turning < _NEAR * settles and (turning <= error * settles or (slows and not hit.tried)):
        end = settling(body, at)
        if found(body, at, end):
            if turning <= error * settles:
                # Nearly in a direction that attracts: in it, then. Left as it is, the direction
                # would stay wrong for as long as the slip lasts.
                hit.v = speed * end.e
                return straight_along(body, hit, end)
            before = hit.push
            hit = jumped(body, hit, at, end)
            if hit.push > before:
                return hit
    return curved(body, hit, at)


@wp.func
def started(velocity: vec3, scale: scalar):
    """A collision that begins."""
    hit = Hit()
    hit.v = vec2(velocity[0], velocity[1]) / scale
    hit.rise = velocity[2] / scale
    hit.closing = True
    hit.done = False
    return hit


@wp.func
def body_of(inverse_mass: mat33, restitution: scalar, friction: scalar):
    """The body in units of m33."""
    one = scalar(1.0) / inverse_mass[2, 2]
    m12 = inverse_mass[0, 1] * one
    body = ContactInertia()
    body.A = mat22(inverse_mass[0, 0] * one, m12, m12, inverse_mass[1, 1] * one)
    body.b = vec2(inverse_mass[0, 2] * one, inverse_mass[1, 2] * one)
    body.friction = friction
    body.keep = restitution * restitution
    body.size = wp.sqrt(wp.trace(body.A))
    body.rate = friction * wp.trace(body.A) + wp.length(body.b)
    return body


@out_of_line
def impact(inverse_mass: mat33, velocity: vec3, restitution: scalar, friction: scalar):
    """The collision of a contact point that moves with ``velocity`` [m/s].

    ``inverse_mass`` is m* = 1/M - [c] I^-1 [c] [1/kg], symmetric; ``restitution`` is the energetic
    coefficient, 0 to 1; ``friction`` is mu >= 0. All in contact axes, the third along the outward
    normal. A point that does not approach (velocity[2] >= 0) is left alone.
    """
    zero = scalar(0.0)
    result = ImpactResult()
    result.velocity = velocity
    if not velocity[2] < zero:
        return result
    body = body_of(inverse_mass, restitution, friction)
    # Slip beyond 1e100 times the closing speed would only overflow.
    slip = wp.max(wp.abs(velocity[0]), wp.abs(velocity[1]))
    scale = wp.max(-velocity[2], scalar(1e-100) * slip)
    hit = started(velocity, scale)
    if friction == zero:
        hit.flags = SLID
        hit = straight(body, hit, vec2(zero, zero), scalar(1.0), _ENDLESS)
    i = int(0)
    while i < _MOST_PIECES and not hit.done:
        hit = piece(body, hit)
        i += 1
    if not hit.done:
        hit.flags = hit.flags | UNRESOLVED
    momentum = scale / inverse_mass[2, 2]
    energy = momentum * scale
    result.impulse = momentum * vec3(hit.drag[0], hit.drag[1], hit.push)
    result.velocity = scale * vec3(hit.v[0], hit.v[1], hit.rise)
    # What was given back is keep times what was taken: that is where it ended.
    result.work_normal = energy * (body.keep - scalar(1.0)) * hit.taken
    result.work_friction = energy * wp.min(hit.rubbed, zero)  # rounding may leave 1e-16
    result.compression = momentum * hit.pressed
    result.flags = hit.flags
    return result


@wp.kernel(enable_backward=False, module="unique", module_options=POINT_OPTIONS)
def impact_each(
    offset: int,
    inverse_mass: wp.array(dtype=mat33),
    velocity: wp.array(dtype=vec3),
    restitution: wp.array(dtype=scalar),
    friction: wp.array(dtype=scalar),
    result_out: wp.array(dtype=ImpactResult),
) -> None:
    """One collision a thread."""
    i = wp.tid() + offset
    result_out[i] = impact(inverse_mass[i], velocity[i], restitution[i], friction[i])

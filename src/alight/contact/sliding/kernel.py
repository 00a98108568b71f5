"""A point on a smooth surface: what presses it, how it bounces, and how it comes to a stop.

On the level set f = 0 of a surface, with gradient f' and Hessian H, a path must keep
f'.a + v.H.v = 0. What the ground adds along the outward normal n is therefore, per mass,

    N = -(f'.a_free + v.H.v)/|f'|

(paper 001, equations 14 and 21, in Cartesian coordinates: errata 001-9 and 001-12), and it pulls by
mu N against the velocity. Where N would be negative the point leaves the ground.
"""

import warp as wp

from alight.contact.ground_properties.local_law import GroundPoint
from alight.contact.sliding.law import SlidingData
from alight.core.types import scalar, vec3
from alight.surfaces.law import SurfaceBend

#: Velocities against the pull to within this much of a cosine are straight against it.
_STRAIGHT = wp.constant(scalar(1e-8))
_FOREVER = wp.constant(scalar(1e30))


@wp.struct
class SupportForce:
    """The ground under a point that it carries, per mass."""

    normal: vec3
    support: scalar  # N [m/s^2]
    friction: vec3  # [m/s^2]
    along: vec3  # what pulls along the ground, friction apart [m/s^2]
    bend: scalar  # how much the ground bends there, any direction [1/m]


@wp.struct
class Halt:
    """How a point comes to a stop if pull and support stay as they are."""

    time: scalar  # [s]; 1e30 where it does not stop
    shift: vec3  # where, from here [m]


@wp.func
def carried(at: SurfaceBend, v: vec3, free: vec3, friction: scalar, creeps: bool):
    """What the ground does to a point of velocity ``v`` [m/s] that is pulled by ``free`` [m/s^2].

    A point that starts from rest slides the way it is pulled, and so does one that ``creeps``.
    """
    size = wp.length(at.gradient)
    n = at.gradient / size
    found = SupportForce()
    found.normal = n
    found.support = -(wp.dot(at.gradient, free) + wp.dot(v, at.hessian * v)) / size
    found.along = free - wp.dot(free, n) * n
    way = v
    if creeps or wp.dot(v, v) == scalar(0.0):
        way = found.along
    length = wp.length(way)
    if length > scalar(0.0):
        found.friction = -(friction * found.support / length) * way
    found.bend = wp.sqrt(wp.ddot(at.hessian, at.hessian)) / size
    return found


@wp.func
def halt(push: SupportForce, v: vec3, friction: scalar):
    """The end of a slide on ground that is even from here on, in closed form.

    With F = mu N, a pull G along the ground and an angle of cosine c between it and the velocity,
    s' = G c - F and s c' = G (1 - c^2) give d/dt [s (F + G c)] = G^2 - F^2, so that the time left
    is s (F + G c)/(F^2 - G^2); two more such integrals give the place. Where the pull exceeds
    friction only a point that goes straight against it stops.
    """
    out = Halt()
    out.time = _FOREVER
    s = wp.length(v)
    drag = friction * push.support  # F
    down = wp.length(push.along)  # G
    if s == scalar(0.0) or drag <= scalar(0.0):
        return out
    way = v / s
    pulled = way
    if down > scalar(0.0):
        pulled = push.along / down
    c = wp.dot(way, pulled)
    across = way - c * pulled
    if scalar(1.0) + c < _STRAIGHT:
        out.time = s / (drag + down)
        out.shift = (scalar(0.5) * s * out.time) * way
    elif drag > down:
        more = (drag - down) * (drag + down)
        twice = scalar(2.0) * drag
        out.time = s * (drag + down * c) / more
        ahead = (down * (scalar(1.0) + c * c) + twice * c) / (scalar(4.0) * more)
        aside = (twice + down * c) / (twice * twice - down * down)
        out.shift = s * s * (ahead * pulled + aside * across)
    return out


@wp.func
def downhill(push: SupportForce, v: vec3):
    """True where a point goes the way it is pulled, or rests."""
    ahead = wp.dot(v, push.along)
    return ahead >= (scalar(1.0) - _STRAIGHT) * wp.length(v) * wp.length(push.along)


@wp.func
def creeping(push: SupportForce, v: vec3, friction: scalar, bent: scalar, tolerance: scalar):
    """True where a point is so slow that friction keeps it going the way it is pulled.

    Its direction follows the pull within the time s/F; meanwhile the ground turns by an angle of
    ``bent`` [1/m] s^2/F, and that is below ``tolerance``. Steps need not resolve that time then.
    """
    slow = wp.dot(v, v) * bent < tolerance * friction * push.support
    return slow and downhill(push, v)


@wp.func
def bounced(law: SlidingData, n: vec3, v: vec3):
    """The velocity [m/s] after a bounce: -e_n v_n + e_t v_t (paper 001, equation 30)."""
    closing = wp.dot(n, v)
    return law.tangential * (v - closing * n) - law.restitution * closing * n


@wp.func
def local_sliding(own: SlidingData, here: GroundPoint):
    """``own`` as a place makes it; sticking holds at least what sliding does."""
    out = own
    out.restitution = wp.min(scalar(1.0), here.factor[0] * own.restitution + here.value[0])
    out.friction = here.factor[1] * own.friction + here.value[1]
    out.static_friction = here.factor[2] * own.static_friction + here.value[2]
    out.static_friction = wp.max(out.static_friction, out.friction)
    return out

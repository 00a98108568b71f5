"""What a place makes of the contact law: the values of ``Compliant`` as they are there.

A law of the ground answers, for each property and place, with a factor and a value:

    local = factor * own + value,

``own`` being what the contact law (or this run's draw of it) says. A factor alone multiplies, a
value with the factor 0 replaces. The form is closed under layers: one laid on another multiplies or
replaces what lies beneath.

Restitution comes out of springs and dampers, so it has to be turned into theirs. Clipped springs
take it as it is. The smooth scheme keeps its stiffness everywhere, so that springs have a potential
and no energy can be made by carrying a dent into stiffer ground; the damper alone follows.
"""

import math

import warp as wp

from alight.contact.state import CompliantData
from alight.core.types import scalar, vec4

#: What may vary over the ground, in the order of the numbers in a ``GroundPoint``.
PROPERTIES = ("restitution", "friction", "static_friction", "rolling_resistance")

#: Where friction is in a ``GroundPoint``.
FRICTION = wp.constant(PROPERTIES.index("friction"))

_HALF_PI = wp.constant(scalar(0.5 * math.pi))
_THIRD = wp.constant(scalar(1.0 / 3.0))  # in a function, the division would be in float32


@wp.struct
class GroundPoint:
    """What the ground says at a place, in the order of ``PROPERTIES``."""

    factor: vec4
    value: vec4


@wp.func
def unchanged():
    """The ground of the contact law itself."""
    one = scalar(1.0)
    point = GroundPoint()
    point.factor = vec4(one, one, one, one)
    return point


@wp.func
def local_friction(own: scalar, here: GroundPoint):
    """Coulomb's coefficient of a place, ``own`` being that of the contact law."""
    return here.factor[FRICTION] * own + here.value[FRICTION]


@wp.func
def damping_ratio_at(restitution: scalar):
    """Damping ratio zeta that gives ``restitution``: ``contact.damping_ratio`` for kernels.

    Newton's method on h(z) = z T(z) = -ln e, with T the time to the deepest point. h is concave and
    rises, so from the left it never overshoots: 12 steps are enough for any e above 1e-3.
    """
    one = scalar(1.0)
    goal = -wp.log(restitution)
    z = goal / _HALF_PI
    n = int(0)
    while n < 12:
        gap = (one - z) * (one + z)
        turn = one - (z - one) * _THIRD
        slope = -_THIRD
        if gap > scalar(1e-6):
            turn = wp.acos(z) / wp.sqrt(gap)
            slope = (z * turn - one) / gap
        elif gap < scalar(-1e-6):
            turn = wp.log(z + wp.sqrt(-gap)) / wp.sqrt(-gap)
            slope = (z * turn - one) / gap
        z += (goal - z * turn) / (turn + z * slope)
        n += 1
    return z


@wp.func
def local_contact(own: CompliantData, here: GroundPoint, hit: GroundPoint, mass: scalar):
    """``own`` with the friction and rolling resistance of ``here`` and the restitution of ``hit``.

    ``mass`` [kg] is the lander's. More than all energy is never returned, and sticking holds at
    least what sliding does: the checks of ``Compliant`` look at many places, not at all.
    """
    out = own
    out.friction = local_friction(own.friction, here)
    out.static_friction = here.factor[2] * own.static_friction + here.value[2]
    out.static_friction = wp.max(out.static_friction, out.friction)
    out.rolling = here.factor[3] * own.rolling + here.value[3]
    returned = wp.min(scalar(1.0), hit.factor[0] * own.restitution + hit.value[0])
    if returned != own.restitution:
        out.restitution = returned
        out.zeta = damping_ratio_at(returned)
        if own.stiffness > scalar(0.0):
            out.damping = scalar(2.0) * out.zeta * wp.sqrt(own.stiffness * mass)
    return out

"""How stiff the springs are and how short the steps: both follow the speed of the contact.

A linear spring's restitution does not depend on its stiffness, so the stiffness is free to keep the
penetration at ``depth`` whatever the speed s: k = m (s / depth)^2. Slow contact then takes slow
steps. Two things limit this from below. At rest the ground must carry the weight: the level never
falls below that at which the weight alone presses a tenth of the depth in. And in a hit the weight
must not matter: it works g d on the way in and takes more of it back than the spring returns, so a
hit at the normal speed u goes no deeper than a share of u^2 / g. With that share 5e-4 e, weight
changes the restitution by 5e-4 (1 - e^2) at most. Hits below ``GENTLE_SPEED`` are too slow to leave
the ground by a height that matters and are not held to this.
"""

import math

import warp as wp

from alight.contact.state import CompliantData
from alight.core.types import scalar

#: Normal speed [m/s] below which a hit is not resolved as one.
GENTLE_SPEED = 5e-4

_SHARE = wp.constant(scalar(5e-4))
_SLOWEST = wp.constant(scalar(GENTLE_SPEED))
_HALF_TURN = wp.constant(scalar(math.pi))


@wp.func
def wanted_stiffness(contact: CompliantData, mass: scalar, speed: scalar, weight: scalar):
    """Stiffness [N/m] at a ``speed`` [m/s] under an acceleration ``weight`` [m/s^2]."""
    if contact.stiffness > scalar(0.0):
        return contact.stiffness
    rest = scalar(10.0) * weight * contact.depth
    level = wp.max(speed * speed, rest)
    return mass * level / (contact.depth * contact.depth)


@wp.func
def hit_stiffness(contact: CompliantData, mass: scalar, normal_speed: scalar, weight: scalar):
    """Stiffness [N/m] that a hit at ``normal_speed`` [m/s] needs for its weight not to matter."""
    if contact.stiffness > scalar(0.0) or normal_speed < _SLOWEST:
        return scalar(0.0)
    root = weight / (_SHARE * contact.restitution * normal_speed)
    return mass * root * root


@wp.func
def hit_over(contact: CompliantData, mass: scalar, stiffness: scalar, since: scalar):
    """True when a contact has lasted twice as long as a hit would."""
    turn = _HALF_TURN * (scalar(1.0) + scalar(1.0) / contact.restitution)
    return since * since * stiffness > turn * turn * mass


@wp.func
def contact_step(contact: CompliantData, stiffness: scalar, load: scalar):
    """Step [s] that covers ``resolution`` [rad] of the stiffest oscillation.

    ``load`` is the trace of the inverse masses that touch [1/kg]: no mode is stiffer than that.
    """
    return contact.resolution / wp.sqrt(stiffness * load)

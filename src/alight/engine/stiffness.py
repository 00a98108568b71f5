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

from alight.contact.clipped import MOST_ZETA
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
    """Stiffness [N/m] that a hit at ``normal_speed`` [m/s] needs for its weight not to matter.

    At least so much that what it gives back can still carry the weight.
    """
    if contact.stiffness > scalar(0.0):
        return contact.stiffness
    e = contact.restitution
    least = wanted_stiffness(contact, mass, scalar(0.0), weight) / (e * e)
    if normal_speed < _SLOWEST:
        return least
    root = weight / (_SHARE * e * normal_speed)
    return wp.max(least, mass * root * root)


@wp.func
def hit_over(contact: CompliantData, mass: scalar, stiffness: scalar, since: scalar):
    """True when a contact has lasted twice as long as a hit would."""
    turn = _HALF_TURN * (scalar(1.0) + scalar(1.0) / contact.restitution)
    return since * since * stiffness > turn * turn * mass


@wp.func
def damped_step(contact: CompliantData, stiffness: scalar, load: scalar):
    """Step [s] in which no damper of a contact that lasts can turn a motion round."""
    if contact.stiffness > scalar(0.0):
        if contact.damping > scalar(0.0):
            return scalar(0.5) / (contact.damping * load)
        return scalar(1e30)
    zeta = wp.clamp(contact.zeta, scalar(1.0), wp.static(scalar(MOST_ZETA)))
    return scalar(0.25) / (zeta * wp.sqrt(stiffness * load))


@wp.func
def contact_step(contact: CompliantData, stiffness: scalar, load: scalar):
    """Step [s] that covers ``resolution`` [rad] of the stiffest oscillation.

    ``load`` is the trace of the inverse masses that touch [1/kg]: no mode is stiffer than that.
    """
    return contact.resolution / wp.sqrt(stiffness * load)

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

from alight.contact.compliant.clipped_springs import GENTLE, HIT, LASTING, MOST_ZETA
from alight.contact.state import CompliantData
from alight.core.types import scalar
from alight.motions.rigid.state import Run
from alight.vehicles.rigid.data import RigidBody, angular_energy, linear_energy

#: Normal speed [m/s] below which a hit is not resolved as one.
GENTLE_SPEED = 5e-4

#: In contact that lasts, the springs are set for this many times the normal speed of the points,
#: and at its beginning that is taken as this share of the speed.
_PACES = wp.constant(scalar(2.0))
_SHARE_OF_SPEED = wp.constant(scalar(0.1))
#: Share of the motion's energy that stiffening the springs may take.
_SPARE = wp.constant(scalar(0.02))
#: Steps of contact that lasts are longer by this: its oscillations are damped.
_COARSE = wp.constant(scalar(1.5))
#: Steps about the deepest point of a hit are this share of the others.
_FINE = wp.constant(scalar(0.2))

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
    returned = contact.restitution
    least = wanted_stiffness(contact, mass, scalar(0.0), weight) / (returned * returned)
    if normal_speed < _SLOWEST:
        return least
    root = weight / (_SHARE * returned * normal_speed)
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


@wp.func
def outlast(body: RigidBody, run: Run, contact: CompliantData, fast: scalar, g: scalar):
    """``run`` with the springs of a contact that lasts: softer, and damped.

    They hold no more energy than those of the hit would have given back.
    """
    out = run
    out.pace = _SHARE_OF_SPEED * fast
    wanted = wanted_stiffness(contact, body.mass, _PACES * out.pace, g)
    if out.elastic > scalar(0.0):
        kept = contact.restitution * contact.restitution * out.stiffness
        wanted = wp.min(wanted, kept)
        out.elastic = out.elastic * wanted / kept
    out.stiffness = wanted
    out.lasting = 1
    return out


@wp.func
def adjust(body: RigidBody, run: Run, contact: CompliantData, fast: scalar, g: scalar):
    """``run`` with springs that fit the normal speeds of a contact that lasts.

    Softer ones lose what they hold less of. Stiffer ones hold more, which is taken out of the
    motion: if there is none of it to spare, they stay.
    """
    out = run
    # What is in the springs can become speed again: it counts.
    pace = _PACES * run.pace
    level = wp.sqrt(pace * pace + scalar(2.0) * run.elastic / body.mass)
    wanted = wanted_stiffness(contact, body.mass, level, g)
    ratio = wanted / run.stiffness
    # Coming to rest, springs relax all the way: a lander let go again must find the same ones.
    soften = scalar(0.5)
    if fast < _SLOWEST:
        soften = scalar(0.95)
    if ratio < soften or (ratio > scalar(1.0) and run.elastic == scalar(0.0)):
        out.elastic = run.elastic * ratio
        out.stiffness = wanted
    elif ratio > scalar(2.0):
        added = run.elastic * (ratio - scalar(1.0))
        moving = linear_energy(body, run.v) + angular_energy(body, run.w)
        if added < _SPARE * moving:
            slow = wp.sqrt(scalar(1.0) - added / moving)
            out.v = slow * run.v
            out.w = slow * run.w
            out.elastic = run.elastic * ratio
            out.stiffness = wanted
    return out


@wp.func
def kind_of(run: Run, contact: CompliantData, fast: scalar):
    """A hit, contact that lasts, or contact that is coming to rest."""
    kind = HIT
    if run.lasting != 0:
        kind = LASTING
        if contact.stiffness == scalar(0.0) and fast < _SLOWEST:
            kind = GENTLE
    return kind


@wp.func
def step_of(run: Run, contact: CompliantData, lightest: scalar, curvature: scalar, fast: scalar):
    """The next step in contact [s]."""
    load = run.load
    if load == scalar(0.0):
        load = scalar(4.0) / lightest  # several points may touch at once
    dt = contact_step(contact, run.stiffness, load)
    if run.lasting == 0:
        if contact.restitution < scalar(1.0) and run.turning < scalar(1.5) * dt:
            dt = _FINE * dt  # points turn one after the other: resolve that
        return dt
    if contact.stiffness == scalar(0.0):
        dt = _COARSE * dt
    dt = wp.min(dt, damped_step(contact, run.stiffness, load))
    if fast > scalar(0.0):
        # On its way along the ground the lander must not run into it unnoticed: by no more than
        # half the depth where the ground bends, and no farther than the depth where it has kinks.
        way = wp.sqrt(contact.depth / (scalar(2.0) * curvature))
        dt = wp.min(dt, wp.max(way, contact.depth) / fast)
    return dt

"""How long steps of rigid sustained contact are, and what counts as slow, near and closed."""

import warp as wp

from alight.contact.impulse.contact_solver import GROWTH
from alight.contact.state import CompliantData
from alight.core.types import scalar, vec3
from alight.motions.rigid.state import Run

#: In contact that goes on, contacts this far beyond what a step can cover are still looked at
#: [shares of the lander's radius]: farther than any is ever left below 0, where none must be lost.
_BEYOND = wp.constant(scalar(1e-2))
_GROWTH = wp.constant(scalar(GROWTH))
#: Of the longest step: the shortest, and the first after a flight.
SHORTEST = 1e-3
_SHORTEST = wp.constant(scalar(SHORTEST))
_FIRST = wp.constant(scalar(1.0 / 16.0))
#: In contact that goes on, what closes more slowly than this share of the speed of a hop is held;
#: all else is hit. Gaps that such a speed rises by are closed.
SLOWEST = 0.1
_SLOWEST = wp.constant(scalar(SLOWEST))
#: Of the distance from the origin, what is rounding.
ROUNDING = 2e-14
_ROUNDING = wp.constant(scalar(ROUNDING))


@wp.func
def leaving_speed(hop: scalar, g: scalar):
    """Speed [m/s] that rises by ``hop`` [m] under ``g`` [m/s^2]."""
    return wp.sqrt(scalar(2.0) * g * hop)


@wp.func
def closeness(contact: CompliantData, x: vec3):
    """Gaps [m] that count as closed in contact that goes on, to either side of 0."""
    return _SLOWEST * _SLOWEST * contact.depth + scalar(10.0) * _ROUNDING * wp.length(x)


@wp.func
def reach(fast: scalar, load: scalar, dt: scalar, size: scalar):
    """Gaps [m] up to which contacts are looked at under a ``load`` [m/s^2]."""
    return _GROWTH * (fast + load * dt) * dt + _BEYOND * size


@wp.func
def longest(contact: CompliantData, size: scalar, fast: scalar, g: scalar):
    """The longest step in contact [s]: short against the lander, and the smallest hop."""
    dt = wp.sqrt(scalar(2.0) * contact.depth / wp.max(g, scalar(1e-30)))
    if fast > scalar(0.0):
        dt = wp.min(dt, contact.resolution * size / fast)
    return dt


@wp.func
def stride(run: Run, dt: scalar):
    """The next step in contact [s], of ``dt`` at most.

    Where something is about to touch, it ends there, and none before it is a sliver. The first
    step is short: what else is about to touch is not known yet.
    """
    grown = wp.where(run.dt > scalar(0.0), _GROWTH * run.dt, _FIRST * dt)
    next = wp.min(dt, wp.max(grown, _SHORTEST * dt))
    left = wp.max(run.turning, _SHORTEST * dt)
    if left <= next:
        next = left
    elif left < scalar(2.0) * next:
        next = scalar(0.5) * left
    return next

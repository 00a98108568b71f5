"""Times at which steps must end: the end of a run, and wherever something switches.

A run carries ``until`` [s], the next such time: no step passes over it. It is found again whenever
it was reached (``Loop.next``).
"""

import warp as wp

from alight.core.types import scalar

#: A time that does not come [s].
NEVER = wp.constant(scalar(1e30))
_LITTLE = wp.constant(scalar(1e-15))


@wp.func
def after(t: scalar, h: scalar, until: scalar, end: scalar):
    """The time after a step of ``h`` [s] from ``t``: ``until`` itself where the step was cut there.

    At the ``end`` of a run nothing follows, and nothing is made of the rounding.
    """
    if until < end and t + h >= until - scalar(1e-9) * h:
        return until
    return t + h


@wp.func
def fit(h: scalar, t: scalar, until: scalar, end: scalar):
    """A step [s] from ``t`` that ends at ``until`` at the latest.

    The last two steps before a switch are equal: none is a sliver, whose forces would be lost in
    the rounding.
    """
    left = until - t
    if until < end and h < left and scalar(2.0) * h > left:
        return scalar(0.5) * left
    return wp.min(h, left)


@wp.func
def before(t: scalar, until: scalar):
    """``t``, or just before ``until``: what switches there has not switched in a step up to it."""
    return wp.min(t, until - _LITTLE * wp.abs(until))

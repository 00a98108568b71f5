"""How long gaps stay open: lower bounds on the time to a touch, from rates and what changes them.

A gap that changes at the rate u now, and whose rate falls by no more than b in a second, stays open
for

    t = (u + sqrt(u^2 + 2 b gap)) / b,

and where it opens this holds for a gap of 0 too: a lander leaves the ground it has just hit.
"""

import warp as wp

from alight.core.types import scalar

_THIRD = wp.constant(scalar(1.0 / 3.0))  # in a function, the division would be in float32


@wp.func
def open_time(gap: scalar, rate: scalar, bend: scalar):
    """How long [s] a contact stays open whose gap [m] changes at ``rate`` [m/s]."""
    g = wp.max(gap, scalar(0.0))
    root = wp.sqrt(rate * rate + scalar(2.0) * bend * g)
    if rate < scalar(0.0):
        return scalar(2.0) * g / (root - rate)
    if bend * scalar(1e30) <= rate + root:
        return scalar(1e30)
    return (rate + root) / bend


@wp.func
def turning_open_time(gap: scalar, rate: scalar, bend: scalar, jerk: scalar):
    """How long [s] gap + rate t + bend t^2/2 - jerk t^3/6 stays above 0, for a ``jerk`` above 0.

    A corner that turns with the lander swings down and up again: with its acceleration known, only
    the next derivative must be bounded, and steps are a good part of a turn.
    """
    g = wp.max(gap, scalar(0.0))
    half = scalar(0.5)
    sixth = jerk / scalar(6.0)
    # The slope rate + bend t - jerk t^2/2 is above 0 between its roots.
    square = bend * bend + scalar(2.0) * jerk * rate
    low = scalar(0.0)
    high = scalar(0.0)
    if square > scalar(0.0):
        root = wp.sqrt(square)
        top = scalar(2.0) * rate / (root - bend)
        if bend > scalar(0.0):
            top = (bend + root) / jerk
        if rate < scalar(0.0):
            dip = scalar(-2.0) * rate / (bend + root)  # the smaller root, without cancellation
            if bend > scalar(0.0):
                floor = g + dip * (rate + dip * (half * bend - sixth * dip))
                if floor > scalar(0.0):
                    low = wp.max(top, scalar(0.0))
                else:
                    high = dip
        else:
            low = wp.max(top, scalar(0.0))
    if high == scalar(0.0):
        # Falls for good from here: where the cube outweighs all else is far enough.
        reach = scalar(3.0) * (wp.abs(bend) * half + wp.sqrt(sixth * wp.abs(rate))) / sixth
        high = low + reach + wp.pow(g / sixth + scalar(1e-300), _THIRD) * scalar(2.0)
    n = int(0)
    while n < 60 and high - low > scalar(1e-3) * high:
        middle = half * (low + high)
        if g + middle * (rate + middle * (half * bend - sixth * middle)) > scalar(0.0):
            low = middle
        else:
            high = middle
        n += 1
    return low

"""Clocks: the angle of something that turns evenly, exact to rounding however late it is.

``cos(rate * t)`` loses digits as the angle grows: the product is rounded at 1e-16 of itself, which
after 1e8 s of an hour's rotation is 2e-11 rad. Here the rate is cut into 26 leading bits and a
rest, in turns per second, and the time into whole seconds and a fraction. The product of the two
leading parts is then exact up to 2^27 s (four years), so whole turns can be dropped from it without
loss. Later the clock is as good as the plain product.
"""

import math
from fractions import Fraction
from typing import Any

import warp as wp

from alight.core.types import scalar

#: pi to 50 digits.
PI = Fraction("3.14159265358979323846264338327950288419716939937510")

_LEADING_BITS = 26


@wp.struct
class ClockData:
    """Turns per second, in two parts, and turns at t = 0."""

    coarse: scalar
    fine: scalar
    start: scalar


@wp.func
def clock_turn(clock: ClockData, t: scalar) -> scalar:
    """Fraction of a turn reached at ``t`` [s], in [0, 1) but for rounding."""
    whole = wp.floor(t)
    leading = clock.coarse * whole
    turn = leading - wp.floor(leading)
    turn += clock.fine * whole + (clock.coarse + clock.fine) * (t - whole) + clock.start
    return turn - wp.floor(turn)


def clock_from_rate(rate: float, start: float = 0.0, per_turn: int = 2) -> Any:
    """A clock that turns once per ``per_turn`` pi radians of ``rate`` [rad/s].

    ``start`` is its reading at t = 0 [turns]. Quaternions hold half angles, so theirs turns once in
    4 pi and they stay continuous.
    """
    return _clock(Fraction(rate) / (per_turn * PI), start)


def clock_from_period(period: float, start: float = 0.0) -> Any:
    """A clock that turns once in ``period`` [s]; ``start`` is its reading at t = 0 [turns]."""
    return _clock(1 / Fraction(period), start)


def _clock(turns_per_second: Fraction, start: float) -> Any:
    mantissa, exponent = math.frexp(float(turns_per_second))
    coarse = math.ldexp(round(math.ldexp(mantissa, _LEADING_BITS)), exponent - _LEADING_BITS)
    data = ClockData()
    data.coarse, data.fine = coarse, float(turns_per_second - Fraction(coarse))
    data.start = start
    return data

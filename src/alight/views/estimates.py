"""Estimates in words: shares, values with their intervals, rows of a table of quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from alight.analysis.intervals import Estimate, Spread
from alight.views import words

#: What the cells of ``spread_cells`` are.
SPREAD_HEAD = ["median (95 % interval)", "5 %", "95 %", "99 %", "max"]


def percent(fraction: float) -> str:
    """A part as a percentage, with two digits of what is left on the nearer side of 0 or 100 %."""
    if fraction > 0.9 and fraction < 1.0:
        left = 100.0 * (1.0 - fraction)
        decimals = min(4, max(0, 1 - int(np.floor(np.log10(left)))))
        return f"{100.0 - left:.{decimals}f} %"
    if 0.0 < fraction < 1e-4:  # a million runs know such parts
        return f"{words.number(100.0 * fraction, 2)} %"
    return "100 %" if fraction == 1.0 else words.percent(fraction)


def interval(part: Estimate) -> str:
    """The interval of a share."""
    return f"95 % interval {range_text(part)}"


def range_text(part: Estimate) -> str:
    """The ends of the interval of a share: ``1.3 to 3.9 %``."""
    low, high = percent(part.low), percent(part.high)
    if low == high:  # many runs know more than two digits
        low, high = (f"{words.number(100.0 * x, 4)} %" for x in (part.low, part.high))
    return f"{low.removesuffix(' %')} to {high}"


def with_interval(value: Estimate, unit: words.Unit) -> str:
    """A value with unit and interval, with enough digits that the ends of the interval differ."""
    if not np.isfinite([value.low, value.high]).all():
        return unit(value.value)  # too few runs for an interval
    for digits in (3, 4, 5):
        low, high = unit.of(value.low, digits), unit.of(value.high, digits)
        if low != high:
            return f"{unit(value.value, digits)} ({low} to {high})"
    return unit(value.value)  # the same for all runs


def spread_cells(
    known: Spread, unit: words.Unit, tell: Callable[[float], str] = words.number
) -> list[str]:
    """Median with interval, what 5, 95 and 99 % of the runs stay below, the largest."""
    median = known.quantiles[0.5]
    ends = [median.value, median.low, median.high]
    others = [known.quantiles[p].value for p in (0.05, 0.95, 0.99)] + [known.most]
    value, low, high, *told = (tell(x / unit.size) for x in (*ends, *others))
    sure = bool(np.isfinite(ends).all())
    return [f"{value} ({low} to {high})" if sure else value, *told]


def none_of(count: int, high: float, things: str, did: str, do: str) -> str:
    """``None of the 300 runs escaped: with 95 % confidence fewer than 1.3 % do``: never is more.

    Wilson's bound ``high`` holds too seldom of few runs; the exact one is taken where it is larger.
    """
    high = most_of_none(count, high)
    who = (
        f"The only {things.removesuffix('s')} did not {do}"
        if count == 1
        else (f"None of the {count} {things} {did}")
    )
    return f"{who}: with 95 % confidence fewer than {percent(high)} do."


def most_of_none(count: int, high: float) -> float:
    """What fewer do, with 95 % confidence, where none of ``count`` did; ``high`` is Wilson's."""
    return max(high, 1.0 - 0.05 ** (1.0 / count))


def stops_said(stops: Mapping[Any, int], runs: int) -> list[str]:
    """How many runs each stop ended: ``2.0 % (8) ended by a stop, in pond: came into the pond``."""
    return [
        f"{percent(n / runs)} ({n}) ended by a stop, {plain_name(way.name)}: {way.message}"
        for way, n in stops.items()
    ]


def plain_name(outcome: str) -> str:
    """The name of an outcome as it is read: ``timed out``."""
    return outcome.lower().replace("_", " ")

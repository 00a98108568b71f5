"""Numbers with confidence intervals: shares, quantiles and means of independent runs.

No shape of the distribution is assumed: a share has Wilson's interval, which holds at 0 and at 1,
and a quantile lies between two order statistics that the binomial distribution picks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # special alone: stats takes longer to import than a report to compute

from alight.analysis.columns import Array
from alight.core.errors import InputError

#: Confidence of an interval unless another is asked for.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that covers the true one with the confidence asked for."""

    value: float
    low: float
    """Lower end; nan where there are too few runs to say."""
    high: float
    """Upper end; nan where there are too few runs to say."""
    n: int
    """Runs that it rests on."""


@dataclass(frozen=True)
class Spread:
    """How a quantity is spread over the runs that have it."""

    n: int
    """Runs that have it."""
    mean: Estimate
    least: float
    most: float
    quantiles: dict[float, Estimate]
    """By probability: ``quantiles[0.5]`` is the median."""


def checked_share(name: str, value: float) -> float:
    """``value`` as a number between 0 and 1, neither included."""
    if not (isinstance(value, int | float | np.floating) and 0.0 < value < 1.0):
        raise InputError(f"{name} is {value!r}; it must be a number between 0 and 1: 0.95 is 95 %")
    return float(value)


def normal_width(confidence: float) -> float:
    """Standard deviations to either side of a normal law that hold the part ``confidence``."""
    return -float(scipy.special.ndtri(0.5 * (1.0 - checked_share("confidence", confidence))))


def wilson(count: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """The share ``count / n`` with Wilson's interval (1927); with no runs, anything from 0 to 1.

    (p + z^2/2n ± z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n). None in n gives 0 to z^2/(n + z^2).
    """
    z = normal_width(confidence)
    if not 0 <= count <= n:
        raise InputError(f"count is {count} of n = {n}; it must be from 0 to n")
    if n == 0:
        return Estimate(float("nan"), 0.0, 1.0, 0)
    p = count / n
    middle = p + 0.5 * z * z / n
    half = z * np.sqrt(p * (1.0 - p) / n + 0.25 * (z / n) ** 2)
    scale = 1.0 + z * z / n
    # At 0 and n the ends are exact; rounding would leave 1e-17 there.
    low = 0.0 if count == 0 else float((middle - half) / scale)
    high = 1.0 if count == n else float((middle + half) / scale)
    return Estimate(p, low, high, n)


def order_ranks(n: int, p: float, confidence: float = CONFIDENCE) -> tuple[int, int]:
    """Ranks (from 1) of the order statistics that bracket the quantile ``p``.

    Rank 0 or n + 1: the sample does not reach so far. The number of values below the quantile is
    binomial; each tail beyond the ranks has at most half of 1 - confidence.
    """
    tail = 0.5 * (1.0 - checked_share("confidence", confidence))
    checked_share("probability", p)
    if n == 0:
        return 0, 1
    return _binomial_quantile(tail, n, p), _binomial_quantile(1.0 - tail, n, p) + 1


def _binomial_quantile(q: float, n: int, p: float) -> int:
    """The smallest k for which the chance of at most k in n reaches ``q``."""
    k = max(0, int(np.ceil(scipy.special.bdtrik(q, n, p))))
    while k > 0 and scipy.special.bdtr(k - 1, n, p) >= q:  # what the root is off by
        k -= 1
    while scipy.special.bdtr(k, n, p) < q:
        k += 1
    return k


def sorted_quantile(ascending: Array, p: float, confidence: float = CONFIDENCE) -> Estimate:
    """The quantile ``p`` of values that are sorted and finite."""
    n = len(ascending)
    if n == 0:
        return Estimate(float("nan"), float("nan"), float("nan"), 0)
    below, above = order_ranks(n, p, confidence)
    place = p * (n - 1)
    left = int(place)
    right = min(left + 1, n - 1)
    value = ascending[left] + (place - left) * (ascending[right] - ascending[left])
    low = float(ascending[below - 1]) if below >= 1 else float("nan")
    high = float(ascending[above - 1]) if above <= n else float("nan")
    return Estimate(float(value), low, high, n)


def quantile(values: Array, p: float, confidence: float = CONFIDENCE) -> Estimate:
    """The quantile ``p`` of those of ``values`` that are finite."""
    return sorted_quantile(np.sort(values[np.isfinite(values)]), p, confidence)


def spread(
    values: Array,
    probabilities: Sequence[float] = (0.05, 0.5, 0.95),
    confidence: float = CONFIDENCE,
) -> Spread:
    """Mean, range and quantiles of ``values``; nan stands for a run that has none."""
    ascending = np.sort(values[np.isfinite(values)])
    n = len(ascending)
    quantiles = {p: sorted_quantile(ascending, p, confidence) for p in probabilities}
    nan = float("nan")
    least, most = (float(ascending[0]), float(ascending[-1])) if n else (nan, nan)
    return Spread(n, mean_of(ascending, confidence), least, most, quantiles)


def mean_of(values: Array, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of finite values with Student's interval; nan ends with fewer than two."""
    n = len(values)
    nan = float("nan")
    if n < 2:
        return Estimate(float(values[0]) if n else nan, nan, nan, n)
    middle = float(values.mean())
    t = -float(scipy.special.stdtrit(n - 1, 0.5 * (1.0 - checked_share("confidence", confidence))))
    half = t * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(middle, middle - half, middle + half, n)

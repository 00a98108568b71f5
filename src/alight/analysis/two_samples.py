"""Two samples of runs: how far apart they are, and whether chance alone would explain it.

Runs with the same numbers and the same seed have the same draws, and are compared pair by pair:
what both have in common cancels. All else is compared as two independent samples.

=================  ==============================  =============================================
                   independent                     in pairs
=================  ==============================  =============================================
shares             Fisher's exact test;            McNemar's exact test;
                   Newcombe's interval (1998)      Bonett and Price's interval (2012)
quantities         Kolmogorov and Smirnov's test   the same distance, its chance from swapping
                                                   the two values of pairs at random
medians            bootstrap of their difference   the same, of pairs
=================  ==============================  =============================================

Chances (p) of several comparisons are corrected by Holm (1979): with no difference at all, the
chance that any of them is below 0.05 is 5 % at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from alight.analysis.columns import Array, Bools
from alight.analysis.intervals import CONFIDENCE, Estimate, normal_width, wilson
from alight.core.errors import InputError

#: Chance below which a difference counts as found, after correction.
LEVEL = 0.05
#: Random swaps of pairs: their chances are known to one part in so many.
SWAPS = 4999
#: Pairs that are swapped, at most; of more, evenly spaced ones.
MOST_PAIRS = 5000
#: Medians of the bootstrap.
RESAMPLED = 2000
#: Values of a sample up to which the law of the distance is evaluated exactly.
EXACT = 1000
#: Part of the runs with a quantity that must have it in both for pairs to speak for all of them.
COMPLETE = 0.95
#: Numbers that one block of swaps, or of resampled pairs, holds.
_BLOCK = 4_000_000

_SEED = 20_240_118
_and, _or = np.logical_and, np.logical_or


@dataclass(frozen=True)
class Tested:
    """The second sample less the first."""

    difference: Estimate
    """Of the shares, or of the medians."""
    p: float
    """Chance of a difference as large where there is none, not corrected."""
    test: str
    """Name of the test."""


def share_difference(
    first: Bools, second: Bools, paired: bool = False, confidence: float = CONFIDENCE
) -> Tested:
    """Of the shares of runs for which something holds."""
    _check(first, second, paired)
    if paired:
        return _paired_shares(first, second, confidence)
    counts = [(int(hit.sum()), len(hit)) for hit in (first, second)]
    a, b = (wilson(*one, confidence) for one in counts)
    apart = b.value - a.value
    low = apart - math.hypot(b.value - b.low, a.high - a.value)
    high = apart + math.hypot(b.high - b.value, a.value - a.low)
    from scipy import stats  # it takes longer to load than all else here

    table = [[k, n - k] for k, n in counts]
    p = float(stats.fisher_exact(table).pvalue)
    return Tested(Estimate(apart, low, high, min(a.n, b.n)), p, "Fisher")


def _paired_shares(first: Bools, second: Bools, confidence: float) -> Tested:
    n = len(first)
    lost, won = int((first & ~second).sum()), int((~first & second).sum())
    p = min(1.0, 2.0 * float(scipy.special.bdtr(min(lost, won), lost + won, 0.5)))
    down, up = (lost + 1.0) / (n + 2.0), (won + 1.0) / (n + 2.0)
    half = normal_width(confidence) * math.sqrt((down + up - (up - down) ** 2) / (n + 2.0))
    middle = up - down
    ends = max(-1.0, middle - half), min(1.0, middle + half)
    return Tested(Estimate((won - lost) / n, *ends, n), p, "McNemar")


def value_difference(
    first: Array, second: Array, paired: bool = False, confidence: float = CONFIDENCE
) -> Tested | None:
    """Of a quantity; nan stands for a run that has none. None where a sample has no value.

    Pairs are taken where nearly all runs that have it have it in both: of two campaigns of which
    one settles and the other escapes, pairs would speak of a part that neither is known by.
    """
    _check(first, second, paired)
    if paired:
        both, either = (op(np.isfinite(first), np.isfinite(second)) for op in (_and, _or))
        if both.sum() >= max(2.0, COMPLETE * either.sum()):
            a, b = first[both], second[both]
            return Tested(_paired_medians(a, b, confidence), _swapped(a, b), "swapped pairs")
    a, b = (values[np.isfinite(values)] for values in (first, second))
    if not (len(a) and len(b)):
        return None
    from scipy import stats

    way = "exact" if max(len(a), len(b)) <= EXACT else "asymp"
    p = float(stats.ks_2samp(a, b, method=way).pvalue)
    return Tested(_median_difference(a, b, confidence), p, "Kolmogorov-Smirnov")


def distance(first: Array, second: Array) -> float:
    """Kolmogorov and Smirnov's: the largest difference of the parts of both below any value."""
    a, b = (np.sort(values[np.isfinite(values)]) for values in (first, second))
    if not (len(a) and len(b)):
        return float("nan")
    every = np.concatenate([a, b])
    below = (np.searchsorted(x, every, side="right") / len(x) for x in (a, b))
    return float(np.abs(next(below) - next(below)).max())


def _swapped(first: Array, second: Array) -> float:
    """The chance of the distance of two samples in pairs, by swapping the values of pairs.

    Where both samples have one law, F_1 - F_2 is a mean of independent steps +1, -1, one for each
    pair, about 0. With random signs they have the same covariances (about 0, whatever the pairs
    have in common), and so the distance the same law. Pairs of equal values add nothing.
    """
    differ = np.flatnonzero(first != second)
    differ = differ[:: max(1, -(-len(differ) // MOST_PAIRS))]
    n = len(differ)
    if n == 0:
        return 1.0
    every = np.concatenate([first[differ], second[differ]])
    order = np.argsort(every, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(every[order]) != 0.0, True))
    pair, sign = order % n, np.where(order < n, 1, -1).astype(np.int32)
    found = int(np.abs(np.cumsum(sign)[ends]).max())
    rng, reached, left = np.random.default_rng(_SEED), 0, SWAPS
    while left:
        count = min(left, max(1, _BLOCK // (2 * n)))
        flips = rng.integers(0, 2, (count, n), dtype=np.int8).astype(np.int32) * 2 - 1
        steps = np.cumsum(flips[:, pair] * sign, axis=1, dtype=np.int32)
        reached += int((np.abs(steps[:, ends]).max(axis=1) >= found).sum())
        left -= count
    return (1 + reached) / (1 + SWAPS)


def _median_difference(first: Array, second: Array, confidence: float) -> Estimate:
    """Median of ``second`` less that of ``first``, with the bootstrap's interval."""
    rng = np.random.default_rng(_SEED)
    medians = [_resampled_medians(np.sort(values), rng) for values in (first, second)]
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(medians[1] - medians[0], [tail, 1.0 - tail])
    value = float(np.median(second) - np.median(first))
    return Estimate(value, float(low), float(high), min(len(first), len(second)))


def _paired_medians(first: Array, second: Array, confidence: float) -> Estimate:
    """The same of pairs, which are drawn with replacement.

    Of many pairs some are drawn from, evenly spaced, and the width goes with the root of their
    number.
    """
    value = float(np.median(second) - np.median(first))
    every = max(1, -(-len(first) // MOST_PAIRS))
    a, b = first[::every], second[::every]
    rng, n = np.random.default_rng(_SEED), len(a)
    found, left = [], RESAMPLED
    while left:
        count = min(left, max(1, _BLOCK // n))
        drawn = rng.integers(0, n, (count, n), dtype=np.int32)
        found.append(np.median(b[drawn], axis=1) - np.median(a[drawn], axis=1))
        left -= count
    apart = np.concatenate(found) - (np.median(b) - np.median(a))
    tail = 0.5 * (1.0 - confidence)
    low, high = value + np.quantile(apart, [tail, 1.0 - tail]) * np.sqrt(n / len(first))
    return Estimate(value, float(low), float(high), len(first))


def _resampled_medians(ascending: Array, rng: np.random.Generator) -> Array:
    """(RESAMPLED,) medians of samples drawn with replacement, without drawing them.

    The k-th smallest of n uniform numbers u has the law Beta(k, n + 1 - k), and the value drawn
    with it is number floor(n u). Of an even n the median is the middle of two such, the second
    being the smallest of the n - k numbers above the first.
    """
    n = len(ascending)
    k = (n + 1) // 2
    u = rng.beta(k, n + 1 - k, RESAMPLED)
    low = ascending[np.minimum((n * u).astype(np.int64), n - 1)]
    if n % 2:
        return np.asarray(low)
    above = 1.0 - (1.0 - u) * rng.beta(n - k, 1, RESAMPLED)
    high = ascending[np.minimum((n * above).astype(np.int64), n - 1)]
    return np.asarray(0.5 * (low + high))


def holm(chances: Sequence[float]) -> list[float]:
    """Chances of several comparisons, corrected for their number by Holm's steps."""
    p = np.asarray(chances, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = np.minimum(1.0, p[order] * (len(p) - np.arange(len(p))))
    out = np.empty(len(p))
    out[order] = np.maximum.accumulate(scaled)
    return [float(value) for value in out]


def _check(first: Array | Bools, second: Array | Bools, paired: bool) -> None:
    if paired and len(first) != len(second):
        raise InputError(f"pairs need as many of each: there are {len(first)} and {len(second)}.")
    if not (len(first) and len(second)):
        raise InputError("a sample without runs cannot be compared.")

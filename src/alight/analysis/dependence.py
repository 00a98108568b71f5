"""What a yes or no depends on: the chance of a loss against each uncertain number, and thresholds.

For each input a logistic curve is fitted to who is lost, and its likelihood is held against that of
one chance for all (Wilks 1938). With few losses, or few that are none, the curve is steady: ln odds
= a + b x; with more it may turn, a + b x + c x^2. The chance of so large a ratio where nothing
depends is multiplied by the number of inputs that were tried (Bonferroni).

Sentences rest on counts alone and are true of the runs whatever the curve: "below 8 none of 47 is
lost, above 17 27 of 39 are". They are given where the dependence is clear, and the intervals of the
shares are apart. "None below" is given where chance would leave that number free of losses with a
probability (n - m choose k) / (n choose k), k losses in n runs and m of them below, that is small.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from alight.analysis.bins import Bin, binned, varies
from alight.analysis.columns import Array, Bools
from alight.analysis.intervals import Estimate, wilson

#: How often, at most, chance alone brings up an input among all that were tried. The chi-square law
#: of the ratio is up to 1.8 times too narrow with few losses: it stays below one in twenty.
LEVEL = 0.02

#: Fewer losses than this, or fewer that are none, tell nothing; so many bear a curve that turns.
FEW, MANY = 5, 20

#: A part free of losses is told of where it has at least this share of the runs.
WORTH = 0.1

#: Groups of runs with neighbouring values that a curve is fitted to, at most.
GROUPS = 1000

#: Bins of the figures, at most; fewer values than these are told one by one.
BINS = 8


@dataclass(frozen=True)
class Part:
    """Runs whose input is at least ``low`` and below ``high``; of a single value both are that."""

    low: float
    high: float
    count: int
    """Of those that are lost."""
    n: int

    @property
    def share(self) -> Estimate:
        """Share that is lost."""
        return wilson(self.count, self.n)


@dataclass(frozen=True)
class Curve:
    """Fitted chance against an input: odds are exp(b0 + b1 z + b2 z^2), z = (x - middle) / size."""

    middle: float
    size: float
    slopes: tuple[float, ...]

    def __call__(self, x: Array) -> Array:
        """The chance at ``x``."""
        z = (x - self.middle) / self.size
        return np.asarray(scipy.special.expit(np.polynomial.polynomial.polyval(z, self.slopes)))


@dataclass(frozen=True)
class Dependence:
    """How a loss depends on one input, looked at alone."""

    name: str
    chance: float
    """Of so clear a dependence on any of the inputs tried, if there were none."""
    explained: float
    """Part of the uncertainty about who is lost (deviance) that the curve takes away."""
    curve: Curve
    bins: list[Bin]
    parts: tuple[Part, ...]
    """Two or three parts of the runs to report; none where their shares do not differ clearly."""

    @property
    def clear(self) -> bool:
        """Whether chance is ruled out."""
        return self.chance < LEVEL


def dependences(inputs: Mapping[str, Array], hit: Bools) -> list[Dependence]:
    """How ``hit`` depends on each of ``inputs`` that varies, the one that explains most first.

    Empty where there are too few hits, or too few others, to tell.
    """
    tried = {name: x for name, x in inputs.items() if varies(x)}
    if min(int(hit.sum()), int((~hit).sum())) < FEW:
        return []
    found = [_dependence(name, x, hit, len(tried)) for name, x in tried.items()]
    known = [one for one in found if one is not None]
    return sorted(known, key=lambda one: -one.explained)


def _dependence(name: str, x: Array, hit: Bools, tried: int) -> Dependence | None:
    known = np.isfinite(x)
    x, hit = x[known], hit[known]
    if min(int(hit.sum()), int((~hit).sum())) < FEW:
        return None
    order = np.argsort(x, kind="stable")
    ascending, lost = x[order], hit[order]
    curve, gain, whole = _fitted(ascending, lost)
    chance = min(1.0, tried * float(scipy.special.chdtrc(len(curve.slopes) - 1, gain)))
    parts = _parts(ascending, lost, curve, LEVEL / (2 * tried)) if chance < LEVEL else ()
    return Dependence(name, chance, gain / whole, curve, binned(x, hit, BINS), parts)


# ---------------------------------------------------------------------------------------------
# The curve
# ---------------------------------------------------------------------------------------------


def _fitted(x: Array, lost: Bools) -> tuple[Curve, float, float]:
    """A curve through ascending values, twice the gain in ln likelihood, and twice the most."""
    edges = np.unique(np.linspace(0, len(x), min(GROUPS, len(x)) + 1).astype(np.int64))
    n = np.diff(edges).astype(np.float64)
    mean = np.add.reduceat(x, edges[:-1]) / n
    k = np.add.reduceat(lost.astype(np.float64), edges[:-1])
    middle, size = float(mean.mean()), float(mean.std())
    turns = min(k.sum(), (n - k).sum()) >= MANY and len(np.unique(mean)) > 2
    z = np.vander((mean - middle) / size, 3 if turns else 2, increasing=True)
    slopes = _logistic(z, k, n)
    share = k.sum() / n.sum()
    flat = _log_likelihood(np.full(len(k), share), k, n)
    best = _log_likelihood(scipy.special.expit(z @ slopes), k, n)
    return (
        Curve(middle, size, tuple(map(float, slopes))),
        max(0.0, 2.0 * (best - flat)),
        -2.0 * flat,
    )


def _logistic(z: Array, k: Array, n: Array) -> Array:
    """Coefficients of maximum likelihood, by Newton's steps; a trace of a penalty keeps them
    finite where a threshold parts the lost from the others without exception."""
    share = k.sum() / n.sum()
    b = np.zeros(z.shape[1])
    b[0] = math.log(share / (1.0 - share))
    penalty = 1e-3 * np.diag([0.0, *[1.0] * (z.shape[1] - 1)])
    for _ in range(50):
        chance = scipy.special.expit(z @ b)
        weight = n * chance * (1.0 - chance)
        slope = z.T @ (k - n * chance) - penalty @ b
        step = np.linalg.solve(
            z.T @ (weight[:, None] * z) + penalty + 1e-12 * np.eye(len(b)), slope
        )
        b = b + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        if np.abs(step).max() < 1e-8:
            break
    return b


def _log_likelihood(chance: Array, k: Array, n: Array) -> float:
    return float((scipy.special.xlogy(k, chance) + scipy.special.xlog1py(n - k, -chance)).sum())


# ---------------------------------------------------------------------------------------------
# Thresholds
# ---------------------------------------------------------------------------------------------


def _parts(x: Array, lost: Bools, curve: Curve, level: float) -> tuple[Part, ...]:
    """Parts of ascending values whose shares are apart; none where none are."""
    alone = np.unique(x)
    if len(alone) <= BINS:
        each = [_part(x, lost, v, np.nextafter(v, np.inf)) for v in map(float, alone)]
        each = [Part(p.low, p.low, p.count, p.n) for p in each]
        ends = sorted((each[0], each[-1]), key=lambda p: p.low)
        return _apart(ends)
    found = _two(x, lost, level) if not _turns(x, curve) else _three(x, lost)
    return _apart(found)


def _turns(x: Array, curve: Curve) -> bool:
    """Whether the curve has its highest or lowest point well inside the runs."""
    if len(curve.slopes) < 3 or curve.slopes[2] == 0.0:
        return False
    top = curve.middle - 0.5 * curve.size * curve.slopes[1] / curve.slopes[2]
    low, high = np.quantile(x, [0.15, 0.85])
    ends = curve(np.array([*np.quantile(x, [0.02, 0.98]), top]))
    bent = min(abs(ends[2] - ends[0]), abs(ends[2] - ends[1]))
    return bool(low < top < high and bent > 0.3 * abs(ends).max())


def _two(x: Array, lost: Bools, level: float) -> list[Part]:
    """A part at either end: free of losses, or lost without exception, where that is no chance."""
    half = len(x) // 2
    rising = bool(lost[half:].mean() >= lost[:half].mean())
    if not rising:  # told from the other end
        turned = _two(-x[::-1], lost[::-1], level)
        return [Part(_not(p.high), _not(p.low), p.count, p.n) for p in turned[::-1]]
    free = _free_below(x, lost, level)
    full = _free_below(-x[::-1], ~lost[::-1], level)
    high = None if full is None else -full
    low = free if free is not None else _low_cut(x, high)
    high = high if high is not None else _high_cut(x, free)
    if low is None or high is None or low > high:
        return []
    return [_part(x, lost, -np.inf, low), _part(x, lost, high, np.inf)]


def _low_cut(x: Array, high: float | None) -> float | None:
    """Below it are the lowest of all runs, or of those below a part that is lost throughout."""
    return _round_between(x, 0.2, 0.4) if high is None else _round_between(x[x < high], 0.4, 0.6)


def _high_cut(x: Array, low: float | None) -> float | None:
    """Above it are the highest of all runs, or of those above a part that is free of losses."""
    return _round_between(x, 0.6, 0.8) if low is None else _round_between(x[x >= low], 0.4, 0.6)


def _not(value: float) -> float:
    return -value


def _three(x: Array, lost: Bools) -> list[Part]:
    """The middle of the runs, and either side of it."""
    low, high = _round_between(x, 0.2, 0.35), _round_between(x, 0.65, 0.8)
    if low is None or high is None:
        return []
    ends = (-np.inf, low, high, np.inf)
    return [_part(x, lost, a, b) for a, b in itertools.pairwise(ends)]


def _free_below(x: Array, lost: Bools, level: float) -> float | None:
    """A round number below which none is lost, where that would not happen by chance."""
    first = int(np.argmax(lost))
    n, k = len(x), int(lost.sum())
    if first < 2:
        return None
    cut = _cut(x, float(x[max(int(0.85 * first), 1)]), float(x[first]))
    m = int(np.searchsorted(x, cut, side="left"))
    if m < max(FEW, WORTH * n) or n - m < k:
        return None
    g = scipy.special.gammaln
    chance = g(n - m + 1) - g(n - m - k + 1) - g(n + 1) + g(n - k + 1)
    return cut if chance < math.log(level) else None


def _round_between(x: Array, low: float, high: float) -> float | None:
    """A round number between two quantiles."""
    if len(x) < 2 * FEW:
        return None
    a, b = (float(v) for v in np.quantile(x, [low, high]))
    return _cut(x, a, b) if b > a else None


def _cut(x: Array, low: float, high: float) -> float:
    """A round number between two of the values that is none of them: none stands on the edge."""
    cut = roundest(low, high)
    at = int(np.searchsorted(x, cut, side="left"))
    if 0 < at < len(x) and x[at] == cut:
        cut = roundest(float(x[at - 1]), cut)
    return cut


def roundest(low: float, high: float) -> float:
    """The number above ``low`` and below ``high`` that has the fewest digits."""
    if not low < high:
        return high
    power = math.ceil(math.log10(max(abs(low), abs(high)))) + 1
    for exponent in range(power, power - 18, -1):
        for part in (1.0, 0.5, 0.2):
            step = part * 10.0**exponent
            found = round((math.ceil(high / step) - 1) * step, max(0, 2 - exponent))
            if low < found < high:
                return found
    return high


def _part(x: Array, lost: Bools, low: float, high: float) -> Part:
    a, b = (int(np.searchsorted(x, end, side="left")) for end in (low, high))
    return Part(low, high, int(lost[a:b].sum()), b - a)


def _apart(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts, where each has enough runs and an interval apart from that of the next."""
    if len(parts) < 2 or any(p.n < FEW for p in parts):
        return ()
    pairs = itertools.pairwise(parts)
    apart = all(a.share.high < b.share.low or b.share.high < a.share.low for a, b in pairs)
    return tuple(parts) if apart else ()

"""Runs in bins of an input: how often something happens over what varies, with intervals."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array, Bools
from alight.analysis.intervals import CONFIDENCE, Estimate, wilson


@dataclass(frozen=True)
class Bin:
    """Runs whose input is from ``low`` to ``high``; both are the same for a single value."""

    low: float
    high: float
    share: Estimate
    """Of those for which it holds that was asked about."""
    members: npt.NDArray[np.int64]
    """Which runs these are."""

    @property
    def middle(self) -> float:
        """Half way."""
        return 0.5 * (self.low + self.high)


def edges_of(values: Array, most: int = 6) -> Array:
    """Edges of bins that hold about as many runs each; fewer where there are few runs."""
    finite = values[np.isfinite(values)]
    count = int(np.clip(len(finite) // 20, 1, most))
    return np.unique(np.quantile(finite, np.linspace(0.0, 1.0, count + 1)))


def varies(values: Array) -> bool:
    """Whether runs differ in an input by more than rounding."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return False
    return bool(np.ptp(finite) > 1e-9 * max(np.abs(finite).max(), 1e-300))


def binned(values: Array, hit: Bools, most: int = 6, confidence: float = CONFIDENCE) -> list[Bin]:
    """The share of ``hit`` over an input: one bin for each of a few values, else of equal count.

    Bins that no run falls into are left out.
    """
    alone = np.unique(values[np.isfinite(values)])
    if len(alone) <= most + 2:
        ends = [(float(v), float(v)) for v in alone]
        which = np.searchsorted(alone, values)
    else:
        edges = edges_of(values, most)
        ends = [(float(a), float(b)) for a, b in itertools.pairwise(edges)]
        which = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(ends) - 1)
    found = []
    for k, (low, high) in enumerate(ends):
        members = np.flatnonzero((which == k) & np.isfinite(values))
        if len(members):
            share = wilson(int(hit[members].sum()), len(members), confidence)
            found.append(Bin(low, high, share, members))
    return found

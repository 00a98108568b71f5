"""Contacts of many runs, by their number in the run: speeds, impulses, forces, restitution.

A million runs have tens of millions of contacts. They are counted batch by batch in bins whose
width is a fixed part of the value, so that memory does not grow and quantiles are known to half a
bin, 0.6 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.analysis import columns
from alight.analysis.columns import Array
from alight.core.checks import checked_whole
from alight.core.errors import InputError

#: Bins to a factor of ten: a bin is 1.16 % wide.
BINS_A_DECADE = 200

#: Decades that are told apart, [LOWEST, HIGHEST); beyond them values fall into the end bins.
LOWEST, HIGHEST = 1e-9, 1e9

_DECADES = round(np.log10(HIGHEST / LOWEST))
_BINS = BINS_A_DECADE * _DECADES + 2


class LogCounts:
    """Counts of positive values in bins of even width in their logarithm, one row a group.

    Zero and less have a bin of their own, whose value is 0.
    """

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.counts = np.zeros((groups, _BINS), dtype=np.int64)
        self.least = np.full(groups, np.inf)
        self.most = np.full(groups, -np.inf)

    def add(self, values: Array, group: npt.NDArray[np.int64]) -> None:
        """Count ``values``; nan is left out."""
        known = np.isfinite(values)
        values, group = values[known], group[known]
        with np.errstate(divide="ignore", invalid="ignore"):
            place = np.floor(np.log10(values / LOWEST) * BINS_A_DECADE) + 1.0
        place = np.where(values > 0.0, np.clip(place, 1, _BINS - 1), 0).astype(np.int64)
        flat = np.bincount(group * _BINS + place, minlength=self.groups * _BINS)
        self.counts += flat.reshape(self.groups, _BINS)
        np.minimum.at(self.least, group, values)
        np.maximum.at(self.most, group, values)

    @property
    def n(self) -> npt.NDArray[np.int64]:
        """(groups,) values counted."""
        return self.counts.sum(axis=1)

    def quantile(self, p: float) -> Array:
        """(groups,) the quantile ``p``, to half a bin; nan for a group without values."""
        if not 0.0 <= p <= 1.0:
            raise InputError(f"p is {p!r}; a probability is from 0 to 1")
        rank = np.maximum(np.ceil(p * self.n), 1.0)
        place = (np.cumsum(self.counts, axis=1) < rank[:, None]).sum(axis=1)
        middle = LOWEST * 10.0 ** ((place - 0.5) / BINS_A_DECADE)
        value = np.clip(np.where(place == 0, 0.0, middle), self.least, self.most)
        return np.where(self.n > 0, value, np.nan)


def _restitution(table: Any) -> Array:
    """Normal speed after over that before."""
    before = -columns.column(table, "normal_speed_in_m_per_s")
    after = columns.column(table, "normal_speed_out_m_per_s")
    return np.divide(after, before, out=np.full_like(after, np.nan), where=before > 0.0)


#: Quantities of a contact, by name: how each is read from a table of contacts.
QUANTITIES: dict[str, Callable[[Any], Array]] = {
    "normal_speed_m_per_s": lambda t: -columns.column(t, "normal_speed_in_m_per_s"),
    "tangential_speed_m_per_s": lambda t: columns.column(t, "tangential_speed_in_m_per_s"),
    "normal_impulse_N_s": lambda t: columns.column(t, "normal_impulse_N_s"),
    "peak_force_N": lambda t: columns.column(t, "peak_force_N"),
    "depth_m": lambda t: columns.column(t, "depth_m"),
    "duration_s": lambda t: columns.column(t, "end_time_s") - columns.column(t, "start_time_s"),
    "restitution": _restitution,
}


@dataclass(frozen=True)
class Impacts:
    """Contacts of all runs, by number: row 0 the first, and so on; the last row all the rest."""

    contacts: int
    """Contacts in all."""
    n: npt.NDArray[np.int64]
    """(rows,) contacts of each number: runs that had at least that many."""
    quantiles: dict[str, dict[float, Array]]
    """(rows,) by quantity and probability, in the unit that its name ends in."""
    overall: dict[str, dict[float, float]]
    """The same over all contacts."""
    largest: dict[str, float]
    """Largest value of each quantity, exact."""


def impacts(
    tables: Any, probabilities: Sequence[float] = (0.05, 0.5, 0.95), numbers: int = 20
) -> Impacts:
    """Summarise a table of contacts, or an iterable of its batches; the first ``numbers`` apart."""
    rows = checked_whole("numbers", numbers, 1) + 1
    kept = {name: LogCounts(rows) for name in QUANTITIES}
    n = np.zeros(rows, dtype=np.int64)
    for table in columns.batches(tables):
        number = np.minimum(columns.column(table, "contact").astype(np.int64), rows - 1)
        n += np.bincount(number, minlength=rows)
        for name, read in QUANTITIES.items():
            kept[name].add(read(table), number)
    return Impacts(
        contacts=int(n.sum()),
        n=n,
        quantiles={k: {p: c.quantile(p) for p in probabilities} for k, c in kept.items()},
        overall={k: _overall(c, probabilities) for k, c in kept.items()},
        largest={k: float(c.most.max()) if c.n.any() else float("nan") for k, c in kept.items()},
    )


def _overall(counts: LogCounts, probabilities: Sequence[float]) -> dict[float, float]:
    whole = LogCounts(1)
    whole.counts[0] = counts.counts.sum(axis=0)
    whole.least[0], whole.most[0] = counts.least.min(), counts.most.max()
    return {p: float(whole.quantile(p)[0]) for p in probabilities}

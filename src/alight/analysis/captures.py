"""What came of captures: who is held, what the arrays bear, how shares change with what varies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array, Bools
from alight.analysis.intervals import CONFIDENCE, Estimate, wilson

#: Columns of a table of captures that are numbers a reader asks for, and the runs that have them:
#: all that touched, those in contact at the end, or those at rest then.
TOUCHED, KEPT, RESTING = "touched", "kept", "resting"
QUANTITIES: dict[str, str] = {
    "contact_s": TOUCHED,
    "settle_s": RESTING,
    "bending_nm": TOUCHED,
    "torsion_nm": TOUCHED,
    "force_n": TOUCHED,
    "depth_m": TOUCHED,
    "clearance_m": TOUCHED,
    "slip_m": KEPT,
    "relative_rpm": KEPT,
    "pair_rpm": KEPT,
    "axis_deg": KEPT,
    "offset_m": KEPT,
    "needed_n": KEPT,
    "propellant_kg": KEPT,
}

#: What a capture may depend on and every table has.
PARAMETERS = ("spin_rpm", "mass_kg", "friction", "length_m")

#: Columns that ``known_of`` and ``limit_of`` read.
NEEDED = ("run", "outcome", "success", "shape", "end_s", "margin", *QUANTITIES, *PARAMETERS)


def known_of(table: Mapping[str, Array], kept: Bools, resting: Bools) -> dict[str, Array]:
    """The quantities of each run; nan where a run has none.

    A run that was cut short, at the rim or because contact was lost, has loads up to then, but no
    final slip, spin or propellant.
    """
    who = {TOUCHED: np.isfinite(table["contact_s"]), KEPT: kept, RESTING: resting}
    return {name: np.where(who[kind], table[name], np.nan) for name, kind in QUANTITIES.items()}


def limit_of(table: Mapping[str, Array]) -> Array:
    """(n,) bending moment that the drive assemblies of each run stand [N m]; nan where unloaded."""
    with np.errstate(invalid="ignore"):  # no load at all: 0 times infinity
        found = (table["margin"] + 1.0) * table["bending_nm"]
    return np.where(np.isfinite(found), found, np.nan)


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


def grown(times: Array, of: int) -> tuple[Array, Array]:
    """When things happen, ascending, and the share of ``of`` to which each brings them."""
    ascending = np.sort(times[np.isfinite(times)])
    return ascending, np.arange(1.0, len(ascending) + 1.0) / max(of, 1)


def beyond(values: Array) -> tuple[Array, Array]:
    """Values ascending, and the share of runs that are at least as great as each."""
    ascending = np.sort(values[np.isfinite(values)])
    n = len(ascending)
    return ascending, (n - np.arange(n)) / max(n, 1)


def distinct(inputs: Mapping[str, Array], others: Sequence[tuple[str, Array]]) -> dict[str, Array]:
    """``inputs`` that vary, and those of ``others`` that do and are no multiple of one of them."""
    found = {name: values for name, values in inputs.items() if varies(values)}
    for name, values in others:
        if varies(values) and not any(_proportional(values, known) for known in found.values()):
            found[name] = values
    return found


def _proportional(a: Array, b: Array) -> bool:
    if not np.isfinite([a, b]).all() or not b.any():
        return False
    scale = float(a @ b) / float(b @ b)
    return bool(np.allclose(a, scale * b, rtol=1e-6, atol=1e-9 * float(np.abs(a).max())))

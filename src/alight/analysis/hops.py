"""Hops of a campaign: how they ended, how far they went and missed, how long they took, and what
they used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis.columns import Array
from alight.analysis.intervals import Estimate, Spread, spread, wilson

#: How a manoeuvre ends, in the order in which pages tell it; those left out are counted apart.
RESULTS = ("hopped", "moved", "stuck", "lost")
LEFT_OUT = "nothing_to_do"
#: Quantities of a hop, by the name of their column; ``DURATION`` is no column.
FLIGHT, WAY, MISS = "flight_distance_m", "distance_m", "miss_m"
AIR, FIRST_MISS, TAKEOFF = "flight_time_s", "flight_miss_m", "takeoff_speed_m_per_s"
WHEEL, ENERGY, DURATION = "wheel_max_speed_rad_per_s", "wheel_energy_J", "duration_s"
QUANTITIES = (TAKEOFF, AIR, FLIGHT, FIRST_MISS, WAY, MISS, DURATION, WHEEL, ENERGY)
#: Shares of hops that stay below what quantiles say.
PARTS = (0.05, 0.5, 0.95, 0.99)
#: Columns that are read.
NEEDED = (
    "run", "hop", "result", "start_time_s", "end_time_s", "meant_distance_m", "speed_share",
    *(f"{where}_{axis}_m" for where in ("start", "end") for axis in "xyz"),
    *(name for name in QUANTITIES if name != DURATION),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Hops:
    """What came of the manoeuvres of a campaign."""

    results: Any
    """(n,) how each ended, in a word."""
    number: Array
    """(n,) of the manoeuvre in its run, from 0."""
    run: Array
    """(n,)"""
    known: dict[str, Array]
    """(n,) quantities by column, nan where a hop has none."""
    start: Array
    """(n, 3) [m]"""
    end: Array
    """(n, 3) [m]; nan where it did not come to rest."""

    @property
    def made(self) -> Any:
        """(n,) those that had something to do."""
        return self.results != LEFT_OUT

    @property
    def count(self) -> int:
        """How many had something to do."""
        return int(self.made.sum())

    def share(self, result: str) -> Estimate:
        """Of those that had something to do, how many ended so."""
        return wilson(int((self.results == result).sum()), self.count)

    def spread(self, column: str, number: int | None = None) -> Spread | None:
        """Of a quantity, of all or of those with one number; None where no hop has it."""
        these = self.made & np.isfinite(self.known[column])
        if number is not None:
            these &= self.number == number
        return spread(self.known[column][these], PARTS) if these.any() else None

    @property
    def per_run(self) -> Any:
        """(runs,) how many each run with some made."""
        return np.bincount(np.unique(self.run[self.made], return_inverse=True)[1].ravel())

    @property
    def limited(self) -> int:
        """How many hops wheels were too slow for."""
        return int((self.made & (self.known["speed_share"] < 1.0)).sum())


def hops_of(table: Mapping[str, Any]) -> Hops:
    """From the columns ``NEEDED`` of a table of hops."""
    results = np.asarray(table["result"], dtype=object)
    numbers = {
        name: np.asarray(table[name], dtype=np.float64) for name in NEEDED if name != "result"
    }
    known = {name: numbers[name] for name in (*QUANTITIES, "speed_share") if name in numbers}
    made = results != LEFT_OUT
    known[DURATION] = np.where(made, numbers["end_time_s"] - numbers["start_time_s"], np.nan)
    for name in (WHEEL, ENERGY):
        known[name] = np.where(made & (known[name] > 0.0), known[name], np.nan)
    rests = np.isfinite(numbers["end_time_s"])
    start, end = (
        np.stack([numbers[f"{where}_{axis}_m"] for axis in "xyz"], -1) for where in ("start", "end")
    )
    return Hops(
        results,
        numbers["hop"].astype(np.int64),
        numbers["run"].astype(np.int64),
        known,
        start,
        np.where(rests[:, None], end, np.nan),
    )

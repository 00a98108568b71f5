"""How runs ended, how long they took to settle, how far they went and how hard they hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis import columns
from alight.analysis.columns import Array
from alight.analysis.intervals import CONFIDENCE, Estimate, Spread, spread, wilson
from alight.core.errors import InputError
from alight.core.outcomes import FIRST_FAILURE, FIRST_OWN, AnyEnding, Outcome, ending_of

#: Depth [m] from which on hull and ground that stand in each other at rest are told of: twice what
#: springs are set to be pressed in by a hit.
DEEP = 2e-3

#: Quantities of a run, by the name of their column.
SETTLE, TOUCH, COUNT, PATH = "settle_time_s", "first_contact_time_s", "bounces", "path_m"
FIRST, HARDEST = "first_contact_normal_speed_m_per_s", "hardest_normal_speed_m_per_s"
FORCE = "peak_force_N"
QUANTITIES = (SETTLE, TOUCH, COUNT, PATH, FIRST, HARDEST, FORCE)

#: Way along a straight line from the first contact to the rest place, which is no column.
DISTANCE = "distance_from_first_contact_m"

#: Columns of a table of runs that this room reads, but for the dispersed numbers. Gathered once
#: (``columns.gather``), they serve every function here that takes a table of runs.
NEEDED = (
    "outcome_code",
    *QUANTITIES,
    *columns.point_names("rest_"),
    "rest_latitude_deg",
    "rest_longitude_deg",
    *columns.point_names("first_contact_"),
)

#: Quantities that only a run that touched the ground has.
_OF_CONTACT = (HARDEST, FORCE)


@dataclass(frozen=True)
class Settling:
    """The answer to "where does it end, when, and how hard does it hit", but for the place."""

    runs: int
    outcomes: dict[AnyEnding, Estimate]
    """Share of each outcome that a run can have, also those that none had, and of each ending of a
    stop that some had."""
    failed: Estimate
    """Share of runs that failed, whatever the reason."""
    spreads: dict[str, Spread]
    """By column, and ``distance_from_first_contact_m``; in the unit that the name ends in."""

    def share(self, outcome: AnyEnding) -> Estimate:
        """Share of runs that ended so."""
        return self.outcomes[outcome]


def outcome_shares(codes: Array, confidence: float = CONFIDENCE) -> dict[AnyEnding, Estimate]:
    """Share of every outcome among ``outcome_code``, with Wilson's interval."""
    whole = codes.astype(np.int64)
    ends: list[AnyEnding] = list(Outcome)
    for code in map(int, np.unique(whole)):
        if code >= FIRST_OWN:
            ends.append(ending_of(code))
        elif code not in {int(outcome) for outcome in Outcome}:
            known = [int(o) for o in Outcome]
            raise InputError(
                f"{code} is no outcome code; known: {known}, and {FIRST_OWN} or more of stops"
            )
    return {o: wilson(int((whole == o).sum()), len(whole), confidence) for o in ends}


def settling(
    tables: Any,
    probabilities: Sequence[float] = (0.05, 0.5, 0.95, 0.99),
    confidence: float = CONFIDENCE,
) -> Settling:
    """Summarise a table of runs, or an iterable of its batches.

    Bounces and path are those of runs that settled: a run that left or was cut short has no final
    number. Speeds and forces are those of every run that touched the ground.
    """
    known = read_runs(tables)
    codes = known["outcome_code"]
    failures = int(((codes >= FIRST_FAILURE) & (codes < FIRST_OWN)).sum())
    return Settling(
        runs=len(codes),
        outcomes=outcome_shares(codes, confidence),
        failed=wilson(failures, len(codes), confidence),
        spreads={
            name: spread(known[name], probabilities, confidence) for name in (*QUANTITIES, DISTANCE)
        },
    )


def read_runs(tables: Any) -> dict[str, Array]:
    """``outcome_code``, the quantities and the distance of each run; nan where a run has none."""
    places = ("rest_", "first_contact_")
    names = ["outcome_code", *QUANTITIES]
    parts: dict[str, list[Array]] = {name: [] for name in (*names, DISTANCE)}
    for table in columns.batches(tables):
        batch = {name: columns.column(table, name) for name in names}
        rest, first = (
            columns.points(columns.gather(table, columns.point_names(p)), p) for p in places
        )
        batch[DISTANCE] = np.linalg.norm(rest - first, axis=1)
        unsettled = batch["outcome_code"] != Outcome.SETTLED
        untouched = ~np.isfinite(batch[TOUCH])
        for name in (COUNT, PATH):
            batch[name] = np.where(unsettled, np.nan, batch[name])
        for name in _OF_CONTACT:
            batch[name] = np.where(untouched, np.nan, batch[name])
        for name, values in batch.items():
            parts[name].append(values)
    return {name: np.concatenate(found or [np.empty(0)]) for name, found in parts.items()}


def in_words(found: Settling) -> list[str]:
    """One sentence for each outcome that occurred, and for escape in any case."""
    lines = []
    for outcome, share in found.outcomes.items():
        if share.value > 0.0 or outcome is Outcome.ESCAPED:
            lines.append(
                f"{100 * share.value:.3g} % {outcome.message} "
                f"({100 * share.low:.2g} to {100 * share.high:.3g} %)"
            )
    return lines

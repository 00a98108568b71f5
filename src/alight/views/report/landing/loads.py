"""What a report says about the loads of articulated landers: an answer and a table."""

from __future__ import annotations

from alight.analysis.intervals import Spread
from alight.analysis.loads import ACCELERATION, PAD, STROKE, LoadKind, LoadSpread
from alight.views.estimates import SPREAD_HEAD, spread_cells
from alight.views.figures.landing.loads import unit_of
from alight.views.report.landing.findings import LandingFindings

QUESTION = "How large are the loads?"
HEAD = ["load", *SPREAD_HEAD]


def answer(found: LandingFindings) -> str:
    """Accelerations, legs and pads in two sentences."""
    told = []
    for kind, said in (
        (ACCELERATION, "The body is accelerated by {} in the median, below {} in 95 % of the runs"),
        (STROKE, "the leg with the largest stroke is crushed by {}, below {} in 95 %"),
        (PAD, "the most loaded pad presses with {}, below {} in 95 %"),
    ):
        known = _whole(found.loads, kind)
        if known is not None:
            median, late = known.quantiles[0.5].value, known.quantiles[0.95].value
            unit = unit_of(kind, median)
            told.append(said.format(unit(median), unit(late)))
    return f"{'; '.join(told)}." if told else "There are none: it never touched the ground."


def _whole(loads: list[LoadSpread], kind: LoadKind) -> Spread | None:
    """The largest of a kind over all parts; None where no run has it."""
    found = next((load for load in loads if load.kind is kind), None)
    return found.spread if found is not None and found.spread.n else None


def rows(found: LandingFindings) -> list[list[str]]:
    """Load, median with interval, what 5, 95 and 99 % of the runs stay below, the largest."""
    return [_row(load, found.loads) for load in found.loads if load.spread.n]


def _row(load: LoadSpread, loads: list[LoadSpread]) -> list[str]:
    known, whole = load.spread, _whole(loads, load.kind)
    # All parts in one unit, that of the greatest.
    unit = unit_of(load.kind, 0.0 if whole is None else whole.quantiles[0.5].value)
    several = sum(other.kind is load.kind for other in loads) > 1
    which = f": {load.part.replace('_', ' ')}" if load.part else ": the largest" if several else ""
    return [f"{load.kind.label}{which} [{unit.name}]", *spread_cells(known, unit)]

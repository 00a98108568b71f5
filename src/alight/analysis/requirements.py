"""Requirements judged: does the share of runs that do something reach what is required?

The number of runs that do it is binomial. With the one-sided bounds of Clopper and Pearson (1934),
each of which holds with the confidence asked for,

    pass              the bound on the bad side already meets the requirement,
    fail              the bound on the good side does not,
    not yet decided   else.

So "pass" is said of a requirement that does not hold, or "fail" of one that does, in at most
1 - confidence of campaigns, whatever the true share. That counts for one look at a campaign of a
number of runs that was chosen beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from alight.analysis.columns import batches, column, column_names, points
from alight.analysis.intervals import checked_share
from alight.core.errors import InputError, unknown_name
from alight.core.requirements import ABOVE, BELOW, OUTCOME, REST_WITHIN, Requirement

PASS, FAIL, UNDECIDED, COUNTED = "pass", "fail", "not yet decided", "counted"

#: More runs than this are not worth a number: the share is too near to what is required.
MOST_RUNS = 10**8


@dataclass(frozen=True)
class Verdict:
    """What a campaign says of a requirement."""

    word: str
    """``pass``, ``fail``, ``not yet decided``; ``counted`` of a sweep, whose runs are no sample."""
    share: float
    """Of the runs that do it; nan without runs."""
    low: float
    """The true share is above this with the confidence of the requirement; nan of a sweep."""
    high: float
    """The true share is below this with the confidence of the requirement; nan of a sweep."""
    runs: int
    """Runs judged."""
    more: int | None
    """Further runs that would decide if the share stayed as it is; 0 where it is decided, None
    where no number of runs would."""
    requirement: Requirement
    met: int = 0
    """Runs that do it."""
    empty: int = 0
    """Runs without a value in the column: they are counted as not doing it."""

    def __str__(self) -> str:
        """One line for people."""
        told = f"{self.met} of {self.runs} runs"
        if self.runs:
            told += f" ({100.0 * self.share:.3g} %"
            if self.word != COUNTED:
                told += f"; true share {100.0 * self.low:.3g} to {100.0 * self.high:.3g} %"
            told += ")"
        if self.empty:
            told += f", {self.empty} without a value"
        if self.word == UNDECIDED:
            runs = "no number of" if self.more is None else f"about {self.more} more"
            told += f"; {runs} runs would decide"
        asked = self.requirement
        name = "" if asked.name in ("", str(asked)) else f"{asked.name}: "
        return f"{self.word}: {name}{asked}: {told}"


def judge(requirement: Requirement, table: Any, sweep: bool = False) -> Verdict:
    """The verdict on a requirement by the runs of a table, or of any iterable of tables.

    A ``sweep`` is no sample of what may happen: its runs are counted and nothing is concluded.
    """
    met = runs = empty = 0
    for part in batches(table):
        does, known = meets(requirement, part)
        met, runs = met + int(does.sum()), runs + len(does)
        empty += int((~known).sum())
    return decide(requirement, met, runs, sweep, empty)


def judge_all(
    requirements: Iterable[Requirement], table: Any, sweep: bool = False
) -> list[Verdict]:
    """The verdicts on several requirements by one table."""
    return [judge(one, table, sweep) for one in requirements]


def meets(requirement: Requirement, table: Any) -> tuple[Any, Any]:
    """(n,) which runs of a table do what is required, and which have a value that tells."""
    if requirement.kind == OUTCOME:
        names = column_names(table)
        if "outcome" not in names:
            raise unknown_name("column", "outcome", names)
        words = np.asarray(table["outcome"], dtype=object)
        return words == requirement.outcome, np.ones(len(words), dtype=bool)
    if requirement.kind == REST_WITHIN:
        away = _distances(requirement, table)
        # What does not rest has no place, and is not within any.
        return away <= requirement.radius, np.ones(len(away), dtype=bool)
    if requirement.kind not in (BELOW, ABOVE):
        raise unknown_name("requirement", requirement.kind, (REST_WITHIN, BELOW, ABOVE, OUTCOME))
    values = column(table, requirement.column)
    below = requirement.kind == BELOW
    with np.errstate(invalid="ignore"):
        does = values < requirement.limit if below else values > requirement.limit
    return does, ~np.isnan(values)


def _distances(requirement: Requirement, table: Any) -> Any:
    """(n,) from the target [m], nan where a run does not rest.

    About a body it is the arc at the distance of the rest site from the centre: the height of the
    ground at the target does not count. On flat ground it is the straight distance.
    """
    place = points({name: column(table, name) for name in requirement.columns}, "rest_")
    center = np.asarray(requirement.center)
    if requirement.flat:
        return np.linalg.norm(place - center, axis=1)
    radius = np.linalg.norm(place, axis=1)
    across = np.linalg.norm(np.cross(place, center), axis=1)
    return radius * np.arctan2(across, place @ center)


# -- the decision ----------------------------------------------------------------------------------


def decide(
    requirement: Requirement, met: int, runs: int, sweep: bool = False, empty: int = 0
) -> Verdict:
    """The verdict where ``met`` of ``runs`` do what is required."""
    if not 0 <= met <= runs:
        raise InputError(f"met is {met} of {runs} runs; it must be from 0 to the number of runs")
    share = met / runs if runs else math.nan
    if sweep:
        return Verdict(COUNTED, share, math.nan, math.nan, runs, 0, requirement, met, empty)
    checked_share("share", requirement.share)
    low, high = bounds(met, runs, requirement.confidence)
    word = _word(requirement, low, high)
    more = 0 if word != UNDECIDED else _more(requirement, met, runs)
    return Verdict(word, share, low, high, runs, more, requirement, met, empty)


def bounds(met: int, runs: int, confidence: float) -> tuple[float, float]:
    """One-sided bounds of the true share, each of which holds with ``confidence``."""
    tail = 1.0 - checked_share("confidence", confidence)
    low = 0.0 if met == 0 else float(scipy.special.betaincinv(met, runs - met + 1, tail))
    high = 1.0 if met == runs else float(scipy.special.betaincinv(met + 1, runs - met, 1.0 - tail))
    return low, high


def _word(requirement: Requirement, low: float, high: float) -> str:
    needed = requirement.share
    if requirement.at_least:
        return PASS if low >= needed else FAIL if high < needed else UNDECIDED
    return PASS if high <= needed else FAIL if low > needed else UNDECIDED


def _more(requirement: Requirement, met: int, runs: int) -> int | None:
    """The fewest further runs that decide, if they are met as often as those before.

    Without runs, those that a pass takes in which every run does well.
    """
    if not runs:
        met, runs, begun = int(requirement.at_least), 1, 0
    else:
        begun = runs
    above = met > requirement.share * runs

    def decided(total: int) -> bool:
        # Rounded towards what is required, so that rounding alone decides nothing.
        expected = met * total // runs if above else -(-met * total // runs)
        low, high = bounds(expected, total, requirement.confidence)
        return _word(requirement, low, high) != UNDECIDED

    if met == requirement.share * runs:
        return None
    most = max(2 * runs, 2)
    while not decided(most):
        most *= 2
        if most > MOST_RUNS:
            return None
    least = max(begun, most // 2)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if decided(middle) else (middle, most)
    return most - begun

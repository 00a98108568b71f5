"""Requirements judged: does the share of runs that do something reach what is required?

The number of runs that do it is binomial. With the one-sided bounds of Clopper and Pearson (1934),
each of which holds with the confidence asked for,

    pass              the bound on the bad side already meets the requirement,
    fail              the bound on the good side does not,
    not yet decided   else.

So "pass" is said of a requirement that does not hold, or "fail" of one that does, in at most
1 - confidence of campaigns, whatever the true share. That counts for one look at a campaign of a
number of runs that was chosen beforehand.

Light where runs rest is in no table: requirements on it take a ``RestLight`` beside the table, or
the reason why there is none.
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
from alight.analysis.rest_light import RestLight
from alight.core.errors import InputError, unknown_name
from alight.core.requirements import ABOVE, BELOW, OUTCOME, REST_WITHIN, Requirement

PASS, FAIL, UNDECIDED, COUNTED = "pass", "fail", "not yet decided", "counted"
#: Of a requirement on light where the Sun or the shape of the body is not known.
UNJUDGED = "not judged"

#: More runs than this are not worth a number: the share is too near to what is required.
MOST_RUNS = 10**8


@dataclass(frozen=True)
class Verdict:
    """What a campaign says of a requirement."""

    word: str
    """``pass``, ``fail``, ``not yet decided``; ``counted`` of a sweep, whose runs are no sample;
    ``not judged``."""
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
    why: str = ""
    """Of ``not judged``: the reason, a sentence."""

    def __str__(self) -> str:
        """One line for people."""
        if self.word == UNJUDGED:
            return f"{self.word}: {self.requirement}: {self.why}"
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


def judge(
    requirement: Requirement,
    table: Any,
    sweep: bool = False,
    light: RestLight | str | None = None,
) -> Verdict:
    """The verdict on a requirement by the runs of a table, or of any iterable of tables.

    A ``sweep`` is no sample of what may happen: its runs are counted and nothing is concluded.
    A requirement on light takes ``light``; a sentence in its place says why it cannot be judged.
    """
    return judge_runs(requirement, table, sweep, light)[0]


def judge_runs(
    requirement: Requirement,
    table: Any,
    sweep: bool = False,
    light: RestLight | str | None = None,
) -> tuple[Verdict, Any]:
    """The verdict, and (n,) which runs do what is required; none where it is not judged."""
    none = np.zeros(0, dtype=bool)
    if requirement.of_light and isinstance(light, str):
        return unjudged(requirement, light), none
    sky = None if isinstance(light, str) else light
    try:
        parts = [meets(requirement, part, sky) for part in batches(table)]
    except InputError as cause:
        if sky is None:
            raise
        return unjudged(requirement, f"Light could not be computed: {cause}."), none
    does = np.concatenate([none, *(np.asarray(does, dtype=bool) for does, _ in parts)])
    empty = sum(int((~known).sum()) for _, known in parts)
    return decide(requirement, int(does.sum()), len(does), sweep, empty), does


def judge_all(
    requirements: Iterable[Requirement],
    table: Any,
    sweep: bool = False,
    light: RestLight | str | None = None,
) -> list[Verdict]:
    """The verdicts on several requirements by one table."""
    return [judge(one, table, sweep, light) for one in requirements]


def unjudged(requirement: Requirement, why: str) -> Verdict:
    """That of a requirement that nothing can be said of."""
    unknown = (math.nan, math.nan, math.nan)
    return Verdict(UNJUDGED, *unknown, 0, None, requirement, why=why)


def meets(requirement: Requirement, table: Any, light: RestLight | None = None) -> tuple[Any, Any]:
    """(n,) which runs of a table do what is required, and which have a value to judge."""
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
    values = (
        _light(requirement, table, light)
        if requirement.of_light
        else column(table, requirement.column)
    )
    below = requirement.kind == BELOW
    with np.errstate(invalid="ignore"):
        does = values < requirement.limit if below else values > requirement.limit
    return does, ~np.isnan(values)


def _light(requirement: Requirement, table: Any, light: RestLight | None) -> Any:
    """(n,) the number of light that is asked for, nan where a run does not rest."""
    if light is None:
        raise InputError(
            f"{requirement.column} is in no table: it follows from the shape of the body and the "
            "Sun's path. Give them as light = RestLight(mesh, sun) (alight.analysis.rest_light)"
        )
    place = points({name: column(table, name) for name in requirement.columns}, "rest_")
    return light.column(requirement.column, place)


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

"""Requirements on a page: pass, fail or not yet decided, before all else."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from alight.analysis.columns import Bools
from alight.analysis.requirements import (
    COUNTED,
    FAIL,
    PASS,
    UNDECIDED,
    UNJUDGED,
    Verdict,
    judge_runs,
)
from alight.analysis.rest_light import LightOf
from alight.campaign.reader import Campaign
from alight.core.requirements import OUTCOME, REST_WITHIN, Requirement
from alight.views.estimates import plain_name
from alight.views.report.losses import Verb
from alight.views.report.section import Section, Verdicts

if TYPE_CHECKING:
    from alight.views.report.findings import Findings

QUESTION = "Are the requirements met?"
FAILS = Verb("fails", "fail", "failed")
HEAD = ["verdict", "requirement", "runs", "true share", "to decide"]

#: What light is called.
_OF_LIGHT = {"longest_night_s": "longest night", "day_fraction": "part of the time in light"}
#: The unit that a column's name ends in.
_UNIT = re.compile(r"_(?:m_per_s2?|rad_per_s|deg|N_m|[NmsJ])$")

#: How verdicts are marked in the style of the page.
_MARKS = {PASS: "pass", FAIL: "fail", UNDECIDED: "open", COUNTED: "open", UNJUDGED: "open"}


@dataclass(frozen=True, eq=False)
class Judged:
    """A requirement, the verdict on it, and who does what it asks."""

    verdict: Verdict
    does: Bools
    """(n,) runs that do it."""
    name: str
    """What it asks, as a reader knows it."""

    @property
    def requirement(self) -> Requirement:
        """What is asked."""
        return self.verdict.requirement


def judged(campaign: Campaign, labels: dict[str, str], light: LightOf) -> list[Judged]:
    """The requirements of a campaign; ``labels`` are what columns are called on the page."""
    return [_judged(one, campaign, labels, light) for one in campaign.requirements]


def _judged(one: Requirement, campaign: Campaign, labels: dict[str, str], light: LightOf) -> Judged:
    shards = campaign.shards("runs", list(one.columns))
    sky = light(one) if one.of_light else None
    verdict, does = judge_runs(one, shards, bool(campaign.sweep_keys), sky)
    return Judged(verdict, does, _asked(one, labels))


def _asked(one: Requirement, labels: dict[str, str]) -> str:
    """``largest normal force below 50 N in at least 99 % of runs``."""
    if one.kind == REST_WITHIN:
        what = f"rest within {one.said} of the target"
    elif one.kind == OUTCOME:
        what = plain_name(one.outcome)
    else:
        what = f"{labels.get(one.column) or _plain(one.column)} {one.kind} {one.said}"
        what += one.on_date
    most = "at least" if one.at_least else "at most"
    asked = f"{what} in {most} {100.0 * one.share:.6g} % of the runs"
    same = ("", str(one), what, what.replace("rest ", "rests ", 1))
    return asked if one.name in same else f"{one.name}: {asked}"


def _plain(column: str) -> str:
    """``peak acceleration`` of ``peak_acceleration_m_per_s2``."""
    if column in _OF_LIGHT:
        return _OF_LIGHT[column]
    return " ".join(_UNIT.sub("", column).split("_"))


# -- words ------------------------------------------------------------------------------------


def section(found: Findings[Any]) -> Section:
    """What stands first on the page of a scenario that has requirements."""
    told = found.judged
    if not told:
        return Section()
    rows = [_row(one) for one in told]
    marks = [_MARKS[one.verdict.word] for one in told]
    wide = max(map(len, rows))
    rows = [[*row, *[""] * (wide - len(row))] for row in rows]
    box = Verdicts(headline(told), HEAD[:wide], rows, marks)
    numbers = {"requirements": [_numbers(one) for one in told]}
    answers = [(QUESTION, headline(told))]
    return Section(opening=[box], answers=answers, numbers=numbers)


def headline(told: Sequence[Judged]) -> str:
    """All verdicts in a sentence."""
    words = [one.verdict.word for one in told]
    if COUNTED in words:
        return "A sweep is no sample: requirements are counted, and nothing is decided."
    n = len(words)
    if n == 1:
        said = {
            PASS: "It is met.",
            FAIL: "It is not met.",
            UNDECIDED: "Not yet decided.",
            UNJUDGED: "It could not be judged.",
        }[words[0]]
        return f"One requirement. {said}"
    counts = [(words.count(PASS), "met"), (words.count(FAIL), "not met")]
    counts.append((words.count(UNDECIDED), "not yet decided"))
    counts.append((words.count(UNJUDGED), "not judged"))
    if counts[0][0] == n:
        return f"{'Both' if n == 2 else f'All {n}'} requirements are met."
    if counts[1][0] == n:
        return f"{'Neither of the two' if n == 2 else f'None of the {n}'} requirements is met."
    return f"Of {n} requirements " + ", ".join(f"{c} {_is(c)} {w}" for c, w in counts if c) + "."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _row(one: Judged) -> list[str]:
    verdict = one.verdict
    if verdict.word == UNJUDGED:
        return [verdict.word, one.name, verdict.why]
    count = f"{verdict.met} of {verdict.runs}"
    if verdict.empty:
        count += f" ({verdict.empty} have no value and count as not doing it)"
    if verdict.word == COUNTED:
        return [verdict.word, one.name, count]
    sure = 100.0 * one.requirement.confidence
    low, high = (f"{100.0 * bound:.3g} %" for bound in (verdict.low, verdict.high))
    true = f"above {low}, below {high} ({sure:g} % sure of each)"
    if verdict.word != UNDECIDED:
        more = "decided"
    else:
        more = "no number of runs" if verdict.more is None else f"about {verdict.more} more runs"
    return [verdict.word, one.name, count, true, more]


def _numbers(one: Judged) -> dict[str, object]:
    verdict = one.verdict
    known = {"share": verdict.share, "low": verdict.low, "high": verdict.high}
    return {
        "name": one.requirement.name,
        "requirement": str(one.requirement),
        "verdict": verdict.word,
        **{name: None if math.isnan(value) else value for name, value in known.items()},
        "met": verdict.met,
        "runs": verdict.runs,
        "more_runs": verdict.more,
        "confidence": one.requirement.confidence,
        **({"why": verdict.why} if verdict.why else {}),
    }


def failing(one: Judged) -> Bools:
    """(n,) runs that do not do what must be done, or do what few may."""
    return ~one.does if one.requirement.at_least else one.does

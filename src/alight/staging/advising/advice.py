"""``advise``: which gravity, ground and contact law suit a scenario, measured on its own runs."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alight.analysis.settling import DISTANCE, FIRST, HARDEST, SETTLE
from alight.core.checks import checked_number, checked_whole
from alight.core.errors import InputError
from alight.core.html import facts_html
from alight.core.paths import user_path
from alight.scenario import load
from alight.scenario.document import Document
from alight.staging.advising.alternatives import (
    QUESTIONS,
    Refused,
    Tried,
    alternatives,
    checked_questions,
    table_minutes,
)
from alight.staging.advising.measuring import Cost, measured
from alight.views.compare.findings import Comparison, Row, compare
from alight.views.compare.words import difference_cell

#: What of landings is compared, besides how they end: not what depends on how a law records it
#: (numbers of contacts, forces), and not where on the ground, which "distance" tells for all.
LANDING = (SETTLE, DISTANCE, FIRST, HARDEST, "rest_east_m", "rest_north_m", "rest_x_m", "rest_y_m")
#: Runs of each alternative, unless asked otherwise.
RUNS = 200
#: Minutes that the runs of one alternative may take, unless asked otherwise.
MINUTES = 3.0
#: What the file says is kept unless something else is faster by more than this.
WORTH = 1.15

#: Why something is not compared, by kind of scenario and question.
NOT_COMPARED = {
    ("landing", "contact"): "An articulated lander touches the ground by Hertz springs alone.",
    ("capture", "gravity"): "A capture has no gravity law to choose.",
    ("drop", "gravity"): "A drop has the gravity that its file gives.",
}
NO_GROUND = "A {kind} touches its membrane alone: ground and contact have nothing to choose."


@dataclass(frozen=True, eq=False)
class Option:
    """One alternative with its runs."""

    tried: Tried
    folder: pathlib.Path
    cost: Cost
    runs: int

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.tried.alternative.name + (" (as in the file)" if self.tried.own else "")


@dataclass(frozen=True, eq=False)
class Answer:
    """One question: what was tried, against which, and what follows."""

    question: str
    options: list[Option]
    """The reference first, then the others, cheapest first."""
    refused: list[Refused]
    comparison: Comparison | None
    """Of all options, in their order; None where there is one."""
    note: str = ""
    """Why nothing is compared."""

    def rows(self, number: int) -> list[Row]:
        """What is compared of option ``number``, with the reference."""
        found = self.comparison
        if found is None or number == 0:
            return []
        if found.kind != "landing":
            return found.rows
        return [row for row in found.rows if row.share or row.column in LANDING]

    def differing(self, number: int) -> list[Row]:
        """In what option ``number`` differs from the reference beyond sampling error."""
        return [row for row in self.rows(number) if row.against[number - 1].differs]

    @property
    def tested(self) -> bool:
        """Whether chance has a part: of runs that are all the same nothing is tested."""
        found = self.comparison
        return found is not None and any(pair.tested for pair in found.pairs)

    @property
    def chosen(self) -> Option | None:
        """The cheapest that was not found to differ; None where physics decides, not cost."""
        if self.question == "contact" or not self.options or not self.tested:
            return None
        same = [one for k, one in enumerate(self.options) if not self.differing(k)]
        best = min(same, key=lambda one: one.cost.run_s)
        own = [one for one in same if one.tried.own]
        return own[0] if own and own[0].cost.run_s <= WORTH * best.cost.run_s else best

    @property
    def advice(self) -> str:
        """What follows, in a sentence or two."""
        if self.note:
            return self.note
        if len(self.options) < 2:
            return "There is no alternative for this scenario: keep what the file says."
        if self.question == "contact":
            return _of_contact(self)
        if not self.tested:
            return (
                "Nothing is dispersed at random: the runs differ as the columns show, and no "
                "spread shows whether that matters. Add [dispersions] for an answer."
            )
        return _of_cost(self)


def _of_cost(answer: Answer) -> str:
    chosen = answer.chosen
    own = next((one for one in answer.options if one.tried.own), None)
    assert chosen is not None
    reference = answer.options[0]
    if chosen is reference:
        said = f"{reference.name} is the reference, and nothing that agrees with it is much cheaper"
    else:
        said = (
            f"{chosen.name} agrees with {reference.tried.alternative.name} within sampling error, "
            "and none of those that agree is much cheaper"
        )
    slow = [one for one in answer.options[1:] if one.tried.alternative.exact]
    if slow:
        said += f" ({slow[0].tried.alternative.name} was too slow to be the reference)"
    if own is None or own is chosen:
        return f"{said}."
    ratio = own.cost.run_s / chosen.cost.run_s
    if answer.differing(answer.options.index(own)):
        return f"{said}; what the file says differs."
    return f"{said}: {ratio:.1f} times as fast as what the file says."


def _of_contact(answer: Answer) -> str:
    suits = [one.tried.alternative for one in answer.options]
    clauses = " ".join(f"{one.name[0].upper()}{one.name[1:]} suit {one.suits}." for one in suits)
    return f"Contact laws are different models; what is asked decides. {clauses}"


@dataclass(eq=False)
class Advice:
    """The answers to every question of a scenario. ``print`` it, or take ``to_dict``."""

    scenario: Document
    out: pathlib.Path
    runs: int
    answers: list[Answer] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Everything for scripts: seconds, shares, SI units of the columns."""
        return {
            "scenario": self.scenario.source,
            "runs": self.runs,
            "folder": str(self.out),
            "questions": {one.question: _answer_dict(one) for one in self.answers},
        }

    def __str__(self) -> str:
        return "\n".join(f"{one.question}: {one.advice}" for one in self.answers)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = [(one.question, one.advice) for one in self.answers]
        return facts_html("Which laws suit this scenario", facts)


def advise(
    scenario: Document | str | os.PathLike[str],
    runs: int = RUNS,
    *,
    out: str | os.PathLike[str],
    questions: str | None = None,
    minutes: float = MINUTES,
    show: str = "auto",
    on_try: Callable[[str], None] | None = None,
) -> Advice:
    """Which laws suit a scenario: each alternative run, timed and compared on its own dispersions.

    Parameters
    ----------
    scenario:
        A scenario, or the path of its file.
    runs:
        Of each alternative; fewer where they would take longer than ``minutes``.
    out:
        Folder of the campaigns; the same call again resumes.
    questions:
        Some of "gravity,ground,contact,shape,steps", with commas; all where left out.
    minutes:
        Longest time on the clock [min] for the runs of one alternative.
    show:
        How progress is reported: "silent", "auto", "text" or "rich".
    on_try:
        Called with a line before each alternative.

    Example::

        print(alight.advise("scenarios/itokawa_cube.toml", out="out/advice", questions="gravity"))
    """
    given = scenario if isinstance(scenario, Document) else load(scenario)
    wanted = checked_questions(questions)
    checked_whole("runs", runs, 2)
    checked_number("minutes", minutes)
    if given.sweep_keys():
        raise InputError(
            f"{given.source} has a sweep, whose runs are no random sample: ask for advice on one "
            'combination, without entries of kind = "sweep" in [dispersions].'
        )
    made = Advice(given, user_path(out, "out") / f"{runs}_runs", runs)
    made.out.mkdir(parents=True, exist_ok=True)
    for question in wanted:
        made.answers.append(_answer(made, question, minutes, show, on_try or (lambda line: None)))
    return made


def _answer(
    advice: Advice, question: str, minutes: float, show: str, on_try: Callable[[str], None]
) -> Answer:
    note = _not_compared(advice.scenario, question)
    if note:
        return Answer(question, [], [], None, note)
    tried, refused = alternatives(advice.scenario, question)
    if len(tried) < 2:
        return Answer(question, [], refused, None)
    options = []
    for number, one in enumerate(tried, 1):
        on_try(f"{question}, {number} of {len(tried)}: {one.alternative.name}")
        made = _option(advice, one, minutes, show)
        if isinstance(made, Refused):
            refused.append(made)
        else:
            options.append(made)
    ordered = _ordered(options, advice.runs)
    found = compare(*(one.folder for one in ordered), show="silent") if len(ordered) > 1 else None
    return Answer(question, ordered, refused, found)


def _option(advice: Advice, one: Tried, minutes: float, show: str) -> Option | Refused:
    """The runs of an alternative; what only building it finds wrong refuses it."""
    folder = advice.out / _slug(one)
    building = table_minutes(one)
    if building > minutes and not one.own and not folder.exists():
        return Refused(
            one.alternative,
            f"its table would take some {building:.0f} minutes to build, once; allow it with "
            f"--minutes {building:.0f} (minutes= in Python)",
        )
    try:
        cost, runs = measured(one.scenario, folder, advice.runs, minutes, show)
    except InputError as cause:
        if one.own:
            raise
        return Refused(one.alternative, str(cause).splitlines()[0])
    return Option(one, folder, cost, runs)


def _ordered(options: Sequence[Option], runs: int) -> list[Option]:
    """The reference first: the exact one if it had time for half the runs, else what the file
    says; the others by cost."""
    exact = [one for one in options if one.tried.alternative.exact and 2 * one.runs >= runs]
    own = [one for one in options if one.tried.own]
    first = (exact or own or list(options))[:1]
    rest = sorted((o for o in options if o not in first), key=lambda one: one.cost.run_s)
    return [*first, *rest]


def _not_compared(scenario: Document, question: str) -> str:
    kind = scenario.KIND
    if kind == "landing":
        tree = question == "contact" and scenario.resolved()["contact"]["law"] == "hertz"
        return NOT_COMPARED["landing", "contact"] if tree else ""
    if question in ("ground", "contact"):
        return NO_GROUND.format(kind=kind)
    return NOT_COMPARED.get((kind, question), "")


def _slug(one: Tried) -> str:
    """The file's own answer has one folder for all questions."""
    if one.own:
        return "as_in_the_file"
    words = re.sub(r"[^a-z0-9.]+", "_", one.alternative.name.lower()).strip("_")
    return f"{one.alternative.question}_{words}"


# -- for scripts and screens ----------------------------------------------------------------------


def difference(row: Row, number: int) -> str:
    """The difference to the reference with its interval, as comparisons write it."""
    return difference_cell(row, row.against[number - 1])


def _answer_dict(answer: Answer) -> dict[str, Any]:
    chosen = answer.chosen
    return {
        "advice": answer.advice,
        "chosen": None if chosen is None else chosen.tried.alternative.name,
        "write": [] if chosen is None or chosen.tried.own else chosen.tried.alternative.lines,
        "options": [_option_dict(answer, k) for k in range(len(answer.options))],
        "refused": [{"name": r.alternative.name, "why": r.reason} for r in answer.refused],
    }


def _option_dict(answer: Answer, number: int) -> dict[str, Any]:
    one = answer.options[number]
    return {
        "name": one.tried.alternative.name,
        "as_in_the_file": one.tried.own,
        "reference": number == 0,
        "suits": one.tried.alternative.suits,
        "runs": one.runs,
        "processor_s_per_run": one.cost.run_s,
        "setup_s": one.cost.setup_s,
        "differs": [row.column for row in answer.differing(number)] if answer.tested else None,
        "compared": [_row_dict(row, number) for row in answer.rows(number)],
        "write": one.tried.alternative.lines,
    }


def _row_dict(row: Row, number: int) -> dict[str, Any]:
    against = row.against[number - 1]
    values = [row.values[0].value, row.values[number].value]
    tested = against.tested
    apart = tested.difference if tested is not None else None
    ends = [None, None] if apart is None else [_number(apart.low), _number(apart.high)]
    return {
        "column": row.column,
        "reference": _number(values[0]),
        "value": _number(values[1]),
        "difference": None if apart is None else _number(apart.value),
        "low": ends[0],
        "high": ends[1],
        "p": against.p,
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


__all__ = ["QUESTIONS", "Advice", "Answer", "Option", "advise"]

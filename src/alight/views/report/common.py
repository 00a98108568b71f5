"""Sections of every report: what to know first, what drives outcomes, are runs enough, how made."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

from alight.views import words
from alight.views.estimates import SPREAD_HEAD, percent, plain_name, range_text, spread_cells
from alight.views.figures import statistics
from alight.views.report.findings import Findings, Quantity
from alight.views.report.inputs import name_of
from alight.views.report.section import Code, Facts, Figure, Paragraph, Section, Table

#: What the intervals of a page are.
INTERVALS = (
    "Intervals are of 95 % and say what the number of runs leaves open, for the scenario as it "
    "stands below."
)

QUANTITY_HEAD = ["quantity", *SPREAD_HEAD]
OUTCOME_HEAD = ["outcome", "runs", "share", "95 % interval", "meaning"]
#: What joint keys of a release are made of.
_PARTS = {f"release.{name}" for name in ("latitude", "longitude", "offset", "position", "velocity")}
SOBOL_HEAD = ["outcome", "share of its variance that one input explains (95 % interval)"]


# -- the start --------------------------------------------------------------------------------


def opening(found: Findings[Any], consequence: str, things: str = "runs") -> Section:
    """Whether the campaign is whole, and what it is; runs that fail have a ``consequence``."""
    data, told = found.data, []
    if data.runs < data.planned:
        told.append(
            f"The campaign is unfinished: {data.runs} of {data.planned} {things} are there, and "
            "the report is about these."
        )
    if count := int(found.failed.sum()):
        told.append(
            f"{count} of {data.runs} runs failed numerically ({percent(count / data.runs)}): they "
            f"{consequence}."
        )
    return Section(warnings=told, numbers=found.summary())


def quantity_table(found: Findings[Any]) -> Table:
    """Every quantity: median with interval, what 5, 95 and 99 % of runs stay below, largest."""
    rows = [quantity_row(found, one) for one in found.quantities]
    wide = 2 if found.data.runs == 1 else len(QUANTITY_HEAD)  # one run has no quantiles
    head = ["quantity", "value"] if wide == 2 else QUANTITY_HEAD
    return Table(head, [row[:wide] for row in rows], range(1, wide))


def quantity_row(found: Findings[Any], one: Quantity) -> list[str]:
    """One row of it."""
    known = found.spread(one.column)
    if known is None:
        return [one.label, *["–"] * len(SPREAD_HEAD)]
    unit = one.choose(known.quantiles[0.5].value)
    title = f"{one.label} [{unit.name}]" if unit.name else one.label
    tell = "{:.0f}".format if one.whole else words.number
    return [title, *spread_cells(known, unit, tell)]


# -- the end ----------------------------------------------------------------------------------


def drives(found: Findings[Any]) -> Section:
    """What goes with what."""
    title = "What drives the outcome"
    if found.sensitivity is None:
        why = "There are too few runs for an answer."
        if not found.has_outputs:
            why = "No run got so far that its outcome could be held against what is uncertain."
        if not found.data.inputs:
            why = "Nothing is dispersed in this campaign but, at most, the attitude."
        return Section(title, [Paragraph(why)])
    used, runs = found.ranked, found.data.runs
    rows = "all runs" if used == runs else f"{used} of the runs, evenly spaced"
    figure = Figure(
        "sensitivity",
        partial(statistics.draw_sensitivity, found),
        f"Bars of rank correlation between what is uncertain and how {found.things} go",
        "Spearman's rank correlation: +1 where the outcome always grows with the input, -1 where "
        "it always falls, 0 where it does neither. Bars within the grey band may be chance. Taken "
        f"over {rows}. Attitudes are left out: their numbers have no order.",
    )
    also = "First-order Sobol indices, which also see what neither grows nor falls steadily:"
    return Section(title, [figure, Paragraph(also), Table(SOBOL_HEAD, sobol_rows(found))])


def sobol_rows(found: Findings[Any], most: int = 3) -> list[list[str]]:
    """Each outcome with the inputs whose first-order Sobol index stands clear of 0."""
    told = found.sobol
    rows = []
    for k, output in enumerate(told.outputs if told else ()):
        assert told is not None
        said: list[str] = []
        for name in told.strongest(output):
            i = told.inputs.index(name)
            value, low, high = (float(part[i, k]) for part in (told.value, told.low, told.high))
            if low > 0.0 and value >= 0.005 and len(said) < most:
                said.append(f"{name} {100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)")
        rows.append([output, "; ".join(said) or "none alone"])
    return rows


def enough(found: Findings[Any]) -> Section:
    """What fewer runs would have said."""
    title = "Are the runs enough?"
    if found.data.runs == 1:
        return Section(title, [Paragraph("One run says nothing of how others would go.")])
    figure = Figure(
        "convergence",
        partial(statistics.draw_convergence, found),
        "The main answers against the number of runs",
        "What the first runs alone would have answered. Band: 95 % interval. Dashed: the answer "
        "from all runs.",
    )
    return Section(title, [figure])


def outcomes(found: Findings[Any]) -> Section:
    """Every ending that the tables have, by its name and its sentence."""
    rows = []
    for way, count in found.data.outcomes.items():
        part = found.share(way)
        told = [str(count), percent(part.value), range_text(part), way.message]
        rows.append([plain_name(way.name), *told])
    return Section("How runs ended", [Table(OUTCOME_HEAD, rows, (1, 2, 3))])


def computed(found: Findings[Any]) -> Section:
    """Seed, device, versions."""
    return Section("How it was computed", [Facts(found.data.facts)])


def scenario(found: Findings[Any]) -> Section:
    """The scenario as it was run."""
    given = {k for k in found.data.scenario.get("dispersions", {}) if "." in k}
    inputs = {one.key for one in found.data.inputs}
    joint = {"release.state", "release.place"} if inputs & _PARTS else set()  # named by their parts
    keys = sorted((given | inputs) - joint)
    names = ", ".join(map(name_of, keys)) or "nothing"
    made = "Made in Python" if "study" in found.data.scenario else "With every default filled in"
    told = f"{made}. Varied from run to run: {names}."
    text, rounded = readable(found.data.scenario_text)
    if rounded:
        told += " Long numbers are rounded here; scenario.toml beside the tables has all digits."
    return Section("The scenario", [Paragraph(told), Code(text)])


def readable(text: str) -> tuple[str, bool]:
    """The text of a scenario with angles in degrees and no more digits than a reader needs, and
    whether that changed it."""

    def angle(found: re.Match[str]) -> str:
        return f'"{_short(math.degrees(float(found.group(1))))} deg"'

    def number(found: re.Match[str]) -> str:
        return _short(float(found.group(0)))

    made = re.sub(r'"(-?\d+\.\d{7,}(?:e-?\d+)?) rad"', angle, text)
    made = re.sub(r"-?\b\d+\.\d{9,}(?:e[-+]?\d+)?\b", number, made)
    return made, made != text


def _short(value: float) -> str:
    return f"{value:.8g}"


#: What reports of all kinds end with.
CLOSING = (drives, enough, outcomes, computed, scenario)

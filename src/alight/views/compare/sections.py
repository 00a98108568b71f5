"""The sections of the page of a comparison."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from alight.views.compare import words
from alight.views.compare.quantities import common_frame
from alight.views.compare.sides import Changed
from alight.views.figures import compare as figures
from alight.views.report.section import Facts, Figure, Paragraph, Part, Section, Table

if TYPE_CHECKING:
    from alight.views.compare.findings import Comparison, Row


def sections(found: Comparison) -> list[Section]:
    """All of them, in their order."""
    made = [opening, scenarios, requirements, endings, places, quantities, method, campaigns]
    return [make(found) for make in made]


def opening(found: Comparison) -> Section:
    """The answers, and campaigns that are unfinished."""
    told = [
        f"{side.name} is unfinished: {side.runs} of {side.found.data.planned} runs are there."
        for side in found.sides
        if side.runs < side.found.data.planned
    ]
    told += [
        f"{int(side.found.failed.sum())} of {side.runs} runs of {side.name} failed numerically."
        for side in found.sides
        if side.found.failed.any()
    ]
    return Section(answers=words.answers(found), warnings=told, numbers=found.to_dict())


def scenarios(found: Comparison) -> Section:
    """What differs in the scenarios, with units."""
    parts: list[Part] = []
    if found.scenario:
        parts.append(_changed(found, "key", found.scenario))
    else:
        parts.append(Paragraph("Every value of the resolved scenarios is the same."))
    if found.circumstances:
        parts.append(Paragraph("Beside the scenarios:"))
        parts.append(_changed(found, "", found.circumstances))
    return Section("What differs in the scenarios", parts)


def _changed(found: Comparison, head: str, rows: list[Changed]) -> Table:
    names = [side.name for side in found.sides]
    return Table([head, *names], [[one.key, *one.values] for one in rows])


def requirements(found: Comparison) -> Section:
    """The verdicts of all campaigns side by side; nothing where none requires anything."""
    if not found.requirements:
        return Section()
    names = [side.name for side in found.sides]
    rows = [[name, *map(words.verdict_cell, told)] for name, told in found.requirements.items()]
    return Section("Requirements", [Table(["requirement", *names], rows)])


def endings(found: Comparison) -> Section:
    """Shares of outcomes."""
    things = found.first.found.things
    figure = Figure(
        "compare_shares",
        partial(figures.draw_shares, found),
        f"Share of {things} that end in each way, for each campaign",
        f"Share of {things} that end in each way, with 95 % intervals. *: a difference was found.",
    )
    return Section(f"How {things} end", [figure, *_tables(found, found.shares)])


def places(found: Comparison) -> Section:
    """Rest sites side by side."""
    frame = common_frame(found.sides) if found.kind == "landing" else None
    if frame is None:
        return Section()
    figure = Figure(
        "compare_places",
        partial(figures.draw_places, found, frame),
        "Rest sites of each campaign on the same axes",
        f"Rest sites on the same axes. Black: their middle (median); orange ring: that of "
        f"{found.first.name}. A panel shows {100 * figures.SHOWN:.0f} % of all along each axis.",
    )
    return Section("Where landings rest", [figure])


def quantities(found: Comparison) -> Section:
    """Distributions and medians."""
    if not found.measured:
        return Section()
    figure = Figure(
        "compare_curves",
        partial(figures.draw_curves, found),
        "Distribution of each quantity, a line for each campaign",
        "Part of the runs that have a quantity and stay below a value of it. Dots: medians. "
        "*: a difference was found.",
    )
    return Section(
        "Times, path lengths, speeds and loads", [figure, *_tables(found, found.quantities)]
    )


def _tables(found: Comparison, rows: list[Row]) -> list[Part]:
    """One table for each campaign against the first."""
    out: list[Part] = []
    for number in range(len(found.pairs)):
        head = [*words.heads(found, number), "test"]
        cells = [[*cells_of(row, number), words.test_cell(row.against[number])] for row in rows]
        out.append(Table(head, cells, range(1, 5)))
    return out


def cells_of(row: Row, number: int) -> list[str]:
    """Label, both values, their difference, and p."""
    one = row.against[number]
    values = [words.value_cell(row, k) for k in (0, number + 1)]
    return [row.label, *values, words.difference_cell(row, one), words.p_cell(one)]


def method(found: Comparison) -> Section:
    """How it was compared."""
    return Section("How this was compared", [Paragraph(line) for line in words.method(found)])


def campaigns(found: Comparison) -> Section:
    """Facts of each campaign."""
    parts: list[Part] = []
    for side in found.sides:
        facts = [("folder", str(side.campaign.folder)), *side.found.data.facts]
        parts += [Paragraph(f"{side.name}: {side.found.data.title}"), Facts(facts)]
    return Section("The campaigns", parts)

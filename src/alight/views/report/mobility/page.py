"""The page about a mobility map: what was asked, what is predicted, how it went, and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from alight.core.progress import Progress, progress
from alight.views.figures import mobility as figures
from alight.views.report.files import Report, not_written, page_file, write_page
from alight.views.report.page import Page, render
from alight.views.report.section import Facts, Figure, Paragraph, Section, Table
from alight.views.report.writing import Drawing


@dataclass(frozen=True, eq=False)
class MobilityTold:
    """All that the page says."""

    title: str
    subtitle: str
    answers: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    """Of the table of rules: name, predicted, flown, hops, time, lost."""
    numbers: dict[str, object]
    picture: figures.MapPicture
    curves: list[figures.Curve]


def write(told: MobilityTold, out: Path, show: str | Progress = "auto") -> Report:
    """Write the page and its figures into a folder, or a file."""
    page, made = page_file(out), _sections(told)
    try:
        with progress(show) as bar:
            drawn = Drawing(page.parent, sum(len(one.figures) for one in made), bar)
            body = drawn.all(made)
        text = Page(told.title, told.subtitle, body, answers=told.answers)
        write_page(page, render(text, drawn.svg_of))
    except OSError as error:
        raise not_written(page, error) from None
    return Report(page, drawn.files, told.numbers, list(told.answers), [], {})


def _sections(told: MobilityTold) -> list[Section]:
    flown = [_flown(told)] if told.curves else []
    maps = Section(
        "Maps",
        (
            Figure(
                "maps", partial(figures.draw_bodies, told.picture),
                "The body in the colours of its cells.",
                "From over the goal (above) and from the other side (below). White: the goal; red: "
                "to be avoided.",
            ),
            Figure(
                "plan", partial(figures.draw_arrows, told.picture),
                "The command of each cell as an arrow on a map.",
                "The first command of the plan in each cell, long where it is fast; orange: some "
                "of the runs, from rest site to rest site.",
            ),
        ),
    )  # fmt: skip
    return [*flown, maps, Section("How it was computed", (Facts(list(told.facts)),))]


def _flown(told: MobilityTold) -> Section:
    """What runs under the plan did, beside what was foretold of them."""
    head = ("rule", "predicted to arrive", "flown: arrived", "mean hops", "mean time", "lost")
    return Section(
        "The plan, flown",
        (
            Table(head, told.rows, numbers=(1, 2, 3, 4, 5)),
            Paragraph(
                "Predictions come from runs that the plan was not made from; flown are fresh runs, "
                "each hop by the command of the cell where the lander rests. Intervals are of 95 %."
            ),
            Figure(
                "success", partial(figures.draw_curves, told.curves),
                "Share of runs that have arrived by the number of hops.",
                "Runs that have arrived by the number of hops: predicted, and flown.",
            ),
        ),
    )  # fmt: skip

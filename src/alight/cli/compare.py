"""``alight compare``: campaigns side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import page_path
from alight.cli.options import Json, optional
from alight.cli.speaking import speaking
from alight.core.paths import user_path

if TYPE_CHECKING:
    from alight.views.compare.findings import Comparison
    from alight.views.report.files import Report

#: Values of scenarios that are listed; the page has them all.
LISTED = 20


@speaking("Comparing")
def command(
    folders: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR DIR ...",
            help="Campaign folders; the others are compared with the first.",
        ),
    ],
    out: Annotated[
        str | None,
        optional(
            "Output page: a .html file or a folder (default: comparison.html in the first DIR).",
            metavar="FILE",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    page: Annotated[
        bool,
        typer.Option(
            help="Write the HTML page (default), or only print tables.", show_default=False
        ),
    ] = True,
    as_json: Json = False,
) -> None:
    """Compare campaigns of one kind: differences in scenarios and results, with confidence
    intervals and tests, as tables and one HTML page.

    Example: alight compare out/soft out/hard --open
    """  # fmt: skip
    from alight.cli.report_sun import light_for
    from alight.views.compare.findings import compare

    place = _place(out, folders) if page else None
    told = "silent" if as_json else "auto"
    found = compare(*folders, show=told, light=light_for)
    report = None if place is None else found.write(place, told)
    if as_json:
        where = {} if report is None else {"page": str(report.page)}
        screen.echo_json({**where, **found.to_dict()})
    else:
        _tell(found, report)
    if show and report is not None:
        typer.launch(report.page.resolve().as_uri())


def _place(out: str | None, folders: list[str]) -> Path:
    """The file or folder of the page, refused before anything long begins."""
    from alight.views.compare.writing import comparison_file

    if out is None:
        return user_path(folders[0], "folder")
    path = page_path(out)
    comparison_file(path)
    return path


def _tell(found: Comparison, report: Report | None) -> None:
    """What a person reads."""
    from alight.views.compare.sections import cells_of
    from alight.views.compare.words import answers, heads, verdict_cell

    console = screen.console()
    _tell_scenarios(found, console)
    if found.requirements:
        names = [side.name for side in found.sides]
        told = [[name, *map(verdict_cell, own)] for name, own in found.requirements.items()]
        console.print(screen.table(["requirement", *names], told))
    for number in range(len(found.pairs)):
        rows = [cells_of(row, number) for row in found.rows]
        console.print(screen.table(heads(found, number), rows, right=range(1, 5)))
    for question, answer in answers(found):
        screen.lines(console, [question], "bold")
        screen.lines(console, [answer])
    if report is not None:
        screen.lines(console, (f"Note: {line}" for line in report.warnings), "yellow")
        screen.lines(console, [f"wrote {report.page}"], "green")


def _tell_scenarios(found: Comparison, console: Any) -> None:
    changed = [*found.scenario, *found.circumstances]
    if not changed:
        screen.lines(console, ["The scenarios are the same."])
        return
    rows = [[one.key, *one.values] for one in changed[:LISTED]]
    heads = ["difference", *(side.name for side in found.sides)]
    console.print(screen.table(heads, rows))
    if len(changed) > LISTED:
        screen.lines(console, [f"and {len(changed) - LISTED} more, on the page"])

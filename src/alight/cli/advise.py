"""``alight advise``: which gravity, ground and contact law suit a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import scenario_of
from alight.cli.options import Json, Scenario, optional
from alight.cli.speaking import speaking

if TYPE_CHECKING:
    from alight.staging.advising.advice import Advice, Answer

#: Differences that a row of the table shows; ``--json`` has them all.
SHOWN = 3


@speaking("Preparing the alternatives")
def command(
    scenario: Scenario,
    runs: Annotated[int, typer.Option(help="Runs of each alternative.")] = 200,
    minutes: Annotated[
        float,
        typer.Option(help="Longest time for one alternative; it has fewer runs beyond it."),
    ] = 3.0,
    questions: Annotated[
        str | None,
        optional(
            "Only these of gravity, ground, contact, shape, steps, with commas (default: all).",
            metavar="NAMES",
        ),
    ] = None,
    out: Annotated[
        str | None,
        optional("Folder of the campaigns (default: out/advice_NAME); resumed if it is there."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which gravity, ground and contact law suit a scenario: each alternative is run, timed and
    compared on the scenario's own dispersions. Resumes after a stop.

    Example: alight advise scenarios/itokawa_cube.toml --questions gravity
    """  # fmt: skip
    from alight.campaign import CampaignInterruptedError
    from alight.staging.advising import advise

    given = scenario_of(scenario)
    place = out or f"out/advice_{Path(given.source).stem.replace(' ', '_')}"
    show = "silent" if as_json else "auto"
    try:
        found = advise(
            given,
            runs,
            out=place,
            questions=questions,
            minutes=minutes,
            show=show,
            on_try=None if as_json else lambda line: screen.echo(f"Trying {line}", err=True),
        )
    except CampaignInterruptedError:
        # Said here, as Typer makes an exit code of it and drops the text.
        from alight.cli.main import complain
        from alight.cli.start import INTERRUPTED

        complain(f"interrupted: what is finished is safe in {place}. Run the same command again.")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        screen.echo_json(found.to_dict())
        return
    _write(found)


def _write(found: Advice) -> None:
    """What a person reads."""
    console = screen.console()
    for answer in found.answers:
        screen.lines(console, [f"Which {answer.question}?"], "bold")
        if answer.options:
            heads = ["", "runs", "ms a run", "set-up [s]", "differences from the first"]
            console.print(screen.table(heads, _rows(answer), right=range(1, 4)))
        screen.lines(console, [answer.advice])
        _write_change(answer, console)
        refused = [f"Not tried: {r.alternative.name}: {r.reason}" for r in answer.refused]
        screen.lines(console, refused, "dim")
    screen.lines(
        console,
        [
            "Times are processor time on this machine, kernels compiled. Differences are of "
            "medians and shares, with 95 % intervals, of runs with the same draws; only those "
            "beyond sampling error count.",
            f"The campaigns are in {found.out}: alight compare and alight report read them.",
        ],
        "dim",
    )


def _rows(answer: Answer) -> list[list[str]]:
    return [
        [
            one.name,
            str(one.runs),
            f"{1e3 * one.cost.run_s:.3g}",
            f"{one.cost.setup_s:.1f}",
            _differences(answer, number),
        ]
        for number, one in enumerate(answer.options)
    ]


def _differences(answer: Answer, number: int) -> str:
    from alight.staging.advising.advice import difference

    if number == 0:
        return "(reference)"
    if not answer.tested:
        return "not tested"
    found = answer.differing(number)
    if not found:
        return "none beyond sampling error"
    said = [f"{row.label} {difference(row, number)}" for row in found[:SHOWN]]
    more = len(found) - SHOWN
    return "; ".join(said) + (f"; {more} more" if more > 0 else "")


def _write_change(answer: Answer, console: Any) -> None:
    """What to write in the file, where it is not there."""
    chosen = answer.chosen
    if chosen is None or chosen.tried.own:
        return
    lines = chosen.tried.alternative.lines
    screen.lines(console, [f"Write in the scenario: {', '.join(lines)}"], "green")

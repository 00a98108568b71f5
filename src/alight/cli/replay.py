"""``alight replay``: one run of a stored campaign again, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.options import Json, optional
from alight.cli.speaking import speaking

if TYPE_CHECKING:
    from alight.campaign.replay import Replay

#: Differences listed, the largest of them.
SHOWN = 12


@speaking("Replaying")
def command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Campaign folder.")],
    run: Annotated[int, typer.Argument(metavar="RUN", help="Run number, from 0.")],
    out: Annotated[
        str | None,
        optional("Write the history to this file, .parquet or .csv.", metavar="FILE"),
    ] = None,
    scenario: Annotated[
        str | None,
        optional("The campaign's scenario, if files that it names have moved.", metavar="FILE"),
    ] = None,
    lines: Annotated[
        int | None, optional("Maximum number of history rows (default: 100000).")
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            help="cpu, cuda:0, ...; auto: the kind of device that the campaign was computed on."
        ),
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Recompute one run of a campaign, with its full history, and compare it with its stored row.

    Example: alight replay out/ryugu 17 --out run17.parquet
    """
    from alight.campaign.reader import open_campaign
    from alight.campaign.replay import checked_run_number, history_file

    if out is not None:
        history_file(out)
    campaign = open_campaign(folder)
    checked_run_number(campaign, run)
    show = "silent" if as_json else "auto"
    if not as_json:
        screen.echo(f"Replaying run {run} of {campaign.folder}: building its model.", err=True)
    made = campaign.replay(run, scenario, device=device, max_lines=lines, show=show)
    written = None if out is None else str(made.save(out))
    if as_json:
        screen.echo_json(_facts(made, written))
    else:
        _tell(made, written)


def _facts(made: Replay, written: str | None) -> dict[str, Any]:
    """What a script reads."""
    from alight.cli.run_row import plain

    (row,) = made.row.to_pylist()
    return {
        "folder": str(made.campaign.folder),
        "run": made.run,
        "outcome": made.outcome.name.lower(),
        "identical": made.identical,
        "stored_outcome": made.stored_outcome.name.lower(),
        "differences": [
            {
                "table": one.table,
                "column": one.column,
                **({"contact": one.number} if one.table == "contacts" else {}),
                "stored": plain(one.stored),
                "now": plain(one.found),
                "relative": plain(one.relative),
            }
            for one in made.differences
        ],
        "notes": list(made.notes),
        "device": made.device.name,
        "steps": None if made.thinning is None else made.thinning.steps,
        "history_lines": 0 if made.solution is None else made.history.num_rows,
        "history": written,
        "contacts": made.contacts.num_rows,
        "row": {name: plain(value) for name, value in row.items()},
    }


def _tell(made: Replay, written: str | None) -> None:
    """Print the run as ``alight run`` does, then how it compares."""
    from alight.cli.run import tellers

    console = screen.console()
    if made.solution is None:
        screen.lines(console, [f"{made.outcome.message}: it has no history."])
    else:
        tellers(made.campaign.kind.word)[1](made.solution)
    screen.lines(console, [made.verdict()], "green" if made.identical else "yellow")
    if made.differences:
        listed = sorted(made.differences, key=lambda one: -one.relative)
        rest = len(listed) - SHOWN
        screen.lines(console, (f"  {one}" for one in listed[:SHOWN]))
        if rest > 0:
            screen.lines(console, [f"  and {rest} more (--json lists them all)"])
    if written is not None:
        screen.lines(console, [f"wrote {made.history.num_rows} rows to {written}"], "green")

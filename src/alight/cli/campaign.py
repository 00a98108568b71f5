"""``alight campaign``: many runs of a scenario, with what is uncertain varied."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from alight.cli import screen
from alight.cli.names import scenario_of
from alight.cli.options import Device, Json, Scenario, optional
from alight.core.errors import InputError


def command(
    scenario: Scenario,
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the campaign, new or old.")],
    runs: Annotated[int | None, optional("Runs, instead of the scenario's own number.")] = None,
    device: Device = "auto",
    scheduler: Annotated[
        str | None,
        optional(
            "Compute on the workers of this Dask scheduler, such as tcp://host:8786.",
            metavar="ADDRESS",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a campaign, or go on with one: what is finished in DIR is checked and kept.

    Example: alight campaign scenarios/ryugu_minerva.toml --runs 1000 --out out/ryugu
    """
    from alight.campaign import CampaignInterruptedError, run_campaign
    from alight.campaign.run_or_resume import naming_packages

    if not out.strip():
        raise InputError(f'--out "{out}" names no folder: name one, such as --out out/ryugu.')
    with naming_packages(out):
        given = scenario_of(scenario)
    show = "silent" if as_json else "auto"
    try:
        result = run_campaign(given, runs, out=out, device=device, scheduler=scheduler, show=show)
    except CampaignInterruptedError as stop:
        # Told here, as Typer makes an exit code of it and drops the text.
        from alight.cli.main import complain
        from alight.cli.start import INTERRUPTED

        complain(str(stop))
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        ended = {outcome.name.lower(): count for outcome, count in result.outcomes.items()}
        screen.echo_json({"folder": str(result.folder), "runs": result.runs, "outcomes": ended})
    else:
        folder = shlex.quote(str(result.folder))
        screen.echo(f"{result}.\nRead it with: alight report {folder}")
        screen.lines(screen.console(), given.remarks(), "dim")

"""``alight campaign``: many landings of a scenario, with what is uncertain varied."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def command(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the campaign, new or old.")],
    runs: Annotated[
        int | None,
        typer.Option(help="Landings, instead of the scenario's own number.", show_default=False),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda:0, ...")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Run a campaign, or go on with one: what is finished in DIR is checked and kept.

    Example: alight campaign scenarios/ryugu_minerva.toml --runs 1000 --out out/ryugu
    """
    from alight.campaign import run_campaign

    result = run_campaign(
        scenario, runs, out=out, device=device, show="silent" if as_json else "auto"
    )
    if as_json:
        ended = {outcome.name.lower(): count for outcome, count in result.outcomes.items()}
        facts = {"folder": str(result.folder), "runs": result.runs, "outcomes": ended}
        typer.echo(json.dumps(facts, indent=2))
    else:
        typer.echo(f"{result}.\nRead it with: alight report {result.folder}")

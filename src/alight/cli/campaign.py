"""``alight campaign``: many runs of a scenario, with what is uncertain varied."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import scenario_of
from alight.cli.options import Device, Json, Scenario, optional
from alight.cli.speaking import speaking
from alight.core.errors import InputError


@speaking("Preparing the campaign")
def command(
    scenario: Scenario,
    out: Annotated[str, typer.Option(metavar="DIR", help="Campaign folder, new or existing.")],
    runs: Annotated[int | None, optional("Number of runs (default: that of the scenario).")] = None,
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
    """Run a campaign, or resume one: finished shards in DIR are verified and kept.

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
    verdicts = _verdicts(result.open(), show)
    if as_json:
        ended = {outcome.name.lower(): count for outcome, count in result.outcomes.items()}
        told = {"folder": str(result.folder), "runs": result.runs, "outcomes": ended}
        screen.echo_json(told | ({"requirements": [_row(v) for v in verdicts]} if verdicts else {}))
        return
    screen.echo(f"{result}.")
    for verdict in verdicts:
        screen.echo(f"  {verdict}")
    screen.echo(f"Next: alight report {shlex.quote(str(result.folder))}")
    screen.lines(screen.console(), given.remarks(), "dim")


def _verdicts(campaign: Any, show: str = "silent") -> list[Any]:
    """What the runs say of each requirement of the scenario."""
    from alight.analysis.requirements import judge
    from alight.cli.report_sun import light_for

    sweep, light = bool(campaign.sweep_keys), light_for(campaign)
    found = []
    for one in campaign.requirements:
        shards = campaign.shards("runs", one.columns)
        if one.of_light:
            found.append(judge(one, _reported(shards, campaign, show), sweep, light(one)))
        else:
            found.append(judge(one, shards, sweep))
    return found


def _reported(shards: Iterable[Any], campaign: Any, show: str) -> Iterator[Any]:
    """The same shards, with progress: light takes some seconds for a hundred thousand runs."""
    from alight.core.progress import progress

    with progress(show) as bar:
        bar.start("Light where runs rest", total=len(campaign.seals))
        for shard in shards:
            yield shard
            bar.advance()


def _row(verdict: Any) -> dict[str, Any]:
    """A verdict for scripts."""
    asked = verdict.requirement
    numbers = {"share": verdict.share, "low": verdict.low, "high": verdict.high}
    known = {name: None if math.isnan(v) else v for name, v in numbers.items()}
    return {
        "name": asked.name,
        "requirement": str(asked),
        "verdict": verdict.word,
        **known,
        "met": verdict.met,
        "runs": verdict.runs,
        "more_runs": verdict.more,
        "confidence": asked.confidence,
        **({"why": verdict.why} if verdict.why else {}),
    }

"""``alight scenario``: check, list and begin scenario files."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated, Any

import typer

from alight.cli import screen
from alight.cli.help_screens import Application
from alight.cli.names import complete_scenario, scenario_of
from alight.cli.options import Json, optional
from alight.cli.speaking import speaking
from alight.core.errors import AlightError, FileError, InputError
from alight.core.paths import user_path

app = Application(help="Check scenario files, list the shipped ones, create your own.")


@app.command()
@speaking("Checking")
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Scenario files, names of shipped ones, or - for standard input.",
            autocompletion=complete_scenario,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Check scenario files: every error, the release state, and the cost of a campaign.

    Nothing is built or run. Example: alight scenario check scenarios/*.toml
    """
    from alight.cli.main import USER_ERROR, complain

    wrong, told = 0, []
    for file in files:
        try:
            given = scenario_of(file)
            from alight.scenario.building.foresight import checked  # what is read is mostly fine

            found = checked(given)
            found.remarks += _dispersed(given)
        except AlightError as mistake:
            complain(str(mistake))
            wrong += 1
            told.append({"file": file, "fine": False, "problems": str(mistake).splitlines()})
            continue
        told.append({"file": file, "fine": True, **_facts(given, found)})
        if not as_json:
            screen.echo(f"{file}: OK" + (f" ({given.title})" if given.title else ""))
            for line in _said(given, found):
                screen.echo(f"  {line}")
    if as_json:
        screen.echo_json(told)
    raise typer.Exit(USER_ERROR if wrong else 0)


def _dispersed(given: Any) -> list[Any]:
    """What is to be known of the dispersed releases of the first runs."""
    import numpy as np

    from alight.campaign.dispersions.sampling import sample
    from alight.scenario.building.dispersed_starts import LOOKED, dispersed_remarks

    if given.KIND != "landing" or not given.dispersions:
        return []
    runs = np.arange(min(LOOKED, int(given.campaign.runs)))
    return dispersed_remarks(given, sample(given, runs))


def _facts(given: Any, found: Any) -> dict[str, Any]:
    """For scripts."""
    return {
        "remarks": [*given.remarks(), *(str(one) for one in found.remarks)],
        "runs": found.runs,
        "about_seconds": round(found.seconds, 1),
        "about_table_bytes": int(found.memory),
        "about_disk_bytes": int(found.disk),
    }


def _said(given: Any, found: Any) -> list[str]:
    """For people: numbers that are good to a factor of a few."""
    few = found.seconds < 10.0
    time = "a few seconds" if few else f"about {_duration(found.seconds)}"
    lines = [f"note: {one}" for one in (*given.remarks(), *found.remarks)]
    lines.append(
        f"a campaign of {found.runs} runs: {time} on {found.cores} cores, tables "
        f"{_size(found.memory)}, {_size(found.disk)} on disk; plus building and compiling, "
        "seconds to minutes the first time"
    )
    return lines


def _duration(seconds: float) -> str:
    for size, name in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{_two_digits(seconds / size)} {name}"
    return f"{_two_digits(seconds)} s"


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _size(count: float) -> str:
    for size, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= size:
            return f"{_two_digits(count / size)} {name}"
    return "less than 1 MB"


@app.command()
def schema(
    kind: Annotated[str, typer.Option(help="Kind of files: landing, capture or drop.")] = "landing",
) -> None:
    """Print the JSON schema of scenario files, for editors that complete and check TOML.

    Example: alight scenario schema --kind capture
    """
    from alight import scenario

    screen.echo_json(scenario.json_schema(kind))


@app.command("list")
def show_list(
    as_json: Json = False,
) -> None:
    """List the scenarios shipped with Alight, with a line on each."""
    from alight.scenario.shipped_scenarios import shipped

    found = shipped().values()
    if as_json:
        screen.echo_json([{"name": s.name, "file": str(s.path), "shows": s.about} for s in found])
        return
    for one in found:
        screen.echo(f"{one.name}\n    {one.about}")


@app.command()
def new(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write.")],
    mission: Annotated[
        str | None,
        typer.Option(
            "--for",
            help="What it is for: landing, legs, hop, capture or drop.",
            show_default=False,
        ),
    ] = None,
    body: Annotated[str | None, optional("A body of the catalogue, with --for.")] = None,
    lander: Annotated[str | None, optional("A lander of the catalogue, with --for.")] = None,
    like: Annotated[
        str | None,
        typer.Option(
            help="Start from a copy of this shipped scenario.", autocompletion=complete_scenario
        ),
    ] = None,
) -> None:
    """Create your own scenario: a commented file for a mission, or a copy of a shipped one.

    Without --for and --like it asks. Example: alight scenario new hop.toml --for hop --body bennu
    """
    path = user_path(file, "FILE")
    if path.exists():
        raise FileError(f"{path} already exists and is not overwritten. Give another file name.")
    if like is not None and (mission or body or lander):
        raise InputError("--like copies a scenario as it is; give either --like or --for.")
    if like is None and mission is None:
        mission = _asked() if sys.stdin.isatty() else "landing"
    text, source = _begun(mission, body, lander, like)
    try:
        path.write_bytes(text)
    except OSError as cause:
        raise FileError(f"{path} cannot be written: {cause.strerror}.") from None
    told = shlex.quote(str(path))
    screen.echo(f"wrote {path}, {source}. Run it with: alight run {told}")


def _begun(
    mission: str | None, body: str | None, lander: str | None, like: str | None
) -> tuple[bytes, str]:
    """The text of a new scenario, and what it is."""
    if like is None:
        from alight.scenario.beginnings import text_for

        assert mission is not None
        return text_for(mission, body, lander).encode(), f"a scenario for {mission}"
    from alight.core.files import read_bounded
    from alight.scenario.shipped_scenarios import MOST_BYTES, find

    source = find(like)
    return read_bounded(source.path, MOST_BYTES, "the scenario"), f"a copy of {source.name}"


def _asked() -> str:
    """What a person at a terminal says that it is for."""
    from alight.scenario.beginnings import MISSIONS

    for name, about in MISSIONS.items():
        screen.echo(f"{name:8} {about}")
    return str(typer.prompt("What is it for?", default="landing"))

"""``alight scenario``: check, list and begin scenario files."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import complete_scenario, scenario_of
from alight.cli.options import Json
from alight.core.errors import AlightError, FileError
from alight.core.paths import user_path

app = typer.Typer(help="Check scenario files, list those shipped, begin one of your own.")


@app.command()
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
    """Check scenario files: every mistake, where they start, and what a campaign will cost.

    Nothing is built or run. Example: alight scenario check scenarios/*.toml
    """
    from alight.cli.main import USER_ERROR, complain

    wrong, told = 0, []
    for file in files:
        try:
            given = scenario_of(file)
            from alight.scenario.building.foresight import checked  # what is read is mostly fine

            found = checked(given)
        except AlightError as mistake:
            complain(str(mistake))
            wrong += 1
            told.append({"file": file, "fine": False, "problems": str(mistake).splitlines()})
            continue
        told.append({"file": file, "fine": True, **_facts(found)})
        if not as_json:
            screen.echo(f"{file}: fine" + (f" ({given.title})" if given.title else ""))
            for line in _said(found):
                screen.echo(f"  {line}")
    if as_json:
        screen.echo_json(told)
    raise typer.Exit(USER_ERROR if wrong else 0)


def _facts(found: Any) -> dict[str, Any]:
    """For scripts."""
    return {
        "remarks": [str(one) for one in found.remarks],
        "runs": found.runs,
        "about_seconds": round(found.seconds, 1),
        "about_table_bytes": int(found.memory),
        "about_disk_bytes": int(found.disk),
    }


def _said(found: Any) -> list[str]:
    """For people: numbers that are good to a factor of a few."""
    few = found.seconds < 10.0
    time = "some seconds" if few else f"about {_duration(found.seconds)}"
    lines = [f"note: {one}" for one in found.remarks]
    lines.append(
        f"a campaign of {found.runs} runs: {time} on {found.cores} cores, tables "
        f"{_size(found.memory)}, {_size(found.disk)} on disk; building and compiling come before, "
        "seconds to minutes the first time"
    )
    return lines


def _duration(seconds: float) -> str:
    for size, name in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.2g} {name}"
    return f"{seconds:.2g} s"


def _size(count: float) -> str:
    for size, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= size:
            return f"{count / size:.2g} {name}"
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
    """List the scenarios that come with Alight: name, and what each shows."""
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
    like: Annotated[
        str,
        typer.Option(help="Begin with this shipped scenario.", autocompletion=complete_scenario),
    ] = "ryugu_minerva",
) -> None:
    """Begin a scenario of your own with a copy of a shipped one.

    Example: alight scenario new my_landing.toml --like mascot_ryugu
    """
    from alight.core.files import read_bounded
    from alight.scenario.shipped_scenarios import MOST_BYTES, find

    path = user_path(file, "FILE")
    if path.exists():
        raise FileError(f"{path} exists already; it is not overwritten. Name another file.")
    source = find(like)
    text = read_bounded(source.path, MOST_BYTES, "the scenario")
    try:
        path.write_bytes(text)
    except OSError as cause:
        raise FileError(f"{path} cannot be written: {cause.strerror}.") from None
    told = shlex.quote(str(path))
    screen.echo(f"wrote {path}, a copy of {source.name}. Run it with: alight run {told}")

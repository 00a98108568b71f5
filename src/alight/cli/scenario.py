"""``alight scenario``: check, list and begin scenario files."""

from __future__ import annotations

import shlex
from typing import Annotated

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
) -> None:
    """Check scenario files, and tell every mistake in all of them.

    Example: alight scenario check scenarios/*.toml
    """
    from alight.cli.main import USER_ERROR, complain

    wrong = 0
    for file in files:
        try:
            found = scenario_of(file)
        except AlightError as mistake:
            complain(str(mistake))
            wrong += 1
        else:
            screen.echo(f"{file}: fine" + (f" ({found.title})" if found.title else ""))
            for remark in found.remarks():
                screen.echo(f"    {remark}")
    raise typer.Exit(USER_ERROR if wrong else 0)


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

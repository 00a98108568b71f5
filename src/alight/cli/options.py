"""Options that several subcommands have."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from alight.cli.names import complete_scenario


def optional(text: str, **settings: Any) -> Any:
    """An option that may be left out; the help shows no default."""
    return typer.Option(help=text, show_default=False, **settings)


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
List = Annotated[bool, typer.Option("--list", help="List the catalogue.")]
Device = Annotated[str, typer.Option(help="Device: auto, cpu, cuda:0, ...")]
Unit = Annotated[str | None, optional("Unit of a file's coordinates: m, km, cm, mm or ft.")]
Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file (TOML), the name of a shipped one, or - for standard input.",
        autocompletion=complete_scenario,
    ),
]

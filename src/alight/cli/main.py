"""The command ``alight``.

Each subcommand is one file of this folder and one line under "Subcommands" below: a plain
function is added with ``app.command``, a Typer application of its own with ``app.add_typer``.
Subcommands import Warp, Matplotlib and the rooms they need inside their functions, so that
``alight --help`` answers at once.
"""

from __future__ import annotations

import io
import sys
from importlib import metadata
from typing import Annotated

import typer

from alight.cli import (
    advise,
    bench,
    body,
    campaign,
    compare,
    doctor,
    export,
    film,
    hop,
    lander,
    mobility,
    replay,
    report,
    scenario,
    view,
)
from alight.cli import run as run_once
from alight.cli.help_screens import Application
from alight.cli.start import INTERRUPTED
from alight.core.errors import AlightError

#: Exit code for a user's mistake: the same as for a wrong option.
USER_ERROR = 2

app = Application(
    name="alight",
    pretty_exceptions_enable=False,
    # Rich markup would swallow units such as [m] in help texts.
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"alight {metadata.version('alight')}")
        raise typer.Exit


@app.callback()
def _alight(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Landing, bouncing, sliding and settling at asteroids, comets and small moons."""


# Subcommands
app.command("run")(run_once.command)
app.command("campaign")(campaign.command)
app.command("report")(report.command)
app.command("replay")(replay.command)
app.command("compare")(compare.command)
app.command("advise")(advise.command)
app.command("export")(export.command)
app.command("view")(view.command)
app.command("film")(film.command)
app.add_typer(scenario.app, name="scenario")
app.command("body", cls=body.Command)(body.command)
app.command("lander", cls=lander.Command)(lander.command)
app.command("hop", cls=hop.Command)(hop.command)
app.command("mobility")(mobility.command)
app.command("doctor")(doctor.command)
app.add_typer(bench.app, name="bench")


def run() -> None:
    """Run the command line: a user's mistake is one red line, a defect keeps its traceback.

    After Ctrl-C it exits with ``start.INTERRUPTED``, without a word.
    """
    _write_any_text()
    try:
        app()
    except AlightError as error:
        complain(str(error))
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:  # before Typer has begun, which looks after it itself
        sys.exit(INTERRUPTED)


def _write_any_text() -> None:
    """Let terminals and files that lack "³" or "°" show "?" for it, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def complain(message: str) -> None:
    """Print an error on standard error, as it stands: brackets are text, lines are not broken."""
    from rich.text import Text

    from alight.cli.screen import console

    line = Text(f"alight: error: {message}", style="red")
    console(stderr=True).print(line, soft_wrap=True)

"""``alight export``: runs and campaigns as files for other tools."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import complete_scenario
from alight.cli.options import Json, optional
from alight.core.errors import InputError


def command(
    given: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR_OR_SCENARIO",
            help="Campaign folder, or a scenario, which is run once.",
            autocompletion=complete_scenario,
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str | None,
        optional("Formats, separated by commas, such as csv,vtk,gltf,spice.", metavar="FORMATS"),
    ] = None,
    out: Annotated[
        str | None, optional("Output folder; created if absent.", metavar="FOLDER")
    ] = None,
    runs: Annotated[
        str | None,
        optional(
            "Runs of a campaign, such as 1,5 or 3-7; those whose trajectories were not kept are "
            "computed again. Kept ones if not given.",
            metavar="RUNS",
        ),
    ] = None,
    frame: Annotated[
        str | None,
        optional(
            "inertial or fixed (in the body); if not given inertial for spice, ccsds and "
            "cosmographia, fixed for others."
        ),
    ] = None,
    epoch: Annotated[
        str | None,
        optional(
            "Date of t = 0, TDB, such as 2018-10-03T01:57:20; that of the scenario if not given, "
            "or J2000.",
            metavar="DATE",
        ),
    ] = None,
    frames: Annotated[int, typer.Option(help="Time samples (vtk).", min=2)] = 200,
    speed: Annotated[
        float, typer.Option(help="Simulated seconds per second of animation (gltf, usd).")
    ] = 1.0,
    device: Annotated[str, typer.Option(help="Device that a scenario runs on.")] = "auto",
    listed: Annotated[bool, typer.Option("--list", help="List the formats.")] = False,
    as_json: Json = False,
) -> None:
    """Export runs to CSV, Parquet, VTK (ParaView), glTF (Blender), USD, SPICE, CCSDS, Cosmographia.

    Example: alight export out/ryugu --to vtk,spice --runs 1,5 --out out/files
    """
    if listed:
        _list(as_json)
        return
    for value, said in ((given, "what"), (to, "--to FORMATS"), (out, "--out FOLDER")):
        if value is None:
            raise InputError(
                f"{said} is missing: alight export out/ryugu --to csv,vtk --out out/files "
                "(alight export --list shows the formats)."
            )
    _write(
        str(given), str(to), str(out), _numbers(runs), frame, epoch, frames, speed, device, as_json
    )


def _write(
    given: str, to: str, out: str, runs: list[int] | None, frame: str | None, epoch: str | None,
    frames: int, speed: float, device: str, as_json: bool,
) -> None:  # fmt: skip
    from alight.cli.names import scenario_of
    from alight.core.compile_notice import reported
    from alight.staging.exporting import export

    show = "silent" if as_json else "auto"
    what: Any = given if os.path.isdir(given) else scenario_of(given)
    with reported(show):
        made = export(
            what, to, out, runs=runs, frame=frame, epoch=epoch, frames=frames, speed=speed,
            device=device, show=show,
        )  # fmt: skip
    if as_json:
        files = {name: [str(path) for path in paths] for name, paths in made.files.items()}
        screen.echo_json({"folder": str(made.folder), "files": files, "notes": list(made.notes)})
        return
    console = screen.console()
    screen.lines(console, made.notes)
    rows = [
        (name, path.relative_to(made.folder).as_posix(), _size(path.stat().st_size))
        for name, paths in made.files.items()
        for path in paths
    ]
    console.print(screen.table(("format", "file", "size"), rows, right=[2]))
    written = "1 file" if len(rows) == 1 else f"{len(rows)} files"
    screen.lines(console, [f"wrote {written} to {made.folder}"], "green")


def _list(as_json: bool) -> None:
    from alight.views.exports.formats import rows

    found = rows()
    if as_json:
        screen.echo_json(found)
        return
    cells = [tuple(str(value) for value in row.values()) for row in found]
    screen.console().print(screen.table(tuple(found[0]), cells))


def _numbers(runs: str | None) -> list[int] | None:
    """``1,5`` or ``3-7`` as numbers."""
    if runs is None:
        return None
    found: list[int] = []
    for word in runs.split(","):
        first, dash, last = word.strip().partition("-")
        if not first.isascii() or not first.isdigit() or (dash and not last.isdigit()):
            raise InputError(f'--runs "{runs}": write numbers of runs, such as 1,5 or 3-7.')
        if dash and int(last) - int(first) > 10_000:
            raise InputError(
                f'--runs "{runs}" names more than 10 000 runs: export fewer at a time.'
            )
        found += range(int(first), int(last if dash else first) + 1)
    if not found:
        raise InputError(f'--runs "{runs}" names no run: write numbers such as 1,5 or 3-7.')
    return list(dict.fromkeys(found))


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"

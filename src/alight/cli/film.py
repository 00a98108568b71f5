"""``alight film``: a film of a scenario, of a run or of many runs at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import complete_scenario, scenario_of
from alight.cli.options import Device, Json, optional

if TYPE_CHECKING:
    from alight.views.film.making import Film

#: Runs in one film at most: more cannot be distinguished.
MOST = 200


def command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|CAMPAIGN",
            help="A scenario file or the name of a shipped one (one run, nothing dispersed), or "
            "the folder of a campaign.",
            autocompletion=complete_scenario,
        ),
    ],
    out: Annotated[str, typer.Option(help="Output file: .mp4, .webm or .gif.")],
    runs: Annotated[
        str | None,
        optional("Runs of a campaign: 17, or 1,5,9, or 0-19; kept trajectories if not given."),
    ] = None,
    camera: Annotated[
        str | None,
        optional("orbit, follow, ground or lander. One run: follow; several: orbit."),
    ] = None,
    frame: Annotated[
        str, typer.Option(help="body: fixed to the target; inertial: the target rotates.")
    ] = "body",
    size: Annotated[
        str | None, optional("Columns and rows, as 1280x720; a gif has 640x360 if not given.")
    ] = None,
    fps: Annotated[float, typer.Option(help="Frames per second.")] = 24.0,
    seconds: Annotated[float, typer.Option(help="Length of the film [s].")] = 10.0,
    slow_motion: Annotated[
        float,
        typer.Option(help="Part of the film around the hardest contacts, 0 (even) to 0.95."),
    ] = 0.5,
    start: Annotated[float | None, optional("Start time of the film [s].")] = None,
    end: Annotated[float | None, optional("End time of the film [s].")] = None,
    light: Annotated[
        str, typer.Option(help="auto, scenario (its Sun) or chosen (shows the ground).")
    ] = "auto",
    grain: Annotated[
        float, typer.Option(help="Fine roughness drawn on the ground for scale; 0 for none.")
    ] = 0.2,
    title: Annotated[str | None, optional("Title (default: that of the scenario).")] = None,
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Film a landing, a capture or a drop: rays traced by Warp, shadows, titles, slow motion.

    Example: alight film ryugu_minerva --out landing.mp4

    Example: alight film out/ryugu --runs 0-19 --camera orbit --out many.gif
    """
    from alight.staging.filming import film

    folder = os.path.isdir(what)
    given: Any = what if folder else scenario_of(what)
    wanted = None if runs is None else run_numbers(runs)
    made = film(
        given,
        out,
        runs=wanted,
        title=title,
        camera=camera,
        frame=frame,
        size=None if size is None else size_of(size),
        fps=fps,
        seconds=seconds,
        slow_motion=slow_motion,
        start=start,
        end=end,
        light=light,
        grain=grain,
        device=device,
        progress="silent" if as_json else "auto",
    )
    if as_json:
        screen.echo_json(_facts(made))
    else:
        screen.lines(screen.console(), [f"wrote {made}"], "green")
        if made.light:
            screen.lines(screen.console(), [made.light], "dim")


def _facts(made: Film) -> dict[str, Any]:
    return {
        "file": str(made.path),
        "frames": made.frames,
        "fps": made.fps,
        "size": list(made.size),
        "camera": made.camera,
        "light": made.light or "the Sun of the scenario",
        "device": made.device,
    }


def run_numbers(text: str) -> list[int]:
    """Numbers of runs: 17, or 1,5,9, or 0-19, or a mixture."""
    from alight.core.errors import InputError

    found: list[int] = []
    for piece in text.split(","):
        low, dash, high = piece.strip().partition("-")
        if not (low.isdecimal() and (high.isdecimal() or not dash)):
            raise InputError(f'--runs "{text}" is no list of runs: give 17, or 1,5,9, or 0-19.')
        first, last = int(low), int(high or low)
        if last - first >= MOST or len(found) >= MOST:
            raise InputError(f'--runs "{text}" names too many runs: a film shows {MOST} at most.')
        found += range(first, last + 1)
    if not found:
        raise InputError(f'--runs "{text}" names no run: give the smaller number first, as 0-19.')
    return list(dict.fromkeys(found))


def size_of(text: str) -> tuple[int, int]:
    """Columns and rows from 1280x720."""
    from alight.core.errors import InputError

    columns, _, rows = text.lower().replace("×", "x").partition("x")
    if not (columns.strip().isdecimal() and rows.strip().isdecimal()):
        raise InputError(f'--size "{text}" must be columns x rows, such as 1280x720.')
    return int(columns), int(rows)

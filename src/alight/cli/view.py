"""``alight view``: runs in three dimensions, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import page_path, scenario_of
from alight.cli.options import Json, optional
from alight.core.errors import InputError

if TYPE_CHECKING:
    from alight.views.playback import Playback

#: Name of the page in the folder of a campaign.
PAGE = "view.html"
#: Where a live view listens if nothing is given.
PORT = 8080


def command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="Folder of a campaign; or a scenario file, the name of a shipped one, or -.",
        ),
    ],
    run: Annotated[
        list[int] | None,
        optional(
            "Show this run of a campaign, recomputed if its trajectory was not kept; repeatable."
        ),
    ] = None,
    release: Annotated[
        bool,
        typer.Option("--release", help="Show a scenario at its release; nothing is simulated."),
    ] = False,
    live: Annotated[
        bool,
        typer.Option("--live", help="Watch a campaign while it runs (needs alight[viser])."),
    ] = False,
    out: Annotated[
        str | None,
        optional("Output page: a .html file or a folder.", metavar="FILE"),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    port: Annotated[int, typer.Option(help="Port of a live view.")] = PORT,
    device: Annotated[
        str, typer.Option(help="Device that runs are computed on: cpu, cuda:0, ...")
    ] = "cpu",
    as_json: Json = False,
) -> None:
    """Show a scenario, a run or a campaign in 3D: one HTML page that opens offline.

    Example: alight view out/ryugu --run 17
    """
    folder = Path(what) if Path(what).is_dir() else None
    if live:
        _watch(folder, what, port, no_open)
        return
    if folder is None and run:
        raise InputError(f"--run chooses runs of a campaign; {what} is a scenario: leave it out.")
    if folder is not None and release:
        raise InputError(f"--release is for scenarios; {what} is the folder of a campaign.")
    place = _place(out, folder, what)
    show = "silent" if as_json else "auto"
    made = (
        _campaign(folder, run, device, show) if folder else _scenario(what, release, device, show)
    )
    _written(made, place, no_open, as_json)


def _place(out: str | None, folder: Path | None, what: str) -> Path:
    """The file of the page, refused before anything long begins."""
    from alight.views.report.files import page_file

    name = PAGE if folder is not None else f"{_stem(what)}_{PAGE}"
    if out is None:
        return page_file(folder / name if folder is not None else Path(name))
    path = page_path(out)
    return page_file(path if path.suffix else path / name)


def _stem(what: str) -> str:
    return Path(what).stem if what != "-" else "scenario"


def _campaign(folder: Path, runs: list[int] | None, device: str, show: str) -> Playback:
    from alight.core.compile_notice import reported
    from alight.staging import playback

    with reported(show):
        return playback(folder, runs=runs, device=device, show=show)


def _scenario(what: str, release: bool, device: str, show: str) -> Playback:
    from alight.core.compile_notice import reported
    from alight.staging import playback
    from alight.staging.gathering import still_playback

    given = scenario_of(what)
    with reported(show):
        if release:
            return still_playback(given, device=device)
        return playback(given, device=device, show=show)


def _written(made: Playback, place: Path, no_open: bool, as_json: bool) -> None:
    from alight.views.report.files import write_page
    from alight.views.viewer.page import page_text
    from alight.views.viewer.scene import encoded

    box = encoded(made)
    text = page_text(made, box)
    write_page(place, text)
    if as_json:
        screen.echo_json(_facts(made, place, len(text), box))
    else:
        console = screen.console()
        screen.lines(console, box.notes, "dim")
        screen.lines(console, [f"wrote {place} ({len(text) / 1e6:.2f} MB)"], "green")
    if not no_open:
        typer.launch(place.resolve().as_uri())


def _facts(made: Playback, place: Path, size: int, box: Any) -> dict[str, Any]:
    """What a script reads."""
    return {
        "page": str(place),
        "bytes": size,
        "title": made.title,
        "runs": [track.run for track in made.tracks],
        "rest_sites": 0 if made.sites is None else len(made.sites.run),
        "lines": box.lines,
        "errors": box.errors,
        "notes": list(box.notes),
    }


def _watch(folder: Path | None, what: str, port: int, no_open: bool) -> None:
    from alight.staging.live import watch

    if folder is None:
        raise InputError(
            f"--live watches the folder of a campaign, and {what} is none; start the campaign "
            "first: alight campaign SCENARIO --out DIR."
        )

    def opened(address: str) -> None:
        screen.lines(screen.console(), [f"live at {address}; Ctrl-C ends it"], "green")
        if not no_open:
            typer.launch(address)

    watch(folder, port, opened)

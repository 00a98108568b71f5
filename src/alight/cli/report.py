"""``alight report``: the page about a campaign."""

from __future__ import annotations

import contextlib
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alight.cli import screen
from alight.cli.names import page_path
from alight.cli.options import optional
from alight.cli.speaking import speaking
from alight.core.errors import AlightError, InputError

if TYPE_CHECKING:
    from alight.campaign.reader import Campaign
    from alight.views.report import Report
    from alight.views.report.section import Section

#: Facets of the body on maps and pictures, at most: more cannot be seen there.
FACETS = 20_480


@speaking("Starting")
def command(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="DIR", help="Campaign folder, finished or not.", show_default=False),
    ] = None,
    out: Annotated[
        str | None,
        optional(
            "Output page: a .html file or a folder (default: report.html in DIR). "
            "Figures go to the folder figures next to it.",
            metavar="FILE",
        ),
    ] = None,
    date: Annotated[
        str | None,
        optional(
            "Report the light at rest sites on this date, UTC, such as 2018-10-03T02:00; "
            "that of the scenario if not given.",
            metavar="DATE",
        ),
    ] = None,
    still: Annotated[bool, typer.Option("--no-3d", help="Leave out the 3D view.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the key numbers as JSON, for scripts.")
    ] = False,
) -> None:
    """Write the report of a campaign of landings, captures or drops: one HTML page that opens
    offline and prints well.

    Example: alight report out/ryugu --open
    """
    from alight.campaign.reader import open_campaign
    from alight.cli.report_sun import checked_date
    from alight.core.compile_notice import reported

    if folder is None:
        raise InputError(
            'no campaign given: name its folder: "alight report out/ryugu", after "alight campaign '
            'scenarios/ryugu_minerva.toml --out out/ryugu".'
        )
    place = _page_place(out)
    date = None if date is None else checked_date(date)
    campaign = open_campaign(folder)
    how = "silent" if as_json else "auto"
    with reported(how):
        given, note = _given(campaign, date)
        report, why = _written(campaign, place, how, given, still)
    note = " ".join(line for line in (note, why) if line)
    if as_json:
        screen.echo_json(_data(report, note))
    else:
        _show(report, note)
    if show:
        typer.launch(report.page.resolve().as_uri())


def _page_place(out: str | None) -> Path | None:
    """The file or folder that ``--out`` names, refused before anything long begins."""
    from alight.views.report.files import page_file

    if out is None:
        return None
    path = page_path(out)
    page_file(path)
    return path


def _given(campaign: Campaign, date: str | None) -> tuple[dict[str, Any], str]:
    """What the kind of a campaign wants for its pictures, by arguments of ``report.write``; and
    why something of it is not there."""
    from alight.cli.report_capture import looks_of
    from alight.cli.report_ground import ground_of
    from alight.cli.report_lander import articulated_of, limits_of, look_of
    from alight.cli.report_sun import light_for, sun_of
    from alight.staging.ground import body_mesh, body_table

    kind = campaign.kind.word
    if kind == "landing":
        mesh, note = body_mesh(body_table(campaign), FACETS)
        given: dict[str, Any] = {"mesh": mesh, "sun": sun_of(campaign.scenario, date)}
        given |= {"light": light_for(campaign), "ground": ground_of(campaign)}
        lander = articulated_of(campaign)
        if lander is not None:
            given |= {"limits": limits_of(lander, campaign), "pose": look_of(lander)}
        return given, note
    if date is not None:
        raise InputError(
            "--date sets when the light at rest sites is reported, and this is a campaign of "
            f"{kind}s. Leave it out."
        )
    if kind != "capture":
        return {}, ""
    look, note = looks_of(campaign)
    return {"look": look}, note


def _written(
    campaign: Campaign, place: Path | None, how: str, given: dict[str, Any], still: bool
) -> tuple[Report, str]:
    """The report; and why there is no 3D view where there could be one. The view is made beside
    all else."""
    import matplotlib.backends.backend_agg  # noqa: F401  # a quarter of a second, which both need

    from alight.core.beside import Beside

    with contextlib.ExitStack() as left:
        if still or not len(campaign):
            from alight.views.report import write

            return write(campaign, place, show=how, **given), ""
        seen = left.enter_context(Beside(partial(_seen, campaign, given.get("mesh"))))
        from alight.views.report import write

        view = cache(seen.result)
        report = write(campaign, place, show=how, playback=lambda: view()[0], **given)
        return report, view()[1]


def _seen(campaign: Campaign, mesh: Any) -> tuple[Section | None, str]:
    """What is shown in three dimensions, or why nothing is."""
    from alight.staging import playback
    from alight.views.report.viewer import see_it

    try:
        made = playback(campaign, mesh=mesh)
    except AlightError as error:
        return None, f"there is no 3D view: {error}"
    return (None if made.target is None and not made.tracks else see_it(made)), ""


def _show(report: Report, note: str) -> None:
    console = screen.console()
    for question, answer in report.answers:
        screen.lines(console, [question], "bold")
        screen.lines(console, [answer])
    warnings = [*report.warnings, *([note] if note else [])]
    screen.lines(console, (f"Note: {line}" for line in warnings), "yellow")
    figures = f"{len(report.figures)} figures in {report.figures[0].parent}"
    told = [f"wrote {report.page}", *(f"and {x}" for x in (figures, *report.files.values()))]
    screen.lines(console, told, "green")


def _data(report: Report, note: str) -> dict[str, Any]:
    """The key numbers, SI and degrees, and where the files are."""
    return {
        "report": str(report.page),
        "figures": [str(file) for file in report.figures],
        **({"light_table": None} if "light" in report.numbers else {}),
        **{key: str(file) for key, file in report.files.items()},
        **report.numbers,
        "notes": [*report.warnings, *([note] if note else [])],
    }

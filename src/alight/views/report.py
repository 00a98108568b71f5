"""The report of a campaign: one page that answers first, then shows what the answers rest on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from alight.analysis.sun import SunPath
from alight.campaign.reader import Campaign, open_campaign
from alight.core.errors import InputError
from alight.shapes.mesh import Mesh
from alight.views import campaign_figures as figures
from alight.views import campaign_maps as maps
from alight.views import capture_data, capture_report, report_light, report_loads
from alight.views import report_page as html
from alight.views import report_words as text
from alight.views.capture_scene import Look
from alight.views.light_figure import draw_light
from alight.views.report_data import Data, read
from alight.views.report_files import PAGE, Report, Shelf, not_written, page_file, write_page
from alight.views.report_light import Light
from alight.views.report_numbers import Findings
from alight.views.report_sections import closing

__all__ = ["Report", "figure_count", "write"]


def write(
    data: Campaign | Data | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    mesh: Mesh | None = None,
    sun: SunPath | str | None = None,
    look: Callable[[int], Look] | None = None,
    on_figure: Callable[[], None] | None = None,
) -> Report:
    """Write the report of a campaign: a page that needs nothing else, and its figures beside it.

    The scenario's kind says what the page is about: landings or captures.

    Args:
        data: A campaign, or its folder.
        out: The page, or a folder for it; ``report.html`` in the campaign's folder if not given.
            Figures go to the folder ``figures`` beside the page.
        mesh: Of landings, the body, for relief and pictures; without it maps have none.
        sun: Of landings, the Sun's way over the body's sky, for light where they rest; or a
            sentence that says why it is not known. Without it the page is silent about light.
        look: Of captures, what run ``look(run)`` looks like; without it there are no pictures.
        on_figure: Called after each figure, to tell how far it is.
    """
    if isinstance(data, Data):
        return _write_landings(data, page_file(Path(PAGE if out is None else out)), on_figure)
    campaign = data if isinstance(data, Campaign) else open_campaign(data)
    page = page_file(campaign.folder / PAGE if out is None else Path(out))
    if kind_of(campaign) == "capture":
        return capture_report.write(capture_data.read(campaign, look), page, on_figure)
    return _write_landings(read(campaign, mesh, sun), page, on_figure)


def kind_of(campaign: Campaign) -> str:
    """What a campaign is of, "landing" or "capture"; an error where there is no report of such."""
    kind = str(campaign.scenario.get("kind", "landing"))
    if kind not in ("landing", "capture"):
        raise InputError(
            f'{campaign.folder} is a campaign of the kind "{kind}"; there are reports of landings '
            "and of captures alone. Its tables are there to read: alight.open_campaign(...)."
        )
    return kind


def figure_count(campaign: Campaign, light: bool = False) -> int:
    """Figures that a report of ``campaign`` may have, to tell how far one is."""
    if kind_of(campaign) == "capture":
        return capture_report.figure_count(campaign)
    legs = campaign.scenario.get("contact", {}).get("law") == "hertz"
    return (7 if campaign.trajectories else 5) + light + legs


def _write_landings(data: Data, page: Path, on_figure: Callable[[], None] | None) -> Report:
    found = Findings(data)
    try:
        shelf = Shelf(found, page, on_figure)
        sections = list(_sections(shelf))
        table = _light_table(found, page.parent)
        write_page(page, _page(found, sections))
    except OSError as error:
        raise not_written(page, error) from None
    told = text.answers(found), text.warnings(found)
    return Report(page, shelf.files, found.numbers(), *told, table)


def _light_table(found: Findings, folder: Path) -> Path | None:
    if not isinstance(found.light, Light):
        return None
    return report_light.write_table(found.light, found.data, folder / report_light.TABLE)


def _page(found: Findings, sections: list[html.Section]) -> str:
    data = found.data
    subtitle = f"{data.runs} landings of {data.lander} on {data.body}, simulated with Alight"
    lead = [html.warning(line) for line in text.warnings(found)]
    lead += [html.answers(text.answers(found)), html.paragraph(text.INTERVALS)]
    return html.page(data.title, subtitle, lead, sections)


def _sections(shelf: Shelf) -> Iterator[html.Section]:
    """The parts of the page for which there is something to show."""
    found = shelf.found
    if found.where is not None:
        yield html.Section("Where it comes to rest", list(_where(shelf)))
    yield html.Section("How landings go", list(_how(shelf)))
    if any(load.spread.n for load in found.loads):
        yield html.Section("Loads", list(_loads(shelf)))
    if found.light is not None:
        yield html.Section("Light where it rests", list(_light(shelf, found.light)))
    if found.data.courses:
        yield html.Section("Courses of single runs", list(_courses(shelf)))
    yield from closing(shelf)


def _where(shelf: Shelf) -> Iterator[str]:
    found = shelf.found
    if found.data.level is None:
        yield _map(shelf)
    yield shelf.draw(
        "ellipses",
        figures.draw_ellipses,
        "Places of rest about their middle, with ellipses",
        f"Seen from above, about the middle, {text.middle_text(found)}. Each ellipse has the shape "
        "of the covariance and just the size that holds its part of the landings; nothing is "
        "assumed to be normal.",
    )
    if found.ellipses:
        yield html.table(text.ELLIPSE_HEAD, text.ellipse_rows(found), (1, 2, 3))


def _map(shelf: Shelf) -> str:
    found = shelf.found
    middle = text.middle_text(found)
    caption = f"Places of rest; their middle is at {middle}."
    if found.data.mesh is None:
        caption += " No mesh of the body was at hand, so the map has no relief."
    else:
        caption += " Right: the body seen from near the middle, with the 95 % ellipse in white."
    if found.data.settled.sum() > figures.POINTS:
        caption += f" At most {figures.POINTS} of the places are drawn."
    alt = f"Map of latitude and longitude with places of rest around {middle}"
    return shelf.draw("rest_map", maps.draw_rest_map, alt, caption)


def _how(shelf: Shelf) -> Iterator[str]:
    yield shelf.draw(
        "histograms",
        figures.draw_histograms,
        "Histograms of settling time, contacts, first impact, and largest force or hardest impact",
        "Orange: the median. Grey: the middle 90 %. Settling time and contacts are of landings "
        "that settle, the others of all that touch the ground.",
    )
    yield html.table(text.QUANTITY_HEAD, text.quantity_rows(shelf.found), range(1, 6))


def _loads(shelf: Shelf) -> Iterator[str]:
    yield shelf.draw(
        "loads",
        report_loads.draw_loads,
        "Histograms of the largest stroke, pad force, acceleration, tilt, swing and joint force",
        "The largest of each landing that touches the ground. Orange: the median. Grey: the middle "
        "90 %.",
    )
    yield html.table(report_loads.HEAD, report_loads.rows(shelf.found), range(1, 6))


def _light(shelf: Shelf, light: Light | str) -> Iterator[str]:
    if isinstance(light, str):
        yield html.paragraph(light)
        return
    turn = "turn" if light.sun.turns else "time"
    yield shelf.draw(
        "light",
        draw_light,
        "Map of the body by time in light, places of rest by their longest night, and histograms",
        f"Top: time with the Sun in sight, all over the body, and the places of rest in white. "
        f"Below, left: places of rest by their longest night in the {turn}, dark where it is long. "
        "Orange: the median. Grey: the middle 90 %.",
    )
    yield html.table(report_light.HEAD, report_light.rows(light), range(1, 6))
    yield html.paragraph(
        f"Each place's numbers are in {report_light.TABLE} beside this page. What they rest on:"
    )
    yield html.listed(report_light.notes(light, shelf.found.data))


def _courses(shelf: Shelf) -> Iterator[str]:
    caption = "Triangle: release. Dot: the end."
    if shelf.found.data.mesh is not None:
        caption += (
            " Thin and dark: the ground beneath. It is the shape model; roughness added to it is "
            "not drawn."
        )
    runs = ", ".join(str(course.run) for course in shelf.found.data.courses)
    yield shelf.draw("courses", maps.draw_courses, f"Courses of the runs {runs}", caption)
    if shelf.found.data.articulated:
        first = shelf.found.data.courses[0].run
        yield shelf.draw(
            "touchdown",
            report_loads.draw_touchdown,
            f"Speed, acceleration, strokes, forces and swing of run {first} against time",
            f"The touchdown of run {first}, until no leg gives any more and a while after that.",
        )
        return
    yield shelf.draw(
        "energy",
        maps.draw_energy,
        "Energy of one run against time",
        "E_J is the energy in the turning frame: flight keeps it, each contact takes some of it.",
    )

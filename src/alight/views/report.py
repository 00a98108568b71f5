"""The report of a campaign: one page that answers first, then shows what the answers rest on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from alight.analysis.sun import SunPath
from alight.campaign.reader import Campaign, open_campaign
from alight.core.errors import FileError
from alight.shapes.mesh import Mesh
from alight.views import campaign_figures as figures
from alight.views import campaign_maps as maps
from alight.views import report_light, report_loads
from alight.views import report_page as html
from alight.views import report_words as text
from alight.views.light_figure import draw_light
from alight.views.report_data import Data, read
from alight.views.report_light import Light
from alight.views.report_numbers import Findings

#: Name of the page, and of the folder beside it for figures, where none is given.
PAGE, FIGURES = "report.html", "figures"

Draw = Callable[..., None]


@dataclass(frozen=True, eq=False)
class Report:
    """What was written."""

    page: Path
    figures: list[Path]
    """PNG and SVG files."""
    numbers: dict[str, object]
    """Key numbers, SI and degrees."""
    answers: list[tuple[str, str]]
    """The questions and what the page says to them."""
    warnings: list[str]
    light_table: Path | None = None
    """Light at each place that was looked at, as Parquet; None where light was not asked for."""


def write(
    data: Campaign | Data | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    mesh: Mesh | None = None,
    sun: SunPath | str | None = None,
    on_figure: Callable[[], None] | None = None,
) -> Report:
    """Write the report of a campaign: a page that needs nothing else, and its figures beside it.

    Args:
        data: A campaign, or its folder.
        out: The page, or a folder for it; ``report.html`` in the campaign's folder if not given.
            Figures go to the folder ``figures`` beside the page.
        mesh: The body, for relief and pictures; without it maps have none.
        sun: The Sun's way over the body's sky, for light where landings rest; or a sentence that
            says why it is not known. Without it the page is silent about light.
        on_figure: Called after each figure, to tell how far it is.
    """
    found_data, place = _opened(data, mesh, sun)
    page = _page_file(place / PAGE if out is None else Path(out))
    found = Findings(found_data)
    try:
        shelf = _Shelf(found, page.parent / FIGURES, on_figure)
        sections = list(_sections(shelf))
        page.parent.mkdir(parents=True, exist_ok=True)
        table = _light_table(found, page.parent)
        page.write_text(_page(found, sections), encoding="utf-8", newline="\n")
    except OSError as error:
        if isinstance(error, FileError):
            raise
        why = error.strerror or error
        raise FileError(
            f'cannot write the report to "{page}": {why}. Name another place for it with --out.'
        ) from None
    told = text.answers(found), text.warnings(found)
    return Report(page, shelf.files, found.numbers(), *told, table)


def _light_table(found: Findings, folder: Path) -> Path | None:
    if not isinstance(found.light, Light):
        return None
    return report_light.write_table(found.light, found.data, folder / report_light.TABLE)


def figure_count(campaign: Campaign, light: bool = False) -> int:
    """Figures that a report of ``campaign`` may have, to tell how far one is."""
    legs = campaign.scenario.get("contact", {}).get("law") == "hertz"
    return (7 if campaign.trajectories else 5) + light + legs


def _opened(
    data: Campaign | Data | str | os.PathLike[str], mesh: Mesh | None, sun: SunPath | str | None
) -> tuple[Data, Path]:
    """What is told, and the folder for a page that has no name."""
    if isinstance(data, Data):
        return data, Path()
    campaign = data if isinstance(data, Campaign) else open_campaign(data)
    return read(campaign, mesh, sun), campaign.folder


def _page_file(out: Path) -> Path:
    return out if out.suffix.lower() in (".html", ".htm") and not out.is_dir() else out / PAGE


class _Shelf:
    """Draws figures and remembers their files."""

    def __init__(self, found: Findings, folder: Path, on_figure: Callable[[], None] | None) -> None:
        self.found, self.folder, self.on_figure = found, folder, on_figure
        self.files: list[Path] = []

    def draw(self, stem: str, draw: Draw, alt: str, caption: str) -> str:
        """Draw a figure as PNG and SVG; the HTML that shows the SVG."""
        made = [self.folder / f"{stem}.png", self.folder / f"{stem}.svg"]
        draw(self.found, *made)
        self.files += made
        if self.on_figure is not None:
            self.on_figure()
        return html.picture(html.Picture(made[1], alt, caption))


def _page(found: Findings, sections: list[html.Section]) -> str:
    data = found.data
    subtitle = f"{data.runs} landings of {data.lander} on {data.body}, simulated with Alight"
    lead = [html.warning(line) for line in text.warnings(found)]
    lead.append(html.answers(text.answers(found)))
    lead.append(
        html.paragraph(
            "Intervals are of 95 % and say what the number of runs leaves open, for the scenario "
            "as it stands below."
        )
    )
    return html.page(data.title, subtitle, lead, sections)


def _sections(shelf: _Shelf) -> Iterator[html.Section]:
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
    yield html.Section("What drives the outcome", list(_drives(shelf)))
    yield html.Section("Are the runs enough?", list(_enough(shelf)))
    yield html.Section("How runs ended", [_outcomes(found)])
    yield html.Section("How it was computed", [html.facts(found.data.facts)])
    yield html.Section("The scenario", list(_scenario(found.data)))


def _where(shelf: _Shelf) -> Iterator[str]:
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


def _map(shelf: _Shelf) -> str:
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


def _how(shelf: _Shelf) -> Iterator[str]:
    yield shelf.draw(
        "histograms",
        figures.draw_histograms,
        "Histograms of settling time, contacts, first impact, and largest force or hardest impact",
        "Orange: the median. Grey: the middle 90 %. Settling time and contacts are of landings "
        "that settle, the others of all that touch the ground.",
    )
    yield html.table(text.QUANTITY_HEAD, text.quantity_rows(shelf.found), range(1, 6))


def _loads(shelf: _Shelf) -> Iterator[str]:
    yield shelf.draw(
        "loads",
        report_loads.draw_loads,
        "Histograms of the largest stroke, pad force, acceleration, tilt, swing and joint force",
        "The largest of each landing that touches the ground. Orange: the median. Grey: the middle "
        "90 %.",
    )
    yield html.table(report_loads.HEAD, report_loads.rows(shelf.found), range(1, 6))


def _light(shelf: _Shelf, light: Light | str) -> Iterator[str]:
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


def _courses(shelf: _Shelf) -> Iterator[str]:
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


def _drives(shelf: _Shelf) -> Iterator[str]:
    told = shelf.found.sensitivity
    if told is None:
        yield html.paragraph(
            "Nothing is dispersed in this campaign but, at most, the attitude."
            if not shelf.found.data.inputs
            else "There are too few runs to tell."
        )
        return
    used, runs = shelf.found.ranked, shelf.found.data.runs
    rows = "all runs" if used == runs else f"{used} of the runs, evenly spaced"
    yield shelf.draw(
        "sensitivity",
        figures.draw_sensitivity,
        "Bars of rank correlation between what is uncertain and how landings go",
        "Spearman's rank correlation: +1 where the outcome always grows with the input, -1 where "
        "it always falls, 0 where it does neither. Bars within the grey band may be chance. Taken "
        f"over {rows}. Attitudes are left out: their numbers have no order.",
    )
    yield html.paragraph(
        "First-order Sobol indices, which also see what neither grows nor falls steadily:"
    )
    yield html.table(text.SOBOL_HEAD, text.sobol_rows(shelf.found))


def _enough(shelf: _Shelf) -> Iterator[str]:
    yield shelf.draw(
        "convergence",
        figures.draw_convergence,
        "The main answers against the number of runs",
        "What the first runs alone would have answered. Band: 95 % interval. Dashed: the answer "
        "from all runs.",
    )


def _outcomes(found: Findings) -> str:
    return html.table(text.OUTCOME_HEAD, text.outcome_rows(found), (1, 2, 3))


def _scenario(data: Data) -> Iterator[str]:
    varied = data.scenario.get("dispersions", {})
    names = ", ".join(sorted(varied)) or "nothing"
    yield html.paragraph(f"With every default filled in. Varied from run to run: {names}.")
    yield html.code(data.scenario_text)

"""The report of a campaign of captures: it answers first, then shows what the answers rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from alight.analysis import captures
from alight.campaign.reader import Campaign
from alight.views import capture_course as courses
from alight.views import capture_figures as figures
from alight.views import capture_motion_figures as motion
from alight.views import capture_words as text
from alight.views import report_page as html
from alight.views.capture_data import CaptureData
from alight.views.capture_numbers import CaptureFindings
from alight.views.report_files import Report, Shelf, not_written, write_page
from alight.views.report_sections import closing
from alight.views.report_words import INTERVALS


def write(data: CaptureData, page: Path, on_figure: Callable[[], None] | None = None) -> Report:
    """Write the page and its figures."""
    found = CaptureFindings(data)
    try:
        shelf = Shelf(found, page, on_figure)
        sections = list(_sections(shelf))
        write_page(page, _page(found, sections))
    except OSError as error:
        raise not_written(page, error) from None
    told = text.answers(found), text.warnings(found)
    return Report(page, shelf.files, found.numbers(), *told)


def figure_count(campaign: Campaign) -> int:
    """Figures that a report may have."""
    return 8 + min(2, len(campaign.trajectories))


def _page(found: CaptureFindings, sections: list[html.Section]) -> str:
    lead = [html.warning(line) for line in text.warnings(found)]
    lead += [html.answers(text.answers(found)), html.paragraph(INTERVALS)]
    return html.page(found.data.title, _subtitle(found.data), lead, sections)


def _subtitle(data: CaptureData) -> str:
    def ends(column: str, size: float) -> str:
        values = data.table[column] / size
        low, high = (f"{float(f'{x:.2g}'):g}" for x in (np.nanmin(values), np.nanmax(values)))
        return low if low == high else f"{low} to {high}"

    alike = not any(captures.varies(data.table[name]) for name in captures.PARAMETERS)
    what, turn = ("an asteroid", "turns") if alike else ("asteroids", "turn")
    return (
        f"{data.runs} capture{'' if data.runs == 1 else 's'} with a membrane, of {what} of "
        f"{ends('length_m', 1.0)} m and {ends('mass_kg', 1e3)} t that {turn} at "
        f"{ends('spin_rpm', 1.0)} rpm, simulated with Alight"
    )


def _sections(shelf: Shelf) -> Iterator[html.Section]:
    """The parts of the page for which there is something to show."""
    found: CaptureFindings = shelf.found
    yield html.Section("Is it held?", list(_held(shelf)))
    if found.spread("bending_nm") is not None:
        yield html.Section("Loads on the solar arrays", [_bending(shelf)])
        yield html.Section("Coming to rest", [_rest(shelf)])
    if found.data.kept.any():
        yield html.Section("The pair afterwards", [_pair(shelf)])
    if found.spread("bending_nm") is not None:
        yield html.Section("Force, depth, propellant, and all in numbers", list(_numbers(shelf)))
    if found.data.courses:
        yield html.Section("Single captures", list(_courses(shelf)))
    yield html.Section("What the numbers rest on", [html.listed(text.notes(found))])
    yield from closing(shelf)


def _held(shelf: Shelf) -> Iterator[str]:
    found: CaptureFindings = shelf.found
    yield shelf.draw(
        "ends",
        figures.draw_ends,
        "How captures end, all of them and over what varies, as stacked shares",
        "How captures end: all of them above, and below over what varies. The first two are "
        "successes.",
    )
    if found.panels or found.mixed:
        yield shelf.draw(
            "success",
            figures.draw_success,
            "Share of captures that are held, over what varies, with intervals",
            "Share of captures that are held: in contact at the end, and never beyond the limit of "
            "the arrays. Flat bars: the captures that a share is of. Upright: its 95 % interval. "
            "Grey: that of all captures. The scale does not begin at 0 where it need not.",
        )


def _bending(shelf: Shelf) -> str:
    return shelf.draw(
        "bending",
        figures.draw_bending,
        "Histogram of peak bending moments, and share of captures beyond each, with the limit",
        "The greatest bending moment at either drive assembly of each capture that touches its "
        "asteroid. Captures that end at the rim, or lose contact, have loads up to then.",
    )


def _rest(shelf: Shelf) -> str:
    return shelf.draw(
        "rest",
        motion.draw_rest,
        "Share of captures at rest against time, time to rest and slip over friction",
        "Left: share of all captures that touch which are at rest, for good, so long after "
        "contact. Middle: of those at rest in the end. Right: of those in contact in the end. "
        "Orange: medians. Grey: the middle 90 %.",
    )


def _pair(shelf: Shelf) -> str:
    return shelf.draw(
        "pair",
        motion.draw_pair,
        "Spin of asteroid and craft as one body, angle of the craft's axis, and thrust it takes",
        "Asteroid and craft as one body when the simulated time ends, of captures that are in "
        "contact then. Right: the force that keeps the craft on its circle about the axis of the "
        "spin; where it is more than the thrust, the craft cannot stay.",
    )


def _numbers(shelf: Shelf) -> Iterator[str]:
    found: CaptureFindings = shelf.found
    yield shelf.draw(
        "others",
        motion.draw_others,
        "Histograms of the greatest force, the greatest depth, and propellant or torsion",
        "Orange: the median. Grey: the middle 90 %.",
    )
    yield html.table(text.QUANTITY_HEAD, text.quantity_rows(found), range(1, 6))
    yield html.paragraph(text.clearance(found))


def _courses(shelf: Shelf) -> Iterator[str]:
    data: CaptureData = shelf.found.data
    first = data.courses[0]
    told = (
        f"Run {first.run}. Upright grey line: first contact. Relative rate: of the craft against "
        "the asteroid, as a part of its spin at the start. Axis: of the craft, from the spin of "
        "the pair."
    )
    if data.looks:
        yield shelf.draw(
            "film",
            courses.draw_film,
            f"Pictures of the capture of run {first.run}, and its loads against time",
            f"{told} Pictures: seen from one side that does not turn; the craft comes from above.",
        )
    else:
        yield shelf.draw(
            "loads", courses.draw_loads, f"Loads of run {first.run} against time", told
        )
    if len(data.courses) > 1:
        runs = ", ".join(str(course.run) for course in data.courses)
        yield shelf.draw(
            "courses",
            courses.draw_courses,
            f"Loads, slip and angle of the runs {runs} against time",
            "The captures whose courses were kept. Dots: their ends.",
        )

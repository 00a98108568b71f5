"""The report of captures, section by section."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from alight.analysis import captures
from alight.analysis.bins import varies
from alight.views.figures.capture import courses as course_figures
from alight.views.figures.capture import endings, motion
from alight.views.report import common, requirements
from alight.views.report.capture import words as text
from alight.views.report.capture.findings import CaptureFindings
from alight.views.report.losses import lost
from alight.views.report.section import Figure, Listing, Paragraph, Part, Section


def subtitle(found: CaptureFindings) -> str:
    """What the page is about, in a line."""
    data = found.data

    def ends(column: str, size: float) -> str:
        values = data.table[column] / size
        low, high = (f"{float(f'{x:.2g}'):g}" for x in (np.nanmin(values), np.nanmax(values)))
        return low if low == high else f"{low} to {high}"

    alike = not any(varies(data.table[name]) for name in captures.PARAMETERS)
    what, turn = ("an asteroid", "turns") if alike else ("asteroids", "turn")
    return (
        f"{data.runs} capture{'' if data.runs == 1 else 's'} with a membrane, of {what} of "
        f"{ends('length_m', 1.0)} m and {ends('mass_kg', 1e3)} t that {turn} at "
        f"{ends('spin_rpm', 1.0)} rpm, simulated with Alight"
    )


def first(found: CaptureFindings) -> Section:
    """What to know first."""
    return common.opening(found, "count as not held", found.things)


def held(found: CaptureFindings) -> Section:
    """Who is held."""
    answers = [("How often is the asteroid held?", text.held(found))]
    warnings, numbers = text.warnings(found), found.numbers()
    return Section("Is it held?", list(_held(found)), answers, warnings, numbers)


def _held(found: CaptureFindings) -> Iterator[Part]:
    yield Figure(
        "ends",
        partial(endings.draw_ends, found),
        "How captures end, all of them and over what varies, as stacked shares",
        "How captures end: all of them above, and below over what varies. Those in contact are "
        "successes, but for those beyond the limit.",
    )
    if found.panels or found.mixed:
        yield Figure(
            "success",
            partial(endings.draw_success, found),
            "Share of captures that are held, over what varies, with intervals",
            "Share of captures that are held: in contact at the end, and never beyond the limit of "
            "the arrays. Flat bars: the captures that a share is of. Upright: its 95 % interval. "
            "Grey: that of all captures. The scale does not begin at 0 where it need not.",
        )


def bending(found: CaptureFindings) -> Section:
    """Loads on the solar arrays."""
    answers = [("How close do the arrays come to their limit?", text.loads(found))]
    figure = Figure(
        "bending",
        partial(endings.draw_bending, found),
        "Histogram of peak bending moments, and share of captures beyond each, with the limit",
        "The largest bending moment at either drive assembly of each capture that touches its "
        "asteroid. Captures that end at the rim, or lose contact, have loads up to then.",
    )
    loaded = found.spread("bending_nm") is not None
    return Section("Loads on the solar arrays", [figure] if loaded else [], answers)


def rest(found: CaptureFindings) -> Section:
    """Coming to rest, and how far it slips on the way."""
    answers = [
        ("How long until it is at rest?", text.rest(found)),
        ("How far does it slip?", text.slip(found)),
    ]
    figure = Figure(
        "rest",
        partial(motion.draw_rest, found),
        "Share of captures at rest against time, time to rest and slip over friction",
        "Left: share of all captures that touch which are at rest, for good, so long after "
        "contact. Middle: of those at rest in the end. Right: of those in contact in the end. "
        "Orange: medians. Grey: the middle 90 %.",
    )
    loaded = found.spread("bending_nm") is not None
    return Section("Coming to rest", [figure] if loaded else [], answers)


def pair(found: CaptureFindings) -> Section:
    """How asteroid and craft spin as one."""
    answers = [("How does the pair spin afterwards?", text.spin(found))]
    figure = Figure(
        "pair",
        partial(motion.draw_pair, found),
        "Spin of asteroid and craft as one body, angle of the craft's axis, and thrust it takes",
        "Asteroid and craft as one body when the simulated time ends, of captures that are in "
        "contact then. Right: the force that keeps the craft on its circle about the axis of the "
        "spin; where it is more than the thrust, the craft cannot stay.",
    )
    kept = bool(found.data.kept.any())
    return Section("The pair afterwards", [figure] if kept else [], answers)


def quantities(found: CaptureFindings) -> Section:
    """Other loads, and all in numbers."""
    answers = [("How much propellant does it take?", text.propellant(found))]
    figure = Figure(
        "others",
        partial(motion.draw_others, found),
        "Histograms of the largest force, the largest depth, and propellant or torsion",
        "Orange: the median. Grey: the middle 90 %.",
    )
    parts: list[Part] = [figure, common.quantity_table(found), Paragraph(text.clearance(found))]
    loaded = found.spread("bending_nm") is not None
    return Section("Force, depth, propellant, and all in numbers", parts if loaded else [], answers)


def single(found: CaptureFindings) -> Section:
    """The runs whose trajectories were kept."""
    shown = found.data.courses
    return Section("Single captures", list(_courses(found)) if shown else [])


def _courses(found: CaptureFindings) -> Iterator[Part]:
    data = found.data
    first = data.courses[0]
    told = (
        f"Run {first.run}. Upright grey line: first contact. Relative rate: of the craft against "
        "the asteroid, as a part of its spin at the start. Axis: of the craft, from the spin of "
        "the pair."
    )
    if data.looks:
        yield Figure(
            "film",
            partial(course_figures.draw_film, found),
            f"Pictures of the capture of run {first.run}, and its loads against time",
            f"{told} Pictures: seen from one side that does not turn; the craft comes from above.",
        )
    else:
        yield Figure(
            "loads",
            partial(course_figures.draw_loads, found),
            f"Loads of run {first.run} against time",
            told,
        )
    if len(data.courses) > 1:
        runs = ", ".join(str(course.run) for course in data.courses)
        yield Figure(
            "trajectories",
            partial(course_figures.draw_courses, found),
            f"Loads, slip and angle of the runs {runs} against time",
            "The captures whose trajectories were kept. Dots: their ends.",
        )


def notes(found: CaptureFindings) -> Section:
    """What the numbers rest on."""
    return Section("What the numbers rest on", [Listing(text.notes(found))])


SINGLE = (single,)
SECTIONS = (
    requirements.section,
    first,
    lost,
    held,
    bending,
    rest,
    pair,
    quantities,
    single,
    notes,
    *common.CLOSING,
)

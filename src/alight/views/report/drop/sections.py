"""The report of drops on a membrane, section by section."""

from __future__ import annotations

from functools import partial

from alight.views.figures import drops as figures
from alight.views.report import common, requirements
from alight.views.report.drop import words as text
from alight.views.report.drop.findings import DropFindings
from alight.views.report.losses import lost
from alight.views.report.section import Figure, Listing, Part, Section, Table


def subtitle(found: DropFindings) -> str:
    """What the page is about, in a line."""
    runs = found.data.runs
    what = found.data.scenario.get("body", {}).get("shape")
    body = f" of a body shaped like {str(what).title()}" if what else ""
    return f"{runs} drop{'' if runs == 1 else 's'}{body} on a membrane, simulated with Alight"


def first(found: DropFindings) -> Section:
    """What to know first."""
    return common.opening(found, "count as neither on the membrane nor off it", found.things)


def caught(found: DropFindings) -> Section:
    """How drops go: depth, force, rebound, slip."""
    answers = [
        ("Does it come off again?", text.leaves(found)),
        ("How deep does it go?", text.depth(found)),
        ("How hard is it caught?", text.force(found)),
        ("How long does it take?", text.stop(found)),
        ("How far does it slip?", text.slip(found)),
    ]
    figure = Figure(
        "drops",
        partial(figures.draw_spreads, found),
        "Histograms of depth, force, time in contact, rebound speed, its ratio, and slip",
        "Orange: the median. Grey: the middle 90 %. Depth and force are of all drops that touch, "
        "time and rebound of those that come off again; slip leaves out what passes the rim.",
    )
    parts: list[Part] = [figure, common.quantity_table(found)] if found.touched.any() else []
    return Section("How drops go", parts, answers, text.warnings(found), found.numbers())


def energy(found: DropFindings) -> Section:
    """Where the energy goes."""
    answers = [("Where does its energy go?", text.energy(found))]
    if not found.accounted:
        return Section(answers=answers)
    over = f" Right: mean shares over {found.varied[0]}." if found.varied else ""
    figure = Figure(
        "energy",
        partial(figures.draw_energy, found),
        "Shares of the energy that is lost in the fabric and to friction, or is left at the end",
        "Of the energy that each body brought. Left: medians; thin lines hold 90 % of the drops."
        + over,
    )
    return Section("Where the energy goes", [figure], answers)


def courses(found: DropFindings) -> Section:
    """The runs whose trajectories were kept."""
    shown = found.data.courses
    if not shown:
        return Section()
    runs = ", ".join(str(course.run) for course in shown)
    figure = Figure(
        "trajectories",
        partial(figures.draw_courses, found),
        f"Height, speed, depth, force, slip and losses of the runs {runs} against time",
        "The drops whose trajectories were kept. Upright lines: first contact. Dots: ends. Height "
        "and speed are of the centre of mass, against what carries the membrane.",
    )
    table = Table(text.COURSE_HEAD, text.course_rows(shown), range(7))
    return Section("Single drops", [figure, table])


def notes(found: DropFindings) -> Section:
    """What the numbers rest on."""
    return Section("What the numbers rest on", [Listing(text.notes(found))])


SINGLE = (courses,)
SECTIONS = (requirements.section, first, lost, caught, energy, courses, notes, *common.CLOSING)

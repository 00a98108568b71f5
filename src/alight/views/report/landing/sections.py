"""The report of landings, section by section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from alight.analysis.settling import SETTLE, TOUCH
from alight.views.figures.landing import footprint, maps
from alight.views.figures.landing.light import draw_light
from alight.views.figures.landing.loads import draw_loads, draw_touchdown
from alight.views.figures.landing.terrain import draw_terrain
from alight.views.figures.panels import POINTS
from alight.views.report import common, requirements
from alight.views.report.landing import hops, loads, terrain
from alight.views.report.landing import light as sunlight
from alight.views.report.landing import words as text
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.landing.light import Light
from alight.views.report.losses import lost
from alight.views.report.section import Figure, Listing, Paragraph, Part, Section, Table


def subtitle(found: LandingFindings) -> str:
    """What the page is about, in a line."""
    data = found.data
    things = "landing" if data.runs == 1 else "landings"
    return f"{data.runs} {things} of {data.lander} on {data.body}, simulated with Alight"


def first(found: LandingFindings) -> Section:
    """What to know first."""
    return common.opening(found, "have no rest site and count as neither settled nor lost")


def losses(found: LandingFindings) -> Section:
    """What is lost; it comes first where something is."""
    told, some = lost(found), any(one.count and not one.asked for one in found.losses)
    return replace(told, answers=[_lost(found)]) if some else told


def _lost(found: LandingFindings) -> tuple[str, str]:
    return "How often is it lost?", text.lost(found)


def where(found: LandingFindings) -> Section:
    """Where landings rest."""
    return Section(
        "Where it comes to rest",
        [] if found.where is None else list(_places(found)),
        [("Where does it come to rest?", text.where(found))],
        numbers=_terrain_numbers(found),
    )


def places(found: LandingFindings) -> Section:
    """Where runs of a sweep rest: a map alone, as their middle and spread are of no sample."""
    on_map = found.where is not None and found.data.level is None and not found.data.nameless
    parts = [*([_map(found)] if on_map else []), *_terrain(found)]
    return Section("Where it comes to rest", parts, numbers=_terrain_numbers(found))


def _terrain_numbers(found: LandingFindings) -> dict[str, object]:
    return {"terrain": [one.numbers() for one in found.terrain[0]]}


def _terrain(found: LandingFindings) -> Iterator[Part]:
    """The ground where landings rest, a map for each of the largest clusters."""
    maps, why = found.terrain
    for one in maps:
        alt = "Relief of the ground with rest sites, and its slope"
        draw = partial(draw_terrain, found, one)
        yield Figure(one.stem, draw, alt, terrain.caption(one, found))
    if why:
        yield Paragraph(why)
    if found.groups.count > terrain.MAPS and maps:
        yield Paragraph(f"The {terrain.MAPS} largest of {found.groups.count} clusters are shown.")


def _places(found: LandingFindings) -> Iterator[Part]:
    mapped = found.data.level is None and not found.data.nameless
    if found.data.nameless:
        yield Paragraph(
            "There is no map: the campaign names no body and has no mesh of one. Rest sites are "
            "given in target axes, and shown as seen along the line from their origin."
        )
    elif mapped:
        yield _map(found)
    yield from _terrain(found)
    if found.ellipses or not mapped:
        yield _plan(found)
    if found.ellipses:
        yield Table(text.ELLIPSE_HEAD, text.ellipse_rows(found), (1, 2, 3))


def _plan(found: LandingFindings) -> Figure:
    """Rest sites seen from above."""
    about = f", about the middle, {text.middle_text(found)}" if found.compact else ""
    caption = f"Rest sites seen from above{about}."
    if found.ellipses:
        caption += (
            " Each ellipse has the shape of the covariance and just the size that holds its part "
            "of the landings; nothing is assumed to be normal."
        )
    draw = partial(footprint.draw_ellipses, found)
    return Figure("ellipses", draw, f"Rest sites seen from above{about}", caption)


def _map(found: LandingFindings) -> Figure:
    caption, alt = "Rest sites.", "Map of latitude and longitude with rest sites"
    one = found.where is not None and len(found.where.plane) == 1
    if one and not found.swept:
        caption = f"The rest site, {text.middle_text(found)}."
    elif found.compact and not found.swept:
        middle = text.middle_text(found)
        caption, alt = f"Rest sites; their middle is at {middle}.", f"{alt} around {middle}"
    elif found.groups.count > 1 and not found.swept:
        caption = "Rest sites; numbers stand at the middles of clusters, the largest first."
    if found.data.mesh is None:
        caption += " No mesh of the body was at hand, so the map has no relief."
    else:
        over = "the middle" if found.compact else "the largest group"
        over = "it" if one else ("them" if found.swept else over)
        caption += f" Right: the body seen from near {over}"
        caption += ", with the 95 % ellipse in white." if _seen(found) else "."
    if found.data.settled.sum() > POINTS:
        caption += f" At most {POINTS} of them are drawn."
    return Figure("rest_map", partial(maps.draw_rest_map, found), alt, caption)


def _seen(found: LandingFindings) -> bool:
    """Whether the ellipse is more than a dot on the picture of the whole body."""
    most, mesh = found.ellipse(0.95), found.data.mesh
    return most is not None and mesh is not None and most.semi_major > 0.03 * mesh.bounding_radius


def how(found: LandingFindings) -> Section:
    """Times, contacts, speeds, forces, and how often it is lost."""
    figure = Figure(
        "histograms",
        partial(footprint.draw_spreads, found),
        "Histograms of settling time, contacts, first impact, and largest force or hardest impact",
        "Orange: the median. Grey: the middle 90 %. Settling time and contacts are of landings "
        "that settle, the others of all that touch the ground.",
    )
    answers = [
        ("When?", text.when(found)),
        ("How hard does it hit?", text.how_hard(found)),
    ]
    if not any(one.count and not one.asked for one in found.losses):
        answers.append(_lost(found))
    spread = [] if found.data.runs == 1 else [figure]  # one run has no histogram
    parts: list[Part] = [*_timeline(found), *spread, common.quantity_table(found)]
    if found.spread(TOUCH) is None:
        parts = [Paragraph("No landing touched the ground: it has no speeds, forces or contacts.")]
    return Section("How landings go", parts, answers, text.warnings(found), found.numbers())


def _timeline(found: LandingFindings) -> Iterator[Part]:
    """When things happen, from the release on."""
    if found.spread(SETTLE) is not None and found.spread(TOUCH) is not None:
        yield Figure(
            "timeline",
            partial(footprint.draw_timeline, found),
            "Times of first contact, of coming to rest and of escape, as bars",
            "From the release on."
            if found.data.runs == 1
            else "From the release on. Thin line: from the first landing to the last. Bar: the "
            "middle 90 %. Mark: the median.",
        )


def borne(found: LandingFindings) -> Section:
    """Loads of articulated landers."""
    if not found.data.articulated:
        return Section()
    answers = [(loads.QUESTION, loads.answer(found))]
    if not any(load.spread.n for load in found.loads):
        return Section(answers=answers)
    figure = Figure(
        "loads",
        partial(draw_loads, found),
        "Histograms of the largest stroke, pad force, acceleration, tilt, swing and joint force",
        "The largest of each landing that touches the ground. Orange: the median. Grey: the middle "
        "90 %.",
    )
    return Section("Loads", [figure, Table(loads.HEAD, loads.rows(found), range(1, 6))], answers)


def lit(found: LandingFindings) -> Section:
    """Light where landings rest."""
    title, light = "Light where it rests", found.light
    if light is None:
        return Section(numbers={"light": None})
    if isinstance(light, str):
        said = [(sunlight.QUESTION, f"Not known. {light}")]
        return Section(title, [Paragraph(light)], said, numbers={"light": None})
    return Section(
        title,
        list(_light(found, light)),
        [(sunlight.QUESTION, sunlight.answer(light))],
        numbers={"light": light.numbers()},
        files={"light_table": (sunlight.TABLE, _light_table(found, light))},
    )


def _light_table(found: LandingFindings, light: Light) -> partial[Path]:
    return partial(sunlight.write_table, light, found.data)


def _light(found: LandingFindings, light: Light) -> Iterator[Part]:
    turn = "rotation" if light.sun.turns else "time"
    yield Figure(
        "light",
        partial(draw_light, found, light),
        "Map of the body by time in light, rest sites by their longest night, and histograms",
        f"Top: time with the Sun in sight, all over the body, and the rest sites in white. "
        f"Below, left: rest sites by their longest night in the {turn}, dark where it is long. "
        "Orange: the median. Grey: the middle 90 %.",
    )
    yield Table(sunlight.HEAD, sunlight.rows(light), range(1, 6))
    yield Paragraph(
        f"Each place's numbers are in {sunlight.TABLE} beside this page. What they rest on:"
    )
    yield Listing(sunlight.notes(light, found.data))


def courses(found: LandingFindings) -> Section:
    """The runs whose trajectories were kept."""
    shown = found.data.courses
    return Section("Trajectories of single runs", list(_courses(found)) if shown else [])


def _courses(found: LandingFindings) -> Iterator[Part]:
    caption = "Triangle: release. Dot: the end."
    if found.data.mesh is not None:
        caption += (
            " Thin and dark: the ground beneath. It is the shape model; roughness added to it is "
            "not drawn."
        )
    runs = ", ".join(str(course.run) for course in found.data.courses)
    yield Figure(
        "trajectories",
        partial(maps.draw_courses, found),
        f"Trajectories of the runs {runs}",
        caption,
    )
    first = found.data.courses[0].run
    if found.data.pose is not None:
        yield _poses(found, first)
    if found.data.articulated:
        yield Figure(
            "touchdown",
            partial(draw_touchdown, found),
            f"Speed, acceleration, strokes, forces and swing of run {first} against time",
            f"The touchdown of run {first}, until no leg gives any more and a while after that.",
        )
        return
    yield Figure(
        "energy",
        partial(maps.draw_energy, found),
        "Energy of one run against time",
        "E_J is the energy in the turning frame: flight keeps it, each contact takes some of it."
        + _driven(found),
    )


def _driven(found: LandingFindings) -> str:
    """What else changes the energy of a lander that moves by itself."""
    lander = found.data.scenario.get("lander", {})
    if not any(lander.get(name) for name in ("wheel", "thruster", "spring", "actuator")):
        return ""
    return " Actuators give and take, too; what turns in them is in the sum alone."


def _poses(found: LandingFindings, run: int) -> Figure:
    """What an articulated lander looks like at moments of a run."""
    from alight.views.figures.articulated import draw_poses

    stands = terrain.stands(found)
    flat = found.data.flat
    said = f"Run {run} seen along the ground, which is level here whatever its slope."
    if not flat:
        said = f"Run {run} seen from the side and above"
        near = any(stand.ground is not None for stand in stands)
        said += ", on the ground as it is touched where that is near." if near else "."
    normal = found.data.ground_normal(run) if flat else None
    return Figure(
        "poses",
        partial(draw_poses, stands, normal),
        f"The lander of run {run} at its release, first contact and end",
        f"{said} Red: pads. Bodies are boxes and discs of their masses and inertias."
        " What touches is drawn as it touches.",
    )


SINGLE = (places, courses)
SECTIONS = (
    requirements.section, first, losses, where, how, hops.section, borne, lit, courses,
    *common.CLOSING,
)  # fmt: skip

"""What ``alight body`` says: tables for people, JSON for scripts, words for the sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from rich.text import Text

from alight.analysis.surface import FacetFields, Range
from alight.cli import screen
from alight.cli.body_subject import Subject
from alight.core.constants import G
from alight.scenario import bodies
from alight.scenario.bodies import Pole
from alight.shapes.mesh import Mesh, corner_angles
from alight.views import words

if TYPE_CHECKING:
    from alight.views.figures.facts import Words

Array = npt.NDArray[np.float64]

#: Rows of a table: name, value, where it comes from.
Row = tuple[str, str, str]

#: Bulk densities [kg/m^3] outside of which a slip of units is likely.
LIGHTEST, HEAVIEST = 100.0, 8000.0

#: Columns of a terminal below which the table of the surface shows fewer figures.
NARROW = 76

#: Names of the ranges, in the order they are shown.
QUANTITIES = {
    "attraction": "attraction",
    "effective_gravity": "effective gravity",
    "slope": "slope",
    "escape_speed": "escape speed",
    "lift_off_east": "lift-off, going east",
    "lift_off_west": "lift-off, going west",
    "height": "height over mean level",
}

_JSON_UNITS = {
    "attraction": "m_s2",
    "effective_gravity": "m_s2",
    "slope": "deg",
    "escape_speed": "m_s",
    "lift_off_east": "m_s",
    "lift_off_west": "m_s",
    "height": "m",
}


def warnings(subject: Subject, surface: FacetFields) -> list[str]:
    """What must not be overlooked."""
    found = []
    if surface.outward_fraction > 0.0:
        part = words.percent(surface.outward_fraction)
        found.append(f"Net gravity points outward on {part} of the surface: nothing rests there.")
    if subject.tumbles:
        found.append("Tumbles: surface figures take its angular velocity at one moment, as fixed.")
    if subject.primary not in (None, "Sun"):
        found.append(f"The tide of {subject.primary} is not part of the surface figures.")
    if not LIGHTEST <= subject.density <= HEAVIEST:
        found.append(
            f"A density of {words.number(subject.density)} kg/m^3 is outside {LIGHTEST:g} to "
            f"{HEAVIEST:g}: check --unit and --density or --gm."
        )
    return found


# -- for people -------------------------------------------------------------------------------


def show(subject: Subject, surface: FacetFields, drawn: Sequence[Path]) -> None:
    """Print the tables, the warnings and where the figures are."""
    console = screen.console()
    console.print(Text(subject.designation, style="bold"))
    facts = [list(rows(subject, surface)) for rows in _GROUPS]
    console.print(_facts_table(facts))
    console.print(_surface_table(surface, console.width))
    console.print(_mesh_table(subject))
    screen.lines(console, (f"! {line}" for line in warnings(subject, surface)), "bold yellow")
    if subject.body is not None:
        told = [f"{name}: {source}" for rows in facts for name, _, source in rows if source]
        show_sources(console, subject.body.notes, told)
    screen.lines(console, (f"wrote {file}" for file in drawn), "green")


def show_sources(console: Console, notes: Iterable[str], sources: Iterable[str]) -> None:
    """Print what the catalogue remarks, and where it has its figures from."""
    screen.lines(console, (f"- {note}" for note in notes))
    screen.lines(console, ["Sources"], "bold dim")
    screen.lines(console, (f"  {line}" for line in sources), "dim")


def _facts_table(groups: Sequence[Sequence[Row]]) -> Table:
    table = screen.table(("", ""), ())
    for rows in groups:
        table.add_section()
        for name, value, _ in rows:
            table.add_row(name, Text(value))
    return table


def _size_rows(subject: Subject, surface: FacetFields) -> Iterator[Row]:
    mesh = subject.mesh
    yield "extent, x y z", extent_text(mesh), shape_source(subject)
    yield "radius of equal volume", words.length(mesh.radius)(mesh.radius, 4), ""
    yield "volume", words.volume(mesh.volume)(mesh.volume, 4), ""
    yield "area", words.area(mesh.area)(mesh.area, 4), ""
    if subject.body is not None:
        length = words.length(max(subject.body.size))
        quoted = " × ".join(length.of(x) for x in subject.body.size)
        yield "quoted size", f"{quoted} {length.name}", subject.source("size")


def _mass_rows(subject: Subject, surface: FacetFields) -> Iterator[Row]:
    body = subject.body
    own = bool(subject.given & {"gm", "density"})
    error = "" if own or body is None or not body.gm_uncertainty else f" ± {body.gm_uncertainty:g}"
    yield "GM", f"{words.quoted(subject.gm)}{error} m³/s²", subject.source("gm")
    yield "mass", f"{words.number(subject.gm / G, 4)} kg", ""
    yield "density", f"{words.number(subject.density, 4)} kg/m³", subject.source("density")
    if body is not None and body.quoted_density is not None:
        given = body.quoted_density_uncertainty
        error = f" ± {given:g}" if given else ""
        source = str(body.sources.get("density", ""))
        yield "quoted density", f"{body.quoted_density:g}{error} kg/m³", source


def _spin_rows(subject: Subject, surface: FacetFields) -> Iterator[Row]:
    yield "spin", spin_text(subject), subject.source("spin")
    if subject.body is not None and subject.body.pole is not None:
        yield "pole", _pole_text(subject.body.pole), subject.source("pole")
    if subject.rate > 0.0 and not subject.tumbles:
        yield "axis of largest inertia", f"{tilt(subject):.1f}° from the spin axis", ""


def _reach_rows(subject: Subject, surface: FacetFields) -> Iterator[Row]:
    radius = surface.synchronous_radius
    if math.isfinite(radius) and not subject.tumbles:
        ratio = words.number(radius / subject.mesh.radius)
        yield "synchronous orbit", f"{words.length(radius)(radius, 4)} ({ratio} radii)", ""
    hill = subject.hill_radius
    if hill is not None and subject.primary is not None:
        about = "the Sun, at perihelion" if subject.primary == "Sun" else subject.primary
        yield "Hill radius", f"{words.length(hill)(hill)} (about {about})", subject.source("orbit")


_GROUPS = (_size_rows, _mass_rows, _spin_rows, _reach_rows)


def _surface_table(surface: FacetFields, width: int = NARROW) -> Table:
    heads = ("on the surface", "min", "5 %", "mean", "95 %", "max", "")
    styles = ("", "", "dim", "bold", "dim", "", "")
    kept = range(7) if width >= NARROW else (0, 1, 3, 5, 6)
    table = screen.table(
        [heads[k] for k in kept],
        (),
        right=range(1, len(kept) - 1),
        styles=[styles[k] for k in kept],
    )
    if width < NARROW:
        table.padding, table.columns[0].overflow = 0, "ellipsis"
    ranges = surface.ranges()
    still = not surface.spin.any()
    for name, title in QUANTITIES.items():
        if still and name == "lift_off_west":
            continue  # the same in every direction
        title = "lift-off speed" if still and name == "lift_off_east" else title
        unit = _unit(name, ranges)
        values = [value / unit.size for value in asdict(ranges[name]).values()]
        cells = (title, *words.row(values), unit.name)
        table.add_row(*(cells[k] for k in kept))
    table.add_section()
    parts = {
        "steeper than 30°": surface.steep_fraction,
        "net gravity outward": surface.outward_fraction,
    }
    for title, part in parts.items():
        cells = (title, "", "", words.percent(part), "", "", "of area")
        table.add_row(*(cells[k] for k in kept))
    return table


def _unit(name: str, ranges: dict[str, Range]) -> words.Unit:
    """One unit for all speeds and one for both accelerations, so that columns compare."""
    if name == "slope":
        return words.DEGREE
    if name == "height":
        return words.length(max(abs(ranges[name].least), abs(ranges[name].most)))
    if name in ("attraction", "effective_gravity"):
        return words.acceleration(ranges["attraction"].most)
    return words.speed(max(ranges["escape_speed"].most, ranges["lift_off_west"].most))


def _mesh_table(subject: Subject) -> Table:
    mesh, health = subject.mesh, subject.mesh.health
    sides = np.linalg.norm(np.diff(mesh.vertices[mesh.edges], axis=1)[:, 0], axis=1)
    length = words.length(float(sides.mean()))
    rows = [("facets, vertices", f"{mesh.n_faces}, {mesh.n_vertices}")]
    if subject.original is not None:
        rows.append(("simplified from", f"{subject.original.n_faces} facets"))
    rows.append(("edges", f"{length.of(sides.min())} to {length(sides.max())}"))
    rows.append(("smallest angle", f"{smallest_angle(mesh):.1f}°"))
    if subject.path is not None:
        offset = ", ".join(f"{x:.4g}" for x in subject.offset)
        rows.append(("centre of mass in the file", f"{offset} m; moved to the origin"))
    rows += [("repaired", action) for action in subject.repairs]
    failing = [row for row in health.table() if row[1] != "ok"]
    passed = f"{len(health.findings) - len(failing)} of {len(health.findings)} checks pass"
    verdict = "bounds a solid" if health.ok else "does not bound a solid"
    return screen.table(("mesh", ""), [*rows, ("health", f"{verdict}: {passed}"), *failing])


def show_catalogue(as_json: bool) -> None:
    """Print the bodies that are known."""
    found = [bodies.find(name) for name in bodies.names()]
    if as_json:
        screen.echo_json(
            [{"name": b.name, "designation": b.designation, "gm_m3_s2": b.gm} for b in found]
        )
        return
    rows = []
    for b in found:
        period = f"{b.rotation_period / 3600.0:.5g} h" if b.rotation_period else "tumbles"
        radius = words.length(b.mean_radius)(b.mean_radius)
        rows.append((b.name, b.designation, radius, words.quoted(b.gm), period))
    heads = ("name", "designation", "radius", "GM [m³/s²]", "spin")
    styles = ("bold", "", "", "", "")
    screen.console().print(screen.table(heads, rows, right=(2, 3), styles=styles))


# -- pieces of text ---------------------------------------------------------------------------


def extent_text(mesh: Mesh) -> str:
    """``1010 × 1011 × 939 m``."""
    unit = words.length(float(mesh.extent.max()))
    return " × ".join(unit.of(float(x)) for x in mesh.extent) + f" {unit.name}"


def spin_text(subject: Subject) -> str:
    """How it turns, in words."""
    if subject.tumbles:
        assert subject.body is not None
        tumbling = subject.body.tumbling
        assert tumbling is not None
        turn, circle = (
            f"{t / 86400.0:g} d" for t in (tumbling.long_axis_period, tumbling.precession_period)
        )
        return f"tumbles: {turn} about the long axis, {circle} precession"
    if subject.rate == 0.0:
        return "does not rotate"
    period = 2.0 * np.pi / subject.rate
    unit = words.time(period)
    return f"{period / unit.size:.7g} {unit.name}"


def _pole_text(pole: Pole) -> str:
    longitude, latitude = np.degrees([pole.longitude, pole.latitude])
    if pole.frame == "equatorial":
        return f"RA {longitude:.6g}°, Dec {latitude:.6g}° (J2000)"
    return f"ecliptic λ {longitude:.6g}°, β {latitude:.6g}°"


def tilt(subject: Subject) -> float:
    """Angle between the spin axis and the axis of largest inertia [deg]."""
    axis = subject.mesh.principal_rotation[2]
    cosine = abs(float(axis @ subject.spin)) / subject.rate
    return math.degrees(math.acos(min(1.0, cosine)))


def smallest_angle(mesh: Mesh) -> float:
    """Smallest corner of any facet [deg]."""
    return math.degrees(float(corner_angles(mesh.vertices, mesh.faces).min()))


def sheet_text(subject: Subject, surface: FacetFields) -> Words:
    """The words on the sheet of figures."""
    from alight.views.figures.body import sheet
    from alight.views.figures.facts import Words

    mesh = subject.mesh
    radius = words.length(mesh.radius)
    facts = [
        ("extent, x y z", extent_text(mesh)),
        ("radius of equal volume", radius(mesh.radius, 4)),
        ("GM", f"{words.quoted(subject.gm)} m³/s²"),
        ("density", f"{words.number(subject.density)} kg/m³"),
        ("spin", spin_text(subject)),
    ]
    if math.isfinite(surface.synchronous_radius) and not subject.tumbles:
        unit = words.length(surface.synchronous_radius)
        facts.append(("synchronous orbit", unit(surface.synchronous_radius)))
    if subject.hill_radius is not None:
        facts.append(("Hill radius", words.length(subject.hill_radius)(subject.hill_radius)))
    return Words(
        title=subject.name,
        subtitle=subject.designation,
        facts=facts + sheet.fact_rows(surface),
        notes=warnings(subject, surface),
        source=f"Shape: {shape_source(subject)}.",
        method=f"Gravity: homogeneous polyhedron of {mesh.n_faces} facets.",
    )


def shape_source(subject: Subject) -> str:
    """Where the shape comes from."""
    if subject.body is None:
        return subject.path.name if subject.path else subject.name
    from alight.shapes import builtin

    return f"after {builtin.find(subject.body.shape).source}"


# -- for scripts ------------------------------------------------------------------------------


def as_data(subject: Subject, surface: FacetFields, drawn: Sequence[Path]) -> dict[str, Any]:
    """Everything the tables say, in SI units and degrees."""
    mesh, body = subject.mesh, subject.body
    synchronous = surface.synchronous_radius
    return {
        "name": subject.name,
        "designation": subject.designation,
        "file": str(subject.path) if subject.path else None,
        "extent_m": mesh.extent.tolist(),
        "radius_m": mesh.radius,
        "volume_m3": mesh.volume,
        "area_m2": mesh.area,
        "gm_m3_s2": subject.gm,
        "mass_kg": subject.gm / G,
        "density_kg_m3": subject.density,
        "spin_rad_s": subject.spin.tolist(),
        "period_s": None if subject.tumbles or not subject.rate else 2 * np.pi / subject.rate,
        "synchronous_radius_m": synchronous if math.isfinite(synchronous) else None,
        "hill_radius_m": subject.hill_radius,
        "surface": _json_surface(surface),
        "mesh": _json_mesh(subject),
        "sources": {k: str(v) for k, v in body.sources.items()} if body else {},
        "warnings": warnings(subject, surface),
        "notes": list(body.notes) if body else [],
        "figures": [str(file) for file in drawn],
    }


def _json_surface(surface: FacetFields) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, found in surface.ranges().items():
        unit = words.DEGREE.size if name == "slope" else 1.0
        values = {key: value / unit for key, value in asdict(found).items()}
        told[f"{name}_{_JSON_UNITS[name]}"] = values
    told["steeper_than_30_deg_fraction"] = surface.steep_fraction
    told["outward_fraction"] = surface.outward_fraction
    return told


def _json_mesh(subject: Subject) -> dict[str, Any]:
    mesh = subject.mesh
    return {
        "facets": mesh.n_faces,
        "vertices": mesh.n_vertices,
        "smallest_angle_deg": smallest_angle(mesh),
        "center_of_mass_in_file_m": list(subject.offset) if subject.path else None,
        "repairs": list(subject.repairs),
        "solid": mesh.health.ok,
        "checks": dict(mesh.health.table()),
    }

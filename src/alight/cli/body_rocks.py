"""``alight body NAME --rocks``: a local world, a square of ground with the rocks on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.core.errors import InputError
from alight.core.frames import direction, local_frame

if TYPE_CHECKING:
    from alight.cli.body_subject import Subject
    from alight.surfaces.rocks.population import Rocks
    from alight.views.figures.body.local_world import World

#: Smallest rocks over the side of the square, and the most ground they may cover.
FINEST, COVER = 1.0 / 160.0, 0.6

#: The body whose boulder count stands in where there is none.
STAND_IN = "itokawa"


@dataclass(frozen=True)
class Site:
    """What ``--rocks`` is asked to show."""

    latitude: float
    """[deg]"""
    longitude: float
    """East longitude [deg]."""
    side: float
    """[m]"""
    seed: int


def parse_place(option: str, text: str) -> tuple[float, float]:
    """Latitude and east longitude [deg] as an option has them, checked."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        latitude = longitude = math.nan
    if not (abs(latitude) <= 90.0 and abs(longitude) <= 360.0):
        raise InputError(
            f'{option} "{text}" is no place: give latitude and east longitude in degrees, such as '
            f"{option} 10,45 or {option}=-30,200."
        )
    return latitude, longitude


def parse_site(at: str, side: float, seed: int) -> Site:
    """``--at``, ``--world`` and ``--seed``, checked."""
    latitude, longitude = parse_place("--at", at)
    if not 0.1 <= side <= 1e4:
        raise InputError(f"--world {side:g} is no size: give the side in metres, such as 40.")
    return Site(latitude, longitude, side, seed)


def drawn(
    subject: Subject, site: Site, file: Path, device: str
) -> tuple[list[tuple[str, str]], Sequence[str], dict[str, Any]]:
    """Strew rocks and draw them: what there is in rows, no notes, and the same for scripts."""
    from alight.views.figures.body import local_world
    from alight.views.figures.facts import Words

    rocks, source = rocks_of(subject, site)
    world = look(subject, rocks, site, device)
    facts = facts_of(rocks, world, site)
    words = Words(
        title=subject.name,
        subtitle=f"{subject.designation}: a local world with its rocks",
        facts=facts,
        source=f"Rocks: {source}. Shape: {subject.mesh.n_faces} facets.",
    )
    local_world.draw(world, words, file, body=subject.fine)
    return facts, (), as_data(rocks, world, site)


def rocks_of(subject: Subject, site: Site) -> tuple[Rocks, str]:
    """Rocks by the count of the body, or of another where there is none, and the source."""
    from alight.surfaces.rocks.population import Rocks
    from alight.surfaces.rocks.size_law import COUNTS

    most = min(subject.mesh.radius, 10.0 * COUNTS[STAND_IN].largest)
    if site.side > most:
        raise InputError(
            f"--world {site.side:g} is too large a square for {subject.name}: at most {most:.3g} m."
        )
    name = subject.name.lower()
    known = name in COUNTS
    used = name if known else STAND_IN
    rocks = Rocks.counted_on(used, smallest=FINEST * site.side, cover=COVER, seed=site.seed)
    source = COUNTS[used].source
    return rocks, source if known else f"no count is known; as on {used.capitalize()}, {source}"


def look(subject: Subject, rocks: Rocks, site: Site, device: str) -> World:
    """The square of ground at a place, and its rocks."""
    from alight.analysis.latlong import outermost_radius
    from alight.surfaces.rocks.field import RockField
    from alight.views.figures.body.local_world import World

    mesh = subject.mesh
    outward = direction(math.radians(site.latitude), math.radians(site.longitude))
    place = outermost_radius(mesh, outward) * outward
    if not np.isfinite(place).all():
        raise InputError("the body has no ground in that direction: choose another --at.")
    centroid = mesh.vertices[mesh.faces].mean(axis=1)
    way = np.linalg.norm(centroid - place, axis=1)
    near = way <= max(0.5 * site.side, float(np.sort(way)[min(6, len(way) - 1)]))
    up = (mesh.face_areas[near, None] * mesh.face_normals[near]).sum(axis=0)
    up = up / np.linalg.norm(up)
    found = RockField(rocks, mesh).near(place, site.side, device)
    ground = (found.ground - place) @ local_frame(up)
    inside = (np.abs(ground[:, :2]) < 0.5 * site.side).all(axis=1) & (found.up @ up > 0.0)
    kept = type(found)(*(column[inside] for column in found))
    return World(
        mesh, place, up, site.side, kept.vertices, kept.faces, kept.ground, kept.up, kept.size,
        rocks.number, (rocks.law.smallest, rocks.law.largest),
    )  # fmt: skip


def facts_of(rocks: Rocks, world: World, site: Site) -> list[tuple[str, str]]:
    """Rows of what there is to know."""
    law = rocks.law
    sizes = f"{law.smallest:.3g} to {law.largest:g} m"
    largest = f"{world.size.max():.3g} m" if len(world.size) else "none"
    bent = f", 1 below {law.bend:.2g} m" if law.bend > 0.0 else ""
    return [
        ("place", f"latitude {site.latitude:.4g}°, longitude {site.longitude:.4g}° east"),
        ("square", f"{site.side:g} m × {site.side:g} m"),
        ("rocks drawn", f"{len(world.size)}, largest {largest}"),
        ("sizes of the law", sizes),
        ("slope of the law", f"{law.slope:g}{bent}"),
        (f"rocks of {law.reference:g} m and more", f"{law.density * 1e6:.0f} per km²"),
        ("ground under rocks", f"{-100.0 * math.expm1(-law.cover):.0f} % by the law"),
        ("seed", str(site.seed)),
    ]


def as_data(rocks: Rocks, world: World, site: Site) -> dict[str, Any]:
    """The same for scripts, in SI units and degrees."""
    law = rocks.law
    return {
        "latitude_deg": site.latitude,
        "longitude_deg": site.longitude,
        "place_m": world.place.tolist(),
        "side_m": site.side,
        "seed": site.seed,
        "rocks": len(world.size),
        "largest_m": float(world.size.max()) if len(world.size) else None,
        "slope": law.slope,
        "density_per_m2": law.density,
        "reference_m": law.reference,
        "smallest_m": law.smallest,
        "largest_of_law_m": law.largest,
        "bend_m": law.bend,
        "cover": law.cover,
    }

"""The sheet of ``alight hop --figure``: what was found, as views draw it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from alight.cli.body import file_stem, is_file_name, make_folder, writing
from alight.core.checks import Array
from alight.core.frames import latitude_longitude

if TYPE_CHECKING:
    from alight.mobility import Aim, Aimer, Hop, Scatter
    from alight.views.figures.hop import Flown, HopSheet, Landing

#: Points of the ground below a hop.
POINTS = 200


def draw_sheet(
    aimer: Aimer, found: Aim, flown: Hop | None, cloud: Scatter | None, wanted: Path
) -> list[Path]:
    """Draw the sheet into a file, or a folder; returns what was written."""
    from alight.views.figures import hop as figure

    make_folder(wanted)
    name = str(aimer.scenario.body.name or "hop")
    file = wanted if is_file_name(wanted) else wanted / f"{file_stem(name, 'body')}_hop.png"
    with writing(wanted):
        figure.draw(_sheet(aimer, found, flown, cloud), file)
    return [file]


def _sheet(aimer: Aimer, found: Aim, flown: Hop | None, cloud: Scatter | None) -> HopSheet:
    from alight.views.figures.hop import HopSheet

    ahead, up = _directions(aimer, found)
    own = [hop for hop in found.hops if hop.family == found.hops[0].family]
    shots = [family.shots for family in found.families]
    limit = found.max_speed
    a, b = (_told(place) for place in (found.start, found.target))
    return HopSheet(
        title=f"{found.distance:.4g} m in one hop: {aimer.scenario.body.name or 'a body'}",
        subtitle=f"from {a} to {b}; each hop as the engine flies it, to within 1 mm",
        hops=[_flown(h, found.start, ahead, up, cloud is not None and h is flown) for h in own],
        ground=_side(_ground(aimer, found), found.start, ahead, up),
        families=[
            (s.time, s.speed, np.asarray(f.open))
            for s, f in zip(shots, found.families, strict=True)
        ],
        limit=limit,
        landing=None if cloud is None or flown is None else _landing(flown, cloud),
    )


def _told(place: Array) -> str:
    """Latitude and longitude in words."""
    latitude, longitude = (math.degrees(float(a)) for a in latitude_longitude(place))
    return f"{abs(latitude):.1f}° {'N' if latitude >= 0 else 'S'} {longitude % 360.0:.1f}° E"


def _directions(aimer: Aimer, found: Aim) -> tuple[Array, Array]:
    """Unit vectors up at the start, and level towards the target."""
    up = -aimer.flight.pull(found.start[None])[0]
    up = up / np.linalg.norm(up)
    way = found.target - found.start
    level = way - (way @ up) * up
    length = float(np.linalg.norm(level))
    if length < 1e-6 * found.distance:  # straight above or below
        level = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
        length = float(np.linalg.norm(level))
    return level / length, up


def _side(places: Array, start: Array, ahead: Array, up: Array) -> Array:
    off = places - start
    return np.stack([off @ ahead, off @ up], -1)


def _ground(aimer: Aimer, found: Aim) -> Array:
    """Points on the ground from a little before the start to a little behind the target."""
    part = np.linspace(-0.15, 1.15, POINTS)[:, None]
    line = found.start + part * (found.target - found.start)
    latitude, longitude = latitude_longitude(line)
    return aimer.stand.footing(np.stack([latitude, longitude], -1))


def _flown(hop: Hop, start: Array, ahead: Array, up: Array, flown: bool) -> Flown:
    from alight.views.figures.hop import Flown

    mark = ", flown in the campaign" if flown else ""
    caption = (
        f"{hop.name}: {100.0 * hop.speed:.3g} cm/s at {math.degrees(hop.elevation):.0f}°, "
        f"{hop.time / 60.0:.3g} min{mark}"
    )
    return Flown(hop.name, _side(hop.path, start, ahead, up), hop.time, hop.speed, caption)


def _landing(hop: Hop, cloud: Scatter) -> Landing:
    from alight.views.figures.hop import Landing

    ellipse = cloud.ellipse
    flat = [ellipse.flattened(ellipse.outline(k)) for k in (1.0, 2.0)]
    first, second = (round(100.0 * e.value) for e in cloud.within)
    level = (cloud.rests - ellipse.centre) @ ellipse.axes.T
    return Landing(
        titles=(
            f"First impacts: {first} % and {second} % within",
            f"Rest sites: {len(cloud.rests)} of {cloud.runs} runs",
        ),
        outlines=(flat[0], flat[1]),
        impacts=ellipse.flattened(cloud.impacts),
        rests=level,
        axes=("down range", "across"),
    )

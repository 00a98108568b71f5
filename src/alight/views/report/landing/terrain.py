"""Maps of the terrain where landings rest: which squares of ground they show, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy

from alight.analysis.columns import Array, Bools
from alight.analysis.density import thin
from alight.analysis.footprint import Footprint, footprint, plane_frame
from alight.analysis.terrain import Terrain
from alight.core import frames
from alight.views import words
from alight.views.estimates import percent

if TYPE_CHECKING:
    from alight.views.figures.articulated import Stand
    from alight.views.report.landing.findings import LandingFindings

#: Clusters that have a map of their own, at most.
MAPS = 3

#: A map shows this part of the sites along either axis, and so much more ground.
SHOWN, MARGIN = 0.95, 1.3

#: Half side of the least map, in sizes of the lander; and of the largest, in radii of the body.
LEAST, MOST = 8.0, 0.8

#: More of the landings than this on the far side, and a tangent plane says little.
FAR = 0.05

#: Part of the sites that the map of a wide footprint is about: those that lie closest.
CROWD = 0.25

#: Sites that a density can be drawn of, at least.
DENSE = 100

#: Points of the grid on a rock that is outlined, at least.
OUTLINED = 12


@dataclass(frozen=True)
class Ground:
    """What is touched, as the command line hands it over: views know no physics."""

    survey: Callable[[Array, Array, float], Terrain | str]
    """The ground about a place [m], in axes (3, 3), of a half side [m]; or why there is none."""
    size: float
    """How far the lander reaches from its middle [m]."""
    varies: bool
    """True where the ground differs from run to run, and this is that of no dispersion."""


@dataclass(frozen=True, eq=False)
class TerrainMap:
    """A square of ground and the landings that rest on it."""

    terrain: Terrain
    rest: Array
    """(k, 3) rest sites over it, target axes [m]."""
    number: int
    """Of its cluster, from 1; 0 where there is one cluster alone."""
    total: int
    """Sites of all landings, on it or not."""
    wide: bool
    """True where the footprint is too wide for one map: it shows where most sites are close by."""
    varies: bool

    @property
    def stem(self) -> str:
        """Name of its figure."""
        return f"terrain_{self.number}" if self.number else "terrain"

    @property
    def slopes(self) -> Array:
        """Slopes where they rest [rad]."""
        found = self.terrain.under(self.terrain.slope, self.rest)
        return found[np.isfinite(found)]

    @property
    def on_rocks(self) -> float:
        """Share of the ground that is rock, as seen from above."""
        return float(np.mean(self.terrain.rocks[self.terrain.ground]))

    def numbers(self) -> dict[str, object]:
        """For scripts: SI and degrees."""
        slopes, ground = np.degrees(self.slopes), self.terrain.ground
        known = np.degrees(self.terrain.slope[ground])
        return {
            **dict(zip(("x_m", "y_m", "z_m"), map(float, self.terrain.place), strict=True)),
            "half_side_m": self.terrain.half,
            "cell_m": self.terrain.cell,
            "rest_sites": len(self.rest),
            "rest_sites_of_all": self.total,
            "median_slope_deg": float(np.median(known)),
            "p95_slope_deg": float(np.quantile(known, 0.95)),
            "median_slope_at_rest_deg": float(np.median(slopes)) if len(slopes) else None,
            "rock_share": self.on_rocks,
        }


def large_rocks(terrain: Terrain) -> Bools:
    """(n, n) rocks that enough points of the grid lie on, as seen from above."""
    if not terrain.rocks.any():
        return terrain.rocks
    label, count = scipy.ndimage.label(terrain.rocks)
    large = np.bincount(label.ravel(), minlength=count + 1) >= OUTLINED
    large[0] = False
    return np.asarray(large[label])


def terrain_maps(found: LandingFindings) -> tuple[list[TerrainMap], str]:
    """A map for each of the largest clusters; and why there is none, or none of some."""
    ground = found.data.ground
    if found.where is None or ground is None:
        return [], ""
    if isinstance(ground, str):
        return [], ground
    rest, maps, why = found.data.rest[found.data.settled], list[TerrainMap](), ""
    for k, part in enumerate(found.parts[:MAPS]):
        own = rest[found.groups.members(k)]
        shown, middle, half, wide = _square(own, part, found, ground.size)
        made = ground.survey(shown.to_target(middle), shown.R_TL, half)
        if isinstance(made, str):
            why = made
            continue
        number = k + 1 if found.groups.count > 1 else 0
        on_it = rest[made.inside(rest)]
        maps.append(TerrainMap(made, on_it, number, len(rest), wide, ground.varies))
    return maps, why


def _square(
    rest: Array, part: Footprint, found: LandingFindings, size: float
) -> tuple[Footprint, Array, float, bool]:
    """The plane, the middle in it and the half side of a map; and whether sites are beside it."""
    most = np.inf
    if found.data.level is None:
        radius = float(np.median(np.linalg.norm(rest, axis=1)))
        most = max(MOST * radius, LEAST * size)
    middle, half = _framed(part.plane, size)
    if half <= most and part.far_share <= FAR:
        return part, middle, half, False
    crowd = footprint(rest[_crowd(rest)], found.data.level)
    middle, half = _framed(crowd.plane, size)
    return crowd, middle, min(half, most), True


def _framed(plane: Array, size: float) -> tuple[Array, float]:
    """Middle and half side of the square that shows most of the places (n, 2)."""
    tail = 0.5 * (1.0 - SHOWN)
    low, high = np.quantile(plane, [tail, 1.0 - tail], axis=0)
    return 0.5 * (low + high), max(0.5 * MARGIN * float((high - low).max()), LEAST * size)


def _crowd(rest: Array) -> Bools:
    """(n,) the sites about that which has a part of all the nearest to it."""
    few = rest[thin(len(rest), 2000)]
    count = max(2, round(CROWD * len(few)))
    near = scipy.spatial.cKDTree(few).query(few, k=min(count, len(few)))[0]
    reach = near[:, -1] if near.ndim == 2 else near
    at = int(np.argmin(reach))
    return np.asarray(np.linalg.norm(rest - few[at], axis=1) <= max(float(reach[at]), 1e-9))


# -- poses ------------------------------------------------------------------------------------


def stands(found: LandingFindings) -> list[Stand]:
    """The lander of the first trajectory at its moments, each with the ground about it."""
    data = found.data
    assert data.pose is not None
    from alight.views.figures.articulated import poses  # few pages wait for all that it loads

    made = poses(data.courses[0], data.pose)
    if data.flat or not isinstance(data.ground, Ground):
        return made
    return [_standing(one, data.ground, data.level) for one in made]


def _standing(stand: Stand, ground: Ground, level: Array | None) -> Stand:
    """A lander near the ground, with a piece of it."""
    points = stand.pose.points
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = float(np.linalg.norm(points - middle, axis=1).max())
    axes = frames.local_frame(middle) if level is None else plane_frame(level)
    made = ground.survey(middle, axes, 4.0 * size)
    if isinstance(made, str) or not made.ground.any() or np.nanmax(made.height) < -2.0 * size:
        return stand
    return replace(stand, ground=made)


# -- words ------------------------------------------------------------------------------------


def caption(one: TerrainMap, found: LandingFindings) -> str:
    """What a map shows, a sentence each."""
    terrain, unit = one.terrain, words.length(one.terrain.half)
    cell = words.length(terrain.cell)(terrain.cell)
    if one.number:
        what = f"the ground of cluster {one.number}"
    else:
        what = "the ground where landings rest most closely" if one.wide else "the ground"
    said = [
        f"{_capital(what)} as landers touch it{_with(found)}, "
        f"{unit(2.0 * terrain.half)} along a side, looked at every {cell}.",
        f"Left: relief, lit from the upper left, with {_counted(one)}{_lines(found)}.",
        f"Right: slope against the plumb line of gravity and spin{_outlined(one)}.",
        _sloped(one),
    ]
    if one.varies:
        said.append("The ground differs from run to run; it is drawn as it is undispersed.")
    return " ".join(said)


def _with(found: LandingFindings) -> str:
    """What stands on the smooth ground, where anything does."""
    ground = found.data.scenario.get("ground", {})
    some = [word for key, word in (("noise", "roughness"), ("rocks", "rocks")) if ground.get(key)]
    return f", {' and '.join(some)} included" if some else ""


def _counted(one: TerrainMap) -> str:
    """``the rest sites of 40 of 43 landings``, as the map shows them."""
    shown = len(one.rest)
    if shown == one.total:
        return "the one rest site" if shown == 1 else f"all {shown} rest sites"
    return f"{shown} of {one.total} rest sites"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lines(found: LandingFindings) -> str:
    return " and the trajectories that were kept" if found.data.courses else ""


def _outlined(one: TerrainMap) -> str:
    parts = ["large rocks outlined in white"] if large_rocks(one.terrain).any() else []
    if len(one.rest) >= DENSE:
        parts.append("dark lines about the densest ground, with 50 and 95 % of these rest sites")
    return f"; {' and '.join(parts)}" if parts else ""


def _sloped(one: TerrainMap) -> str:
    whole = np.degrees(one.terrain.slope[one.terrain.ground])
    median, late = (float(np.quantile(whole, p)) for p in (0.5, 0.95))
    if float(whole.max()) < 0.05:
        return "This ground is level."
    said = f"Half of this ground slopes by less than {median:.1f}°, 95 % by less than {late:.1f}°"
    if one.total == 1 and len(one.slopes):
        said += f"; where the landing rests by {np.degrees(one.slopes[0]):.1f}°"
    elif len(one.slopes):
        said += f"; where landings rest the median is {np.degrees(np.median(one.slopes)):.1f}°"
    if one.terrain.rocks.any():
        said += f". Rocks cover {percent(one.on_rocks)} of it"
    return f"{said}."

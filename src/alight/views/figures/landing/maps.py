"""Maps and pictures of a campaign: where landings rest on the body, and the kept trajectories.

Without a mesh of the body maps have no relief, and there are no pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.analysis.latlong import lat_long_grid
from alight.analysis.settling import SETTLE
from alight.analysis.shadows import Shadows
from alight.core import frames
from alight.shapes.mesh import Mesh
from alight.views import style, words
from alight.views.figures.body import maps
from alight.views.figures.body.sheet import draw_scale_bar, fit
from alight.views.figures.panels import BLUE, GREEN, HALO, LINES, ORANGE, PURPLE, plain, thinned
from alight.views.figures.solid import Camera, View

if TYPE_CHECKING:
    from alight.views.report.data import Trajectory
    from alight.views.report.landing.data import LandingData
    from alight.views.report.landing.findings import LandingFindings

#: Pixels along the pictures.
PIXELS = 580

#: How far the viewer of the pictures stands from straight above [rad].
TILT = np.radians(38.0)

#: Facets of a patch of ground below which the mesh is too coarse to be shown alone.
FEW_FACETS = 24


# -- the rest map -----------------------------------------------------------------------------


def draw_rest_map(found: LandingFindings, *files: Path) -> None:
    """Where landings rest: on a map, and on a picture of the body where there is a mesh."""
    mesh = found.data.mesh
    wide = (11.2, 3.85) if mesh is not None else (9.2, 4.9)
    with style.figure(*wide) as fig:
        place = (0.045, 0.07, 0.63, 0.91) if mesh is not None else (0.06, 0.07, 0.92, 0.88)
        axes = fig.add_axes(place)
        if mesh is not None:
            _relief(axes, mesh)
            _portrait(fig.add_axes((0.695, 0.02, 0.30, 0.96)), found, mesh)
        _map(axes, found)
        style.save(fig, *files)


def _map(axes: Axes, found: LandingFindings) -> None:
    """Dots at the rest sites, the middle, and the release."""
    maps.graticule(axes)
    axes.grid(which="both", color=style.LINE, linewidth=0.4, alpha=0.8)
    axes.set_aspect("equal")
    data = found.data
    rest = thinned(data.rest[data.settled])
    latitude, longitude = np.degrees(frames.latitude_longitude(rest))
    axes.scatter(
        longitude % 360.0, latitude, s=5, color=ORANGE, alpha=0.5, linewidths=0, zorder=3,
        rasterized=True, label="rest site",
    )  # fmt: skip
    if found.compact and found.where is not None and not found.swept and len(rest) > 1:
        north, east = np.degrees(found.where.latitude_longitude)
        axes.plot(
            east % 360.0, north, "o", ms=15, mfc="none", mec=style.INK, mew=1.3, zorder=5,
            label="middle",
        )  # fmt: skip
    elif found.where is not None and not found.swept and found.groups.count > 1:
        for k, part in enumerate(found.parts, 1):
            north, east = np.degrees(part.latitude_longitude)
            axes.text(
                east % 360.0, north, str(k), ha="center", va="center", fontweight="bold",
                color=style.INK, zorder=6, bbox={**HALO, "boxstyle": "circle", "alpha": 0.9},
            )  # fmt: skip
    release = release_place(data)
    if release is not None:
        axes.plot(
            release[1] % 360.0, release[0], "^", color=style.INK, ms=7, mec="white", zorder=4,
            label="release",
        )  # fmt: skip
    told = axes.legend(loc="lower left", fontsize=7.5, framealpha=0.9, edgecolor=style.LINE)
    for handle in told.legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)


def release_place(data: LandingData) -> tuple[float, float] | None:
    """Latitude and longitude of the nominal release [deg], where the scenario gives them so."""
    release = data.scenario.get("release", {})
    found = []
    for name in ("latitude", "longitude"):
        number, _, unit = str(release.get(name, "")).partition(" ")
        size = {"deg": 1.0, "rad": 180.0 / np.pi}.get(unit.strip())
        try:
            found.append(float(number) * size if size else None)
        except ValueError:
            found.append(None)
    latitude, longitude = found
    return None if latitude is None or longitude is None else (latitude, longitude)


def _relief(axes: Axes, mesh: Mesh) -> None:
    """The ground in pale grey, lit from the north-west."""
    grid = lat_long_grid(mesh, 181, 360)
    normal = grid.sample(mesh.vertex_normals)
    lat, lon = np.meshgrid(grid.latitude, grid.longitude, indexing="ij")
    axes_of = frames.local_frame(frames.direction(lat, lon))
    light = axes_of @ (np.array([-1.0, 1.0, 1.4]) / np.linalg.norm([-1.0, 1.0, 1.4]))
    shade = np.einsum("rci,rci->rc", normal, light)
    axes.imshow(
        shade, origin="lower", extent=(0.0, 360.0, -90.0, 90.0), cmap="gray", vmin=-0.9, vmax=1.0,
        interpolation="bilinear", alpha=0.85, zorder=0,
    )  # fmt: skip


def _portrait(axes: Axes, found: LandingFindings, mesh: Mesh) -> None:
    """The body seen from above the footprint, rest sites and the 95 % ellipse on it."""
    where = found.where
    over = found.parts[0].origin if where else np.array([0.0, -1.0, 0.3])
    camera = _camera(over, 0.5 * TILT)
    picture = View(mesh, camera, pixels=PIXELS).picture()
    axes.set_axis_off()
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", zorder=2)
    data = found.data
    rest = thinned(data.rest[data.settled])
    seen = rest @ camera.axes[2] > 0.0
    flat = camera.project(rest[seen])
    axes.scatter(
        flat[:, 0], flat[:, 1], s=2.5, color=ORANGE, alpha=0.6, linewidths=0, zorder=3,
        rasterized=True,
    )  # fmt: skip
    ellipse = found.ellipse(0.95)
    if where is not None and ellipse is not None:
        edge = camera.project(where.to_target(ellipse.outline()))
        axes.plot(edge[:, 0], edge[:, 1], color="white", linewidth=1.2, zorder=4)
    left, right, bottom, top = picture.extent
    size = max(right - left, top - bottom)
    draw_scale_bar(axes, left, bottom - 0.06 * size, right - left)
    fit(axes, (left - 0.02 * size, right + 0.02 * size), (bottom - 0.1 * size, top + 0.03 * size))


def _camera(place: Array, tilt: float) -> Camera:
    """Over a place, but ``tilt`` further south, so that straight up there points up."""
    latitude, longitude = frames.latitude_longitude(place)
    return Camera(float(longitude), float(latitude) - tilt)


# -- courses ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Line:
    """A trajectory with the arcs between its steps filled in."""

    course: Trajectory
    time: Array
    """[s]."""
    position: Array
    """(k, 3) target axes [m]."""


def smooth(course: Trajectory, between: int = 8, most: int = 6000) -> Line:
    """Fill in the long steps of a trajectory by cubics that keep position and velocity there."""
    step, x, v = np.diff(course.time), course.rows("", "_m"), course.rows("v", "_m_per_s")
    count = np.where(step > step.sum() / most, between, 1)
    at = np.repeat(np.arange(len(step)), count)
    part = (np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)) / count[at]
    s, h = part[:, None], step[at][:, None]
    (x0, v0), (x1, v1) = ((x[k], v[k]) for k in (at, at + 1))
    place = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * x0 + s * s * (3.0 - 2.0 * s) * x1
    place += h * s * (1.0 - s) * ((1.0 - s) * v0 - s * v1)
    time = course.time[at] + part * step[at]
    return Line(course, np.append(time, course.end), np.concatenate([place, x[-1:]]))


def draw_courses(found: LandingFindings, *files: Path) -> None:
    """The kept trajectories: over the ground, and height and speed against time."""
    lines = [smooth(course) for course in found.data.courses]
    with style.figure(10.8, 5.6) as fig:
        solid = fig.add_axes((0.02, 0.03, 0.46, 0.92))
        _over_ground(solid, lines, found.data)
        grid = fig.add_gridspec(2, 1, left=0.565, right=0.985, top=0.945, bottom=0.09, hspace=0.36)
        height, speed = (fig.add_subplot(grid[k]) for k in range(2))
        _heights(height, lines, found.data)
        _speeds(speed, lines)
        style.save(fig, *files)


def _over_ground(axes: Axes, lines: list[Line], data: LandingData) -> None:
    """Trajectories in the round, over the patch of ground beneath them where there is a mesh."""
    ends = np.stack([line.position[-1] for line in lines])
    middle = ends.mean(axis=0)
    mesh, up = data.mesh, _up(middle, data)
    camera = _camera(up, TILT + np.radians(20.0))
    if mesh is None and up[2] > 0.99:  # flat ground has no north: seen from beside the paths
        camera = Camera(_beside(lines), 0.5 * np.pi - TILT - np.radians(20.0))
    axes.set_axis_off()
    drawn = [camera.project(line.position)[:, :2] for line in lines]
    low, high = (f(np.concatenate(drawn), axis=0) for f in (np.min, np.max))
    size = float((high - low).max())
    pad = 0.06 * size
    draw_scale_bar(axes, float(low[0]), float(low[1]) - pad, float(high[0] - low[0]) or size)
    fit(
        axes,
        (float(low[0]) - pad, float(high[0]) + pad),
        (float(low[1]) - 2.0 * pad, float(high[1]) + pad),
    )
    if mesh is not None:
        patch = _patch(mesh, np.concatenate([line.position for line in lines]), 0.9 * size)
        _ground(axes, patch, camera)
        shadows = Shadows(patch)
        for line in lines:
            track = camera.project(_track(line.position, shadows, up))
            axes.plot(track[:, 0], track[:, 1], color=style.INK, linewidth=0.8, alpha=0.6, zorder=2)
    for k, flat in enumerate(drawn):
        colour, dash = LINES[k % len(LINES)]
        axes.plot(*flat.T, color="white", linewidth=2.4, alpha=0.6, zorder=3)
        axes.plot(*flat.T, color=colour, linestyle=dash, linewidth=1.4, zorder=4)
        axes.plot(*flat[0], "^", color=colour, mec="white", ms=7, zorder=5)
        axes.plot(*flat[-1], "o", color=colour, mec="white", ms=7, zorder=5)


def _beside(lines: list[Line]) -> float:
    """Longitude of a viewer who sees level paths from the side, going to the right."""
    flat = np.concatenate([line.position[:, :2] for line in lines])
    along = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)[2][0]
    ahead = sum(float((line.position[-1] - line.position[0])[:2] @ along) for line in lines)
    x, y = along if ahead >= 0.0 else -along
    return float(np.arctan2(y, x)) - 0.5 * np.pi


def _ground(axes: Axes, patch: Mesh, camera: Camera) -> None:
    """As much of the ground as the axes show, which keep their limits."""
    window = (*axes.get_xlim(), *axes.get_ylim())
    picture = View(patch, camera, pixels=PIXELS, window=window).picture()
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", aspect="auto", zorder=1)
    axes.set(xlim=window[:2], ylim=window[2:])


def _track(position: Array, ground: Shadows, up: Array) -> Array:
    """Points of the ground straight beneath a trajectory; nan where there is none."""
    reach = float(np.ptp(position, axis=0).max()) + 1.0
    drop = ground.first_hit(position + reach * up, np.tile(-up, (len(position), 1)))
    drop = np.where(np.isfinite(drop), drop, np.nan)
    track: Array = position + (reach - drop)[:, None] * up
    return track


def _patch(mesh: Mesh, points: Array, margin: float) -> Mesh:
    """The facets about ``points``; the whole mesh where they would be too few to look at."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = float(np.linalg.norm(points - middle, axis=1).max()) + margin
    corner = mesh.vertices[mesh.faces]
    near = (np.linalg.norm(corner - middle, axis=2) < reach).any(axis=1)
    if near.sum() < FEW_FACETS or near.all():
        return mesh
    used, faces = np.unique(mesh.faces[near], return_inverse=True)
    # What is cut out is no closed surface, which a picture does not need.
    return Mesh(mesh.vertices[used], faces.reshape(-1, 3), check=False)


def _heights(axes: Axes, lines: list[Line], data: LandingData) -> None:
    unit = words.time(max(float(line.time[-1]) for line in lines))
    rest = all(np.isfinite(x.course.row[SETTLE]) for x in lines)
    heights = [_above_end(x, data) if rest else _above_start(x, data) for x in lines]
    length = words.length(max(float(np.abs(h).max()) for h in heights))
    for k, (line, height) in enumerate(zip(lines, heights, strict=True)):
        colour, dash = LINES[k % len(LINES)]
        label = f"run {line.course.run}"
        shown = height / length.size
        axes.plot(line.time / unit.size, shown, dash, color=colour, linewidth=1.2, label=label)
    axes.set_title(f"Height above the {'rest site' if rest else 'release'} [{length.name}]")
    axes.legend(frameon=False, fontsize=8, ncols=2)
    axes.set_xlim(left=0.0)
    plain(axes)


def _above_end(line: Line, data: LandingData) -> Array:
    """Along the vertical of the rest site."""
    height: Array = (line.position - line.position[-1]) @ _up(line.position[-1], data)
    return height


def _above_start(line: Line, data: LandingData) -> Array:
    """Away from the centre, or from the plane: of runs that leave, which have no rest site."""
    x = line.position
    height: Array = np.linalg.norm(x, axis=1) if data.level is None else x @ data.level
    return height - height[0]


def _speeds(axes: Axes, lines: list[Line]) -> None:
    unit = words.time(max(float(line.time[-1]) for line in lines))
    speeds = [np.linalg.norm(line.course.rows("v", "_m_per_s"), axis=1) for line in lines]
    speed = words.speed(max(float(s.max()) for s in speeds))
    floor = 1e-3 * max(float(s.max()) for s in speeds) / speed.size
    for k, (line, found) in enumerate(zip(lines, speeds, strict=True)):
        colour, dash = LINES[k % len(LINES)]
        shown = np.maximum(found / speed.size, 0.5 * floor)
        axes.plot(line.course.time / unit.size, shown, dash, color=colour, linewidth=1.0)
    axes.set_yscale("log")
    axes.set_ylim(bottom=floor)
    axes.set_title(f"Speed relative to the ground [{speed.name}]")
    axes.set_xlabel(f"time from release [{unit.name}]")
    axes.set_xlim(left=0.0)
    plain(axes)


def _up(place: Array, data: LandingData) -> Array:
    """Away from the centre, or from the plane."""
    unit: Array = place / np.linalg.norm(place) if data.level is None else data.level
    return unit


# -- energy -----------------------------------------------------------------------------------


def draw_energy(found: LandingFindings, *files: Path) -> None:
    """E_J of one run and its parts, above their values at rest."""
    course = found.data.courses[0]
    unit = words.time(course.end)

    def above_rest(*names: str) -> Array:
        total: Array = np.sum([course[f"energy_{name}J"] for name in names], axis=0)
        return total - total[-1]

    parts = {
        "gravity and centrifugal": (above_rest("gravity_", "centrifugal_"), GREEN, "-", 1.2),
        "motion": (above_rest("linear_"), BLUE, "-", 1.2),
        "turning": (above_rest("angular_"), PURPLE, "--", 1.2),
        "sum, $E_J$": (above_rest(""), style.INK, "-", 2.0),
    }
    largest = max(float(np.abs(values).max()) for values, *_ in parts.values())
    size, name = next(
        ((s, n) for s, n in ((1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ")) if largest >= s),
        (1e-6, "µJ"),
    )
    with style.figure(9.6, 3.4) as fig:
        axes = fig.add_axes((0.065, 0.13, 0.92, 0.76))
        for label, (values, colour, dash, width) in parts.items():
            axes.plot(course.time / unit.size, values / size, dash, color=colour,
                      linewidth=width, label=label)  # fmt: skip
        least = "of rest" if course.ending == "settled" else "at its end"
        axes.set_title(f"Energy of run {course.run} above that {least} [{name}]")
        axes.set_xlabel(f"time from release [{unit.name}]")
        axes.set_xlim(0.0, course.end / unit.size)
        axes.legend(frameon=False, ncols=2)
        plain(axes)
        style.save(fig, *files)

"""The still picture of a viewer, for browsers without WebGL and for paper."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.footprint import plane_frame
from alight.core import frames
from alight.core.checks import Array
from alight.core.frames import latitude_longitude
from alight.shapes.mesh import Mesh
from alight.views import style
from alight.views.figures.solid import Camera, Light, Picture, View, Viewer
from alight.views.looks import COLOURS
from alight.views.playback import Playback

#: Size of the picture [inch], its background, and pixels along the body.
SIZE, NIGHT, PIXELS = (7.2, 4.5), "#0b0e14", 480
LIGHT = Light(sun=1.2, fill=0.10, sky=0.12)
#: Points and lines that are drawn at most: more cannot be told apart.
POINTS, PATHS = 1500, 60


def still_png(playback: Playback) -> str:
    """A PNG in base64: the body with all paths and rest sites, or what moves, half-way."""
    axes = _axes(playback)
    mesh, colours = _solids(playback, axes)
    if mesh is None:
        return ""
    camera = _camera(playback, axes)
    sky = np.ones(mesh.n_vertices)
    view = View(mesh, camera, pixels=PIXELS, oversampling=1, sky=sky)
    return _written(playback, view.picture(colours, LIGHT), axes)


def _axes(playback: Playback) -> Array:
    """(3, 3) rows: axes of the picture's world, up being its third."""
    return np.eye(3) if playback.up is None else np.asarray(plane_frame(playback.up)).T


def _camera(playback: Playback, axes: Array) -> Camera:
    """Over the footprint of a body, from a little aside; else from the side and above."""
    if playback.target is None:
        return Camera(np.radians(-60.0), np.radians(22.0))
    latitude, longitude = (float(a) for a in latitude_longitude(axes @ playback.focus[0]))
    return Camera(longitude + 0.5, float(np.clip(latitude, -0.7, 0.7)) + 0.15)


def _solids(playback: Playback, axes: Array) -> tuple[Mesh | None, Array]:
    """All that is solid as one mesh, and the colours of its vertices."""
    found: list[tuple[Array, Any, str, Any]] = []
    if playback.target is not None:
        found.append((playback.target.vertices, playback.target.faces, "terrain", None))
    else:
        found += [
            (p.vertices, p.faces, p.role, p.colour) for p in (playback.terrain, playback.rocks) if p
        ]
        found += _moving(playback)
    if not found:
        return None, np.zeros((0, 3))
    start = np.cumsum([0, *(len(v) for v, *_ in found[:-1])])
    faces = np.concatenate([np.asarray(f) + k for (_, f, *_), k in zip(found, start, strict=True)])
    colours = [np.tile(c or COLOURS[role], (len(v), 1)) for v, _, role, c in found]
    points = np.concatenate([v for v, *_ in found]) @ axes.T
    return Mesh(points, faces, check=False), np.concatenate(colours)


def _moving(playback: Playback) -> list[tuple[Array, Any, str, Any]]:
    """Parts of the first run, half-way in captures and drops and at the end of landings."""
    if not playback.tracks:
        return []
    track = playback.tracks[0]
    time = track.end if playback.kind == "landing" else 0.5 * track.end
    place, turn, surface = track.at(time)
    parts = playback.parts if track.parts is None else track.parts
    out: list[tuple[Array, Any, str, Any]] = [
        (frames.quat_rotate(q, part.vertices) + x, part.faces, part.role, part.colour)
        for part, x, q in zip(parts, place[0], turn[0], strict=True)
    ]
    if surface is not None and playback.surface is not None:
        out.append((surface[0], playback.surface.faces, "membrane", None))
    return out


def _written(playback: Playback, picture: Picture, axes: Array) -> str:
    with style.figure(*SIZE) as fig:
        fig.patch.set_facecolor(NIGHT)
        drawn = fig.add_axes((0.0, 0.0, 1.0, 1.0))
        drawn.set_axis_off()
        drawn.imshow(picture.rgba, extent=picture.extent, origin="lower")
        if playback.kind == "landing":
            _paths(drawn, playback, picture.camera, axes)
        left, right, bottom, top = picture.extent
        wide = max(right - left, (top - bottom) * SIZE[0] / SIZE[1])
        middle, half = 0.5 * (left + right), 0.56 * wide
        tall = half * SIZE[1] / SIZE[0]
        drawn.set_xlim(middle - half, middle + half)
        drawn.set_ylim(0.5 * (bottom + top) - tall, 0.5 * (bottom + top) + tall)
        file = io.BytesIO()
        fig.savefig(file, format="png", dpi=120, facecolor=NIGHT)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _paths(drawn: Axes, playback: Playback, camera: Viewer, axes: Array) -> None:
    """Paths and rest sites on the near side of the body."""

    def seen(points: Array) -> Array:
        local = points @ axes.T
        away = camera.project(local)
        hidden = (away[:, 2] < 0.0) & (np.full(len(points), playback.target is not None))
        return np.where(hidden[:, None], np.nan, away)

    for track in playback.tracks[:PATHS]:
        flat = seen(track.position[:: max(1, len(track.time) // 1500), 0])
        drawn.plot(flat[:, 0], flat[:, 1], color="#56b4e9", linewidth=0.8, alpha=0.8)
    ends = [track.position[-1, 0] for track in playback.tracks]
    if playback.sites is not None:
        ends = list(playback.sites.place[np.isfinite(playback.sites.place).all(axis=1)])
    if ends:
        flat = seen(np.array(ends[:POINTS]))
        drawn.plot(flat[:, 0], flat[:, 1], "o", ms=3.2, color="#f0e442", mec=NIGHT, mew=0.5)

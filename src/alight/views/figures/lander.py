"""One sheet about a lander: its picture, three plans with the contact points, and its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from scipy.spatial import cKDTree

from alight.shapes.mesh import Mesh
from alight.shapes.rays import first_hit
from alight.views import style
from alight.views.figures.facts import draw_facts, draw_notes
from alight.views.figures.solid import Camera, Light, View, sky_view
from alight.views.looks import CREASE, split

Array = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

#: Where the viewer of the large picture is.
CAMERA = Camera(np.radians(-65.0), np.radians(25.0))

#: The three plans: title, camera, names of the axes to the right and up.
PLANS = (
    ("From above", Camera(np.radians(-90.0), np.radians(90.0)), "x", "y"),
    ("From −y", Camera(np.radians(-90.0), 0.0), "x", "z"),
    ("From +x", Camera(0.0, 0.0), "y", "z"),
)

#: Pixels along the large picture and along the plans.
PIXELS, PLAN_PIXELS = 900, 360

#: Softer than a body's sunlight: no part of a lander is lost in the dark.
LIGHT = Light(sun=0.85, fill=0.22, sky=0.42)

#: Contact points, those on the far side, and the centre of mass.
POINT, HIDDEN, MASS = "#c1272d", "#d4696d", "#1f6fb2"

#: More points than this are drawn smaller.
CROWD = 100


@dataclass(frozen=True)
class Subject:
    """What is drawn: all lengths from the centre of mass, in body axes [m]."""

    title: str
    subtitle: str
    hull: Mesh
    points: Array
    """(n, 3) contact points."""
    radii: Array
    """(n,) their radii."""
    facts: Sequence[tuple[str, str]]
    """(name, value with unit) rows."""
    notes: Sequence[str] = ()
    sources: Sequence[str] = ()
    """Where the facts come from, a line each."""


def draw(subject: Subject, *files: Path) -> None:
    """Draw the sheet into each of ``files`` (.png, .svg or .pdf)."""
    with style.figure(14.0, 8.4) as fig:
        fig.text(0.03, 0.935, subject.title, fontsize=22, fontweight="bold")
        fig.text(0.03, 0.905, subject.subtitle, fontsize=9.5, color=style.GREY)
        _picture(fig.add_axes((0.02, 0.06, 0.40, 0.82)), subject)
        limit = 1.12 * _reach(subject)
        for k, (title, camera, right, up) in enumerate(PLANS):
            axes = fig.add_axes((0.475, 0.705 - 0.32 * k, 0.144, 0.24))
            _plan(axes, subject, camera, (title, right, up), limit)
        _facts(fig.add_axes((0.685, 0.06, 0.285, 0.89)), subject)
        fig.text(0.03, 0.022, _legend(subject), fontsize=7, color=style.GREY)
        style.save(fig, *files)


def _reach(subject: Subject) -> float:
    """Half the side of a square about the centre of mass that holds every plan [m]."""
    points = np.abs(subject.points) + subject.radii[:, None]
    return float(max(np.abs(subject.hull.vertices).max(), points.max()))


# -- the picture ------------------------------------------------------------------------------


def _picture(axes: Axes, subject: Subject) -> None:
    """The hull in the round, spikes to the points beyond it, and the points."""
    axes.set_axis_off()
    view = _view(subject.hull, CAMERA, PIXELS)
    picture = view.picture(light=LIGHT)
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", zorder=2, aspect="equal")
    _edges(axes, subject.hull, CAMERA, width=0.9)
    _spikes(axes, subject, CAMERA)
    _dots(axes, subject, CAMERA, size=26.0 if len(subject.points) <= CROWD else 9.0)
    _axes_mark(axes, picture.extent)
    flat = CAMERA.project(subject.points)[:, :2]
    left, right, bottom, top = picture.extent
    low = np.minimum(flat.min(axis=0), [left, bottom])
    high = np.maximum(flat.max(axis=0), [right, top])
    margin = 0.05 * float((high - low).max())
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)


def _view(hull: Mesh, camera: Camera, pixels: int) -> View:
    """A view that shows edges as edges and what is round as round."""
    mesh, vertex = split(hull.vertices, np.asarray(hull.faces, np.int64))
    return View(mesh, camera, pixels=pixels, sky=sky_view(hull)[vertex], lunar=0.0)


def _creases(hull: Mesh) -> Bool:
    """(E,) edges that bend by more than ``CREASE``."""
    one, other = (hull.face_normals[side] for side in hull.edge_faces.T)
    return np.asarray(np.einsum("ij,ij->i", one, other) < np.cos(CREASE))


def _edges(axes: Axes, hull: Mesh, camera: Camera, width: float) -> None:
    """The creases that the viewer sees."""
    creases = np.flatnonzero(_creases(hull))
    ends = hull.vertices[hull.edges[creases]]
    outward = hull.face_normals[hull.edge_faces[creases]].sum(axis=1)
    toward = hull.face_normals[hull.edge_faces[creases]] @ camera.axes[2]
    seen = (toward > 0.0).any(axis=1) & ~_hidden(hull, ends.mean(axis=1), outward, camera)
    flat = camera.project(ends[seen])[..., :2]
    lines = LineCollection(list(flat), colors=style.INK, linewidths=width, zorder=3, alpha=0.75)
    lines.set_capstyle("round")
    axes.add_collection(lines)


def _hidden(hull: Mesh, points: Array, outward: Array, camera: Camera) -> Bool:
    """Which points of the surface, or beyond it, the hull hides from the viewer."""
    toward = camera.axes[2]
    size = float(hull.extent.max())
    # A hair outside the surface, clear of the facets that the point lies on.
    start = points + 1e-6 * size * (outward + toward)
    return np.isfinite(first_hit(hull, start, np.tile(toward, (len(start), 1))))


def _spikes(axes: Axes, subject: Subject, camera: Camera) -> None:
    """Lines from the hull to the points that stand clear of it."""
    hull = subject.hull
    gap = np.linalg.norm(subject.points[:, None] - hull.vertices[None], axis=2)
    outside = ~hull.contains(subject.points * (1.0 - 1e-6)) & (gap.min(axis=1) > 1e-9)
    for k in np.flatnonzero(outside):
        root = hull.vertices[np.argmin(gap[k])]
        ends = camera.project(np.stack([root, subject.points[k]]))[:, :2]
        nearer = camera.project(subject.points[k])[2] > 0.0
        axes.plot(*ends.T, color=style.INK, linewidth=2.0, zorder=4 if nearer else 1)


def _dots(axes: Axes, subject: Subject, camera: Camera, size: float) -> None:
    """Contact points: filled where they are seen, hollow behind; spheres as their middles."""
    flat = camera.project(subject.points)
    nearest = cKDTree(subject.hull.vertices).query(subject.points)[1]
    outward = subject.hull.vertex_normals[nearest]
    hidden = _hidden(subject.hull, subject.points, outward, camera)
    balls = subject.radii > 0.0
    for behind in (True, False):
        here = (hidden == behind) & ~balls
        if behind and len(subject.points) > CROWD:
            continue  # too many to be told from those in front
        axes.scatter(
            flat[here, 0],
            flat[here, 1],
            s=0.55 * size if behind else size,
            facecolor="none" if behind else POINT,
            edgecolor=HIDDEN if behind else "white",
            linewidth=0.9 if behind else 0.7,
            zorder=5 if behind else 6,
        )
    for place, radius in zip(flat[balls], subject.radii[balls], strict=True):
        turn = np.linspace(0.0, 2.0 * np.pi, 181)
        x, y = place[0] + radius * np.cos(turn), place[1] + radius * np.sin(turn)
        axes.plot(x, y, color=POINT, linewidth=1.4, zorder=6)
        axes.scatter(
            place[0], place[1], s=size, color=POINT, edgecolor="white", linewidth=0.7, zorder=6
        )


def _axes_mark(axes: Axes, extent: tuple[float, float, float, float]) -> None:
    """The directions of the body axes, at the lower left."""
    left, right, bottom, top = extent
    length = 0.09 * max(right - left, top - bottom)
    origin = np.array([left + 0.2 * length, bottom - 0.3 * length])
    for name, axis in zip("xyz", np.eye(3), strict=True):
        along = length * CAMERA.project(axis)[:2]
        tip, beyond = origin + along, origin + 1.28 * along
        axes.annotate(
            "",
            (float(tip[0]), float(tip[1])),
            (float(origin[0]), float(origin[1])),
            arrowprops={"arrowstyle": "-|>", "color": style.GREY, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )
        x, y = float(beyond[0]), float(beyond[1])
        axes.text(x, y, name, ha="center", va="center", color=style.GREY, fontsize=8.5)


# -- the plans --------------------------------------------------------------------------------


def _plan(
    axes: Axes, subject: Subject, camera: Camera, names: tuple[str, str, str], limit: float
) -> None:
    """The hull seen along one axis, in centimetres from the centre of mass."""
    title, right, up = names
    axes.set_aspect("equal")
    axes.set_title(title, fontsize=9)
    picture = _view(subject.hull, camera, PLAN_PIXELS).picture(light=LIGHT)
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", zorder=2, alpha=0.55)
    _edges(axes, subject.hull, camera, width=0.6)
    _spikes(axes, subject, camera)
    _dots(axes, subject, camera, size=13.0 if len(subject.points) <= CROWD else 5.0)
    axes.plot(0.0, 0.0, "+", color=MASS, markersize=9, markeredgewidth=1.6, zorder=7)
    axes.set_xlim(-limit, limit)
    axes.set_ylim(-limit, limit)
    ticks = _ticks(limit)
    axes.set_xticks(ticks, [f"{100.0 * t:g}" for t in ticks])
    axes.set_yticks(ticks, [f"{100.0 * t:g}" for t in ticks])
    axes.set_xlabel(f"{right} [cm]", labelpad=1)
    axes.set_ylabel(f"{up} [cm]", labelpad=1)
    axes.grid(color=style.LINE, linewidth=0.4, zorder=0)


def _ticks(limit: float) -> Array:
    """Three to five round places on either side of zero [m]."""
    power = 10.0 ** np.floor(np.log10(limit))
    step = next(m * power for m in (0.2, 0.5, 1.0, 2.0, 5.0) if limit < 3.0 * m * power)
    count = int(limit / step)
    return step * np.arange(-count, count + 1)


# -- the words --------------------------------------------------------------------------------


def _facts(axes: Axes, subject: Subject) -> None:
    """Facts, notes, and where the facts come from."""
    small: Any = {"wrap": 66, "line": 0.0215, "gap": 0.010, "fontsize": 7.5, "color": style.GREY}
    y = draw_facts(axes, subject.facts, 0.044) - 0.01
    y = draw_notes(axes, y, subject.notes, **small)
    if subject.sources:
        y -= 0.012
        axes.text(0.0, y, "Sources", va="top", fontsize=7.5, fontweight="bold")
        draw_notes(axes, y - 0.0275, subject.sources, **small)


def _legend(subject: Subject) -> str:
    if (subject.radii > 0.0).any():
        told = "Red: the ball that touches, and its middle"
    elif len(subject.points) > CROWD:
        told = "Red: contact points on the near side"
    else:
        told = "Red: contact points, hollow where the hull hides them"
    return f"{told}. Blue cross: centre of mass."

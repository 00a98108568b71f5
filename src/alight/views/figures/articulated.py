"""Pictures of landers with joints: hull, legs and pads, in single poses and on a sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from alight.analysis.columns import Array
from alight.analysis.footprint import plane_frame
from alight.analysis.terrain import Terrain
from alight.views import style, words
from alight.views.figures.body.sheet import draw_scale_bar
from alight.views.figures.facts import draw_facts, draw_notes
from alight.views.figures.lander import CAMERA, MASS, PLANS, POINT
from alight.views.figures.relief import grid_mesh
from alight.views.figures.solid import Camera, View

#: A viewer of landers on their ground: from the side, well above it; and pixels of the ground.
OBLIQUE, PIXELS = Camera(np.radians(-70.0), np.radians(28.0)), 420

#: Where light comes from, in the axes of the viewer.
_LIGHT = np.array([-0.4, 0.7, 0.6]) / np.linalg.norm([-0.4, 0.7, 0.6])


@dataclass(frozen=True, eq=False)
class Pose:
    """A lander as it stands, target axes [m]."""

    hull: Array
    """(n, 3) corners of the first body; none where they are not known."""
    bars: Sequence[Array]
    """(2, 3) each: legs and other bodies, from joint to pad or centre of mass."""
    pads: Array
    """(p, 3) middles of pads."""
    radii: Array
    """(p,) of pads [m]."""
    center: Array
    """(3,) origin of the first body."""

    @property
    def points(self) -> Array:
        """All of them."""
        return np.concatenate([self.hull, *self.bars, self.pads, self.center[None]])

    def within(self, terrain: Terrain) -> Pose:
        """The same in the axes of a piece of ground."""
        local = terrain.local
        bars = [local(bar) for bar in self.bars]
        return Pose(local(self.hull), bars, local(self.pads), self.radii, local(self.center))


@dataclass(frozen=True, eq=False)
class Stand:
    """A lander at one moment of a run."""

    title: str
    pose: Pose
    ground: Terrain | None = None
    """The ground about it, where it is known and near."""


def draw_pose(axes: Axes, pose: Pose, camera: Camera, mark: bool = True) -> None:
    """The lander seen by a camera, its coordinates to the right and up [m]."""
    for bar in pose.bars:
        ends = camera.project(bar)[:, :2]
        axes.plot(*ends.T, color=style.INK, linewidth=2.6, solid_capstyle="round", zorder=3)
    if len(pose.hull):
        _hull(axes, pose.hull, camera)
    flat = camera.project(pose.pads) if len(pose.pads) else np.empty((0, 3))
    for place, radius in zip(flat, pose.radii, strict=True):
        turn = np.linspace(0.0, 2.0 * np.pi, 61)
        if radius > 0.0:
            x, y = place[0] + radius * np.cos(turn), place[1] + radius * np.sin(turn)
            axes.fill(x, y, color=POINT, alpha=0.8, zorder=5)
        axes.plot(place[0], place[1], "o", color=POINT, mec="white", ms=6, zorder=6)
    if mark:
        x, y = camera.project(pose.center)[:2]
        axes.plot(x, y, "+", color=MASS, ms=9, mew=1.6, zorder=7)


def _hull(axes: Axes, corners: Array, camera: Camera) -> None:
    """The convex hull of what is known of the first body, facets in order of depth."""
    try:
        found = scipy.spatial.ConvexHull(corners)
    except scipy.spatial.QhullError:  # all in one plane: an outline
        flat = camera.project(corners)[:, :2]
        axes.plot(*flat.T, color=style.INK, zorder=4)
        return
    normals = found.equations[:, :3] @ camera.axes.T
    seen = normals[:, 2] > 0.0
    shape = camera.project(corners[found.simplices[seen]])
    order = np.argsort(shape[:, :, 2].mean(axis=1))
    light = 0.45 + 0.5 * np.clip(normals[seen] @ _LIGHT, 0.0, 1.0)
    colours = [(0.93 * c, 0.89 * c, 0.78 * c) for c in light[order]]
    facets = list(shape[order][:, :, :2])
    edge: Any = {"edgecolors": style.GREY, "linewidths": 0.5, "zorder": 4}
    axes.add_collection(PolyCollection(facets, facecolors=colours, **edge))


def _fit(axes: Axes, pose: Pose, camera: Camera, pad: float = 0.12) -> None:
    flat = camera.project(pose.points)[:, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    middle, half = 0.5 * (low + high), (0.5 + pad) * float((high - low).max())
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal")


# -- the sheet --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """What the sheet of an articulated lander says."""

    title: str
    subtitle: str
    pose: Pose
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()
    up: Sequence[float] = (0.0, 0.0, 1.0)
    """Which way is up when it stands, in body axes."""


def draw(sheet: Sheet, *files: Path) -> None:
    """Draw the sheet into each of ``files`` (.png, .svg or .pdf)."""
    with style.figure(14.0, 8.4) as fig:
        fig.text(0.03, 0.935, sheet.title, fontsize=22, fontweight="bold")
        fig.text(0.03, 0.905, sheet.subtitle, fontsize=9.5, color=style.GREY)
        axes = fig.add_axes((0.02, 0.06, 0.40, 0.82))
        axes.set_axis_off()
        standing = plane_frame(np.asarray(sheet.up, dtype=np.float64)).T
        viewer: Any = _Viewer(CAMERA.axes @ standing)
        draw_pose(axes, sheet.pose, viewer)
        _fit(axes, sheet.pose, viewer, 0.05)
        for k, (title, camera, right, up) in enumerate(PLANS):
            plan = fig.add_axes((0.475, 0.705 - 0.32 * k, 0.144, 0.24))
            draw_pose(plan, sheet.pose, camera)
            _fit(plan, sheet.pose, camera)
            plan.set_title("From +z" if k == 0 else title, fontsize=9)
            plan.set(xlabel=f"{right} [m]", ylabel=f"{up} [m]")
            plan.grid(color=style.LINE, linewidth=0.4, zorder=0)
        words_at = fig.add_axes((0.685, 0.06, 0.285, 0.89))
        small: Any = {"wrap": 66, "line": 0.0215, "gap": 0.01, "fontsize": 7.5}
        y = draw_facts(words_at, sheet.facts, 0.04) - 0.01
        draw_notes(words_at, y, sheet.notes, color=style.GREY, **small)
        fig.text(
            0.03, 0.022,
            "Red: pads. Blue cross: origin of the first body. The body is the hull of the points "
            "that are known of it: joints, devices and what touches.",
            fontsize=7, color=style.GREY,
        )  # fmt: skip
        style.save(fig, *files)


# -- poses of a run ---------------------------------------------------------------------------


def moments(course: Any) -> dict[str, int]:
    """Rows of a trajectory at the release, the first contact and the end."""
    touched = np.flatnonzero(course["in_contact"] > 0.0)
    found = {"release": 0}
    if len(touched):
        found["first contact"] = int(touched[0])
    return {**found, "end": len(course.time) - 1}


def poses(course: Any, look: Callable[[Mapping[str, float]], Pose]) -> list[Stand]:
    """The lander of a trajectory at its release, first contact and end."""
    found = []
    for name, at in moments(course).items():
        ending = f", {course.ending}" if name == "end" else ""
        title = f"{name.capitalize()}{ending}: {words.number(float(course.time[at]))} s"
        found.append(Stand(title, look(_row(course, at))))
    return found


def _row(course: Any, at: int) -> Mapping[str, float]:
    return {name: float(course[name][at]) for name in course.names}


def draw_poses(stands: Sequence[Stand], normal: Array | None, *files: Path) -> None:
    """A lander at moments of a run: from the side over flat ground of this normal, or from above
    over the piece of ground that it stands on."""
    with style.figure(9.6, 3.6) as fig:
        bottom = 0.03 if normal is None else 0.13
        grid = fig.add_gridspec(1, len(stands), left=0.05, right=0.99, top=0.9, bottom=bottom)
        for k, stand in enumerate(stands):
            axes = fig.add_subplot(grid[k])
            if normal is None:
                _on_ground(axes, stand)
            else:
                _side_view(axes, stand.pose, plane_frame(normal))
            axes.set_title(stand.title, size=9.5)
        style.save(fig, *files)


def _on_ground(axes: Axes, stand: Stand) -> None:
    """The lander and the ground about it, or the lander alone."""
    axes.set_axis_off()
    ground = stand.ground
    pose = stand.pose if ground is None else stand.pose.within(ground)
    draw_pose(axes, pose, OBLIQUE, mark=False)
    _fit(axes, pose, OBLIQUE, 0.25)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    if ground is not None:
        window = (left, right, bottom, top)
        view = View(grid_mesh(ground.line, ground.height), OBLIQUE, pixels=PIXELS, window=window)
        picture = view.picture()
        axes.imshow(picture.rgba, extent=picture.extent, origin="lower", aspect="auto", zorder=1)
    wide = 0.1 * (right - left)
    draw_scale_bar(axes, left + 0.4 * wide, bottom + 0.4 * wide, 4.0 * wide)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_aspect("equal")


class _Viewer:
    """A viewer given by axes: right, up, and towards the eye."""

    def __init__(self, axes: Array) -> None:
        self.axes = axes

    def project(self, points: Array) -> Array:
        return np.asarray(points @ self.axes.T)


def _side_view(axes: Axes, pose: Pose, frame: Array) -> None:
    """The lander over its ground, which is level here."""
    camera: Any = _Viewer(np.stack([frame[:, 0], frame[:, 2], frame[:, 1] * -1.0]))
    draw_pose(axes, pose, camera, mark=False)
    _fit(axes, pose, camera, 0.2)
    low = min(0.0, axes.get_ylim()[0])
    left, right = axes.get_xlim()
    axes.axhspan(low, 0.0, color="#b9a88c", alpha=0.55, zorder=0)
    axes.axhline(0.0, color=style.INK, linewidth=0.9, zorder=1)
    axes.set_xlim(left, right)
    axes.set_xlabel("along the ground [m]")
    axes.grid(color=style.LINE, linewidth=0.4, zorder=0)

"""Pictures of landers with joints: hull, legs and pads, in single poses and on a sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.analysis.footprint import plane_frame
from alight.analysis.terrain import Terrain
from alight.views import style, words
from alight.views.figures.body.sheet import draw_scale_bar
from alight.views.figures.facts import draw_facts, draw_notes
from alight.views.figures.lander import CAMERA, MASS, PLANS
from alight.views.figures.pieces import Piece, Window, picture
from alight.views.figures.relief import grid_mesh
from alight.views.figures.solid import Camera, Viewer
from alight.views.playback import Part

#: A viewer of landers on their ground: from the side, well above it.
OBLIQUE = Camera(np.radians(-70.0), np.radians(28.0))

#: Pixels of the large picture of a sheet, of its plans, and of single poses.
LARGE, SMALL, ALONE = 900, 360, 460

#: A Sun on the viewer's side.
SUN = np.array([-0.45, 0.62, 0.65])


@dataclass(frozen=True, eq=False)
class Pose:
    """A lander as it stands, target axes [m]."""

    parts: Sequence[Part]
    """Its parts, their vertices where they are."""
    pads: Array
    """(p, 3) middles of pads."""
    center: Array
    """(3,) origin of the first body."""

    @property
    def points(self) -> Array:
        """All vertices."""
        return np.concatenate([*(part.vertices for part in self.parts), self.center[None]])

    def within(self, terrain: Terrain) -> Pose:
        """The same in the axes of a piece of ground."""
        local = terrain.local
        parts = [replace(part, vertices=local(part.vertices)) for part in self.parts]
        return Pose(parts, local(self.pads), local(self.center))


@dataclass(frozen=True, eq=False)
class Stand:
    """A lander at one moment of a run."""

    title: str
    pose: Pose
    ground: Terrain | None = None
    """The ground about it, where it is known and near."""


def draw_pose(
    axes: Axes,
    pose: Pose,
    viewer: Viewer,
    *,
    pixels: int = ALONE,
    mark: bool = True,
    ground: Part | None = None,
    pad: float = 0.12,
) -> None:
    """The lander as a viewer sees it, coordinates to the right and up [m], on its ground."""
    window = _fit(axes, pose, viewer, pad)
    pieces = [Piece(part) for part in (*pose.parts, *([ground] if ground else []))]
    seen = picture(pieces, viewer, pixels=pixels, window=window, sun=SUN)
    axes.imshow(seen.rgba, extent=seen.extent, origin="lower", aspect="equal", zorder=2)
    left, right, bottom, top = window
    axes.set(xlim=(left, right), ylim=(bottom, top))
    if mark:
        x, y = viewer.project(pose.center)[:2]
        axes.plot(x, y, "+", color=MASS, ms=9, mew=1.6, zorder=7)


def _fit(axes: Axes, pose: Pose, viewer: Viewer, pad: float) -> Window:
    """A square about the lander, left, right, bottom and top [m]."""
    flat = viewer.project(pose.points)[:, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    middle, half = 0.5 * (low + high), (0.5 + pad) * float((high - low).max())
    (x, y), reach = middle.tolist(), float(half)
    axes.set_aspect("equal")
    return x - reach, x + reach, y - reach, y + reach


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
        viewer = Viewer(CAMERA.axes @ standing)
        draw_pose(axes, sheet.pose, viewer, pixels=LARGE, mark=False, pad=0.05)
        for k, (title, camera, right, up) in enumerate(PLANS):
            plan = fig.add_axes((0.475, 0.705 - 0.32 * k, 0.144, 0.24))
            draw_pose(plan, sheet.pose, camera, pixels=SMALL)
            plan.set_title("From +z" if k == 0 else title, fontsize=9)
            plan.set(xlabel=f"{right} [m]", ylabel=f"{up} [m]")
            plan.grid(color=style.LINE, linewidth=0.4, zorder=0)
        words_at = fig.add_axes((0.685, 0.06, 0.285, 0.89))
        small: Any = {"wrap": 66, "line": 0.0215, "gap": 0.01, "fontsize": 7.5}
        y = draw_facts(words_at, sheet.facts, 0.04) - 0.01
        draw_notes(words_at, y, sheet.notes, color=style.GREY, **small)
        fig.text(
            0.03, 0.022,
            "Red: pads. Blue cross: origin of the first body. Shapes stand for known masses, "
            "inertias and places.",
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
    pose, floor = stand.pose, None
    if ground is not None:
        pose = pose.within(ground)
        relief = grid_mesh(ground.line, ground.height)
        floor = Part.of_mesh("ground", "terrain", relief)
    draw_pose(axes, pose, OBLIQUE, mark=False, ground=floor, pad=0.25)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    wide = 0.1 * (right - left)
    draw_scale_bar(axes, left + 0.4 * wide, bottom + 0.4 * wide, 4.0 * wide)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_aspect("equal")


def _side_view(axes: Axes, pose: Pose, frame: Array) -> None:
    """The lander over its ground, which is level here."""
    viewer = Viewer(np.stack([frame[:, 0], frame[:, 2], frame[:, 1] * -1.0]))
    draw_pose(axes, pose, viewer, mark=False, pad=0.2)
    low = min(0.0, axes.get_ylim()[0])
    left, right = axes.get_xlim()
    axes.axhspan(low, 0.0, color="#b9a88c", alpha=0.55, zorder=0)
    axes.axhline(0.0, color=style.INK, linewidth=0.9, zorder=1)
    axes.set_xlim(left, right)
    axes.set_xlabel("along the ground [m]")
    axes.grid(color=style.LINE, linewidth=0.4, zorder=0)

"""Figures of single captures: the film strip with its loads (figure 7 of paper 003), trajectories.

Panels take axes and a trajectory; figures what was found.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.views import style
from alight.views.estimates import percent
from alight.views.figures.capture.scene import Poses, draw_strip, strip_shape
from alight.views.figures.panels import BLUE, curves, panels, plain

if TYPE_CHECKING:
    from alight.views.report.capture.findings import CaptureFindings
    from alight.views.report.data import Trajectory

#: Pictures of a film strip, at most, and how many stand abreast, as in figure 7 of paper 003.
PICTURES, ABREAST = 18, 6

#: Times between pictures that are easy to read [s], and ten or a hundred times as much.
_ROUND = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)


# -- one capture ------------------------------------------------------------------------------


def picture_times(end: float, most: int = PICTURES) -> Array:
    """Times of the pictures [s], a round time apart, from the start to nearly the end."""
    least = end / (most + 0.5)
    decade = 10.0 ** np.floor(np.log10(least))
    apart = next(r * decade for r in (*_ROUND, 10.0) if r * decade >= least * (1.0 - 1e-9))
    return apart * np.arange(min(most, int(end / apart * (1.0 + 1e-9)) + 1))


def draw_film(found: CaptureFindings, *files: Path) -> None:
    """Pictures of the first trajectory, and its loads."""
    course, look = found.data.courses[0], found.data.looks[0]
    poses = poses_of(course).at(picture_times(course.end))
    rows = -(-len(poses.time) // ABREAST)
    tall = rows * 9.4 / ABREAST * strip_shape(look, poses)
    height = tall + 3.0
    with style.figure(9.6, height) as fig:
        grid = fig.add_gridspec(
            rows, ABREAST, left=0.01, right=0.99, top=1.0 - 0.05 / height, bottom=2.95 / height,
            wspace=0.0, hspace=0.0,
        )  # fmt: skip
        draw_strip(fig, grid, look, poses, ABREAST)
        draw_histories(fig, course, (0.5 / height, 2.45 / height), found.limit, found.data.thrust)
        style.save(fig, *files)


def poses_of(course: Trajectory) -> Poses:
    """Where asteroid and craft are."""
    return Poses(
        time=course.time,
        asteroid=course.rows("asteroid_", "_m"),
        asteroid_attitude=course.rows("asteroid_q", axes="xyzw"),
        craft=course.rows("craft_", "_m"),
        craft_attitude=course.rows("craft_q", axes="xyzw"),
        arrays=np.stack([course.rows(f"array_{k}_q", axes="xyzw") for k in (1, 2)], axis=1),
    )


def _bending(course: Trajectory) -> Array:
    """(k, 2) at the drive assemblies [N m]."""
    return course.rows("bending_", "_N_m", "12")


def draw_loads(found: CaptureFindings, *files: Path) -> None:
    """Loads of the first trajectory alone, where nothing is known of its looks."""
    course, ends = found.data.courses[0], (0.5 / 2.9, 1.0 - 0.3 / 2.9)
    with style.figure(9.6, 2.9) as fig:
        draw_histories(fig, course, ends, found.limit, found.data.thrust)
        style.save(fig, *files)


def draw_histories(
    fig: Any, course: Trajectory, ends: tuple[float, float], limit: float, thrust: float | None
) -> None:
    """Bending moments, force and depth, relative rate and angle between two ``ends`` of a page."""
    bottom, top = ends
    grid = fig.add_gridspec(1, 3, left=0.055, right=0.945, bottom=bottom, top=top, wspace=0.36)
    left, middle, right = (fig.add_subplot(grid[0, k]) for k in range(3))
    bending(left, course, limit)
    force_and_depth(middle, course, thrust)
    rate_and_angle(right, course)


def _framed(axes: Axes, course: Trajectory, title: str) -> None:
    axes.set_title(title, size=9.5)
    axes.set(xlim=(0.0, course.end), xlabel="time [s]")
    plain(axes, "none")
    contact = course.row["contact_s"]
    if np.isfinite(contact):
        axes.axvline(contact, color=style.LINE, linewidth=0.9, zorder=0)


def _other(axes: Axes, colour: str) -> Axes:
    """A second scale at the right."""
    other: Axes = axes.twinx()
    other.spines[["top", "left"]].set_visible(False)
    other.tick_params(colors=colour)
    return other


def bending(axes: Axes, course: Trajectory, limit: float) -> None:
    """Bending moments of both arrays."""
    found = _bending(course)
    for k, colour in enumerate((style.INK, BLUE)):
        axes.plot(course.time, found[:, k], color=colour, linewidth=1.0, label=f"array {k + 1}")
    most = found.max(axis=1)
    at = int(most.argmax())
    axes.plot(course.time[at], most[at], "o", color=style.ALARM, ms=4)
    late = course.time[at] > 0.55 * course.end
    axes.annotate(
        f"{most[at]:.0f} N m: {percent(most[at] / limit)} of the limit",
        (course.time[at], most[at]), (-8 if late else 8, -1), textcoords="offset points",
        color=style.ALARM, size=8, ha="right" if late else "left",
    )  # fmt: skip
    axes.set_ylim(0.0, 1.06 * float(most[at]) if most[at] > 0.0 else 1.0)
    axes.legend(
        frameon=False, fontsize=8, loc="upper left" if late else "upper right",
        bbox_to_anchor=(0.0 if late else 1.0, 0.92),
    )  # fmt: skip
    _framed(axes, course, "Bending at the drive assemblies [N m]")


def force_and_depth(axes: Axes, course: Trajectory, thrust: float | None) -> None:
    """How hard, and how deep."""
    force, depth = course["force_N"], course["depth_m"]
    axes.plot(course.time, force, color=style.INK, linewidth=1.1)
    most, deep = max(float(force.max()), 1e-9), max(float(depth.max()), 1e-9)
    axes.set_ylim(0.0, 1.06 * most)
    if thrust is not None and thrust < most:
        axes.axhline(thrust, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.text(
            0.5 * course.end, thrust, f"thrust {thrust:.0f} N", va="bottom",
            ha="center", size=8, color=style.GREY,
        )  # fmt: skip
    _framed(axes, course, "Force [N] and depth [m] in the fabric")
    other = _other(axes, BLUE)
    other.plot(course.time, depth, color=BLUE, linewidth=1.1)
    other.set_ylim(0.0, 1.6 * deep)
    at = min(int(depth.argmax()) + len(depth) // 6, len(depth) - 1)
    other.annotate(
        "depth", (course.time[at], depth[at]), (0, 4), textcoords="offset points", color=BLUE,
        size=8.5, ha="center",
    )  # fmt: skip
    at = int(force.argmax())
    axes.annotate(
        "force", (course.time[at], most), (7, -2), textcoords="offset points", va="top", size=8.5
    )


def rate_and_angle(axes: Axes, course: Trajectory) -> None:
    """Catching up, and the drift to a flat spin."""
    relative, angle = course["relative_rate_rpm"], course["axis_angle_deg"]
    spin = course.row["spin_rpm"]
    part = 100.0 * relative / spin if spin > 0.0 else relative
    axes.plot(course.time, part, color=style.INK, linewidth=1.1)
    axes.set_ylim(0.0, max(100.0, 1.05 * float(part.max())))
    _framed(axes, course, "Relative rate [% of spin], axis [°]")
    other = _other(axes, style.ALARM)
    other.plot(course.time, angle, color=style.ALARM, linewidth=1.1)
    other.set(ylim=(0.0, 90.0), yticks=(0, 30, 60, 90))
    other.yaxis.set_major_formatter("{x:.0f}°")
    late = bool((angle[: len(angle) // 2] > 75.0).any())  # where it is not on the curve
    other.text(
        (0.97 if late else 0.03) * course.end, 85.0, "90°: flat spin", color=style.ALARM, size=8.5,
        va="center", ha="right" if late else "left",
    )  # fmt: skip
    # Each word where the two curves are farthest apart, on its own side of them.
    gap = angle / 90.0 - part / axes.get_ylim()[1]
    edge = len(gap) // 5
    at = int(np.abs(gap[edge : len(gap) - edge]).argmax()) + edge
    for which, values, text, colour in (
        (other, angle, "axis", style.ALARM),
        (axes, part, "relative rate", style.INK),
    ):
        above = (gap[at] > 0.0) == (which is other)
        near = values[max(0, at - edge // 2) : at + edge // 2 + 1]
        edges, high = (float(near.min()), float(near.max())), which.get_ylim()[1]
        above = edges[1] < 0.9 * high if above else edges[0] < 0.1 * high  # but inside the panel
        which.annotate(
            text, (course.time[at], edges[int(above)]), (0, 5 if above else -5), color=colour,
            size=8.5, textcoords="offset points", ha="center", va="bottom" if above else "top",
        )  # fmt: skip


# -- several captures -------------------------------------------------------------------------


def draw_courses(found: CaptureFindings, *files: Path) -> None:
    """The trajectories that were kept, one line each."""
    courses, height = found.data.courses, 5.3
    shown = {
        "Bending, the greater of both [N m]": [_bending(c).max(axis=1) for c in courses],
        "Force on the asteroid [N]": [c["force_N"] for c in courses],
        "Path of slip [m]": [c["slip_m"] for c in courses],
        "Craft's axis from the pair's spin [°]": [c["axis_angle_deg"] for c in courses],
    }
    with style.figure(9.6, height) as fig:
        room = {"top": 0.3, "bottom": 0.48, "left": 0.065, "wspace": 0.17, "hspace": 0.4}
        cells = panels(fig, 2, 2, height, **room)
        curves(cells, courses, shown, [f"run {c.run}: {c.ending}" for c in courses], 2)
        for axes in cells:
            axes.set_ylim(0.0, None)
        cells[2].set_ylim(0.0, 1.3 * cells[2].get_ylim()[1])  # room for the legend
        cells[3].set(ylim=(0.0, 90.0), yticks=(0, 30, 60, 90))
        cells[2].legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
        style.save(fig, *files)

"""Loads of articulated landers: how they are spread, and one touchdown against time."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.analysis.loads import (
    ACCELERATION,
    BELLY,
    JOINT,
    PAD,
    SLOSH,
    STROKE,
    TILT,
    LoadKind,
    greatest,
)
from alight.views import style, words
from alight.views.figures.panels import LINES, HistogramPanel, draw_histograms, panels, plain

if TYPE_CHECKING:
    from alight.views.report.data import Trajectory
    from alight.views.report.landing.findings import LandingFindings

#: Units that are chosen by size; others are shown as they are.
_CHOSEN = {"m": words.length, "m_per_s": words.speed}
_NAMES = {"m_per_s2": "m/s²", "deg": "°", "rad_per_s": "rad/s", "N_m": "N m"}


def unit_of(kind: LoadKind, size: float) -> words.Unit:
    """The unit that values of about ``size`` are shown in."""
    if kind.unit in _CHOSEN:
        return _CHOSEN[kind.unit](size)
    return words.Unit(_NAMES.get(kind.unit, kind.unit), 1.0)


_PANELS = (
    (STROKE, "Largest stroke", "crushed for good, of the leg with the largest stroke"),
    (PAD, "Largest force on a pad", "normal force"),
    (BELLY, "Largest force on a belly", "normal forces on all its points"),
    (ACCELERATION, "Largest acceleration", "of the first body"),
    (TILT, "Largest tilt", "from the local vertical"),
    (SLOSH, "Largest swing of liquid", "from its place at rest"),
    (JOINT, "Largest force through a joint", "of the most loaded joint"),
)


def draw_loads(found: LandingFindings, *files: Path) -> None:
    """How the largest strokes, forces, accelerations and tilts are spread."""
    table, touched = found.data.loads, found.data.table["first_contact_time_s"]
    known = {kind.start: greatest(table, kind, touched) for kind, _, _ in _PANELS}
    shown = [
        HistogramPanel(kind.start, title, label, partial(unit_of, kind))
        for kind, title, label in _PANELS
        if np.isfinite(known[kind.start]).any()
    ]
    draw_histograms(known, shown, *files)


# -- one touchdown ----------------------------------------------------------------------------


def draw_touchdown(found: LandingFindings, *files: Path) -> None:
    """Speed, acceleration, crushables, pads and liquid of one run (figures 9 to 12 of 002)."""
    course = found.data.courses[0]
    until = _until(course)
    speed = np.linalg.norm(course.rows("v", "_m_per_s"), axis=1)
    shown: list[tuple[str, str, dict[str, Array]]] = [
        ("Speed of the centre of mass", "m/s", {"": speed}),
        ("Force of the crushables", "N", _lines(course, "crush_force_", "_N")),
        ("Acceleration of the first body", "m/s²", {"": course["acceleration_m_per_s2"]}),
        ("Stroke crushed", "cm", _lines(course, "stroke_", "_m", 100.0)),
        ("Normal force on the pads", "N", _lines(course, "pad_force_", "_N")),
        ("Normal force on the belly", "N", _lines(course, "belly_force_", "_N")),
        ("Swing of the liquid", "°", _lines(course, "slosh_", "_deg")),
    ]
    shown = [panel for panel in shown if panel[2]]
    count = -(-len(shown) // 2)
    height = 1.75 * count + 0.6
    with style.figure(9.6, height) as fig:
        cells = panels(
            fig, count, 2, height, top=0.33, bottom=0.5, left=0.065, wspace=0.17, hspace=0.42
        )
        for axes in cells[len(shown) :]:
            axes.set_axis_off()
        for k, (axes, (title, unit, lines)) in enumerate(zip(cells, shown, strict=False)):
            axes.set_title(f"{title} [{unit}]")
            _curves(axes, course.time, lines, until)
            if k >= len(shown) - 2:
                axes.set_xlabel("time from release [s]")
        style.save(fig, *files)


def _lines(course: Trajectory, start: str, end: str, scale: float = 1.0) -> dict[str, Array]:
    """Columns of a trajectory by the part that they are of."""
    return {
        name[len(start) : len(name) - len(end)].replace("_", " "): scale * course[name]
        for name in course.names
        if name.startswith(start) and name.endswith(end)
    }


def _curves(axes: Axes, time: Array, lines: dict[str, Array], until: float) -> None:
    shown = time <= until
    for k, (name, values) in enumerate(lines.items()):
        colour, dash = LINES[k % len(LINES)]
        axes.plot(time[shown], values[shown], dash, color=colour, linewidth=1.1, label=name)
    if any(lines):
        axes.legend(frameon=False, fontsize=7.5, ncols=min(3, len(lines)), loc="upper right")
    axes.set_xlim(0.0, until)
    low, high = axes.get_ylim()
    room = 0.1 + 0.17 * math.ceil(len(lines) / 3)  # for the legend above the lines
    axes.set_ylim(min(low, 0.0) if low > -1e-9 * high else low, high + room * (high - low))
    plain(axes)


def _until(course: Trajectory) -> float:
    """When the touchdown is over, and half as long again [s]: nothing gives any more."""
    strokes = [course[name] for name in course.names if name.startswith("stroke_")]
    total = np.sum(strokes, axis=0) if strokes else np.zeros(len(course.time))
    if total[-1] > 0.0:
        done = course.time[int(np.argmax(total >= 0.99 * total[-1]))]
    else:
        done = course.time[int(np.argmax(course["acceleration_m_per_s2"]))]
    return float(min(course.time[-1], 1.5 * done + 1.0))

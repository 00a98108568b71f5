"""What a report says about the loads of articulated landers: an answer, a table, two figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.analysis.intervals import Spread
from alight.analysis.loads import (
    ACCELERATION,
    BELLY,
    JOINT,
    PAD,
    SLOSH,
    STROKE,
    TILT,
    LoadKind,
    LoadSpread,
    greatest,
)
from alight.views import style, words
from alight.views.campaign_figures import BLUE, GREEN, ORANGE, PURPLE, SKY, YELLOW, histogram, plain
from alight.views.estimate_words import SPREAD_HEAD, spread_cells
from alight.views.report_data import Course
from alight.views.report_numbers import Findings

QUESTION = "What must it bear?"
HEAD = ["load", *SPREAD_HEAD]

#: Lines of legs, pads and the like, in their order.
LINES = ((BLUE, "-"), (ORANGE, "-"), (GREEN, "-"), (PURPLE, "--"), (SKY, "--"), (YELLOW, "--"))

#: How the unit of each kind is chosen from its median.
_UNITS: dict[str, Callable[[float], words.Unit]] = {
    "m": words.length,
    "N": lambda _: words.Unit("N", 1.0),
    "m_per_s2": lambda _: words.Unit("m/s²", 1.0),
    "deg": lambda _: words.Unit("°", 1.0),
    "rad_per_s": lambda _: words.Unit("rad/s", 1.0),
    "m_per_s": words.speed,
    "N_m": lambda _: words.Unit("N m", 1.0),
}


def unit_of(kind: LoadKind, size: float) -> words.Unit:
    """The unit that values of about ``size`` are shown in."""
    return _UNITS[kind.unit](size)


def answer(found: Findings) -> str:
    """Accelerations, legs and pads in two sentences."""
    told = []
    for kind, said in (
        (ACCELERATION, "The body is accelerated by {} in the median, below {} in 95 % of the runs"),
        (STROKE, "the leg that gives most is crushed by {}, below {} in 95 %"),
        (PAD, "the pad that bears most presses with {}, below {} in 95 %"),
    ):
        known = _whole(found.loads, kind)
        if known is not None:
            median, late = known.quantiles[0.5].value, known.quantiles[0.95].value
            unit = unit_of(kind, median)
            told.append(said.format(unit(median), unit(late)))
    return f"{'; '.join(told)}." if told else "Nothing: it never touched the ground."


def _whole(loads: list[LoadSpread], kind: LoadKind) -> Spread | None:
    """The greatest of a kind over all parts; None where no run has it."""
    found = next((load for load in loads if load.kind is kind), None)
    return found.spread if found is not None and found.spread.n else None


def rows(found: Findings) -> list[list[str]]:
    """Load, median with interval, what 5, 95 and 99 % of the runs stay below, the greatest."""
    return [_row(load, found.loads) for load in found.loads if load.spread.n]


def _row(load: LoadSpread, loads: list[LoadSpread]) -> list[str]:
    known, whole = load.spread, _whole(loads, load.kind)
    # All parts in one unit, that of the greatest.
    unit = unit_of(load.kind, 0.0 if whole is None else whole.quantiles[0.5].value)
    several = sum(other.kind is load.kind for other in loads) > 1
    which = f": {load.part.replace('_', ' ')}" if load.part else ": the greatest" if several else ""
    return [f"{load.kind.label}{which} [{unit.name}]", *spread_cells(known, unit)]


# -- histograms -------------------------------------------------------------------------------

_PANELS = (
    (STROKE, "Largest stroke", "crushed for good, of the leg that gives most"),
    (PAD, "Largest force on a pad", "normal force"),
    (BELLY, "Largest force on a belly", "normal forces on all its points"),
    (ACCELERATION, "Largest acceleration", "of the first body"),
    (TILT, "Largest tilt", "from the local vertical"),
    (SLOSH, "Largest swing of liquid", "from its place at rest"),
    (JOINT, "Largest force through a joint", "of the joint that bears most"),
)


def draw_loads(found: Findings, *files: Path) -> None:
    """How the largest strokes, forces, accelerations and tilts are spread."""
    table, touched = found.data.loads, found.data.table["first_contact_time_s"]
    values = {kind.start: greatest(table, kind, touched) for kind, _, _ in _PANELS}
    shown = [panel for panel in _PANELS if np.isfinite(values[panel[0].start]).any()]
    count = -(-max(1, len(shown)) // 2)
    height = 3.1 * count
    with style.figure(9.6, height) as fig:
        grid = fig.add_gridspec(
            count, 2, left=0.065, right=0.985, wspace=0.19, hspace=0.42,
            top=1.0 - 0.31 / height, bottom=0.53 / height,
        )  # fmt: skip
        for k, (kind, title, label) in enumerate(shown):
            axes = fig.add_subplot(grid[k // 2, k % 2])
            axes.set_title(title)
            own = values[kind.start]
            own = own[np.isfinite(own)]
            unit = unit_of(kind, float(np.median(own)))
            histogram(axes, own / unit.size, unit.name)
            axes.set_xlabel(f"{label} [{unit.name}]")
        style.save(fig, *files)


# -- one touchdown ----------------------------------------------------------------------------


def draw_touchdown(found: Findings, *files: Path) -> None:
    """Speed, acceleration, crushables, pads and liquid of one run (figures 9 to 12 of 002)."""
    course = found.data.courses[0]
    until = _until(course)
    speed = np.linalg.norm(course.velocity, axis=1)
    panels: list[tuple[str, str, dict[str, Array]]] = [
        ("Speed of the centre of mass", "m/s", {"": speed}),
        ("Force of the crushables", "N", _lines(course, "crush_force_", "_N")),
        ("Acceleration of the first body", "m/s²", {"": course.parts["acceleration_m_per_s2"]}),
        ("Stroke crushed", "cm", _lines(course, "stroke_", "_m", 100.0)),
        ("Normal force on the pads", "N", _lines(course, "pad_force_", "_N")),
        ("Normal force on the belly", "N", _lines(course, "belly_force_", "_N")),
        ("Swing of the liquid", "°", _lines(course, "slosh_", "_deg")),
    ]
    panels = [panel for panel in panels if panel[2]]
    count = -(-len(panels) // 2)
    height = 1.75 * count + 0.6
    with style.figure(9.6, height) as fig:
        grid = fig.add_gridspec(
            count, 2, left=0.065, right=0.985, wspace=0.17, hspace=0.42,
            top=1.0 - 0.33 / height, bottom=0.5 / height,
        )  # fmt: skip
        for k, (title, unit, lines) in enumerate(panels):
            axes = fig.add_subplot(grid[k // 2, k % 2])
            axes.set_title(f"{title} [{unit}]")
            _curves(axes, course.time, lines, until)
            if k >= len(panels) - 2:
                axes.set_xlabel("time from release [s]")
        style.save(fig, *files)


def _lines(course: Course, start: str, end: str, scale: float = 1.0) -> dict[str, Array]:
    """Columns of a course by the part that they are of."""
    return {
        name[len(start) : len(name) - len(end)].replace("_", " "): scale * values
        for name, values in course.parts.items()
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
    axes.set_ylim(min(low, 0.0) if low > -1e-9 * high else low, high + 0.25 * (high - low))
    plain(axes)


def _until(course: Course) -> float:
    """When the touchdown is over, and half as long again [s]: nothing gives any more."""
    strokes = [values for name, values in course.parts.items() if name.startswith("stroke_")]
    total = np.sum(strokes, axis=0) if strokes else np.zeros(len(course.time))
    if total[-1] > 0.0:
        done = course.time[int(np.argmax(total >= 0.99 * total[-1]))]
    else:
        done = course.time[int(np.argmax(course.parts["acceleration_m_per_s2"]))]
    return float(min(course.time[-1], 1.5 * done + 1.0))

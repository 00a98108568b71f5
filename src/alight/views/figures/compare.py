"""Figures of comparisons: shares, distributions and rest sites of several campaigns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from alight.analysis.columns import Array
from alight.analysis.footprint import Footprint
from alight.views import style, words
from alight.views.compare.quantities import Measured, local_places
from alight.views.figures.panels import (
    LINES,
    ORANGE,
    empty,
    named,
    panels,
    percents,
    plain,
    thinned,
)

if TYPE_CHECKING:
    from alight.views.compare.findings import Comparison

#: Points of a curve, at most: more than a page has dots.
CURVE = 600
#: Part of all values that a panel of rest sites shows; some go far.
SHOWN = 0.98
#: Campaigns whose rest sites stand in one row.
ABREAST = 3


def legend(found: Comparison) -> list[Line2D]:
    """A line for each campaign."""
    return [
        Line2D([], [], color=colour, linestyle=dash, linewidth=2.0, label=side.name)
        for (colour, dash), side in zip(_lines(len(found.sides)), found.sides, strict=True)
    ]


def _lines(count: int) -> list[tuple[str, Any]]:
    """Colour and dash of each campaign; of more than there are, from the start again."""
    return [LINES[k % len(LINES)] for k in range(count)]


# -- shares --------------------------------------------------------------------------------------


def draw_shares(found: Comparison, *files: Path) -> None:
    """The share of each outcome in each campaign, with its interval."""
    rows, count = found.shares, len(found.sides)
    each = 0.2 * count + 0.22
    height = 0.85 + each * len(rows)
    with style.figure(9.6, height) as fig:
        axes = fig.add_axes((0.2, 0.52 / height, 0.77, 1.0 - 0.92 / height))
        for k, (colour, _) in enumerate(_lines(count)):
            at = np.arange(len(rows)) + (k - 0.5 * (count - 1)) * 0.7 / count
            value = np.array([row.values[k].value for row in rows])
            ends = np.array([[row.values[k].low, row.values[k].high] for row in rows]).T
            axes.errorbar(
                100.0 * value, at, xerr=100.0 * np.abs(ends - value), fmt="o", ms=5.5,
                color=colour, capsize=3, linewidth=1.6, label=found.sides[k].name,
            )  # fmt: skip
        marked = [
            f"{row.label}{' *' if any(o.differs for o in row.against) else ''}" for row in rows
        ]
        axes.set_yticks(range(len(rows)), marked)
        for k in range(1, len(rows)):
            axes.axhline(k - 0.5, color=style.LINE, linewidth=0.6)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(-2.0, 102.0)
        axes.set_xlabel(f"share of {found.first.found.things} [%]")
        plain(axes, "x")
        axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, borderaxespad=0.2
        )
        style.save(fig, *files)


# -- distributions -------------------------------------------------------------------------------


def draw_curves(found: Comparison, *files: Path) -> None:
    """Of each quantity the part of the runs that stay below a value, a line for each campaign."""
    shown = found.measured
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    height = 2.75 * rows + 0.35
    with style.figure(9.6, height) as fig:
        cells = panels(fig, rows, columns, height, top=0.72, hspace=0.62, wspace=0.22)
        differ = {row.column for row in found.quantities if any(o.differs for o in row.against)}
        for axes, one in zip(cells, shown, strict=False):
            _curves(axes, found, one, one.quantity.column in differ)
        for axes in cells[len(shown) :]:
            axes.set_axis_off()
        fig.legend(
            handles=legend(found), loc="upper left", bbox_to_anchor=(0.055, 1.0), ncols=4,
            frameon=False,
        )  # fmt: skip
        style.save(fig, *files)


def _curves(axes: Axes, found: Comparison, one: Measured, differs: bool) -> None:
    given = one.quantity
    known = [np.sort(values[np.isfinite(values)]) for values in one.values]
    title = re.sub(r" (of|from) the middle of .*", "", given.label)
    axes.set_title(f"{title[:1].upper()}{title[1:]}{' *' if differs else ''}", size=8.6)
    if not any(map(len, known)):
        empty(axes)
        return
    unit = next(row.unit for row in found.quantities if row.column == given.column)
    for k, ((colour, dash), values) in enumerate(zip(_lines(len(known)), known, strict=True)):
        if not len(values):
            continue
        x, part = _steps(values / unit.size)
        # The first is wide, so that it is seen where others lie upon it.
        drawn = {"color": colour, "linestyle": dash, "linewidth": 1.4 if k else 3.0}
        axes.plot(x, part, drawstyle="steps-post", **drawn)
        axes.plot(np.median(values) / unit.size, 0.5, "o", color=colour, ms=4.5, zorder=5)
    axes.set_xlim(*_range([values / unit.size for values in known]))
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel(named("", unit).strip() or "number")
    percents(axes)
    plain(axes)


def _steps(ascending: Array) -> tuple[Array, Array]:
    """Values, and the part of all that is not above them, few enough to draw."""
    n = len(ascending)
    chosen = np.unique(np.linspace(0, n - 1, min(n, CURVE)).astype(np.int64))
    x = np.concatenate([[ascending[0]], ascending[chosen]])
    return x, np.concatenate([[0.0], (chosen + 1.0) / n])


def _range(known: list[Array]) -> tuple[float, float]:
    """What a panel shows: all but the longest tails, and some room."""
    every = [values for values in known if len(values)]
    low = min(float(np.quantile(values, 0.005)) for values in every)
    high = max(float(np.quantile(values, 0.97)) for values in every)
    room = 0.04 * (high - low) or max(abs(high) * 0.05, 1e-9)
    return low - room, high + room


# -- places --------------------------------------------------------------------------------------


def draw_places(found: Comparison, frame: Footprint, *files: Path) -> None:
    """Rest sites of each campaign on the same axes, with their middles and that of the first."""
    known = [local_places(side, frame) for side in found.sides]
    known = [places[np.isfinite(places[:, 0])] for places in known]
    columns = min(ABREAST, len(known))
    rows = -(-len(known) // columns)
    middle, reach = _window(np.concatenate(known))
    unit = words.length(reach)
    side = 9.6 / columns - 0.55
    height = rows * (side + 0.75) + 0.1
    of = "of" if found.first.found.data.level is None else "from"
    with style.figure(9.6, height) as fig:
        cells = panels(fig, rows, columns, height, hspace=0.3, wspace=0.2)
        for axes, places, one in zip(cells, known, found.sides, strict=False):
            axes.set_title(f"{one.name}: {len(places)} at rest", size=9.5)
            dots = thinned(places) / unit.size
            colour = _lines(len(known))[found.sides.index(one)][0]
            axes.scatter(
                dots[:, 0],
                dots[:, 1],
                s=6,
                color=colour,
                alpha=0.4,
                linewidths=0,
                rasterized=True,
                zorder=2,
            )
            if len(places):
                axes.plot(*np.median(places, axis=0) / unit.size, "P", color=style.INK,
                          mec="white", ms=10, zorder=6)  # fmt: skip
            axes.plot(0.0, 0.0, "o", mfc="none", mec=ORANGE, mew=1.8, ms=13, zorder=5)
            axes.set_xlim(*((middle[0] + np.array([-reach, reach])) / unit.size))
            axes.set_ylim(*((middle[1] + np.array([-reach, reach])) / unit.size))
            axes.set_aspect("equal")
            first, second = found.first.found.data.axes
            axes.set_xlabel(f"{first} {of} the first middle [{unit.name}]")
            if axes.get_subplotspec().is_first_col():  # type: ignore[union-attr]
                axes.set_ylabel(f"{second} [{unit.name}]")
            plain(axes)
        for axes in cells[len(known) :]:
            axes.set_axis_off()
        style.save(fig, *files)


def _window(places: Array) -> tuple[Array, float]:
    """Middle and half width of a square that holds nearly all places [m]."""
    if not len(places):
        return np.zeros(2), 1.0
    tail = 0.5 * (1.0 - SHOWN)
    low, high = np.quantile(places, [tail, 1.0 - tail], axis=0)
    return 0.5 * (low + high), 0.58 * max(1e-3, float((high - low).max()))

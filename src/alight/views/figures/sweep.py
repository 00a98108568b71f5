"""Runs of a sweep against what was swept: how they end, and each quantity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from alight.views import style
from alight.views.estimates import plain_name
from alight.views.figures.panels import (
    BLUE,
    GREEN,
    LINES,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    named,
    panels,
    plain,
)

if TYPE_CHECKING:
    from alight.views.report.findings import Findings, Quantity
    from alight.views.report.sweep import Axis

#: Panels beside that of endings, at most, and runs at which endings need a panel.
PANELS = 7
_ENDS = (SKY, ORANGE, PURPLE, YELLOW, GREEN, style.GREY, BLUE)


def draw_sweep(
    found: Findings[Any], axes: Sequence[Axis], quantities: Sequence[Quantity], *files: Path
) -> None:
    """A panel of endings and one for each quantity, over the first axis."""
    chosen = quantities[:PANELS]
    columns = 2
    rows = -(-(len(chosen) + 1) // columns)
    height = 2.9 * rows + 0.2
    with style.figure(9.6, height) as fig:
        cells = panels(fig, rows, columns, height, left=0.075, wspace=0.22, hspace=0.48)
        _endings(cells[0], found, axes[0])
        for axes_cell, one in zip(cells[1:], chosen, strict=False):
            _quantity(axes_cell, found, axes, one)
        for empty in cells[len(chosen) + 1 :]:
            empty.set_axis_off()
        if len(axes) == 2 and chosen:
            cells[1].legend(
                title=axes[1].label, title_fontsize=7.5, fontsize=7, frameon=False, ncols=2
            )
        style.save(fig, *files)


def _short(axis: Axis) -> list[str]:
    """Values in words, or their numbers where words are long."""
    return [t if len(t) < 12 else str(k + 1) for k, t in enumerate(axis.told)]


def _name(cell: Axes, axis: Axis) -> None:
    cell.set_xlabel(named(axis.label, axis.unit))
    if not axis.number:
        cell.set_xticks(axis.distinct, _short(axis))
    elif len(axis.distinct) <= 10:
        cell.set_xticks(axis.distinct)


def _endings(cell: Axes, found: Findings[Any], axis: Axis) -> None:
    """How many runs ended in each way at each value."""
    places = np.arange(1.0, len(axis.told) + 1.0)
    base = np.zeros(len(places))
    for k, way in enumerate(found.data.outcomes):
        here = found.data.codes == int(way)
        count = np.array([float(np.sum(here & (axis.values == v))) for v in axis.distinct])
        colour = _ENDS[k % len(_ENDS)]
        cell.bar(places, count, 0.7, base, color=colour, label=plain_name(way.name))
        base += count
    cell.set_title("How runs ended")
    cell.set_ylabel("runs")
    cell.set_ylim(0.0, 1.3 * base.max())
    cell.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    cell.legend(frameon=False, fontsize=7.5, ncols=3, loc="upper left")
    cell.set_xlabel(named(axis.label, axis.unit))
    cell.set_xticks(places, [t.split()[0] if axis.number else t for t in _short(axis)])
    plain(cell, "y")


def _quantity(cell: Axes, found: Findings[Any], axes: Sequence[Axis], one: Quantity) -> None:
    from alight.views.report.sweep import medians

    values, first = found.known[one.column], axes[0]
    unit = one.choose(float(np.nanmedian(values)))
    series = axes[1].distinct if len(axes) == 2 else [None]
    for k, value in enumerate(series):
        here = np.ones(len(values), bool) if value is None else axes[1].values == value
        colour, dash = _line(k, len(series))
        cell.plot(first.values[here], values[here] / unit.size, "o", color=colour, ms=3, alpha=0.5)
        label = None if value is None else axes[1].told[k]
        middle = medians(values, first, here) / unit.size
        if first.number:
            cell.plot(first.distinct, middle, dash, color=colour, linewidth=1.4, label=label)
        else:
            cell.plot(first.distinct, middle, "_", color=colour, ms=13, mew=2, label=label)
    cell.set_title(one.label[0].upper() + one.label[1:])
    low, high = (float(end(values)) / unit.size for end in (np.nanmin, np.nanmax))
    if high and high - low <= 1e-6 * abs(high):  # the same throughout, but for rounding
        cell.set_ylim(*sorted((0.9 * low, 1.1 * high)))
    cell.ticklabel_format(axis="y", useOffset=False)
    if unit.name:
        cell.set_ylabel(f"[{unit.name}]")
    _name(cell, first)
    plain(cell)


def _line(k: int, of: int) -> tuple[Any, str]:
    """Colour and dash of a line; many lines go through a scale of colours."""
    if of <= len(LINES):
        return LINES[k]
    return colormaps["viridis"](k / (of - 1)), "-"

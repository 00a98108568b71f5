"""What every figure of runs is made of: colours, panels, histograms, scales.

Colours are distinguished by colour-blind readers, and nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from alight.analysis.bins import Bin
from alight.analysis.columns import Array
from alight.analysis.density import thin
from alight.views import style, words

if TYPE_CHECKING:
    from alight.views.report.data import Trajectory

#: What was found, what marks it, and a third thing beside them (safe pairs of Okabe and Ito).
BLUE, ORANGE, GREEN, SKY, PURPLE, YELLOW = (
    "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#a8588f", "#b8860b",
)  # fmt: skip

#: Lines of several runs, or of several parts, in their order: no two have both alike.
LINES = ((BLUE, "-"), (ORANGE, "-"), (GREEN, "-"), (PURPLE, "--"), (SKY, "--"), (YELLOW, "--"))

#: Points of a cloud that are drawn, at most; more of them are counted in cells instead.
POINTS = 4000

#: Behind words that stand over lines.
HALO = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}


def plain(axes: Axes, grid: str = "both") -> None:
    """Thin grid lines behind, no box."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid != "none":
        axes.grid(axis=grid, color=style.LINE, linewidth=0.4)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


def thinned(points: Array, most: int = POINTS) -> Array:
    """At most ``most`` of ``points``, evenly spaced: runs are in no order."""
    return points[thin(len(points), most)]


def panels(
    fig: Figure,
    rows: int,
    columns: int,
    height: float,
    top: float = 0.36,
    bottom: float = 0.52,
    left: float = 0.068,
    wspace: float = 0.24,
    hspace: float = 0.5,
) -> list[Axes]:
    """Panels in rows; ``height`` [inch] is the figure's, ``top`` and ``bottom`` what is left."""
    grid = fig.add_gridspec(
        rows, columns, left=left, right=0.985, top=1.0 - top / height, bottom=bottom / height,
        wspace=wspace, hspace=hspace,
    )  # fmt: skip
    return [fig.add_subplot(grid[k // columns, k % columns]) for k in range(rows * columns)]


def named(label: str, unit: words.Unit) -> str:
    """A label with its unit, where there is one."""
    return f"{label} [{unit.name}]" if unit.name else label


def percents(axes: Axes, label: str = "") -> None:
    """A scale of shares in percent."""
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    if label:
        axes.set_ylabel(label)


def curves(
    cells: Sequence[Axes],
    courses: Sequence[Trajectory],
    shown: Mapping[str, Sequence[Array]],
    labels: Sequence[str],
    columns: int,
) -> None:
    """In each panel one line for each trajectory, with a dot at its end; panels go by titles."""
    end = max(course.end for course in courses)
    for k, (axes, (title, lines)) in enumerate(zip(cells, shown.items(), strict=True)):
        axes.set_title(title, size=9.5 if columns > 2 else None)
        for (colour, dash), course, values, label in zip(
            LINES, courses, lines, labels, strict=False
        ):
            axes.plot(course.time, values, dash, color=colour, linewidth=1.2, label=label)
            axes.plot(course.end, values[-1], "o", color=colour, ms=3.5, clip_on=False)
        axes.set_xlim(0.0, end)
        if k >= len(shown) - columns:
            axes.set_xlabel("time [s]")
        plain(axes)


def stacked(axes: Axes, bins: Sequence[Bin], parts: Iterable[tuple[str, str, Array]]) -> None:
    """Shares over bins of an input, one upon the other: label, colour and share in each bin."""
    middle = np.array([b.middle for b in bins])
    width = np.array([b.high - b.low for b in bins])
    if not width.all():
        width = np.full(len(bins), 0.8 * (np.diff(middle).min() if len(bins) > 1 else 1.0))
    base = np.zeros(len(bins))
    for label, colour, share in parts:
        axes.bar(middle, share, 0.95 * width, base, color=colour, linewidth=0, label=label)
        base += share
    axes.set(xlim=(middle[0] - 0.5 * width[0], middle[-1] + 0.5 * width[-1]), ylim=(0.0, 1.0))
    axes.spines[["top", "right"]].set_visible(False)


# -- histograms -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HistogramPanel:
    """A panel with the histogram of one quantity."""

    column: str
    title: str
    label: str
    choose: Callable[[float], words.Unit]
    """Its unit, from its median."""
    whole: bool = False
    """True of what is counted."""


def draw_histograms(
    known: Mapping[str, Array],
    shown: Sequence[HistogramPanel],
    *files: Path,
    things: str = "landings",
    columns: int = 2,
) -> None:
    """Histograms side by side, three abreast are narrow; ``known`` are values [SI] by column, nan
    where a run has none."""
    some = [one for one in shown if np.isfinite(known[one.column]).any()]
    shown = some or shown[:1]
    rows = -(-max(1, len(shown)) // columns)
    height, narrow = 3.1 * rows, columns > 2
    room = {} if narrow else {"top": 0.31, "bottom": 0.53, "left": 0.065}
    apart = {"wspace": 0.24 if narrow else 0.19, "hspace": 0.42}
    with style.figure(9.6, height) as fig:
        cells = panels(fig, rows, columns, height, **room, **apart)
        for axes, one in zip(cells, shown, strict=False):
            axes.set_title(one.title)
            values = known[one.column][np.isfinite(known[one.column])]
            if not len(values):
                empty(axes)
                continue
            unit = one.choose(float(np.median(values)))
            histogram(axes, values / unit.size, unit.name, one.whole, things, narrow)
            axes.set_xlabel(named(one.label, unit))
        for axes in cells[len(shown) :]:
            axes.set_axis_off()
        style.save(fig, *files)


def empty(axes: Axes) -> None:
    """Words in place of a panel."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, "no run has this", ha="center", color=style.GREY)


def histogram(
    axes: Axes,
    values: Array,
    unit: str,
    whole: bool = False,
    things: str = "landings",
    narrow: bool = False,
) -> None:
    """Bars up to where 99 % are, the middle 90 % shaded, the median marked.

    In a ``narrow`` panel what is said of the rest stands below the median, not beside the title.
    """
    p05, median, p95 = np.quantile(values, [0.05, 0.5, 0.95])
    end = float(np.quantile(values, 0.99)) if len(values) >= 200 else float(values.max())
    begin = float(values.min())
    edges = _edges(begin, end, len(values), whole)
    shown = values[values <= edges[-1]]
    weights = np.full(len(shown), 100.0 / len(values))
    axes.axvspan(p05, p95, color=style.LINE, alpha=0.35, linewidth=0, zorder=0)
    axes.hist(shown, list(edges), weights=weights, color=BLUE, edgecolor="white", linewidth=0.4)
    axes.axvline(median, color=ORANGE, linewidth=1.8)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0.0, 1.2 * axes.get_ylim()[1])
    axes.set_ylabel(f"share of {things} [%]")
    tell = "{:.0f}".format if whole else words.number

    def told(value: float) -> str:
        return f"{tell(float(value))} {unit}".strip().replace(" °", "°")

    said = f"median {told(median)}"
    right = median < 0.5 * (edges[0] + edges[-1])
    axes.annotate(
        said, (median, 0.97), (4 if right else -4, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="left" if right else "right", va="top", color=ORANGE,
        fontweight="bold", bbox=HALO,
    )  # fmt: skip
    over = len(values) - len(shown)
    if over:
        note = f"{words.percent(over / len(values))} beyond, up to {told(values.max())}"
        # Where the median is far to the right, its name leaves room at the left alone.
        side = "left" if narrow and median > 0.4 * edges[0] + 0.6 * edges[-1] else "right"
        place = (0.015 if side == "left" else 0.985, 0.89 if right else 0.97)
        axes.text(
            *(place if narrow else (1.0, 1.025)), note.replace(", ", ",\n") if narrow else note,
            transform=axes.transAxes, ha=side, va="top" if narrow else "baseline",
            color=style.GREY, size=7,
        )  # fmt: skip
    plain(axes, "y")


def _edges(begin: float, end: float, count: int, whole: bool) -> Array:
    """Edges of bars: about the cube root of the number of values, whole numbers in the middle."""
    if whole:
        step = max(1, int(np.ceil((end - begin + 1.0) / 60.0)))
        return np.arange(np.floor(begin) - 0.5, end + step, step)
    if end <= begin:
        pad = max(abs(begin) * 0.05, 1e-12)
        return np.linspace(begin - pad, begin + pad, 4)
    return np.linspace(begin, end, int(np.clip(2.0 * count ** (1.0 / 3.0), 8, 60)) + 1)

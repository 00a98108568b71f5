"""Figures of many captures: loads against their limit, and who is held.

Panels take axes and arrays, figures what was found; each figure goes into the files it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from alight.analysis import captures
from alight.analysis.bins import Bin, binned
from alight.analysis.columns import Array, Bools
from alight.analysis.intervals import Estimate
from alight.views import style, words
from alight.views.estimates import percent
from alight.views.figures.panels import (
    BLUE,
    GREEN,
    HALO,
    ORANGE,
    YELLOW,
    named,
    panels,
    percents,
    plain,
    stacked,
)

if TYPE_CHECKING:
    from alight.views.report.capture.findings import CaptureFindings

#: How captures end, best first: name of the outcome and what it is called. A capture that is held
#: but was loaded beyond the limit is none of the first three.
ENDS = {
    "HELD": "held for good",
    "AT_REST": "in contact, at rest",
    "UNSETTLED": "in contact, still moving",
    "OVERLOADED": "in contact, beyond the limit",
    "LOST": "contact lost",
    "RIM": "reached past the rim",
    "STRUCK": "reached the bus",
    "MISSED": "never touched",
    "STOPPED": "ended by a stop",
    "FAILED": "failed",
}

#: How each way to end is coloured, best first.
_PAINTS = (
    GREEN, "#5cb89a", "#b9e0d2", YELLOW, ORANGE, style.ALARM, "#6d1a1d", style.GREY, "#8fa9c4",
    "#a8588f",
)  # fmt: skip
COLOURS = dict(zip(ENDS, _PAINTS, strict=True))

#: Parts of the captures whose loads are named.
NAMED = (0.5, 0.95, 0.99)

#: Bars of the histogram of bending moments, from 0 to the limit.
BARS = 60


# -- loads ------------------------------------------------------------------------------------


def draw_bending(found: CaptureFindings, *files: Path) -> None:
    """The peak bending moment of captures against what the drive assemblies stand."""
    load, limit = found.values("bending_nm"), found.limit
    with style.figure(9.6, 3.5) as fig:
        left, right = panels(fig, 1, 2, 3.5)
        left.set_title("Peak bending moment, up to the limit")
        moments(left, load, limit)
        right.set_title("Captures that exceed a moment")
        exceedance(right, load, limit)
        style.save(fig, *files)


def moments(axes: Axes, load: Array, limit: float) -> None:
    """A histogram from 0 to the limit, or to the largest load beyond it."""
    end = 1.06 * max(limit, float(load.max()))
    weights = np.full(len(load), 100.0 / len(load))
    edges = np.linspace(0.0, end, BARS + 1)
    axes.hist(load, list(edges), weights=weights, color=BLUE, edgecolor="white", linewidth=0.3)
    axes.set(xlim=(0.0, end), xlabel="peak bending moment [N m]", ylabel="share of captures [%]")
    axes.set_ylim(0.0, 1.12 * axes.get_ylim()[1])
    _limit(axes, limit)
    many = len(load) >= 100
    at = float(np.quantile(load, 0.99) if many else load.max())
    axes.axvline(at, color=ORANGE, linewidth=1.4)
    axes.annotate(
        f"{'99 % below' if many else 'largest'} {at:.0f} N m:\n{percent(at / limit)} of the limit",
        (at, 0.97), (5, 0),
        xycoords=("data", "axes fraction"), textcoords="offset points", va="top", color=ORANGE,
        fontweight="bold", bbox=HALO,
    )  # fmt: skip
    plain(axes, "y")


def exceedance(axes: Axes, load: Array, limit: float) -> None:
    """The share of captures beyond each moment, and where some parts of them are."""
    values, share = captures.beyond(load)
    axes.step(values, share, where="pre", color=style.INK, linewidth=1.4)
    axes.set_yscale("log")
    axes.set(xlim=(0.0, 1.06 * max(limit, float(load.max()))), ylim=(0.5 / len(load), 1.4))
    axes.set_xlabel("peak bending moment [N m]")
    percents(axes, "share beyond it")
    axes.yaxis.set_major_formatter(lambda v, _: f"{words.quoted(100.0 * v)} %")
    axes.yaxis.set_minor_formatter(NullFormatter())
    for part in NAMED:
        if len(load) * (1.0 - part) < 1.0:
            continue  # too few runs to tell
        at = float(np.quantile(load, part))
        axes.plot(at, 1.0 - part, "o", color=BLUE, ms=4.5, zorder=4)
        axes.annotate(
            f"{100 * part:.0f} % stay below {at:.0f} N m", (at, 1.0 - part), (8, 3),
            textcoords="offset points", color=BLUE, fontsize=8,
        )  # fmt: skip
    top = float(load.max())
    axes.plot(top, 1.0 / len(load), "o", color=ORANGE, ms=4.5, zorder=4, clip_on=False)
    axes.annotate(
        f"largest {top:.0f} N m", (top, 1.0 / len(load)), (8, 0), textcoords="offset points",
        color=ORANGE, fontsize=8, va="center",
    )  # fmt: skip
    _limit(axes, limit)
    plain(axes)


def _limit(axes: Axes, limit: float) -> None:
    axes.axvline(limit, color=style.ALARM, linewidth=1.6)
    axes.annotate(
        f"limit\n{limit:.0f} N m", (limit, 0.97), (-5, 0), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="right", va="top", color=style.ALARM, fontweight="bold",
        bbox=HALO,
    )  # fmt: skip


# -- who is held ------------------------------------------------------------------------------


def draw_success(found: CaptureFindings, *files: Path) -> None:
    """The share that is held over each input that varies, and over shapes."""
    over = _over(found)
    lowest = min(b.share.low for _, bins, *_ in over for b in bins)
    bottom = max(0.0, np.floor(10.0 * lowest - 0.5) / 10.0)
    rows = -(-len(over) // 3)
    height = 2.75 * rows + 0.15
    with style.figure(9.6, height) as fig:
        cells = panels(fig, rows, 3, height, top=0.3)
        for axes, (title, bins, label, unit, names) in zip(cells, over, strict=False):
            axes.set_title(f"By {title}")
            held_over(axes, bins, unit, found.success, names)
            axes.set(xlabel=label, ylim=(bottom, 1.0 + 0.03 * (1.0 - bottom)))
            percents(axes, "share held")
        for axes in cells[len(over) :]:
            axes.set_axis_off()
        style.save(fig, *files)


Over = tuple[str, list[Bin], str, words.Unit, Sequence[str]]


def _over(found: CaptureFindings) -> list[Over]:
    """What shares are shown over: title, bins, label, unit, names of what is no number."""
    hit = found.data.success
    told: list[Over] = [
        (name, binned(values, hit), named(name, unit), unit, ())
        for name, (values, unit) in found.shown.items()
    ]
    if found.mixed:
        shapes, names = found.data.table["shape"], found.data.shapes
        bins = binned(shapes, hit, most=len(names))
        told.append(("shape", bins, "", words.Unit("", 1.0), names))
    return told


def held_over(
    axes: Axes, bins: list[Bin], unit: words.Unit, whole: Estimate, names: Sequence[str]
) -> None:
    """Shares with intervals; a flat bar shows the runs that a share is of, a band those of all."""
    share, low, high = (
        np.array([getattr(b.share, name) for b in bins]) for name in ("value", "low", "high")
    )
    if names:
        middle = np.arange(len(bins), dtype=np.float64)
        axes.set_xticks(middle, [names[int(b.low)] for b in bins], rotation=35, ha="right")
        width = np.full(len(bins), 0.3)
        axes.set_xlim(-0.6, len(bins) - 0.4)
    else:
        middle = np.array([b.middle for b in bins]) / unit.size
        width = 0.5 * np.array([b.high - b.low for b in bins]) / unit.size
    axes.axhspan(whole.low, whole.high, color=style.LINE, alpha=0.45, linewidth=0, zorder=0)
    axes.hlines(share, middle - 0.92 * width, middle + 0.92 * width, color=BLUE, linewidth=2.2)
    axes.vlines(middle, low, high, color=BLUE, linewidth=1.2)
    axes.plot(middle, share, "o", color=BLUE, ms=4.5, clip_on=False)
    plain(axes)


def draw_ends(found: CaptureFindings, *files: Path) -> None:
    """How captures end: all of them, and over the inputs that vary."""
    panels = list(found.panels.items())[:4]
    height = 3.25 if panels else 1.2
    with style.figure(9.6, height) as fig:
        grid = fig.add_gridspec(
            2, max(1, len(panels)), left=0.068, right=0.985, top=1.0 - 0.42 / height,
            bottom=0.5 / height if panels else 0.05, hspace=0.42, wspace=0.16,
            height_ratios=(0.17, 1.0) if panels else (1.0, 0.01),
        )  # fmt: skip
        share_bar(fig.add_subplot(grid[0, :]), found.ends)
        for k, (name, (values, unit)) in enumerate(panels):
            axes = fig.add_subplot(grid[1, k])
            ends_over(axes, values / unit.size, found.ends)
            axes.set_xlabel(named(name, unit))
            percents(axes, "" if k else "share of captures")
            if k:
                axes.set_yticklabels([])
        style.save(fig, *files)


def share_bar(axes: Axes, ends: Mapping[str, Bools]) -> None:
    """One bar of all captures, and what its parts are above it."""
    total = sum(int(hit.sum()) for hit in ends.values())
    base = 0.0
    for name, hit in ends.items():
        share = int(hit.sum()) / max(1, total)
        axes.barh(0.0, share, left=base, color=COLOURS[name], height=0.8, label=
                  f"{ENDS[name]}: {percent(share)}")  # fmt: skip
        base += share
    axes.set(xlim=(0.0, 1.0), ylim=(-0.4, 0.4))
    axes.set_axis_off()
    axes.legend(
        frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(-0.012, 0.9), fontsize=8.5,
        handlelength=1.0, handleheight=1.0, columnspacing=1.8,
    )  # fmt: skip


def ends_over(axes: Axes, values: Array, ends: Mapping[str, Bools]) -> None:
    """Shares of outcomes over an input, one upon the other."""
    bins = binned(values, np.ones(len(values), bool))
    shares = {n: np.array([hit[b.members].mean() for b in bins]) for n, hit in ends.items()}
    stacked(axes, bins, [("", COLOURS[name], share) for name, share in shares.items()])

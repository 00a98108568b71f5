"""Hops seen from above, and how far, how far off and how long they were."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from alight.analysis import hops as found_hops
from alight.analysis.hops import Hops
from alight.core import frames
from alight.views import style, words
from alight.views.figures.panels import (
    BLUE,
    ORANGE,
    HistogramPanel,
    draw_histograms,
    empty,
    named,
    plain,
)

if TYPE_CHECKING:
    from alight.analysis.columns import Array
    from alight.views.report.landing.findings import LandingFindings

#: Hops that are drawn, at most.
_DRAWN = 600
_SHOWN = (
    HistogramPanel(found_hops.FLIGHT, "The first flight", "distance", words.length),
    HistogramPanel(found_hops.WAY, "From start to rest", "distance", words.length),
    HistogramPanel(found_hops.MISS, "Rest from where it was meant", "distance", words.length),
    HistogramPanel(found_hops.DURATION, "From start to rest", "time", words.time),
)


def draw_spreads(hops: Hops, *files: Path) -> None:
    """How far, how far off and how long they were, of what they have."""
    shown = [one for one in _SHOWN if hops.spread(one.column) is not None]
    made = {name: np.where(hops.made, values, np.nan) for name, values in hops.known.items()}
    draw_histograms(made, shown, *files, things="hops")


def draw_plan(found: LandingFindings, hops: Hops, *files: Path) -> None:
    """Hops seen from above."""
    with style.figure(9.6, 4.6) as fig:
        _plan(fig.add_axes((0.075, 0.12, 0.905, 0.84)), found, hops)
        style.save(fig, *files)


def _plan(axes: Axes, found: LandingFindings, hops: Hops) -> None:
    """Lines from start to rest, on level ground, or in the plane at the middle of the starts."""
    rests = hops.made & np.isfinite(hops.end).all(axis=1)
    if not rests.any():
        empty(axes)
        return
    east, north, middle = _plane(found, hops.start[rests])
    chosen = np.flatnonzero(rests)[:_DRAWN]
    first, last = hops.start[chosen] - middle, hops.end[chosen] - middle
    size = max(float(np.abs(np.concatenate([first, last])).max()), 1e-12)
    unit = words.length(size)
    deepest = max(1, int(hops.number[rests].max()))
    for a, b, number in zip(first, last, hops.number[chosen], strict=True):
        x, y = ([p @ way / unit.size for p in (a, b)] for way in (east, north))
        fade = 0.75 - 0.5 * number / deepest
        axes.plot(x, y, "-", color=BLUE, alpha=fade, linewidth=0.8)
        axes.plot(x[1], y[1], ".", color=ORANGE, alpha=0.7, ms=4)
    axes.plot(*(first[:1] @ np.stack([east, north], -1) / unit.size).T, "^", color="black", ms=6)
    axes.set_aspect("equal", adjustable="datalim")
    flat = found.data.level is not None
    axes.set_xlabel(named("x" if flat else "east", unit))
    axes.set_ylabel(named("y" if flat else "north", unit))
    plain(axes)


def _plane(found: LandingFindings, starts: Array) -> tuple[Array, Array, Array]:
    """Two directions in the plane that is looked at, and its origin."""
    level = found.data.level
    if level is None:
        middle = starts.mean(axis=0)
        axes = frames.local_frame(middle)
        return axes[:, 0], axes[:, 1], middle
    east = np.array([1.0, 0.0, 0.0]) - level[0] * level
    if np.linalg.norm(east) < 1e-6:
        east = np.array([0.0, 1.0, 0.0]) - level[1] * level
    east = east / np.linalg.norm(east)
    return east, np.cross(level, east), np.zeros(3)

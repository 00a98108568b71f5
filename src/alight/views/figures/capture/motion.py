"""Figures of many captures: how they come to rest, slip, spin afterwards, and what that takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from alight.analysis import captures
from alight.analysis.bins import binned, varies
from alight.analysis.columns import Array
from alight.views import style, words
from alight.views.estimates import percent
from alight.views.figures.panels import (
    BLUE,
    HALO,
    ORANGE,
    POINTS,
    SKY,
    HistogramPanel,
    draw_histograms,
    empty,
    histogram,
    named,
    panels,
    percents,
    plain,
    thinned,
)

if TYPE_CHECKING:
    from alight.views.report.capture.findings import CaptureFindings

#: How histograms of captures are drawn, three abreast.
NARROW: Any = {"things": "captures", "narrow": True}


# -- rest and slip ----------------------------------------------------------------------------


def draw_rest(found: CaptureFindings, *files: Path) -> None:
    """When captures come to rest, and how far they slip."""
    with style.figure(9.6, 3.4) as fig:
        when, slow, slip = panels(fig, 1, 3, 3.4)
        when.set_title("At rest by then")
        resting(when, found.values("settle_s"), int(found.touched.sum()))
        slow.set_title("From contact to rest")
        _against(slow, found, "settle_s", "time from contact to rest", words.Unit("s", 1.0))
        slip.set_title("Slip along the fabric")
        _against(slip, found, "slip_m", "path of slip", words.Unit("m", 1.0))
        style.save(fig, *files)


def resting(axes: Axes, times: Array, touched: int) -> None:
    """The share of captures that are at rest so long after contact; all that touched count."""
    if not len(times):
        empty(axes)
        return
    at, share = captures.grown(times, touched)
    axes.step(np.append(0.0, at), np.append(0.0, share), where="post", color=BLUE, linewidth=1.6)
    axes.axhline(share[-1], color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(
        f"{percent(float(share[-1]))} in the end", (0.03, share[-1]), (0, 3),
        xycoords=("axes fraction", "data"), textcoords="offset points", color=style.GREY,
    )  # fmt: skip
    axes.set(xlim=(0.0, None), ylim=(0.0, 1.04), xlabel="time after contact [s]")
    percents(axes, "share of all that touch")
    plain(axes)


def _against(axes: Axes, found: CaptureFindings, column: str, label: str, unit: words.Unit) -> None:
    """A quantity over friction, or its histogram where friction is the same for all."""
    values, friction = found.known[column] / unit.size, found.data.table["friction"]
    if not np.isfinite(values).any():
        empty(axes)
    elif varies(friction):
        cloud(axes, friction, values)
        axes.set(xlabel="friction", ylabel=named(label, unit))
    else:
        histogram(axes, values[np.isfinite(values)], unit.name, **NARROW)
        axes.set_xlabel(named(label, unit))


def cloud(axes: Axes, x: Array, y: Array) -> None:
    """Dots, and in bins of x the median and what 90 % of y lie between."""
    has = np.isfinite(x) & np.isfinite(y)
    x, y = x[has], y[has]
    dots = thinned(np.stack([x, y], axis=1), POINTS)
    axes.scatter(dots[:, 0], dots[:, 1], s=6, color=SKY, alpha=0.6, linewidths=0, rasterized=True)
    bins = [b for b in binned(x, np.ones(len(x), bool)) if len(b.members) >= 5]
    if bins:
        middle = [b.middle for b in bins]
        low, median, high = np.array([np.quantile(y[b.members], (0.05, 0.5, 0.95)) for b in bins]).T
        axes.fill_between(middle, low, high, color=style.LINE, alpha=0.4, linewidth=0, zorder=0)
        axes.plot(middle, median, "o-", color=ORANGE, linewidth=1.6, ms=4)
    axes.set_ylim(0.0, None)
    plain(axes)


# -- the pair, and other loads ----------------------------------------------------------------


def draw_pair(found: CaptureFindings, *files: Path) -> None:
    """How asteroid and craft spin as one at the end."""
    with style.figure(9.6, 3.4) as fig:
        spin, angle, thrust = panels(fig, 1, 3, 3.4)
        spin.set_title("Spin of the pair")
        _pair_spin(spin, found)
        angle.set_title("Craft's axis from that spin")
        if len(found.values("axis_deg")):
            histogram(angle, found.values("axis_deg"), "°", **NARROW)
            angle.set(xlim=(0.0, 90.0), xticks=(0, 30, 60, 90), xlabel="angle [°]; 90° is flat")
        else:
            empty(angle)
        thrust.set_title("Thrust that the spin takes")
        _needed(thrust, found.values("needed_n"), found.data.thrust)
        style.save(fig, *files)


def _pair_spin(axes: Axes, found: CaptureFindings) -> None:
    before, after = found.data.table["spin_rpm"], found.known["pair_rpm"]
    if not np.isfinite(after).any():
        empty(axes)
    elif varies(before):
        cloud(axes, before, after)
        end = float(before.max())
        axes.plot((0.0, end), (0.0, end), color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.text(0.97 * end, 0.99 * end, "as before", ha="right", color=style.GREY, va="bottom")
        axes.set(xlim=(0.0, None), xlabel="asteroid before [rpm]", ylabel="pair after [rpm]")
    else:
        histogram(axes, found.values("pair_rpm"), "rpm", **NARROW)
        axes.set_xlabel("pair after [rpm]")


def _needed(axes: Axes, values: Array, thrust: float | None) -> None:
    if not len(values):
        empty(axes)
        return
    histogram(axes, values, "N", **NARROW)
    axes.set_xlabel("to hold the craft on its circle [N]")
    if thrust is not None:
        high = axes.get_xlim()[1]
        axes.set_xlim(0.0, max(high, 1.06 * thrust))
        axes.axvline(thrust, color=style.ALARM, linewidth=1.4)
        axes.annotate(
            f"thrust\n{thrust:.0f} N", (thrust, 0.6), (-4, 0),
            xycoords=("data", "axes fraction"), textcoords="offset points", ha="right", va="top",
            color=style.ALARM, fontweight="bold", bbox=HALO,
        )  # fmt: skip


_OTHERS = (
    HistogramPanel("force_n", "Force on the asteroid", "largest force of the fabric", words.newton),
    HistogramPanel("depth_m", "Depth in the fabric", "largest depth", words.always("m")),
    HistogramPanel("torsion_nm", "Torsion", "largest, about a boom", words.always("N m")),
    HistogramPanel("propellant_kg", "Propellant", "used up to the end", words.always("kg")),
)


def draw_others(found: CaptureFindings, *files: Path) -> None:
    """Force, depth, and propellant where it varies; else torsion, which always does."""
    propellant = found.values("propellant_kg")
    steady = not len(propellant) or np.ptp(propellant) < 0.02 * propellant.max()
    left_out = "propellant_kg" if steady else "torsion_nm"
    shown = [one for one in _OTHERS if one.column != left_out]
    draw_histograms(found.known, shown, *files, things="captures", columns=3)

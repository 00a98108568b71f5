"""Where landings rest about their middle, with ellipses; and histograms of how they go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from alight.analysis.columns import Array
from alight.analysis.footprint import Ellipse
from alight.analysis.settling import COUNT, FIRST, FORCE, HARDEST, SETTLE, TOUCH
from alight.views import style, words
from alight.views.figures.panels import (
    BLUE,
    HALO,
    ORANGE,
    POINTS,
    HistogramPanel,
    draw_histograms,
    plain,
)

if TYPE_CHECKING:
    from alight.views.report.landing.findings import LandingFindings

#: How the ellipses are drawn: widest line for the smallest.
_LINES = {0.50: ("-", 2.2), 0.95: ("-", 1.4), 0.99: ((0, (5, 2)), 1.2)}


def draw_ellipses(found: LandingFindings, *files: Path) -> None:
    """Where landings rest about their middle, and the ellipses that hold parts of them."""
    assert found.where is not None
    rest = found.where.plane
    middle, reach = window(found.ellipses, rest)
    unit = words.length(reach)
    with style.figure(9.6, 5.9) as fig:
        axes = fig.add_axes((0.075, 0.09, 0.66, 0.88))
        side = fig.add_axes((0.665, 0.09, 0.32, 0.88))
        axes.set_aspect("equal", anchor="W")
        box = np.array([middle - reach, middle + reach]) / unit.size
        axes.set_xlim(*box[:, 0])
        axes.set_ylim(*box[:, 1])
        _cloud(axes, side, rest / unit.size, box)
        for ellipse in found.ellipses:
            _outline(axes, ellipse, unit)
        if found.compact:
            axes.plot(0.0, 0.0, "+", color="white", ms=13, mew=3.6, zorder=6)
            axes.plot(0.0, 0.0, "+", color=style.INK, ms=11, mew=1.6, zorder=7)
        name_axes(axes, found, unit)
        plain(axes)
        _legend(side, found, unit)
        style.save(fig, *files)


def name_axes(axes: Axes, found: LandingFindings, unit: words.Unit) -> None:
    """Directions on the ground: on a body "east of the middle", on a plane "x from the middle"."""
    of = "of" if found.data.level is None else "from"
    first, second = found.data.axes
    middle = "the middle" if found.compact else "the median place"
    axes.set_xlabel(f"{first} {of} {middle} [{unit.name}]")
    axes.set_ylabel(f"{second} {of} {middle} [{unit.name}]")


def window(ellipses: list[Ellipse], rest: Array) -> tuple[Array, float]:
    """Middle and half width of what is shown [m]: the largest ellipse and some more."""
    if ellipses:
        return np.asarray(ellipses[-1].centre), 1.18 * ellipses[-1].semi_major
    low, high = rest.min(axis=0), rest.max(axis=0)
    return 0.5 * (low + high), 0.6 * max(1e-3, float((high - low).max()))


def _cloud(axes: Axes, side: Axes, rest: Array, box: Array) -> None:
    """Few places as dots, many as counts in cells."""
    side.set_axis_off()
    if len(rest) <= POINTS:
        axes.scatter(
            rest[:, 0], rest[:, 1], s=7, color=BLUE, alpha=0.45, linewidths=0, zorder=2,
            rasterized=True,
        )  # fmt: skip
        return
    inside = rest[((rest >= box[0]) & (rest <= box[1])).all(axis=1)]
    extent = (*box[:, 0], *box[:, 1])
    cells = axes.hexbin(
        *inside.T, gridsize=70, extent=extent, mincnt=1,
        cmap="Blues", norm=LogNorm(vmin=0.4), linewidths=0.1, zorder=2, rasterized=True,
    )  # fmt: skip
    cells.set_edgecolor("face")
    bar = side.figure.colorbar(cells, cax=side.inset_axes((0.02, 0.0, 0.05, 0.42)))
    bar.set_label("landings in a cell")
    bar.outline.set_visible(False)


def _outline(axes: Axes, ellipse: Ellipse, unit: words.Unit) -> None:
    east, north = ellipse.outline().T / unit.size
    dash, width = _LINES[ellipse.share]
    axes.plot(east, north, color="white", linewidth=width + 1.6, zorder=4)
    axes.plot(east, north, color=ORANGE, linewidth=width, linestyle=dash, zorder=5)
    top = int(np.argmax(north))
    axes.annotate(
        f"{100 * ellipse.share:.0f} %", (east[top], north[top]), (0, 4), textcoords="offset points",
        ha="center", color=ORANGE, fontweight="bold", fontsize=9, zorder=6,
        bbox=HALO,
    )  # fmt: skip


def _legend(side: Axes, found: LandingFindings, unit: words.Unit) -> None:
    """Figures of the ellipses, in words, beside them."""
    assert found.where is not None
    lines = [f"{len(found.where.plane)} landings at rest", ""]
    if found.ellipses:
        lines.append("semi-axes")
        for e in found.ellipses:
            axes = f"{unit.of(e.semi_major)} × {unit(e.semi_minor)}"
            lines.append(f"{100 * e.share:.0f} %   {axes}")
        first, second = found.data.axes
        turned = f"{round(found.ellipses[0].azimuth) % 180}° from {second} to {first}"
        lines += ["", "long axis", turned]
    else:
        lines.append("no ellipses" if found.groups.count == 1 else f"{found.groups.count} clusters")
    if found.far:
        lines += ["", f"{words.percent(found.far)} on the far side,", "folded over"]
    side.text(0.0, 1.0, "\n".join(lines), va="top", linespacing=1.55, transform=side.transAxes)


# -- histograms -------------------------------------------------------------------------------


#: How landings go; rigid hits have no force, and the hardest impact stands in its place.
_HISTOGRAMS = (
    HistogramPanel(SETTLE, "Settling time", "time from release to rest", words.time),
    HistogramPanel(COUNT, "Contacts", "contacts of a landing, the last included", words.bare, True),
    HistogramPanel(FIRST, "First impact", "speed towards the ground", words.speed),
)
_FORCE = HistogramPanel(FORCE, "Largest force", "normal force of the ground", words.newton)
_HARDEST = HistogramPanel(HARDEST, "Hardest impact", "speed towards the ground", words.speed)


def draw_spreads(found: LandingFindings, *files: Path) -> None:
    """Settling time, bounces, speed of the first impact, largest force or hardest impact."""
    shown = (*_HISTOGRAMS, _FORCE if found.data.forces else _HARDEST)
    draw_histograms(found.known, shown, *files)


# -- the timeline -----------------------------------------------------------------------------


def draw_timeline(found: LandingFindings, *files: Path) -> None:
    """When landings touch, come to rest or are lost: range, middle 90 % and median."""
    shown = {"first contact": found.values(TOUCH), "rest": found.values(SETTLE)}
    for loss in found.losses:
        if loss.count and not loss.asked and loss.stem != "bottoming":
            shown[f"{loss.verb.did}, end of the run"] = found.data.times[loss.hit]
    unit = words.time(float(np.median(shown["rest"])))
    height = 0.75 + 0.42 * len(shown)
    with style.figure(9.6, height) as fig:
        axes = fig.add_axes((0.2, 0.5 / height, 0.775, 1.0 - 0.62 / height))
        for k, times in enumerate(shown.values()):
            _span(axes, k, times, unit, ORANGE if k > 1 else BLUE)
        axes.set_yticks(range(len(shown)), list(shown), color=style.INK)
        axes.set_ylim(len(shown) - 0.45, -0.7)
        axes.set_xlim(0.0, 1.04 * max(float(t.max()) for t in shown.values()) / unit.size)
        axes.set_xlabel(f"time from release [{unit.name}]")
        plain(axes, "x")
        axes.tick_params(axis="y", length=0)
        style.save(fig, *files)


def _span(axes: Axes, y: int, times: Array, unit: words.Unit, colour: str) -> None:
    low, p05, median, p95, high = np.quantile(times / unit.size, [0.0, 0.05, 0.5, 0.95, 1.0])
    value = float(np.median(times))
    axes.plot([low, high], [y, y], color=colour, linewidth=1.2)
    axes.plot([p05, p95], [y, y], color=colour, linewidth=7.0, alpha=0.45, solid_capstyle="butt")
    axes.plot(median, y, "|", color=colour, ms=13, mew=2.4)
    axes.annotate(
        words.time(value)(value), (float(median), y), (0, 9), fontsize=7.5,
        textcoords="offset points", ha="center", color=colour, fontweight="bold",
    )  # fmt: skip

"""Figures of a campaign: ellipses, histograms, sensitivities, convergence.

Each function draws one figure into the files it is given. Colours are told apart by colour-blind
readers, and nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator

from alight.analysis.columns import Array
from alight.analysis.density import thin
from alight.analysis.footprint import Ellipse
from alight.analysis.intervals import Estimate
from alight.views import style, words
from alight.views.report_numbers import (
    COUNT,
    FIRST,
    FORCE,
    HARDEST,
    SETTLE,
    Findings,
    Told,
    azimuth,
)

#: What was found, what marks it, and a third thing beside them (safe pairs of Okabe and Ito).
BLUE, ORANGE, GREEN, SKY, PURPLE, YELLOW = (
    "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#a8588f", "#b8860b",
)  # fmt: skip

#: Points of a cloud that are drawn, at most; more of them are counted in cells instead.
POINTS = 4000

#: How the ellipses are drawn: widest line for the smallest.
_LINES = {0.50: ("-", 2.2), 0.95: ("-", 1.4), 0.99: ((0, (5, 2)), 1.2)}

#: Behind words that stand over lines.
HALO = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}

#: Bars of one panel of sensitivities, at most.
BARS = 8


def plain(axes: Axes, grid: str = "both") -> None:
    """Thin grid lines behind, no box."""
    axes.spines[["top", "right"]].set_visible(False)
    if grid != "none":
        axes.grid(axis=grid, color=style.LINE, linewidth=0.4)  # type: ignore[arg-type]
        axes.set_axisbelow(True)


def thinned(points: Array, most: int = POINTS) -> Array:
    """At most ``most`` of ``points``, evenly spaced: runs are in no order."""
    return points[thin(len(points), most)]


# -- ellipses ---------------------------------------------------------------------------------


def draw_ellipses(found: Findings, *files: Path) -> None:
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
        axes.plot(0.0, 0.0, "+", color="white", ms=13, mew=3.6, zorder=6)
        axes.plot(0.0, 0.0, "+", color=style.INK, ms=11, mew=1.6, zorder=7)
        name_axes(axes, found, unit)
        plain(axes)
        _legend(side, found, unit)
        style.save(fig, *files)


def name_axes(axes: Axes, found: Findings, unit: words.Unit) -> None:
    """Directions on the ground: on a body "east of the middle", on a plane "x from the middle"."""
    of = "of" if found.data.level is None else "from"
    first, second = found.data.axes
    axes.set_xlabel(f"{first} {of} the middle [{unit.name}]")
    axes.set_ylabel(f"{second} {of} the middle [{unit.name}]")


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


def _legend(side: Axes, found: Findings, unit: words.Unit) -> None:
    """Figures of the ellipses, in words, beside them."""
    assert found.where is not None
    lines = [f"{len(found.where.plane)} landings at rest", ""]
    if found.ellipses:
        lines.append("semi-axes")
        for e in found.ellipses:
            axes = f"{unit.of(e.semi_major)} × {unit(e.semi_minor)}"
            lines.append(f"{100 * e.share:.0f} %   {axes}")
        first, second = found.data.axes
        turned = f"{round(azimuth(found.ellipses[0])) % 180}° from {second} to {first}"
        lines += ["", "long axis", turned]
    else:
        lines.append("no ellipses")
    if found.far:
        lines += ["", f"{words.percent(found.far)} on the far side,", "folded over"]
    side.text(0.0, 1.0, "\n".join(lines), va="top", linespacing=1.55, transform=side.transAxes)


# -- histograms -------------------------------------------------------------------------------


def draw_histograms(found: Findings, *files: Path) -> None:
    """Settling time, bounces, speed of the first impact, largest force or hardest impact."""
    hardest: tuple[str, str, str, Callable[[float], words.Unit] | None]
    hardest = (HARDEST, "Hardest impact", "speed towards the ground", words.speed)
    if found.data.forces:
        hardest = (FORCE, "Largest force", "normal force of the ground", None)
    panels = (
        (SETTLE, "Settling time", "time from release to rest", words.time),
        (COUNT, "Contacts", "contacts of a landing, the last included", None),
        (FIRST, "First impact", "speed towards the ground", words.speed),
        hardest,
    )
    with style.figure(9.6, 6.2) as fig:
        grid = fig.add_gridspec(
            2, 2, left=0.065, right=0.985, top=0.95, bottom=0.085, hspace=0.42, wspace=0.19
        )
        for k, (name, title, label, choose) in enumerate(panels):
            axes = fig.add_subplot(grid[k // 2, k % 2])
            axes.set_title(title)
            values = found.values(name)
            if not len(values):
                empty(axes)
                continue
            middle = float(np.median(values))
            unit = choose(middle) if choose else words.Unit("N" if name == FORCE else "", 1.0)
            histogram(axes, values / unit.size, unit.name, whole=name == COUNT)
            axes.set_xlabel(f"{label} [{unit.name}]" if unit.name else label)
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
        place = (1.0, 1.025) if not narrow else (0.985, 0.89 if right else 0.97)
        axes.text(
            *place, note.replace(", ", ",\n") if narrow else note, transform=axes.transAxes,
            ha="right", va="top" if narrow else "baseline", color=style.GREY, size=7,
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


# -- sensitivities ----------------------------------------------------------------------------


def draw_sensitivity(found: Told, *files: Path) -> None:
    """For each outcome the inputs that go with it, as bars of rank correlation."""
    told = found.sensitivity
    assert told is not None
    bars = min(BARS, len(told.inputs))
    rows = -(-len(told.outputs) // 2)
    height = rows * (0.75 + 0.24 * bars) + 0.3
    with style.figure(9.6, height) as fig:
        grid = fig.add_gridspec(
            rows, 2, left=0.19, right=0.985, wspace=0.62, hspace=0.75 / (0.1 + 0.24 * bars),
            top=1.0 - 0.4 / height, bottom=0.5 / height,
        )  # fmt: skip
        for k, output in enumerate(told.outputs):
            axes = fig.add_subplot(grid[k // 2, k % 2])
            axes.set_title(output[0].upper() + output[1:])
            # By chance a correlation of n runs is this large 5 % of the time.
            noise = 1.96 / np.sqrt(max(1.0, float(told.n[:, k].max()) - 1.0))
            _bars(axes, told.inputs, told.value[:, k], noise, bars)
            if k >= len(told.outputs) - 2:
                axes.set_xlabel("rank correlation")
        style.save(fig, *files)


def _bars(axes: Axes, inputs: tuple[str, ...], values: Array, noise: float, bars: int) -> None:
    """The largest correlations, from the top; those within the noise are pale."""
    axes.set_xlim(-1.22, 1.22)
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(-np.abs(values[known]))][:bars]
    if not len(order):
        axes.set_yticks([])
        axes.text(0.0, 0.5, "does not vary", ha="center", color=style.GREY)
        axes.set_ylim(0.0, 1.0)
        return
    place = np.arange(len(order))
    colours = [_sign_colour(float(values[i]), noise) for i in order]
    axes.axvspan(-noise, noise, color=style.LINE, alpha=0.45, linewidth=0)
    axes.barh(place, values[order], color=colours, height=0.68, zorder=2)
    for y, value in zip(place, values[order], strict=True):
        end = 3 if value >= 0.0 else -3
        axes.annotate(
            _signed(float(value)), (value, y), (end, 0), textcoords="offset points", va="center",
            ha="left" if value >= 0.0 else "right", fontsize=7, color=style.INK,
        )  # fmt: skip
    axes.set_yticks(place, [inputs[i] for i in order], fontsize=7.5, color=style.INK)
    axes.set_ylim(bars - 0.4, -0.6)
    axes.axvline(0.0, color=style.GREY, linewidth=0.7)
    axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    plain(axes, "x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _signed(value: float) -> str:
    """Two decimals and a sign, but none of what rounds to 0."""
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0.0 else text.replace("-", "−")


def _sign_colour(value: float, noise: float) -> str:
    if abs(value) <= noise:
        return "#aab2bf"
    return BLUE if value > 0.0 else ORANGE


# -- convergence ------------------------------------------------------------------------------


def draw_convergence(found: Told, *files: Path) -> None:
    """The main answers from the first runs, as they grow in number."""
    with style.figure(9.6, 5.4) as fig:
        grid = fig.add_gridspec(
            2, 2, left=0.075, right=0.985, top=0.945, bottom=0.095, hspace=0.46, wspace=0.2
        )
        told = found.convergence.answers
        for k, (answer, title, choose) in enumerate(a for a in found.trends if a[0] in told):
            axes = fig.add_subplot(grid[k // 2, k % 2])
            axes.set_title(title)
            known = [
                (n, e)
                for n, e in zip(found.convergence.runs, told[answer], strict=True)
                if np.isfinite(e.value)
            ]
            if not known:
                empty(axes)
                continue
            runs = np.array([n for n, _ in known])
            _trend(axes, runs, [e for _, e in known], choose(known[-1][1].value))
            if k >= 2:
                axes.set_xlabel("number of runs")
        style.save(fig, *files)


def _trend(axes: Axes, runs: Any, found: list[Estimate], unit: words.Unit) -> None:
    value, low, high = (
        np.array([getattr(e, name) for e in found]) / unit.size for name in ("value", "low", "high")
    )
    axes.axhline(value[-1], color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.fill_between(runs, low, high, color=SKY, alpha=0.35, linewidth=0)
    axes.plot(runs, value, color=BLUE, linewidth=1.6, marker="o", ms=3)
    axes.plot(runs[-1], value[-1], "o", color=ORANGE, ms=6, zorder=4, clip_on=False)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:.0f}")
    axes.set_ylabel(f"[{unit.name}]")
    axes.yaxis.set_major_locator(MaxNLocator(5))
    if np.nanmin([low, value]) < 0.25 * np.nanmax([high, value]):
        axes.set_ylim(bottom=0.0)
    plain(axes)

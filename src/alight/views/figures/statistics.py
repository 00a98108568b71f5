"""What drives the outcome, and whether runs are enough: figures for runs of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from alight.analysis.columns import Array
from alight.analysis.intervals import Estimate
from alight.views import style, words
from alight.views.figures.panels import BLUE, ORANGE, SKY, plain

if TYPE_CHECKING:
    from alight.views.report.findings import Findings

#: Bars of one panel of sensitivities, at most.
BARS = 8


# -- sensitivities ----------------------------------------------------------------------------


def draw_sensitivity(found: Findings[Any], *files: Path) -> None:
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


def draw_convergence(found: Findings[Any], *files: Path) -> None:
    """The main answers from the first runs, as they grow in number."""
    with style.figure(9.6, 5.4) as fig:
        grid = fig.add_gridspec(
            2, 2, left=0.075, right=0.985, top=0.945, bottom=0.095, hspace=0.46, wspace=0.2
        )
        told = found.convergence.answers
        some = {name for name, ones in told.items() if any(np.isfinite(e.value) for e in ones)}
        shown = [one for one in found.trends if one.name in some]
        for k, trend in enumerate(shown):
            axes = fig.add_subplot(grid[k // 2, k % 2])
            axes.set_title(trend.title)
            known = [
                (n, e)
                for n, e in zip(found.convergence.runs, told[trend.name], strict=True)
                if np.isfinite(e.value)
            ]
            runs = np.array([n for n, _ in known])
            _trend(axes, runs, [e for _, e in known], trend.choose(known[-1][1].value))
            if k + 2 >= len(shown):  # the lowest of its column
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
    # Over many decades there is room for their own labels alone.
    between = "25" if runs[-1] < 1000 * runs[0] else ""
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}".replace(",", "\u2009"))
    axes.xaxis.set_minor_formatter(lambda n, _: f"{n:.0f}" if f"{n:g}"[0] in between else "")
    axes.set_ylabel(f"[{unit.name}]")
    axes.yaxis.set_major_locator(MaxNLocator(5))
    if np.nanmin([low, value]) < 0.25 * np.nanmax([high, value]):
        axes.set_ylim(bottom=0.0)
    plain(axes)

"""Chance of a loss against what is uncertain: bins with intervals, a fitted curve, and the two
numbers that matter most against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.analysis.density import thin
from alight.analysis.dependence import Dependence
from alight.views import style
from alight.views.figures.panels import BLUE, ORANGE, SKY, named, panels, percents, plain

if TYPE_CHECKING:
    from alight.views.report.losses import Loss

#: Runs that are drawn one by one, at most.
DOTS = 2000


def draw_loss(loss: Loss, shown: Sequence[Dependence], *files: Path) -> None:
    """A panel for each input shown, and one for the two strongest together."""
    from alight.views.report.losses import pair

    two = pair(loss)
    count = len(shown) + (two is not None)
    columns = 2 if count in (2, 4) else 3
    rows = -(-count // columns)
    height = 3.0 * rows
    with style.figure(9.6, height) as fig:
        cells = panels(fig, rows, columns, height, left=0.07, wspace=0.3, hspace=0.46)
        for k, (axes, one) in enumerate(zip(cells, shown, strict=False)):
            _share(axes, loss, one, left=k % columns == 0)
        if two is not None:
            _two(cells[len(shown)], loss, *two)
        for axes in cells[count:]:
            axes.set_axis_off()
        style.save(fig, *files)


def _share(axes: Axes, loss: Loss, one: Dependence, left: bool) -> None:
    """Share that is lost over one input."""
    middle = np.array([b.middle for b in one.bins])
    low, high = ([getattr(b, end) for b in one.bins] for end in ("low", "high"))
    share = np.array([b.share.value for b in one.bins])
    ends = np.array([[b.share.low, b.share.high] for b in one.bins])
    axes.axhline(loss.share.value, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
    span = np.linspace(min(low), max(high), 200)
    colour = ORANGE if one.clear else style.LINE
    axes.plot(span, one.curve(span), color=colour, linewidth=1.8, zorder=2)
    axes.hlines(share, low, high, color=BLUE, linewidth=1.0, zorder=3)
    axes.vlines(middle, *ends.T, color=BLUE, linewidth=1.4, zorder=3)
    axes.plot(middle, share, "o", color=BLUE, ms=4.5, zorder=4)
    axes.set(ylim=(-0.03, 1.03), title=_title(one.name), xlabel=named("", loss.unit(one.name)))
    percents(axes, f"share that {loss.verb.many}" if left else "")
    plain(axes)


def _title(name: str) -> str:
    return name[0].upper() + name[1:]


def _two(axes: Axes, loss: Loss, first: Dependence, second: Dependence) -> None:
    """Runs by the two strongest inputs, those lost marked by colour and shape."""
    hit = loss.hit[loss.known]

    def values(one: Dependence) -> Array:
        x, unit = loss.inputs[one.name]
        return np.asarray(x[loss.known] / unit.size)

    for here, mark, colour, size, label in (
        (~hit, "o", SKY, 9, "not lost"),
        (hit, "x", ORANGE, 13, "lost"),
    ):
        chosen = np.flatnonzero(here)
        chosen = chosen[thin(len(chosen), max(1, int(DOTS * len(chosen) / len(hit))))]
        axes.scatter(
            values(first)[chosen], values(second)[chosen], s=size, marker=mark, color=colour,
            linewidths=0.9, alpha=0.8, label=label, rasterized=True,
        )  # fmt: skip
    axes.set_xlabel(named(first.name, loss.unit(first.name)))
    axes.set_ylabel(named(second.name, loss.unit(second.name)))
    axes.set_title("Both together")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.02, 0.985), ncols=2, frameon=False, fontsize=7,
        handletextpad=0.1, columnspacing=0.8,
    )  # fmt: skip
    plain(axes)

"""Figures of drops on a membrane: ends, where the energy goes, trajectories of single runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.bins import binned
from alight.analysis.columns import Array
from alight.core import frames
from alight.views import style, words
from alight.views.estimates import percent
from alight.views.figures.panels import (
    BLUE,
    GREEN,
    LINES,
    ORANGE,
    SKY,
    HistogramPanel,
    curves,
    draw_histograms,
    named,
    panels,
    percents,
    plain,
    stacked,
)

if TYPE_CHECKING:
    from alight.views.report.data import Trajectory
    from alight.views.report.drop.findings import DropFindings

_SPREADS = (
    HistogramPanel("depth_m", "Depth", "below the suspension plane", words.always("m")),
    HistogramPanel("force_n", "Force", "largest, of the fabric", words.newton),
    HistogramPanel("in_contact_s", "Time in contact", "until it last leaves", words.always("s")),
    HistogramPanel("rebound_m_s", "Rebound", "lowest point, as it leaves", words.always("m/s")),
    HistogramPanel("restitution", "Rebound over impact", "ratio of the two speeds", words.bare),
    HistogramPanel("slip_m", "Slip", "path along the fabric", words.always("m")),
)

#: How shares of energy are named and coloured, from what is lost to what is left.
_SHARES = {
    "fabric_share": ("fabric", BLUE),
    "friction_share": ("friction", ORANGE),
    "motion_share": ("motion\nat the end", GREEN),
    "stored_share": ("strain\nat the end", SKY),
}


def draw_spreads(found: DropFindings, *files: Path) -> None:
    """Depth, force, time, rebound and slip."""
    shown = [one for one in _SPREADS if one.column in found.known]
    draw_histograms(found.known, shown, *files, things="drops", columns=3)


# -- energy -----------------------------------------------------------------------------------


def draw_energy(found: DropFindings, *files: Path) -> None:
    """Shares of the energy that bodies brought: of all drops, and over what varies."""
    height = 3.2
    with style.figure(9.6, height) as fig:
        left, right = panels(fig, 1, 2, height, left=0.085)
        left.set_title("Shares of the energy")
        _medians(left, found)
        if found.varied is None:
            right.set_axis_off()
        else:
            right.set_title(f"Mean shares by {found.varied[0]}")
            _stacked(right, found)
        style.save(fig, *files)


def _medians(axes: Axes, found: DropFindings) -> None:
    """A bar to the median, and a line over what 90 % of the drops are between."""
    for k, (column, (_, colour)) in enumerate(_SHARES.items()):
        low, median, high = np.quantile(found.values(column), (0.05, 0.5, 0.95))
        axes.barh(k, median, color=colour, height=0.62)
        axes.plot((low, high), (k, k), color=style.INK, linewidth=1.2)
        axes.annotate(
            percent(float(median)) if median >= 5e-4 else "0 %", (max(high, 0.0), k), (5, 0),
            textcoords="offset points", va="center", fontweight="bold",
        )  # fmt: skip
    axes.set_yticks(range(len(_SHARES)), [name for name, _ in _SHARES.values()], color=style.INK)
    axes.set(ylim=(len(_SHARES) - 0.4, -0.6), xlim=(0.0, 1.0), xlabel="share of what it brought")
    axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
    plain(axes, "x")


def _stacked(axes: Axes, found: DropFindings) -> None:
    """Mean shares in bins of what varies, one upon the other."""
    assert found.varied is not None
    name, values, unit = found.varied
    known = np.isfinite(found.known["fabric_share"])
    bins = binned(values[known], np.ones(int(known.sum()), bool))
    parts = []
    for column, (label, colour) in _SHARES.items():
        own = found.known[column][known]
        parts.append((label, colour, np.clip([own[b.members].mean() for b in bins], 0.0, None)))
    stacked(axes, bins, parts)
    axes.set_xlabel(named(name, unit))
    percents(axes)


# -- single drops -----------------------------------------------------------------------------


def draw_courses(found: DropFindings, *files: Path) -> None:
    """The trajectories that were kept, one line each."""
    courses, height = found.data.courses, 5.6
    lost = [c["damped_J"] + c["rubbed_J"] for c in courses]
    energy, unit = (1e3, "kJ") if max(float(x.max()) for x in lost) >= 1e4 else (1.0, "J")
    shown = {
        "Height of the centre [m]": [_height(c) for c in courses],
        "Speed of the centre [m/s]": [_speed(c) for c in courses],
        "Depth of the lowest point [m]": [c["depth_m"] for c in courses],
        "Force of the fabric [N]": [c["force_N"] for c in courses],
        "Slip along the fabric [m]": [c["slip_m"] for c in courses],
        f"Energy lost, fabric and friction [{unit}]": [x / energy for x in lost],
    }
    with style.figure(9.6, height) as fig:
        cells = panels(fig, 2, 3, height, top=0.3, bottom=0.5, left=0.055, hspace=0.36)
        curves(cells, courses, shown, [f"run {c.run}" for c in courses], 3)
        for axes in cells:
            for (colour, _), course in zip(LINES, courses, strict=False):
                axes.axvline(course.row["first_contact_s"], color=colour, lw=0.7, alpha=0.5)
        for axes in cells[1:]:
            axes.set_ylim(bottom=0.0)
        cells[0].axhline(0.0, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        cells[0].legend(frameon=False, fontsize=8, loc="upper right")
        style.save(fig, *files)


def _height(course: Trajectory) -> Array:
    """(k,) of the body's centre of mass above the carrier, along z of the carrier [m]."""
    apart = course.rows("body_", "_m") - course.rows("carrier_", "_m")
    up = frames.quat_rotate(course.rows("carrier_q", axes="xyzw"), (0.0, 0.0, 1.0))
    return np.einsum("ki,ki->k", apart, up)


def _speed(course: Trajectory) -> Array:
    """(k,) of the body's centre of mass against the carrier [m/s]."""
    v = course.rows("body_v", "_m_per_s") - course.rows("carrier_v", "_m_per_s")
    return np.asarray(np.linalg.norm(v, axis=1))

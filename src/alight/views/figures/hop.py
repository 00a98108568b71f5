"""A sheet about hops from one place to another: side view, speeds over flight time, and landing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from alight.analysis.columns import Array
from alight.views import style, words
from alight.views.figures.panels import BLUE, GREEN, ORANGE, plain, thinned

#: Colours of hops by name; all are safe for colour-blind readers.
COLOURS = {"minimum speed": BLUE, "shallow": GREEN, "steep": ORANGE}


@dataclass(frozen=True, eq=False)
class Flown:
    """One hop as the sheet draws it."""

    name: str
    """``minimum speed``, ``shallow`` or ``steep``."""
    profile: Array
    """(k, 2) towards the target and up [m]."""
    time: float
    """[s]"""
    speed: float
    """[m/s]"""
    caption: str
    """What the legend says of it."""


@dataclass(frozen=True, eq=False)
class Landing:
    """Where a hop first touches and where it rests, down range and across [m]."""

    titles: tuple[str, str]
    """Of first impacts, and of rest sites."""
    outlines: tuple[Array, Array]
    """(k, 2) of one and two standard deviations."""
    impacts: Array
    rests: Array
    axes: tuple[str, str]
    """What the two directions are called."""


@dataclass(frozen=True, eq=False)
class HopSheet:
    """All that the sheet shows."""

    title: str
    subtitle: str
    hops: list[Flown]
    ground: Array
    """(k, 2) the ground below, towards the target and up [m]."""
    families: list[tuple[Array, Array, Array]]
    """Flight times [s], speeds [m/s], and whether each can be flown."""
    limit: float
    """Largest speed [m/s]; infinite for none."""
    landing: Landing | None


def draw(sheet: HopSheet, *files: Path) -> None:
    """Draw it into each of the files."""
    with style.figure(11.0, 7.4) as fig:
        fig.text(0.055, 0.962, sheet.title, fontsize=15, fontweight="bold")
        fig.text(0.055, 0.932, sheet.subtitle, color=style.GREY, fontsize=9.5)
        _side(fig.add_axes((0.075, 0.52, 0.90, 0.36)), sheet)
        if sheet.landing is None:
            _speeds(fig.add_axes((0.075, 0.075, 0.38, 0.345)), sheet)
        else:
            _speeds(fig.add_axes((0.065, 0.075, 0.25, 0.345)), sheet)
            _impacts(fig.add_axes((0.385, 0.075, 0.255, 0.345)), sheet.landing)
            _rests(fig.add_axes((0.715, 0.075, 0.265, 0.345)), sheet.landing)
        style.save(fig, *files)


def _side(axes: Axes, sheet: HopSheet) -> None:
    """The flights from the side, to scale."""
    every = np.concatenate([sheet.ground, *(hop.profile for hop in sheet.hops)])
    unit = words.length(float(np.ptp(every[:, 0])))
    floor = float(every[:, 1].min() - 0.06 * np.ptp(every))
    ground = sheet.ground / unit.size
    axes.fill_between(ground[:, 0], ground[:, 1], floor / unit.size, color="#e4e0d8", linewidth=0)
    axes.plot(*ground.T, color="#8d8577", linewidth=1.4)
    for hop in sheet.hops:
        colour = COLOURS.get(hop.name, style.INK)
        axes.plot(*(hop.profile.T / unit.size), color=colour, linewidth=1.8, label=hop.caption)
    first = sheet.hops[0].profile
    axes.plot(*(first[0] / unit.size), "o", color=style.INK, ms=6, zorder=5)
    axes.plot(*(first[-1] / unit.size), "x", color=style.ALARM, ms=9, mew=2.2, zorder=5)
    axes.set_ylim(floor / unit.size, None)
    axes.set_aspect("equal", adjustable="datalim", anchor="C")
    axes.set_title("From the side, to scale")
    axes.set_xlabel(f"towards the target [{unit.name}]")
    axes.set_ylabel(f"up at the start [{unit.name}]")
    axes.legend(loc="upper left", frameon=False, fontsize=8.5)
    plain(axes)


def _speeds(axes: Axes, sheet: HopSheet) -> None:
    """How fast a push-off must be, by flight time."""
    longest = max(float(times.max()) for times, _, _ in sheet.families)
    size, name = (60.0, "min") if longest > 600.0 else (1.0, "s")
    slow = min(float(speeds.min()) for _, speeds, _ in sheet.families)
    for number, (times, speeds, free) in enumerate(sheet.families):
        t, v = times / size, 100.0 * speeds
        # One entry of the legend for all families: labels that begin so are left out of it.
        hide = "_" if number else ""
        told = f"{hide}meets ground, or goes through it"
        axes.plot(t, v, color=style.LINE, linewidth=1.6, label=told)
        over = np.where(free, v, np.nan)
        axes.plot(t, over, color=style.INK, linewidth=1.8, label=f"{hide}free flight")
    for hop in sheet.hops:
        colour = COLOURS.get(hop.name, style.INK)
        axes.plot(hop.time / size, 100.0 * hop.speed, "o", color=colour, ms=8, zorder=5)
    if np.isfinite(sheet.limit):
        axes.axhline(100.0 * sheet.limit, color=style.ALARM, linewidth=1.2, dashes=(5, 2))
        axes.annotate(
            "limit", (1.0, 100.0 * sheet.limit), (-4, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", color=style.ALARM, annotation_clip=True,
        )  # fmt: skip
    high = max([2.2 * slow, *(1.15 * hop.speed for hop in sheet.hops)])
    axes.set_ylim(0.0, 100.0 * high)
    axes.set_xlim(0.0, None)
    axes.set_title("Speed of the push-off by flight time")
    axes.set_xlabel(f"flight time [{name}]")
    axes.set_ylabel("speed [cm/s]")
    axes.legend(loc="lower right", frameon=False, fontsize=8)
    plain(axes)


def _impacts(axes: Axes, landing: Landing) -> None:
    """First impacts and their linear ellipse."""
    every = np.concatenate([landing.outlines[1], landing.impacts])
    unit = words.length(float(np.ptp(every, axis=0).max()))
    _cloud(axes, landing.impacts / unit.size, BLUE)
    for k, outline in enumerate(landing.outlines, 1):
        axes.plot(
            *(outline.T / unit.size), color=style.INK, linewidth=2.0 / k,
            label=f"{k} standard deviation{'s' * (k > 1)}, linear",
        )  # fmt: skip
    _frame(axes, every / unit.size, landing.titles[0], landing.axes, unit)
    axes.legend(loc="upper left", frameon=False, fontsize=7.5)


def _rests(axes: Axes, landing: Landing) -> None:
    """Where runs rest, a few far ones left out; the ellipse of first impacts for comparison."""
    rests = landing.rests
    shown = rests[_inner(rests)] if len(rests) else rests
    every = np.concatenate([landing.outlines[1], shown])
    unit = words.length(float(np.ptp(every, axis=0).max()))
    _cloud(axes, rests / unit.size, ORANGE)
    axes.plot(*(landing.outlines[1].T / unit.size), color=style.INK, linewidth=1.0)
    _frame(axes, every / unit.size, landing.titles[1], landing.axes, unit)


def _cloud(axes: Axes, places: Array, colour: str) -> None:
    x, y = thinned(places).T
    axes.scatter(x, y, s=9, color=colour, alpha=0.55, linewidths=0, rasterized=True)
    axes.plot(0.0, 0.0, "x", color=style.ALARM, ms=8, mew=2.0, zorder=5)


def _frame(axes: Axes, every: Array, title: str, names: tuple[str, str], unit: words.Unit) -> None:
    """A square about all that is to be seen, to scale."""
    middle, half = 0.5 * (every.max(0) + every.min(0)), 0.62 * float(np.ptp(every, axis=0).max())
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal", adjustable="box")
    axes.set_title(title, fontsize=9.5)
    axes.set_xlabel(f"{names[0]} [{unit.name}]")
    axes.set_ylabel(f"{names[1]} [{unit.name}]", labelpad=1)
    plain(axes)


def _inner(places: Array) -> Array:
    """Which places are among the inner 90 % of each direction, to leave out a few far ones."""
    low, high = np.quantile(places, (0.05, 0.95), axis=0)
    return np.asarray(((places >= low) & (places <= high)).all(axis=1))

"""The figure about light: the body by time in the Sun, rest sites by their longest night."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure

from alight.analysis.columns import Array
from alight.analysis.density import thin
from alight.analysis.latlong import lat_long_grid
from alight.core import frames
from alight.views import style, words
from alight.views.figures.body import maps
from alight.views.figures.landing.footprint import name_axes, window
from alight.views.figures.panels import HALO, POINTS, empty, histogram, plain

if TYPE_CHECKING:
    from alight.views.report.landing.findings import LandingFindings
    from alight.views.report.landing.light import Light

#: Dark colours are dark places: little light, long nights.
LIGHT: Colormap = style.GRAVITY
NIGHT: Colormap = style.GRAVITY.reversed()


def draw_light(found: LandingFindings, light: Light, *files: Path) -> None:
    """Map of the body, close-up of the rest sites, histograms of light and night."""
    unit = words.time(light.sun.span)
    with style.figure(9.6, 8.6) as fig:
        _map(fig, light, found, unit)
        _close_up(fig, light, found, unit)
        _histograms(fig, light, unit)
        style.save(fig, *files)


def _map(fig: Figure, light: Light, found: LandingFindings, unit: words.Unit) -> None:
    """The body by time in light, with the rest sites on it."""
    whole = light.sun.span / unit.size
    layer = maps.Layer(
        title="Time in light, all over the body",
        label=f"Sun in sight in {unit(light.sun.span)} [{unit.name}]",
        values=light.over_the_body() * whole,
        colours=LIGHT,
        low=0.0,
        high=whole,
        levels=maps.even_levels(0.0, whole),
        named=False,
    )
    axes = fig.add_axes((0.065, 0.495, 0.80, 0.475))
    bare = replace(layer, levels=np.empty(0))  # contours of what hardly varies would be noise
    image = maps.draw_map(axes, lat_long_grid(light.mesh, 181, 360), bare)
    maps.colour_bar(fig, fig.add_axes((0.885, 0.51, 0.016, 0.445)), image, layer)
    rest = found.data.rest[light.rows]
    latitude, longitude = np.degrees(frames.latitude_longitude(rest[thin(len(rest), POINTS)]))
    axes.scatter(
        longitude % 360.0, latitude, s=4, color="white", edgecolors=style.INK, linewidths=0.25,
        alpha=0.9, zorder=5, rasterized=True,
    )  # fmt: skip
    low, high = np.degrees(light.sun.latitude)
    if high - low < 1.0:
        over = 0.5 * (low + high)
        axes.axhline(over, color="white", linewidth=1.6, linestyle=(0, (5, 3)))
        axes.axhline(over, color=style.INK, linewidth=0.9, linestyle=(0, (5, 3)))
        axes.annotate(
            "Sun overhead", (358.0, over), (0, 3), textcoords="offset points", ha="right",
            va="bottom", fontsize=7.5, color=style.INK, bbox=HALO,
        )  # fmt: skip


def _close_up(fig: Figure, light: Light, found: LandingFindings, unit: words.Unit) -> None:
    """Rest sites about their middle, by longest night; black where the Sun does not rise."""
    assert found.where is not None
    axes = fig.add_axes((0.065, 0.055, 0.36, 0.36))
    axes.set_title("Rest sites, by longest night")
    plane = found.where.plane[np.searchsorted(np.flatnonzero(found.data.settled), light.rows)]
    middle, reach = window(found.ellipses, found.where.plane)
    size = words.length(reach)
    box = np.array([middle - reach, middle + reach]) / size.size
    axes.set_aspect("equal", anchor="W")
    axes.set_xlim(*box[:, 0])
    axes.set_ylim(*box[:, 1])
    _dots(axes, plane / size.size, light, unit)
    name_axes(axes, found, size)
    plain(axes)
    bar = fig.add_axes((0.4, 0.07, 0.012, 0.33))
    made = fig.colorbar(ScalarMappable(_norm(light, unit), NIGHT), cax=bar)
    made.set_label(f"longest night [{unit.name}]")
    made.outline.set_edgecolor(style.LINE)


def _dots(axes: Axes, plane: Array, light: Light, unit: words.Unit) -> None:
    """At most as many as can be distinguished, the longest nights on top."""
    shown = thin(len(plane), 2 * POINTS)
    night = light.found.longest_night[shown] / unit.size
    order = np.argsort(night)
    plane, night = plane[shown][order], night[order]
    ends = np.isfinite(night)
    axes.scatter(
        plane[ends, 0], plane[ends, 1], c=night[ends], cmap=NIGHT, norm=_norm(light, unit), s=9,
        linewidths=0, zorder=3, rasterized=True,
    )  # fmt: skip
    if not ends.all():
        axes.scatter(
            plane[~ends, 0], plane[~ends, 1], s=14, color="black", marker="x", linewidths=1.0,
            zorder=4, label="no sunrise", rasterized=True,
        )  # fmt: skip
        axes.legend(loc="upper right", fontsize=7.5, framealpha=0.9, edgecolor=style.LINE)


def _norm(light: Light, unit: words.Unit) -> Normalize:
    """From the shortest of the longest nights to all but the last percent; never all one colour."""
    night = light.found.longest_night
    known = night[np.isfinite(night)] / unit.size
    if not len(known):
        return Normalize(0.0, light.sun.span / unit.size)
    low, high = (float(x) for x in np.quantile(known, [0.01, 0.99]))
    room = 0.01 * light.sun.span / unit.size  # a minute's difference is no contrast
    return Normalize(low - room, high + room) if high - low < room else Normalize(low, high)


def _histograms(fig: Figure, light: Light, unit: words.Unit) -> None:
    night = light.found.longest_night
    turn = "rotation" if light.sun.turns else "time"
    ends = np.isfinite(night)
    name = "Longest night" if ends.all() else "Longest night, where the Sun rises"
    panels = (
        (light.hours, "Time in light", f"Sun in sight in the {turn} [{unit.name}]"),
        (night[ends], name, f"longest time without the Sun [{unit.name}]"),
    )
    for base, (values, title, label) in zip((0.275, 0.055), panels, strict=True):
        axes = fig.add_axes((0.545, base, 0.44, 0.14))
        axes.set_title(title)
        if not len(values):
            empty(axes)
            continue
        histogram(axes, values / unit.size, unit.name, whole=False)
        axes.set_xlabel(label)
        axes.set_ylabel("landings [%]")

"""Figures of mobility maps: the body in the colours of its cells, a plan's arrows, its runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from alight.analysis.columns import Array
from alight.core.frames import latitude_longitude
from alight.shapes.mesh import Mesh
from alight.views import style, words
from alight.views.figures.panels import BLUE, ORANGE, plain
from alight.views.figures.solid import Camera, View, sky_view

#: Pixels along the longer side of a picture.
PIXELS = 420


@dataclass(frozen=True, eq=False)
class Layer:
    """A value of each cell."""

    title: str
    unit: str
    values: Array
    """(n,)"""
    colours: str
    """Name of a colour map."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Shares of runs that have arrived after 0, 1, ... hops."""

    name: str
    predicted: Array
    flown: Array
    low: Array
    """Ends of the intervals of ``flown``."""
    high: Array


@dataclass(frozen=True, eq=False)
class MapPicture:
    """What the figures of a map show."""

    mesh: Mesh
    centres: Array
    """(n, 3) [m]"""
    cell_of: Any
    """(places) -> number of the cell of each."""
    layers: list[Layer]
    heading: Array
    """(n, 3) where the command of each cell goes, along the ground, as unit vectors."""
    strength: Array
    """(n,) its speed over the largest."""
    goal: tuple[Array, float]
    """(3,) centre and radius [m]."""
    avoid: list[tuple[Array, float]]
    tracks: list[Array]
    """(k, 3) rest sites of some runs, from start to end [m]."""

    @cached_property
    def sky(self) -> Array:
        """Light of the sky, for all pictures."""
        return sky_view(self.mesh)


def draw_bodies(shown: MapPicture, *files: Path) -> None:
    """Each layer on the body, seen from over the goal and from the other side."""
    count = len(shown.layers)
    latitude, longitude = (float(a) for a in latitude_longitude(shown.goal[0]))
    cameras = [Camera(longitude, 0.6 * latitude), Camera(longitude + np.pi, -0.6 * latitude)]
    views = [View(shown.mesh, one, pixels=PIXELS, sky=shown.sky) for one in cameras]
    home = shown.cell_of(shown.mesh.vertices)
    with style.figure(3.4 * count, 5.6) as fig:
        for k, layer in enumerate(shown.layers):
            scale = _scale(layer)
            colours = colormaps[layer.colours](scale(layer.values[home]))[:, :3]
            left = (k + 0.03) / count
            fig.text(left, 0.955, layer.title, fontsize=10.5, fontweight="bold")
            for row, view in enumerate(views):
                axes = fig.add_axes((left, 0.54 - 0.42 * row, 0.94 / count, 0.4))
                _body(axes, view, colours, shown, cameras[row])
            bar = fig.add_axes((left + 0.1 / count, 0.075, 0.74 / count, 0.018))
            made = fig.colorbar(ScalarMappable(scale, layer.colours), cax=bar,
                                orientation="horizontal")  # fmt: skip
            made.set_label(layer.unit)
            made.outline.set_visible(False)
        style.save(fig, *files)


def _scale(layer: Layer) -> Normalize:
    known = layer.values[np.isfinite(layer.values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    return Normalize(low, high if high > low else low + 1.0)


def _body(axes: Axes, view: View, colours: Array, shown: MapPicture, camera: Camera) -> None:
    picture = view.picture(colours)
    axes.set_axis_off()
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower")
    for (centre, radius), colour in [
        (shown.goal, "white"), *((disc, style.ALARM) for disc in shown.avoid)
    ]:  # fmt: skip
        ring = camera.project(_ring(centre, radius))
        hidden = camera.project(centre)[2] < 0.0
        if not hidden:
            axes.plot(ring[:, 0], ring[:, 1], color=style.INK, linewidth=2.6)
            axes.plot(ring[:, 0], ring[:, 1], color=colour, linewidth=1.5)


def _ring(centre: Array, radius: float) -> Array:
    """(k, 3) a circle about a place, perpendicular to its direction from the origin."""
    up = centre / max(float(np.linalg.norm(centre)), 1e-12)
    side = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))])
    side /= np.linalg.norm(side)
    turn = np.linspace(0.0, 2.0 * np.pi, 61)[:, None]
    return np.asarray(centre + radius * (np.cos(turn) * side + np.sin(turn) * np.cross(up, side)))


def draw_arrows(shown: MapPicture, *files: Path) -> None:
    """The command of each cell on a map by latitude and longitude, and some runs under it."""
    latitude, longitude = (np.degrees(a) for a in latitude_longitude(shown.centres))
    layer = shown.layers[-1]
    east, north = _level(shown)
    with style.figure(10.4, 5.2) as fig:
        axes = fig.add_axes((0.065, 0.1, 0.82, 0.84))
        size = float(np.clip(9000.0 / len(shown.centres), 8.0, 260.0))
        seen = axes.scatter(longitude % 360.0, latitude, c=layer.values, s=size, marker="s",
                            cmap=layer.colours, norm=_scale(layer), linewidths=0)  # fmt: skip
        axes.quiver(longitude % 360.0, latitude, east * shown.strength, north * shown.strength,
                    color=style.INK, scale=34.0, width=0.0018, pivot="middle")  # fmt: skip
        for track in shown.tracks:
            b, a = (np.degrees(v) for v in latitude_longitude(track))
            _line(axes, a % 360.0, b)
        for (centre, _), mark, colour in [
            (shown.goal, "*", "white"), *((disc, "X", style.ALARM) for disc in shown.avoid)
        ]:  # fmt: skip
            y, x = (float(np.degrees(v)) for v in latitude_longitude(centre))
            axes.plot(x % 360.0, y, mark, color=colour, ms=17, mec=style.INK, mew=1.2, zorder=6)
        axes.set_xlim(0.0, 360.0)
        axes.set_ylim(-90.0, 90.0)
        axes.set_xticks(range(0, 361, 45))
        axes.set_yticks(range(-90, 91, 30))
        axes.set_xlabel("east longitude [deg]")
        axes.set_ylabel("latitude [deg]")
        plain(axes)
        bar = fig.colorbar(seen, cax=fig.add_axes((0.91, 0.1, 0.014, 0.84)))
        bar.set_label(f"{layer.title} [{layer.unit}]" if layer.unit else layer.title)
        bar.outline.set_visible(False)
        style.save(fig, *files)


def _level(shown: MapPicture) -> tuple[Array, Array]:
    """(n,) parts of the headings to the east and to the north."""
    latitude, longitude = latitude_longitude(shown.centres)
    east = np.stack([-np.sin(longitude), np.cos(longitude), np.zeros_like(longitude)], -1)
    up = np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude),
                   np.sin(latitude)], -1)  # fmt: skip
    north = np.cross(up, east)
    return np.sum(shown.heading * east, axis=1), np.sum(shown.heading * north, axis=1)


def _line(axes: Axes, longitude: Array, latitude: Array) -> None:
    """A track, not drawn across the edge of the map."""
    jumps = np.flatnonzero(np.abs(np.diff(longitude)) > 180.0) + 1
    x, y = np.insert(longitude, jumps, np.nan), np.insert(latitude, jumps, np.nan)
    axes.plot(x, y, "-o", color=ORANGE, linewidth=1.1, ms=2.6, alpha=0.9, zorder=5)


def draw_curves(curves: list[Curve], *files: Path) -> None:
    """How many have arrived, by the number of hops: predicted, and flown with intervals."""
    with style.figure(7.2, 4.0) as fig:
        axes = fig.add_axes((0.09, 0.13, 0.88, 0.83))
        for curve, colour in zip(curves, (BLUE, ORANGE), strict=False):
            hops = np.arange(len(curve.predicted))
            axes.plot(hops, 100.0 * curve.predicted, color=colour, linewidth=1.8,
                      label=f"{curve.name}, predicted")  # fmt: skip
            error = 100.0 * np.stack([curve.flown - curve.low, curve.high - curve.flown])
            axes.errorbar(hops, 100.0 * curve.flown, np.maximum(error, 0.0), fmt="o", color=colour,
                          ms=5, capsize=3, label=f"{curve.name}, flown")  # fmt: skip
        axes.set_xlabel("hops")
        axes.set_ylabel("runs that have arrived [%]")
        axes.set_ylim(0.0, 102.0)
        axes.set_xlim(-0.2, None)
        axes.legend(loc="lower right", frameon=False)
        plain(axes)
        style.save(fig, *files)


def unit_of_lengths(values: Array) -> tuple[Array, str]:
    """Lengths [m] in a unit that suits them, and its name."""
    unit = words.length(float(np.nanmax(values)))
    return values / unit.size, unit.name

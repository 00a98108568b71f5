"""Where and how fast a sliding object leaves the ground: maps of lift-off speed, and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from scipy.interpolate import RegularGridInterpolator

from alight.analysis.liftoff import LiftOffMap
from alight.core.frames import latitude_longitude
from alight.shapes.mesh import Mesh
from alight.views import style, words
from alight.views.figures.body import maps
from alight.views.figures.body.sheet import CAMERA, draw_solid
from alight.views.figures.facts import Words, draw_facts, draw_notes
from alight.views.figures.solid import Camera, View, sky_view

Array = npt.NDArray[np.float64]

#: The same body from behind.
BACK = Camera(CAMERA.longitude - np.pi, CAMERA.latitude)

#: Dark where the slowest object leaves, pale where only a fast one does.
COLOURS: Colormap = style.SLOPE.reversed()
#: Ground that holds whatever slides on it.
HELD = "#cfdbe8"

#: Pixels along pictures, degrees between marks of headings, pixels of maps between two places.
PIXELS, MARKS, FINER = 560, 15, 5


def draw(
    found: LiftOffMap, text: Words, body: Mesh, spin: npt.ArrayLike, turns: bool, *files: Path
) -> None:
    """Draw the sheet into each of ``files``.

    Args:
        found: Speeds on the grid.
        text: Words beside them.
        body: Mesh to paint.
        spin: (3,) angular velocity in body axes [rad/s].
        turns: Whether it turns about that axis for good, so that the axis is drawn.
        files: Where to (.png, .svg or .pdf).
    """
    scale = Scale(found)
    omega = np.asarray(spin, dtype=np.float64)
    axis = omega / np.linalg.norm(omega) if turns and omega.any() else None
    with style.figure(16.0, 9.0) as fig:
        _heading(fig, text)
        large = fig.add_axes((0.305, 0.465, 0.4275, 0.38))
        _map(large, found, found.least, scale, "In the worst direction")
        _marks(large, found, both=not omega.any())
        for left, (title, values) in zip((0.305, 0.6575), headings(found, omega), strict=True):
            axes = fig.add_axes((left, 0.065, 0.3275, 0.2911))
            _map(axes, found, values, scale, title)
        _colour_bar(fig, (0.7435, 0.465, 0.0085, 0.38), scale)
        _legend(fig, turns=bool(omega.any()))
        _pictures(fig, found, scale, body, axis)
        _facts(fig.add_axes((0.025, 0.03, 0.235, 0.44)), text)
        fig.text(0.305, 0.018, text.source, fontsize=6.5, color=style.GREY)
        style.save(fig, *files)


def headings(found: LiftOffMap, spin: Array) -> tuple[tuple[str, Array], tuple[str, Array]]:
    """Titles and speeds of two maps: both ways are alike on a body that does not turn."""
    if spin.any():
        return ("Going east", found.east), ("Going west", found.west)
    return ("Going east or west", found.east), ("Going north or south", found.north)


class Scale:
    """One range of colours for all maps, in a unit that suits them."""

    def __init__(self, found: LiftOffMap) -> None:
        low = found.quantile(found.least, 0.005)
        held = found.never(found.least)
        high = found.quantile(found.least, 0.85 * (1.0 - held))
        high = max(high, 1.05 * low)
        self.unit = words.speed(high)
        levels = maps.even_levels(0.9 * low / self.unit.size, 1.15 * high / self.unit.size, 6)
        self.levels = levels[levels >= 0.0]
        self.norm = Normalize(float(self.levels[0]), float(self.levels[-1]), clip=True)

    def paint(self, slowness: Array) -> Array:
        """(n, 3) sRGB of 1/v [s/m], zero where nothing leaves."""
        with np.errstate(divide="ignore"):
            speed = 1.0 / np.maximum(slowness, 0.0) / self.unit.size
        painted: Array = COLOURS(self.norm(np.minimum(speed, self.norm.vmax or 1.0)))[:, :3]
        # What is held begins where the interpolated speed passes ten times the scale.
        held = speed > 10.0 * float(self.levels[-1])
        painted[held] = [int(HELD[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
        return painted


def _map(axes: Axes, found: LiftOffMap, speed: Array, scale: Scale, title: str) -> None:
    """Colours, contour lines, and plain ground where nothing leaves."""
    latitude, longitude = np.degrees(found.latitude), np.degrees(np.r_[found.longitude, 2 * np.pi])
    closed = np.concatenate([speed, speed[:, :1]], axis=1) / scale.unit.size
    fine = [np.linspace(a[0], a[-1], FINER * (len(a) - 1) + 1) for a in (latitude, longitude)]
    places = np.stack(np.meshgrid(*fine, indexing="ij"), axis=-1)

    def between(values: Array) -> Array:
        return np.asarray(RegularGridInterpolator((latitude, longitude), values)(places))

    # Speeds have no end, their inverses do; and the rim of a hollow is drawn half-way.
    top = 1e3 * float(scale.levels[-1])
    slowness = 1.0 / np.clip(closed, 1.0 / top, top)
    held = between(np.isinf(closed).astype(float)) > 0.5
    shown = np.where(held, top, 1.0 / between(slowness))
    axes.set_facecolor(HELD)
    axes.imshow(
        np.ma.array(shown, mask=held),
        origin="lower",
        extent=(0.0, 360.0, -90.0, 90.0),
        cmap=COLOURS,
        norm=scale.norm,
        interpolation="nearest",
    )
    lines: dict[str, Any] = {"colors": style.INK, "linewidths": 0.4, "alpha": 0.5}
    axes.contour(fine[1], fine[0], np.minimum(shown, top), scale.levels[1:], **lines)
    maps.graticule(axes)
    axes.set_aspect("equal")
    axes.set_title(title)


def _marks(axes: Axes, found: LiftOffMap, both: bool) -> None:
    """Arrows along the heading that leaves first; plain bars where both ways are alike."""
    latitude, longitude = np.degrees(found.latitude), np.degrees(found.longitude)
    rows = [int(np.abs(latitude - a).argmin()) for a in range(-75, 76, MARKS)]
    columns = [int(np.abs(longitude - a).argmin()) for a in range(MARKS // 2, 360, MARKS)]
    pick = np.ix_(rows, columns)
    heading = np.where(np.isinf(found.least[pick]), np.nan, found.heading[pick])
    x, y = np.meshgrid(longitude[columns], latitude[rows])
    head = {"headwidth": 0, "headlength": 0, "headaxislength": 0} if both else {"headwidth": 4.5}
    axes.quiver(
        x, y, np.sin(heading), np.cos(heading), angles="uv", pivot="mid", scale=38.0, width=0.0026,
        facecolor=style.INK, edgecolor="white", linewidth=0.45, zorder=4, **head,
    )  # fmt: skip


def _colour_bar(fig: Figure, place: tuple[float, float, float, float], scale: Scale) -> None:
    bar: Any = fig.colorbar(
        _mappable(scale),
        cax=fig.add_axes(place),
        extend="both" if scale.levels[0] > 0.0 else "max",
        extendfrac=0.04,
    )
    bar.set_label(f"lift-off speed over the ground [{scale.unit.name}]", labelpad=5)
    bar.set_ticks(list(scale.levels))
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    bar.outline.set_edgecolor(style.LINE)


def _mappable(scale: Scale) -> Any:
    from matplotlib.cm import ScalarMappable

    return ScalarMappable(scale.norm, COLOURS)


def _legend(fig: Figure, turns: bool) -> None:
    """What plain ground and marks mean, under the title of the large map's right end."""
    fig.legend(
        handles=[Patch(facecolor=HELD, edgecolor=style.LINE)],
        labels=["hollow: nothing leaves at any speed"],
        loc="lower right",
        bbox_to_anchor=(0.7375, 0.843),
        frameon=False,
        fontsize=8,
        handlelength=1.4,
    )
    mark = "Arrows" if turns else "Bars"
    fig.text(
        0.305, 0.428, f"{mark}: the direction in which the slowest object leaves.",
        fontsize=8, color=style.GREY,
    )  # fmt: skip


def _pictures(fig: Figure, found: LiftOffMap, scale: Scale, body: Mesh, axis: Array | None) -> None:
    """The body from both sides, painted with the smallest speed."""
    painted = scale.paint(_at_vertices(found, body))
    sky = sky_view(body)
    for camera, place, bar in (
        (CAMERA, (0.025, 0.505, 0.235, 0.40), True),
        (BACK, (0.795, 0.455, 0.19, 0.40), False),
    ):
        view = View(body, camera, pixels=PIXELS, sky=sky)
        axes = fig.add_axes(place)
        draw_solid(axes, view.picture(painted), body, axis, scale_bar=bar)
        longitude = np.degrees(camera.longitude)
        axes.text(
            0.0, 1.0, f"from {longitude:.0f}°E, {np.degrees(camera.latitude):.0f}°N",
            transform=axes.transAxes, fontsize=7.5, color=style.GREY, va="top",
        )  # fmt: skip


def _at_vertices(found: LiftOffMap, body: Mesh) -> Array:
    """(n,) 1/v [s/m] of the smallest speed at the vertices, between the places of the grid."""
    fast = 1e3 / found.quantile(found.least, 0.5)
    with np.errstate(divide="ignore"):
        slowness = np.minimum(1.0 / found.least, fast)
    closed = np.concatenate([slowness, slowness[:, :1]], axis=1)
    longitude = np.append(found.longitude, 2.0 * np.pi)
    table = RegularGridInterpolator((found.latitude, longitude), closed, bounds_error=False)
    latitude, east = latitude_longitude(body.vertices)
    inside = np.clip(latitude, found.latitude[0], found.latitude[-1])
    return np.asarray(table(np.stack((inside, east % (2.0 * np.pi)), axis=1)))


# -- the words --------------------------------------------------------------------------------


def _heading(fig: Figure, text: Words) -> None:
    size = 22.0 * min(1.0, 18.0 / max(1, len(text.title)))
    fig.text(0.025, 0.950, text.title, fontsize=size, fontweight="bold", va="baseline")
    fig.text(
        0.305, 0.950, "Lift-off speed of a sliding object", fontsize=15, fontweight="bold",
        va="baseline",
    )  # fmt: skip
    fig.text(0.305, 0.922, text.subtitle, fontsize=9, color=style.GREY, va="baseline")


def _facts(axes: Axes, text: Words) -> None:
    """Facts, and notes beneath."""
    y = draw_facts(axes, text.facts, 0.062) - 0.02
    draw_notes(axes, y, text.notes, 66, 0.042, 0.022, fontsize=8, linespacing=1.3)

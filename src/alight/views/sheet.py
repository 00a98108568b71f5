"""One sheet about a body: its picture, maps of effective gravity and slope, and its figures."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from alight.analysis.latlong import facets_to_vertices, lat_long_grid
from alight.analysis.surface import Range, Surface, spread
from alight.views import maps, style, words
from alight.shapes.mesh import Mesh
from alight.views.solid import Camera, Picture, View, carried, sky_view

Array = npt.NDArray[np.float64]

#: Where the viewer is: the long axis, x, lies across the picture, the north pole in sight.
CAMERA = Camera(np.radians(285.0), np.radians(20.0))

#: Pixels of the picture that stands alone.
PORTRAIT_PIXELS = 1300


@dataclass(frozen=True)
class Text:
    """The words on the sheet."""

    title: str
    subtitle: str
    facts: Sequence[tuple[str, str]]
    """(name, value with unit) rows beside the maps."""
    warnings: Sequence[str] = ()
    sources: str = ""


class Sheet:
    """Figures of one body; what they share is computed once."""

    def __init__(self, surface: Surface, text: Text, fine: Mesh | None = None) -> None:
        """Take the field on a body's surface and the words about it.

        ``fine`` is a finer mesh of the same body to draw pictures of, with smoother outlines.
        """
        self.surface = surface
        self.text = text
        self.fine = surface.mesh if fine is None else fine
        self.sky = self._carried(sky_view(surface.mesh))

    def _carried(self, values: Array) -> Array:
        """Values at the vertices of the surface's mesh, at those of the one that is drawn."""
        mesh = self.surface.mesh
        return values if self.fine is mesh else carried(mesh, values, self.fine)

    def draw(self, *files: Path) -> None:
        """Draw pictures, maps and figures into each of ``files`` (.png, .svg or .pdf)."""
        surface, text = self.surface, self.text
        grid = lat_long_grid(surface.mesh)
        view = View(self.fine, CAMERA, sky=self.sky)
        outward = surface.weight < 0.0
        with style.figure(16.0, 9.0) as fig:
            _heading(fig, text)
            for base, layer in zip((0.520, 0.070), _layers(surface), strict=True):
                axes = fig.add_axes((0.305, base, 0.4275, 0.38))
                image = maps.draw_map(axes, grid, layer)
                maps.hatch(axes, grid, outward)
                bar = fig.add_axes((0.7435, base, 0.0085, 0.38))
                maps.colour_bar(fig, bar, image, layer)
                solid = fig.add_axes((0.795, base - 0.01, 0.19, 0.40))
                painted = view.picture(layer.paint(self._carried(layer.values)))
                draw_solid(solid, painted, surface, scale_bar=False)
            portrait = fig.add_axes((0.025, 0.495, 0.235, 0.42))
            draw_solid(portrait, view.picture(), surface)
            _facts(fig.add_axes((0.025, 0.03, 0.235, 0.44)), text)
            _footer(fig, text)
            style.save(fig, *files)

    def draw_portrait(self, *files: Path) -> None:
        """Draw a large picture of the body alone into each of ``files``."""
        view = View(self.fine, CAMERA, pixels=PORTRAIT_PIXELS, sky=self.sky)
        with style.figure(10.0, 8.0) as fig:
            draw_solid(fig.add_axes((0.06, 0.07, 0.88, 0.80)), view.picture(), self.surface)
            fig.text(0.04, 0.925, self.text.title, fontsize=24, fontweight="bold")
            fig.text(0.04, 0.895, self.text.subtitle, fontsize=9, color=style.GREY)
            fig.text(0.04, 0.03, self.text.sources, fontsize=6, color=style.GREY)
            style.save(fig, *files)


def _layers(surface: Surface) -> tuple[maps.Layer, maps.Layer]:
    return gravity_layer(surface), slope_layer(surface)


def gravity_layer(surface: Surface) -> maps.Layer:
    """Size of the effective acceleration."""
    found = surface.effective_gravity
    unit = words.acceleration(float(found.max()))
    low, high = _bulk(surface, found / unit.size)
    return maps.Layer(
        title="Effective gravity",
        label=f"attraction less centripetal acceleration [{unit.name}]",
        values=facets_to_vertices(surface.mesh, found / unit.size),
        colours=style.GRAVITY,
        low=low,
        high=high,
        levels=maps.even_levels(low, high),
    )


def slope_layer(surface: Surface) -> maps.Layer:
    """Angle of the ground against level; contour lines every 10 degrees."""
    found = np.degrees(surface.slope)
    ranges = spread(found, surface.mesh.face_areas)
    high = float(np.clip(10.0 * np.ceil(ranges.p95 / 10.0 + 0.3), 20.0, 90.0))
    return maps.Layer(
        title="Slope",
        label="angle between the ground and level",
        values=facets_to_vertices(surface.mesh, found),
        colours=style.SLOPE,
        low=0.0,
        high=high,
        levels=np.arange(0.0, 181.0, 5.0 if high <= 20.0 else 10.0),
        suffix="°",
        named=False,
        heavy=30.0,
    )


def _bulk(surface: Surface, values: Array) -> tuple[float, float]:
    """Ends of a colour scale: all values but the last half percent of area at either end."""
    order = np.argsort(values)
    share = np.cumsum(surface.mesh.face_areas[order]) / surface.mesh.area
    low, high = np.interp([0.005, 0.995], share, values[order])
    if high - low < 1e-3 * abs(high):  # a sphere: do not blow rounding up into colours
        low, high = 0.98 * low, 1.02 * high
    return float(low), float(high)


# -- the picture ------------------------------------------------------------------------------


def draw_solid(
    axes: Axes, picture: Picture, surface: Surface, scale_bar: bool = True
) -> None:
    """Draw a picture of the body with its spin axis and a scale bar."""
    axes.set_axis_off()
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", zorder=2)
    left, right, bottom, top = picture.extent
    width, height = right - left, top - bottom
    _spin_axis(axes, picture, surface)
    if scale_bar:
        _scale_bar(axes, left, bottom - 0.08 * max(width, height), width)
    room = 0.12 * max(width, height)
    axes.set_xlim(left - 0.02 * width, right + 0.02 * width)
    axes.set_ylim(bottom - (room if scale_bar else 0.5 * room), top + room)
    axes.set_aspect("equal", anchor="C")


def _spin_axis(axes: Axes, picture: Picture, surface: Surface) -> None:
    """An arrow along the spin axis where it leaves the body, and its stub on the other side."""
    rate = float(np.linalg.norm(surface.spin))
    if rate == 0.0:
        return
    axis = surface.spin / rate
    reach = (surface.mesh.vertices @ axis).max(), (surface.mesh.vertices @ axis).min()
    size = max(picture.extent[1] - picture.extent[0], picture.extent[3] - picture.extent[2])
    camera = picture.camera
    for end, beyond, head in ((reach[0], 0.10, "-|>"), (reach[1], -0.06, "-")):
        start, tip = camera.project(end * axis), camera.project((end + beyond * size) * axis)
        toward = camera.project(beyond * axis)[2] > 0.0
        arrow = FancyArrowPatch(
            (float(start[0]), float(start[1])),
            (float(tip[0]), float(tip[1])),
            arrowstyle=head,
            mutation_scale=9,
            color=style.ALARM,
            linewidth=1.4,
            shrinkA=0,
            shrinkB=0,
            zorder=3 if toward else 1,
            clip_on=False,
        )
        axes.add_patch(arrow)


def _scale_bar(axes: Axes, left: float, below: float, width: float) -> None:
    """A bar of a round length, about a quarter of the body."""
    wanted = 0.25 * width
    power = 10.0 ** np.floor(np.log10(wanted))
    length = float(power * max(m for m in (1, 2, 5) if m * power <= wanted))
    unit = words.length(length if length < 1000.0 else 10.0 * length)
    axes.plot([left, left + length], [below, below], color=style.INK, linewidth=2.0, clip_on=False)
    axes.annotate(
        f"{length / unit.size:g} {unit.name}",
        (left + length, below),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=8.5,
    )


# -- the words --------------------------------------------------------------------------------


def _heading(fig: Figure, text: Text) -> None:
    size = 22.0 * min(1.0, 18.0 / max(1, len(text.title)))  # a long name stays left of the maps
    fig.text(0.025, 0.950, text.title, fontsize=size, fontweight="bold", va="baseline")
    fig.text(0.305, 0.950, text.subtitle, fontsize=10, color=style.GREY, va="baseline")


def _footer(fig: Figure, text: Text) -> None:
    longitude, latitude = np.degrees([CAMERA.longitude, CAMERA.latitude])
    about = f"Pictures: seen from {longitude:.0f}°E, {latitude:.0f}°N; arrow: spin axis."
    fig.text(0.985, 0.020, about, ha="right", fontsize=6.5, color=style.GREY)
    fig.text(0.305, 0.020, text.sources, fontsize=6.5, color=style.GREY)


def _facts(axes: Axes, text: Text) -> None:
    """Names on the left, values on the right, thin lines between, warnings beneath."""
    axes.set_axis_off()
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    step, line = 0.062, 0.045
    y = 1.0 - 0.5 * step
    for name, value in text.facts:
        axes.text(0.0, y, name, va="center", color=style.GREY, fontsize=8.5)
        axes.text(1.0, y, value, va="center", ha="right", fontsize=8.5)
        axes.plot([0.0, 1.0], [y - 0.5 * step] * 2, color=style.LINE, linewidth=0.5)
        y -= step
    for warning in text.warnings:
        words_in_lines = textwrap.wrap(warning, 68)
        axes.text(
            0.0, y, "\n".join(words_in_lines), va="top", color=style.ALARM, fontsize=8, linespacing=1.3
        )
        y -= line * len(words_in_lines) + 0.01


def range_text(found: Range, unit: words.Unit) -> str:
    """``least to most unit``."""
    return f"{unit.of(found.least)} to {unit(found.most)}"


def fact_rows(surface: Surface) -> list[tuple[str, str]]:
    """What the sheet says about the surface, in units for people."""
    ranges = surface.ranges()
    pull = words.acceleration(ranges["effective_gravity"].most)
    leave = words.speed(ranges["escape_speed"].most)
    slopes = ranges["slope"]
    rows = [
        ("effective gravity", range_text(ranges["effective_gravity"], pull)),
        ("slope, mean and most", f"{words.DEGREE.of(slopes.mean)}°, {words.DEGREE.of(slopes.most)}°"),
        ("steeper than 30°", f"{words.percent(surface.steep_fraction)} of the surface"),
        ("escape speed", range_text(ranges["escape_speed"], leave)),
    ]
    east, west = (range_text(ranges[f"lift_off_{side}"], leave) for side in ("east", "west"))
    if not surface.spin.any():
        return [*rows, ("lift-off speed", east)]
    return [*rows, ("lift-off speed, going east", east), ("lift-off speed, going west", west)]

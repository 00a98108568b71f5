"""One sheet about a body: its picture, maps of effective gravity and slope, and its figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from alight.analysis.latlong import facets_to_vertices, lat_long_grid, outermost_radius
from alight.analysis.surface import FacetFields, Range, spread
from alight.shapes.mesh import Mesh
from alight.views import style, words
from alight.views.figures.body import maps
from alight.views.figures.facts import Words, draw_facts, draw_notes
from alight.views.figures.solid import Camera, Picture, View, carried, sky_view

Array = npt.NDArray[np.float64]

#: Where the viewer is: the long axis, x, lies across the picture, the north pole in sight.
CAMERA = Camera(np.radians(285.0), np.radians(20.0))

#: Pixels along pictures on the sheet, and along the one that stands alone.
PIXELS, PORTRAIT_PIXELS = 560, 1100


class Sheet:
    """Figures of one body; what they share is computed once."""

    def __init__(
        self, surface: FacetFields, text: Words, fine: Mesh | None = None, fixed_axis: bool = True
    ) -> None:
        """Take the field on a body's surface and the words about it.

        Args:
            surface: The field.
            text: The words.
            fine: A finer mesh of the same body to draw pictures of, with smoother outlines.
            fixed_axis: False for a body that tumbles: no spin axis is drawn.
        """
        self.surface = surface
        self.text = text
        self.axis = _unit(surface.spin) if fixed_axis else None
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
        view = View(self.fine, CAMERA, pixels=PIXELS, sky=self.sky)
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
                draw_solid(solid, painted, self.fine, self.axis, scale_bar=False)
            portrait = fig.add_axes((0.025, 0.495, 0.235, 0.42))
            draw_solid(portrait, view.picture(), self.fine, self.axis)
            _facts(fig.add_axes((0.025, 0.03, 0.235, 0.44)), text)
            _footer(fig, text, arrow=self.axis is not None)
            style.save(fig, *files)

    def draw_portrait(self, *files: Path) -> None:
        """Draw a large picture of the body alone into each of ``files``."""
        view = View(self.fine, CAMERA, pixels=PORTRAIT_PIXELS, sky=self.sky)
        with style.figure(10.0, 8.0) as fig:
            axes = fig.add_axes((0.06, 0.07, 0.88, 0.80))
            draw_solid(axes, view.picture(), self.fine, self.axis)
            fig.text(0.04, 0.925, self.text.title, fontsize=24, fontweight="bold")
            fig.text(0.04, 0.895, self.text.subtitle, fontsize=9, color=style.GREY)
            fig.text(0.04, 0.03, self.text.source, fontsize=6, color=style.GREY)
            style.save(fig, *files)


def _layers(surface: FacetFields) -> tuple[maps.Layer, maps.Layer]:
    return gravity_layer(surface), slope_layer(surface)


def gravity_layer(surface: FacetFields) -> maps.Layer:
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


def slope_layer(surface: FacetFields) -> maps.Layer:
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


def _bulk(surface: FacetFields, values: Array) -> tuple[float, float]:
    """Ends of a colour scale: all values but the last half percent of area at either end."""
    order = np.argsort(values)
    share = np.cumsum(surface.mesh.face_areas[order]) / surface.mesh.area
    low, high = np.interp([0.005, 0.995], share, values[order])
    if high - low < 0.01 * abs(high):  # a sphere: do not blow its facets up into colours
        low, high = 0.98 * low, 1.02 * high
    return float(low), float(high)


# -- the picture ------------------------------------------------------------------------------


def draw_solid(
    axes: Axes, picture: Picture, mesh: Mesh, axis: Array | None, scale_bar: bool = True
) -> None:
    """Draw a picture of a body with its spin ``axis``, a unit vector, and a scale bar."""
    axes.set_axis_off()
    axes.imshow(picture.rgba, extent=picture.extent, origin="lower", zorder=2, aspect="auto")
    left, right, bottom, top = picture.extent
    width, height = right - left, top - bottom
    if axis is not None:
        _spin_axis(axes, picture, mesh, axis)
    if scale_bar:
        draw_scale_bar(axes, left, bottom - 0.08 * max(width, height), width)
    room = 0.12 * max(width, height)
    low = bottom - (room if scale_bar else 0.5 * room)
    fit(axes, (left - 0.02 * width, right + 0.02 * width), (low, top + room))


def fit(axes: Axes, across: tuple[float, float], up: tuple[float, float]) -> None:
    """Show these ranges in the middle of the axes at one scale; the axes keep their place."""
    frame = axes.get_window_extent()
    metres = max((across[1] - across[0]) / frame.width, (up[1] - up[0]) / frame.height)
    x, y = sum(across) / 2.0, sum(up) / 2.0
    axes.set_xlim(x - 0.5 * metres * frame.width, x + 0.5 * metres * frame.width)
    axes.set_ylim(y - 0.5 * metres * frame.height, y + 0.5 * metres * frame.height)
    axes.set_aspect("auto")


def _unit(spin: Array) -> Array | None:
    """Direction of the spin; None of a body that does not turn."""
    rate = float(np.linalg.norm(spin))
    return spin / rate if rate > 0.0 else None


def _spin_axis(axes: Axes, picture: Picture, mesh: Mesh, axis: Array) -> None:
    """An arrow along the spin axis where it leaves the body, and its stub on the other side."""
    reach = outermost_radius(mesh, axis), -outermost_radius(mesh, -axis)
    size = max(picture.extent[1] - picture.extent[0], picture.extent[3] - picture.extent[2])
    camera = picture.camera
    for end, beyond, head in ((reach[0], 0.12, "-|>"), (reach[1], -0.08, "-")):
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


def draw_scale_bar(axes: Axes, left: float, below: float, width: float) -> None:
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


def _heading(fig: Figure, text: Words) -> None:
    size = 22.0 * min(1.0, 18.0 / max(1, len(text.title)))  # a long name stays left of the maps
    fig.text(0.025, 0.950, text.title, fontsize=size, fontweight="bold", va="baseline")
    fig.text(0.305, 0.950, text.subtitle, fontsize=10, color=style.GREY, va="baseline")


def _footer(fig: Figure, text: Words, arrow: bool) -> None:
    longitude, latitude = np.degrees([CAMERA.longitude, CAMERA.latitude])
    about = f"Pictures from {longitude:.0f}°E, {latitude:.0f}°N"
    about += "; arrow: spin axis." if arrow else "."
    fig.text(0.985, 0.020, about, ha="right", fontsize=6.5, color=style.GREY)
    fig.text(0.305, 0.020, f"{text.source} {text.method}", fontsize=6.5, color=style.GREY)


def _facts(axes: Axes, text: Words) -> None:
    """Facts, and warnings beneath."""
    y = draw_facts(axes, text.facts, 0.062)
    look = {"color": style.ALARM, "fontsize": 8, "linespacing": 1.3}
    draw_notes(axes, y, text.notes, 62, 0.045, 0.01, **look)


def range_text(found: Range, unit: words.Unit) -> str:
    """``min to max unit``."""
    return f"{unit.of(found.least)} to {unit(found.most)}"


def fact_rows(surface: FacetFields) -> list[tuple[str, str]]:
    """What the sheet says about the surface, in units for people."""
    ranges = surface.ranges()
    pull = words.acceleration(ranges["effective_gravity"].most)
    leave = words.speed(ranges["escape_speed"].most)
    mean, most = (words.DEGREE.of(x) for x in (ranges["slope"].mean, ranges["slope"].most))
    rows = [
        ("effective gravity", range_text(ranges["effective_gravity"], pull)),
        ("slope, mean and largest", f"{mean}°, {most}°"),
        ("steeper than 30°", f"{words.percent(surface.steep_fraction)} of the surface"),
        ("escape speed", range_text(ranges["escape_speed"], leave)),
    ]
    east, west = (range_text(ranges[f"lift_off_{side}"], leave) for side in ("east", "west"))
    if not surface.spin.any():
        return [*rows, ("lift-off speed", east)]
    return [*rows, ("lift-off speed, going east", east), ("lift-off speed, going west", west)]

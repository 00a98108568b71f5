"""Latitude-longitude maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator, MultipleLocator

from alight.analysis.latlong import LatLongGrid
from alight.views import style

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layer:
    """A quantity to show, in the unit it is shown in, and its colours."""

    title: str
    label: str
    """Quantity and unit, for the colour bar."""
    values: Array
    """(n,) at the vertices of the mesh."""
    colours: Colormap
    low: float
    high: float
    levels: Array
    """Contour lines."""
    suffix: str = ""
    """Follows the numbers on the colour bar and on contour lines."""
    named: bool = True
    """Whether contour lines carry their values."""
    heavy: float | None = None
    """A level whose contour line is heavier than the others."""

    @property
    def norm(self) -> Normalize:
        """From values to the range of the colours."""
        return Normalize(self.low, self.high, clip=True)

    def paint(self, values: Array) -> Array:
        """(n, 3) sRGB colours of values of this quantity."""
        painted: Array = self.colours(self.norm(values))[:, :3]
        return painted

    @property
    def extend(self) -> Any:
        """Ends of the colour bar beyond which values continue."""
        below, above = self.values.min() < self.low, self.values.max() > self.high
        return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]


def even_levels(low: float, high: float, count: int = 7) -> Array:
    """Round contour levels that span ``low`` to ``high``."""
    locator = MaxNLocator(count, steps=[1, 2, 2.5, 5, 10])
    return np.asarray(locator.tick_values(low, high), dtype=np.float64)


def draw_map(axes: Axes, grid: LatLongGrid, layer: Layer) -> Any:
    """Draw a layer as a map with contour lines; returns the image, for a colour bar."""
    shown = _closed(grid.sample(layer.values))
    image = axes.imshow(
        shown,
        origin="lower",
        extent=_cell_edges(grid),
        cmap=layer.colours,
        norm=layer.norm,
        interpolation="bilinear",
        aspect="equal",
    )
    _contours(axes, grid, layer, shown)
    graticule(axes)
    axes.set_title(layer.title)
    return image


def _contours(axes: Axes, grid: LatLongGrid, layer: Layer, shown: Array) -> None:
    longitude, latitude = _degrees(grid)
    inside = layer.levels[(layer.levels > np.nanmin(shown)) & (layer.levels < np.nanmax(shown))]
    if len(inside) == 0:
        return
    widths = [1.1 if level == layer.heavy else 0.55 for level in inside]
    lines = axes.contour(
        longitude, latitude, shown, levels=inside, colors=style.INK, linewidths=widths, alpha=0.75
    )
    if layer.named:
        _name_contours(axes, lines, layer)


def _name_contours(axes: Axes, lines: Any, layer: Layer) -> None:
    """Write values on contour lines, over a pale halo, but not across the border of the map."""
    halo = [patheffects.withStroke(linewidth=2.0, foreground="white", alpha=0.85)]
    texts = axes.clabel(lines, fontsize=6.5, inline=False, fmt=lambda v: f"{v:g}{layer.suffix}")
    for label in texts:
        x, y = label.get_position()
        within = 8.0 < x < 352.0 and abs(y) < 84.0
        label.set(path_effects=halo, color=style.INK, alpha=1.0, visible=within)


def hatch(axes: Axes, grid: LatLongGrid, mask: npt.NDArray[np.bool_]) -> None:
    """Hatch and outline the facets of ``mask``."""
    shown = _closed(np.where(grid.facet >= 0, mask[grid.facet], False).astype(float))
    if not shown.any():
        return
    longitude, latitude = _degrees(grid)
    filled = axes.contourf(
        longitude, latitude, shown, levels=[0.5, 2.0], colors="none", hatches=["//////"]
    )
    filled.set_edgecolor(style.ALARM)
    filled.set_linewidth(0.0)
    edge = axes.contour(longitude, latitude, shown, levels=[0.5], colors="white", linewidths=1.0)
    edge.set(path_effects=[patheffects.withStroke(linewidth=2.6, foreground=style.ALARM)])


def graticule(axes: Axes) -> None:
    """Lines every 30 degrees, labels every 60 and 30."""
    axes.set_xlim(0.0, 360.0)
    axes.set_ylim(-90.0, 90.0)
    axes.xaxis.set_major_locator(FixedLocator(list(range(0, 361, 60))))
    axes.xaxis.set_minor_locator(MultipleLocator(30))
    axes.yaxis.set_major_locator(FixedLocator([-90, -60, -30, 0, 30, 60, 90]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0f}°E" if 0 < x < 360 else f"{x:.0f}°")
    axes.yaxis.set_major_formatter(_latitude_text)
    axes.grid(which="both", color="white", linewidth=0.4, alpha=0.45)
    axes.tick_params(which="minor", length=0)


def _latitude_text(value: float, _: Any) -> str:
    return "0°" if value == 0 else f"{abs(value):.0f}°{'N' if value > 0 else 'S'}"


def colour_bar(fig: Figure, axes: Axes, image: Any, layer: Layer) -> None:
    """A bar beside a map, with the quantity and its unit, and ticks at the contour levels."""
    bar = fig.colorbar(image, cax=axes, extend=layer.extend, extendfrac=0.03)
    bar.set_label(layer.label, labelpad=5)
    inside = layer.levels[(layer.levels >= layer.low) & (layer.levels <= layer.high)]
    bar.set_ticks(list(inside))
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}{layer.suffix}")
    for level in inside:
        heavy = 1.1 if level == layer.heavy else 0.55
        bar.ax.axhline(level, color=style.INK, linewidth=heavy, alpha=0.75)
    bar.outline.set_edgecolor(style.LINE)


def _closed(shown: Array) -> Array:
    """The map with its first meridian repeated at 360 degrees."""
    return np.concatenate([shown, shown[:, :1]], axis=1)


def _degrees(grid: LatLongGrid) -> tuple[Array, Array]:
    return np.append(np.degrees(grid.longitude), 360.0), np.degrees(grid.latitude)


def _cell_edges(grid: LatLongGrid) -> tuple[float, float, float, float]:
    """Edges of the image, half a cell beyond its outermost samples [deg]."""
    x = 0.5 * 360.0 / len(grid.longitude)
    y = 0.5 * 180.0 / (len(grid.latitude) - 1)
    return -x, 360.0 + x, -90.0 - y, 90.0 + y

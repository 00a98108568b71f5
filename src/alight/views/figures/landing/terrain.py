"""The terrain where landings rest: relief with sites and paths, and slope with rocks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from alight.analysis.columns import Array
from alight.analysis.density import levels, plane_density
from alight.analysis.footprint import Footprint
from alight.analysis.terrain import Terrain
from alight.views import style, words
from alight.views.figures.landing.maps import smooth
from alight.views.figures.panels import LINES, ORANGE, thinned
from alight.views.figures.relief import relief
from alight.views.report.landing.terrain import DENSE, TerrainMap, large_rocks

if TYPE_CHECKING:
    from alight.views.report.landing.findings import LandingFindings

#: Shares of the sites that the lines of density hold.
HELD = (0.5, 0.95)

#: The slope scale ends here at least, and at most [deg].
STEEP = (5.0, 90.0)


def draw_terrain(found: LandingFindings, one: TerrainMap, *files: Path) -> None:
    """Relief with rest sites and trajectories; slope with rocks and the density of sites."""
    terrain = one.terrain
    unit = words.length(terrain.half)
    with style.figure(11.2, 5.45) as fig:
        left = fig.add_axes((0.065, 0.09, 0.41, 0.85))
        right = fig.add_axes((0.515, 0.09, 0.41, 0.85))
        _relief(left, terrain, unit)
        _sites(left, one, unit)
        _paths(left, found, terrain, unit)
        _slope(right, terrain, unit)
        _rocks(right, terrain, unit)
        _density(right, one, unit)
        first, second = found.data.axes
        for axes, title in ((left, "Relief and rest sites"), (right, "Slope")):
            _frame(axes, terrain, unit)
            axes.set_title(title)
            axes.set_xlabel(f"{first} from the middle of the map [{unit.name}]")
        left.set_ylabel(f"{second} from the middle of the map [{unit.name}]")
        right.tick_params(labelleft=False)
        style.save(fig, *files)


def _frame(axes: Axes, terrain: Terrain, unit: words.Unit) -> None:
    half = terrain.half / unit.size
    axes.set(xlim=(-half, half), ylim=(-half, half))
    axes.set_aspect("equal")
    axes.tick_params(direction="out")


def _extent(terrain: Terrain, unit: words.Unit) -> tuple[float, float, float, float]:
    """Edges of an image whose pixels have the points of the grid in their middles."""
    edge = (terrain.half + 0.5 * terrain.cell) / unit.size
    return -edge, edge, -edge, edge


def _relief(axes: Axes, terrain: Terrain, unit: words.Unit) -> None:
    picture = relief(terrain.line, terrain.height)
    extent: Any = tuple(side / unit.size for side in picture.extent)
    axes.imshow(picture.rgba, extent=extent, origin="lower", zorder=1)


def _sites(axes: Axes, one: TerrainMap, unit: words.Unit) -> None:
    flat = thinned(one.terrain.local(one.rest)[:, :2]) / unit.size
    few = len(flat) < 3 * DENSE
    axes.scatter(
        flat[:, 0], flat[:, 1], s=22 if few else 7, color=ORANGE, alpha=0.95 if few else 0.55,
        edgecolors="white" if few else "none", linewidths=0.6 if few else 0.0, zorder=4,
        rasterized=True,
    )  # fmt: skip


def _paths(axes: Axes, found: LandingFindings, terrain: Terrain, unit: words.Unit) -> None:
    """Trajectories as seen from above; a triangle where one begins over this ground."""
    for k, course in enumerate(found.data.courses):
        place = smooth(course).position
        flat = terrain.local(place) / unit.size
        flat[~terrain.inside(place) & (flat[:, 2] < 0.0)] = np.nan  # on the other side of the body
        colour, dash = LINES[k % len(LINES)]
        axes.plot(*flat[:, :2].T, color="white", linewidth=2.2, alpha=0.55, zorder=5)
        axes.plot(*flat[:, :2].T, dash, color=colour, linewidth=1.1, zorder=6)
        axes.plot(*flat[0, :2], "^", color=colour, mec="white", ms=7, zorder=7)


def _slope(axes: Axes, terrain: Terrain, unit: words.Unit) -> None:
    degrees = np.degrees(terrain.slope)
    top = float(np.clip(np.nanquantile(degrees, 0.995), *STEEP))
    image = axes.imshow(
        degrees, extent=_extent(terrain, unit), origin="lower", cmap=style.SLOPE, vmin=0.0,
        vmax=top, interpolation="nearest", zorder=1,
    )  # fmt: skip
    ends: Any = "max" if float(np.nanmax(degrees)) > top else "neither"
    bar = axes.figure.colorbar(image, cax=axes.inset_axes((1.03, 0.0, 0.035, 1.0)), extend=ends)
    bar.set_label("slope [°]")
    bar.outline.set_visible(False)


def _rocks(axes: Axes, terrain: Terrain, unit: words.Unit) -> None:
    """Outlines of those that are large enough to have one; others are specks."""
    rocks = large_rocks(terrain)
    if rocks.any() and not rocks.all():
        line = terrain.line / unit.size
        axes.contour(
            line, line, rocks.astype(float), [0.5], colors="white", linewidths=0.6, zorder=2
        )


def _density(axes: Axes, one: TerrainMap, unit: words.Unit) -> None:
    """Lines about the densest ground; single sites where they are too few for lines."""
    flat = one.terrain.local(one.rest)
    if len(flat) < DENSE:
        axes.plot(*flat[:, :2].T / unit.size, "o", mfc="none", mec=style.INK, ms=4.5, mew=0.9)
        return
    sites = Footprint(one.terrain.place, one.terrain.R_TL, flat[:, :2], flat[:, 2], 0.0)
    density = plane_density(sites)
    east, north = (_middles(a) / unit.size for a in (density.east_edges, density.north_edges))
    marks = {float(level): share for level, share in zip(levels(density, HELD), HELD, strict=True)}
    heights = sorted(level for level in marks if level > 0.0)
    if not heights:
        return
    drawn = axes.contour(east, north, density.per_area, heights, colors=style.INK, linewidths=1.2)
    drawn.set_linewidth([2.0 if marks[level] == HELD[0] else 1.1 for level in heights])
    said = axes.clabel(drawn, fmt={h: f"{100 * marks[h]:.0f} %" for h in heights}, fontsize=8)
    glow: list[Any] = [withStroke(linewidth=3.0, foreground="white", alpha=0.6)]
    for shape in (drawn, *said):
        shape.set_path_effects(glow)


def _middles(edges: Array) -> Array:
    return np.asarray(0.5 * (edges[1:] + edges[:-1]))

"""How densely rest places lie: on a grid of latitude and longitude, on facets, in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from alight.analysis import columns
from alight.analysis.columns import Array
from alight.analysis.facets import FacetFinder
from alight.analysis.footprint import SHARES, Footprint
from alight.analysis.intervals import checked_share
from alight.core.checks import checked_whole
from alight.core.errors import InputError
from alight.shapes.mesh import Mesh

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LatLongDensity:
    """Rest places counted on a grid of latitude and longitude."""

    latitude_edges: Array
    """(rows + 1,) from -90 to 90 [deg]."""
    longitude_edges: Array
    """(columns + 1,) east, from -180 to 180 [deg]."""
    count: Counts
    """(rows, columns) rest places in each cell."""

    @property
    def per_steradian(self) -> Array:
        """(rows, columns) share of the places per solid angle seen from the centre [1/sr]."""
        sines = np.diff(np.sin(np.radians(self.latitude_edges)))
        angle = sines[:, None] * np.diff(np.radians(self.longitude_edges))[None, :]
        return self.count / (max(int(self.count.sum()), 1) * angle)


def lat_long_density(tables: Any, cells: tuple[int, int] = (180, 360)) -> LatLongDensity:
    """Count the rest places of a table of runs in ``cells``, latitudes by longitudes.

    It goes batch by batch: memory stays that of a batch.
    """
    rows, across = (checked_whole("number of cells", cell, 1) for cell in cells)
    count = np.zeros(rows * across, dtype=np.int64)
    for table in columns.batches(tables):
        latitude = columns.column(table, "rest_latitude_deg")
        longitude = columns.column(table, "rest_longitude_deg")
        known = np.isfinite(latitude)
        row = np.clip((latitude[known] + 90.0) / 180.0 * rows, 0, rows - 1).astype(np.int64)
        turned = (longitude[known] + 180.0) % 360.0
        cell = np.minimum((turned / 360.0 * across).astype(np.int64), across - 1)
        count += np.bincount(row * across + cell, minlength=rows * across)
    edges = np.linspace(-90.0, 90.0, rows + 1), np.linspace(-180.0, 180.0, across + 1)
    return LatLongDensity(*edges, count.reshape(rows, across))


def facet_counts(mesh: Mesh, tables: Any) -> Counts:
    """(m,) rest places by the facet they lie on; over ``mesh.face_areas`` they are per m^2."""
    finder = FacetFinder(mesh)
    count = np.zeros(mesh.n_faces, dtype=np.int64)
    names = columns.point_names("rest_")
    for table in columns.batches(tables):
        x = columns.points(columns.gather(table, names), "rest_")
        facet, _ = finder.find(x[np.isfinite(x).all(axis=1)])
        count += np.bincount(facet, minlength=mesh.n_faces)
    return count


# ---------------------------------------------------------------------------------------------
# In the tangent plane
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlaneDensity:
    """Share of the rest places per area on a grid of the tangent plane."""

    east_edges: Array
    """(columns + 1,) [m]"""
    north_edges: Array
    """(rows + 1,) [m]"""
    per_area: Array
    """(rows, columns) share of all places per area [1/m^2]; rows go north."""
    inside: float
    """Share of the places that lie on the grid."""

    @property
    def cell_area(self) -> float:
        """[m^2]"""
        return float(np.diff(self.east_edges)[0] * np.diff(self.north_edges)[0])


def plane_density(
    footprint: Footprint, cells: int = 120, reach: float = 0.995, smooth: bool = True
) -> PlaneDensity:
    """Density of a footprint over the middle ``reach`` of its places, on cells by cells.

    ``smooth`` spreads each place over a normal law as wide as Scott's rule says, sigma n^(-1/6)
    along each axis, with sigma from the quartiles: tails would make it too wide.
    """
    checked_whole("cells", cells, 2)
    checked_share("reach", reach)
    plane = footprint.plane
    tail = 0.5 * (1.0 - reach)
    marks = np.quantile(plane, [tail, 0.25, 0.75, 1.0 - tail], axis=0)
    width = (marks[2] - marks[1]) / 1.349 * len(plane) ** (-1.0 / 6.0) if smooth else np.zeros(2)
    least = 1e-6 * max(float(np.ptp(marks)), 1e-6)
    margin = 3.0 * width + 0.02 * (marks[3] - marks[0]) + least
    low, high = marks[0] - margin, marks[3] + margin
    bounds = [(low[0], high[0]), (low[1], high[1])]
    count, east, north = np.histogram2d(plane[:, 0], plane[:, 1], bins=cells, range=bounds)
    size = (high - low) / cells
    if smooth:
        count = scipy.ndimage.gaussian_filter(count, width / size, mode="constant")
    inside = float(np.mean(np.all((plane >= low) & (plane <= high), axis=1)))
    return PlaneDensity(east, north, count.T / (len(plane) * size[0] * size[1]), inside)


def levels(density: PlaneDensity, shares: Sequence[float] = SHARES) -> Array:
    """Densities [1/m^2] whose contours hold these shares of the places in the smallest area.

    A share that is not all on the grid has the level 0.
    """
    ordered = np.sort(density.per_area, axis=None)[::-1]
    held = np.cumsum(ordered) * density.cell_area
    place = np.searchsorted(held, [checked_share("share", share) for share in shares])
    return np.where(place < len(held), ordered[np.minimum(place, len(held) - 1)], 0.0)


def thin(n: int, most: int) -> Counts:
    """At most ``most`` of the indices 0 to n - 1, evenly spaced: points of a map of many runs."""
    if most < 1:
        raise InputError(f"most is {most}; at least 1 point must be kept")
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)

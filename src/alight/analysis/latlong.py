"""A body's surface on a grid of latitude and longitude.

Along each direction from the centre the outermost point of the surface is taken. On a body that
is not star-shaped (67P, a little of Itokawa) the ground beneath an overhang is therefore not on
the map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.analysis.raster import Array, Index, foremost
from alight.shapes.mesh import Mesh

#: A direction that passes a facet's edge within this part of the facet still meets it: one along
#: an edge must not slip between the two facets.
SLACK = 1e-9


@dataclass(frozen=True)
class LatLongGrid:
    """Where the surface is met along each direction of the grid."""

    latitude: Array
    """(rows,) from -pi/2 to pi/2, both included [rad]."""
    longitude: Array
    """(columns,) east, from 0 up to but without 2 pi [rad]."""
    radius: Array
    """(rows, columns) distance of the outermost surface [m]; nan where none is met."""
    facet: Index
    """(rows, columns) facet met; -1 where none is."""
    weights: Array
    """(rows, columns, 3) shares of the facet's three corners, adding up to 1."""
    corners: npt.NDArray[np.int32]
    """(m, 3) the facets of the mesh."""

    def sample(self, vertex_values: Array) -> Array:
        """(rows, columns, ...) values given at the vertices, interpolated over the facets met."""
        found = vertex_values[self.corners[self.facet]]
        weights = self.weights.reshape(self.weights.shape + (1,) * (found.ndim - 3))
        mixed: Array = (weights * found).sum(axis=2)
        mixed[self.facet < 0] = np.nan
        return mixed


def lat_long_grid(mesh: Mesh, rows: int = 181, columns: int = 360) -> LatLongGrid:
    """Meet the surface along ``rows`` latitudes, poles included, and ``columns`` longitudes."""
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rows)
    longitude = np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False)
    directions = _directions(latitude, longitude)
    corner = mesh.vertices[mesh.faces]
    sides = np.cross(np.roll(corner, -1, axis=1), np.roll(corner, -2, axis=1))
    volume = np.einsum("fi,fi->f", corner[:, 0], sides[:, 0])

    def depth(facet: Index, column: Index, row: Index) -> Array:
        toward = directions[row, column % columns]
        return _met(np.einsum("pki,pi->pk", sides[facet], toward), volume[facet])

    low, high = _boxes(corner, rows, columns)
    radius, owner = foremost(low, high, (rows, columns), depth)
    share = np.einsum("rcki,rci->rck", sides[owner], directions)
    share[owner < 0] = np.nan
    return LatLongGrid(
        latitude,
        longitude,
        np.where(owner >= 0, radius, np.nan),
        owner,
        share / share.sum(axis=2, keepdims=True),
        mesh.faces,
    )


def outermost_radius(mesh: Mesh, direction: npt.ArrayLike) -> float:
    """Distance of the outermost surface along a unit ``direction`` [m]; nan where none is met."""
    corner = mesh.vertices[mesh.faces]
    sides = np.cross(np.roll(corner, -1, axis=1), np.roll(corner, -2, axis=1))
    share = sides @ np.asarray(direction, dtype=np.float64)
    distance = _met(share, np.einsum("fi,fi->f", corner[:, 0], sides[:, 0]))
    return float(distance.max()) if np.isfinite(distance.max()) else float("nan")


def _met(share: Array, volume: Array) -> Array:
    """Distance at which a direction meets facets; -inf where it does not.

    With corners a, b, c a direction d meets the facet's plane at the distance
    a.(b x c) / (d.(b x c) + d.(c x a) + d.(a x b)), and the three terms of the sum, ``share``,
    are to one another as the weights of the corners there.
    """
    total = share.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = volume / total
        inside = (share / total[:, None] >= -SLACK).all(axis=1)
    return np.where(inside & (distance > 0.0), distance, -np.inf)


def facets_to_vertices(mesh: Mesh, facet_values: Array) -> Array:
    """Facet values carried to the vertices: at each the mean of its facets, weighted by area."""
    flat = mesh.faces.ravel()
    weight = np.repeat(mesh.face_areas, 3)
    total = np.bincount(flat, weights=weight, minlength=mesh.n_vertices)
    given = np.repeat(facet_values, 3)
    return np.bincount(flat, weights=weight * given, minlength=mesh.n_vertices) / total


def _directions(latitude: Array, longitude: Array) -> Array:
    """(rows, columns, 3) unit vectors."""
    lat, lon = np.meshgrid(latitude, longitude, indexing="ij")
    level = np.cos(lat)
    return np.stack([level * np.cos(lon), level * np.sin(lon), np.sin(lat)], axis=-1)


def _boxes(corner: Array, rows: int, columns: int) -> tuple[Index, Index]:
    """First and last column and row of the grid that each facet can reach, seen from the centre.

    A cap over a pole has every longitude; another spreads over asin(sin(size) / cos(latitude))
    to either side of its middle.
    """
    middle, size, whole = _caps(corner)
    lat = np.arcsin(np.clip(middle[:, 2], -1.0, 1.0))
    lon = np.arctan2(middle[:, 1], middle[:, 0])
    round_pole = whole | (np.abs(lat) + size >= 0.5 * np.pi)
    level = np.where(round_pole, 1.0, np.cos(lat))
    side = np.arcsin(np.clip(np.sin(size) / level, 0.0, 1.0))
    row, column = (rows - 1) / np.pi, columns / (2.0 * np.pi)
    centre = np.stack([lon * column, (lat + 0.5 * np.pi) * row], axis=1)
    reach = np.stack([side * column, size * row], axis=1)
    first = np.ceil(centre - reach).astype(np.int64)
    last = np.floor(centre + reach).astype(np.int64)
    first[round_pole, 0], last[round_pole, 0] = 0, columns - 1
    first[whole, 1], last[whole, 1] = 0, rows - 1
    first[:, 1], last[:, 1] = np.maximum(first[:, 1], 0), np.minimum(last[:, 1], rows - 1)
    return first, last


def _caps(corner: Array) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Caps of the sky that hold the facets: middle, angular radius [rad], and which are all of it.

    The cap about a facet's mean direction that holds its corners holds the facet as long as it
    is smaller than a half sphere.
    """
    distance = np.linalg.norm(corner, axis=2, keepdims=True)
    unit = corner / np.where(distance > 0.0, distance, 1.0)
    mean = unit.sum(axis=1)
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    middle = mean / np.where(length > 0.0, length, 1.0)
    farthest = np.einsum("fki,fi->fk", unit, middle).min(axis=1)
    whole = (farthest <= 1e-6) | (distance.min(axis=(1, 2)) == 0.0)
    return middle, np.arccos(np.clip(farthest, -1.0, 1.0)) + 1e-9, whole

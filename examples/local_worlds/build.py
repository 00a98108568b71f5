"""How an atlas is filled: which facets reach into which cells, and spheres around them.

Seen from the centre a facet lies inside the cap about the mean direction of its corners that holds
all three of them: a cap of less than a half sphere is convex, and so is the facet. A cap's
latitudes and longitudes follow in closed form, across the seam at 180 degrees as well; a cap with a
pole of the chart in it has all longitudes. So a facet may be listed where it does not quite reach,
and is never left out where it does.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp
from examples.local_worlds.kernel import AtlasData, place_kernel, sphere_kernel

from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.frames import latitude_longitude
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.facets import bvh
from alight.surfaces.facets.triangles import Triangles, triangles_data

Whole = npt.NDArray[np.int64]
Number = npt.NDArray[np.int32]

#: Coordinates of a chart's own axes: of the chart about z, and of that about x.
AXES = ((0, 1, 2), (1, 2, 0))

#: Wider than this [rad], a cap is as good as everything: the facet is close to the centre.
WIDE = math.radians(89.0)

#: Lists reach farther than asked by this angle [rad]: far more than rounding moves anything.
SLACK = 1e-9

#: Entries of all lists together at most: 400 MB, and some ten times as much while they are made.
MOST = 100_000_000


class AtlasLists(NamedTuple):
    """An atlas as it was built."""

    order: Whole
    """(m,) facets of the mesh in the order of their own cells, in which lists count them."""
    start: Number
    """(cells + 1,) where the list of each cell begins; the last is where all end."""
    facet: Number
    """(entries,) the lists, one after another."""
    center: Array
    """(cells, 3) of bounding spheres [m]."""
    radius: Array
    """(cells,) of bounding spheres [m]; -inf where a list is empty."""


def build(mesh: Mesh, bands: int, margin: float) -> AtlasLists:
    """The lists of all cells, reaching ``margin`` [rad] beyond them, and spheres around them."""
    corners = mesh.vertices[mesh.faces]
    # Facets that are asked about together lie together in memory.
    order = np.argsort(placed(corners.mean(axis=1), bands)[0], kind="stable").astype(np.int64)
    axis, angle = caps(corners[order])
    spans = [spanned(axis[:, turned], angle + margin + SLACK, bands) for turned in AXES]
    _check_size(spans, bands, margin)
    start, facet = listed(spans, bands)
    return AtlasLists(order, start, facet, *spheres(mesh, order, bands, start, facet))


def placed(points: Array, bands: int, margin: float = 0.0) -> tuple[Number, Array]:
    """(n,) the cell of each point, and how far its list answers [m]."""
    cpu, data, n = devices.resolve("cpu"), AtlasData(), len(points)
    data.bands, data.margin = bands, margin
    cell = wp.zeros(n, dtype=int, device=cpu.name)
    valid = wp.zeros(n, dtype=scalar, device=cpu.name)
    x = wp.array(np.ascontiguousarray(points), dtype=vec3, device=cpu.name)
    if n:
        devices.launch(place_kernel, n, [data, x], cpu, outputs=[cell, valid])
    return np.asarray(cell.numpy()), np.asarray(valid.numpy())


def caps(corners: Array) -> tuple[Array, Array]:
    """Axes (m, 3) and half-angles (m,) [rad] of cones that hold triangles (m, 3, 3).

    The half-angle is half a turn, which is everything, for a triangle at or around the centre.
    """
    length = np.linalg.norm(corners, axis=2, keepdims=True)
    unit = corners / np.where(length > 0.0, length, 1.0)
    total = unit.sum(axis=1)
    size = np.linalg.norm(total, axis=1, keepdims=True)
    axis = total / np.where(size > 0.0, size, 1.0)
    # Through the chord: an angle from a cosine near 1 would be good to 1e-8 alone.
    chord = np.linalg.norm(unit - axis[:, None], axis=2).max(axis=1)
    angle = 2.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
    everything = (angle > WIDE) | (size[:, 0] == 0.0) | (length == 0.0).any(axis=(1, 2))
    return axis, np.where(everything, math.pi, angle)


class Spans(NamedTuple):
    """Rows and columns of a chart that caps reach into: the first, and how many."""

    row: Whole
    rows: Whole
    column: Whole
    columns: Whole


def spanned(axis: Array, angle: Array, bands: int) -> Spans:
    """Of caps about ``axis`` (m, 3), in the chart's own axes, of half-angles (m,) [rad]."""
    side = 0.5 * math.pi / bands
    latitude, longitude = latitude_longitude(axis)

    def number(where: Array, least: float) -> Whole:
        return np.asarray(np.floor((where - least) / side).astype(np.int64))

    low = number(latitude - angle, -0.25 * math.pi)
    high = number(latitude + angle, -0.25 * math.pi)
    row = np.maximum(low, 0)
    rows = np.maximum(np.minimum(high, bands - 1) - row + 1, 0)
    # A meridian touches a cap where sin(difference of longitude) = sin(angle) / cos(latitude).
    polar = np.abs(latitude) + angle >= 0.5 * math.pi
    ratio = np.sin(angle) / np.where(polar, 1.0, np.cos(latitude))
    half = np.where(polar, math.pi, np.arcsin(np.clip(ratio, 0.0, 1.0)))
    west = number(longitude - half, -math.pi)
    columns = np.minimum(number(longitude + half, -math.pi) - west + 1, 4 * bands)
    return Spans(row, rows, west % (4 * bands), np.where(rows > 0, columns, 0))


def _check_size(spans: list[Spans], bands: int, margin: float) -> None:
    """Refuse lists that would not fit, before they are made."""
    entries = sum(int((span.rows * span.columns).sum()) for span in spans)
    cells = 8 * bands * bands
    if max(entries, cells) > MOST:
        raise InputError(
            f"an atlas of {cells} cells (cells={bands}) whose lists reach "
            f"{math.degrees(margin):.3g} degrees beyond them would have {entries} entries; "
            f"at most {MOST} of each are allowed, which takes gigabytes to build. "
            "Take fewer cells or less overlap"
        )


def listed(spans: list[Spans], bands: int) -> tuple[Number, Number]:
    """Where lists begin (cells + 1,), and facets in order of cells."""
    parts = [_pairs(span, chart, bands) for chart, span in enumerate(spans)]
    cell, facet = (np.concatenate(column) for column in zip(*parts, strict=True))
    count = np.bincount(cell, minlength=8 * bands * bands)
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    return start, facet[np.argsort(cell, kind="stable")]


def _pairs(span: Spans, chart: int, bands: int) -> tuple[Number, Number]:
    """Each cell of a chart that each facet reaches into: the cell, the facet."""
    count = span.rows * span.columns
    facet = np.repeat(np.arange(len(count), dtype=np.int32), count)
    before = np.cumsum(count) - count
    number = np.arange(len(facet)) - before[facet]
    columns = span.columns[facet]
    row = span.row[facet] + number // columns
    column = (span.column[facet] + number % columns) % (4 * bands)
    return ((chart * bands + row) * 4 * bands + column).astype(np.int32), facet


def spheres(
    mesh: Mesh, order: Whole, bands: int, start: Number, facet: Number
) -> tuple[Array, Array]:
    """Centres and radii [m] of spheres around the facets of each list."""
    cpu, cells = devices.resolve("cpu"), len(start) - 1
    data = AtlasData()
    data.bands = bands
    data.start = wp.array(start, dtype=int, device=cpu.name)
    data.facet = wp.array(facet, dtype=int, device=cpu.name)
    data.mesh = Triangles()
    data.mesh.vertex = wp.array(mesh.vertices, dtype=vec3, device=cpu.name)
    data.mesh.face = wp.array(mesh.faces[order], dtype=wp.vec3i, device=cpu.name)
    center = wp.empty(cells, dtype=vec3, device=cpu.name)
    radius = wp.empty(cells, dtype=scalar, device=cpu.name)
    devices.launch(sphere_kernel, cells, [data], cpu, outputs=[center, radius], min_items=16)
    return np.asarray(center.numpy()), np.asarray(radius.numpy())


def atlas_data(
    mesh: Mesh, lists: AtlasLists, bands: int, margin: float, device: devices.Device
) -> Any:
    """An atlas on a device."""

    def put(array: Any, kind: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(array), dtype=kind, device=device.name)

    data = AtlasData()
    data.bands, data.margin = bands, margin
    data.start, data.facet = put(lists.start, int), put(lists.facet, int)
    data.center, data.radius = put(lists.center, vec3), put(lists.radius, scalar)
    # Facets in the atlas's own order, under a tree without nodes.
    bare = bvh.Built(lists.order, 1, np.zeros(3), np.zeros((0, 12), np.float32))
    data.mesh = triangles_data(mesh, device, bare)
    return data

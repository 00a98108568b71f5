"""CachedField: a polyhedron's field from a table, in constant time, to a stated error."""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.types import mat33, scalar, vec3
from alight.gravity import cached_build, lanes, multipole
from alight.gravity.law import Array, FieldValue, Gravity
from alight.gravity.patches import NearLists, Patches, cut, near_field, patch_data, piece_sizes
from alight.gravity.polyhedron import FAR_DEGREE, Polyhedron
from alight.gravity.spline import Levels, find_cell, spline_value

far_field = multipole.field(FAR_DEGREE)


@wp.struct
class CachedData:
    """Near pieces, table and far series, with the shell in which one hands over to the other."""

    patches: Patches
    lists: NearLists
    levels: Levels
    far: multipole.Data
    shell_inner: scalar  # [m]
    shell_outer: scalar  # [m]


@wp.func
def blend(r: scalar, inner: scalar, outer: scalar):
    """Weight of the far series and its first two derivatives in r: 0 to 1 across the shell, C2."""
    width = outer - inner
    t = wp.clamp((r - inner) / width, scalar(0.0), scalar(1.0))
    u = scalar(1.0) - t
    b = t * t * t * (scalar(10.0) + t * (scalar(-15.0) + scalar(6.0) * t))
    slope = scalar(30.0) * t * t * u * u / width
    bend = scalar(60.0) * t * u * (u - t) / (width * width)
    return vec3(b, slope, bend)


@functools.cache
def cached_field(width: int) -> Any:
    """The law's kernel function, near pieces taken ``width`` abreast."""
    near = near_field(width)

    @wp.func
    def field(data: CachedData, x: vec3):
        d = x - data.far.center
        r = wp.length(d)
        value = FieldValue()
        if r < data.shell_outer:
            value = spline_value(data.levels, find_cell(data.levels, x))
            close = near(data.patches, data.lists, x)
            value.potential += close.potential
            value.acceleration += close.acceleration
            value.gradient += close.gradient
        if r > data.shell_inner:
            far = far_field(data.far, x)
            if r < data.shell_outer:
                b = blend(r, data.shell_inner, data.shell_outer)
                e = d / r
                du = far.potential - value.potential
                dg = far.acceleration - value.acceleration
                value.potential += b[0] * du
                value.acceleration += b[0] * dg + (b[1] * du) * e
                over_r = b[1] / r
                value.gradient += (
                    b[0] * (far.gradient - value.gradient)
                    + b[1] * (wp.outer(e, dg) + wp.outer(dg, e))
                    + du * ((b[2] - over_r) * wp.outer(e, e) + over_r * wp.identity(n=3, dtype=scalar))
                )
            else:
                value = far
        return value

    return field


class CachedField(Gravity):
    """(docs)"""

    Data = CachedData

    def __init__(self, field: Polyhedron, *, size_ratio: float = 1.25, reach_ratio: float = 3.2, nodes: float = 7.0, device="auto") -> None:
        self.full = field
        corner = field.mesh.vertices[field.mesh.faces]
        size = size_ratio * float(np.median(piece_sizes(corner)))
        pieces = cut(corner, size)
        self.reach = reach_ratio * size
        series = field.series
        self.series = series
        target = devices.resolve(device)
        self.shell = (5.5 * series.radius, 6.5 * series.radius)
        builder = cached_build.Builder(pieces, field.G * field.density, series, self.reach, nodes, self.shell[1], target)
        self.builder = builder
        import time
        t = time.perf_counter()
        self.grids = builder.build(lambda s: print(s, time.perf_counter() - t))
        cells = cached_build.sort_into_cells(pieces.mean(axis=1), self.reach / 2.0)
        self.pieces = pieces[cells.order]
        data = patch_data(self.pieces, field.G * field.density, target)
        self.lists = cached_build.near_lists(data, cells, self.reach, target)

    def data(self, device: devices.Device) -> Any:
        data = CachedData()
        data.patches = patch_data(self.pieces, self.full.G * self.full.density, device)
        data.lists = cached_build.lists_data(self.lists, self.reach, device)
        data.levels = cached_build.levels_data(self.grids, self.builder.origin, self.builder.spacing, device)
        data.far = self.series.data(device)
        data.shell_inner, data.shell_outer = self.shell
        return data

    def field_on(self, device: devices.Device) -> Any:
        return cached_field(lanes.width_for(device.is_gpu))

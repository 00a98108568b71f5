"""Building the tables of a CachedField: window by window, from coarse grids to fine.

With windows w_0, w_1, ... of doubling reach, the sum over facets splits into

    U = sum_f w_0 u_f  +  sum_k sum_f (w_k+1 - w_k) u_f  +  sum_f (1 - w_K) u_f
        near, exact       level k of the spline              coarsest level

The part on level k is smooth on the scale of reach_k, and it is zero farther than reach_k+1 from
the surface: so each level takes about the same number of nodes and about the same work.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import warp as wp
from scipy.spatial import cKDTree

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.gravity import lanes as lane_module
from alight.gravity import multipole, spline
from alight.gravity.law import Array
from alight.gravity.patches import NearLists, Patches, facet_terms, patch_data, window
from alight.gravity.spline import BRICK, Levels, node_at

#: Nodes beyond a level's samples that its stencils reach.
_RIM = 7
_TAPS = 6


class Cells(NamedTuple):
    """Points sorted into cubic cells, the last axis running fastest."""

    corner: Array
    side: float
    size: Any
    start: Any
    order: Any


class Grid(NamedTuple):
    """One level of the table on the host: which bricks it has, and their coefficients."""

    lowest: Any
    size: Any
    index: Any
    bricks: Any
    coefficient: Any


def sort_into_cells(points: Array, side: float) -> Cells:
    """Sort points into cells of a given side, made larger where there would be too many."""
    corner = points.min(axis=0)
    span = points.max(axis=0) - corner
    side = max(side, float(span.max()) / 160.0)
    size = np.floor(span / side).astype(np.int64) + 1
    cell = np.floor((points - corner) / side).astype(np.int64)
    number = (cell[:, 0] * size[1] + cell[:, 1]) * size[2] + cell[:, 2]
    order = np.argsort(number, kind="stable")
    start = np.searchsorted(number[order], np.arange(size.prod() + 1))
    return Cells(corner, side, size, start.astype(np.int32), order)


@wp.struct
class CellData:
    """Cells of sorted pieces on a device."""

    corner: vec3
    side: scalar
    size: wp.vec3i
    start: wp.array(dtype=int)


def _cell_data(cells: Cells, device: devices.Device) -> Any:
    data = CellData()
    data.corner, data.side = vec3(*cells.corner), cells.side
    data.size = wp.vec3i(*(int(n) for n in cells.size))
    data.start = wp.array(cells.start, dtype=int, device=device.name)
    return data


@wp.func
def first_cell(cells: CellData, x: vec3, axis: int, reach: scalar):
    """First cell along an axis that a ball about x can touch."""
    return wp.max(int(wp.floor((x[axis] - reach - cells.corner[axis]) / cells.side)), 0)


@wp.func
def last_cell(cells: CellData, x: vec3, axis: int, reach: scalar):
    """Last cell along an axis that a ball about x can touch."""
    cell = int(wp.floor((x[axis] + reach - cells.corner[axis]) / cells.side))
    return wp.min(cell, cells.size[axis] - 1)


@functools.cache
def _sample_kernel(width: int) -> Any:
    """Samples of sum_f (w(outer) - w(inner)) u_f at rows of ``width`` nodes."""
    term = facet_terms(width)
    lanes, Pieces, Angles, angles, dot = (
        term.lanes, term.Pieces, term.Angles, term.angles, term.dot
    )  # fmt: skip

    @wp.func
    def side_term(lx: lanes, ly: lanes, lz: lanes, d: vec3, n: vec3, log: lanes):
        nu = wp.cross(d, n)
        return wp.cw_mul(log, nu[0] * lx + nu[1] * ly + nu[2] * lz)

    @wp.func
    def share(patches: Patches, f: int, px: lanes, py: lanes, pz: lanes):
        a = patches.corner[f, 0]
        b = patches.corner[f, 1]
        c = patches.corner[f, 2]
        n = patches.normal[f]
        side = patches.length[f]
        p = Pieces()
        p.ax = lanes(a[0]) - px
        p.ay = lanes(a[1]) - py
        p.az = lanes(a[2]) - pz
        p.bx = lanes(b[0]) - px
        p.by = lanes(b[1]) - py
        p.bz = lanes(b[2]) - pz
        p.cx = lanes(c[0]) - px
        p.cy = lanes(c[1]) - py
        p.cz = lanes(c[2]) - pz
        p.nx = lanes(n[0])
        p.ny = lanes(n[1])
        p.nz = lanes(n[2])
        p.ab = lanes(side[0])
        p.bc = lanes(side[1])
        p.ca = lanes(side[2])
        t = angles(p, patches.plane_tolerance)
        phi = (
            side_term(p.ax, p.ay, p.az, b - a, n, t.ab)
            + side_term(p.bx, p.by, p.bz, c - b, n, t.bc)
            + side_term(p.cx, p.cy, p.cz, a - c, n, t.ca)
            - wp.cw_mul(t.height, t.solid)
        )
        return wp.cw_mul(t.height, phi)

    @wp.func
    def between(square: lanes, inner: scalar, outer: scalar):
        """w(outer) - w(inner) at squared distances from a centre."""
        weight = lanes()
        for lane in range(wp.static(width)):
            r = wp.sqrt(square[lane])
            far = window(r, outer)
            near = window(r, inner)
            weight[lane] = far[0] - near[0]
        return weight

    @wp.kernel(module="unique", enable_backward=False, module_options=lane_module.MODULE_OPTIONS)
    def sample_level(
        offset: int,
        patches: Patches,
        cells: CellData,
        bricks: wp.array(dtype=wp.vec3i),
        origin: vec3,
        spacing: scalar,
        inner: scalar,
        outer: scalar,
        sample_out: wp.array(dtype=scalar),
    ):
        item = wp.tid() + offset
        node = item * wp.static(width)
        brick = bricks[node // wp.static(BRICK**3)]
        place = node % wp.static(BRICK**3)
        i = brick[0] * wp.static(BRICK) + place // wp.static(BRICK**2)
        j = brick[1] * wp.static(BRICK) + (place // wp.static(BRICK)) % wp.static(BRICK)
        k = brick[2] * wp.static(BRICK) + place % wp.static(BRICK)
        half = scalar(wp.static(0.5 * (width - 1))) * spacing
        middle = origin + spacing * vec3(scalar(i), scalar(j), scalar(k))
        middle[2] += half
        px = lanes(middle[0])
        py = lanes(middle[1])
        pz = lanes()
        for m in range(wp.static(width)):
            pz[m] = middle[2] - half + scalar(m) * spacing
        inner_square = scalar(wp.static(0.4**2)) * inner * inner
        sum = lanes()
        for ci in range(first_cell(cells, middle, 0, outer), last_cell(cells, middle, 0, outer) + 1):
            for cj in range(
                first_cell(cells, middle, 1, outer), last_cell(cells, middle, 1, outer) + 1
            ):
                row = (ci * cells.size[1] + cj) * cells.size[2]
                lo = first_cell(cells, middle, 2, outer + half)
                hi = last_cell(cells, middle, 2, outer + half)
                if hi >= lo:
                    for f in range(cells.start[row + lo], cells.start[row + hi + 1]):
                        c = patches.center[f]
                        dx = lanes(c[0]) - px
                        dy = lanes(c[1]) - py
                        dz = lanes(c[2]) - pz
                        square = dot(dx, dy, dz, dx, dy, dz)
                        if wp.min(square) < outer * outer and wp.max(square) > inner_square:
                            weight = between(square, inner, outer)
                            sum += wp.cw_mul(weight, share(patches, f, px, py, pz))
        for m in range(wp.static(width)):
            sample_out[node + m] = scalar(0.5) * patches.strength * sum[m]

    return sample_level


@wp.kernel(enable_backward=False)
def _filter_axis(
    offset: int,
    levels: Levels,
    bricks: wp.array(dtype=wp.vec3i),
    axis: int,
    taps: wp.array(dtype=scalar),
    sample: wp.array(dtype=scalar),
    filtered_out: wp.array(dtype=scalar),
):
    node = wp.tid() + offset
    brick = bricks[node // wp.static(BRICK**3)]
    place = node % wp.static(BRICK**3)
    i = brick[0] * wp.static(BRICK) + place // wp.static(BRICK**2)
    j = brick[1] * wp.static(BRICK) + (place // wp.static(BRICK)) % wp.static(BRICK)
    k = brick[2] * wp.static(BRICK) + place % wp.static(BRICK)
    di = wp.where(axis == 0, 1, 0)
    dj = wp.where(axis == 1, 1, 0)
    dk = wp.where(axis == 2, 1, 0)
    reach = taps.shape[0] // 2
    total = scalar(0.0)
    for t in range(taps.shape[0]):
        m = t - reach
        at = node_at(levels, 0, i + m * di, j + m * dj, k + m * dk)
        if at >= 0:
            total += taps[t] * sample[at]
    filtered_out[node] = total


@wp.func
def _coarse_weight(fine: int, m: int):
    """Weight of the m-th of four coarse nodes from ``(fine - 3) // 2 + 1`` on (two-scale rule)."""
    odd = fine & 1
    # Even nodes: 6, 20, 6 of 32; odd nodes: 1, 15, 15, 1 of 32.
    even_weight = wp.where(m == 1, scalar(20.0 / 32.0), scalar(6.0 / 32.0))
    even_weight = wp.where(m == 3, scalar(0.0), even_weight)
    odd_weight = wp.where(m == 1 or m == 2, scalar(15.0 / 32.0), scalar(1.0 / 32.0))
    return wp.where(odd == 1, odd_weight, even_weight)


@wp.kernel(enable_backward=False)
def _add_coarser(
    offset: int,
    coarse: Levels,
    bricks: wp.array(dtype=wp.vec3i),
    coefficient: wp.array(dtype=scalar),
    missing_out: wp.array(dtype=int),
):
    node = wp.tid() + offset
    brick = bricks[node // wp.static(BRICK**3)]
    place = node % wp.static(BRICK**3)
    i = brick[0] * wp.static(BRICK) + place // wp.static(BRICK**2)
    j = brick[1] * wp.static(BRICK) + (place // wp.static(BRICK)) % wp.static(BRICK)
    k = brick[2] * wp.static(BRICK) + place % wp.static(BRICK)
    total = scalar(0.0)
    for a in range(4):
        wa = _coarse_weight(i, a)
        for b in range(4):
            wab = wa * _coarse_weight(j, b)
            for c in range(4):
                w = wab * _coarse_weight(k, c)
                if w != scalar(0.0):
                    at = node_at(coarse, 0, (i >> 1) - 1 + a, (j >> 1) - 1 + b, (k >> 1) - 1 + c)
                    if at >= 0:
                        total += w * coarse.coefficient[at]
                    else:
                        missing_out[0] = 1
    coefficient[node] += total


@wp.kernel(enable_backward=False)
def _list_near(
    offset: int,
    patches: Patches,
    cells: CellData,
    corner: vec3,
    block: scalar,
    size: wp.vec3i,
    reach: scalar,
    start: wp.array(dtype=int),
    count_out: wp.array(dtype=int),
    piece_out: wp.array(dtype=int),
):
    """Count, or with ``piece_out`` list, the pieces within reach of each block."""
    b = wp.tid() + offset
    k = b % size[2]
    j = (b // size[2]) % size[1]
    i = b // (size[2] * size[1])
    half = scalar(0.5) * block
    middle = corner + block * vec3(scalar(i), scalar(j), scalar(k)) + vec3(half, half, half)
    count = int(0)
    for ci in range(first_cell(cells, middle, 0, reach + half), last_cell(cells, middle, 0, reach + half) + 1):
        for cj in range(
            first_cell(cells, middle, 1, reach + half), last_cell(cells, middle, 1, reach + half) + 1
        ):
            row = (ci * cells.size[1] + cj) * cells.size[2]
            lo = first_cell(cells, middle, 2, reach + half)
            hi = last_cell(cells, middle, 2, reach + half)
            if hi >= lo:
                for f in range(cells.start[row + lo], cells.start[row + hi + 1]):
                    d = patches.center[f] - middle
                    gap = vec3(
                        wp.max(wp.abs(d[0]) - half, scalar(0.0)),
                        wp.max(wp.abs(d[1]) - half, scalar(0.0)),
                        wp.max(wp.abs(d[2]) - half, scalar(0.0)),
                    )
                    if wp.length_sq(gap) < reach * reach:
                        if piece_out.shape[0] > 0:
                            piece_out[start[b] + count] = f
                        count += 1
    count_out[b] = count


def near_lists(pieces: Any, cells: Cells, reach: float, device: devices.Device) -> tuple[Any, ...]:
    """Blocks, starts and piece numbers of the pieces whose windows reach into each block."""
    centers = pieces.center.numpy()
    block = max(reach / 3.0, float(np.ptp(centers, axis=0).max() + 2 * reach) / 200.0)
    corner = centers.min(axis=0) - reach
    size = np.ceil((np.ptp(centers, axis=0) + 2 * reach) / block).astype(np.int64)
    blocks = int(size.prod())
    count = wp.zeros(blocks, dtype=int, device=device.name)
    start = wp.zeros(blocks + 1, dtype=int, device=device.name)
    empty = wp.zeros(0, dtype=int, device=device.name)
    grid = [pieces, _cell_data(cells, device), vec3(*corner), block, wp.vec3i(*map(int, size)), reach]
    devices.launch(_list_near, blocks, [*grid, start, count, empty], device)
    ends = np.concatenate([[0], np.cumsum(count.numpy(), dtype=np.int64)])
    start = wp.array(ends.astype(np.int32), dtype=int, device=device.name)
    piece = wp.zeros(int(ends[-1]), dtype=int, device=device.name)
    devices.launch(_list_near, blocks, [*grid, start, count, piece], device)
    return corner, block, size, ends.astype(np.int32), piece.numpy()


def bricks_near(centers: Array, origin: Array, side: float, reach: float) -> Any:
    """Bricks of a side (grid-aligned to origin) that come within reach of a centre."""
    low = np.floor((centers.min(axis=0) - reach - origin) / side).astype(np.int64)
    high = np.floor((centers.max(axis=0) + reach - origin) / side).astype(np.int64)
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    all_bricks = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    middle = origin + side * (all_bricks + 0.5)
    bound = reach + side * 0.5 * np.sqrt(3.0)
    distance, nearest = cKDTree(centers).query(middle, distance_upper_bound=bound, workers=-1)
    found = np.isfinite(distance)
    return all_bricks[found]


def grid_from(bricks: Any, coefficient: Any) -> Grid:
    """Index the bricks of a level."""
    lowest = bricks.min(axis=0)
    size = bricks.max(axis=0) - lowest + 1
    index = np.full(size, -1, dtype=np.int32)
    index[tuple((bricks - lowest).T)] = np.arange(len(bricks), dtype=np.int32)
    return Grid(lowest, size, index.ravel(), bricks, coefficient)


def levels_data(
    grids: list[Grid], origin: Array, spacing: float, device: devices.Device
) -> Any:
    """Grids, finest first, as one struct on a device."""
    data = Levels()
    data.origin, data.spacing, data.count = vec3(*origin), spacing, len(grids)
    as_int3 = {"dtype": wp.vec3i, "device": device.name}
    data.lowest = wp.array(np.array([g.lowest for g in grids], dtype=np.int32), **as_int3)
    data.size = wp.array(np.array([g.size for g in grids], dtype=np.int32), **as_int3)
    start = np.concatenate([[0], np.cumsum([len(g.index) for g in grids])])[:-1]
    first = np.concatenate([[0], np.cumsum([len(g.bricks) for g in grids])])
    index = [np.where(g.index < 0, -1, g.index + f) for g, f in zip(grids, first, strict=False)]
    data.start = wp.array(start.astype(np.int32), dtype=int, device=device.name)
    data.index = wp.array(np.concatenate(index).astype(np.int32), dtype=int, device=device.name)
    values = np.concatenate([g.coefficient for g in grids])
    data.coefficient = wp.array(values, dtype=scalar, device=device.name)
    return data


class Builder:
    """Makes the levels of a table, coarsest first."""

    def __init__(
        self,
        corner: Array,
        strength: float,
        series: multipole.Multipole,
        reach: float,
        nodes: float,
        outer: float,
        device: devices.Device,
    ) -> None:
        self.corner, self.strength, self.series = corner, strength, series
        self.reach, self.device, self.outer = reach, device, outer
        self.centers = corner.mean(axis=1)
        self.levels = max(1, int(np.ceil(np.log2(3.0 * series.radius / reach)))) + 1
        self.spacing = reach / nodes
        top = self.spacing * 2 ** (self.levels - 1)
        rim = (_RIM + _TAPS) * top
        cells = int(np.ceil((outer + rim) / (BRICK * top)))
        self.bricks_a_side = 2 * cells
        self.origin = series.center - cells * BRICK * top
        self.taps = wp.array(spline.prefilter_taps(_TAPS), dtype=scalar, device=device.name)

    def build(self, advance: Callable[[str], None]) -> list[Grid]:
        """All levels, finest first."""
        grids: list[Grid] = []
        for k in reversed(range(self.levels)):
            is_top = k == self.levels - 1
            bricks = self._top_bricks() if is_top else self._bricks(k)
            sample = self._samples(k, bricks)
            if is_top:
                self._far_samples(bricks, sample, k)
            coefficient = self._filter(bricks, sample)
            if grids:
                self._refine(bricks, coefficient, grids[0], k)
            grids.insert(0, grid_from(bricks, coefficient.numpy()))
            advance(f"level {k}")
        return grids

    def _top_bricks(self) -> Any:
        axis = np.arange(self.bricks_a_side)
        return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)

    def _bricks(self, k: int) -> Any:
        h = self.spacing * 2**k
        return bricks_near(self.centers, self.origin, BRICK * h, self.reach * 2 ** (k + 1) + _RIM * h)

    def _samples(self, k: int, bricks: Any) -> Any:
        inner = self.reach * 2**k
        top = k == self.levels - 1
        # The coarsest level has no outer window: one so wide that its plateau holds everything.
        outer = 1e3 * (self.outer + self.series.radius) if top else 2.0 * inner
        cells = sort_into_cells(self.centers, min(outer, 2 * self.series.radius) / 4.0)
        patches = patch_data(self.corner[cells.order], self.strength, self.device)
        width = lane_module.width_for(self.device.is_gpu)
        count = len(bricks) * BRICK**3
        sample = wp.zeros(count, dtype=scalar, device=self.device.name)
        inputs = [patches, _cell_data(cells, self.device), self._int3(bricks), vec3(*self.origin)]
        inputs += [self.spacing * 2**k, inner, outer, sample]
        if top:
            self._sample_inside(inputs, bricks, k, width)
        else:
            devices.launch(_sample_kernel(width), count // width, inputs, self.device, min_items=8)
        return sample

    def _sample_inside(self, inputs: list[Any], bricks: Any, k: int, width: int) -> None:
        """Sample only the bricks that the far series does not cover."""
        side = BRICK * self.spacing * 2**k
        gap = np.abs(self.origin + side * (bricks + 0.5) - self.series.center) - 0.5 * side
        close = np.linalg.norm(np.maximum(gap, 0.0), axis=1) < self._series_radius(k)
        some = bricks[close]
        part = wp.zeros(len(some) * BRICK**3, dtype=scalar, device=self.device.name)
        inputs = [*inputs[:2], self._int3(some), *inputs[3:-1], part]
        devices.launch(_sample_kernel(width), part.size // width, inputs, self.device, min_items=8)
        self._inside = (close, part.numpy())

    def _series_radius(self, k: int) -> float:
        """Beyond this distance no window of the coarsest level is open."""
        return self.reach * 2**k + self.series.radius

    def _far_samples(self, bricks: Any, sample: Any, k: int) -> None:
        close, part = self._inside
        value = sample.numpy().reshape(-1, BRICK**3)
        value[close] = part.reshape(-1, BRICK**3)
        step = np.stack(np.meshgrid(*3 * [np.arange(BRICK)], indexing="ij"), -1).reshape(-1, 3)
        h = self.spacing * 2**k
        x = self.origin + h * (bricks[:, None, :] * BRICK + step)
        far = np.linalg.norm(x - self.series.center, axis=2) > self._series_radius(k)
        value[far] = self.series.evaluate(x[far], self.device.name)[0]
        sample.assign(value.ravel())

    def _filter(self, bricks: Any, sample: Any) -> Any:
        index = grid_from(bricks, np.zeros(1))
        levels = levels_data([index], self.origin, self.spacing, self.device)
        places = self._int3(bricks)
        for axis in range(3):
            out = wp.empty_like(sample)
            inputs = [levels, places, axis, self.taps, sample, out]
            devices.launch(_filter_axis, sample.size, inputs, self.device)
            sample = out
        return sample

    def _refine(self, bricks: Any, coefficient: Any, coarse: Grid, k: int) -> None:
        levels = levels_data([coarse], self.origin, self.spacing, self.device)
        missing = wp.zeros(1, dtype=int, device=self.device.name)
        inputs = [levels, self._int3(bricks), coefficient, missing]
        devices.launch(_add_coarser, coefficient.size, inputs, self.device)
        if missing.numpy()[0]:
            raise RuntimeError(f"level {k} of the table reaches past level {k + 1}")

    def _int3(self, bricks: Any) -> Any:
        return wp.array(bricks.astype(np.int32), dtype=wp.vec3i, device=self.device.name)


def lists_data(lists: tuple[Any, ...], reach: float, device: devices.Device) -> Any:
    """Near lists as a struct on a device."""
    corner, block, size, start, piece = lists
    data = NearLists()
    data.corner, data.block, data.reach = vec3(*corner), block, reach
    data.size = wp.vec3i(*(int(n) for n in size))
    data.start = wp.array(start, dtype=int, device=device.name)
    data.piece = wp.array(piece, dtype=int, device=device.name)
    return data

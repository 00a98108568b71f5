"""Building the tables of a CachedField, from coarse grids to fine.

Level k of the spline samples the potential on nodes of spacing h_k = 2^k h_0 wherever the surface
is closer than some ``RINGS`` spacings; farther away the next coarser level is good enough, and its
coefficients are handed down exactly. The finest level leaves out the windowed shares of the
pieces of facets close by, which simulations add back exactly: what it tabulates is smooth on the
scale of the windows' reach. Samples become coefficients by a filter that ends ``_TAPS`` nodes
away and falls off on the way, so the roughness of the potential at the surface reaches the
coefficients that levels above the finest use only faintly, if at all; what is left of it is part
of the error that a CachedField measures before it is handed out.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.progress import progress
from alight.core.types import scalar, vec3
from alight.gravity import lanes as lane_module
from alight.gravity import multipole
from alight.gravity.tabulated import spline
from alight.gravity.tabulated.cluster_tree import ClusterTree, tree_data, tree_potential
from alight.gravity.tabulated.near_facets import (
    Patches,
    facet_terms,
    patch_data,
    piece_sizes,
    window,
)
from alight.gravity.tabulated.near_lists import (
    CellData,
    cell_data,
    first_cell,
    last_cell,
    sort_into_cells,
)
from alight.gravity.tabulated.spline import BRICK, Levels, node_at

#: By level, finest first, the last for all above: it hands over to the next one this many of its
#: spacings from the surface. Gravity falls with distance, so far levels need more.
RINGS = (12.0, 14.0, 18.0)
#: Spacings beyond a level's own coefficients that a stencil with one of them can reach (its
#: diagonal, 5 sqrt 3), and the filter's radius.
_RIM = 9
_TAPS = 4
#: Opening of the tree's clusters by level: an error smooth over many nodes counts the more, the
#: smaller the gravity; close to the surface it is a small part of the whole.
_OPENING = (0.27, 0.24, 0.2)
#: Bricks between two reports of progress: a few tenths of a second, and on a GPU enough to fill it.
_PORTION = {"cpu": 128, "gpu": 1 << 14}
#: Points that the tree takes abreast when a table is filled.
_WIDTH = 4


class TableGrid(NamedTuple):
    """One level of the table on the host: which bricks it has, and their coefficients."""

    lowest: Any
    size: Any
    index: Any
    bricks: Any
    coefficient: Any

    @property
    def nbytes(self) -> int:
        """Size on a device [bytes]."""
        return int(self.index.size * 4 + self.coefficient.nbytes)


@wp.func
def node_place(bricks: wp.array(dtype=wp.vec3i), node: int):
    """Grid indices of a node from its number in the list of bricks."""
    brick = bricks[node // wp.static(BRICK**3)]
    place = node % wp.static(BRICK**3)
    return wp.vec3i(
        brick[0] * wp.static(BRICK) + place // wp.static(BRICK**2),
        brick[1] * wp.static(BRICK) + (place // wp.static(BRICK)) % wp.static(BRICK),
        brick[2] * wp.static(BRICK) + place % wp.static(BRICK),
    )


@functools.cache
def _sample_kernel(width: int) -> Any:
    """The potential at rows of ``width`` nodes, where one of them is needed."""
    tree_sum = tree_potential(width)
    lanes = facet_terms(width).lanes

    @wp.kernel(module="unique", enable_backward=False, module_options=lane_module.MODULE_OPTIONS)
    def sample_potential(
        offset: int,
        tree: ClusterTree,
        bricks: wp.array(dtype=wp.vec3i),
        origin: vec3,
        spacing: scalar,
        distance: wp.array(dtype=scalar),
        limit: scalar,
        sample_out: wp.array(dtype=scalar),
    ) -> None:
        node = (wp.tid() + offset) * wp.static(width)
        needed = bool(False)
        for lane in range(wp.static(width)):
            if distance[node + lane] < limit:
                needed = bool(True)
        if needed:
            at = node_place(bricks, node)
            half = scalar(wp.static(0.5 * (width - 1))) * spacing
            first = origin + spacing * vec3(scalar(at[0]), scalar(at[1]), scalar(at[2]))
            middle = first + vec3(scalar(0.0), scalar(0.0), half)
            pz = lanes()
            for lane in range(wp.static(width)):
                pz[lane] = first[2] + scalar(lane) * spacing
            u = tree_sum(tree, lanes(first[0]), lanes(first[1]), pz, middle, half)
            for lane in range(wp.static(width)):
                sample_out[node + lane] = u[lane]

    return sample_potential


@functools.cache
def _near_kernel(width: int) -> Any:
    """Take the windowed shares of the pieces close by out of the samples of rows of nodes."""
    term = facet_terms(width)
    lanes, dot, potential = term.lanes, term.dot, term.potential
    blunt_potential = term.blunt_potential

    @wp.func
    def windows(square: lanes, reach: scalar):
        weight = lanes()
        for lane in range(wp.static(width)):
            w = window(wp.sqrt(square[lane]), reach)
            weight[lane] = w[0]
        return weight

    @wp.kernel(module="unique", enable_backward=False, module_options=lane_module.MODULE_OPTIONS)
    def take_out_near(
        offset: int,
        patches: Patches,
        cells: CellData,
        bricks: wp.array(dtype=wp.vec3i),
        origin: vec3,
        spacing: scalar,
        reach: scalar,
        sample: wp.array(dtype=scalar),
    ) -> None:
        node = (wp.tid() + offset) * wp.static(width)
        at = node_place(bricks, node)
        half = scalar(wp.static(0.5 * (width - 1))) * spacing
        first = origin + spacing * vec3(scalar(at[0]), scalar(at[1]), scalar(at[2]))
        middle = first + vec3(scalar(0.0), scalar(0.0), half)
        px = lanes(first[0])
        py = lanes(first[1])
        pz = lanes()
        for lane in range(wp.static(width)):
            pz[lane] = first[2] + scalar(lane) * spacing
        total = lanes()
        for ci in range(
            first_cell(cells, middle, 0, reach), last_cell(cells, middle, 0, reach) + 1
        ):
            for cj in range(
                first_cell(cells, middle, 1, reach), last_cell(cells, middle, 1, reach) + 1
            ):
                row = (ci * cells.size[1] + cj) * cells.size[2]
                lo = first_cell(cells, middle, 2, reach + half)
                hi = last_cell(cells, middle, 2, reach + half)
                if hi >= lo:
                    for f in range(cells.start[row + lo], cells.start[row + hi + 1]):
                        c = patches.center[f]
                        dx = lanes(c[0]) - px
                        dy = lanes(c[1]) - py
                        dz = lanes(c[2]) - pz
                        square = dot(dx, dy, dz, dx, dy, dz)
                        if wp.min(square) < reach * reach:
                            share = potential(patches, f, px, py, pz)
                            share -= blunt_potential(patches, f, reach, px, py, pz)
                            total += wp.cw_mul(windows(square, reach), share)
        for lane in range(wp.static(width)):
            sample[node + lane] -= scalar(0.5) * patches.strength * total[lane]

    return take_out_near


@wp.kernel(enable_backward=False)
def _filter_axis(
    offset: int,
    levels: Levels,
    bricks: wp.array(dtype=wp.vec3i),
    axis: int,
    taps: wp.array(dtype=scalar),
    sample: wp.array(dtype=scalar),
    filtered_out: wp.array(dtype=scalar),
) -> None:
    node = wp.tid() + offset
    at = node_place(bricks, node)
    di = wp.where(axis == 0, 1, 0)
    dj = wp.where(axis == 1, 1, 0)
    dk = wp.where(axis == 2, 1, 0)
    reach = taps.shape[0] // 2
    total = scalar(0.0)
    for t in range(taps.shape[0]):
        m = t - reach
        place = node_at(levels, 0, at[0] + m * di, at[1] + m * dj, at[2] + m * dk)
        if place >= 0:
            total += taps[t] * sample[place]
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
def _take_coarser(
    offset: int,
    coarse: Levels,
    bricks: wp.array(dtype=wp.vec3i),
    distance: wp.array(dtype=scalar),
    limit: scalar,
    coefficient: wp.array(dtype=scalar),
    missing_out: wp.array(dtype=int),
) -> None:
    """Replace the coefficients of nodes farther than ``limit`` by the coarser level's."""
    node = wp.tid() + offset
    if distance[node] >= limit:
        at = node_place(bricks, node)
        total = scalar(0.0)
        for a in range(4):
            wa = _coarse_weight(at[0], a)
            for b in range(4):
                wab = wa * _coarse_weight(at[1], b)
                for c in range(4):
                    w = wab * _coarse_weight(at[2], c)
                    if w != scalar(0.0):
                        i = (at[0] >> 1) - 1 + a
                        j = (at[1] >> 1) - 1 + b
                        k = (at[2] >> 1) - 1 + c
                        place = node_at(coarse, 0, i, j, k)
                        if place >= 0:
                            total += w * coarse.coefficient[place]
                        else:
                            missing_out[0] = 1
        coefficient[node] = total


def bricks_near(centers: Array, nearest: Any, origin: Array, side: float, reach: float) -> Any:
    """Bricks of a side (aligned to origin) that may come within reach of a centre."""
    low = np.floor((centers.min(axis=0) - reach - origin) / side).astype(np.int64)
    high = np.floor((centers.max(axis=0) + reach - origin) / side).astype(np.int64)
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    bricks = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    bound = reach + side * 0.5 * np.sqrt(3.0)
    middle = origin + side * (bricks + 0.5)
    distance, _ = nearest.query(middle, distance_upper_bound=bound, workers=-1)
    return bricks[np.isfinite(distance)]


def grid_from(bricks: Any, coefficient: Any) -> TableGrid:
    """Index the bricks of a level."""
    lowest = bricks.min(axis=0)
    size = bricks.max(axis=0) - lowest + 1
    index = np.full(size, -1, dtype=np.int32)
    index[tuple((bricks - lowest).T)] = np.arange(len(bricks), dtype=np.int32)
    return TableGrid(lowest, size, index.ravel(), bricks, coefficient)


def levels_data(
    grids: list[TableGrid], origin: Array, spacing: float, device: devices.Device
) -> Any:
    """Grids, finest first, as one struct on a device."""
    data = Levels()
    data.origin, data.spacing, data.count = vec3(*origin), spacing, len(grids)
    data.stencil = 6
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
    """Makes the levels of a table, coarsest first; a ``reach`` of 0 leaves nothing out of it."""

    def __init__(
        self,
        corner: Array,
        strength: float,
        series: multipole.Multipole,
        reach: float,
        outer: float,
        device: devices.Device,
    ) -> None:
        self.corner, self.strength, self.series = corner, strength, series
        self.reach, self.outer, self.device = reach, outer, device
        self.centers = corner.mean(axis=1)
        self.size = float(piece_sizes(corner).max())
        self.taps = wp.array(spline.prefilter_taps(_TAPS), dtype=scalar, device=device.name)
        self.tree = tree_data(corner, strength, device)
        self.nearest = scipy.spatial.cKDTree(self.centers)

    def set_spacing(self, spacing: float) -> None:
        """Lay out the levels for a spacing of the finest grid [m]."""
        self.spacing = spacing
        self.levels = max(1, int(np.ceil(np.log2(self.outer / (RINGS[-1] * spacing)))) + 1)
        top = spacing * 2 ** (self.levels - 1)
        self.cells = int(np.ceil((self.outer + (_RIM + 2 * _TAPS) * top) / (BRICK * top)))
        self.origin = self.series.center - self.cells * BRICK * top
        self.layout = [self._level(k) for k in range(self.levels - 1)] + [self._top()]

    def bytes_needed(self) -> int:
        """Size of all levels [bytes], known before any is filled."""
        bricks = sum(len(bricks) for bricks, _, _ in self.layout)
        return bricks * BRICK**3 * 8

    def build(self, show: str) -> list[TableGrid]:
        """Fill all levels; finest first in the list."""
        # Nodes that are sampled: the others take no time.
        total = sum(int(self._needed(k).sum()) for k in range(self.levels))
        with progress(show) as bar:
            bar.start("Tabulating gravity", total=total)
            return self._fill(bar.advance)

    def _limit(self, k: int) -> float:
        """How far from the surface a level is sampled [m]."""
        return self.layout[k][2] + 2.0 * _TAPS * self.spacing * 2**k

    def _needed(self, k: int) -> Any:
        """How many nodes of each brick of a level are sampled."""
        return np.count_nonzero(self.layout[k][1] < self._limit(k), axis=1)

    def _fill(self, advance: Callable[[int], None]) -> list[TableGrid]:
        grids: list[TableGrid] = []
        places = [self._put(bricks.astype(np.int32), wp.vec3i) for bricks, _, _ in self.layout]
        gaps = [self._put(distance.ravel(), scalar) for _, distance, _ in self.layout]
        # Finest first: its nodes take longest, so that the time left is told too long, if wrong.
        samples = [self._samples(k, places[k], gaps[k], advance) for k in range(self.levels)]
        for k in reversed(range(self.levels)):
            bricks, _, own = self.layout[k]
            coefficient = self._filter(bricks, places[k], samples.pop())
            if grids:
                self._hand_down(k, places[k], gaps[k], own, coefficient, grids[0])
            grids.insert(0, grid_from(bricks, coefficient.numpy()))
        return grids

    def _put(self, values: Any, kind: Any) -> Any:
        return wp.array(values, dtype=kind, device=self.device.name)

    def _top(self) -> tuple[Any, Any, float]:
        """The coarsest level fills a cube and needs no other."""
        axis = np.arange(2 * self.cells)
        bricks = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
        return bricks, np.zeros((len(bricks), BRICK**3)), np.inf

    def _rings(self, k: int) -> float:
        return RINGS[min(k, len(RINGS) - 1)]

    def _level(self, k: int) -> tuple[Any, Any, float]:
        """Bricks of a level, the distance of their nodes to the surface, and where it rules."""
        h = self.spacing * 2**k
        own = self._rings(k) * h + self.size
        reach = own + _RIM * h
        bricks = bricks_near(self.centers, self.nearest, self.origin, BRICK * h, reach)
        step = np.stack(np.meshgrid(*3 * [np.arange(BRICK)], indexing="ij"), -1).reshape(-1, 3)
        distance = np.empty((len(bricks), BRICK**3))
        for part in np.array_split(np.arange(len(bricks)), len(bricks) // 4096 + 1):
            x = self.origin + h * (bricks[part][:, None] * BRICK + step)
            distance[part] = self.nearest.query(x, workers=-1)[0]
        keep = distance.min(axis=1) < reach
        return bricks[keep], distance[keep], own

    def _samples(self, k: int, places: Any, distance: Any, advance: Callable[[int], None]) -> Any:
        h = self.spacing * 2**k
        width = 1 if self.device.is_gpu else _WIDTH
        sample = wp.zeros(distance.size, dtype=scalar, device=self.device.name)
        limit, needed = self._limit(k), self._needed(k)
        self.tree.opening = _OPENING[min(k, len(_OPENING) - 1)]
        portion = _PORTION["gpu" if self.device.is_gpu else "cpu"]
        for begin in range(0, len(places), portion):
            bricks = places[begin : min(begin + portion, len(places))]
            nodes = slice(begin * BRICK**3, (begin + len(bricks)) * BRICK**3)
            grid = [bricks, vec3(*self.origin), h]
            inputs = [self.tree, *grid, distance[nodes], limit, sample[nodes]]
            self._launch(_sample_kernel(width), len(bricks) * BRICK**3 // width, inputs)
            advance(int(needed[begin : begin + portion].sum()))
        if k == 0 and self.reach > 0.0:
            cells = sort_into_cells(self.centers, self.reach / 2.0)
            patches = patch_data(self.corner[cells.order], self.strength, self.device)
            grid = [places, vec3(*self.origin), h]
            inputs = [patches, cell_data(cells, self.device), *grid, self.reach, sample]
            self._launch(_near_kernel(width), distance.size // width, inputs)
        return sample

    def _launch(self, kernel: Any, count: int, inputs: list[Any]) -> None:
        devices.launch(kernel, count, inputs, self.device, min_items=8)

    def _filter(self, bricks: Any, places: Any, sample: Any) -> Any:
        index = grid_from(bricks, np.zeros(1))
        levels = levels_data([index], self.origin, self.spacing, self.device)
        for axis in range(3):
            out = wp.empty_like(sample)
            inputs = [levels, places, axis, self.taps, sample, out]
            devices.launch(_filter_axis, sample.size, inputs, self.device)
            sample = out
        return sample

    def _hand_down(
        self, k: int, places: Any, distance: Any, own: float, coefficient: Any, coarse: TableGrid
    ) -> None:
        levels = levels_data([coarse], self.origin, self.spacing, self.device)
        missing = wp.zeros(1, dtype=int, device=self.device.name)
        inputs = [levels, places, distance, own, coefficient, missing]
        devices.launch(_take_coarser, coefficient.size, inputs, self.device)
        if missing.numpy()[0]:
            raise RuntimeError(f"level {k} of the table reaches past level {k + 1}")

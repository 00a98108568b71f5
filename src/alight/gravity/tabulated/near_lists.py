"""Which pieces of facets are near: cells of sorted pieces, and lists for blocks of space."""

from typing import Any, NamedTuple

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import scalar, vec3
from alight.gravity.tabulated.near_facets import NearLists, Patches


class Cells(NamedTuple):
    """Points sorted into cubic cells, the last axis running fastest."""

    corner: Array
    side: float
    size: Any
    start: Any
    order: Any


class HostNearLists(NamedTuple):
    """Near lists on the host."""

    corner: Array
    block: float
    size: Any
    start: Any
    piece: Any


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


def cell_data(cells: Cells, device: devices.Device) -> Any:
    """Cells as a struct on a device."""
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
) -> None:
    """Count, or with ``piece_out`` list, the pieces within reach of each block."""
    b = wp.tid() + offset
    k = b % size[2]
    j = (b // size[2]) % size[1]
    i = b // (size[2] * size[1])
    half = scalar(0.5) * block
    middle = corner + block * vec3(scalar(i), scalar(j), scalar(k)) + vec3(half, half, half)
    count = int(0)
    for ci in range(
        first_cell(cells, middle, 0, reach + half), last_cell(cells, middle, 0, reach + half) + 1
    ):
        for cj in range(
            first_cell(cells, middle, 1, reach + half),
            last_cell(cells, middle, 1, reach + half) + 1,
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


def near_lists(pieces: Any, cells: Cells, reach: float, device: devices.Device) -> HostNearLists:
    """Blocks, starts and piece numbers of the pieces whose windows reach into each block."""
    centers = pieces.center.numpy()
    block = max(reach, float(np.ptp(centers, axis=0).max() + 2 * reach) / 200.0)
    corner = centers.min(axis=0) - reach
    size = np.ceil((np.ptp(centers, axis=0) + 2 * reach) / block).astype(np.int64)
    blocks = int(size.prod())
    count = wp.zeros(blocks, dtype=int, device=device.name)
    start = wp.zeros(blocks + 1, dtype=int, device=device.name)
    empty = wp.zeros(0, dtype=int, device=device.name)
    grid = [
        pieces,
        cell_data(cells, device),
        vec3(*corner),
        block,
        wp.vec3i(*map(int, size)),
        reach,
    ]
    devices.launch(_list_near, blocks, [*grid, start, count, empty], device)
    ends = np.concatenate([[0], np.cumsum(count.numpy(), dtype=np.int64)])
    start = wp.array(ends.astype(np.int32), dtype=int, device=device.name)
    piece = wp.zeros(int(ends[-1]), dtype=int, device=device.name)
    devices.launch(_list_near, blocks, [*grid, start, count, piece], device)
    return HostNearLists(corner, float(block), size, ends.astype(np.int32), piece.numpy())


def lists_data(lists: HostNearLists, reach: float, device: devices.Device) -> Any:
    """Near lists as a struct on a device."""
    data = NearLists()
    data.corner, data.block, data.reach = vec3(*lists.corner), lists.block, reach
    data.size = wp.vec3i(*(int(n) for n in lists.size))
    data.start = wp.array(lists.start, dtype=int, device=device.name)
    data.piece = wp.array(lists.piece, dtype=int, device=device.name)
    return data

"""Facets over a grid of cells: which facet is foremost in each.

Both a picture (cells are pixels, depth counts toward the camera) and a latitude-longitude map
(cells are directions, depth is the distance from the centre) ask this question of every facet
and the cells in its bounding box. It is answered in numpy, some facets at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

#: Pairs of a facet and a cell that are looked at in one go: a few tens of megabytes.
BLOCK = 1 << 19

#: (facet, column, row) of pairs -> depth of the facet there, -inf where it misses the cell.
Depth = Callable[[Index, Index, Index], Array]


def foremost(low: Index, high: Index, shape: tuple[int, int], depth: Depth) -> tuple[Array, Index]:
    """Largest depth in each cell, and the facet that has it (-1 where there is none).

    Args:
        low, high: (m, 2) first and last column and row of each facet's box, inclusive. A box
            with high < low is empty. Columns outside the grid wrap round it.
        shape: Rows and columns of the grid.
        depth: Depth of facets in cells.
    """
    rows, columns = shape
    best = np.full(rows * columns, -np.inf)
    owner = np.full(rows * columns, -1, dtype=np.int64)
    for facet, column, row in _pairs(low, high):
        value = depth(facet, column, row)
        hit = np.flatnonzero(value > -np.inf)
        cell = row[hit] * columns + column[hit] % columns
        np.maximum.at(best, cell, value[hit])
        won = value[hit] == best[cell]
        owner[cell[won]] = facet[hit[won]]
    return best.reshape(shape), owner.reshape(shape)


def _pairs(low: Index, high: Index) -> Iterator[tuple[Index, Index, Index]]:
    """Every (facet, column, row) of every box, in blocks of about ``BLOCK``."""
    size = np.maximum(high - low + 1, 0)
    count = size[:, 0] * size[:, 1]
    facets = np.flatnonzero(count)
    if len(facets) == 0:
        return
    block = np.cumsum(count[facets]) // BLOCK
    for part in np.split(facets, np.flatnonzero(np.diff(block)) + 1):
        n = count[part]
        facet = np.repeat(part, n)
        step = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        row, column = np.divmod(step, size[facet, 0])
        yield facet, column + low[facet, 0], row + low[facet, 1]

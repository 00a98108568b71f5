"""Cells of a surface: patches of about equal area, also where a shape folds back on itself.

Points are strewn evenly over the mesh and gathered about centres (Lloyd's method); a place belongs
to the cell with the nearest centre. Some of the points of each cell are where hops begin in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core import random
from alight.core.checks import Array, checked_whole
from alight.core.errors import InputError
from alight.shapes.mesh import Mesh

#: Points strewn for each cell, and rounds of gathering.
_DENSITY, _ROUNDS = 60, 30


@dataclass(frozen=True, eq=False)
class Cells:
    """Patches of ground."""

    centres: Array
    """(n, 3) target axes [m]."""
    starts: Array
    """(n, k, 3) places in each cell from which hops begin [m]."""

    def __post_init__(self) -> None:
        shape = np.shape(self.starts)
        if self.centres.ndim != 2 or len(shape) != 3 or shape[0] != len(self.centres):
            raise InputError(
                f"cells have centres of shape {np.shape(self.centres)} and starts of {shape}; they "
                "must be (n, 3) and (n, k, 3)."
            )

    def __len__(self) -> int:
        return len(self.centres)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.centres)

    def of(self, places: Array) -> npt.NDArray[np.int64]:
        """(n,) the cell of each place (n, 3) [m]."""
        return np.asarray(self._tree.query(places, workers=-1)[1], dtype=np.int64)

    @property
    def spacing(self) -> float:
        """Mean distance of a centre from its nearest neighbour [m]."""
        return float(self._tree.query(self.centres, k=2)[0][:, 1].mean())

    @classmethod
    def on_mesh(cls, mesh: Mesh, count: int, starts: int = 16, seed: int = 0) -> Cells:
        """``count`` cells of about equal area."""
        checked_whole("cells", count, 2)
        points = strewn(mesh, count * max(_DENSITY, 2 * starts), seed)
        from scipy.spatial import cKDTree

        centres = points[:count].copy()  # the points are in no order
        for _ in range(_ROUNDS):
            home = cKDTree(centres).query(points)[1]
            size = np.bincount(home, minlength=count)
            sums = np.stack([np.bincount(home, points[:, k], count) for k in range(3)], -1)
            centres = np.where(size[:, None] > 0, sums / np.maximum(size, 1)[:, None], centres)
        # A mean lies below the ground: the point nearest to it stands for it.
        centres = points[cKDTree(points).query(centres)[1]]
        home = cKDTree(centres).query(points)[1]
        return cls(centres, _some(points, home, centres, starts))

    @classmethod
    def on_plane(cls, width: int, spacing: float, starts: int = 4, seed: int = 0) -> Cells:
        """``width`` times ``width`` squares of a side of ``spacing`` [m] on z = 0, about the
        origin, counted along y first."""
        checked_whole("width", width, 2)
        line = spacing * (np.arange(width) - 0.5 * (width - 1))
        x, y = np.meshgrid(line, line, indexing="ij")
        centres = np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3)
        draws = random.uniform(seed, np.arange(len(centres) * starts), "mobility: starts", 2)
        off = np.zeros((len(centres), starts, 3))
        off[:, :, :2] = spacing * (draws.reshape(len(centres), starts, 2) - 0.5)
        return cls(centres, centres[:, None] + off)


def strewn(mesh: Mesh, count: int, seed: int) -> Array:
    """(count, 3) points spread evenly over a mesh, in random order [m]."""
    corners = mesh.vertices[mesh.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
                          axis=1)  # fmt: skip
    u = random.uniform(seed, np.arange(count), "mobility: cells", 3)
    share = np.cumsum(area) / area.sum()
    facet = np.minimum(np.searchsorted(share, u[:, 0]), len(area) - 1)
    root, v = np.sqrt(u[:, 1:2]), u[:, 2:3]
    a, b, c = (corners[facet, k] for k in range(3))
    return np.asarray((1.0 - root) * a + root * (1.0 - v) * b + root * v * c)


def _some(points: Array, home: Any, centres: Array, count: int) -> Array:
    """(n, count, 3) points of each cell; where there are fewer, some come twice."""
    order = np.argsort(home, kind="stable")
    first = np.searchsorted(home[order], np.arange(len(centres)))
    size = np.bincount(home, minlength=len(centres))
    pick = first[:, None] + np.arange(count) % np.maximum(size, 1)[:, None]
    return np.asarray(points[order[np.minimum(pick, len(points) - 1)]])

"""Triangles over the zero level of a function: marching tetrahedra, then even them out.

The tetrahedra are those of the body-centred cubic lattice (cube corners and cube centres): all
alike and nearly regular. A function that is linear in each has a level set that is a closed
manifold, whatever its values, and neighbours share their vertices exactly because a vertex
belongs to a lattice edge. Only positions change after that, so the mesh stays closed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
Faces = NDArray[np.int64]

#: A function of points (n, 3): its value (n,), negative inside, and gradient (n, 3).
Implicit = Callable[[Array], tuple[Array, Array]]

_EDGES = tuple(combinations(range(4), 2))
_BLOCK = 1 << 18  # lattice points evaluated at a time


def _triangle_table() -> list[list[tuple[int, int, int]]]:
    """For each of the 16 sets of inner corners, triangles as triples of edges, facing outward.

    Made on one reference tetrahedron of positive volume, where outward can simply be measured.
    """
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    table: list[list[tuple[int, int, int]]] = []
    for mask in range(16):
        inner = [v for v in range(4) if mask >> v & 1]
        outer = [v for v in range(4) if not mask >> v & 1]
        if not inner or not outer:
            table.append([])
            continue
        # around the cut: for two inner corners the quad runs a-c, a-d, b-d, b-c
        ring = [(i, o) for n, i in enumerate(inner) for o in (outer[::-1] if n % 2 else outer)]
        edges = [_EDGES.index((min(e), max(e))) for e in ring]
        middle = [corner[list(_EDGES[e])].mean(axis=0) for e in edges]
        normal = np.cross(middle[1] - middle[0], middle[2] - middle[0])
        if normal @ (corner[outer].mean(axis=0) - corner[inner].mean(axis=0)) < 0:
            edges.reverse()
        table.append([(edges[0], edges[k], edges[k + 1]) for k in range(1, len(edges) - 1)])
    return table


_TABLE = _triangle_table()


class Lattice:
    """A body-centred cubic lattice over a box, its tetrahedra, and the values at its points."""

    def __init__(self, lower: Array, upper: Array, spacing: float, function: Implicit) -> None:
        self.spacing = spacing
        self.cells = np.ceil((upper - lower) / spacing).astype(int) + 2
        # at least half a cell to spare on every side; off centre, for a symmetric body would
        # otherwise gain and lose facets by whole rings as the spacing changes
        self.origin = 0.5 * (lower + upper) - spacing * (0.5 * self.cells + [0.13, 0.29, 0.41])
        self.corners = int(np.prod(self.cells + 1))
        self.count = self.corners + int(np.prod(self.cells))
        self.values = np.empty(self.count)
        for start in range(0, self.count, _BLOCK):
            ids = np.arange(start, min(start + _BLOCK, self.count))
            self.values[ids] = function(self.points(ids))[0]

    def points(self, ids: Faces) -> Array:
        """Positions of lattice points: cube corners first, then cube centres."""
        is_corner = ids < self.corners
        corner = np.stack(np.unravel_index(np.where(is_corner, ids, 0), self.cells + 1), axis=-1)
        centre_id = np.where(is_corner, 0, ids - self.corners)
        centre = np.stack(np.unravel_index(centre_id, self.cells), axis=-1) + 0.5
        return self.origin + self.spacing * np.where(is_corner[..., None], corner, centre)

    def cut_tetrahedra(self) -> Faces:
        """Tetrahedra (n, 4) of positive volume whose corners differ in sign.

        Each inner cube face carries four: the centres on both sides with each of its edges.
        """
        corner = np.arange(self.corners).reshape(self.cells + 1)
        centre = np.arange(self.corners, self.count).reshape(self.cells)
        inside = self.values < 0
        found = []
        for axis in range(3):
            near = np.moveaxis(centre, axis, 0)[:-1]
            far = np.moveaxis(centre, axis, 0)[1:]
            rim = np.moveaxis(corner, axis, 0)[1:-1]
            # moving the axis to the front keeps a cyclic order except for the middle one
            ring = [rim[:, :-1, :-1], rim[:, 1:, :-1], rim[:, 1:, 1:], rim[:, :-1, 1:]]
            if axis == 1:
                ring.reverse()
            six = np.stack([near, far, *ring], axis=-1).reshape(-1, 6)
            number_inside = inside[six].sum(axis=1)
            six = six[(number_inside > 0) & (number_inside < 6)]
            found += [six[:, [0, 1, 2 + k, 2 + (k + 1) % 4]] for k in range(4)]
        tetrahedra = np.concatenate(found)
        number_inside = inside[tetrahedra].sum(axis=1)
        return np.asarray(tetrahedra[(number_inside > 0) & (number_inside < 4)])

    def surface(self) -> tuple[Array, Faces]:
        """Vertices and outward facets of the zero level of the piecewise linear function."""
        tetrahedra = self.cut_tetrahedra()
        mask = ((self.values[tetrahedra] < 0) << np.arange(4)).sum(axis=1)
        ends = []
        for case, triangles in enumerate(_TABLE):
            chosen = tetrahedra[mask == case]
            for triangle in triangles:
                ends.append(chosen[:, [_EDGES[e] for e in triangle]])
        edges = np.sort(np.concatenate(ends).reshape(-1, 2), axis=1)
        keys, faces = np.unique(edges[:, 0] * self.count + edges[:, 1], return_inverse=True)
        start, end = keys // self.count, keys % self.count
        value0, value1 = self.values[start], self.values[end]
        # away from the very ends, or all vertices around a lattice point could coincide
        part = np.clip(value0 / (value0 - value1), 0.1, 0.9)[:, None]
        vertices = (1 - part) * self.points(start) + part * self.points(end)
        return vertices, faces.reshape(-1, 3)


def project(points: Array, function: Implicit, *, steps: int = 4, largest: float) -> Array:
    """Newton steps along the gradient onto the zero level, none longer than ``largest`` [m]."""
    for _ in range(steps):
        value, gradient = function(points)
        step = -(value / np.einsum("ij,ij->i", gradient, gradient))[:, None] * gradient
        length = np.linalg.norm(step, axis=1, keepdims=True)
        points = points + step * np.minimum(1.0, largest / np.maximum(length, 1e-300))
    return points


def even_out(
    vertices: Array, faces: Faces, function: Implicit, spacing: float, *, rounds: int = 15
) -> Array:
    """Draw every vertex towards the middle of its neighbours, along the surface, again and again.

    Slivers of the cut tetrahedra open into nearly equilateral triangles; all vertices end on
    the surface.
    """
    ends = np.concatenate((faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]))
    size = (len(vertices), len(vertices))
    neighbours = scipy.sparse.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), size)
    degree = np.diff(neighbours.indptr)[:, None]
    for _ in range(rounds):
        middle = (neighbours @ vertices) / degree
        vertices = project(0.5 * (vertices + middle), function, steps=1, largest=spacing)
    return project(vertices, function, largest=spacing)


def subdivide(vertices: Array, faces: Faces) -> tuple[Array, Faces]:
    """Split each facet in four at the middles of its edges."""
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    keys, which = np.unique(edges[:, 0] * len(vertices) + edges[:, 1], return_inverse=True)
    middle = 0.5 * (vertices[keys // len(vertices)] + vertices[keys % len(vertices)])
    m = which.reshape(-1, 3) + len(vertices)
    a, b, c = faces.T
    parts = ((a, m[:, 0], m[:, 2]), (b, m[:, 1], m[:, 0]), (c, m[:, 2], m[:, 1]), m.T)
    return np.concatenate((vertices, middle)), np.concatenate([np.stack(p, -1) for p in parts])

"""Which facet a place near the surface belongs to, and smooth values there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from alight.analysis.columns import Array
from alight.shapes.mesh import Mesh

#: Facets with the nearest middles, among which the one over or under a place is looked for.
CANDIDATES = 6

#: Places that are looked for at once.
_BLOCK = 65_536


class FacetFinder:
    """Finds the facet over or under which a place lies; made once for many places."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self._corner = mesh.vertices[mesh.faces]
        self._middle = scipy.spatial.cKDTree(self._corner.mean(axis=1))
        normal = np.cross(
            self._corner[:, 1] - self._corner[:, 0], self._corner[:, 2] - self._corner[:, 0]
        )
        self._scaled = normal / np.einsum("fi,fi->f", normal, normal)[:, None]

    def find(self, places: Array) -> tuple[npt.NDArray[np.int64], Array]:
        """(n,) facets of places (n, 3) [m], and (n, 3) shares of their corners.

        Of the facets whose middles are near, the one that a place is deepest inside of, seen along
        the facet's normal. Shares are 0 or more and add up to 1.
        """
        facet = np.empty(len(places), dtype=np.int64)
        share = np.empty((len(places), 3))
        for begin in range(0, len(places), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            facet[part], share[part] = self._find(places[part])
        return facet, share

    def _find(self, x: Array) -> tuple[npt.NDArray[np.int64], Array]:
        count = np.arange(1, min(CANDIDATES, self.mesh.n_faces) + 1)  # a list: always (n, k)
        _, near = self._middle.query(x, k=count)
        facet, share = near[:, 0], self._shares(x, near[:, 0])
        for candidate in near[:, 1:].T:
            found = self._shares(x, candidate)
            better = found.min(axis=1) > share.min(axis=1)
            facet = np.where(better, candidate, facet)
            share = np.where(better[:, None], found, share)
        share = np.clip(share, 0.0, None)
        return facet, share / share.sum(axis=1, keepdims=True)

    def _shares(self, x: Array, facet: npt.NDArray[np.int64]) -> Array:
        """(n, 3) barycentric coordinates of places dropped on their facets."""
        a, b, c = (self._corner[facet, k] for k in range(3))
        scaled = self._scaled[facet]
        first = np.einsum("ni,ni->n", np.cross(c - b, x - b), scaled)
        second = np.einsum("ni,ni->n", np.cross(a - c, x - c), scaled)
        return np.stack([first, second, 1.0 - first - second], axis=1)

    def normals(self, places: Array) -> tuple[npt.NDArray[np.int64], Array]:
        """(n,) facets and (n, 3) smooth outward unit normals: those of the vertices, mixed."""
        facet, share = self.find(places)
        mixed = np.einsum("nk,nki->ni", share, self.mesh.vertex_normals[self.mesh.faces[facet]])
        return facet, mixed / np.linalg.norm(mixed, axis=1, keepdims=True)

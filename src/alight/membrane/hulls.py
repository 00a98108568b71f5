"""Convex hulls of many bodies of one shape, each found by itself, in arrays for all of them.

Qhull finds the facets. Bodies of one shape and several sizes mostly have the same facets, in the
same order; what follows from these (edges, offsets, shares of the surface) is found at once for all
that do. ``body_hull`` of a single body is the same of one.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from alight.core.checks import Array
from alight.core.errors import InputError

Index = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]

#: Spread of points across a line or plane, over their reach, below which they are on it.
THIN = 1e-9
#: Bodies from which on threads find their hulls: Qhull runs outside of Python's lock.
MANY = 64
#: Threads at most.
THREADS = 8


@dataclass(frozen=True)
class BodyHull:
    """A triangulated convex polyhedron, perhaps without volume."""

    vertices: Array
    """(V, 3) [m]; of a body in 2D, in order counter-clockwise in the plane of x and z."""
    facets: Index
    """(F, 3) vertices, counter-clockwise from outside."""
    normals: Array
    """(F, 3) unit, outward."""
    offsets: Array
    """(F,) normal . x on the facet [m]."""
    edges: Index
    """(E, 4) two vertices and the facets on both sides, -1 for none."""
    shares: Array
    """(V,) parts of the surface that belong to each vertex, 1 in all: a third of each of its
    facets, in 2D half of each of its sides; even where there is no surface."""
    center: Array
    """(3,) the mean of the vertices [m]."""


_PARTS = ("vertices", "facets", "normals", "offsets", "edges", "shares")


@dataclass(frozen=True)
class BodyHulls:
    """The hulls of n bodies, one after the other in ``flat`` arrays."""

    flat: dict[str, Any]
    """The fields of ``BodyHull``, all rows of the first body, then of the next; ``center`` has a
    row for each body."""
    first: dict[str, Numbers]
    """(n,) where the rows of each body begin, by field."""
    counts: dict[str, Numbers]
    """(n,) how many it has."""

    def most(self, name: str) -> int:
        """Most rows of a body."""
        return int(self.counts[name].max())

    @functools.cached_property
    def corners(self) -> Array:
        """(n, V, 3) vertices; where a body has fewer, its first stands for those it lacks."""
        each = np.arange(self.most("vertices"))[None]
        first, count = self.first["vertices"][:, None], self.counts["vertices"][:, None]
        return np.asarray(self.flat["vertices"][first + np.where(each < count, each, 0)])


def body_hull(points: Array) -> BodyHull:
    """The convex hull of points (n, 3), whatever they span."""
    unique = np.unique(points, axis=0)
    middle, rank, rows = _spread(unique)
    if len(unique) == 1 or rank == 0:
        return made_hull(unique[:1], [], np.empty((0, 3)))
    if rank == 1:
        along = (unique - middle) @ rows[0]
        return made_hull(unique[[along.argmin(), along.argmax()]], [], np.empty((0, 3)))
    if rank == 2:
        return _plate(unique, (unique - middle) @ rows[:2].T, np.cross(rows[0], rows[1]))
    ((_, hulls),) = _solids(unique[None])
    return _one(hulls)


def body_hulls(points: Array) -> BodyHulls:
    """The convex hulls of bodies (n, P, 3) of one shape and several sizes."""
    if _spread(np.unique(points[0], axis=0))[1] < 3:
        return _packed(len(points), ((np.array([i]), _lone(p)) for i, p in enumerate(points)))
    return _packed(len(points), _found(points))


def _found(points: Array) -> Iterator[tuple[Numbers, BodyHull]]:
    """Hulls of bodies with volume: which bodies, and ``BodyHull`` with a first axis for these."""
    # By x, then by y, then by z, as ``np.unique`` has them.
    order = np.lexsort(np.moveaxis(points, -1, 0)[::-1], axis=-1)
    rows = np.take_along_axis(points, order[:, :, None], axis=1)
    single = (np.diff(rows, axis=1) != 0.0).any(axis=2).all(axis=1)
    own = np.flatnonzero(single)
    if len(own):
        for some, hulls in _solids(rows[own]):
            yield own[some], hulls
    for i in np.flatnonzero(~single).tolist():
        yield np.array([i]), _lone(points[i])


def _spread(unique: Array) -> tuple[Array, int, Array]:
    """The middle of points, how many ways they spread, and along which."""
    middle = unique.mean(axis=0)
    _, sizes, rows = np.linalg.svd(unique - middle, full_matrices=False)
    rank = int((sizes > THIN * max(sizes[0], np.abs(middle).max() * 1e-6)).sum())
    return middle, rank, rows


def _solids(points: Array) -> Iterator[tuple[Numbers, BodyHull]]:
    """As ``_found``, of points (n, P, 3) that are in order and different."""
    found = _qhull(points)
    alike: dict[bytes, list[int]] = {}
    for i, (simplices, _) in enumerate(found):
        alike.setdefault(simplices.tobytes(), []).append(i)
    for numbers in alike.values():
        own = np.array(numbers)
        used, facets = np.unique(found[numbers[0]][0], return_inverse=True)
        facets = facets.reshape(-1, 3)
        vertices = np.take(points[own], used, axis=1)
        normals = np.array([found[i][1] for i in numbers])
        back = np.einsum("nfi,nfi->nf", _turned(vertices, facets), normals) < 0.0
        same = (back == back[0]).all()
        for side in back[:1] if same else np.unique(back, axis=0):
            mine = (back == side).all(axis=1)
            wound = facets.copy()
            wound[side] = wound[side][:, ::-1]
            yield own[mine], _made(vertices[mine], wound, normals[mine])


def _qhull(points: Array) -> list[tuple[Any, Array]]:
    """Facets and their normals of each of some bodies."""

    def each(some: Array) -> list[tuple[Any, Array]]:
        found = [scipy.spatial.ConvexHull(own) for own in some]
        return [(one.simplices, one.equations[:, :3]) for one in found]

    if len(points) < MANY:
        return each(points)
    threads = min(THREADS, os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(each, np.array_split(points, 4 * threads))
        return list(itertools.chain.from_iterable(parts))


def _turned(vertices: Array, facets: Any) -> Array:
    """(n, F, 3) vectors across facets, twice as long as their area."""
    a, b, c = (np.take(vertices, facets[:, k], axis=1) for k in range(3))
    return np.cross(b - a, c - a)


def _plate(points: Array, flat: Array, normal: Array) -> BodyHull:
    """A polygon with two sides, each a fan of triangles."""
    vertices = points[scipy.spatial.ConvexHull(flat).vertices]
    fan = [[0, i, i + 1] for i in range(1, len(vertices) - 1)]
    both = fan + [[a, c, b] for a, b, c in fan]
    normals = np.concatenate([np.tile(normal, (len(fan), 1)), np.tile(-normal, (len(fan), 1))])
    return made_hull(vertices, both, normals)


def made_hull(vertices: Array, facets: list[list[int]], normals: Array) -> BodyHull:
    """A hull with its edges, each with the facets on both sides."""
    return _one(_made(vertices[None], facets, normals[None]))


def _made(vertices: Array, facets: Any, normals: Array) -> BodyHull:
    """Hulls with the same facets; vertices and normals have a first axis for them, and so has
    all but facets and edges of what is returned."""
    each = np.asarray(facets, dtype=np.int32).reshape(-1, 3)
    edges = _paired(each)
    if not len(each) and vertices.shape[1] == 2:
        edges = np.array([[0, 1, -1, -1]], dtype=np.int32)
    offsets = np.zeros((len(vertices), 0))
    if len(each):
        middles = np.take(vertices, each, axis=1).mean(axis=2)
        offsets = np.einsum("nfi,nfi->nf", normals, middles)
    return BodyHull(
        vertices,
        each,
        normals,
        np.asarray(offsets, dtype=np.float64),
        edges,
        _shares(vertices, each),
        vertices.mean(axis=1),
    )


def _shares(vertices: Array, facets: Index) -> Array:
    """(n, V) how the surface is shared out among vertices; without facets, the outline in order."""
    count, most = len(vertices), vertices.shape[1]
    own: Array = np.zeros((count, most))
    if len(facets):
        sizes = np.linalg.norm(_turned(vertices, facets), axis=-1)
        # Added up one by one: sums of a body do not depend on how many there are.
        place = facets.ravel() + most * np.arange(count)[:, None]
        weights = np.repeat(sizes, 3, axis=1).ravel()
        added = np.bincount(place.ravel(), weights, count * most)
        own = np.asarray(added, dtype=np.float64).reshape(count, most)
    elif most > 2:
        sides = np.linalg.norm(np.roll(vertices, -1, axis=1) - vertices, axis=-1)
        own = sides + np.roll(sides, 1, axis=1)
    total = own.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, own / np.where(total > 0.0, total, 1.0), 1.0 / most)


def _paired(facets: Index) -> Index:
    """(E, 4) edges with their two facets, in the order in which facets come to them; four meet in a
    diagonal that both sides of a plate share."""
    ends = np.stack([facets, np.roll(facets, -1, axis=1)], axis=2).reshape(-1, 2)
    ends = np.sort(ends, axis=1)
    keys = ends[:, 0].astype(np.int64) << 32 | ends[:, 1]
    found = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    _, first, which, count = found
    if (count % 2).any():
        raise InputError(
            "the convex hull of the body does not close; its vertices are too close to a plane "
            "to tell: make the body thicker, or flat"
        )
    # A diagonal of a plate: the facets of one side are in one plane, so it is never a fold.
    last = np.zeros(len(first), dtype=np.int64)
    last[which.reshape(-1)] = np.arange(len(keys))
    own = np.argsort(first)
    own = own[count[own] == 2]
    beside = np.stack([first[own] // 3, last[own] // 3], axis=1)
    return np.concatenate([ends[first[own]], beside], axis=1).astype(np.int32)


# -- one of several, several as one ----------------------------------------------------------------


def _one(hulls: BodyHull) -> BodyHull:
    """The only one of hulls with a first axis."""
    h = hulls
    return BodyHull(
        h.vertices[0], h.facets, h.normals[0], h.offsets[0], h.edges, h.shares[0], h.center[0]
    )


def _lone(points: Array) -> BodyHull:
    """The hull of a body, with a first axis."""
    h = body_hull(points)
    own = (h.vertices, h.normals, h.offsets, h.shares, h.center)
    vertices, normals, offsets, shares, center = (a[None] for a in own)
    return BodyHull(vertices, h.facets, normals, offsets, h.edges, shares, center)


def _packed(count: int, parts: Iterator[tuple[Numbers, BodyHull]]) -> BodyHulls:
    """All hulls one after the other, whatever their order."""
    flat: dict[str, list[Any]] = {name: [] for name in _PARTS}
    first = {name: np.zeros(count, dtype=np.int64) for name in _PARTS}
    counts = {name: np.zeros(count, dtype=np.int64) for name in _PARTS}
    begin, center = dict.fromkeys(_PARTS, 0), np.zeros((count, 3))
    for own, hulls in parts:
        center[own] = hulls.center
        for name in _PARTS:
            rows = getattr(hulls, name)
            shared = name in ("facets", "edges")  # all have the same: kept once
            each, times = (len(rows), 0) if shared else (rows.shape[1], 1)
            flat[name].append(rows if shared else rows.reshape(-1, *rows.shape[2:]))
            first[name][own] = begin[name] + times * each * np.arange(len(own))
            counts[name][own] = each
            begin[name] += len(flat[name][-1])
    whole = {name: np.concatenate(some) for name, some in flat.items()}
    return BodyHulls({**whole, "center": center}, first, counts)

"""Fewer facets for the same body: edges collapse to points, the cheapest first.

The cost of a point is its squared distance from the planes of the facets it replaces, weighted by
area (Garland and Heckbert 1997), and the point is held to the plane on which the collapse leaves
the enclosed volume unchanged (Lindstrom and Turk 1998). So a simplified body keeps its volume to
rounding, and with it its mass.

A collapse is made only where the surface stays a closed manifold (the end points of the edge have
exactly two neighbours in common) and no facet turns over or shrinks to a sliver. Collapses come
in rounds of many at once, whose surroundings do not overlap: all array work, in double precision
at unit size.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from alight.core.errors import InputError, MeshError
from alight.shapes.integrity.arrays import BoolArray, FloatArray, IntArray
from alight.shapes.integrity.topology import EdgeTable, find_edges
from alight.shapes.mass import facet_vectors

#: A closed mesh changes by two facets at a time.
TOLERANCE = 2

#: Part of the edges, the cheapest, that a round may collapse; all of them when these are stuck.
_SHARE = 0.4

#: Rounds pick edges that are the cheapest for some way around, so many times over.
_PICKS = 4

#: Weight of staying near the middle of the edge, beside the planes: decides where they do not.
_CALM = 1e-6

#: A facet may turn by this cosine, and become this flat (twice its area over its longest side
#: squared) unless it was flatter before.
_TURN, _SLIVER = 0.2, 0.02

IndexArray = npt.NDArray[np.int64]


class _Surface(NamedTuple):
    """A surface under way: quadrics are the ten products of (normal, offset), summed per vertex."""

    vertices: FloatArray
    faces: IntArray
    quadrics: FloatArray
    weights: FloatArray


def simplify(vertices: FloatArray, faces: IntArray, n_faces: int) -> tuple[FloatArray, IntArray]:
    """A closed mesh of ``n_faces`` facets (one fewer if that is odd) and the same volume.

    The mesh given must bound a solid. Takes 20 to 30 us per facet removed.
    """
    _require_count(n_faces, len(faces))
    if len(faces) - n_faces < TOLERANCE:
        return vertices, faces
    center = vertices.mean(axis=0)
    size = float(np.abs(vertices - center).max())
    surface = _prepared((vertices - center) / size, faces)
    share = _SHARE
    while len(surface.faces) > n_faces:
        after = _round(surface, (len(surface.faces) - n_faces + 1) // 2, share)
        if after is None and share == 1.0:
            raise MeshError(
                f"cannot simplify this mesh to {n_faces} facets: below {len(surface.faces)} every "
                "collapse would turn facets over or join parts of the surface. Ask for more facets."
            )
        share = 1.0 if after is None else _SHARE
        surface = surface if after is None else after
    return center + size * surface.vertices, surface.faces


def _require_count(n_faces: int, has: int) -> None:
    if isinstance(n_faces, bool) or not isinstance(n_faces, int | np.integer):
        raise InputError(f"n_faces must be a whole number, not {n_faces!r}.")
    if n_faces < 4 or n_faces > has:
        raise InputError(
            f"cannot simplify to {n_faces} facets: a solid has at least 4, and this mesh has {has}."
        )


def _prepared(vertices: FloatArray, faces: IntArray) -> _Surface:
    """Sum the quadrics of the facets around each vertex, weighted by area."""
    vectors = facet_vectors(vertices, faces)
    area = np.linalg.norm(vectors, axis=1)
    normal = vectors / area[:, None]
    offset = -np.einsum("ij,ij->i", normal, vertices[faces[:, 0]])
    plane = np.column_stack([normal, offset])
    one, other = np.triu_indices(4)
    products = plane[:, one] * plane[:, other] * area[:, None]
    quadrics = _sum_at_vertices(faces, np.repeat(products, 3, axis=0), len(vertices))
    weights = _sum_at_vertices(faces, np.repeat(area, 3)[:, None], len(vertices))[:, 0]
    return _Surface(vertices, faces, quadrics, weights)


def _sum_at_vertices(faces: IntArray, at_corners: FloatArray, n: int) -> FloatArray:
    """Sum values given at the corners of facets (3 m, k) over each vertex (n, k)."""
    where = faces.ravel()
    return np.column_stack([np.bincount(where, weights=c, minlength=n) for c in at_corners.T])


def _round(surface: _Surface, most: int, share: float) -> _Surface | None:
    """Collapse up to ``most`` edges that do not disturb each other; None if there is none."""
    table = find_edges(surface.faces)
    points, costs = _placed(surface, table)
    rank = np.empty(len(costs), dtype=np.int64)
    rank[np.argsort(costs, kind="stable")] = np.arange(len(costs))
    chosen = _independent(surface, table, points, rank, share)
    if len(chosen) == 0:
        return None
    chosen = chosen[np.argsort(rank[chosen])[:most]]
    return _collapsed(surface, table.edges[chosen], points[chosen])


def _placed(surface: _Surface, table: EdgeTable) -> tuple[FloatArray, FloatArray]:
    """For every edge the best point to collapse to, and what it costs.

    The point x minimises x'Ax + 2b'x + c + e|x - m|^2, with m the middle of the edge, subject to
    g'x = h, which keeps the volume.
    """
    a, b = table.edges.T
    start, end = surface.vertices[a], surface.vertices[b]
    m = 0.5 * (start + end).T
    xx, xy, xz, xd, yy, yz, yd, zz, zd, dd = (surface.quadrics[a] + surface.quadrics[b]).T
    calm = _CALM * (surface.weights[a] + surface.weights[b])
    offset = np.stack([xd, yd, zd])
    slope = _times((xx, xy, xz, yy, yz, zz), m) + offset
    inverse = _inverse(xx + calm, xy, xz, yy + calm, yz, zz + calm)
    move = -_times(inverse, slope)
    cost = ((slope + offset) * m).sum(axis=0) + dd + (slope * move).sum(axis=0)
    g, h = _volume_plane(surface, table)
    sway = _times(inverse, g)
    reach = (g * sway).sum(axis=0)
    missing = h - (g * (m + move)).sum(axis=0)
    push = np.divide(missing, reach, out=np.zeros_like(reach), where=reach > 0.0)
    cost += push * push * reach
    cost = np.maximum(cost, 0.0) + calm * ((start - end) ** 2).sum(axis=1)
    return (m + move + push * sway).T, cost


#: Symmetric matrices by their entries xx, xy, xz, yy, yz, zz.
_Symmetric = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def _inverse(
    xx: FloatArray, xy: FloatArray, xz: FloatArray, yy: FloatArray, yz: FloatArray, zz: FloatArray
) -> _Symmetric:
    """Inverses of symmetric, positive matrices, by cofactors."""
    cxx, cxy, cxz = yy * zz - yz * yz, yz * xz - xy * zz, xy * yz - yy * xz
    determinant = np.maximum(xx * cxx + xy * cxy + xz * cxz, np.finfo(float).tiny)
    cyy, cyz, czz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    d = 1.0 / determinant
    return cxx * d, cxy * d, cxz * d, cyy * d, cyz * d, czz * d


def _times(symmetric: _Symmetric, vector: FloatArray) -> FloatArray:
    """(3, k) products of symmetric matrices and (3, k) vectors."""
    xx, xy, xz, yy, yz, zz = symmetric
    x, y, z = vector
    return np.stack([xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z])


def _volume_plane(surface: _Surface, table: EdgeTable) -> tuple[FloatArray, FloatArray]:
    """(3, E) g and (E,) h of the planes g'x = h on which collapsing an edge keeps the volume.

    Six times the volume is the sum over facets of p . (q x r). What multiplies a corner p, summed
    over the facets at a vertex, is the volume's slope there; the two facets at the edge vanish
    with it.
    """
    vertices, faces = surface.vertices, surface.faces
    p, q, r = (vertices[faces[:, k]] for k in range(3))
    crosses = np.stack([np.cross(q, r), np.cross(r, p), np.cross(p, q)], axis=1).reshape(-1, 3)
    slopes = _sum_at_vertices(faces, crosses, len(vertices))
    sixfold = np.einsum("ij,ij->i", p, crosses[::3])
    one, other = table.pairs()
    a, b = table.edges.T
    g = slopes[a] + slopes[b]
    for half in (one, other):
        g -= crosses[half] + crosses[half + 1 - 3 * (half % 3 == 2)]
    h = np.einsum("ij,ij->i", vertices[a], slopes[a]) + np.einsum(
        "ij,ij->i", vertices[b], slopes[b]
    )
    return g.T, h - sixfold[one // 3] - sixfold[other // 3]


class _Neighbours:
    """Each vertex's edges and neighbours, laid out so that minima over them are one call."""

    def __init__(self, edges: IntArray, n_vertices: int) -> None:
        source = np.concatenate([edges[:, 0], edges[:, 1]])
        order = np.argsort(source, kind="stable")
        self.start = np.searchsorted(source[order], np.arange(n_vertices))
        self.vertex = np.concatenate([edges[:, 1], edges[:, 0]])[order]
        self.edge = order % len(edges)
        ends = np.append(self.start, len(order))
        ones = np.ones(len(order), dtype=np.int32)
        self.matrix = scipy.sparse.csr_matrix(
            (ones, self.vertex, ends), shape=(n_vertices, n_vertices)
        )

    def cheapest_around(self, rank: IndexArray) -> IndexArray:
        """Lowest rank among the edges at each vertex and at its neighbours."""
        own = np.minimum.reduceat(rank[self.edge], self.start)
        return np.minimum(own, np.minimum.reduceat(own[self.vertex], self.start))

    def touch(self, marked: BoolArray) -> BoolArray:
        """Vertices that are marked or have a marked neighbour."""
        return marked | np.logical_or.reduceat(marked[self.vertex], self.start)

    def in_common(self, edges: IntArray) -> IndexArray:
        """How many neighbours the ends of each edge share."""
        both = self.matrix[edges[:, 0]].multiply(self.matrix[edges[:, 1]])
        return np.asarray(both.sum(axis=1)).ravel()


def _independent(
    surface: _Surface, table: EdgeTable, points: FloatArray, rank: IndexArray, share: float
) -> IndexArray:
    """Cheap edges that may collapse together: no end of one is next to an end of another."""
    edges, never = table.edges, len(rank)
    a, b = edges.T
    around = _Neighbours(edges, len(surface.vertices))
    rank = np.where(rank < max(share * never, 64), rank, never)
    cheap = np.flatnonzero(rank < never)
    rank[cheap[around.in_common(edges[cheap]) != 2]] = never
    chosen = []
    for _ in range(_PICKS):
        lowest = around.cheapest_around(rank)
        pick = np.flatnonzero((rank < never) & (rank == np.minimum(lowest[a], lowest[b])))
        if len(pick) == 0:
            break
        spoils = _spoils_facets(surface, edges[pick], points[pick])
        rank[pick[spoils]] = never
        chosen.append(pick[~spoils])
        ends = np.zeros(len(surface.vertices), dtype=bool)
        ends[edges[chosen[-1]]] = True
        disturbed = around.touch(ends)
        rank[disturbed[a] | disturbed[b]] = never
    return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)


def _spoils_facets(surface: _Surface, edges: IntArray, points: FloatArray) -> BoolArray:
    """Which collapses would turn a facet over or leave a sliver."""
    mover = np.full(len(surface.vertices), -1)
    mover[edges] = np.arange(len(edges))[:, None]
    moving = mover[surface.faces]
    one, two, three = moving.T >= 0
    # Facets with one moving corner change; those with two vanish.
    changed = np.flatnonzero(one ^ two ^ three)
    moves = moving[changed] >= 0
    which = moving[changed][moves]
    before = surface.vertices[surface.faces[changed]]
    after = np.where(moves[:, :, None], points[which][:, None, :], before)
    old, new = _doubled(before), _doubled(after)
    old_size, new_size = np.linalg.norm(old, axis=1), np.linalg.norm(new, axis=1)
    flatness = new_size / _longest_squared(after)
    allowed = np.minimum(_SLIVER, old_size / _longest_squared(before))
    turned = np.einsum("ij,ij->i", old, new) < _TURN * old_size * new_size
    spoilt = np.zeros(len(edges), dtype=bool)
    spoilt[which[turned | ~(flatness >= allowed)]] = True
    return spoilt


def _doubled(corners: FloatArray) -> FloatArray:
    """Normals of twice the area of triangles given by their corners (m, 3, 3)."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _longest_squared(corners: FloatArray) -> FloatArray:
    p, q, r = (corners[:, k] for k in range(3))
    sides = (np.einsum("ij,ij->i", d, d) for d in (q - p, r - q, p - r))
    return functools.reduce(np.maximum, sides)


def _collapsed(surface: _Surface, edges: IntArray, points: FloatArray) -> _Surface:
    """Move the first end of each edge to its point, and make it stand for the second as well."""
    keep, drop = edges.T
    vertices = surface.vertices.copy()
    vertices[keep] = points
    quadrics, weights = surface.quadrics.copy(), surface.weights.copy()
    quadrics[keep] += quadrics[drop]
    weights[keep] += weights[drop]
    stand_in = np.arange(len(vertices))
    stand_in[drop] = keep
    p, q, r = stand_in[surface.faces].T
    left = (p != q) & (q != r) & (r != p)
    faces = np.column_stack([p[left], q[left], r[left]])
    stays = np.ones(len(vertices), dtype=bool)
    stays[drop] = False
    number = np.cumsum(stays) - 1
    return _Surface(
        vertices[stays], number[faces].astype(np.int32), quadrics[stays], weights[stays]
    )

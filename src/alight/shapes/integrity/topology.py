"""How the triangles of a mesh are related: edges, pieces, fans and winding.

A half-edge ``h = 3 * face + corner`` runs from ``faces[face, corner]`` to the next corner of the
same face. Everything here is sorting and connected components: no loop over the elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.shapes.integrity.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class EdgeTable:
    """The undirected edges of a mesh and the half-edges along each.

    Attributes:
        edges: (E, 2) vertex indices, the lower first, sorted.
        counts: (E,) number of half-edges, hence of facets, along each edge.
        half_edges: (3 m,) half-edges grouped by edge; within one edge those that run from the
            lower to the higher vertex come first.
        starts: (E,) where each edge's group begins in ``half_edges``.
        forward: (3 m,) by half-edge: does it run from the lower to the higher vertex?
    """

    edges: IntArray
    counts: npt.NDArray[np.int64]
    half_edges: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    forward: BoolArray

    @property
    def paired(self) -> BoolArray:
        """(E,) edges that exactly two facets share."""
        return self.counts == 2

    def pairs(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The two half-edges of every paired edge."""
        at = self.starts[self.paired]
        return self.half_edges[at], self.half_edges[at + 1]


def find_edges(faces: IntArray) -> EdgeTable:
    """Group the half-edges of ``faces`` by undirected edge: one sort, O(m log m)."""
    tail = faces.ravel().astype(np.int64)
    head = faces[:, [1, 2, 0]].ravel().astype(np.int64)
    forward = tail < head
    lower, higher = np.minimum(tail, head), np.maximum(tail, head)
    # One integer per half-edge, ordered by (lower, higher, direction).
    span = 2 * (int(higher.max()) + 1) if higher.size else 1
    key = lower * span + 2 * higher + ~forward
    order = np.argsort(key, kind="stable")
    key = key[order] >> 1
    first = np.ones(len(key), dtype=bool)
    first[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=len(key))
    at = order[starts]
    edges = np.column_stack([lower[at], higher[at]]).astype(np.int32)
    return EdgeTable(edges, counts, order, starts, forward)


def label_pieces(
    n: int, one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]
) -> tuple[int, IntArray]:
    """Connected components of ``n`` nodes linked pairwise: their number and each node's label."""
    # Each piece goes to the smallest piece that it touches, until none touches another. SciPy's own
    # function takes longer to load than most meshes take here.
    root = np.arange(n)
    one, other = np.asarray(one), np.asarray(other)
    while True:
        low, high = np.minimum(root[one], root[other]), np.maximum(root[one], root[other])
        apart = low != high
        if not apart.any():
            break
        one, other = one[apart], other[apart]
        np.minimum.at(root, high[apart], low[apart])
        while not np.array_equal(further := root[root], root):
            root = further
    first, label = np.unique(root, return_inverse=True)
    return len(first), label.astype(np.int32)


def facet_pieces(table: EdgeTable, n_faces: int) -> tuple[int, IntArray]:
    """Pieces of the surface, facets being joined across every edge they share."""
    group = np.repeat(np.arange(len(table.counts)), table.counts)
    leader = table.half_edges[table.starts][group] // 3
    return label_pieces(n_faces, leader, table.half_edges // 3)


def fans_per_vertex(faces: IntArray, table: EdgeTable, n_vertices: int) -> npt.NDArray[np.int64]:
    """Number of separate fans of facets around each vertex: 1 on a manifold.

    Two corners at one vertex belong to the same fan when their facets share an edge there.
    """
    one, other = table.pairs()
    one_low, one_high = _corners_at_ends(one, table.forward)
    other_low, other_high = _corners_at_ends(other, table.forward)
    count, fan = label_pieces(
        faces.size,
        np.concatenate([one_low, one_high]),
        np.concatenate([other_low, other_high]),
    )
    vertex_of_fan = np.zeros(count, dtype=np.int64)
    vertex_of_fan[fan] = faces.ravel()
    return np.bincount(vertex_of_fan, minlength=n_vertices)


def _corners_at_ends(
    half: npt.NDArray[np.int64], forward: BoolArray
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The corners (numbered as half-edges) at the lower and the higher end of ``half``."""
    following = half + 1 - 3 * (half % 3 == 2)
    ahead = forward[half]
    return np.where(ahead, half, following), np.where(ahead, following, half)


def winding_flips(table: EdgeTable, n_faces: int) -> tuple[BoolArray, BoolArray]:
    """Which facets to turn over so that neighbours agree, and which cannot agree at all.

    Each facet becomes two nodes, as given and turned over; facets that agree link equal nodes,
    facets that disagree link opposite ones. A piece then appears as two mirror components,
    unless it is one-sided, when both nodes of a facet share a component. In each piece the
    smaller party is turned over.
    """
    one, other = table.pairs()
    disagree = table.forward[one] == table.forward[other]
    f, g = one // 3, other // 3
    same, opposite = np.where(disagree, g + n_faces, g), np.where(disagree, g, g + n_faces)
    _, label = label_pieces(
        2 * n_faces, np.concatenate([f, f + n_faces]), np.concatenate([same, opposite])
    )
    given, turned = label[:n_faces], label[n_faces:]
    one_sided = given == turned
    piece, party = np.minimum(given, turned), given < turned
    votes = np.bincount(piece, weights=np.where(party, 1.0, -1.0))
    majority = votes[piece] > 0
    tied = votes[piece] == 0
    if tied.any():  # an even split follows the first facet of its piece
        first = np.full(len(votes), n_faces)
        np.minimum.at(first, piece, np.arange(n_faces))
        majority = np.where(tied, party[first[piece]], majority)
    return (party != majority) & ~one_sided, one_sided


def turned_over(faces: IntArray, mask: BoolArray) -> IntArray:
    """``faces`` with the winding of those in ``mask`` reversed."""
    return np.where(mask[:, None], faces[:, [0, 2, 1]], faces).astype(np.int32)


def repeated_facets(faces: IntArray) -> BoolArray:
    """Facets on the same three vertices as an earlier one, whatever the order of corners."""
    corners = np.sort(faces, axis=1)
    order = np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0]))
    ranked = corners[order]
    later = np.zeros(len(faces), dtype=bool)
    later[order[1:]] = (ranked[1:] == ranked[:-1]).all(axis=1)
    return later


def coincident_groups(vertices: FloatArray) -> tuple[int, IntArray]:
    """Groups of exactly equal vertices: their number, and for each vertex its group's first."""
    if len(vertices) == 0:
        return 0, np.zeros(0, dtype=np.int32)
    order = np.lexsort(vertices.T)
    ranked = vertices[order]
    new = np.ones(len(vertices), dtype=bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    # lexsort is stable, so the first of each run has the lowest index.
    leader = np.empty(len(vertices), dtype=np.int32)
    leader[order] = order[starts][np.cumsum(new) - 1]
    return len(starts), leader


def without_loose_vertices(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    """Leave out the vertices that no facet uses, keeping the order of the rest."""
    used = np.zeros(len(vertices), dtype=bool)
    used[faces.ravel()] = True
    number = np.cumsum(used) - 1
    return np.ascontiguousarray(vertices[used]), number[faces].astype(np.int32)


def weld_equal(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    """Make one vertex of those with equal coordinates, in order of first appearance."""
    _, leader = coincident_groups(vertices)
    return without_loose_vertices(vertices, leader[faces].astype(np.int32))

"""Clusters of rest sites: groups with empty ground between them, and whether a middle means much.

Places are joined by their shortest tree, in which the length of a link is at least the distance of
either end to its k-th neighbour: lone places far out then make no bridges, and no gaps (the tree of
HDBSCAN, Campello et al. 2013). The tree is cut at its longest link that leaves a worthwhile share
on either side, if this link is much longer than is usual within both, and either side is looked at
again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from alight.analysis.columns import Array
from alight.analysis.density import thin

Index = npt.NDArray[np.int64]

#: Places that the tree is made over, at most: it takes the square of their number.
PLACES = 1000

#: Fewest places of a cluster, and the least share of all of them.
FEW, LEAST = 8, 0.05

#: No link is shorter than the way to this neighbour of either end.
NEIGHBOUR = 5

#: A gap is so many times longer than what this part of the links within either side stay below. In
#: 900 tables each of normal, even, skew, long-tailed, line-like and ring-like places none had one.
GAP, USUAL = 2.0, 0.8


@dataclass(frozen=True)
class Clusters:
    """Which cluster each place belongs to, the largest first."""

    label: Index
    """(n,) from 0; -1 of places that are in none."""
    count: int

    def members(self, k: int) -> Index:
        """Places of a cluster."""
        return np.flatnonzero(self.label == k)

    @property
    def shares(self) -> Array:
        """(count,) of all places."""
        return np.bincount(self.label[self.label >= 0], minlength=self.count) / len(self.label)


def clusters(places: Array) -> Clusters:
    """Clusters of places (n, d) [m]; one where there is no gap, or too few places to tell."""
    n = len(places)
    chosen = thin(n, PLACES)
    few = places[chosen]
    groups = _split(few, np.arange(len(few))) if len(few) >= 2 * FEW else [np.arange(len(few))]
    groups = sorted(groups, key=len, reverse=True)
    own = np.full(len(few), -1, dtype=np.int64)
    for k, group in enumerate(groups):
        own[group] = k
    if len(groups) == 1:
        return Clusters(np.zeros(n, dtype=np.int64), 1)
    nearest = scipy.spatial.cKDTree(few).query(places)[1]
    return Clusters(own[nearest], len(groups))


def _split(places: Array, members: Index) -> list[Index]:
    """The clusters of some of the places."""
    least = max(FEW, int(np.ceil(LEAST * len(places))))
    if len(members) < 2 * least:
        return [members]
    found = _gap(places[members], least)
    if found is None:
        return [members]
    one, other = found
    return [*_split(places, members[one]), *_split(places, members[other])]


def _gap(x: Array, least: int) -> tuple[Index, Index] | None:
    """Two sides with a gap between them that is no chance; None where there is none."""
    ends, length = _tree(x, NEIGHBOUR)
    order = np.argsort(-length)
    for cut in order[: max(1, len(order) // 4)]:
        kept = np.delete(np.arange(len(length)), cut)
        side = _side(ends[kept], len(x), int(ends[cut, 0]))
        if min(int(side.sum()), int((~side).sum())) < least:
            continue
        inner = [length[kept][side[ends[kept, 0]] == part] for part in (True, False)]
        usual = max(float(np.quantile(links, USUAL)) for links in inner)
        if length[cut] > GAP * usual:
            return np.flatnonzero(side), np.flatnonzero(~side)
        return None  # shorter links would be less of a gap
    return None


def _tree(x: Array, k: int) -> tuple[Index, Array]:
    """Links (n - 1, 2) of the shortest tree and their lengths, by Prim's steps."""
    n = len(x)
    near = np.asarray(scipy.spatial.cKDTree(x).query(x, k=k + 1)[0][:, -1])
    best, parent = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    inside = np.zeros(n, dtype=bool)
    ends, length = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    at = 0
    for step in range(n - 1):
        inside[at] = True
        away = np.maximum(np.sqrt(((x - x[at]) ** 2).sum(axis=1)), np.maximum(near, near[at]))
        closer = away < best
        best[closer], parent[closer] = away[closer], at
        best[inside] = np.inf
        at = int(np.argmin(best))
        ends[step], length[step] = (parent[at], at), best[at]
    return ends, length


def _side(links: Index, n: int, start: int) -> npt.NDArray[np.bool_]:
    """(n,) whether a place is joined to ``start``."""
    graph = scipy.sparse.coo_matrix((np.ones(len(links)), links.T), shape=(n, n))
    label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    return np.asarray(label == label[start])


def hollow(plane: Array, least: int = 50) -> float | None:
    """Share of places (n, 2) in the inner tenth of a normal law of their covariance, where it is
    so small that the middle is no place to rest; None where it is not, or they are too few."""
    from alight.analysis.intervals import wilson

    if len(plane) < least:
        return None
    offset = plane - np.median(plane, axis=0)
    spread = np.cov(offset.T)
    if np.linalg.det(spread) <= 0.0:
        return None
    out = np.einsum("ni,ij,nj->n", offset, np.linalg.inv(spread), offset)
    part = wilson(int((out < -2.0 * np.log(0.9)).sum()), len(plane), 0.99)
    return part.value if part.high < 0.05 else None

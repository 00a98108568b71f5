"""Contact points spread evenly over a hull, as many as asked for, the same ones every time.

The corners of the convex hull come first: nothing else of a convex lander touches flat ground.
What is left of the count goes where the surface is farthest from any point so far, sharp edges
before faces (farthest-point sampling), and is then moved to the middles of the regions nearest to
each point, some rounds long (Lloyd's relaxation); the round with the widest gaps is kept. Points
chosen on an edge stay on edges. Where the corners alone are too many, farthest-point sampling
picks among them.

Distances are straight lines between points of the surface that face the same way. Points that
face opposite ways do not count as near: a thin plate has points on both its sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from alight.core.checks import Array, checked_whole
from alight.shapes import Mesh
from alight.shapes.mesh import corner_angles

Index = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: Places to choose from lie this many times closer than the points will.
FINENESS = 8

#: Edges that bend outward by more than this keep points of their own [rad].
SHARP = np.radians(15.0)

#: A place on a sharp edge is taken before one on a face unless the face is this much farther.
EDGE_FIRST = 1.15

#: Rounds of relaxation; the points hardly move after that.
ROUNDS = 20

#: Two normals whose cosine is below this face opposite ways.
OPPOSITE = -0.25

#: Turn that is missing around a corner [rad]. Less is a flat spot or an edge, be it that the 32-bit
#: coordinates of a file make it stick out by a hair; a ball of a million vertices has more.
FLAT = 5e-6


def spread(mesh: Mesh, count: int) -> Array:
    """(count, 3) points [m] spread evenly over a closed ``mesh``.

    All vertices are among them where they fit, else all corners of the convex hull where these
    fit (both in the mesh's order, first), else the points are some of these corners.
    """
    count = checked_whole("the number of contact points", count, 1)
    mesh.health.require("the hull")
    corners = hull_corners(mesh)
    if count < len(corners):
        places = _vertices(mesh, corners)
        return places.position[_farthest(places, np.empty(0, dtype=np.int64), count)]
    fixed = np.arange(mesh.n_vertices) if count >= mesh.n_vertices else corners
    if count == len(fixed):
        return np.array(mesh.vertices[fixed])
    places = _surface(mesh, _spacing(mesh, count) / FINENESS)
    chosen = _farthest(places, fixed, count)
    return places.position[_relaxed(mesh, places, chosen, len(fixed))]


def hull_corners(mesh: Mesh) -> Index:
    """Vertices that are corners of the convex hull, ascending; flat spots and edges are none."""
    hull = scipy.spatial.ConvexHull(mesh.vertices)
    turn = np.zeros(mesh.n_vertices)
    np.add.at(turn, hull.simplices, corner_angles(mesh.vertices, hull.simplices))
    used = np.zeros(mesh.n_vertices, dtype=bool)
    used[hull.simplices] = True
    return np.flatnonzero(used & (2.0 * np.pi - turn > FLAT))


# -- places to choose from --------------------------------------------------------------------


@dataclass(frozen=True)
class _Places:
    """Points of the surface that may become contact points."""

    position: Array
    normal: Array
    sharp: Bool
    """Whether a place is a vertex or on a sharp edge."""


def _vertices(mesh: Mesh, which: Index) -> _Places:
    return _Places(mesh.vertices[which], mesh.vertex_normals[which], np.ones(len(which), bool))


def _surface(mesh: Mesh, fine: float) -> _Places:
    """The vertices, in order, then places on sharp edges, then on faces, ``fine`` apart [m]."""
    sharp = _sharp_edges(mesh)
    parts = [_vertices(mesh, np.arange(mesh.n_vertices)), _edge_places(mesh, sharp, fine)]
    parts.append(_face_places(mesh, sharp, fine))
    columns = ([getattr(part, name) for part in parts] for name in ("position", "normal", "sharp"))
    return _Places(*(np.concatenate(column) for column in columns))


def _spacing(mesh: Mesh, count: int) -> float:
    """Side of the square of surface that each point gets [m]."""
    return float(np.sqrt(mesh.area / count))


def _sharp_edges(mesh: Mesh) -> Bool:
    """(E,) edges that bend outward sharply."""
    one, other = mesh.edge_faces.T
    n1, n2 = mesh.face_normals[one], mesh.face_normals[other]
    apex = mesh.vertices[mesh.faces[other]].sum(axis=1) - mesh.vertices[mesh.edges].sum(axis=1)
    outward = np.einsum("ij,ij->i", n1, apex - mesh.vertices[mesh.edges[:, 0]]) < 0.0
    return outward & (np.einsum("ij,ij->i", n1, n2) < np.cos(SHARP))


def _edge_places(mesh: Mesh, sharp: Bool, fine: float) -> _Places:
    """Each sharp edge in equal parts: a power of two, so that its middle is a place."""
    position, normal = [np.empty((0, 3))], [np.empty((0, 3))]
    facing = mesh.face_normals[mesh.edge_faces].sum(axis=1)
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-12)
    for k in np.flatnonzero(sharp):
        a, b = mesh.vertices[mesh.edges[k]]
        parts = 2 ** max(1, int(np.ceil(np.log2(np.linalg.norm(b - a) / fine))))
        share = np.arange(1, parts)[:, None] / parts
        position.append((1.0 - share) * a + share * b)
        normal.append(np.tile(facing[k], (parts - 1, 1)))
    at = np.concatenate(position)
    return _Places(at, np.concatenate(normal), np.ones(len(at), bool))


def _face_places(mesh: Mesh, sharp: Bool, fine: float) -> _Places:
    """Corners of facets cut to ``fine``, without the vertices and what lies on sharp edges."""
    face, share = _cut(mesh, fine)
    face, share = np.repeat(face, 3), share.reshape(-1, 3)
    zero = share == 0.0  # exact: every share is a whole number over a power of two
    on_vertex = zero.sum(axis=1) == 2
    opposite = sharp[_edges_of_faces(mesh)][face]
    on_sharp = (zero & opposite).any(axis=1)
    keep = ~(on_vertex | on_sharp)
    # Neighbouring triangles share their corners: one of each is enough.
    rows = np.unique(np.column_stack([face[keep], share[keep]]), axis=0)
    face, share = rows[:, 0].astype(np.int64), rows[:, 1:]
    position = np.einsum("nk,nki->ni", share, mesh.vertices[mesh.faces[face]])
    return _Places(position, mesh.face_normals[face], np.zeros(len(face), bool))


def _edges_of_faces(mesh: Mesh) -> Index:
    """(m, 3) the edge opposite to each corner of each facet."""
    size = mesh.n_vertices
    ends = np.sort(np.stack([mesh.faces[:, [1, 2, 0]], mesh.faces[:, [2, 0, 1]]]), axis=0)
    key = mesh.edges[:, 0].astype(np.int64) * size + mesh.edges[:, 1]
    return np.searchsorted(key, ends[0].astype(np.int64) * size + ends[1])


def _cut(mesh: Mesh, fine: float) -> tuple[Index, Array]:
    """Triangles no longer than ``fine`` [m]: facets halved across their longest sides.

    Returns the (k,) facet of each and the (k, 3, 3) shares of that facet's corners in its own.
    """
    face = np.arange(mesh.n_faces)
    share = np.tile(np.eye(3), (mesh.n_faces, 1, 1))
    done: list[tuple[Index, Array]] = []
    while len(face):
        corner = np.einsum("nck,nki->nci", share, mesh.vertices[mesh.faces[face]])
        side = np.linalg.norm(np.roll(corner, -1, axis=1) - corner, axis=2)
        small = side.max(axis=1) <= fine
        done.append((face[small], share[small]))
        first = np.argmax(side, axis=1)[~small]
        face, share = face[~small], share[~small]
        row = np.arange(len(face))
        middle = 0.5 * (share[row, first] + share[row, (first + 1) % 3])
        left, right = share.copy(), share.copy()
        left[row, (first + 1) % 3] = middle
        right[row, first] = middle
        face, share = np.concatenate([face, face]), np.concatenate([left, right])
    return np.concatenate([f for f, _ in done]), np.concatenate([s for _, s in done])


# -- choosing ---------------------------------------------------------------------------------


def _farthest(places: _Places, fixed: Index, count: int) -> Index:
    """``fixed`` and then, up to ``count``, whatever is farthest from all before it."""
    weight = np.where(places.sharp, EDGE_FIRST**2, 1.0)
    square = np.full(len(weight), np.inf)
    chosen = list(fixed)
    if not chosen:
        offset = places.position - places.position.mean(axis=0)
        chosen.append(_first_largest(np.einsum("ij,ij->i", offset, offset)))
    tree = scipy.spatial.cKDTree(places.position)
    for k in chosen:
        _approach(places, tree, square, k)
    while len(chosen) < count:
        chosen.append(_first_largest(weight * square))
        _approach(places, tree, square, chosen[-1])
    return np.array(chosen, dtype=np.int64)


def _approach(places: _Places, tree: scipy.spatial.cKDTree, square: Array, k: int) -> None:
    """Lower the squared distances to the points chosen, now that ``k`` is one of them."""
    reach = np.sqrt(max(0.0, square.max()))
    # Beyond the farthest place there is nothing left to lower.
    everywhere = slice(None) if np.isinf(reach) else None
    near = everywhere or np.array(tree.query_ball_point(places.position[k], reach), dtype=np.int64)
    offset = places.position[near] - places.position[k]
    new = np.einsum("ij,ij->i", offset, offset)
    seen = places.normal[near] @ places.normal[k] > OPPOSITE
    square[near] = np.minimum(square[near], np.where(seen, new, np.inf))
    square[k] = -1.0


def _first_largest(values: Array) -> int:
    """Of the largest values, equal but for rounding, the first: the same on every machine."""
    largest = values.max()
    slack = 1e-9 * abs(largest) if np.isfinite(largest) else 0.0
    return int(np.argmax(values >= largest - slack))


# -- relaxing ---------------------------------------------------------------------------------


def _relaxed(mesh: Mesh, places: _Places, chosen: Index, fixed: int) -> Index:
    """Move all but the first ``fixed`` of the points ``chosen`` to the middles of their regions.

    Of all rounds the one whose closest two points are farthest apart is kept.
    """
    face, share = _cut(mesh, _spacing(mesh, len(chosen)) / (FINENESS / 2))
    corner = np.einsum("nck,nki->nci", share, mesh.vertices[mesh.faces[face]])
    middle, normal = corner.mean(axis=1), mesh.face_normals[face]
    sides = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    weight = np.linalg.norm(sides, axis=1)
    kinds = [(kind, np.flatnonzero(places.sharp == kind)) for kind in (True, False)]
    trees = {
        kind: (which, scipy.spatial.cKDTree(places.position[which]))
        for kind, which in kinds
        if len(which)
    }
    best, widest = chosen, _closest(places.position[chosen], fixed)
    for _ in range(ROUNDS):
        owner = _owners(places, chosen, middle, normal)
        moved = chosen.copy()
        held, target = _middles(owner, middle, weight, fixed, len(chosen))
        for kind, (which, tree) in trees.items():
            same = places.sharp[chosen[held]] == kind
            moved[held[same]] = which[tree.query(target[same])[1]]
        if (moved == chosen).all():
            break
        chosen, gap = moved, _closest(places.position[moved], fixed)
        # Equal but for rounding counts as better: the later round is the more even one.
        if gap >= (1.0 - 1e-9) * widest:
            best, widest = chosen, gap
    return best


def _closest(points: Array, fixed: int) -> float:
    """Smallest distance of a point that may move to any other [m]."""
    return float(scipy.spatial.cKDTree(points).query(points[fixed:], k=2)[0][:, 1].min())


def _owners(places: _Places, chosen: Index, middle: Array, normal: Array) -> Index:
    """Which of the points ``chosen`` is nearest to each piece of surface and faces its way."""
    tree = scipy.spatial.cKDTree(places.position[chosen])
    near = tree.query(middle, k=min(8, len(chosen)))[1].reshape(len(middle), -1)
    cosine = np.einsum("ni,nki->nk", normal, places.normal[chosen][near])
    return near[np.arange(len(near)), np.argmax(cosine > OPPOSITE, axis=1)]


def _middles(
    owner: Index, middle: Array, weight: Array, fixed: int, count: int
) -> tuple[Index, Array]:
    """The points that may move, and the centre of the region that each of them owns."""
    total = np.bincount(owner, weight, minlength=count)
    held = fixed + np.flatnonzero(total[fixed:] > 0.0)
    sums = [np.bincount(owner, weight * middle[:, i], minlength=count)[held] for i in range(3)]
    return held, np.column_stack(sums) / total[held, None]

"""Triangulated spheres: icosahedra cut finer and finer, and spheres of any number of vertices."""

from __future__ import annotations

import math

import numpy as np
import scipy

from alight.core.errors import InputError
from alight.shapes.integrity.arrays import FloatArray, IntArray
from alight.shapes.integrity.topology import find_edges
from alight.shapes.mesh import Mesh

#: Five million facets; finer spheres are surely a slip.
_DEEPEST = 9

# Those of the hull of the icosahedron, in the order of ``_hull_faces``, which takes long to load.
_FACES = (
    (0, 1, 4), (0, 4, 8), (0, 6, 1), (0, 8, 9), (0, 9, 6), (1, 6, 11), (1, 10, 4), (1, 11, 10),
    (2, 3, 7), (2, 5, 3), (2, 7, 9), (2, 8, 5), (2, 9, 8), (3, 5, 10), (3, 10, 11), (3, 11, 7),
    (4, 5, 8), (4, 10, 5), (6, 7, 11), (6, 9, 7),
)  # fmt: skip


def icosphere(subdivisions: int, radius: float = 1.0) -> Mesh:
    """An icosahedron whose facets are cut in four ``subdivisions`` times, vertices on a sphere.

    It has 10 * 4**subdivisions + 2 vertices and 20 * 4**subdivisions facets; the coordinate axes
    are two-fold axes, through edge midpoints of the icosahedron.

    Args:
        subdivisions: How many times to cut, 0 to 9.
        radius: Distance of the vertices from the origin [m].
    """
    if isinstance(subdivisions, bool) or not isinstance(subdivisions, int | np.integer):
        raise InputError(f"subdivisions must be a whole number, not {subdivisions!r}.")
    if not 0 <= subdivisions <= _DEEPEST:
        raise InputError(f"subdivisions must be from 0 to {_DEEPEST}, not {subdivisions}.")
    _require_radius(radius)
    vertices, faces = _icosahedron()
    for _ in range(subdivisions):
        vertices, faces = _cut_in_four(vertices, faces)
    # Whole by how it is made: looking takes longer than making it.
    return Mesh(vertices * radius, faces, check=False)


def sphere_points_mesh(n_vertices: int, radius: float = 1.0) -> Mesh:
    """A nearly even sphere of exactly ``n_vertices``: an icosphere where there is one, else the
    convex hull of a Fibonacci lattice.

    Args:
        n_vertices: Number of vertices, at least 4.
        radius: Distance of the vertices from the origin [m].
    """
    if isinstance(n_vertices, bool) or not isinstance(n_vertices, int | np.integer):
        raise InputError(f"n_vertices must be a whole number, not {n_vertices!r}.")
    if n_vertices < 4:
        raise InputError(f"a solid has at least 4 vertices, not {n_vertices}.")
    cuts = math.log((n_vertices - 2) / 10, 4) if n_vertices >= 12 else -1.0
    if cuts >= 0 and 10 * 4 ** round(cuts) + 2 == n_vertices:
        return icosphere(round(cuts), radius)
    _require_radius(radius)
    points = _fibonacci(int(n_vertices))
    return Mesh(points * radius, _hull_faces(points))


def _require_radius(radius: float) -> None:
    if not (math.isfinite(radius) and radius > 0.0):
        raise InputError(f"the radius of a sphere must be positive and finite, not {radius} m.")


def _icosahedron() -> tuple[FloatArray, IntArray]:
    """The twelve vertices (0, +-1, +-phi) and their cyclic shifts, on the unit sphere."""
    phi = (1.0 + math.sqrt(5.0)) / 2.0
    plane = [(0.0, y, z) for z in (phi, -phi) for y in (1.0, -1.0)]
    corners = np.array([np.roll(p, shift) for shift in range(3) for p in plane])
    vertices = corners / math.hypot(1.0, phi)
    return vertices, np.array(_FACES, dtype=np.int32)


def _cut_in_four(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    """Split every edge at its middle, pushed out to the unit sphere."""
    table = find_edges(faces)
    middles = vertices[table.edges].sum(axis=1)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    middle = np.empty(faces.size, dtype=np.int32)
    edge_of = np.repeat(np.arange(len(table.edges)), table.counts)
    middle[table.half_edges] = len(vertices) + edge_of
    a, b, c = faces.T
    ab, bc, ca = middle.reshape(-1, 3).T
    parts = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    finer = np.stack([np.column_stack(p) for p in parts], axis=1).reshape(-1, 3)
    return np.concatenate([vertices, middles]), finer


def _fibonacci(n: int) -> FloatArray:
    """``n`` points on the unit sphere, equal steps in z, turning by the golden angle."""
    k = np.arange(n)
    z = 1.0 - (2.0 * k + 1.0) / n
    turn = k * (math.pi * (3.0 - math.sqrt(5.0)))
    across = np.sqrt(1.0 - z * z)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), z])


def _hull_faces(points: FloatArray) -> IntArray:
    """Outward triangles of the convex hull of points on a sphere, in a fixed order."""
    hull = scipy.spatial.ConvexHull(points)
    faces = hull.simplices.astype(np.int32)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    # Start each facet at its lowest vertex, then sort: the hull's own order is not specified.
    start = np.argmin(faces, axis=1)
    faces = np.take_along_axis(faces, (start[:, None] + np.arange(3)) % 3, axis=1)
    return np.ascontiguousarray(faces[np.lexsort(faces.T[::-1])])

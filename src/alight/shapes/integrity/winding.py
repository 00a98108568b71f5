"""Is a point inside? The winding number: the solid angle that the surface fills around it."""

from __future__ import annotations

import numpy as np

from alight.shapes.integrity.arrays import BoolArray, FloatArray, IntArray

#: Pairs of point and facet handled at a time; bounds the memory to some tens of megabytes.
_PAIRS = 1 << 18


def winding_numbers(points: FloatArray, vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Turns of the surface around each point: 1 inside, 0 outside, 1/2 on a facet.

    Each facet adds its solid angle, 2 atan2(a . (b x c), abc + c a.b + a b.c + b c.a) with a, b, c
    its corners seen from the point (van Oosterom and Strackee, 1983).
    """
    corners = np.ascontiguousarray(vertices[faces].transpose(1, 2, 0))
    per_block = max(1, _PAIRS // len(faces))
    total = np.empty(len(points))
    for i in range(0, len(points), per_block):
        total[i : i + per_block] = _solid_angles(points[i : i + per_block], corners)
    return total / (4.0 * np.pi)


def _solid_angles(points: FloatArray, corners: FloatArray) -> FloatArray:
    a, b, c = (corner[:, None, :] - points.T[:, :, None] for corner in corners)
    la, lb, lc = (np.sqrt(_dot(x, x)) for x in (a, b, c))
    volume = (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    below = la * lb * lc + _dot(a, b) * lc + _dot(b, c) * la + _dot(c, a) * lb
    return 2.0 * np.arctan2(volume, below).sum(axis=1)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def contains(points: FloatArray, vertices: FloatArray, faces: IntArray) -> BoolArray:
    """Which points lie inside a closed mesh; those outside its bounding box are known at once."""
    inside = ((points >= vertices.min(axis=0)) & (points <= vertices.max(axis=0))).all(axis=1)
    near = np.flatnonzero(inside)
    inside[near] = winding_numbers(points[near], vertices, faces) > 0.5
    return inside

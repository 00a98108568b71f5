"""Plain solids that parts of landers are made of: vertices and faces, counter-clockwise outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from alight.core import frames
from alight.core.checks import Array
from alight.shapes.icosphere import icosphere

#: Vertices (V, 3) [m] and faces (F, 3).
Solid = tuple[Array, Any]

#: Corners of the section of a rod, and of a disc.
CORNERS, ROUND = 6, 24

_SIGNS = np.array([[i, j, k] for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)])


def convex(points: Array) -> Solid:
    """The convex hull of points that span a volume."""
    found = scipy.spatial.ConvexHull(points)
    faces = found.simplices.astype(np.int64)
    corner = points[faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    inward = (normal * found.equations[:, :3]).sum(axis=1) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return points, faces


def ball(middle: Array, radius: float) -> Solid:
    """A ball."""
    made = icosphere(2, radius)
    return middle + made.vertices, np.asarray(made.faces, np.int64)


def box(middle: Array, axes: Array, half: Array) -> Solid:
    """A box, ``axes`` (3, 3) as columns and half its sides along them."""
    return convex(middle + (_SIGNS * half) @ axes.T)


def rod(start: Array, end: Array, radius: float, corners: int = CORNERS) -> Solid:
    """A closed prism of ``radius`` [m] between two points."""
    return cone(start, end, radius, radius, corners)


def disc(middle: Array, axis: Array, radius: float, height: float) -> Solid:
    """A cylinder about an axis, half its height on either side of its middle."""
    half = 0.5 * height * axis / np.linalg.norm(axis)
    return rod(middle - half, middle + half, radius, ROUND)


def cone(start: Array, end: Array, first: float, last: float, corners: int = CORNERS) -> Solid:
    """A closed prism between two points, of one radius at the start and another at the end."""
    R = frames.local_frame(end - start)
    angle = 2.0 * np.pi * np.arange(corners) / corners
    across = np.cos(angle)[:, None] * R[:, 0] + np.sin(angle)[:, None] * R[:, 1]
    vertices = np.concatenate([start + first * across, end + last * across, [start, end]])
    k, n = np.arange(corners), corners
    after = (k + 1) % n
    foot, top = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    sides = [
        (k, after, n + after),
        (k, n + after, n + k),
        (after, k, foot),
        (n + k, n + after, top),
    ]
    return vertices, np.concatenate([np.stack(s, axis=1) for s in sides])


def together(solids: Sequence[Solid]) -> Solid:
    """Several solids as one."""
    start = np.cumsum([0, *(len(v) for v, _ in solids[:-1])])
    faces = np.concatenate([np.asarray(f) + k for (_, f), k in zip(solids, start, strict=True)])
    return np.concatenate([v for v, _ in solids]), faces

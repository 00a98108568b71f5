"""Hulls of simple landers as closed meshes, centred on the origin [m].

Prisms and cylinders stand along z. No vertex is added that is not a corner of the shape: the
vertices are what touches the ground first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array, checked_number, checked_whole
from alight.core.errors import InputError
from alight.shapes import Mesh, icosphere

#: Cuts of the icosahedron that stands for a sphere: 642 vertices, within 0.3 % of its radius.
SPHERE_CUTS = 3


def box(size: npt.ArrayLike) -> Mesh:
    """A box with sides ``size`` along x, y, z [m]."""
    half = 0.5 * side_lengths(size)
    # Corner k has bit 0 for +x, bit 1 for +y, bit 2 for +z.
    signs = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])
    rings = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = [face for a, b, c, d in rings for face in ((a, b, c), (a, c, d))]
    return Mesh(signs * half, faces)


def side_lengths(size: npt.ArrayLike) -> Array:
    """Three positive lengths [m]."""
    sides = np.asarray(size, dtype=object).ravel().tolist()
    if len(sides) != 3:
        raise InputError(f"the size of a box is {size!r}; it must be three lengths x, y, z [m].")
    return np.array([checked_number("a side of the box [m]", side) for side in sides])


def prism(sides: int, diameter: float, height: float) -> Mesh:
    """A regular prism of ``sides`` about z; ``diameter`` of the circle through its corners [m].

    A corner points along x. Vertices: the lower ring, then the upper one.
    """
    n = checked_whole("the number of sides of a prism", sides, 3)
    radius = 0.5 * checked_number("the diameter of a prism [m]", diameter)
    half = 0.5 * checked_number("the height of a prism [m]", height)
    turn = 2.0 * np.pi * np.arange(n) / n
    ring = np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])
    lower = np.column_stack([ring, np.full(n, -half)])
    upper = np.column_stack([ring, np.full(n, half)])
    return Mesh(np.concatenate([lower, upper]), _prism_faces(n))


def _prism_faces(n: int) -> list[tuple[int, int, int]]:
    """Triangles of a prism whose rings are vertices 0 .. n-1 and n .. 2n-1."""
    faces = []
    for k in range(n):
        after = (k + 1) % n
        faces += [(k, after, n + after), (k, n + after, n + k)]
    for a, b, c in _zigzag(n):
        faces += [(a, c, b), (n + a, n + b, n + c)]
    return faces


def _zigzag(n: int) -> list[tuple[int, int, int]]:
    """Triangles that fill a ring of ``n`` from one end to the other, without a vertex inside."""
    low, high = 0, n - 1
    faces = []
    while high - low > 1:
        faces.append((low, low + 1, high))
        low += 1
        if high - low > 1:
            faces.append((low, high - 1, high))
            high -= 1
    return faces


def sphere(diameter: float) -> Mesh:
    """A fine icosphere with its vertices on the sphere of ``diameter`` [m]."""
    return icosphere(SPHERE_CUTS, 0.5 * checked_number("the diameter of a sphere [m]", diameter))

"""The shape of rocks: icosahedra with their vertices moved in and out, convex whatever the draw.

Vertex i of a unit icosahedron goes out to 1 + r_i with |r_i| <= roughness. An edge stays convex
while the way out along it is longer than along the line between the two vertices across, which is
1/golden ratio of it in the regular one. At worst that is (1 - r) > (1 + r) / golden ratio: up to a
roughness of sqrt(5) - 2 every rock is convex, with the 20 faces of the icosahedron. Stretching it
along its axes changes nothing about that.

Rocks would all look alike if a vertex pointed up in each: the icosahedron stands in one of
``TURNS`` attitudes, drawn once and for all. Seen from above a rock hides on average as much
ground as the ellipsoid of its axes does.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from alight.core import random
from alight.core.checks import Array
from alight.core.frames import quat_normalize, quat_rotate
from alight.shapes.icosphere import icosphere
from alight.surfaces.facets.triangles import owned_features

#: Attitudes of the icosahedron, a power of two.
TURNS = 64

VERTICES, FACES = 12, 20


@functools.cache
def icosahedron() -> tuple[Array, npt.NDArray[np.int32]]:
    """(12, 3) vertices of unit length and (20, 3) faces, counter-clockwise from outside."""
    mesh = icosphere(0)
    return mesh.vertices, mesh.faces


@functools.cache
def owned() -> tuple[int, ...]:
    """Of each face, the bits of the vertices and edges that it answers for, and of ridges."""
    return tuple(int(bits) for bits in owned_features(icosphere(0)))


@functools.cache
def turned() -> Array:
    """(TURNS, 12, 3) vertices of the icosahedron in its attitudes."""
    numbers = random.normal(0, np.arange(TURNS), "rock attitude", 4)
    points, _ = icosahedron()
    return np.asarray(quat_rotate(quat_normalize(numbers)[:, None], points))


@functools.cache
def templates(roughness: float) -> Array:
    """(TURNS, 12, 3) attitudes, as large as it takes for the mean shadow to be that of a ball.

    The shadow of unit axes along z, over all attitudes and moves of vertices, is pi on average.
    """
    draws = 64
    u = random.uniform(0, np.arange(TURNS), "rock shadow", draws * VERTICES)
    moved = 1.0 + roughness * (2.0 * u.reshape(TURNS, draws, VERTICES, 1) - 1.0)
    shadow = shadow_area(moved * turned()[:, None]).mean()
    return np.asarray(turned() * math.sqrt(math.pi / float(shadow)))


def shadow_area(vertices: Array) -> Array:
    """(...) area [m^2] that rocks with vertices (..., 12, 3) [m] hide, seen along z."""
    a, b, c = np.moveaxis(vertices[..., icosahedron()[1], :2], -2, 0)
    one, two = b - a, c - a
    return np.asarray(
        0.25 * np.abs(one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0]).sum(axis=-1)
    )


def buried_share(low: float, high: float) -> float:
    """Widest section above ground over that of the whole ellipsoid, 1 if it is not sunk by half.

    For a sunk part of the height uniform from ``low`` to ``high``; a section at b is 4 b (1 - b).
    """

    def integral(b: float) -> float:
        beyond = max(b, 0.5)
        return min(b, 0.5) + 2.0 * (beyond**2 - 0.25) - 4.0 / 3.0 * (beyond**3 - 0.125)

    if high - low < 1e-9:
        return min(1.0, 4.0 * low * (1.0 - low)) if low > 0.5 else 1.0
    return (integral(high) - integral(low)) / (high - low)

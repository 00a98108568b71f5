"""Ground that can be asked for distances without tables or kernels: for checks before a run."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from alight.core.checks import Array
from alight.shapes import Mesh
from alight.shapes.integrity.winding import winding_numbers
from alight.shapes.rays import first_hit

#: Distances change by no more than the way.
_EVEN = SimpleNamespace(slope=1.0)


@dataclass
class PlaneProbe:
    """Flat ground."""

    point: Array
    normal: Array
    bounds: ClassVar = _EVEN

    def query(self, points: Array, device: str = "cpu") -> tuple[Array, Array]:
        """Distances (n,) [m] and normals (n, 3)."""
        unit = self.normal / np.linalg.norm(self.normal)
        return (points - self.point) @ unit, np.broadcast_to(unit, points.shape)


@dataclass
class SphereProbe:
    """A sphere about the origin."""

    radius: float
    bounds: ClassVar = _EVEN

    def query(self, points: Array, device: str = "cpu") -> tuple[Array, Array]:
        """Distances (n,) [m] and normals (n, 3)."""
        r = np.linalg.norm(points, axis=1)
        return r - self.radius, points / np.maximum(r, 1e-300)[:, None]


class MeshProbe:
    """A mesh, every facet looked at for every point: some thousands of facets in a millisecond."""

    bounds: ClassVar = _EVEN

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self._corners = mesh.vertices[mesh.faces]

    def query(self, points: Array, device: str = "cpu") -> tuple[Array, Array]:
        """Distances (n,) [m], negative inside, and normals (n, 3)."""
        inside = winding_numbers(points, self.mesh.vertices, self.mesh.faces) > 0.5
        nearest = np.array([self._nearest(p) for p in points])
        away = points - nearest
        distance = np.linalg.norm(away, axis=1) * np.where(inside, -1.0, 1.0)
        flat = np.where(distance == 0.0, 1.0, distance)
        return distance, away / flat[:, None]

    def outermost(self, up: Array) -> Array:
        """(n,) distances [m] from the origin at which rays along ``up`` meet it from outside."""
        far = 2.0 * self.mesh.bounding_radius
        return np.asarray(far - first_hit(self.mesh, far * up, -up))

    def _nearest(self, point: Array) -> Array:
        """The point of the mesh that is nearest to ``point``."""
        found = closest_on_triangles(point, self._corners)
        return np.asarray(found[np.argmin(np.linalg.norm(found - point, axis=1))])


def closest_on_triangles(point: Array, corners: Array) -> Array:
    """(m, 3) on each triangle (m, 3, 3) the point nearest to ``point``.

    The foot of the perpendicular where it lies inside, else the nearest point of the three sides.
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    u, v, w = b - a, c - a, point - a
    uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
    wu, wv = _dot(w, u), _dot(w, v)
    flat = uu * vv - uv * uv
    safe = np.where(flat > 0.0, flat, 1.0)
    s, t = (vv * wu - uv * wv) / safe, (uu * wv - uv * wu) / safe
    foot = a + s[:, None] * u + t[:, None] * v
    inside = (flat > 0.0) & (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
    sides = np.stack([_on_side(point, *pair) for pair in ((a, b), (b, c), (c, a))])
    best = np.argmin(np.linalg.norm(sides - point, axis=2), axis=0)
    side = sides[best, np.arange(len(a))]
    return np.where(inside[:, None], foot, side)


def _on_side(point: Array, a: Array, b: Array) -> Array:
    way = b - a
    length = _dot(way, way)
    part = _dot(point - a, way) / np.where(length > 0.0, length, 1.0)
    return np.asarray(a + np.clip(part, 0.0, 1.0)[:, None] * way)


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", a, b))

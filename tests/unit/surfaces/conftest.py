"""Solids with known distances, and a distance to any mesh that shares no code with Alight."""

import numpy as np
import pytest

from alight.core import devices
from alight.shapes.mesh import Mesh

DEVICES = [device.name for device in devices.available()]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def extruded(outline, height):
    """A prism over an outline (n, 2), counter-clockwise, star-shaped about its first corner."""
    outline = np.asarray(outline, float)
    n = len(outline)
    low = np.column_stack([outline, np.zeros(n)])
    vertices = np.concatenate([low, low + np.array([0.0, 0.0, height])])
    fan = [(0, i, i + 1) for i in range(1, n - 1)]
    faces = [(a, c, b) for a, b, c in fan] + [(a + n, b + n, c + n) for a, b, c in fan]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, j + n), (i, j + n, i + n)]
    return Mesh(vertices, faces)


@pytest.fixture(scope="session")
def box():
    """A box of 4 x 6 x 8 m, its corner at the origin."""
    return extruded([(0, 0), (4, 0), (4, 6), (0, 6)], 8.0)


@pytest.fixture(scope="session")
def corner_block():
    """A block with a notch, 10 x 10 x 5 m: an inner edge (its fan starts at the inner corner)."""
    return extruded([(4, 4), (4, 10), (0, 10), (0, 0), (10, 0), (10, 4)], 5.0)


@pytest.fixture(scope="session")
def slit_block():
    """Two slabs 4 m thick with a slit of 1 m between them, joined at one end."""
    outline = [(4, 4), (4, 5), (20, 5), (20, 9), (0, 9), (0, 0), (20, 0), (20, 4)]
    vertices = np.array(outline, float)
    n = len(vertices)
    low = np.column_stack([vertices, np.zeros(n)])
    both = np.concatenate([low, low + np.array([0.0, 0.0, 12.0])])
    cap = [(0, 1, 5), (1, 4, 5), (1, 2, 4), (2, 3, 4), (0, 5, 6), (0, 6, 7)]
    # The outline runs clockwise: caps and walls are turned accordingly.
    cap = [t if _area(vertices[list(t)]) > 0 else t[::-1] for t in cap]
    faces = [t[::-1] for t in cap] + [tuple(i + n for i in t) for t in cap]
    turn = 1 if _polygon_area(vertices) > 0 else -1
    for i in range(n):
        j = (i + 1) % n
        wall = [(i, j, j + n), (i, j + n, i + n)]
        faces += wall if turn > 0 else [t[::-1] for t in wall]
    return Mesh(both, faces)


def _area(t):
    return np.linalg.det(np.column_stack([t[1] - t[0], t[2] - t[0]]))


def _polygon_area(p):
    x, y = p.T
    return 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))


def brute_distance(mesh, points):
    """Distance to every triangle: inside the prism over it that to its plane, else to its edges."""
    best = np.full(len(points), np.inf)
    for corner in mesh.vertices[mesh.faces]:
        normal = np.cross(corner[1] - corner[0], corner[2] - corner[0])
        normal /= np.linalg.norm(normal)
        height = (points - corner[0]) @ normal
        over = np.ones(len(points), bool)
        edge_gap = np.full(len(points), np.inf)
        for a, b in zip(corner, np.roll(corner, -1, axis=0), strict=True):
            over &= (points - a) @ np.cross(normal, b - a) >= 0.0
            s = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            gap = np.linalg.norm(points - a - s[:, None] * (b - a), axis=1)
            edge_gap = np.minimum(edge_gap, gap)
        best = np.minimum(best, np.where(over, np.abs(height), edge_gap))
    return best


@pytest.fixture(scope="session")
def brute():
    """Signed distance by brute force; the sign by winding number."""

    def signed(mesh, points):
        return np.where(mesh.contains(points), -1.0, 1.0) * brute_distance(mesh, points)

    return signed

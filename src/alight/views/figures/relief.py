"""Ground as a grid of heights: a mesh of it, and its relief seen from straight above."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array
from alight.shapes.mesh import Mesh
from alight.views.figures.solid import Camera, Light, Picture, View, sky_view

#: Straight above a grid: its x to the right, its y up.
OVERHEAD = Camera(-0.5 * np.pi, 0.5 * np.pi)

#: A Sun 32 degrees high in the upper left, as on maps, and light that keeps its shadows readable.
SUN = np.array([-0.6, 0.6, 0.53])
LIGHT = Light(sun=1.05, fill=0.06, sky=0.34)

#: Pixels along a relief.
PIXELS = 540


def grid_faces(rows: int, columns: int) -> npt.NDArray[np.int64]:
    """(2 cells, 3) triangles over the points of a grid, counter-clockwise from above."""
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b = index[:-1, :-1].ravel(), index[:-1, 1:].ravel()
    c, d = index[1:, 1:].ravel(), index[1:, :-1].ravel()
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def grid_mesh(line: Array, height: Array) -> Mesh:
    """A mesh over ``line`` by ``line`` [m], with holes where the height is nan."""
    x, y = np.meshgrid(line, line)
    points = np.stack([x, y, height], axis=2).reshape(-1, 3)
    faces = grid_faces(*height.shape)
    faces = faces[np.isfinite(points[:, 2])[faces].all(axis=1)]
    used, faces = np.unique(faces, return_inverse=True)
    # A piece of ground is no closed surface, which a picture does not need.
    return Mesh(points[used], faces.reshape(-1, 3), check=False)


def relief(line: Array, height: Array, pixels: int = PIXELS) -> Picture:
    """The ground seen from above, lit from the upper left, with the shadows that it casts."""
    mesh = grid_mesh(line, height)
    half = float(line[-1])
    view = View(
        mesh, OVERHEAD, pixels=pixels, sky=sky_view(mesh, above=True), sun=SUN,
        window=(-half, half, -half, half),
    )  # fmt: skip
    return view.picture(light=LIGHT)

"""Depth buffers: which facet of a mesh is foremost at each pixel of a parallel view, and how deep.

A view of a million pixels and the fifty small ones of a sky each are one launch of a kernel, on the
CPU wherever the runs were computed.
"""

import numpy as np
import warp as wp

from alight.analysis.columns import Array
from alight.core import devices
from alight.core.types import mat33, scalar, vec3
from alight.shapes.mesh import Mesh

#: By so much of a facet a pixel may lie beside it: none slips between two facets.
SLACK = 1e-9


@wp.struct
class DepthData:
    """A depth buffer as kernels read it."""

    axes: mat33
    """Rows: right, up, toward the viewer."""
    left: scalar
    bottom: scalar
    pixel: scalar
    """[m]"""
    depth: wp.array(dtype=scalar, ndim=2)
    """(rows, columns) -inf where there is nothing."""
    facet: wp.array(dtype=wp.int32, ndim=2)
    """(rows, columns) -1 where there is nothing."""
    planes: wp.array(dtype=scalar, ndim=2)
    """(m, 9) what varies linearly over each facet, the shares of its second and third corner and
    its depth: the constants, the changes per column, and those per row."""


@wp.func
def corner_shares(data: DepthData, facet: int, row: int, column: int) -> vec3:
    """Shares of the second and third corner of a facet at a pixel, and its depth there."""
    x = scalar(column)
    y = scalar(row)
    return vec3(
        data.planes[facet, 0] + data.planes[facet, 3] * x + data.planes[facet, 6] * y,
        data.planes[facet, 1] + data.planes[facet, 4] * x + data.planes[facet, 7] * y,
        data.planes[facet, 2] + data.planes[facet, 5] * x + data.planes[facet, 8] * y,
    )


@wp.func
def lit_share(data: DepthData, point: vec3, normal: vec3) -> scalar:
    """How much of the light along the third axis reaches a point of the surface, 0 to 1.

    It is lifted off by some pixels, which the buffer cannot tell apart, and four neighbouring
    pixels are blended.
    """
    lifted = data.axes * (point + scalar(2.0) * data.pixel * normal)
    x = (lifted[0] - data.left) / data.pixel - scalar(0.5)
    y = (lifted[1] - data.bottom) / data.pixel - scalar(0.5)
    column = int(wp.floor(x))
    row = int(wp.floor(y))
    right = x - scalar(column)
    up = y - scalar(row)
    light = scalar(0.0)
    for i in range(2):
        for j in range(2):
            r = wp.clamp(row + j, 0, data.depth.shape[0] - 1)
            c = wp.clamp(column + i, 0, data.depth.shape[1] - 1)
            share = wp.abs(scalar(1 - i) - right) * wp.abs(scalar(1 - j) - up)
            if lifted[2] >= data.depth[r, c] - data.pixel:
                light += share
    return light


@wp.kernel(enable_backward=False)
def _planes(
    offset: int,
    data: DepthData,
    faces: wp.array(dtype=wp.int32, ndim=2),
    vertex: wp.array(dtype=vec3),
    box_out: wp.array(dtype=wp.int32, ndim=2),
) -> None:
    """Row of a facet in ``DepthData.planes``; first and last column and row that it can reach."""
    i = wp.tid() + offset
    half = scalar(0.5)
    corner = wp.matrix(shape=(3, 3), dtype=scalar)
    for k in range(3):
        seen = data.axes * vertex[faces[i, k]]
        # In pixels, pixel centres at whole numbers.
        corner[k] = vec3(
            (seen[0] - data.left) / data.pixel - half,
            (seen[1] - data.bottom) / data.pixel - half,
            seen[2],
        )
    one = corner[1] - corner[0]
    two = corner[2] - corner[0]
    area = one[0] * two[1] - one[1] * two[0]
    for k in range(2):
        size = data.depth.shape[1 - k]
        low = wp.min(corner[0][k], wp.min(corner[1][k], corner[2][k]))
        high = wp.max(corner[0][k], wp.max(corner[1][k], corner[2][k]))
        # Cut off before it becomes a whole number: a facet may reach far beside the picture.
        box_out[i, k] = int(wp.ceil(wp.clamp(low, scalar(0.0), scalar(size))))
        box_out[i, k + 2] = int(wp.floor(wp.clamp(high, scalar(-1.0), scalar(size - 1))))
    if area <= scalar(0.0):  # seen from behind, or edge on
        box_out[i, 2] = -1
        return
    for k in range(3):
        column = two[1]
        row = -two[0]
        start = scalar(0.0)
        if k == 1:
            column = -one[1]
            row = one[0]
        if k == 2:
            column = two[1] * one[2] - one[1] * two[2]
            row = one[0] * two[2] - two[0] * one[2]
            start = corner[0][2]
        column /= area
        row /= area
        data.planes[i, k] = start - column * corner[0][0] - row * corner[0][1]
        data.planes[i, k + 3] = column
        data.planes[i, k + 6] = row


@wp.kernel(enable_backward=False)
def _foremost(
    offset: int, data: DepthData, box: wp.array(dtype=wp.int32, ndim=2), slack: scalar
) -> None:
    """Draws all facets in turn: one item, as two facets may want the same pixel."""
    one = scalar(1.0) + slack
    for facet in range(box.shape[0]):
        for row in range(box[facet, 1], box[facet, 3] + 1):
            for column in range(box[facet, 0], box[facet, 2] + 1):
                found = corner_shares(data, facet, row, column)
                inside = found[0] >= -slack and found[1] >= -slack and found[0] + found[1] <= one
                if inside and found[2] >= data.depth[row, column]:
                    data.depth[row, column] = found[2]
                    data.facet[row, column] = facet


@wp.kernel(enable_backward=False)
def _visible(
    offset: int,
    data: DepthData,
    point: wp.array(dtype=vec3),
    normal: wp.array(dtype=vec3),
    light_out: wp.array(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    light_out[i] = lit_share(data, point[i], normal[i])


class DepthBuffer:
    """The depth buffer of a body seen along the third of ``axes``."""

    def __init__(
        self,
        mesh: Mesh,
        axes: Array,
        pixels: int,
        window: tuple[float, float, float, float] | None = None,
    ) -> None:
        """Draw the facets of ``mesh`` that face the viewer.

        Args:
            mesh: The body.
            axes: (3, 3) rows: right, up, toward the viewer.
            pixels: Along the longer side of what is seen.
            window: Left, right, bottom and top edge of it [m]; the whole body if not given.
        """
        low, high = _edges(mesh, axes) if window is None else np.reshape(window, (2, 2)).T
        self.pixel = float((high - low).max() / pixels)
        # What rounding leaves of the last pixel is not one more.
        across, up = np.ceil((high - low) / self.pixel * (1.0 - 1e-12))
        columns, rows = max(1, int(across)), max(1, int(up))
        right, top = low + self.pixel * np.array([columns, rows])
        self.extent = (float(low[0]), float(right), float(low[1]), float(top))
        self.depth = np.full((rows, columns), -np.inf)
        self.facet = np.full((rows, columns), -1, dtype=np.int32)
        self.data = self._data(axes, mesh.n_faces)
        self._draw(mesh)

    def _data(self, axes: Array, facets: int) -> DepthData:
        data = DepthData()
        data.axes = mat33(*axes.ravel())
        data.left, data.bottom, data.pixel = self.extent[0], self.extent[2], self.pixel
        # On the CPU an array of Warp and the one of NumPy that it is made from are one memory.
        data.depth = wp.array(self.depth, dtype=scalar, device="cpu", copy=False)
        data.facet = wp.array(self.facet, dtype=wp.int32, device="cpu", copy=False)
        data.planes = wp.empty((facets, 9), dtype=scalar, device="cpu")
        return data

    def _draw(self, mesh: Mesh) -> None:
        """Fill the buffer."""
        cpu = devices.resolve("cpu")
        faces = wp.array(mesh.faces, dtype=wp.int32, device="cpu")
        vertices = wp.array(mesh.vertices, dtype=vec3, device="cpu")
        box = wp.empty((mesh.n_faces, 4), dtype=wp.int32, device="cpu")
        given = [self.data, faces, vertices]
        devices.launch(_planes, mesh.n_faces, given, cpu, outputs=[box])
        devices.launch(_foremost, 1, [self.data, box, SLACK], cpu)

    def visible(self, points: Array, normals: Array) -> Array:
        """(n,) how much of the light along the axis reaches points of the surface, 0 to 1."""
        given = [wp.array(x, dtype=vec3, device="cpu") for x in (points, normals)]
        out = wp.empty(len(points), dtype=scalar, device="cpu")
        devices.launch(
            _visible, len(points), [self.data, *given], devices.resolve("cpu"), outputs=[out]
        )
        return out.numpy()


def _edges(mesh: Mesh, axes: Array) -> tuple[Array, Array]:
    """Lower left and upper right corner of all that is seen, and a little more."""
    points = mesh.vertices @ axes[:2].T
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.01 * (high - low).max()
    return low - margin, high + margin

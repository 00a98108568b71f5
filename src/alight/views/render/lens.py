"""Where a picture is seen from, and how wide: parallel, or with lines that converge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core.errors import InputError
from alight.views.render import tracing

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lens:
    """A place, axes, and the window that it sees."""

    eye: Array
    """(3,) [m]; in parallel views any point on the viewer's side of everything."""
    axes: Array
    """(3, 3) rows: right, up, toward the viewer."""
    left: float
    """Edges of the window: [m] in parallel views, else tangents of angles."""
    top: float
    pixel: float
    """Side of a pixel, in the same unit."""
    columns: int
    rows: int
    parallel: bool = False

    def data(self, origin: Array) -> tracing.Lens:
        """As kernels read it, about the origin of a scene."""
        made = tracing.Lens()
        made.eye = wp.vec3(*(self.eye - origin))
        made.right, made.up, made.ahead = (
            wp.vec3(*axis) for axis in (self.axes[0], self.axes[1], -self.axes[2])
        )
        made.left, made.top, made.pixel = self.left, self.top, self.pixel
        made.columns, made.parallel = self.columns, int(self.parallel)
        return made

    def project(self, points: npt.ArrayLike) -> tuple[Array, Array]:
        """(..., 2) column and row of points, from the upper left corner, and their distances from
        the eye along its rays [m]; nan behind it."""
        seen = (np.asarray(points, dtype=np.float64) - self.eye) @ self.axes.T
        ahead = -seen[..., 2]
        flat = seen[..., :2]
        distance = ahead
        if not self.parallel:
            ahead = np.where(ahead > 0.0, ahead, np.nan)
            flat = flat / ahead[..., None]
            distance = np.linalg.norm(seen, axis=-1)
        column = (flat[..., 0] - self.left) / self.pixel
        row = (self.top - flat[..., 1]) / self.pixel
        return np.stack([column, row], axis=-1), distance


def looking(
    eye: npt.ArrayLike,
    at: npt.ArrayLike,
    up: npt.ArrayLike,
    size: tuple[int, int] = (1280, 720),
    wide: float = np.radians(40.0),
) -> Lens:
    """A lens at ``eye`` that looks at a point; ``wide`` is the angle across the picture [rad]."""
    where, target = (np.asarray(x, dtype=np.float64) for x in (eye, at))
    columns, rows = size
    back = where - target
    if not np.linalg.norm(back) > 0.0:
        raise InputError("a camera cannot look at the point where it stands.")
    half = float(np.tan(0.5 * wide))
    pixel = 2.0 * half / columns
    return Lens(where, viewer_axes(back, up), -half, 0.5 * pixel * rows, pixel, columns, rows)


def viewer_axes(toward: npt.ArrayLike, up: npt.ArrayLike) -> Array:
    """(3, 3) rows right, up and toward the viewer, ``up`` as far up as it can be."""
    third = np.asarray(toward, dtype=np.float64)
    third = third / np.linalg.norm(third)
    right = np.cross(np.asarray(up, dtype=np.float64), third)
    if np.linalg.norm(right) < 1e-9 * max(1e-300, float(np.linalg.norm(np.asarray(up)))):
        right = np.cross(np.eye(3)[np.argmin(np.abs(third))], third)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(third, right), third])

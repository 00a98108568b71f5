"""AmplitudeMap: a factor that varies over a body, from a map in latitude and longitude.

The map is laid out in space: a cube around the body carries the map's value in the direction of
each of its nodes, smoothed by quadratic splines. So it is smooth across the date line and the
poles, its slope and curvature are bounded everywhere, and no arc tangent is taken in a kernel.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.surfaces.field.bricks import spline_slopes, spline_weights

#: Nodes across the body: 3 degrees of arc at its surface.
RESOLUTION = 40
#: Nodes beyond the body on each side, over which the map is carried on.
MARGIN = 12


@wp.struct
class Variation:
    """Values at the nodes of a cube."""

    origin: vec3  # corner of node (0, 0, 0) [m]
    per_spacing: scalar  # [1/m]
    nodes: int  # a side
    value: wp.array(dtype=wp.float32)


@wp.struct
class Factor:
    """A factor and its gradient [1/m]."""

    value: scalar
    gradient: vec3


@wp.func
def variation_at(data: Variation, x: vec3):
    """The factor at x; beyond the cube that at its nearest point."""
    most = scalar(data.nodes - 1) - scalar(1.0e-9)
    q = (x - data.origin) * data.per_spacing
    held = vec3(
        wp.clamp(q[0], scalar(1.0), most),
        wp.clamp(q[1], scalar(1.0), most),
        wp.clamp(q[2], scalar(1.0), most),
    )
    i = int(held[0])
    j = int(held[1])
    k = int(held[2])
    wx = spline_weights(held[0] - scalar(i))
    wy = spline_weights(held[1] - scalar(j))
    wz = spline_weights(held[2] - scalar(k))
    dx = spline_slopes(held[0] - scalar(i))
    dy = spline_slopes(held[1] - scalar(j))
    dz = spline_slopes(held[2] - scalar(k))
    found = Factor()
    for a in range(3):
        for b in range(3):
            at = ((i + a - 1) * data.nodes + j + b - 1) * data.nodes + k - 1
            v0 = scalar(data.value[at])
            v1 = scalar(data.value[at + 1])
            v2 = scalar(data.value[at + 2])
            r = wz[0] * v0 + wz[1] * v1 + wz[2] * v2
            found.value += wx[a] * wy[b] * r
            rz = dz[0] * v0 + dz[1] * v1 + dz[2] * v2
            found.gradient += vec3(dx[a] * wy[b] * r, wx[a] * dy[b] * r, wx[a] * wy[b] * rz)
    f = data.per_spacing
    zero = scalar(0.0)
    found.gradient = vec3(
        wp.where(held[0] == q[0], f * found.gradient[0], zero),
        wp.where(held[1] == q[1], f * found.gradient[1], zero),
        wp.where(held[2] == q[2], f * found.gradient[2], zero),
    )
    return found


class AmplitudeMap:
    """A factor on the amplitude, by latitude and longitude.

    Parameters
    ----------
    values:
        (rows, columns) factors of at least 0. Rows go from the south pole to the north pole, both
        included; columns go east from longitude 0 in equal steps, the last one step short of
        360 degrees.
    radius:
        Of a ball about the origin that holds the body [m]. The map is carried on half that far
        again beyond it.
    """

    def __init__(self, values: npt.ArrayLike, radius: float) -> None:
        try:
            table = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
            raise InputError(
                f"an amplitude map has shape {table.shape}; it must be a table of finite numbers, "
                "at least 2 latitudes by 2 longitudes"
            )
        if table.min() < 0.0:
            raise InputError(f"an amplitude map holds {table.min():g}; factors are at least 0")
        self.table, self.radius = table, checked_number("radius [m]", radius)
        self.spacing = 2.0 * self.radius / RESOLUTION
        self._nodes = RESOLUTION + 2 * MARGIN
        self._cube = self._laid_out()
        self._set_bounds()

    def _laid_out(self) -> npt.NDArray[np.float32]:
        axis = (np.arange(self._nodes) + 0.5 - 0.5 * self._nodes) * self.spacing
        x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
        latitude = np.arctan2(z, np.hypot(x, y))
        return self.at(latitude, np.arctan2(y, x)).astype(np.float32)

    def at(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> Array:
        """The map itself, linear between its entries, at angles [rad]."""
        rows, columns = self.table.shape
        up = (np.asarray(latitude) / np.pi + 0.5) * (rows - 1)
        east = np.mod(np.asarray(longitude) / (2.0 * np.pi), 1.0) * columns
        i = np.clip(np.floor(up).astype(int), 0, rows - 2)
        j = np.floor(east).astype(int) % columns
        s, t, following = up - i, east - np.floor(east), (j + 1) % columns
        low = self.table[i, j] * (1.0 - t) + self.table[i, following] * t
        high = self.table[i + 1, j] * (1.0 - t) + self.table[i + 1, following] * t
        return np.asarray(low * (1.0 - s) + high * s)

    def _set_bounds(self) -> None:
        """Derivatives of a spline are weighted means of differences of its coefficients."""
        v = self._cube.astype(np.float64)
        first = [np.abs(np.diff(v, axis=k)).max() for k in range(3)]
        second = [np.abs(np.diff(v, 2, axis=k)).max() for k in range(3)]
        pairs = ((0, 1), (0, 2), (1, 2))
        mixed = [np.abs(np.diff(np.diff(v, axis=a), axis=b)).max() for a, b in pairs]
        total = np.sum(np.square(second)) + 2.0 * np.sum(np.square(mixed))
        #: Largest factor.
        self.largest = float(v.max())
        #: Most that its gradient and second derivatives reach [1/m], [1/m^2].
        self.max_slope = float(np.linalg.norm(first)) / self.spacing
        self.max_curvature = float(np.sqrt(total)) / self.spacing**2

    def data(self, device: devices.Device) -> Any:
        """The cube on a device."""
        data = Variation()
        data.origin = vec3(*([-0.5 * self._nodes * self.spacing] * 3))
        data.per_spacing, data.nodes = 1.0 / self.spacing, self._nodes
        data.value = wp.array(self._cube.ravel(), dtype=wp.float32, device=device.name)
        return data

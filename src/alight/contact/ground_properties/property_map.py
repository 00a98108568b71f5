"""Ground whose properties vary over the body: the law's interface, and ``GroundMap``.

A law of the ground is given to ``Compliant(..., ground=...)``. It says what each place makes of the
contact law's own restitution, friction, static friction and rolling resistance (see ``local_law``).
Without one the ground is the same everywhere, and kernels contain nothing of this.
"""

import functools
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.ground_properties.local_law import PROPERTIES, GroundPoint
from alight.core import devices, frames
from alight.core.checks import Array, checked_points
from alight.core.errors import InputError, unknown_name
from alight.core.frames import wp_latitude_longitude
from alight.core.given import Given
from alight.core.types import scalar, vec3, vec4
from alight.core.warp_setup import POINT_OPTIONS

#: How far steps of a grid may differ from each other, and grids fall short of the whole body.
_EVEN = 1e-6


class GroundValues(NamedTuple):
    """What ``GroundLaw.evaluate`` returns: factors and values (n, 4), as in ``PROPERTIES``."""

    factor: Array
    value: Array


class Corner(NamedTuple):
    """An extreme of a law of the ground, for checks: (runs or 1, 4) each, and where it is."""

    factor: Array
    value: Array
    where: str


class GroundLaw(Given):
    """How the ground's properties vary, in the target-fixed frame.

    A subclass sets ``at``, a Warp function ``(data, row, x) -> GroundPoint`` of the place x [m] and
    the ``row`` of the run's parameters, and ``data(device)``; and ``corners``, so that what comes
    out of range is known before a run.
    """

    #: Warp function ``(data: Data, row: int, x: vec3) -> GroundPoint``.
    at: Any
    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any
    #: Those of ``PROPERTIES`` that it changes somewhere.
    varies: tuple[str, ...] = ()
    #: Runs that its values are given for; 1 where all are single numbers.
    count: int = 1

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct whose arrays live on ``device``."""
        raise NotImplementedError

    def corners(self) -> list[Corner]:
        """What a check must look at: the extremes of factors and values."""
        raise NotImplementedError

    def evaluate(self, points: npt.ArrayLike, row: int = 0, device: str = "auto") -> GroundValues:
        """Factors and values at points (n, 3) [m], for the run ``row``."""
        x = checked_points(np.atleast_2d(points), "the ground")
        target = devices.resolve(device)
        inputs = [self.data(target), row, devices.array(x, vec3, target)]
        kernel = _ground_kernel(self.at, self.Data)
        (found,) = devices.computed(kernel, len(x), inputs, [GroundPoint], target)
        return GroundValues(np.asarray(found["factor"]), np.asarray(found["value"]))


@functools.cache
def _ground_kernel(at: Any, data_type: Any) -> Any:
    """A kernel that evaluates one law at one place a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_ground(
        offset: int,
        data: data_type,
        row: int,
        points: wp.array(dtype=vec3),
        ground_out: wp.array(dtype=GroundPoint),
    ) -> None:
        i = wp.tid() + offset
        ground_out[i] = at(data, row, points[i])

    return evaluate_ground


# -- maps ------------------------------------------------------------------------------------------


@wp.struct
class GroundMapData:
    """Factors at the nodes of a grid; the first and the last row are the poles."""

    first: scalar  # latitude of the second row [rad]
    step: scalar  # between rows, those at the poles excepted [rad]
    inner: int  # rows between the poles
    west: scalar  # longitude of the first column [rad]
    per_step: scalar  # columns in a radian
    columns: int
    factor: wp.array2d(dtype=vec4)


@wp.func
def map_at(data: GroundMapData, row: int, x: vec3):
    """Linear in latitude and in longitude between the four nodes around ``x``."""
    zero = scalar(0.0)
    one = scalar(1.0)
    place = wp_latitude_longitude(x)
    quarter = wp.static(scalar(0.5 * np.pi))
    # Rows: the pole caps may be thinner than the others.
    i = wp.clamp(int(wp.floor((place[0] - data.first) / data.step)) + 1, 0, data.inner)
    low = data.first + scalar(i - 1) * data.step
    width = data.step
    if i == 0:
        low = -quarter
        width = data.first + quarter
    elif i == data.inner:
        width = quarter - low
    s = wp.clamp((place[0] - low) / width, zero, one)
    # Columns go round.
    across = (place[1] - data.west) * data.per_step
    turns = wp.floor(across / scalar(data.columns))
    across = across - turns * scalar(data.columns)
    j = wp.clamp(int(across), 0, data.columns - 1)
    t = wp.clamp(across - scalar(j), zero, one)
    k = j + 1
    if k == data.columns:
        k = 0
    # In this form equal nodes give exactly their value.
    a = data.factor[i, j]
    b = data.factor[i + 1, j]
    south = a + t * (data.factor[i, k] - a)
    north = b + t * (data.factor[i + 1, k] - b)
    found = GroundPoint()
    found.factor = south + s * (north - south)
    return found


class GroundMap(GroundLaw):
    """Factors on the contact law's values, by latitude and longitude, linear between nodes.

    Directions are seen from the origin of the target: on a body with overhangs, all that lies on
    one ray has one value. A pole is one place and has one value: that of its row, or the mean of
    the row next to it where the grid stops short of it.

    Parameters
    ----------
    factors:
        By property (of ``PROPERTIES``), tables (latitudes, longitudes) of factors: at least 0,
        above 0 for restitution. Where static friction is not given it goes with friction.
    latitudes, longitudes:
        Of rows and columns [rad], evenly spaced; no farther than a step from the poles, and all
        the way round. If not given: rows from the south pole to the north, both included, columns
        east from longitude 0, the last one a step short of 360 degrees.
    """

    Data = GroundMapData
    at = map_at

    def __init__(
        self,
        factors: Mapping[str, npt.ArrayLike],
        latitudes: npt.ArrayLike | None = None,
        longitudes: npt.ArrayLike | None = None,
    ) -> None:
        tables = {name: _checked_table(name, table) for name, table in factors.items()}
        if not tables or len({t.shape for t in tables.values()}) > 1:
            raise InputError(
                "a ground map needs tables of equal shape, such as {'friction': [[1.0, 0.5], ...]};"
                f" got {', '.join(f'{n} {t.shape}' for n, t in tables.items()) or 'none'}."
            )
        rows, columns = next(iter(tables.values())).shape
        self.varies = tuple(name for name in PROPERTIES if name in tables)
        if "friction" in tables:
            tables.setdefault("static_friction", tables["friction"])
        whole = np.stack([tables.get(n, np.ones((rows, columns))) for n in PROPERTIES], axis=-1)
        if latitudes is None:
            latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rows)
        if longitudes is None:
            longitudes = 2.0 * np.pi * np.arange(columns) / columns
        whole, lat = _northward(whole, _checked_axis("latitudes", latitudes, rows))
        whole, lon = _once_round(whole, _checked_axis("longitudes", longitudes, columns))
        self.table, self.latitudes = _with_poles(whole, lat)
        self.longitudes = lon
        self._step = float((lat[-1] - lat[0]) / (len(lat) - 1))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> "GroundMap":
        """The map in a CSV or NPZ file (see docs/explanation/contact.md)."""
        from alight.contact.ground_properties.map_file import read_map

        return read_map(path)

    def data(self, device: devices.Device) -> Any:
        """The grid on a device."""
        data = GroundMapData()
        data.first, data.step = float(self.latitudes[1]), self._step
        data.inner, data.columns = len(self.latitudes) - 2, len(self.longitudes)
        data.west, data.per_step = float(self.longitudes[0]), data.columns / (2.0 * np.pi)
        data.factor = wp.array(self.table, dtype=vec4, device=device.name)
        return data

    @property
    def nodes(self) -> Array:
        """(n, 3) unit vectors to the nodes."""
        lat, lon = np.meshgrid(self.latitudes, self.longitudes, indexing="ij")
        return frames.direction(lat.ravel(), lon.ravel())

    def corners(self) -> list[Corner]:
        """Nodes with the extremes."""
        found = []
        for row in extremes(self.table.reshape(-1, 4)):
            i, j = np.unravel_index(row, self.table.shape[:2])
            place = np.degrees([self.latitudes[i], self.longitudes[j]])
            where = f"at latitude {place[0]:.6g} deg, longitude {place[1]:.6g} deg of the map"
            found.append(Corner(self.table[i, j][None], np.zeros((1, 4)), where))
        return found

    def __repr__(self) -> str:
        shape = f"{len(self.latitudes)} latitudes by {len(self.longitudes)} longitudes"
        return f"GroundMap({', '.join(self.varies)}: {shape})"


def extremes(factor: Array) -> list[int]:
    """Rows of ``factor`` (n, 4) that are extreme in what a check asks for."""
    e, sliding, sticking = factor[:, 0], factor[:, 1], factor[:, 2]
    ratio = sliding / np.maximum(sticking, 1e-300)
    picks = (e.argmax(), e.argmin(), sliding.argmax(), sticking.argmin(), ratio.argmax())
    return sorted({int(k) for k in picks})


def _checked_table(name: str, table: npt.ArrayLike) -> Array:
    if name not in PROPERTIES:
        raise unknown_name("property of the ground", str(name), PROPERTIES)
    try:
        found = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or len(found) < 2 or not found.size:
        raise InputError(
            f"{name} of a ground map has shape {found.shape}; it must be a table of numbers, at "
            "least 2 latitudes by 1 longitude."
        )
    above = name == "restitution"
    bad = ~np.isfinite(found) | ((found <= 0.0) if above else (found < 0.0))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InputError(
            f"{name} of a ground map is {found[i, j]:g} in row {i + 1}, column {j + 1}; factors "
            f"must be finite and {'above 0' if above else 'at least 0'}."
        )
    return found


def _checked_axis(name: str, values: npt.ArrayLike, count: int) -> Array:
    axis = np.asarray(values, dtype=np.float64)
    if axis.shape != (count,) or not np.isfinite(axis).all():
        raise InputError(
            f"{name} of a ground map have shape {axis.shape}; they must be {count} finite angles "
            "[rad], one for each row or column of its tables."
        )
    steps = np.diff(axis)
    if count > 1 and (np.ptp(steps) > _EVEN * np.abs(steps).max() or np.abs(steps).min() == 0.0):
        raise InputError(
            f"{name} of a ground map are not evenly spaced: steps are between "
            f"{np.degrees(steps.min()):.6g} and {np.degrees(steps.max()):.6g} deg."
        )
    return axis


def _northward(table: Array, lat: Array) -> tuple[Array, Array]:
    """Rows from south to north, close enough to both poles."""
    if lat[-1] < lat[0]:
        table, lat = table[::-1], lat[::-1]
    step = (lat[-1] - lat[0]) / (len(lat) - 1)
    top, edge = 0.5 * np.pi, step * (1.0 + _EVEN)
    if lat[0] < -top * (1.0 + _EVEN) or lat[-1] > top * (1.0 + _EVEN):
        raise InputError(
            f"latitudes of a ground map go from {np.degrees(lat[0]):.6g} to "
            f"{np.degrees(lat[-1]):.6g} deg; they must lie between -90 and 90."
        )
    if lat[0] + top > edge or top - lat[-1] > edge:
        raise InputError(
            f"a ground map does not cover the body: its latitudes go from {np.degrees(lat[0]):.6g} "
            f"to {np.degrees(lat[-1]):.6g} deg in steps of {np.degrees(step):.6g}; they must come "
            "within a step of both poles."
        )
    return table, lat


def _once_round(table: Array, lon: Array) -> tuple[Array, Array]:
    """Columns from west to east, all the way round and none of them twice."""
    if lon[-1] < lon[0]:
        table, lon = table[:, ::-1], lon[::-1]
    whole = 2.0 * np.pi
    count = len(lon)
    if count > 1 and abs(lon[-1] - lon[0] - whole) < _EVEN:
        if not np.array_equal(table[:, 0], table[:, -1]):
            raise InputError(
                f"longitudes {np.degrees(lon[0]):.6g} and {np.degrees(lon[-1]):.6g} deg of a "
                "ground map are the same meridian, and their factors differ."
            )
        return table[:, :-1], lon[:-1]
    step = (lon[-1] - lon[0]) / (count - 1) if count > 1 else whole
    if abs(count * step - whole) > _EVEN * whole:
        raise InputError(
            f"a ground map does not cover the body: its {count} longitudes go from "
            f"{np.degrees(lon[0]):.6g} to {np.degrees(lon[-1]):.6g} deg in steps of "
            f"{np.degrees(step):.6g}; they must go all the way round."
        )
    return table, lon


def _with_poles(table: Array, lat: Array) -> tuple[Array, Array]:
    """The table with a row at each pole, and the latitudes of its rows."""
    top = 0.5 * np.pi
    for end, pole, said in ((0, -top, "south"), (-1, top, "north")):
        row = table[end]
        if abs(lat[end] - pole) < _EVEN:
            if (np.ptp(row, axis=0) > 1e-9 * np.abs(row).max(axis=0)).any():
                raise InputError(
                    f"the row of a ground map at the {said} pole holds different factors; a pole "
                    "is one place and has one."
                )
            lat = lat.copy()
            lat[end] = pole
            continue
        # The sum over a row of equal numbers may be rounded: the mean of what exceeds the first.
        mean = row[0] + (row - row[0]).mean(axis=0)
        one = np.broadcast_to(mean, (1, *row.shape))
        table = np.concatenate([one, table] if end == 0 else [table, one])
        lat = np.concatenate([[pole], lat] if end == 0 else [lat, [pole]])
    if len(lat) < 3:
        raise InputError("a ground map needs at least one latitude between the poles.")
    return np.ascontiguousarray(table), lat

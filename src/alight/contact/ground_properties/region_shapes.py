"""Shapes of regions of the ground: caps, balls, boxes and polygons, and the test for all of them.

Every shape becomes one ``Shape``: a place lies in it if it passes all tests, and those of other
shapes always pass. So nothing asks for the kind of a shape where places are tested.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import frames
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.errors import InputError
from alight.core.types import scalar, vec2, vec3

_WHOLE = wp.constant(scalar(2.0 * np.pi))
#: Points that a check looks at in every region.
_LOOKS = 64
#: A polygon must lie within this angle about its middle [rad].
_WIDEST = np.radians(85.0)


@wp.struct
class Shape:
    """The tests of one region."""

    axis: vec3  # unit vector to the middle of a cap ...
    chord2: scalar  # ... and the squared chord to its edge on the unit sphere
    center: vec3  # of a ball [m] ...
    reach2: scalar  # ... and its squared radius [m^2]
    south: scalar  # of a box [rad]
    north: scalar
    west: scalar
    width: scalar  # in longitude, eastwards from ``west`` [rad]
    up: vec3  # axes of the plane on which a polygon is drawn
    right: vec3
    ahead: vec3
    first: int  # of its corners
    corners: int  # 0 where there is no polygon


@wp.func
def within_polygon(shape: Shape, corners: wp.array(dtype=vec2), p: vec3):
    """Whether the direction ``p`` lies in a polygon of great circles.

    Seen from the centre on a plane that touches the sphere, great circles are straight lines; a
    point is inside if a ray from it crosses an odd number of sides.
    """
    depth = wp.dot(p, shape.up)
    if depth <= scalar(0.0):
        return False
    x = wp.dot(p, shape.right) / depth
    y = wp.dot(p, shape.ahead) / depth
    odd = bool(False)
    a = corners[shape.first + shape.corners - 1]
    for k in range(shape.corners):
        b = corners[shape.first + k]
        crossing = a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
        if (a[1] > y) != (b[1] > y) and x < crossing:
            odd = not odd
        a = b
    return odd


@wp.func
def within(shape: Shape, corners: wp.array(dtype=vec2), x: vec3, p: vec3, place: vec2):
    """Whether the place ``x`` [m], in the direction ``p`` and at ``place`` [rad], is inside."""
    aside = p - shape.axis
    away = x - shape.center
    east = place[1] - shape.west
    east = east - _WHOLE * wp.floor(east / _WHOLE)
    inside = (
        wp.dot(aside, aside) <= shape.chord2
        and wp.dot(away, away) <= shape.reach2
        and place[0] >= shape.south
        and place[0] <= shape.north
        and east <= shape.width
    )
    if inside and shape.corners > 0:
        inside = within_polygon(shape, corners, p)
    return inside


def _everywhere() -> Any:
    """A shape that every place passes."""
    kind: Any = Shape
    row = np.zeros((), dtype=kind.numpy_dtype())
    row["axis"] = (0.0, 0.0, 1.0)
    row["chord2"], row["reach2"] = 5.0, np.inf
    row["south"], row["north"], row["width"] = -2.0, 2.0, 7.0
    row["up"], row["right"], row["ahead"] = (0, 0, 1), (1, 0, 0), (0, 1, 0)
    return row


# -- as users give them ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Cap:
    """All within an angle of a direction, seen from the origin of the target.

    ``latitude``, ``longitude`` and ``radius`` in [rad].
    """

    latitude: float
    longitude: float
    radius: float

    def __post_init__(self) -> None:
        _checked_place(self.latitude, self.longitude)
        if checked_number("radius of a cap [rad]", self.radius) > np.pi:
            raise InputError(
                f"radius of a cap is {self.radius:g} rad; it must be an angle up to pi. A radius "
                "in metres is that of a Ball about a place."
            )

    def row(self, first: int) -> Any:
        """Its tests."""
        row = _everywhere()
        row["axis"] = frames.direction(self.latitude, self.longitude)
        row["chord2"] = (2.0 * np.sin(0.5 * self.radius)) ** 2
        return row

    @property
    def corners(self) -> Array:
        """None."""
        return np.empty((0, 2))

    def looks(self) -> Array:
        """(n, 3) places in it: its middle, its edge and some between."""
        up = frames.direction(self.latitude, self.longitude)
        angle = self.radius * (1.0 - 1e-9) * np.sqrt(np.linspace(0.0, 1.0, _LOOKS))
        return _around(up, angle)


@dataclass(frozen=True)
class Ball:
    """All within ``radius`` [m] of the place ``center`` [m] in target axes."""

    center: Any
    radius: float

    def __post_init__(self) -> None:
        checked_vector("centre of a ball [m]", self.center)
        checked_number("radius of a ball [m]", self.radius)

    def row(self, first: int) -> Any:
        """Its tests."""
        row = _everywhere()
        row["center"], row["reach2"] = self.center, self.radius**2
        return row

    @property
    def corners(self) -> Array:
        """None."""
        return np.empty((0, 2))

    def looks(self) -> Array:
        """(n, 3) places in it, its centre among them."""
        spread = _around(np.array([0.0, 0.0, 1.0]), np.linspace(0.0, np.pi, _LOOKS))
        out = np.asarray(self.center) + (1.0 - 1e-9) * self.radius * spread
        return np.concatenate([np.asarray(self.center, dtype=np.float64)[None], out])


@dataclass(frozen=True)
class Box:
    """Between two latitudes, and from the longitude ``west`` eastwards to ``east`` [rad]."""

    south: float
    north: float
    west: float
    east: float

    def __post_init__(self) -> None:
        _checked_place(self.south, self.west)
        _checked_place(self.north, self.east)
        if not self.south < self.north:
            raise InputError(
                f"a box goes from latitude {np.degrees(self.south):g} to "
                f"{np.degrees(self.north):g} deg; its south must be below its north."
            )
        if self.width == 0.0:
            raise InputError(
                f"a box goes from longitude {np.degrees(self.west):g} to "
                f"{np.degrees(self.east):g} deg and has no width; longitudes count eastwards."
            )

    @property
    def width(self) -> float:
        """In longitude [rad]: a whole turn where west and east are one apart."""
        turn = 2.0 * np.pi
        if self.east - self.west >= turn:
            return turn
        return float(np.mod(self.east - self.west, turn))

    def row(self, first: int) -> Any:
        """Its tests."""
        row = _everywhere()
        row["south"], row["north"] = self.south, self.north
        row["west"], row["width"] = self.west, self.width if self.width < 2.0 * np.pi else 7.0
        return row

    @property
    def corners(self) -> Array:
        """None."""
        return np.empty((0, 2))

    def looks(self) -> Array:
        """(n, 3) places in it and on its edges."""
        share = np.linspace(1e-9, 1.0 - 1e-9, 8)
        lat, lon = np.meshgrid(
            self.south + share * (self.north - self.south), self.west + share * self.width
        )
        return frames.direction(lat.ravel(), lon.ravel())


@dataclass(frozen=True)
class Polygon:
    """Inside corners (n, 2) of latitude and longitude [rad], joined by great circles.

    It must fit within 85 degrees about the mean of its corners; cut a larger one in two.
    """

    places: Any

    def __post_init__(self) -> None:
        places = np.asarray(self.places, dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != 2 or len(places) < 3:
            raise InputError(
                f"corners of a polygon have shape {places.shape}; they must be at least 3 rows of "
                "latitude and longitude [rad]."
            )
        for latitude, longitude in places:
            _checked_place(float(latitude), float(longitude))
        middle = frames.direction(*places.T).sum(axis=0)
        if np.linalg.norm(middle) < 1e-9 or self._depths().min() < np.cos(_WIDEST):
            raise InputError(
                "a polygon must fit within 85 degrees about the mean of its corners; cut it in two."
            )
        if _crosses(self.corners):
            raise InputError(
                "sides of a polygon cross each other, or corners coincide; list its corners in "
                "order around it."
            )

    def _axes(self) -> tuple[Array, Array, Array]:
        up = frames.direction(*np.asarray(self.places, dtype=np.float64).T).sum(axis=0)
        frame = frames.local_frame(up)
        return frame[:, 2], frame[:, 0], frame[:, 1]

    def _depths(self) -> Array:
        up, _, _ = self._axes()
        return np.asarray(frames.direction(*np.asarray(self.places, dtype=np.float64).T) @ up)

    @property
    def corners(self) -> Array:
        """(n, 2) on the plane."""
        p = frames.direction(*np.asarray(self.places, dtype=np.float64).T)
        up, right, ahead = self._axes()
        return np.stack([p @ right, p @ ahead], axis=-1) / (p @ up)[:, None]

    def row(self, first: int) -> Any:
        """Its tests; its corners begin at ``first``."""
        row = _everywhere()
        row["up"], row["right"], row["ahead"] = self._axes()
        row["first"], row["corners"] = first, len(self.corners)
        return row

    def looks(self) -> Array:
        """(n, 3) places in it or near it: corners, sides, and towards the middle."""
        corners = self.corners
        sides = 0.5 * (corners + np.roll(corners, 1, axis=0))
        rim = np.concatenate([corners, sides])
        middle = corners.mean(axis=0)
        flat = np.concatenate([middle + s * (rim - middle) for s in (1.0 - 1e-9, 0.6, 0.2, 0.0)])
        up, right, ahead = self._axes()
        p = up + flat[:, :1] * right + flat[:, 1:] * ahead
        return np.asarray(p / np.linalg.norm(p, axis=1)[:, None])


AnyShape = Cap | Ball | Box | Polygon


def _checked_place(latitude: float, longitude: float) -> None:
    for name, value, most in (("latitude", latitude, 90.0), ("longitude", longitude, 360.0)):
        number = isinstance(value, int | float | np.number) and np.isfinite(value)
        if not number or abs(np.degrees(value)) > most * (1.0 + 1e-12):
            raise InputError(
                f"{name} of a region is {value!r} rad; it must be between -{most:g} and {most:g} "
                "degrees."
            )


def _around(up: npt.ArrayLike, angle: Array) -> Array:
    """Unit vectors at the angles from ``up``, each turned from the last by the golden angle."""
    frame = frames.local_frame(up)
    turn = np.arange(len(angle)) * np.pi * (3.0 - np.sqrt(5.0))
    side = np.cos(turn)[:, None] * frame[:, 0] + np.sin(turn)[:, None] * frame[:, 1]
    return np.asarray(np.cos(angle)[:, None] * frame[:, 2] + np.sin(angle)[:, None] * side)


def _crosses(corners: Array) -> bool:
    """Whether two sides of a polygon meet that are not neighbours, or corners coincide."""
    n = len(corners)

    def area(a: Array, b: Array, c: Array) -> float:
        return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    for i in range(n):
        a, b = corners[i], corners[(i + 1) % n]
        if np.array_equal(a, b):
            return True
        for j in range(i + 2, n if i else n - 1):
            c, d = corners[j], corners[(j + 1) % n]
            if area(a, b, c) * area(a, b, d) <= 0.0 and area(c, d, a) * area(c, d, b) <= 0.0:
                return True
    return False

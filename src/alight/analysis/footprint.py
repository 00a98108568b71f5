"""Where landers rest: places in the local tangent plane, and the ellipses that hold them.

The plane touches the body's direction at the median rest place. Its axes are east and north there;
places are dropped on it along its normal. On a body that is small beside the footprint this folds
the far side over: ``Footprint.far_share`` is the part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from alight.analysis import columns
from alight.analysis.columns import Array
from alight.analysis.intervals import CONFIDENCE, Estimate, checked_share, order_ranks
from alight.core import frames
from alight.core.checks import checked_vector
from alight.core.errors import InputError

#: Shares of the runs that landing ellipses are drawn for.
SHARES = (0.5, 0.95, 0.99)

#: Minor over major variance below which rest places are taken to lie on one line.
FLAT = 1e-20


@dataclass(frozen=True)
class Footprint:
    """Rest places in the tangent plane at their median."""

    origin: Array
    """(3,) median rest place, target axes [m]."""
    R_TL: Array
    """(3, 3) columns east, north, up of the plane, in target axes; x, y, up on plane ground."""
    plane: Array
    """(n, 2) places from the origin, east and north [m]."""
    up: Array
    """(n,) heights over the plane [m]."""
    far_share: float
    """Part of the places seen from the centre at more than 90 degrees from the origin."""

    @property
    def latitude_longitude(self) -> tuple[float, float]:
        """Planetocentric latitude and east longitude of the origin [rad]."""
        latitude, longitude = frames.latitude_longitude(self.origin)
        return float(latitude), float(longitude)

    def to_target(self, plane: npt.ArrayLike) -> Array:
        """(n, 3) points of the plane, given by east and north [m], in target axes."""
        return self.origin + np.asarray(plane, dtype=np.float64) @ self.R_TL[:, :2].T


def footprint(places: Array, up: npt.ArrayLike | None = None) -> Footprint:
    """The footprint of rest places (n, 3) [m], target axes; rows with nan are left out.

    Args:
        places: Where runs came to rest.
        up: Normal of the plane where the ground is one: then the axes in it are those of x and y as
            they lie in the plane. Outward from the centre if None.
    """
    x = np.asarray(places, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 3:
        raise InputError(f"places have shape {x.shape}; expected (n, 3), metres in target axes")
    x = x[np.isfinite(x).all(axis=1)]
    if len(x) == 0:
        raise InputError("no run came to rest: a footprint needs at least one rest site")
    origin = np.median(x, axis=0)
    normal = origin if up is None else checked_vector("up", up)
    if not np.any(normal):
        raise InputError("the median rest site is the body's centre: give the plane's normal, up=")
    R_TL = frames.local_frame(normal) if up is None else plane_frame(normal)
    local = (x - origin) @ R_TL
    far = float(np.mean(x @ origin < 0.0))
    return Footprint(origin, R_TL, np.ascontiguousarray(local[:, :2]), local[:, 2].copy(), far)


def plane_frame(normal: Array) -> Array:
    """(3, 3) columns: x dropped on the plane (z where that is its normal), y to the left, up."""
    up = normal / np.linalg.norm(normal)
    ahead = np.eye(3)[0 if abs(up[0]) < 0.9 else 2]
    x = ahead - (ahead @ up) * up
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(up, x), up])


def from_runs(tables: Any, up: npt.ArrayLike | None = None) -> Footprint:
    """The footprint of a table of runs, or of an iterable of its batches."""
    names = columns.point_names("rest_")
    return footprint(columns.points(columns.gather(tables, names), "rest_"), up)


# ---------------------------------------------------------------------------------------------
# Ellipses
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ellipse:
    """A landing ellipse in the tangent plane, with the shape of the places' covariance."""

    kind: str
    """``empirical``: scaled to hold its share of these runs; ``gaussian``: of a normal law."""
    share: float
    """Part of the runs that it is meant to hold."""
    contained: float
    """Part of these runs that it does hold."""
    centre: tuple[float, float]
    """Mean place, east and north of the footprint's origin [m]."""
    semi_major: float
    """[m]"""
    semi_minor: float
    """[m]"""
    angle: float
    """From east towards north to the major axis, in (-pi/2, pi/2] [rad]."""
    area: Estimate
    """[m^2]; the interval of the empirical one assumes nothing but that its shape is known."""

    @property
    def azimuth(self) -> float:
        """Direction of the long axis from north to east, 0 to 180 [deg]."""
        return float((90.0 - np.degrees(self.angle)) % 180.0)

    def outline(self, points: int = 181) -> Array:
        """(points, 2) closed curve, east and north [m]."""
        phase = np.linspace(0.0, 2.0 * np.pi, points)
        along, across = self.semi_major * np.cos(phase), self.semi_minor * np.sin(phase)
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.stack([c * along - s * across, s * along + c * across], 1) + self.centre


@dataclass(frozen=True)
class _Shape:
    """Mean and principal axes of places, and how far out each lies in standard deviations."""

    centre: Array
    sigma: Array
    """Standard deviations along the major and minor axis [m]."""
    angle: float
    out: Array
    """(n,) squared Mahalanobis distances."""

    @property
    def area_per_square(self) -> float:
        return float(np.pi * self.sigma[0] * self.sigma[1])


def _shape(plane: Array) -> _Shape:
    if len(plane) < 3:
        raise InputError(f"an ellipse needs at least 3 rest sites, not {len(plane)}")
    centre = plane.mean(axis=0)
    offset = plane - centre
    values, axes = np.linalg.eigh(offset.T @ offset / (len(plane) - 1))
    if values[0] <= FLAT * values[1]:
        raise InputError("the rest sites lie on one line or point: no ellipse has that shape")
    sigma, major = np.sqrt(values[::-1]), axes[:, 1]
    # Of the two ends of the axis the one towards the east, or north where it is neither.
    end = major if (major[0] > 0.0 or (major[0] == 0.0 and major[1] > 0.0)) else -major
    scaled = offset @ axes[:, ::-1] / sigma
    out = np.einsum("ni,ni->n", scaled, scaled)
    return _Shape(centre, sigma, float(np.arctan2(end[1], end[0])), out)


def ellipses(
    plane: Array, shares: Sequence[float] = SHARES, confidence: float = CONFIDENCE
) -> list[Ellipse]:
    """Empirical and Gaussian ellipses of places (n, 2) for each share, in this order.

    The Gaussian one has the scale k^2 = -2 ln(1 - share), chi-square of two degrees. The empirical
    one has the smallest k^2 that holds the share of the places; the interval of its area comes from
    the order statistics about it, that of the Gaussian one from sd(ln area) = 1/sqrt(n).
    """
    shape = _shape(plane)
    out = np.sort(shape.out)
    found = []
    for share in shares:
        checked_share("share", share)
        found.append(_empirical(shape, out, share, confidence))
        found.append(_gaussian(shape, out, share, confidence))
    return found


def _empirical(shape: _Shape, out: Array, share: float, confidence: float) -> Ellipse:
    n = len(out)
    # The product may be a rounding above a whole number; one place more would then be asked for.
    k2 = float(out[int(np.ceil(share * n * (1.0 - 1e-12))) - 1])
    below, above = order_ranks(n, share, confidence)
    low = float(out[below - 1]) if below >= 1 else float("nan")
    high = float(out[above - 1]) if above <= n else float("nan")
    return _ellipse("empirical", shape, out, share, (k2, low, high))


def _gaussian(shape: _Shape, out: Array, share: float, confidence: float) -> Ellipse:
    k2 = float(-2.0 * np.log1p(-share))
    z = -scipy.special.ndtri(0.5 * (1.0 - checked_share("confidence", confidence)))
    spread = float(np.exp(z / np.sqrt(len(out))))
    return _ellipse("gaussian", shape, out, share, (k2, k2 / spread, k2 * spread))


def _ellipse(
    kind: str, shape: _Shape, out: Array, share: float, k2: tuple[float, float, float]
) -> Ellipse:
    value, low, high = (shape.area_per_square * k for k in k2)
    major, minor = np.sqrt(k2[0]) * shape.sigma
    return Ellipse(
        kind=kind,
        share=share,
        contained=float(np.searchsorted(out, k2[0], side="right") / len(out)),
        centre=(float(shape.centre[0]), float(shape.centre[1])),
        semi_major=float(major),
        semi_minor=float(minor),
        angle=shape.angle,
        area=Estimate(value, low, high, len(out)),
    )

"""The kinds of dispersion: maps from uniform numbers to the values of one quantity.

A kind knows how many uniform numbers one run needs (``dims``) and how many values it makes of them
(``width``). ``draw`` maps rows of uniform numbers in [0, 1) to rows of values, one row a run, each
row by itself. Where the uniform numbers come from (plain random, Latin hypercube, Sobol) is no
concern of a kind, and all three share this code.

Everything is in SI and radians. ``nominal`` is what the scenario says without the dispersion: most
kinds are centred on it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from alight.core import frames, random
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean, unknown_name

_TURN = 2.0 * math.pi


class Kind:
    """One quantity's dispersion, its parameters checked."""

    #: Uniform numbers that one run needs, and values that they become.
    dims: int
    width: int

    def draw(self, u: Array) -> Array:
        """Values (n, width) from uniform numbers (n, dims) in [0, 1)."""
        raise NotImplementedError


# ---------------------------------------------------------------------------------------------
# Each component by itself
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Normal(Kind):
    """Normal about ``mean`` (the nominal value if not given) with standard deviation ``sigma``."""

    nominal: Array
    sigma: npt.ArrayLike
    mean: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        sigma = _components("sigma", self.sigma, self.nominal)
        _require(sigma >= 0.0, "sigma", self.sigma, "0 or more")
        centre = self.nominal if self.mean is None else self.mean
        _keep(self, sigma=sigma, mean=_components("mean", centre, self.nominal))
        _keep(self, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return np.asarray(self.mean) + np.asarray(self.sigma) * normal_quantile(u)


@dataclass(frozen=True, eq=False)
class Truncated(Kind):
    """Normal, kept between ``low`` and ``high``: values beyond them are not moved but never drawn.

    Either limit may be left out.
    """

    nominal: Array
    sigma: npt.ArrayLike
    low: npt.ArrayLike = -math.inf
    high: npt.ArrayLike = math.inf
    mean: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        sigma = _components("sigma", self.sigma, self.nominal)
        _require(sigma > 0.0, "sigma", self.sigma, "above 0")
        centre = self.nominal if self.mean is None else self.mean
        mean = _components("mean", centre, self.nominal)
        low, high = _limits(self.low, self.high, self.nominal)
        a, b = (low - mean) / sigma, (high - mean) / sigma
        # The tail that holds both limits is turned down: near 1 probabilities lose their digits.
        flip = a > 0.0
        a, b = np.where(flip, -b, a), np.where(flip, -a, b)
        if not (ndtr(b) - ndtr(a) > 0.0).all():
            raise InputError(
                f"limits {self.low!r} to {self.high!r} lie so far from the mean {mean} that a "
                f"normal distribution of sigma {self.sigma!r} never reaches them."
            )
        _keep(self, sigma=sigma, mean=mean, low=low, high=high)
        _keep(self, _flip=flip, _from=ndtr(a), _to=ndtr(b))
        _keep(self, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        flip, first, last = (getattr(self, n) for n in ("_flip", "_from", "_to"))
        # Half a bit in: u = 0 stands for the middle of its interval, not for minus infinity.
        z = ndtri(first + (u + 2.0**-54) * (last - first))
        value = np.asarray(self.mean) + np.asarray(self.sigma) * np.where(flip, -z, z)
        return np.clip(value, np.asarray(self.low), np.asarray(self.high))


@dataclass(frozen=True, eq=False)
class Uniform(Kind):
    """Evenly from ``low`` to ``high``."""

    nominal: Array
    low: npt.ArrayLike
    high: npt.ArrayLike

    def __post_init__(self) -> None:
        low, high = _limits(self.low, self.high, self.nominal)
        if not (np.isfinite(low) & np.isfinite(high)).all():
            raise InputError(f"low {self.low!r} and high {self.high!r} must be finite.")
        _keep(self, low=low, high=high, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.minimum(low + u * (high - low), high)


@dataclass(frozen=True, eq=False)
class LogNormal(Kind):
    """The logarithm is normal: ``median`` (the nominal value if not given) times exp(``sigma`` z).

    ``sigma`` has no unit: 0.1 spreads by some 10 %.
    """

    nominal: Array
    sigma: npt.ArrayLike
    median: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        sigma = _components("sigma", self.sigma, self.nominal)
        _require(sigma >= 0.0, "sigma", self.sigma, "0 or more")
        centre = self.nominal if self.median is None else self.median
        median = _components("median", centre, self.nominal)
        _require(median > 0.0, "median", centre, "above 0: a log-normal value never reaches 0")
        _keep(self, sigma=sigma, median=median, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return np.asarray(self.median) * np.exp(np.asarray(self.sigma) * normal_quantile(u))


@dataclass(frozen=True, eq=False)
class Choice(Kind):
    """One of ``values``, as often as ``weights`` say (evenly if not given)."""

    nominal: Array
    values: npt.ArrayLike
    weights: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        values = _numbers("values", self.values)
        values = values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
        if not len(values) or values.shape[1] != self.nominal.size:
            raise InputError(
                f"values {self.values!r} must be a list of values, each of "
                f"{self.nominal.size} number(s) as the quantity itself."
            )
        given = np.ones(len(values)) if self.weights is None else self.weights
        weights = _numbers("weights", given)
        if weights.shape != (len(values),) or not (weights >= 0.0).all() or weights.sum() <= 0.0:
            raise InputError(
                f"weights {self.weights!r} must be {len(values)} numbers of at least 0, one for "
                "each value, and not all 0."
            )
        _keep(self, values=values, _edges=np.cumsum(weights) / weights.sum())
        _keep(self, dims=1, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        edges: Array = getattr(self, "_edges")  # noqa: B009  (set past the frozen dataclass)
        last = int(np.flatnonzero(np.diff(edges, prepend=0.0) > 0.0)[-1])
        index = np.minimum(np.searchsorted(edges, u[:, 0], side="right"), last)
        return np.asarray(self.values)[index]


# ---------------------------------------------------------------------------------------------
# Vectors
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Disc(Kind):
    """Evenly over a disc of ``radius`` about the nominal vector, square to ``normal``.

    Without a normal the third component stays: the horizontal plane of east, north and up.
    """

    nominal: Array
    radius: float
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        _require_vector(self.nominal, "disc")
        _keep(self, radius=_size("radius", self.radius))
        _keep(self, _turn=frames.local_frame(_axis("normal", self.normal)), dims=2, width=3)

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        r, angle = self.radius * np.sqrt(u[:, 0]), _TURN * u[:, 1]
        flat = np.stack([r * np.cos(angle), r * np.sin(angle), np.zeros_like(r)], axis=-1)
        return self.nominal + _turned(self, flat)


@dataclass(frozen=True, eq=False)
class Ball(Kind):
    """Evenly over a ball of ``radius`` about the nominal vector."""

    nominal: Array
    radius: float

    def __post_init__(self) -> None:
        _require_vector(self.nominal, "ball")
        _keep(self, radius=_size("radius", self.radius), dims=3, width=3)

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        r = self.radius * np.cbrt(u[:, 0])
        return self.nominal + r[:, None] * _about_pole(2.0 * u[:, 1], u[:, 2])


@dataclass(frozen=True, eq=False)
class Cone(Kind):
    """A direction within ``angle`` [rad] of ``axis``, evenly over the solid angle.

    Axis and length are those of the nominal vector unless given.
    """

    nominal: Array
    angle: float
    axis: npt.ArrayLike | None = None
    length: float | None = None

    def __post_init__(self) -> None:
        _require_vector(self.nominal, "cone")
        size = float(np.linalg.norm(self.nominal))
        if (self.axis is None or self.length is None) and size == 0.0:
            raise InputError(
                "the nominal vector of a cone is zero and has no direction: give axis and length."
            )
        axis = _axis("axis", self.nominal if self.axis is None else self.axis)
        length = size if self.length is None else _size("length", self.length)
        _keep(self, angle=_angle(self.angle), length=length, dims=2, width=3)
        _keep(self, axis=axis, _turn=frames.local_frame(axis))

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        return float(self.length or 0.0) * _turned(self, _within(self.angle, u))


@dataclass(frozen=True, eq=False)
class Cap(Kind):
    """A place within ``angle`` [rad] of a latitude and longitude, evenly over the cap.

    The nominal value and each value drawn are latitude and longitude [rad].
    """

    nominal: Array
    angle: float

    def __post_init__(self) -> None:
        if self.nominal.size != 2:
            raise InputError("a cap disperses latitude and longitude together, and nothing else.")
        up = frames.direction(self.nominal[0], self.nominal[1])
        _keep(self, angle=_angle(self.angle), _turn=frames.local_frame(up), dims=2, width=2)

    def draw(self, u: Array) -> Array:
        """Latitude and longitude (n, 2)."""
        place = _turned(self, _within(self.angle, u))
        return np.stack(frames.latitude_longitude(place), axis=-1)


@dataclass(frozen=True, eq=False)
class Orientation(Kind):
    """Any orientation, all alike: unit quaternions xyzw, evenly over the rotations."""

    nominal: Array
    dims = 3
    width = 4

    def draw(self, u: Array) -> Array:
        """Quaternions (n, 4), by Shoemake's construction: two circles in two planes."""
        one, two = np.sqrt(1.0 - u[:, 0]), np.sqrt(u[:, 0])
        a, b = _TURN * u[:, 1], _TURN * u[:, 2]
        return np.stack(
            [one * np.sin(a), one * np.cos(a), two * np.sin(b), two * np.cos(b)], axis=-1
        )


@dataclass(frozen=True, eq=False)
class Covariance(Kind):
    """Position and velocity together, normal with a full 6 x 6 ``matrix`` [m^2, m^2/s, m^2/s^2].

    Rows and columns are x, y, z, vx, vy, vz, in the axes of the release's position.
    """

    nominal: Array
    matrix: npt.ArrayLike
    mean: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.nominal.size != 6:
            raise InputError("a covariance disperses position and velocity together: six numbers.")
        matrix = _numbers("matrix", self.matrix)
        if matrix.shape != (6, 6):
            raise InputError(f"matrix has shape {matrix.shape}; a covariance is 6 x 6.")
        centre = self.nominal if self.mean is None else self.mean
        _keep(self, matrix=matrix, mean=_components("mean", centre, self.nominal))
        _keep(self, _root=covariance_root(matrix), dims=6, width=6)

    def draw(self, u: Array) -> Array:
        """Position and velocity (n, 6)."""
        root: Array = getattr(self, "_root")  # noqa: B009  (set past the frozen dataclass)
        z = normal_quantile(u)
        # Written out: a matrix product may round differently with the number of rows.
        return np.asarray(self.mean) + sum(z[:, j : j + 1] * root[:, j] for j in range(6))


# ---------------------------------------------------------------------------------------------
# By name
# ---------------------------------------------------------------------------------------------

KINDS: dict[str, type[Kind]] = {
    "normal": Normal,
    "truncated": Truncated,
    "uniform": Uniform,
    "log-normal": LogNormal,
    "disc": Disc,
    "ball": Ball,
    "cone": Cone,
    "cap": Cap,
    "orientation": Orientation,
    "covariance": Covariance,
    "choice": Choice,
}


def make(name: str, nominal: npt.ArrayLike, parameters: Mapping[str, Any]) -> Kind:
    """The kind called ``name`` about a nominal value, with its parameters in SI."""
    if name not in KINDS:
        raise unknown_name("kind of dispersion", str(name), KINDS)
    kind: Any = KINDS[name]
    fields = [f for f in dataclasses.fields(kind) if f.name != "nominal"]
    allowed = [f.name for f in fields]
    for given in parameters:
        if given not in allowed:
            raise InputError(
                f'"{given}" is no parameter of a dispersion of kind "{name}".'
                f"{did_you_mean(given, allowed)} It takes: {', '.join(allowed) or 'none'}."
            )
    needed = [f.name for f in fields if f.default is dataclasses.MISSING]
    missing = [n for n in needed if n not in parameters]
    if missing:
        raise InputError(f'a dispersion of kind "{name}" needs {" and ".join(missing)}.')
    return kind(_numbers("the nominal value", nominal).reshape(-1), **parameters)


# ---------------------------------------------------------------------------------------------
# Pieces
# ---------------------------------------------------------------------------------------------


def normal_quantile(u: Array) -> Array:
    """Standard normal numbers at uniform numbers in [0, 1), to 53 bits.

    The same bits as ``core.random.normal`` gives for the same uniform numbers, on every machine.
    """
    return random._normal_from_bits(np.asarray(u * 2.0**53).astype(np.uint64))


def covariance_root(matrix: Array) -> Array:
    """Lower triangular L with L L^T = ``matrix``, which may be singular (Cholesky's way)."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    unit = np.outer(scale, scale)
    if not (np.abs(matrix - matrix.T) <= 1e-9 * unit).all():
        i, j = (int(k) for k in np.argwhere(np.abs(matrix - matrix.T) > 1e-9 * unit)[0])
        raise InputError(
            f"the covariance is not symmetric: row {i + 1}, column {j + 1} has "
            f"{matrix[i, j]:g} and its mirror image {matrix[j, i]:g}."
        )
    n = len(matrix)
    root = np.zeros((n, n))
    for j in range(n):
        left = matrix[j, j] - float(np.sum(root[j, :j] ** 2))
        if left < -1e-9 * unit[j, j] or matrix[j, j] < 0.0:
            raise _not_positive(j)
        known = left > 1e-12 * unit[j, j]
        root[j, j] = math.sqrt(left) if known else 0.0
        for i in range(j + 1, n):
            rest = matrix[i, j] - float(np.sum(root[i, :j] * root[j, :j]))
            if known:
                root[i, j] = rest / root[j, j]
            elif abs(rest) > 1e-6 * unit[i, j]:
                raise _not_positive(i)
    return root


def _not_positive(row: int) -> InputError:
    name = ("x", "y", "z", "vx", "vy", "vz")[row]
    return InputError(
        f"the covariance is not positive semi-definite: its part up to {name} (row {row + 1}) "
        "has a negative variance in some direction. Correlations must agree with each other."
    )


def _within(angle: float, u: Array) -> Array:
    """Directions (n, 3) within ``angle`` of the third axis, evenly over the solid angle."""
    return _about_pole(u[:, 0] * 2.0 * math.sin(0.5 * angle) ** 2, u[:, 1])


def _about_pole(versine: Array, turn: Array) -> Array:
    """Unit vectors by 1 - cos of the angle to the third axis, exact for small ones, and a turn."""
    across, azimuth = np.sqrt(versine * (2.0 - versine)), _TURN * turn
    return np.stack([across * np.cos(azimuth), across * np.sin(azimuth), 1.0 - versine], axis=-1)


def _turned(kind: Kind, v: Array) -> Array:
    """Rows of ``v`` from the kind's own axes into those of the quantity, each row by itself."""
    turn: Array = getattr(kind, "_turn")  # noqa: B009  (set past the frozen dataclass)
    return v[:, :1] * turn[:, 0] + v[:, 1:2] * turn[:, 1] + v[:, 2:] * turn[:, 2]


def _keep(kind: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(kind, name, value)


def _numbers(name: str, value: Any) -> Array:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; it must be a number or a list of them.") from None


def _components(name: str, value: Any, nominal: Array, *, finite: bool = True) -> Array:
    """One number for each component of the nominal value."""
    array = _numbers(name, value)
    if array.shape not in ((), (1,), (nominal.size,)):
        raise InputError(
            f"{name} is {value!r}; it must be one number or {nominal.size}, one for each component."
        )
    if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
        raise InputError(f"{name} is {value!r}; it must be finite.")
    return np.array(np.broadcast_to(array.reshape(-1) if array.ndim else array, nominal.shape))


def _limits(low: Any, high: Any, nominal: Array) -> tuple[Array, Array]:
    lower = _components("low", low, nominal, finite=False)
    upper = _components("high", high, nominal, finite=False)
    if not (lower < upper).all():
        raise InputError(f"low {low!r} must be below high {high!r}.")
    return lower, upper


def _require(good: Any, name: str, value: Any, allowed: str) -> None:
    if not np.all(good):
        raise InputError(f"{name} is {value!r}; it must be {allowed}.")


def _require_vector(nominal: Array, kind: str) -> None:
    if nominal.size != 3:
        raise InputError(
            f'a dispersion of kind "{kind}" is for vectors of three components; this quantity has '
            f"{nominal.size}."
        )


def _size(name: str, value: Any) -> float:
    number = _numbers(name, value)
    if number.shape != () or not (np.isfinite(number) and number >= 0.0):
        raise InputError(f"{name} is {value!r}; it must be a finite number of at least 0.")
    return float(number)


def _angle(value: Any) -> float:
    angle = _size("angle", value)
    if angle > math.pi:
        raise InputError(
            f"angle is {angle:g} rad ({math.degrees(angle):g} deg); it must be at most 180 deg, "
            "which is every direction."
        )
    return angle


def _axis(name: str, value: Any) -> Array:
    axis = _numbers(name, value)
    if axis.shape != (3,) or not np.isfinite(axis).all() or not axis.any():
        raise InputError(f"{name} is {value!r}; it must be three finite numbers, not all 0.")
    return np.asarray(axis / np.linalg.norm(axis))

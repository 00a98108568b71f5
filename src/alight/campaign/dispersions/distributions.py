"""The kinds of dispersion: maps from uniform numbers to the values of one quantity.

A kind knows how many uniform numbers one run needs (``dims``) and how many values it makes of them
(``width``). ``draw`` maps rows of uniform numbers in [0, 1) to rows of values, one row a run, each
row by itself. Where the uniform numbers come from (plain random, Latin hypercube, Sobol) is no
concern of a kind, and all three share this code.

Everything is in SI and radians. ``nominal`` is what the scenario says without the dispersion: most
kinds are centred on it.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from alight.campaign.dispersions.quantiles import (
    TURN,
    about_pole,
    any_rotation,
    checked_angle,
    checked_axis,
    checked_size,
    components,
    covariance_root,
    keep,
    limits,
    normal_quantile,
    numbers,
    require,
    require_vector,
    turn_angle,
    turned,
    within,
)
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean, unknown_name
from alight.core.registry import registry


class Distribution:
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
class Normal(Distribution):
    """Normal about ``mean`` (the nominal value if not given) with standard deviation ``sigma``."""

    nominal: Array
    sigma: npt.ArrayLike
    mean: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        sigma = components("sigma", self.sigma, self.nominal)
        require(sigma >= 0.0, "sigma", self.sigma, "0 or more")
        centre = self.nominal if self.mean is None else self.mean
        keep(self, sigma=sigma, mean=components("mean", centre, self.nominal))
        keep(self, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return np.asarray(self.mean) + np.asarray(self.sigma) * normal_quantile(u)


@dataclass(frozen=True, eq=False)
class Truncated(Distribution):
    """Normal, kept between ``low`` and ``high``: values beyond them are not moved but never drawn.

    Either limit may be left out.
    """

    nominal: Array
    sigma: npt.ArrayLike
    low: npt.ArrayLike = -math.inf
    high: npt.ArrayLike = math.inf
    mean: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        sigma = components("sigma", self.sigma, self.nominal)
        require(sigma > 0.0, "sigma", self.sigma, "above 0")
        centre = self.nominal if self.mean is None else self.mean
        mean = components("mean", centre, self.nominal)
        low, high = limits(self.low, self.high, self.nominal)
        a, b = (low - mean) / sigma, (high - mean) / sigma
        # The tail that holds both limits is turned down: near 1 probabilities lose their digits.
        flip = a > 0.0
        a, b = np.where(flip, -b, a), np.where(flip, -a, b)
        if not (ndtr(b) - ndtr(a) > 0.0).all():
            raise InputError(
                f"limits {self.low!r} to {self.high!r} lie so far from the mean {mean} that a "
                f"normal distribution of sigma {self.sigma!r} never reaches them."
            )
        keep(self, sigma=sigma, mean=mean, low=low, high=high)
        keep(self, _flip=flip, _from=ndtr(a), _to=ndtr(b))
        keep(self, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        flip, first, last = (getattr(self, n) for n in ("_flip", "_from", "_to"))
        # Half a bit in: u = 0 stands for the middle of its interval, not for minus infinity.
        z = ndtri(np.minimum(first + (u + 2.0**-54) * (last - first), 1.0 - 2.0**-53))
        value = np.asarray(self.mean) + np.asarray(self.sigma) * np.where(flip, -z, z)
        return np.clip(value, np.asarray(self.low), np.asarray(self.high))


@dataclass(frozen=True, eq=False)
class UniformDistribution(Distribution):
    """Evenly from ``low`` to ``high``."""

    nominal: Array
    low: npt.ArrayLike
    high: npt.ArrayLike

    def __post_init__(self) -> None:
        low, high = limits(self.low, self.high, self.nominal)
        if not (np.isfinite(low) & np.isfinite(high)).all():
            raise InputError(f"low {self.low!r} and high {self.high!r} must be finite.")
        keep(self, low=low, high=high, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        return np.minimum(low + u * (high - low), high)


@dataclass(frozen=True, eq=False)
class LogNormal(Distribution):
    """The logarithm is normal: ``median`` (the nominal value if not given) times exp(``sigma`` z).

    ``sigma`` has no unit: 0.1 spreads by some 10 %.
    """

    nominal: Array
    sigma: npt.ArrayLike
    median: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        sigma = components("sigma", self.sigma, self.nominal)
        require(sigma >= 0.0, "sigma", self.sigma, "0 or more")
        centre = self.nominal if self.median is None else self.median
        median = components("median", centre, self.nominal)
        require(median > 0.0, "median", centre, "above 0: a log-normal value never reaches 0")
        keep(self, sigma=sigma, median=median, dims=self.nominal.size, width=self.nominal.size)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return np.asarray(self.median) * np.exp(np.asarray(self.sigma) * normal_quantile(u))


@dataclass(frozen=True, eq=False)
class ChoiceDistribution(Distribution):
    """One of ``values``, as often as ``weights`` say (evenly if not given)."""

    nominal: Array
    values: npt.ArrayLike
    weights: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        values = numbers("values", self.values)
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or not values.size or values.shape[1] != self.nominal.size:
            raise InputError(
                f"values {self.values!r} must be a list of values, each of "
                f"{self.nominal.size} number(s) as the quantity itself."
            )
        given = np.ones(len(values)) if self.weights is None else self.weights
        weights = numbers("weights", given)
        if weights.shape != (len(values),) or not (weights >= 0.0).all() or weights.sum() <= 0.0:
            raise InputError(
                f"weights {self.weights!r} must be {len(values)} numbers of at least 0, one for "
                "each value, and not all 0."
            )
        keep(self, values=values, _edges=np.cumsum(weights) / weights.sum())
        keep(self, dims=1, width=self.nominal.size)

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
class Disc(Distribution):
    """Evenly over a disc of ``radius`` about the nominal vector, square to ``axis``.

    Without an axis the third component stays: the horizontal plane of east, north and up.
    """

    nominal: Array
    radius: float
    axis: npt.ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        require_vector(self.nominal, "disc")
        keep(self, radius=checked_size("radius", self.radius))
        keep(self, _turn=frames.local_frame(checked_axis("axis", self.axis)), dims=2, width=3)

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        r, angle = self.radius * np.sqrt(u[:, 0]), TURN * u[:, 1]
        flat = np.stack([r * np.cos(angle), r * np.sin(angle), np.zeros_like(r)], axis=-1)
        return self.nominal + turned(self, flat)


@dataclass(frozen=True, eq=False)
class BallDistribution(Distribution):
    """Evenly over a ball of ``radius`` about the nominal vector."""

    nominal: Array
    radius: float

    def __post_init__(self) -> None:
        require_vector(self.nominal, "ball")
        keep(self, radius=checked_size("radius", self.radius), dims=3, width=3)

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        r = self.radius * np.cbrt(u[:, 0])
        return self.nominal + r[:, None] * about_pole(2.0 * u[:, 1], u[:, 2])


@dataclass(frozen=True, eq=False)
class Cone(Distribution):
    """The nominal vector turned by up to ``half_angle`` [rad], evenly over the solid angle."""

    nominal: Array
    half_angle: float

    def __post_init__(self) -> None:
        require_vector(self.nominal, "cone")
        if not self.nominal.any():
            raise InputError("the nominal vector of a cone is zero: it has no direction to turn.")
        keep(self, half_angle=checked_angle(self.half_angle), dims=2, width=3)
        keep(self, _turn=frames.local_frame(self.nominal))

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        return float(np.linalg.norm(self.nominal)) * turned(self, within(self.half_angle, u))


@dataclass(frozen=True, eq=False)
class CapDistribution(Distribution):
    """A place within ``half_angle`` [rad] of a latitude and longitude, evenly over the cap.

    The nominal value and each value drawn are latitude and longitude [rad].
    """

    nominal: Array
    half_angle: float

    def __post_init__(self) -> None:
        if self.nominal.size != 2:
            raise InputError("a cap disperses latitude and longitude together, and nothing else.")
        up = frames.direction(self.nominal[0], self.nominal[1])
        keep(self, half_angle=checked_angle(self.half_angle), dims=2, width=2)
        keep(self, _turn=frames.local_frame(up))

    def draw(self, u: Array) -> Array:
        """Latitude and longitude (n, 2)."""
        place = turned(self, within(self.half_angle, u))
        return np.stack(frames.latitude_longitude(place), axis=-1)


@dataclass(frozen=True, eq=False)
class Orientation(Distribution):
    """Unit quaternions xyzw, evenly over the rotations.

    With a ``half_angle`` [rad], evenly over the turns of up to that from the nominal attitude.
    """

    nominal: Array
    half_angle: float = math.pi
    dims = 3
    width = 4

    def __post_init__(self) -> None:
        if self.nominal.size != 4 or not self.nominal.any():
            raise InputError("an orientation is for attitudes: quaternions of four numbers.")
        keep(self, half_angle=checked_angle(self.half_angle))

    def draw(self, u: Array) -> Array:
        """Quaternions (n, 4)."""
        if self.half_angle == math.pi:
            return any_rotation(u)
        half = 0.5 * turn_angle(u[:, 0], self.half_angle)
        axis = about_pole(2.0 * u[:, 1], u[:, 2])
        turn = np.concatenate([np.sin(half)[:, None] * axis, np.cos(half)[:, None]], axis=-1)
        return frames.quat_multiply(turn, frames.quat_normalize(self.nominal))


@dataclass(frozen=True, eq=False)
class Covariance(Distribution):
    """Normal about the nominal vector, with a full covariance ``matrix``.

    Of position and velocity together [m^2, m^2/s, m^2/s^2], or of any other vector.
    """

    nominal: Array
    matrix: npt.ArrayLike

    def __post_init__(self) -> None:
        matrix, n = numbers("matrix", self.matrix), self.nominal.size
        if matrix.shape != (n, n):
            raise InputError(
                f"matrix has shape {matrix.shape}; the covariance of this quantity is {n} x {n}."
            )
        keep(self, matrix=matrix, _root=covariance_root(matrix), dims=n, width=n)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        root: Array = getattr(self, "_root")  # noqa: B009  (set past the frozen dataclass)
        z, value = normal_quantile(u), np.array(np.broadcast_to(self.nominal, u.shape))
        # Written out: a matrix product may round differently with the number of rows.
        for j in range(self.width):
            value += z[:, j : j + 1] * root[:, j]
        return value


# ---------------------------------------------------------------------------------------------
# By name
# ---------------------------------------------------------------------------------------------

KINDS: dict[str, type[Distribution]] = {
    "normal": Normal,
    "truncated": Truncated,
    "uniform": UniformDistribution,
    "log-normal": LogNormal,
    "disc": Disc,
    "ball": BallDistribution,
    "cone": Cone,
    "cap": CapDistribution,
    "orientation": Orientation,
    "covariance": Covariance,
    "choice": ChoiceDistribution,
}


def _maker(name: str) -> Any:
    """The class called ``name``: one of these, or of the registry."""
    found = KINDS.get(name)
    if found is not None:
        return found
    entry = registry.known("dispersion", name)
    if entry is None:
        raise unknown_name("kind of dispersion", str(name), registry.names("dispersion"))
    return entry.make


def parameters_of(name: str) -> dict[str, bool]:
    """Names of a kind's parameters, and whether each must be given."""
    found = inspect.signature(_maker(name)).parameters.values()
    return {p.name: p.default is p.empty for p in found if p.name != "nominal"}


def make(name: str, nominal: npt.ArrayLike, parameters: Mapping[str, Any]) -> Distribution:
    """The kind called ``name`` about a nominal value, with its parameters in SI."""
    allowed = parameters_of(name)
    for given in parameters:
        if given not in allowed:
            raise InputError(
                f'"{given}" is no parameter of a dispersion of kind "{name}".'
                f"{did_you_mean(given, allowed)} It takes: {', '.join(allowed) or 'none'}."
            )
    missing = [n for n, needed in allowed.items() if needed and n not in parameters]
    if missing:
        raise InputError(f'a dispersion of kind "{name}" needs {" and ".join(missing)}.')
    made = _maker(name)(numbers("the nominal value", nominal).reshape(-1), **parameters)
    if not isinstance(made, Distribution):
        raise InputError(f'the dispersion "{name}" makes {made!r}, which is no Distribution.')
    return made

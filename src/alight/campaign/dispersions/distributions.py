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
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from alight.campaign.dispersions.quantiles import (
    TURN,
    about_pole,
    any_rotation,
    checked_angle,
    checked_axis,
    checked_size,
    components,
    covariance_root,
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


class Normal(Distribution):
    """Normal about ``mean`` (the nominal value if not given) with standard deviation ``sigma``."""

    def __init__(
        self, nominal: Array, sigma: npt.ArrayLike, mean: npt.ArrayLike | None = None
    ) -> None:
        self.sigma = components("sigma", sigma, nominal)
        require(self.sigma >= 0.0, "sigma", sigma, "0 or more")
        self.mean = components("mean", nominal if mean is None else mean, nominal)
        self.dims = self.width = nominal.size

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return self.mean + self.sigma * normal_quantile(u)


class Truncated(Distribution):
    """Normal, kept between ``low`` and ``high``: values beyond them are not moved but never drawn.

    Either limit may be left out.
    """

    def __init__(
        self,
        nominal: Array,
        sigma: npt.ArrayLike,
        low: npt.ArrayLike = -math.inf,
        high: npt.ArrayLike = math.inf,
        mean: npt.ArrayLike | None = None,
    ) -> None:
        self.sigma = components("sigma", sigma, nominal)
        require(self.sigma > 0.0, "sigma", sigma, "above 0")
        self.mean = components("mean", nominal if mean is None else mean, nominal)
        self.low, self.high = limits(low, high, nominal)
        a, b = (self.low - self.mean) / self.sigma, (self.high - self.mean) / self.sigma
        # The tail that holds both limits is turned down: near 1 probabilities lose their digits.
        self._flip = a > 0.0
        a, b = np.where(self._flip, -b, a), np.where(self._flip, -a, b)
        self._from, self._to = scipy.special.ndtr(a), scipy.special.ndtr(b)
        if not (self._to - self._from > 0.0).all():
            raise InputError(
                f"limits {low!r} to {high!r} lie so far from the mean {self.mean} that a "
                f"normal distribution of sigma {sigma!r} never reaches them."
            )
        self.dims = self.width = nominal.size

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        # Half a bit in: u = 0 stands for the middle of its interval, not for minus infinity.
        part = self._from + (u + 2.0**-54) * (self._to - self._from)
        z = scipy.special.ndtri(np.minimum(part, 1.0 - 2.0**-53))
        return np.clip(self.mean + self.sigma * np.where(self._flip, -z, z), self.low, self.high)


class UniformDistribution(Distribution):
    """Evenly from ``low`` to ``high``."""

    def __init__(self, nominal: Array, low: npt.ArrayLike, high: npt.ArrayLike) -> None:
        self.low, self.high = limits(low, high, nominal)
        if not (np.isfinite(self.low) & np.isfinite(self.high)).all():
            raise InputError(f"low {low!r} and high {high!r} must be finite.")
        self.dims = self.width = nominal.size

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return np.minimum(self.low + u * (self.high - self.low), self.high)


class LogNormal(Distribution):
    """The logarithm is normal: ``median`` (the nominal value if not given) times exp(``sigma`` z).

    ``sigma`` has no unit: 0.1 spreads by some 10 %.
    """

    def __init__(
        self, nominal: Array, sigma: npt.ArrayLike, median: npt.ArrayLike | None = None
    ) -> None:
        self.sigma = components("sigma", sigma, nominal)
        require(self.sigma >= 0.0, "sigma", sigma, "0 or more")
        centre = nominal if median is None else median
        self.median = components("median", centre, nominal)
        require(self.median > 0.0, "median", centre, "above 0: a log-normal value never reaches 0")
        self.dims = self.width = nominal.size

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        return self.median * np.exp(self.sigma * normal_quantile(u))


class ChoiceDistribution(Distribution):
    """One of ``values``, as often as ``weights`` say (evenly if not given)."""

    dims = 1

    def __init__(
        self, nominal: Array, values: npt.ArrayLike, weights: npt.ArrayLike | None = None
    ) -> None:
        given = numbers("values", values)
        self.values = given[:, None] if given.ndim == 1 else given
        if self.values.ndim != 2 or not given.size or self.values.shape[1] != nominal.size:
            raise InputError(
                f"values {values!r} must be a list of values, each of "
                f"{nominal.size} number(s) as the quantity itself."
            )
        count = len(self.values)
        share = numbers("weights", np.ones(count) if weights is None else weights)
        if share.shape != (count,) or not (share >= 0.0).all() or share.sum() <= 0.0:
            raise InputError(
                f"weights {weights!r} must be {count} numbers of at least 0, one for "
                "each value, and not all 0."
            )
        self._edges = np.cumsum(share) / share.sum()
        self._last = int(np.flatnonzero(np.diff(self._edges, prepend=0.0) > 0.0)[-1])
        self.width = nominal.size

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        index = np.searchsorted(self._edges, u[:, 0], side="right")
        return self.values[np.minimum(index, self._last)]


class SweepDistribution(Distribution):
    """Goes through ``values`` by the number of the run, and takes no random number.

    ``sampling`` knows all sweeps of a campaign and says which value each run gets.
    """

    dims = 0

    def __init__(self, nominal: Array, values: npt.ArrayLike) -> None:
        self.values = ChoiceDistribution(nominal, values).values
        self.width = nominal.size

    def draw(self, u: Array) -> Array:
        """There is nothing to draw from: ``sampling.sample`` asks for ``values`` instead."""
        raise InputError("the values of a sweep follow the run number.")


class TableDistribution(Distribution):
    """Rows of ``samples``: row k for run k, or one of them at ``random``, with replacement."""

    def __init__(self, nominal: Array, samples: Any, random: bool = False) -> None:
        self.rows = np.asarray(getattr(samples, "rows", samples), dtype=np.float64)
        self.width = self.rows.shape[1]
        self.dims = int(random)

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        index = (u[:, 0] * len(self.rows)).astype(np.int64)
        return self.rows[np.minimum(index, len(self.rows) - 1)]


class RunNumber(Distribution):
    """The number of the run: which row of a file it takes."""

    dims = 0

    def __init__(self, nominal: Array) -> None:
        self.width = 1

    def draw(self, u: Array) -> Array:
        """There is nothing to draw from: ``sampling.sample`` knows the runs."""
        raise InputError("a run number is not drawn.")


# ---------------------------------------------------------------------------------------------
# Vectors
# ---------------------------------------------------------------------------------------------


class Disc(Distribution):
    """Uniform over a disc of ``radius`` about the nominal vector, perpendicular to ``axis``.

    Without an axis the third component stays: the horizontal plane of east, north and up.
    """

    dims, width = 2, 3

    def __init__(
        self, nominal: Array, radius: float, axis: npt.ArrayLike = (0.0, 0.0, 1.0)
    ) -> None:
        require_vector(nominal, "disc")
        self.nominal, self.radius = nominal, checked_size("radius", radius)
        self._turn = frames.local_frame(checked_axis("axis", axis))

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        r, angle = self.radius * np.sqrt(u[:, 0]), TURN * u[:, 1]
        flat = np.stack([r * np.cos(angle), r * np.sin(angle), np.zeros_like(r)], axis=-1)
        return self.nominal + turned(self._turn, flat)


class BallDistribution(Distribution):
    """Evenly over a ball of ``radius`` about the nominal vector."""

    dims, width = 3, 3

    def __init__(self, nominal: Array, radius: float) -> None:
        require_vector(nominal, "ball")
        self.nominal, self.radius = nominal, checked_size("radius", radius)

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        r = self.radius * np.cbrt(u[:, 0])
        return self.nominal + r[:, None] * about_pole(2.0 * u[:, 1], u[:, 2])


class Cone(Distribution):
    """The nominal vector turned by up to ``half_angle`` [rad], evenly over the solid angle."""

    dims, width = 2, 3

    def __init__(self, nominal: Array, half_angle: float) -> None:
        require_vector(nominal, "cone")
        if not nominal.any():
            raise InputError("the nominal vector of a cone is zero: it has no direction to turn.")
        self.length, self.half_angle = float(np.linalg.norm(nominal)), checked_angle(half_angle)
        self._turn = frames.local_frame(nominal)

    def draw(self, u: Array) -> Array:
        """Values (n, 3)."""
        return self.length * turned(self._turn, within(self.half_angle, u))


class CapDistribution(Distribution):
    """A place within ``half_angle`` [rad] of a latitude and longitude, evenly over the cap.

    The nominal value and each value drawn are latitude and longitude [rad].
    """

    dims, width = 2, 2

    def __init__(self, nominal: Array, half_angle: float) -> None:
        if nominal.size != 2:
            raise InputError("a cap disperses latitude and longitude together, and nothing else.")
        self.half_angle = checked_angle(half_angle)
        self._turn = frames.local_frame(frames.direction(nominal[0], nominal[1]))

    def draw(self, u: Array) -> Array:
        """Latitude and longitude (n, 2)."""
        place = turned(self._turn, within(self.half_angle, u))
        return np.stack(frames.latitude_longitude(place), axis=-1)


class Orientation(Distribution):
    """Unit quaternions xyzw, evenly over the rotations.

    With a ``half_angle`` [rad], evenly over the turns of up to that from the nominal attitude.
    """

    dims, width = 3, 4

    def __init__(self, nominal: Array, half_angle: float = math.pi) -> None:
        if nominal.size != 4 or not nominal.any():
            raise InputError("an orientation is for attitudes: quaternions of four numbers.")
        self.nominal, self.half_angle = nominal, checked_angle(half_angle)

    def draw(self, u: Array) -> Array:
        """Quaternions (n, 4)."""
        if self.half_angle == math.pi:
            return any_rotation(u)
        half = 0.5 * turn_angle(u[:, 0], self.half_angle)
        axis = about_pole(2.0 * u[:, 1], u[:, 2])
        turn = np.concatenate([np.sin(half)[:, None] * axis, np.cos(half)[:, None]], axis=-1)
        return frames.quat_multiply(turn, frames.quat_normalize(self.nominal))


class Covariance(Distribution):
    """Normal about the nominal vector, with a full covariance ``matrix``.

    Of position and velocity together [m^2, m^2/s, m^2/s^2], or of any other vector.
    """

    def __init__(self, nominal: Array, matrix: npt.ArrayLike) -> None:
        given, n = numbers("matrix", matrix), nominal.size
        if given.shape != (n, n):
            raise InputError(
                f"matrix has shape {given.shape}; the covariance of this quantity is {n} x {n}."
            )
        self.nominal, self._root = nominal, covariance_root(given)
        self.dims = self.width = n

    def draw(self, u: Array) -> Array:
        """Values (n, width)."""
        z, value = normal_quantile(u), np.array(np.broadcast_to(self.nominal, u.shape))
        # Written out: a matrix product may round differently with the number of rows.
        for j in range(self.width):
            value += z[:, j : j + 1] * self._root[:, j]
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
    "sweep": SweepDistribution,
    "run-number": RunNumber,
    "table": TableDistribution,
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

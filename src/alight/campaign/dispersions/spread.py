"""Dispersions written in Python: the kinds of scenario files, in SI units and radians.

::

    alight.dispersions.normal(sigma=0.05)                  # about the value as it stands
    alight.dispersions.uniform(low=0.4, high=0.6)
    alight.dispersions.orientation()

``mean``, ``median`` and ``about`` are the value that it varies about; left out, that of the model
or release under the same key. ``unit`` ends the name of the column where the key has none.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.distributions import KINDS, parameters_of
from alight.core.checks import checked_whole
from alight.core.errors import InputError
from alight.scenario.dispersion import TABLE, Dispersion
from alight.scenario.joint_dispersions import BY_RUN, RANDOM, Samples

Number = npt.ArrayLike

#: Parameters of one number for each component; of one number; of lists of them.
_EACH = ("sigma", "mean", "median", "low", "high")
_ONE = ("radius", "half_angle")


@dataclass(frozen=True)
class Spread:
    """How one value varies from run to run."""

    kind: str
    """One of those of scenario files: ``normal``, ``uniform``, ``cone``, ..."""
    parameters: dict[str, Any] = field(default_factory=dict)
    about: Any = None
    """The value that it varies about; None: as it stands."""
    unit: str = ""

    def __post_init__(self) -> None:
        parameters_of(self.kind)  # a name that is known

    @property
    def centre(self) -> Any:
        """What it gives itself to vary about; None where it leaves that open."""
        for found in (self.parameters.get("mean"), self.parameters.get("median"), self.about):
            if found is not None:
                return found
        return (0.0, 0.0, 0.0, 1.0) if self.kind == "orientation" else None

    def width(self, nominal: Any) -> int:
        """Numbers of one value."""
        given = self.parameters
        if self.kind in ("choice", "sweep"):
            return int(np.size(np.asarray(given["values"], dtype=np.float64)[0]))
        known = [given[name] for name in _EACH if given.get(name) is not None]
        listed = [*known, *([] if nominal is None else [nominal])]
        return max((int(np.size(v)) for v in listed), default=1)

    def dispersion(self, key: str, nominal: Any) -> Dispersion:
        """As the sampling of campaigns reads it, for the value under ``key``."""
        if self.kind == TABLE:
            rows, told = self.parameters["samples"], self.written()
            samples, random = Samples(rows, told["sha256"]), self.parameters["random"]
            return Dispersion(
                key, TABLE, rows.shape[1], samples=samples, random=random, written=told
            )
        try:
            width = self.width(nominal)
            numbers = {name: self._numbers(name, width) for name in self.parameters}
        except (TypeError, ValueError, IndexError) as cause:
            raise InputError(f'dispersions["{key}"]: {self} is not of numbers ({cause}).') from None
        allowed = parameters_of(self.kind)
        wrong = [name for name in numbers if name not in allowed]
        if wrong:
            raise InputError(
                f'dispersions["{key}"]: "{wrong[0]}" is no parameter of "{self.kind}", which takes '
                f"{', '.join(allowed) or 'none'}."
            )
        known: Any = {name: value for name, value in numbers.items() if value is not None}
        if self.kind not in KINDS:
            known = {"more": tuple(self.parameters.items())}
        return Dispersion(key, self.kind, width, **known, written=self.written())

    def _numbers(self, name: str, width: int) -> Any:
        value = self.parameters[name]
        if value is None:
            return None
        if name in _ONE:
            return float(value)
        array = np.asarray(value, dtype=np.float64)
        if name in _EACH:
            return tuple(np.broadcast_to(array, (width,)).tolist())
        if name == "values":
            return tuple(map(tuple, array.reshape(len(array), -1).tolist()))
        if name == "weights":
            return tuple((array / array.sum()).tolist())
        return tuple(map(tuple, array.tolist())) if array.ndim == 2 else tuple(array.tolist())

    def written(self) -> dict[str, Any]:
        """For plans and people."""
        if self.kind == TABLE:
            rows = np.ascontiguousarray(self.parameters["samples"])
            digest = hashlib.sha256(repr(rows.shape).encode() + rows.tobytes()).hexdigest()
            return {"rows": RANDOM if self.parameters["random"] else BY_RUN, "sha256": digest}
        told = {
            name: np.asarray(v).tolist() for name, v in self.parameters.items() if v is not None
        }
        about = {} if self.about is None else {"about": np.asarray(self.about).tolist()}
        return {"kind": self.kind, **told, **about, **({"unit": self.unit} if self.unit else {})}


def normal(sigma: Number, mean: Number | None = None, *, unit: str = "") -> Spread:
    """Each component by itself, with standard deviation ``sigma``."""
    return Spread("normal", {"sigma": sigma, "mean": mean}, unit=unit)


def truncated(
    sigma: Number,
    low: Number | None = None,
    high: Number | None = None,
    mean: Number | None = None,
    *,
    unit: str = "",
) -> Spread:
    """Normal, values beyond the limits never drawn."""
    given = {"sigma": sigma, "low": low, "high": high, "mean": mean}
    return Spread("truncated", given, unit=unit)


def uniform(low: Number, high: Number, *, unit: str = "") -> Spread:
    """Evenly from ``low`` to ``high``."""
    return Spread("uniform", {"low": low, "high": high}, unit=unit)


def log_normal(sigma: Number, median: Number | None = None, *, unit: str = "") -> Spread:
    """``sigma`` is that of the logarithm."""
    return Spread("log-normal", {"sigma": sigma, "median": median}, unit=unit)


def disc(
    radius: float,
    axis: Number = (0.0, 0.0, 1.0),
    about: Number | None = None,
    *,
    unit: str = "",
) -> Spread:
    """Uniform over a disc of ``radius`` about the vector, perpendicular to ``axis``; in the unit of
    the key: [m] or [m/s]."""
    return Spread("disc", {"radius": radius, "axis": axis}, about, unit)


def ball(radius: float, about: Number | None = None, *, unit: str = "") -> Spread:
    """Uniform over a ball of ``radius`` about the vector; in the unit of the key: [m] or [m/s]."""
    return Spread("ball", {"radius": radius}, about, unit)


def cone(half_angle: float, about: Number | None = None, *, unit: str = "") -> Spread:
    """The vector turned by up to ``half_angle`` [rad], evenly over the solid angle."""
    return Spread("cone", {"half_angle": half_angle}, about, unit)


def cap(half_angle: float, about: Number | None = None) -> Spread:
    """Latitude and longitude [rad], evenly over a cap of ``half_angle`` [rad] about a place."""
    return Spread("cap", {"half_angle": half_angle}, about, "rad")


def orientation(half_angle: float | None = None, about: Number | None = None) -> Spread:
    """Attitudes (xyzw): all alike, or those up to an angle [rad] from the one as it stands."""
    return Spread("orientation", {"half_angle": half_angle}, about)


def covariance(
    matrix: Number | None = None,
    about: Number | None = None,
    *,
    sigma: Number | None = None,
    correlation: Number | None = None,
    unit: str = "",
) -> Spread:
    """A vector with a covariance ``matrix``, or with ``sigma`` and ``correlation``."""
    if (matrix is None) == (sigma is None):
        raise InputError("covariance needs either matrix, or sigma with correlation.")
    if matrix is None:
        spread = np.asarray(sigma, dtype=np.float64)
        whole = np.eye(spread.size) if correlation is None else np.asarray(correlation, float)
        matrix = whole * np.outer(spread, spread)
    return Spread("covariance", {"matrix": matrix}, about, unit)


def choice(values: Any, weights: Number | None = None, *, unit: str = "") -> Spread:
    """One of several ``values``; equally often, or by their ``weights``."""
    return Spread("choice", {"values": values, "weights": weights}, unit=unit)


def sweep(
    values: Any = None,
    low: float | None = None,
    high: float | None = None,
    count: int | None = None,
    *,
    unit: str = "",
) -> Spread:
    """Each of ``values``, or ``count`` of them from ``low`` to ``high``, ends included; in the unit
    of the key, SI: [m], [m/s] ...

    Every combination with the values of other sweeps is run once.
    """
    if values is None:
        if low is None or high is None or count is None:
            raise InputError("a sweep needs values, or low, high and count.")
        values = np.linspace(low, high, checked_whole("count", count, 2))
    elif not (low is None and high is None and count is None):
        raise InputError("a sweep needs either values, or low, high and count.")
    return Spread("sweep", {"values": values}, unit=unit)


def table(samples: Any, random: bool = False) -> Spread:
    """Rows that somebody else has drawn, in SI units, a column for each key of a tuple of keys.

    Run k takes row k, or with ``random`` one of the rows, each as likely as the others.
    """
    try:
        rows = np.array(samples, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"a table of samples is not of numbers ({cause}).") from None
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise InputError(
            f"a table of samples has shape {np.shape(samples)}; it must be one row of finite "
            "numbers for each run."
        )
    return Spread(TABLE, {"samples": rows, "random": bool(random)})


def named(kind: str, about: Number | None = None, *, unit: str = "", **parameters: Any) -> Spread:
    """A kind that another package has registered, with its parameters in SI units."""
    return Spread(kind, parameters, about, unit)

"""``Hop``: a push-off that reaches its target; ``Aim``: all that lead from one place to another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.mobility.aiming.ellipse import Ellipse, first_impact_ellipse
from alight.mobility.aiming.families import Family

LEAST, SHALLOW, STEEP = "minimum speed", "shallow", "steep"


@dataclass(frozen=True, eq=False)
class Hop:
    """A push-off that first touches the ground at the target."""

    name: str
    """``minimum speed``, ``shallow`` or ``steep``."""
    family: int
    """Which family it belongs to, from 1; the slowest is the first."""
    throw: tuple[float, float, float]
    """Speed [m/s], azimuth from north towards east and elevation [rad], as a release has them."""
    velocity: Array
    """(3,) the same in target axes [m/s]."""
    time: float
    """Of flight, to the first impact [s]."""
    arrival: Array
    """(3,) velocity on arrival, target axes [m/s]."""
    normal: Array
    """(3,) of the ground at the target."""
    target: Array
    """(3,) on the ground [m]."""
    by_throw: Array
    """(3, 3) derivatives of the place on arrival by speed [s], azimuth and elevation [m/rad]."""
    path: Array
    """(k, 3) centre of mass at equal times [m]."""
    miss: float
    """Distance of the engine's first impact from the target [m]."""
    corrections: int
    """How often the engine's own flights corrected the push-off."""

    @property
    def speed(self) -> float:
        """Of the push-off [m/s]."""
        return self.throw[0]

    @property
    def azimuth(self) -> float:
        """From north towards east [rad]."""
        return self.throw[1]

    @property
    def elevation(self) -> float:
        """Above the horizontal, as the scenario's ``release.vertical`` has it [rad]."""
        return self.throw[2]

    @property
    def arrival_speed(self) -> float:
        """[m/s]."""
        return float(np.linalg.norm(self.arrival))

    @property
    def arrival_angle(self) -> float:
        """Between the arrival and the ground [rad]: 90 degrees is straight down."""
        return math.asin(
            min(1.0, max(-1.0, -float(self.arrival @ self.normal) / self.arrival_speed))
        )

    def ellipse(self, sigma: npt.ArrayLike) -> Ellipse:
        """Of first impacts, for deviations of speed [m/s], azimuth and elevation [rad]."""
        spread = np.asarray(sigma, dtype=np.float64)
        if spread.shape != (3,) or not (np.isfinite(spread).all() and (spread >= 0.0).all()):
            raise InputError(
                f"sigma is {sigma!r}; it must be three numbers of at least 0: of speed [m/s], "
                "azimuth and elevation [rad]."
            )
        return first_impact_ellipse(self.target, self.normal, self.arrival, self.by_throw, spread)

    def sensitivity(self) -> tuple[float, float, float]:
        """How far the first impact moves: per 1 % of speed, per degree of azimuth and of elevation
        [m]."""
        steps = np.array([0.01 * self.speed, math.radians(1.0), math.radians(1.0)])
        units = [self.ellipse(np.eye(3)[k] * steps).semi_axes[0] for k in range(3)]
        return units[0], units[1], units[2]


@dataclass(frozen=True, eq=False)
class Aim:
    """What leads from a start to a target."""

    start: Array
    """(3,) centre of mass of the lander on the ground there [m]."""
    target: Array
    """(3,) on the ground [m]."""
    place: Array
    """Latitude and longitude of the start [rad]; on flat ground a position [m]."""
    hops: tuple[Hop, ...]
    """By family and speed; empty where there is a ``reason``."""
    families: tuple[Family, ...]
    """All that was found on the way, in the order of the hops' families and then the others."""
    max_speed: float
    """The limit [m/s]."""
    reason: str
    """Why there is no hop; empty where there is one."""

    @property
    def distance(self) -> float:
        """Straight from start to target [m]."""
        return float(np.linalg.norm(self.target - self.start))

"""``Hertz``: the contact law of paper 002, a spring of Hertz with a dashpot, and friction.

At a depth d > 0, with d' the speed of going in and u the velocity along the ground,

    F_n = max(0, k d^(3/2) + c d')                  (002 Eq. 37, clamped: erratum 002-8)
    F_t = -mu F_n u / sqrt(u^2 + e^2)               (002 Eq. 38, with a direction: erratum 002-9)

Without the clamp the dashpot would pull as the ground is left. With c > 0 the force jumps by c d'
as the ground is touched. Friction is regularised: far above the slip speed e it is mu F_n, far
below it is a damper, so that a lander on a slope creeps, at e tan(slope)/mu if that is small.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.compliant import Number
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.types import scalar, vec3


@wp.struct
class HertzData:
    """The law's parameters, of one run."""

    stiffness: scalar
    """k [N/m^1.5]"""
    damping: scalar
    """c [N s/m]"""
    friction: scalar
    """mu"""
    slip_speed: scalar
    """e [m/s]"""


@wp.func
def hertz_normal(law: HertzData, depth: scalar, closing: scalar):
    """Normal force [N] at a depth [m] that grows by ``closing`` [m/s]; never negative."""
    if depth <= scalar(0.0):
        return scalar(0.0)
    push = law.stiffness * depth * wp.sqrt(depth) + law.damping * closing
    return wp.max(scalar(0.0), push)


@wp.func
def hertz_friction(law: HertzData, normal: scalar, slip: vec3) -> vec3:
    """Force [N] against ``slip`` [m/s], the velocity along the ground."""
    e = law.slip_speed
    return (-law.friction * normal / wp.sqrt(wp.dot(slip, slip) + e * e)) * slip


@wp.func
def hertz_stored(law: HertzData, depth: scalar):
    """Energy of the spring [J], 2/5 k d^(5/2)."""
    d = wp.max(scalar(0.0), depth)
    return scalar(0.4) * law.stiffness * d * d * wp.sqrt(d)


#: Duration of a hit without a dashpot over depth / speed: 2 sqrt(pi) Gamma(7/5) / Gamma(9/10).
DURATION = 2.0 * math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9)


class Hertz:
    """Hertz's spring with a linear dashpot, never pulling, and regularised friction.

    Each may also be an array with one value for each run of a batch.

    Parameters
    ----------
    stiffness:
        k [N/m^1.5] of each point.
    damping:
        c [N s/m] of each point.
    friction:
        Coulomb's coefficient.
    slip_speed:
        Speed [m/s] at which friction is 0.71 of its greatest. Smaller is truer and stiffer: steps
        must follow a damper of friction x force / slip_speed.
    """

    #: The ``@wp.struct`` class of the law's parameters.
    Data = HertzData

    def __init__(
        self,
        stiffness: Number,
        damping: Number = 0.0,
        friction: Number = 0.0,
        slip_speed: Number = 1e-3,
    ) -> None:
        self.stiffness = _numbers("stiffness [N/m^1.5]", stiffness, above=True)
        self.damping = _numbers("damping [N s/m]", damping)
        self.friction = _numbers("friction", friction)
        self.slip_speed = _numbers("slip_speed [m/s]", slip_speed, above=True)
        lengths = {a.size for a in self._all() if a.size > 1}
        if len(lengths) > 1:
            raise InputError(
                f"contact parameters are given for {' and '.join(map(str, sorted(lengths)))} "
                "runs; each must be one number, or one for each run."
            )
        self.count = max([1, *lengths])

    def _all(self) -> tuple[Array, ...]:
        return self.stiffness, self.damping, self.friction, self.slip_speed

    def rows(self) -> Any:
        """(count,) structured array of ``HertzData``."""
        kind: Any = HertzData
        table: Any = np.zeros(self.count, dtype=kind.numpy_dtype())
        names = ("stiffness", "damping", "friction", "slip_speed")
        for name, values in zip(names, self._all(), strict=True):
            table[name] = values
        return table

    def normal(self, depth: npt.ArrayLike, closing: npt.ArrayLike = 0.0) -> Array:
        """Normal force [N] at depths [m] that grow by ``closing`` [m/s]; of the first run."""
        d = np.asarray(depth, dtype=np.float64)
        push = self.stiffness[0] * np.maximum(d, 0.0) ** 1.5
        push = push + self.damping[0] * np.asarray(closing, dtype=np.float64)
        return np.where(d > 0.0, np.maximum(push, 0.0), 0.0)

    def tangential(self, normal: npt.ArrayLike, slip: npt.ArrayLike) -> Array:
        """Friction (..., 3) [N] against ``slip`` (..., 3) [m/s]; of the first run."""
        u = np.asarray(slip, dtype=np.float64)
        size = np.sqrt((u * u).sum(-1) + self.slip_speed[0] ** 2)
        return np.asarray((-self.friction[0] * np.asarray(normal) / size)[..., None] * u)

    def __repr__(self) -> str:
        told = (a[0] if a.size == 1 else f"[{a.size} values]" for a in self._all())
        k, c, mu, e = told
        return f"Hertz({k}, damping={c}, friction={mu}, slip_speed={e})"


def deepest(mass: float, speed: float, stiffness: float) -> float:
    """Depth [m] of a hit without a dashpot: (5 m v^2 / 4 k)^(2/5)."""
    return float((1.25 * mass * speed**2 / stiffness) ** 0.4)


def duration(mass: float, speed: float, stiffness: float) -> float:
    """How long a hit without a dashpot lasts [s]."""
    return DURATION * deepest(mass, speed, stiffness) / speed


def _numbers(name: str, value: Number, *, above: bool = False) -> Array:
    """(1,) or (n,) finite numbers, positive or not negative."""
    try:
        array = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError):
        array = np.zeros((0, 0))
    if array.ndim != 1 or not array.size:
        raise InputError(f"{name} is {value!r}; it must be a number, or one for each run.")
    for one in array.tolist():
        checked_number(name, one, above=above)
    return array

"""``Hertz``: the contact law of paper 002, a spring of Hertz with a dashpot, and friction.

At a depth d > 0, with d' the speed of going in,

    F_n = max(0, k d^(3/2) + c d')                  (002 Eq. 37, clamped: erratum 002-8)

Without the clamp the dashpot would pull as the ground is left. With c > 0 the force jumps by c d'
as the ground is touched. Friction (002 Eq. 38) has a direction (erratum 002-9) and sticks: it is
that of ``contact.stick_friction``, a spring k_t with a damper c_t along the ground, up to mu F_n.

The paper's friction gives nowhere, so k_t is to be large: what is not given is chosen such that the
lightest mass on it, damped half critically, comes back from a push within T = c_t / k_t, an eighth
of the hit of a pad at 1 m/s. Steps that follow hits follow that too, and mu F_n / k_t is far below
the depth. k_t is constant, not growing with depth as 3/2 k d^(1/2) does and Mindlin's 6/7 of it
would: a spring that grows stiffer while it is drawn makes energy of nothing.

On ground that varies each point has the friction of the place where it touches; k and c are of
lander and ground alike and the same everywhere.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.compliant.law import Number
from alight.contact.ground_properties.property_map import GroundLaw
from alight.contact.ground_properties.regions import NoMapData, no_map
from alight.core import devices
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.given import Given
from alight.core.types import scalar


@wp.struct
class HertzData:
    """The law's parameters, of one run."""

    stiffness: scalar
    """k [N/m^1.5]"""
    damping: scalar
    """c [N s/m]"""
    friction: scalar
    """mu"""
    grip: scalar
    """k_t [N/m]"""
    relaxation: scalar
    """c_t / k_t [s]"""


@wp.func
def hertz_normal(law: HertzData, depth: scalar, closing: scalar):
    """Normal force [N] at a depth [m] that grows by ``closing`` [m/s]; never negative."""
    if depth <= scalar(0.0):
        return scalar(0.0)
    push = law.stiffness * depth * wp.sqrt(depth) + law.damping * closing
    return wp.max(scalar(0.0), push)


@wp.func
def hertz_stored(law: HertzData, depth: scalar):
    """Energy of the spring [J], 2/5 k d^(5/2)."""
    d = wp.max(scalar(0.0), depth)
    return scalar(0.4) * law.stiffness * d * d * wp.sqrt(d)


#: Properties of the ground that the law knows nothing of, and why.
WITHOUT = {
    "restitution": "which springs of Hertz do not have: their stiffness and damping are as given",
    "static_friction": "which springs of Hertz do not have: they stick up to the friction of slip",
    "rolling_resistance": "which pads do not have: they do not roll",
}
#: Relaxation of the grip over the duration of a hit.
RELAXATION = 0.125
#: Duration of a hit without a dashpot over depth / speed: 2 sqrt(pi) Gamma(7/5) / Gamma(9/10).
DURATION = 2.0 * math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9)


class Hertz(Given):
    """Hertz's spring with a linear dashpot, never pulling, and friction that sticks.

    Each may also be an array with one value for each run of a batch.

    Parameters
    ----------
    stiffness:
        k [N/m^1.5] of each point.
    damping:
        c [N s/m] of each point.
    friction:
        Coulomb's coefficient.
    tangential_stiffness:
        k_t [N/m] of each point along the ground, by which it gives before it slides. If not given,
        64 m / t^2, m being the smallest mass that a pad has along the ground and t the duration of
        a hit of the lightest pad at 1 m/s: its give is small against the depth.
    tangential_damping:
        c_t [N s/m] along the ground while it sticks. If not given, half the critical for that mass.
    ground:
        How friction varies over the body: a ``GroundMap`` or ``Regions``. Each point has that of
        the place where it touches. If not given it is the same everywhere.
    """

    #: The ``@wp.struct`` class of the law's parameters.
    Data = HertzData

    def __init__(
        self,
        stiffness: Number,
        damping: Number = 0.0,
        friction: Number = 0.0,
        tangential_stiffness: Number | None = None,
        tangential_damping: Number | None = None,
        *,
        ground: GroundLaw | None = None,
    ) -> None:
        self.stiffness = _numbers("stiffness [N/m^1.5]", stiffness, above=True)
        self.damping = _numbers("damping [N s/m]", damping)
        self.friction = _numbers("friction", friction)
        self.tangential_stiffness = _if_given("tangential_stiffness [N/m]", tangential_stiffness)
        self.tangential_damping = _if_given("tangential_damping [N s/m]", tangential_damping)
        self.ground = _checked_ground(ground)
        lengths = {a.size for a in self._given().values() if a.size > 1}
        if ground is not None and ground.count > 1:
            lengths.add(ground.count)
        if len(lengths) > 1:
            raise InputError(
                f"contact parameters are given for {' and '.join(map(str, sorted(lengths)))} "
                "runs; each must be one number, or one for each run."
            )
        self.count = max([1, *lengths])

    def _given(self) -> dict[str, Array]:
        names = ("stiffness", "damping", "friction", "tangential_stiffness", "tangential_damping")
        return {name: a for name in names if (a := getattr(self, name)) is not None}

    @property
    def ground_law(self) -> tuple[Any, Any]:
        """The function and the struct of the ground, for kernels."""
        return (no_map, NoMapData) if self.ground is None else (self.ground.at, self.ground.Data)

    def ground_data(self, device: devices.Device) -> Any:
        """The parameters of the ground on ``device``."""
        return NoMapData() if self.ground is None else self.ground.data(device)

    def rows(self, mass: float, slip_mass: float) -> Any:
        """(count,) structured array of ``HertzData``: ``mass`` [kg] is that of the lightest pad,
        ``slip_mass`` [kg] the least that a pad has along the ground."""
        kind: Any = HertzData
        table: Any = np.zeros(self.count, dtype=kind.numpy_dtype())
        for name in ("stiffness", "damping", "friction"):
            table[name] = getattr(self, name)
        grip = self.tangential_stiffness
        if grip is None:
            hit = np.array([duration(mass, 1.0, k) for k in self.stiffness])
            grip = slip_mass / (RELAXATION * hit) ** 2
        damping = self.tangential_damping
        if damping is None:
            damping = np.sqrt(grip * slip_mass)
        table["grip"], table["relaxation"] = grip, damping / grip
        return table

    def normal(self, depth: npt.ArrayLike, closing: npt.ArrayLike = 0.0) -> Array:
        """Normal force [N] at depths [m] that grow by ``closing`` [m/s]; of the first run."""
        d = np.asarray(depth, dtype=np.float64)
        push = self.stiffness[0] * np.maximum(d, 0.0) ** 1.5
        push = push + self.damping[0] * np.asarray(closing, dtype=np.float64)
        return np.where(d > 0.0, np.maximum(push, 0.0), 0.0)

    def __repr__(self) -> str:
        given = self._given()
        told = {n: a[0] if a.size == 1 else f"[{a.size} values]" for n, a in given.items()}
        ground = "" if self.ground is None else f", ground={self.ground!r}"
        return f"Hertz({', '.join(f'{name}={value}' for name, value in told.items())}{ground})"


def _checked_ground(ground: GroundLaw | None) -> GroundLaw | None:
    """``ground``, if all that it varies is something that the law has."""
    if ground is None:
        return None
    if not isinstance(ground, GroundLaw):
        raise InputError(f"ground is {ground!r}; it must be a GroundMap or Regions.")
    for name in ground.varies:
        if name in WITHOUT:
            raise InputError(
                f"the ground varies {name.replace('_', ' ')}, {WITHOUT[name]}; leave it out of the "
                "map or region. The friction of pads may vary."
            )
    return ground


def deepest(mass: float, speed: float, stiffness: float) -> float:
    """Depth [m] of a hit without a dashpot: (5 m v^2 / 4 k)^(2/5)."""
    return float((1.25 * mass * speed**2 / stiffness) ** 0.4)


def duration(mass: float, speed: float, stiffness: float) -> float:
    """How long a hit without a dashpot lasts [s]."""
    return DURATION * deepest(mass, speed, stiffness) / speed


def _if_given(name: str, value: Number | None) -> Array | None:
    return None if value is None else _numbers(name, value, above=True)


def _numbers(name: str, value: Number, *, above: bool = False) -> Array:
    """(1,) or (n,) finite numbers, positive or not negative."""
    try:
        array = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError):
        array = np.zeros((0, 0))
    if array.ndim != 1 or not array.size:
        raise InputError(f"{name} is {value!r}; it must be a number, or one for each run.")
    fine = np.isfinite(array) & ((array > 0.0) if above else (array >= 0.0))
    for one in array[~fine].tolist():
        checked_number(name, one, above=above)
    return array

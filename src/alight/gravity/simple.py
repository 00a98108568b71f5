"""The two simplest fields: uniform gravity and a point mass."""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.gravity.law import FieldValue, Gravity


@wp.struct
class UniformData:
    """Acceleration [m/s^2] and the point of zero potential [m]."""

    acceleration: vec3
    origin: vec3


@wp.func
def uniform_field(data: UniformData, x: vec3):
    """U = g.(x - origin)."""
    value = FieldValue()
    value.potential = wp.dot(data.acceleration, x - data.origin)
    value.acceleration = data.acceleration
    return value


class Uniform(Gravity):
    """The same acceleration [m/s^2] everywhere; U = g.(x - origin) falls to 0 at ``origin`` [m]."""

    Data = UniformData
    field = uniform_field

    def __init__(self, acceleration: npt.ArrayLike, origin: npt.ArrayLike = (0, 0, 0)) -> None:
        self.vector = checked_vector("acceleration [m/s^2]", acceleration)
        self.origin = checked_vector("origin [m]", origin)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = UniformData()
        data.acceleration, data.origin = vec3(*self.vector), vec3(*self.origin)
        return data


@wp.struct
class PointMassData:
    """GM [m^3/s^2] and place [m]."""

    gm: scalar
    center: vec3


@wp.func
def point_mass_field(data: PointMassData, x: vec3):
    """U = GM / r."""
    r = x - data.center
    inverse = scalar(1.0) / wp.length(r)
    potential = data.gm * inverse
    over_square = potential * inverse * inverse
    n = r * inverse
    value = FieldValue()
    value.potential = potential
    value.acceleration = -over_square * r
    value.gradient = over_square * (scalar(3.0) * wp.outer(n, n) - wp.identity(n=3, dtype=scalar))
    return value


class PointMass(Gravity):
    """All the mass, ``gm`` [m^3/s^2], in one point [m]; also the field of a ball, outside it."""

    Data = PointMassData
    field = point_mass_field

    def __init__(self, gm: float, center: npt.ArrayLike = (0, 0, 0)) -> None:
        self.gm = checked_number("gm [m^3/s^2]", gm)
        self.center = checked_vector("center [m]", center)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = PointMassData()
        data.gm, data.center = self.gm, vec3(*self.center)
        return data

    def _evaluate(
        self, points: Array, device: devices.Device, threads: int | None
    ) -> tuple[Array, Array, Array]:
        at_center = np.flatnonzero((points == self.center).all(axis=1))
        if len(at_center):
            raise InputError(
                f"point {int(at_center[0])} is the point mass itself, where the field is infinite; "
                "use gravity.Polyhedron for a field inside a body"
            )
        return super()._evaluate(points, device, threads)

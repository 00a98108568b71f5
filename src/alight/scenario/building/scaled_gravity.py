"""``Scaled``: a gravity law times a factor, so that one table serves a body of any mass."""

import functools
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.checks import checked_number
from alight.core.types import scalar, vec3
from alight.gravity import Gravity
from alight.gravity.law import FieldValue


@functools.cache
def _scaled_law(base_field: Any, base_flight: Any, base_data: Any) -> tuple[Any, Any, Any]:
    """Data and kernel functions of a multiple of one kind of law."""

    @wp.struct
    class ScaledData:
        base: base_data
        factor: scalar

    @wp.func
    def times(value: FieldValue, factor: scalar):
        value.potential *= factor
        value.acceleration *= factor
        value.gradient *= factor
        return value

    @wp.func
    def field(data: ScaledData, x: vec3):
        return times(base_field(data.base, x), data.factor)

    @wp.func
    def flight(data: ScaledData, x: vec3):
        return times(base_flight(data.base, x), data.factor)

    return ScaledData, field, flight


class Scaled(Gravity):
    """``factor`` times the field of ``base``: the same shape with another mass."""

    def __init__(self, base: Gravity, factor: float) -> None:
        self.base, self.factor = base, checked_number("factor", factor)
        self.Data, self.field, self._flight = _scaled_law(base.field, base.flight, base.Data)

    @property
    def flight(self) -> Any:
        """That of the base, scaled."""
        return self._flight

    def data(self, device: devices.Device) -> Any:
        """Those of the base, and the factor."""
        data = self.Data()
        data.base, data.factor = self.base.data(device), self.factor
        return data

    def __repr__(self) -> str:
        return f"Scaled({self.base!r}, {self.factor:.9g})"

"""Pushes that begin and end: a law that acts in a span of time, and the same push everywhere.

No step passes over the beginning or the end of a push: ``next(data, t)`` names the first time after
t at which it switches.
"""

import functools
from typing import Any

import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import checked_number, checked_vector
from alight.core.errors import InputError, unknown_name
from alight.core.types import quat, scalar, vec3
from alight.flight.external import External, Push

_NEVER = wp.constant(scalar(1e30))


@wp.struct
class SteadyPushData:
    """Acceleration [m/s^2], and 1 where it is given in target axes."""

    acceleration: vec3
    in_target: int


@wp.func
def steady_push(data: SteadyPushData, t: scalar, q_NT: quat, x: vec3):
    """The same everywhere; its potential falls to 0 at the target's centre."""
    found = Push()
    found.acceleration = data.acceleration
    if data.in_target == 0:
        found.acceleration = wp.quat_rotate_inv(q_NT, data.acceleration)
    found.potential = wp.dot(found.acceleration, x)
    return found


class SteadyPush(External):
    """The same ``acceleration`` [m/s^2] everywhere, in ``axes`` "inertial" or "target"."""

    Data = SteadyPushData
    push = steady_push

    def __init__(self, acceleration: npt.ArrayLike, axes: str = "inertial") -> None:
        self.acceleration = checked_vector("acceleration [m/s^2]", acceleration)
        if axes not in ("inertial", "target"):
            raise unknown_name("axes", str(axes), ("inertial", "target"))
        self.axes = axes
        self.steady = axes == "target"

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = SteadyPushData()
        data.acceleration, data.in_target = vec3(*self.acceleration), int(self.axes == "target")
        return data


@functools.cache
def _timed_law(push: Any, data_type: Any, own_next: Any) -> tuple[Any, Any, Any]:
    """Data, push and switching times of a law that acts in a span of time."""

    @wp.struct
    class TimedData:
        law: data_type
        start: scalar  # [s]
        end: scalar  # [s]

    @wp.func
    def timed_push(data: TimedData, t: scalar, q_NT: quat, x: vec3):
        if t < data.start or t >= data.end:
            return Push()
        return push(data.law, t, q_NT, x)

    @wp.func
    def timed_next(data: TimedData, t: scalar):
        if t < data.start:
            return data.start
        if t >= data.end:
            return _NEVER
        soon = data.end
        if wp.static(own_next is not None):
            soon = wp.min(soon, own_next(data.law, t))
        return soon

    return TimedData, timed_push, timed_next


class Timed(External):
    """``law`` from ``start`` to ``end`` [s], and nothing before and after.

    ``Timed(SteadyPush((0, 0, 0.1)), 100.0, 101.0)`` gives 0.1 m/s within one second.
    """

    def __init__(self, law: External, start: float, end: float) -> None:
        if not isinstance(law, External):
            raise InputError(f"{law!r} is no external law, such as flight.SteadyPush(...)")
        self.law = law
        self.start = checked_number("start [s]", start, above=False)
        self.end = checked_number("end [s]", end)
        if self.end <= self.start:
            raise InputError(f"a push from {start:g} s to {end:g} s never acts; end it later.")
        self.Data, self.push, self.next = _timed_law(law.push, law.Data, law.next)

    def data(self, device: devices.Device) -> Any:
        """The parameters of the law, and its times."""
        data = self.Data()
        data.law, data.start, data.end = self.law.data(device), self.start, self.end
        return data

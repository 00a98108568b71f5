"""What a model's actuators are to its kernel: their kinds, their parameters and rows of memory."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from alight.actuators import Actuator, Controller, Wheel
from alight.actuators.law import NoActuatorData, combined, combined_data
from alight.actuators.programme_kernel import Programmes, programmes
from alight.actuators.wheel import WheelData
from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import scalar, vec3

#: Rows of memory: when the ground was first touched and the lander came to rest [s], how often the
#: latter, what actuators have done [J], and 1 in a step that they drive; then those of wheels.
TOUCHED, RESTED, RESTS, WORK, DRIVEN = (wp.constant(i) for i in range(5))
WHEELS = wp.constant(5)
#: Of each wheel: absolute momentum [N m s], 1 where it is held, and since when it is commanded as
#: it is [s].
MOMENTUM, HELD, SINCE = (wp.constant(i) for i in range(3))
EACH = wp.constant(3)


@wp.struct
class Drive:
    """What actuators do in the step under way; constant in it, body axes."""

    gyro: vec3  # momentum of free wheels at its start [N m s]
    gyro_rate: vec3  # and how it changes [N m]
    force: vec3  # [N]
    torque: vec3  # about the centre of mass [N m]
    stored: scalar  # kinetic energy of free wheels, sum of p^2 / 2 J [J]
    work: scalar  # of all actuators so far [J]


@dataclass(frozen=True)
class DriveLaws:
    """The kinds of actuators; models with equal ones share a kernel."""

    wheels: int
    pushers: tuple[tuple[Any, Any, Any], ...]
    """Data, act and kick of each."""
    controllers: tuple[tuple[Any, Any], ...]
    """Data and command of each, in the order of the levels that they set."""
    sees_height: bool

    @property
    def levels(self) -> int:
        """Motor and brake of each wheel, then one for each other actuator."""
        return 2 * self.wheels + len(self.pushers)

    @property
    def level_row(self) -> int:
        """The first row of levels."""
        return int(WHEELS) + int(EACH) * self.wheels

    @property
    def due_row(self) -> int:
        """The first row of the times at which controllers set them [s]."""
        return self.level_row + self.levels

    @property
    def kick_row(self) -> int:
        """The first row of 1 where an actuator has just been switched on."""
        return self.due_row + self.levels

    @property
    def rows(self) -> int:
        """Rows of memory of a run."""
        return self.kick_row + len(self.pushers)

    @property
    def Data(self) -> Any:
        """The struct of all parameters."""
        return _data_type(self)


@functools.cache
def _data_type(laws: DriveLaws) -> Any:
    push_data = combined(laws.pushers)[0]
    control_data = controllers(laws.controllers)[0]

    @wp.struct
    class ActuatorsData:
        wheels: wp.array(dtype=WheelData)
        programmes: Programmes
        pushers: push_data
        controllers: control_data

    return ActuatorsData


@functools.cache
def controllers(kinds: tuple[tuple[Any, Any], ...]) -> tuple[Any, Any]:
    """Data of all, and the function ``(data, which, scene, level) -> level`` of one of them."""
    if not kinds:

        @wp.func
        def unchanged(data: NoActuatorData, which: int, scene: Any, level: scalar):
            return level

        return NoActuatorData, unchanged
    first_type, first = controllers(kinds[:-1])
    last_type, command = kinds[-1]
    number = len(kinds) - 1

    @wp.struct
    class ControllersData:
        first: first_type
        second: last_type

    @wp.func
    def control(data: ControllersData, which: int, scene: Any, level: scalar):
        if which == wp.static(number):
            return command(data.second, scene, level)
        return first(data.first, which, scene, level)

    return ControllersData, control


class Drives:
    """The actuators of one model."""

    def __init__(self, actuators: Sequence[Any]) -> None:
        for one in actuators:
            if not isinstance(one, Wheel | Actuator):
                raise InputError(
                    f"{one!r} is among the actuators; each must be a Wheel, Thruster, Spring or "
                    "another Actuator."
                )
            body = getattr(one, "body", None)
            if body is not None:
                raise InputError(
                    f'actuator "{one.name}" is fixed in body "{body}"; a rigid lander is one '
                    "body, so leave body out."
                )
        self.wheels = tuple(a for a in actuators if isinstance(a, Wheel))
        self.pushers = tuple(a for a in actuators if isinstance(a, Actuator))
        self.commands = tuple(
            command
            for commands in (
                *((w.motor, w.braking) for w in self.wheels),
                *((a.schedule,) for a in self.pushers),
            )
            for command in commands
        )
        controlling = [c for c in self.commands if isinstance(c, Controller)]
        self.laws = DriveLaws(
            len(self.wheels),
            tuple((a.Data, a.act, a.kick) for a in self.pushers),
            tuple((c.Data, c.command) for c in controlling),
            any(getattr(a, "sees_height", False) for a in (*self.pushers, *controlling)),
        )
        self._controlling = controlling

    def free_inertia(self, inertia: Array) -> Array:
        """The lander's with all wheels free [kg m^2]."""
        return np.asarray(inertia - sum((w.tensor for w in self.wheels), np.zeros((3, 3))))

    def check_inertia(self, inertia: Array) -> None:
        """Raise where wheels have more inertia than the lander that they are in."""
        if self.wheels and np.linalg.eigvalsh(self.free_inertia(inertia))[0] <= 0.0:
            sizes = ", ".join(f'"{w.name}" {w.inertia:g} kg m^2' for w in self.wheels)
            raise InputError(
                f"the wheels ({sizes}) have more inertia than the lander has with them held, "
                f"{np.diag(inertia)} kg m^2 about its axes. The lander's inertia includes its "
                "wheels: make them smaller, or give it more."
            )

    def data(self, device: devices.Device) -> Any:
        """All parameters, their arrays on ``device``."""
        data = self.laws.Data()
        rows: Any = np.zeros(len(self.wheels), dtype=WheelData.numpy_dtype())  # type: ignore[attr-defined]
        for i, wheel in enumerate(self.wheels):
            for name, value in zip(rows.dtype.names, wheel.row(), strict=True):
                rows[i][name] = value
        data.wheels = wp.array(rows, dtype=WheelData, device=device.name)
        data.programmes = programmes(self.commands, device)
        data.pushers = combined_data(self.pushers, device)
        data.controllers = self._control_data(device)
        return data

    def _control_data(self, device: devices.Device) -> Any:
        data: Any = NoActuatorData()
        for count, one in enumerate(self._controlling, start=1):
            both = controllers(self.laws.controllers[:count])[0]()
            both.first, both.second = data, one.data(device)
            data = both
        return data

    def told(self, rows: Array, inertial_rate: Array) -> tuple[Array, Array]:
        """(n, wheels) speeds [rad/s] and (n,) work of all actuators [J] from rows of memory."""
        speeds = np.zeros((len(rows), len(self.wheels)))
        for i, wheel in enumerate(self.wheels):
            at = int(WHEELS) + int(EACH) * i
            free = rows[:, at + int(HELD)] == 0.0
            absolute = rows[:, at + int(MOMENTUM)] / wheel.inertia
            speeds[:, i] = np.where(free, absolute - inertial_rate @ wheel.axis, 0.0)
        return speeds, rows[:, int(WORK)]

    def start(self, inertial_rate: Array) -> Array:
        """(n, rows) memory of runs released at inertial rates (n, 3) [rad/s], body axes."""
        rows = np.zeros((len(inertial_rate), self.laws.rows))
        rows[:, [TOUCHED, RESTED]] = 1e30
        for i, wheel in enumerate(self.wheels):
            at = int(WHEELS) + int(EACH) * i
            absolute = wheel.speed + inertial_rate @ wheel.axis
            rows[:, at + int(MOMENTUM)] = wheel.inertia * absolute
            rows[:, at + int(HELD)] = wheel.speed == 0.0
        return rows

"""What a model's actuators are to its kernel: their kinds, their parameters and rows of memory."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Actuator, Arm, Controller, FollowPlan, PythonController, Wheel
from alight.actuators.arm import ArmData, without_arms
from alight.actuators.law import NoActuatorData, combined, combined_data
from alight.actuators.programme_kernel import Programmes, programmes
from alight.actuators.wheel import WheelData
from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3
from alight.motions.rigid.drive.controllers import controllers
from alight.motions.rigid.drive.manoeuvres import (
    EACH_LEVEL,
    OWN,
    RECORD,
    Tour,
    TourData,
    check_commands,
    records_of,
)

#: Rows of memory: when the ground was first touched and the lander came to rest [s], how often the
#: latter, what actuators have done [J], 1 in a step that they drive, how often the lander left the
#: ground after coming to rest, and 1 until it does so; then those of wheels.
TOUCHED, RESTED, RESTS, WORK, DRIVEN, HOPS, RESTING = (wp.constant(i) for i in range(7))
WHEELS = wp.constant(7)
#: Of each wheel: absolute momentum [N m s], 1 where it is held, 2 in the step that does so in no
#: time, since when it is commanded as it is
#: [s], its largest speed [rad/s], and what motor, brake and bearing have done [J].
MOMENTUM, HELD, SINCE, FASTEST, WHEEL_WORK = (wp.constant(i) for i in range(5))
EACH = wp.constant(5)
#: Of each arm: angle since the release [rad], rate [rad/s], its change in the step under way
#: [rad/s^2], and what its motor has done [J].
ANGLE, RATE, PACE, ARM_WORK = (wp.constant(i) for i in range(4))
ARM_EACH = wp.constant(4)
#: Of throws: when the next one is [s], its velocity [m/s], and the number that its errors are drawn
#: by.
THROW, THROWN, DRAW = (wp.constant(i) for i in (0, 1, 4))
THROW_EACH = wp.constant(5)


@wp.struct
class Drive:
    """What actuators do in the step under way; constant in it, body axes."""

    gyro: vec3  # momentum of free wheels and of arms at its start [N m s]
    gyro_rate: vec3  # and how it changes, with what arms change of the inertia [N m]
    force: vec3  # [N]
    torque: vec3  # about the centre of mass [N m]
    stored: scalar  # kinetic energy of free wheels, sum of p^2 / 2 J, and of arms [J]
    work: scalar  # of all actuators so far [J]
    home: mat33  # inertia with arms as released [kg m^2]
    shift_rate: vec3  # how the centre of mass moves in the body [m/s]
    frame: vec3  # acceleration of the body's point there against it [m/s^2]
    jerk: vec3  # what wheels that are held in no time would change the rate by [rad/s]


@dataclass(frozen=True)
class DriveLaws:
    """The kinds of actuators; models with equal ones share a kernel."""

    wheels: int
    arms: int
    pushers: tuple[tuple[Any, Any, Any], ...]
    """Data, act and kick of each."""
    controllers: tuple[tuple[Any, Any], ...]
    """Data and command of each, in the order of the levels that they set."""
    sees_height: bool
    instant: bool = False
    """Whether a brake may stop its wheel at once."""
    manoeuvres: int = 0
    """How many are carried out."""
    throws: bool = False
    """Whether some of them follow a plan."""
    hosted: tuple[int, ...] = ()
    """Numbers of the levels that functions of Python set."""

    @property
    def levels(self) -> int:
        """Motor and brake of each wheel, then one for each arm and each other actuator."""
        return self.push_level + len(self.pushers)

    @property
    def push_level(self) -> int:
        """The number of the first level that is none of a wheel or an arm."""
        return 2 * self.wheels + self.arms

    @property
    def arm_row(self) -> int:
        """The first row of arms."""
        return int(WHEELS) + int(EACH) * self.wheels

    @property
    def push_row(self) -> int:
        """The first row of what other actuators have done [J]."""
        return self.arm_row + int(ARM_EACH) * self.arms

    @property
    def level_row(self) -> int:
        """The first row of levels."""
        return self.push_row + len(self.pushers)

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
        return self.record_row + int(RECORD) * self.manoeuvres

    @property
    def tour_row(self) -> int:
        """The first row of what manoeuvres keep."""
        return self.jerk_row + (3 if self.instant else 0)

    @property
    def record_row(self) -> int:
        """The first row of their records."""
        own = int(OWN) + int(EACH_LEVEL) * self.levels
        own += int(THROW_EACH) if self.throws else 0
        return self.tour_row + (own if self.manoeuvres else 0)

    @property
    def throw_row(self) -> int:
        """The first row of throws."""
        return self.tour_row + int(OWN) + int(EACH_LEVEL) * self.levels

    @property
    def jerk_row(self) -> int:
        """The first row of what wheels stopped at once change the rate by [rad/s]."""
        return self.kick_row + len(self.pushers) + (self.levels if self.hosted else 0)

    @property
    def said_row(self) -> int:
        """The first row of levels that the host has said; -1 where it says none."""
        return self.kick_row + len(self.pushers) if self.hosted else -1

    @property
    def Data(self) -> Any:
        """The struct of all parameters."""
        return _data_type(self)


@functools.cache
def _data_type(laws: DriveLaws) -> Any:
    push_data = combined(laws.pushers)[0]
    control_data = controllers(laws.controllers)[0]
    tour_data = TourData if laws.manoeuvres else NoActuatorData

    @wp.struct
    class ActuatorsData:
        wheels: wp.array(dtype=WheelData)
        arms: wp.array(dtype=ArmData)
        programmes: Programmes
        pushers: push_data
        controllers: control_data
        tour: tour_data

    return ActuatorsData


class Told(NamedTuple):
    """What actuators leave of n runs."""

    wheel_speed: Array
    """(n, wheels) relative to the lander [rad/s]."""
    actuator_work: Array
    """(n,) of all [J]."""
    wheel_max_speed: Array
    """(n, wheels) [rad/s]."""
    arm_angle: Array
    """(n, arms) since the release [rad]."""
    work_each: Array
    """(n, actuators) of wheels, arms and others, in that order [J]."""
    hops: npt.NDArray[np.int32]
    """(n,)"""
    manoeuvres: Any
    """(n, manoeuvres) structured array of their records (``manoeuvres.HOP_FIELDS``)."""


class Drives:
    """The actuators of one model."""

    def __init__(self, actuators: Sequence[Any], tour: Tour | None = None) -> None:
        for one in actuators:
            if not isinstance(one, Wheel | Arm | Actuator):
                raise InputError(
                    f"{one!r} is among the actuators; each must be a Wheel, Arm, Thruster, Spring "
                    "or another Actuator."
                )
            body = getattr(one, "body", None)
            if body is not None:
                raise InputError(
                    f'actuator "{one.name}" is fixed in body "{body}"; a rigid lander is one '
                    "body, so leave body out."
                )
        self.wheels = tuple(a for a in actuators if isinstance(a, Wheel))
        self.arms = tuple(a for a in actuators if isinstance(a, Arm))
        self.pushers = tuple(a for a in actuators if isinstance(a, Actuator))
        self.commands = tuple(
            command
            for commands in (
                *((w.motor, w.braking) for w in self.wheels),
                *((a.schedule,) for a in self.arms),
                *((a.schedule,) for a in self.pushers),
            )
            for command in commands
        )
        self.tour = tour
        self.radius = 0.0 if tour is None else tour.lander.bounding_radius
        if tour is not None:
            check_commands(actuators)
        controlling = [c for c in self.commands if isinstance(c, Controller)]
        self.laws = DriveLaws(
            len(self.wheels),
            len(self.arms),
            tuple((a.Data, a.act, a.kick) for a in self.pushers),
            tuple((c.Data, c.command) for c in controlling),
            any(getattr(a, "sees_height", False) for a in (*self.pushers, *controlling)),
            any(math.isinf(w.brake) for w in self.wheels),
            0 if tour is None else len(tour.rows),
            tour is not None and tour.throws,
            tuple(i for i, c in enumerate(self.commands) if isinstance(c, PythonController)),
        )
        self._controlling = controlling

    @property
    def names(self) -> list[str]:
        """Of wheels, arms and others, in the order of ``Told.work``."""
        pushers = [a.name or type(a).__name__.lower() for a in self.pushers]
        return [*(w.name for w in self.wheels), *(a.name for a in self.arms), *pushers]

    @property
    def goal(self) -> tuple[Array, float]:
        """Place and radius [m] of the goal of the last plan that is followed."""
        assert self.tour is not None
        plans = [c.plan for one in self.tour.manoeuvres if isinstance(c := one.command, FollowPlan)]
        return plans[-1].goal, plans[-1].goal_radius

    def free_inertia(self, inertia: Array) -> Array:
        """The lander's with all wheels free [kg m^2]."""
        return np.asarray(inertia - sum((w.tensor for w in self.wheels), np.zeros((3, 3))))

    def least_inertia(self, mass: float, inertia: Array) -> Array:
        """What the lander's inertia is never below, wherever its arms are [kg m^2]: that without
        them, all wheels free."""
        return self.free_inertia(without_arms(self.arms, mass, inertia)[1])

    def farthest_shift(self, mass: float) -> float:
        """How far arms can move the centre of mass, at most [m]."""
        return sum(2.0 * a.mass * float(np.linalg.norm(a.reach)) for a in self.arms) / mass

    def check_body(self, mass: float, inertia: Array) -> None:
        """Raise where wheels or arms are more than the lander that they are in."""
        self._check_wheels(inertia)
        if not self.arms:
            return
        left, least = without_arms(self.arms, mass, inertia)
        if left <= 0.0 or np.linalg.eigvalsh(self.free_inertia(least))[0] <= 0.0:
            sizes = ", ".join(
                f'"{a.name}" {a.mass:g} kg at {np.linalg.norm(a.place):g} m' for a in self.arms
            )
            raise InputError(
                f"the arms ({sizes}) have more mass or inertia than the lander with them, {mass:g} "
                f"kg and {np.diag(inertia)} kg m^2 about its axes. The lander's mass and inertia "
                "include its arms: make them lighter or shorter, or give it more."
            )
        kicks = [a.name or type(a).__name__ for a in self.pushers if a.kick is not None]
        if kicks:
            raise InputError(
                f"the lander has arms and {', '.join(kicks)}, which pushes it off at once: such "
                "impulses are computed about the centre of mass as released, which arms move. "
                "Take the arms or the springs away, or hop with a Thruster of short time."
            )

    def _check_wheels(self, inertia: Array) -> None:
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
        data.wheels = _rows(WheelData, self.wheels, device)
        data.arms = _rows(ArmData, self.arms, device)
        data.programmes = programmes(self.commands, device)
        data.pushers = combined_data(self.pushers, device)
        data.controllers = self._control_data(device)
        if self.tour is not None:
            data.tour = self.tour.data(self.laws.levels, device)
        return data

    def _control_data(self, device: devices.Device) -> Any:
        data: Any = NoActuatorData()
        for count, one in enumerate(self._controlling, start=1):
            both = controllers(self.laws.controllers[:count])[0]()
            both.first, both.second = data, one.data(device)
            data = both
        return data

    def told(self, rows: Array, inertial_rate: Array) -> Told:
        """What rows (n, k) of memory tell, at inertial rates (n, 3) [rad/s], body axes."""
        speeds = np.zeros((len(rows), len(self.wheels)))
        for i, wheel in enumerate(self.wheels):
            at = int(WHEELS) + int(EACH) * i
            free = rows[:, at + int(HELD)] == 0.0
            absolute = rows[:, at + int(MOMENTUM)] / wheel.inertia
            speeds[:, i] = np.where(free, absolute - inertial_rate @ wheel.axis, 0.0)
        laws = self.laws
        of_wheels = int(WHEELS) + int(EACH) * np.arange(laws.wheels)
        of_arms = laws.arm_row + int(ARM_EACH) * np.arange(laws.arms)
        others = laws.push_row + np.arange(len(laws.pushers))
        each = np.concatenate([of_wheels + int(WHEEL_WORK), of_arms + int(ARM_WORK), others])
        return Told(
            speeds,
            rows[:, int(WORK)],
            # What the step that ended a run brought is not noted in it.
            np.maximum(rows[:, of_wheels + int(FASTEST)], np.abs(speeds)),
            rows[:, of_arms + int(ANGLE)],
            rows[:, each],
            rows[:, int(HOPS)].astype(np.int32),
            records_of(rows[:, laws.record_row :], laws.manoeuvres, self.radius),
        )

    def start(self, inertial_rate: Array, draw: npt.NDArray[Any]) -> Array:
        """(n, rows) memory of runs released at inertial rates (n, 3) [rad/s], body axes; throws
        err by the numbers ``draw`` (n,)."""
        rows = np.zeros((len(inertial_rate), self.laws.rows))
        rows[:, [TOUCHED, RESTED]] = 1e30
        for i, wheel in enumerate(self.wheels):
            at = int(WHEELS) + int(EACH) * i
            absolute = wheel.speed + inertial_rate @ wheel.axis
            rows[:, at + int(MOMENTUM)] = wheel.inertia * absolute
            rows[:, at + int(HELD)] = wheel.speed == 0.0
            rows[:, at + int(FASTEST)] = abs(wheel.speed)
        if self.tour is not None:
            at = self.laws.tour_row + int(OWN)
            end = at + int(EACH_LEVEL) * self.laws.levels
            rows[:, at:end] = 1e30
            rows[:, at : end : int(EACH_LEVEL)] = 0.0
            if self.laws.throws:
                rows[:, end + int(THROW)] = 1e30
                rows[:, end + int(DRAW)] = draw
        return rows


def _rows(data: Any, parts: Sequence[Any], device: devices.Device) -> Any:
    """The parameters of wheels or arms, a row for each."""
    rows: Any = np.zeros(len(parts), dtype=data.numpy_dtype())
    for i, part in enumerate(parts):
        for name, value in zip(rows.dtype.names, part.row(), strict=True):
            rows[i][name] = value
    return wp.array(rows, dtype=data, device=device.name)

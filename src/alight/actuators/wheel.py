"""A wheel in a rigid lander, with a motor and a brake.

The wheel is balanced and turns about an axis a that is fixed in the lander; J is its moment of
inertia about it, Om its speed relative to the lander. With w the lander's inertial rate, its
absolute momentum p = J (Om + a . w) changes by the torque u in its bearing alone, p' = u, and the
lander gets -u a. The lander's inertia, as it is given, is with the wheel held: while it is free,
the lander turns as if it were J a a^T less.

- The motor gives level * torque, or with a top speed level * torque - torque |level| Om / top.
- The brake, and friction in the bearing, act against Om; at Om = 0 they hold the wheel. It is held
  from then on, until the motor overcomes them. Held wheels take part in every push, without slip.
- A brake of infinite torque stops the wheel at once: w = I^-1 H in flight; on rigid ground the
  impulses of wheel and contacts are solved together, without restitution.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.law import require_command
from alight.actuators.schedule import Schedule
from alight.core.checks import Array, checked_direction, checked_number
from alight.core.errors import InputError
from alight.core.types import scalar, vec3

#: What stands for infinite torque in kernels [N m].
INSTANT = 1e30


@wp.struct
class WheelData:
    """One wheel."""

    axis: vec3  # unit, body axes
    inertia: scalar  # about it [kg m^2]
    torque: scalar  # of the motor at level 1, at a stand [N m]
    slowing: scalar  # of the motor at level 1: torque over top speed [N m s]
    brake: scalar  # torque at level 1 [N m]
    friction: scalar  # torque in the bearing, always [N m]


@wp.func
def motor_torque(wheel: WheelData, level: scalar, speed: scalar):
    """Of the motor on the wheel at a relative ``speed`` [rad/s], [N m]."""
    return level * wheel.torque - wp.abs(level) * wheel.slowing * speed


@wp.func
def brake_torque(wheel: WheelData, level: scalar):
    """What acts against the motion [N m]."""
    return wp.abs(level) * wheel.brake + wheel.friction


@wp.struct
class Spun:
    """A wheel after some time."""

    speed: scalar  # [rad/s]
    held: bool


@wp.func
def spin_at_rest(wheel: WheelData, motor: scalar, brake: scalar, speed: scalar, dt: scalar):
    """Speed [rad/s] after ``dt`` [s] at constant levels in a lander that does not move.

    J Om' = T - s Om - sign(Om) b has exponentials as solutions, or straight lines where s is 0,
    from one stand to the next.
    """
    out = Spun()
    out.speed = speed
    left = dt
    against = brake_torque(wheel, brake)
    stall = motor_torque(wheel, motor, scalar(0.0))
    slowing = wp.abs(motor) * wheel.slowing
    for _leg in range(2):
        way = wp.sign(out.speed)
        if out.speed == scalar(0.0):
            way = wp.sign(stall)
            if wp.abs(stall) <= against:
                out.held = against > scalar(0.0)
                left = scalar(0.0)
        torque = stall - way * against
        if left > scalar(0.0):
            # In s Om / J = k Om: Om(t) = Om + (T / J - k Om) (1 - exp(-k t)) / k.
            k = slowing / wheel.inertia
            pace = torque / wheel.inertia - k * out.speed
            until = left
            if pace * way < scalar(0.0) and out.speed != scalar(0.0):
                share = -out.speed / pace
                if k > scalar(0.0):
                    inside = scalar(1.0) - k * share
                    share = scalar(1e300)
                    if inside > scalar(0.0):
                        share = -wp.log(inside) / k
                until = wp.min(left, share)
            if until < left:
                out.speed = scalar(0.0)
            else:
                reach = until
                if k * until > scalar(1e-8):
                    reach = (scalar(1.0) - wp.exp(-k * until)) / k
                out.speed += pace * reach
            left = left - until
    return out


class Wheel:
    """A flywheel: ``axis`` in body axes, ``inertia`` about it [kg m^2].

    ``torque`` [N m] is that of the motor at level 1; with a ``top_speed`` [rad/s] it falls evenly
    to 0 there. ``brake`` [N m] is the torque of the brake at level 1, ``math.inf`` for one that
    stops it at once, ``friction`` [N m] that in the bearing. ``motor`` and ``braking`` are their
    commands, by default none. ``speed`` [rad/s] is how fast it turns at the release, relative to
    the lander; at 0 it is held.
    """

    def __init__(
        self,
        axis: npt.ArrayLike,
        inertia: float,
        torque: float = 0.0,
        brake: float = 0.0,
        top_speed: float = math.inf,
        friction: float = 0.0,
        speed: float = 0.0,
        motor: Schedule | Controller | None = None,
        braking: Schedule | Controller | None = None,
        name: str = "wheel",
    ) -> None:
        self.name, who = name, f'wheel "{name}"'
        self.axis = checked_direction(f"the axis of {who}", axis)
        self.inertia = checked_number(f"the inertia of {who} [kg m^2]", inertia)
        self.torque = checked_number(f"the torque of {who} [N m]", torque, above=False)
        if brake != math.inf:
            brake = checked_number(f"the brake of {who} [N m]", brake, above=False)
        self.brake = float(brake)
        self.friction = checked_number(f"the friction of {who} [N m]", friction, above=False)
        self.speed = checked_number(f"the speed of {who} [rad/s]", speed, -math.inf)
        if not top_speed > 0.0:
            raise InputError(f"the top speed of {who} is {top_speed!r} rad/s; it must be above 0.")
        self.top_speed = float(top_speed)
        self.motor = Schedule.never() if motor is None else motor
        self.braking = Schedule.never() if braking is None else braking
        require_command(f"the motor of {who}", self.motor)
        require_command(f"the brake of {who}", self.braking)
        self._check_used(who, motor, braking)

    def _check_used(self, who: str, motor: object, braking: object) -> None:
        if motor is not None and self.torque == 0.0:
            raise InputError(f"{who} has commands for its motor and no torque; give it one.")
        if braking is not None and self.brake == 0.0:
            raise InputError(f"{who} has commands for its brake and no brake torque; give it one.")
        if isinstance(self.braking, Schedule) and min(self.braking.levels) < 0.0:
            raise InputError(f"the brake of {who} has levels below 0: a brake does not drive.")

    def row(self) -> tuple[Any, ...]:
        """What kernels read, in the order of ``WheelData``."""
        slowing = self.torque / self.top_speed
        brake = min(self.brake, INSTANT)
        return self.axis, self.inertia, self.torque, slowing, brake, self.friction

    @property
    def tensor(self) -> Array:
        """J a a^T [kg m^2], body axes."""
        return np.asarray(self.inertia * np.outer(self.axis, self.axis))

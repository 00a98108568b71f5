"""A motor and a brake in a revolute or prismatic joint of a tree.

With u the joint's speed the motor gives level * torque, or with a top speed level * torque -
|level| torque u / top. The brake gives -level * torque * u / sqrt(u^2 + speed^2): its whole torque
against the motion well above ``speed``, a damper well below it. Both act on the body of the joint
and, the other way, on its parent.
"""

import math

import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.law import require_command
from alight.actuators.schedule import Schedule
from alight.core.checks import checked_name, checked_number
from alight.core.errors import InputError
from alight.core.types import scalar


@wp.func
def joint_motor_effort(torque: scalar, slowing: scalar, level: scalar, u: scalar):
    """Of a motor [N m], [N]; ``slowing`` is torque over top speed, 0 where there is none."""
    return torque * level - wp.abs(level) * slowing * u


@wp.func
def joint_brake_effort(torque: scalar, speed: scalar, level: scalar, u: scalar):
    """Of a brake [N m], [N]."""
    size = torque * level
    return -size * u / wp.sqrt(u * u + speed * speed)


class Motor:
    """A ``torque`` [N m] (or force [N]) in the revolute (or prismatic) joint of ``body``, positive
    along the joint's axis on the body: a reaction wheel's motor, a leg that pushes off.

    With a ``top_speed`` [rad/s] or [m/s] it falls evenly to 0 there.
    """

    def __init__(
        self,
        body: str,
        torque: float,
        schedule: Schedule | Controller | None = None,
        name: str = "",
        top_speed: float = math.inf,
    ) -> None:
        self.body = checked_name("the body of a motor", body)
        self.name = name or self.body
        who = f'motor "{self.name}"'
        self.torque = checked_number(f"the torque of {who} [N m]", torque, -math.inf)
        if not top_speed > 0.0:
            raise InputError(f"the top speed of {who} is {top_speed!r}; it must be above 0.")
        self.top_speed = float(top_speed)
        self.schedule = Schedule() if schedule is None else schedule
        require_command(who, self.schedule)

    @property
    def slowing(self) -> float:
        """What it loses with speed, at level 1 [N m s], [N s/m]."""
        return abs(self.torque) / self.top_speed


class Brake:
    """A ``torque`` [N m] (or force [N]) against the motion of the revolute (or prismatic) joint of
    ``body``; at ``speed`` [rad/s] or [m/s] it is 0.71 of that, well below it is a damper."""

    def __init__(
        self,
        body: str,
        torque: float,
        schedule: Schedule | Controller | None = None,
        speed: float = 1e-2,
        name: str = "",
    ) -> None:
        self.body = checked_name("the body of a brake", body)
        self.name = name or self.body
        who = f'brake "{self.name}"'
        self.torque = checked_number(f"the torque of {who} [N m]", torque)
        self.speed = checked_number(f"the speed of {who} [rad/s]", speed)
        self.schedule = Schedule() if schedule is None else schedule
        require_command(who, self.schedule)
        if isinstance(self.schedule, Schedule) and min(self.schedule.levels) < 0.0:
            raise InputError(f"{who} has levels below 0: a brake does not drive. Use a Motor.")

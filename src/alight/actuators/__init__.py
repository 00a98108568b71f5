"""Actuators: what drives a lander or a craft, and their commands.

Wheels with motor and brake, swing arms, thrusters and springs on rigid landers; thrusters, and
motors and brakes in joints, on trees; thrusters on the craft of a capture or a drop. Commands are
programmes over time (``Schedule``) or laws at a fixed rate (``Controller``, and
``PythonController`` for single runs). All of them name the times at which they switch, and no step
passes over a switch.
"""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.actuators.arm import Arm
    from alight.actuators.controller import Controller
    from alight.actuators.joint_motor import Brake, Motor
    from alight.actuators.law import Actuator, Effort
    from alight.actuators.manoeuvre import (
        Hop,
        Manoeuvre,
        Pulse,
        SpinAndBrake,
        Upright,
        UprightByJoints,
    )
    from alight.actuators.policy import FollowPlan, StoredPlan
    from alight.actuators.python_controller import PythonController
    from alight.actuators.schedule import Schedule
    from alight.actuators.spring import Spring
    from alight.actuators.thruster import Thruster
    from alight.actuators.wheel import Wheel

__all__ = [
    "Actuator",
    "Arm",
    "Brake",
    "Controller",
    "Effort",
    "FollowPlan",
    "Hop",
    "Manoeuvre",
    "Motor",
    "Pulse",
    "PythonController",
    "Schedule",
    "SpinAndBrake",
    "Spring",
    "StoredPlan",
    "Thruster",
    "Upright",
    "UprightByJoints",
    "Wheel",
]

lazy.door(
    __name__,
    {
        "alight.actuators.arm": "Arm",
        "alight.actuators.controller": "Controller",
        "alight.actuators.joint_motor": "Brake Motor",
        "alight.actuators.law": "Actuator Effort",
        "alight.actuators.manoeuvre": "Hop Manoeuvre Pulse SpinAndBrake Upright UprightByJoints",
        "alight.actuators.policy": "FollowPlan StoredPlan",
        "alight.actuators.python_controller": "PythonController",
        "alight.actuators.schedule": "Schedule",
        "alight.actuators.spring": "Spring",
        "alight.actuators.thruster": "Thruster",
        "alight.actuators.wheel": "Wheel",
    },
)

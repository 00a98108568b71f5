"""Actuators of trees as rows of a table, so that one compiled kernel serves all trees.

What a row does to a tree, ``motions/tree/drive`` says: actuators know no vehicle.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import warp as wp

from alight.actuators.joint_motor import Brake, Motor
from alight.actuators.programme_kernel import Programmes, programmes
from alight.actuators.thruster import Thruster
from alight.core import devices
from alight.core.types import scalar, vec3

THRUST = wp.constant(0)
TORQUE = wp.constant(1)
BRAKE = wp.constant(2)


@wp.struct
class ActuatorRow:
    """A thruster, motor or brake."""

    kind: int
    """THRUST, TORQUE or BRAKE."""
    body: int
    v_at: int
    """Row of the joint's velocity; unused by thrusters."""
    strength: scalar
    """Force [N] or torque [N m] at level 1."""
    place: vec3
    """In body axes [m]."""
    direction: vec3
    """In body axes, unit."""
    speed: scalar
    """Of a brake [rad/s], [m/s]."""
    slowing: scalar
    """Of a motor: torque over top speed [N m s], [N s/m]."""


@wp.struct
class ActuatorTable:
    """All of a tree, and what commands them: programme i sets the level of actuator i."""

    each: wp.array(dtype=ActuatorRow)
    programmes: Programmes


def actuator_table(
    actuators: Sequence[Thruster | Motor | Brake],
    joint: Callable[[str], tuple[int, int]],
    device: devices.Device,
) -> Any:
    """``ActuatorTable`` on ``device``; ``joint(body)`` is a body's number and the first row of its
    joint's velocity."""
    rows: Any = np.zeros(len(actuators), dtype=ActuatorRow.numpy_dtype())  # type: ignore[attr-defined]
    for row, one in zip(rows, actuators, strict=True):
        row["body"], row["v_at"] = joint(str(one.body))
        if isinstance(one, Thruster):
            row["kind"], row["strength"] = int(THRUST), one.force
            row["place"], row["direction"] = one.place, one.direction
        elif isinstance(one, Brake):
            row["kind"], row["strength"], row["speed"] = int(BRAKE), one.torque, one.speed
        else:
            row["kind"], row["strength"], row["slowing"] = int(TORQUE), one.torque, one.slowing
    table = ActuatorTable()
    table.each = wp.array(rows, dtype=ActuatorRow, device=device.name)
    table.programmes = programmes([one.schedule for one in actuators], device)
    return table

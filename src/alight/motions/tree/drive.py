"""Actuators at work on a tree: what they push with, and their levels.

Between two switches levels are constant: slopes stay smooth, and a step ends at each switch.
"""

import warp as wp

from alight.actuators.joint_motor import joint_brake_effort, joint_motor_effort
from alight.actuators.programme_kernel import Begun, level_at
from alight.actuators.table import BRAKE, THRUST, ActuatorTable
from alight.core.types import scalar, vec3
from alight.motions.tree.state import TreeRun, TreeSpace
from alight.vehicles.tree.data import TreeMemory, turn_of
from alight.vehicles.tree.kinematics import point_velocity, push_body


@wp.func
def act(
    actuators: ActuatorTable,
    v: wp.array2d(dtype=scalar),
    level: wp.array2d(dtype=scalar),
    memory: TreeMemory,
    spin: vec3,
    slot: int,
):
    """Add the forces and efforts of all thrusters, motors and brakes at their present levels.

    Returns their power [W], relative to axes that turn at ``spin`` [rad/s].
    """
    power = scalar(0.0)
    for i in range(actuators.each.shape[0]):
        one = actuators.each[i]
        size = one.strength * level[i, slot]
        if size != scalar(0.0):
            if one.kind == THRUST:
                turn = turn_of(memory, one.body, slot)
                lever = wp.quat_rotate(turn, one.place)
                force = size * wp.quat_rotate(turn, one.direction)
                push_body(memory, one.body, lever, force, vec3(), slot)
                power += wp.dot(force, point_velocity(memory, one.body, lever, spin, slot))
            else:
                u = v[one.v_at, slot]
                size = joint_motor_effort(one.strength, one.slowing, level[i, slot], u)
                if one.kind == BRAKE:
                    size = joint_brake_effort(one.strength, one.speed, level[i, slot], u)
                memory.efforts[one.v_at, slot] = memory.efforts[one.v_at, slot] + size
                power += size * u
    return power


@wp.func
def begun(run: TreeRun, space: TreeSpace, slot: int):
    """What the times of schedules count from."""
    out = Begun()
    out.touched = run.touched
    out.rested = space.notes[slot].rested
    out.rests = space.notes[slot].rests
    return out


@wp.func
def set_levels(actuators: ActuatorTable, run: TreeRun, space: TreeSpace, slot: int):
    """Levels from now on; True where one is not what it was."""
    changed = bool(False)
    since = begun(run, space, slot)
    for i in range(actuators.each.shape[0]):
        level = level_at(actuators.programmes, i, run.t, since)
        if level != space.level[i, slot]:
            changed = True
            space.level[i, slot] = level
    return changed

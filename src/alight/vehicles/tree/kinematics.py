"""Where the bodies of a tree are, how fast they move, and what acts on them, inside kernels.

``spin`` is the rate at which the world's axes turn [rad/s]: 0, or that of a target whose axes are
used. Places and velocities are then relative to those axes and efforts see relative speeds, while
the pseudo forces come with the rates, which are inertial. It must be constant, and the world's
origin on its axis and not accelerated.
"""

import warp as wp

from alight.core.types import quat, scalar, vec3
from alight.vehicles.tree.data import (
    ARM,
    AXIS,
    BIAS_MOVE,
    BIAS_TURN,
    FORCE,
    LEVER,
    MOMENT,
    POSITION,
    RATE,
    VELOCITY,
    TreeData,
    TreeMemory,
    add_vector,
    set_turn,
    set_vector,
    turn_of,
    vector_row,
)
from alight.vehicles.tree.joints import joint_motion


@wp.func
def place_tree(
    tree: TreeData,
    q: wp.array2d(dtype=scalar),
    v: wp.array2d(dtype=scalar),
    spin: vec3,
    memory: TreeMemory,
    slot: int,
):
    """Poses, velocities and the accelerations that velocities cause, of all bodies."""
    zero = scalar(0.0)
    two = scalar(2.0)
    for i in range(tree.count):
        body = tree.bodies[i]
        motion = joint_motion(body, q, v, slot)
        below = quat(zero, zero, zero, scalar(1.0))
        position = vec3()
        velocity = vec3()
        w = spin
        if body.parent >= 0:
            below = turn_of(memory, body.parent, slot)
            position = vector_row(memory, body.parent, POSITION, slot)
            velocity = vector_row(memory, body.parent, VELOCITY, slot)
            w = vector_row(memory, body.parent, RATE, slot)
        seat = below * body.turn
        turn = seat * motion.turn
        lever = wp.quat_rotate(below, body.place) + wp.quat_rotate(seat, motion.shift)
        rate = wp.quat_rotate(turn, motion.rate)
        speed = wp.quat_rotate(seat, motion.speed)
        set_turn(memory, i, slot, turn)
        set_vector(memory, i, POSITION, slot, position + lever)
        set_vector(memory, i, VELOCITY, slot, velocity + wp.cross(w - spin, lever) + speed)
        set_vector(memory, i, RATE, slot, w + rate)
        set_vector(memory, i, LEVER, slot, lever)
        set_vector(memory, i, ARM, slot, wp.quat_rotate(turn, body.center))
        set_vector(memory, i, AXIS, slot, wp.quat_rotate(turn, body.axis))
        set_vector(memory, i, BIAS_TURN, slot, wp.cross(w, rate))
        swing = wp.cross(w, wp.cross(w, lever)) + two * wp.cross(w, speed)
        set_vector(memory, i, BIAS_MOVE, slot, swing)


@wp.func
def center_position(memory: TreeMemory, i: int, slot: int) -> vec3:
    """Centre of mass of body ``i`` [m], once the tree is placed."""
    return vector_row(memory, i, POSITION, slot) + vector_row(memory, i, ARM, slot)


@wp.func
def point_velocity(memory: TreeMemory, i: int, lever: vec3, spin: vec3, slot: int) -> vec3:
    """Velocity relative to the world's axes [m/s] of a point ``lever`` [m] off the body's origin.

    ``lever`` is in world axes.
    """
    w = vector_row(memory, i, RATE, slot) - spin
    return vector_row(memory, i, VELOCITY, slot) + wp.cross(w, lever)


# -- what acts on the bodies ------------------------------------------------------------------


@wp.func
def clear_forces(tree: TreeData, memory: TreeMemory, slot: int):
    """No force on any body, and no effort in any joint."""
    for i in range(tree.count):
        set_vector(memory, i, FORCE, slot, vec3())
        set_vector(memory, i, MOMENT, slot, vec3())
    for k in range(tree.n_v):
        memory.efforts[k, slot] = scalar(0.0)


@wp.func
def push_body(memory: TreeMemory, i: int, lever: vec3, force: vec3, moment: vec3, slot: int):
    """Add a force [N] at a point ``lever`` [m] off the body's origin and a moment [N m].

    All in world axes, once the tree is placed.
    """
    arm = lever - vector_row(memory, i, ARM, slot)
    add_vector(memory, i, FORCE, slot, force)
    add_vector(memory, i, MOMENT, slot, moment + wp.cross(arm, force))

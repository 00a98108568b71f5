"""An articulated tree inside kernels: the struct of its parameters and the memory of its runs.

Bodies are numbered so that a parent comes before its children. Everything a run needs between one
pass over the tree and the next lies in global arrays [row, slot] with the slot of the run last, so
that neighbouring threads of a GPU read neighbouring words and no thread holds a tree in registers.
"""

from typing import Any

import warp as wp

from alight.core import devices
from alight.core.rows import by_slot, put_quat, put_vector, quat_at, vector_at
from alight.core.types import mat33, quat, scalar, vec3

# The codes of ``joint_kinds``.
FIXED = wp.constant(0)
REVOLUTE = wp.constant(1)
PRISMATIC = wp.constant(2)
SPHERICAL = wp.constant(3)
FREE = wp.constant(4)


@wp.struct
class BodyData:
    """A body and the joint that carries it; body axes are the joint's axes on the child's side."""

    parent: int
    """Number of the parent; -1 for the world."""
    kind: int
    """FIXED, REVOLUTE, ..."""
    q_at: int
    """First row of the joint in a configuration."""
    v_at: int
    """First row of the joint in a velocity."""
    mass: scalar
    """[kg]"""
    inertia: mat33
    """About the centre of mass, in body axes [kg m^2]."""
    center: vec3
    """Centre of mass, in body axes [m]."""
    place: vec3
    """Origin of the joint, in the parent's axes [m]."""
    turn: quat
    """Axes of the joint to the parent's."""
    axis: vec3
    """Unit vector of a revolute or prismatic joint, in the joint's axes."""
    stiffness: scalar
    """[N m/rad] or [N/m]"""
    rest: scalar
    """Where the spring is slack [rad] or [m]."""
    damping: scalar
    """[N m s/rad] or [N s/m]"""
    lower: scalar
    """Where the lower stop begins [rad] or [m]; may be -infinity."""
    upper: scalar
    """Where the upper stop begins [rad] or [m]; may be infinity."""
    stop_stiffness: scalar
    """[N m/rad] or [N/m]"""
    stop_damping: scalar
    """[N m s/rad] or [N s/m]"""
    friction: scalar
    """Greatest friction [N m] or [N]."""
    friction_speed: scalar
    """Speed at which friction is 0.71 of its greatest [rad/s] or [m/s]."""
    motor: scalar
    """Constant effort [N m] or [N]."""


@wp.struct
class TreeData:
    """A tree's parameters."""

    count: int
    """Bodies."""
    n_q: int
    """Numbers of a configuration."""
    n_v: int
    """Numbers of a velocity."""
    bodies: wp.array(dtype=BodyData)


# Rows of ``TreeMemory.vectors``, for each body. Components are in world axes.
POSITION = wp.constant(0)  # origin of the body [m]
VELOCITY = wp.constant(1)  # of that point, relative to the world's axes [m/s]
RATE = wp.constant(2)  # inertial rate [rad/s]
LEVER = wp.constant(3)  # from the parent's origin to the body's [m]
ARM = wp.constant(4)  # from the body's origin to its centre of mass [m]
AXIS = wp.constant(5)  # of a revolute or prismatic joint
BIAS_TURN = wp.constant(6)  # angular acceleration over the joint at a joint acceleration of 0
BIAS_MOVE = wp.constant(7)  # the same of the origin [m/s^2]
FORCE = wp.constant(8)  # on the body from outside [N]
MOMENT = wp.constant(9)  # on the body from outside, about its centre of mass [N m]
MOMENT_BIAS = wp.constant(10)  # of the articulated body, about its origin [N m]
FORCE_BIAS = wp.constant(11)  # of the articulated body [N]
COLUMN_TURN = wp.constant(12)  # articulated inertia times the joint's axis, upper half
COLUMN_MOVE = wp.constant(13)  # lower half
PIVOT = wp.constant(14)  # effort left over, 1 / inertia along the axis, nothing
TURNING = wp.constant(15)  # angular acceleration [rad/s^2]
MOVING = wp.constant(16)  # acceleration of the origin [m/s^2]
VECTORS = wp.constant(17)

# Rows of ``TreeMemory.matrices``, for each body: the blocks of its articulated inertia.
TURN_BLOCK = wp.constant(0)
CROSS_BLOCK = wp.constant(1)
MOVE_BLOCK = wp.constant(2)
MATRICES = wp.constant(3)


@wp.struct
class TreeMemory:
    """What passes over a tree leave for each other, a column a run."""

    turns: wp.array2d(dtype=scalar)
    """[4 body + component, slot] body axes to world axes."""
    vectors: wp.array2d(dtype=scalar)
    """[3 (body VECTORS + row) + component, slot]"""
    matrices: wp.array2d(dtype=scalar)
    """[9 (body MATRICES + row) + component, slot]"""
    efforts: wp.array2d(dtype=scalar)
    """[row of a velocity, slot] forces and torques of the joints [N] or [N m]."""


def tree_memory(count: int, n_v: int, slots: int, device: devices.Device) -> Any:
    """Memory of ``slots`` runs of a tree of ``count`` bodies and ``n_v`` speeds; zeros."""
    memory = TreeMemory()
    memory.turns = by_slot(4 * count, slots, scalar, device)
    memory.vectors = by_slot(3 * count * int(VECTORS), slots, scalar, device)
    memory.matrices = by_slot(9 * count * int(MATRICES), slots, scalar, device)
    memory.efforts = by_slot(n_v, slots, scalar, device)
    return memory


@wp.func
def turn_of(memory: TreeMemory, i: int, slot: int) -> quat:
    """Axes of body ``i`` to world axes."""
    return quat_at(memory.turns, 4 * i, slot)


@wp.func
def set_turn(memory: TreeMemory, i: int, slot: int, turn: quat):
    """Keep the attitude of body ``i``."""
    put_quat(memory.turns, 4 * i, slot, turn)


@wp.func
def vector_row(memory: TreeMemory, i: int, row: int, slot: int) -> vec3:
    """A vector of body ``i``."""
    return vector_at(memory.vectors, 3 * (i * VECTORS + row), slot)


@wp.func
def set_vector(memory: TreeMemory, i: int, row: int, slot: int, value: vec3):
    """Keep a vector of body ``i``."""
    put_vector(memory.vectors, 3 * (i * VECTORS + row), slot, value)


@wp.func
def add_vector(memory: TreeMemory, i: int, row: int, slot: int, value: vec3):
    """Add to a vector of body ``i``."""
    k = 3 * (i * VECTORS + row)
    put_vector(memory.vectors, k, slot, vector_at(memory.vectors, k, slot) + value)

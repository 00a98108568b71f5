"""Forward dynamics of a tree in O(n): Featherstone's articulated bodies, as Warp functions.

All vectors are in world axes, and each body's moments and accelerations are about its own origin,
the point its joint acts at. So nothing is turned from body to body, only shifted by the lever r
between neighbouring origins, and no digits are lost far from the world's origin. Accelerations are
those of the body's particles (not of Featherstone's fixed points), for which a joint gives

    alpha = alpha_p + bias_turn + S_turn qdd
    a     = a_p + alpha_p x r + bias_move + S_move qdd
    bias_turn = w_p x w_rel,   bias_move = w_p x (w_p x r) + 2 w_p x v_rel

and a body with all that it carries obeys (moment, force) = (J, H; H^T, M)(alpha, a) + bias.
Three passes: outward for poses and rates (``kinematics``), inward for the articulated inertias
(J, H, M), outward for the accelerations. Featherstone, Rigid Body Dynamics Algorithms (2008),
chapter 7.
"""

import warp as wp

from alight.core.rows import matrix_at, put_matrix, put_vector, vector_at
from alight.core.types import mat33, quat, scalar, vec3
from alight.vehicles.tree.data import (
    ARM,
    AXIS,
    BIAS_MOVE,
    BIAS_TURN,
    COLUMN_MOVE,
    COLUMN_TURN,
    CROSS_BLOCK,
    FORCE,
    FORCE_BIAS,
    FREE,
    LEVER,
    MATRICES,
    MOMENT,
    MOMENT_BIAS,
    MOVE_BLOCK,
    MOVING,
    PIVOT,
    PRISMATIC,
    RATE,
    REVOLUTE,
    SPHERICAL,
    TURN_BLOCK,
    TURNING,
    BodyData,
    TreeData,
    TreeMemory,
    add_vector,
    set_vector,
    turn_of,
    vector_row,
)

# -- inward: articulated inertias -------------------------------------------------------------


@wp.struct
class SpatialInertia:
    """(moment, force) = (J, H; H^T, M)(alpha, a), about a body's origin."""

    J: mat33
    H: mat33
    M: mat33


@wp.struct
class SpatialForce:
    """Moment about a body's origin [N m] and force [N]."""

    n: vec3
    f: vec3


@wp.func
def inertia_at(memory: TreeMemory, i: int, slot: int) -> SpatialInertia:
    """The articulated inertia of body ``i``."""
    inertia = SpatialInertia()
    inertia.J = matrix_at(memory.matrices, 9 * (i * MATRICES + TURN_BLOCK), slot)
    inertia.H = matrix_at(memory.matrices, 9 * (i * MATRICES + CROSS_BLOCK), slot)
    inertia.M = matrix_at(memory.matrices, 9 * (i * MATRICES + MOVE_BLOCK), slot)
    return inertia


@wp.func
def keep_inertia(memory: TreeMemory, i: int, slot: int, inertia: SpatialInertia):
    """Store the articulated inertia of body ``i``."""
    put_matrix(memory.matrices, 9 * (i * MATRICES + TURN_BLOCK), slot, inertia.J)
    put_matrix(memory.matrices, 9 * (i * MATRICES + CROSS_BLOCK), slot, inertia.H)
    put_matrix(memory.matrices, 9 * (i * MATRICES + MOVE_BLOCK), slot, inertia.M)


@wp.func
def turned_inertia(memory: TreeMemory, body: BodyData, i: int, slot: int) -> mat33:
    """Inertia of body ``i`` about its centre of mass in world axes [kg m^2]."""
    R = wp.quat_to_matrix(turn_of(memory, i, slot))
    return R * body.inertia * wp.transpose(R)


@wp.func
def _same(x: scalar) -> vec3:
    """Three times the same number."""
    return vec3(x, x, x)


@wp.func
def lone_bodies(tree: TreeData, memory: TreeMemory, slot: int):
    """Each body by itself: its inertia about its origin, and its bias less outer forces."""
    for i in range(tree.count):
        body = tree.bodies[i]
        w = vector_row(memory, i, RATE, slot)
        c = vector_row(memory, i, ARM, slot)
        spatial = turned_inertia(memory, body, i, slot)
        lone = SpatialInertia()
        lone.J = spatial + body.mass * (wp.diag(_same(wp.dot(c, c))) - wp.outer(c, c))
        lone.H = wp.skew(body.mass * c)
        lone.M = wp.diag(_same(body.mass))
        keep_inertia(memory, i, slot, lone)
        f = body.mass * wp.cross(w, wp.cross(w, c)) - vector_row(memory, i, FORCE, slot)
        n = wp.cross(w, spatial * w) - vector_row(memory, i, MOMENT, slot) + wp.cross(c, f)
        set_vector(memory, i, MOMENT_BIAS, slot, n)
        set_vector(memory, i, FORCE_BIAS, slot, f)


@wp.func
def solve_symmetric(A: mat33, b: vec3) -> vec3:
    """x with A x = b, for A symmetric and positive, by L D L^T."""
    d0 = scalar(1.0) / A[0, 0]
    l1 = A[1, 0] * d0
    l2 = A[2, 0] * d0
    d1 = scalar(1.0) / (A[1, 1] - l1 * A[1, 0])
    m = A[2, 1] - l2 * A[1, 0]
    l3 = m * d1
    d2 = scalar(1.0) / (A[2, 2] - l2 * A[2, 0] - l3 * m)
    y1 = b[1] - l1 * b[0]
    x2 = (b[2] - l2 * b[0] - l3 * y1) * d2
    x1 = y1 * d1 - l3 * x2
    return vec3(b[0] * d0 - l1 * x1 - l2 * x2, x1, x2)


@wp.func
def solve_columns(A: mat33, B: mat33) -> mat33:
    """X with A X = B, for A symmetric and positive."""
    x = solve_symmetric(A, vec3(B[0, 0], B[1, 0], B[2, 0]))
    y = solve_symmetric(A, vec3(B[0, 1], B[1, 1], B[2, 1]))
    z = solve_symmetric(A, vec3(B[0, 2], B[1, 2], B[2, 2]))
    return wp.matrix_from_cols(x, y, z)


@wp.func
def _along_axis(memory: TreeMemory, body: BodyData, i: int, slot: int, I: SpatialInertia):  # noqa: E741
    """What is left of an inertia beyond a joint of one freedom; keeps what the way out needs."""
    axis = vector_row(memory, i, AXIS, slot)
    if body.kind == REVOLUTE:
        up = I.J * axis
        low = wp.transpose(I.H) * axis
        along = wp.dot(axis, up)
        resisting = wp.dot(axis, vector_row(memory, i, MOMENT_BIAS, slot))
    else:
        up = I.H * axis
        low = I.M * axis
        along = wp.dot(axis, low)
        resisting = wp.dot(axis, vector_row(memory, i, FORCE_BIAS, slot))
    gain = scalar(1.0) / along
    left = memory.efforts[body.v_at, slot] - resisting
    set_vector(memory, i, COLUMN_TURN, slot, up)
    set_vector(memory, i, COLUMN_MOVE, slot, low)
    set_vector(memory, i, PIVOT, slot, vec3(left, gain, scalar(0.0)))
    felt = SpatialInertia()
    felt.J = I.J - wp.outer(gain * up, up)
    felt.H = I.H - wp.outer(gain * up, low)
    felt.M = I.M - wp.outer(gain * low, low)
    return felt


@wp.func
def _carried(memory: TreeMemory, i: int, slot: int, felt: SpatialInertia) -> SpatialForce:
    """Bias that the parent feels, about the child's origin, through a joint of 0 or 1 freedoms."""
    turn = vector_row(memory, i, BIAS_TURN, slot)
    move = vector_row(memory, i, BIAS_MOVE, slot)
    carried = SpatialForce()
    n = vector_row(memory, i, MOMENT_BIAS, slot)
    f = vector_row(memory, i, FORCE_BIAS, slot)
    carried.n = n + felt.J * turn + felt.H * move
    carried.f = f + wp.transpose(felt.H) * turn + felt.M * move
    return carried


@wp.func
def _joint_torque(memory: TreeMemory, i: int, at: int, slot: int) -> vec3:
    """Three efforts in the child's axes as a torque in world axes [N m]."""
    return wp.quat_rotate(turn_of(memory, i, slot), vector_at(memory.efforts, at, slot))


@wp.func
def _seat(memory: TreeMemory, body: BodyData, slot: int) -> quat:
    """Axes of a joint on its parent to world axes."""
    seat = body.turn
    if body.parent >= 0:
        seat = turn_of(memory, body.parent, slot) * body.turn
    return seat


@wp.func
def _rows_cross(A: mat33, r: vec3) -> mat33:
    """A [r]: each row of A times r, as vectors."""
    x = wp.cross(vec3(A[0, 0], A[0, 1], A[0, 2]), r)
    y = wp.cross(vec3(A[1, 0], A[1, 1], A[1, 2]), r)
    z = wp.cross(vec3(A[2, 0], A[2, 1], A[2, 2]), r)
    return wp.matrix_from_rows(x, y, z)


@wp.func
def _add_to_parent(
    memory: TreeMemory, parent: int, r: vec3, slot: int, felt: SpatialInertia, carried: SpatialForce
):
    """Shift by the lever ``r`` to the parent's origin, and add."""
    # H + [r] M and J - H [r] + [r] (H + [r] M)^T, with [r] the matrix of r x.
    H = felt.H - wp.transpose(_rows_cross(felt.M, r))
    whole = inertia_at(memory, parent, slot)
    whole.J += felt.J - _rows_cross(felt.H, r) - wp.transpose(_rows_cross(H, r))
    whole.H += H
    whole.M += felt.M
    keep_inertia(memory, parent, slot, whole)
    add_vector(memory, parent, MOMENT_BIAS, slot, carried.n + wp.cross(r, carried.f))
    add_vector(memory, parent, FORCE_BIAS, slot, carried.f)


@wp.func
def gather_inertias(tree: TreeData, memory: TreeMemory, slot: int):
    """From the tips inward: what each parent feels of what hangs on it."""
    for back in range(tree.count):
        i = tree.count - 1 - back
        body = tree.bodies[i]
        own = inertia_at(memory, i, slot)
        felt = own
        carried = SpatialForce()
        if body.kind == REVOLUTE or body.kind == PRISMATIC:
            felt = _along_axis(memory, body, i, slot, own)
            left = vector_row(memory, i, PIVOT, slot)
            gained = left[0] * left[1]
            carried = _carried(memory, i, slot, felt)
            carried.n += gained * vector_row(memory, i, COLUMN_TURN, slot)
            carried.f += gained * vector_row(memory, i, COLUMN_MOVE, slot)
        elif body.kind == SPHERICAL:
            # Through a ball comes its own torque, and of forces what does not turn the child.
            torque = _joint_torque(memory, i, body.v_at, slot)
            left = torque - vector_row(memory, i, MOMENT_BIAS, slot)
            felt.J = mat33()
            felt.H = mat33()
            felt.M = own.M - wp.transpose(own.H) * solve_columns(own.J, own.H)
            carried.n = torque
            carried.f = vector_row(memory, i, FORCE_BIAS, slot)
            carried.f += wp.transpose(own.H) * solve_symmetric(own.J, left)
            carried.f += felt.M * vector_row(memory, i, BIAS_MOVE, slot)
        elif body.kind == FREE:
            felt.J = mat33()
            felt.H = mat33()
            felt.M = mat33()
            pull = vector_at(memory.efforts, body.v_at, slot)
            carried.f = wp.quat_rotate(_seat(memory, body, slot), pull)
            carried.n = _joint_torque(memory, i, body.v_at + 3, slot)
        else:
            carried = _carried(memory, i, slot, felt)
        if body.parent >= 0:
            r = vector_row(memory, i, LEVER, slot)
            _add_to_parent(memory, body.parent, r, slot, felt, carried)


# -- outward: accelerations -------------------------------------------------------------------


@wp.func
def _free_acceleration(own: SpatialInertia, n: vec3, f: vec3) -> SpatialForce:
    """(alpha, a) that the moment ``n`` and the force ``f`` give an inertia, as (n, f)."""
    Y = solve_columns(own.M, wp.transpose(own.H))
    found = SpatialForce()
    found.n = solve_symmetric(own.J - own.H * Y, n - wp.transpose(Y) * f)
    found.f = solve_symmetric(own.M, f) - Y * found.n
    return found


@wp.func
def accelerate(
    tree: TreeData, memory: TreeMemory, slot: int, acceleration_out: wp.array2d(dtype=scalar)
):
    """From the world outward: accelerations of joints and bodies."""
    for i in range(tree.count):
        body = tree.bodies[i]
        turning = vector_row(memory, i, BIAS_TURN, slot)
        moving = vector_row(memory, i, BIAS_MOVE, slot)
        if body.parent >= 0:
            below = vector_row(memory, body.parent, TURNING, slot)
            moving += vector_row(memory, body.parent, MOVING, slot)
            moving += wp.cross(below, vector_row(memory, i, LEVER, slot))
            turning += below
        if body.kind == REVOLUTE or body.kind == PRISMATIC:
            pivot = vector_row(memory, i, PIVOT, slot)
            axis = vector_row(memory, i, AXIS, slot)
            taken = wp.dot(vector_row(memory, i, COLUMN_TURN, slot), turning)
            taken += wp.dot(vector_row(memory, i, COLUMN_MOVE, slot), moving)
            gained = (pivot[0] - taken) * pivot[1]
            acceleration_out[body.v_at, slot] = gained
            if body.kind == REVOLUTE:
                turning += gained * axis
            else:
                moving += gained * axis
        elif body.kind == SPHERICAL:
            own = inertia_at(memory, i, slot)
            n = _joint_torque(memory, i, body.v_at, slot)
            n -= vector_row(memory, i, MOMENT_BIAS, slot) + own.H * moving
            whole = solve_symmetric(own.J, n)
            gained_turn = wp.quat_rotate_inv(turn_of(memory, i, slot), whole - turning)
            put_vector(acceleration_out, body.v_at, slot, gained_turn)
            turning = whole
        elif body.kind == FREE:
            own = inertia_at(memory, i, slot)
            seat = _seat(memory, body, slot)
            f = wp.quat_rotate(seat, vector_at(memory.efforts, body.v_at, slot))
            n = _joint_torque(memory, i, body.v_at + 3, slot)
            n -= vector_row(memory, i, MOMENT_BIAS, slot)
            both = _free_acceleration(own, n, f - vector_row(memory, i, FORCE_BIAS, slot))
            put_vector(acceleration_out, body.v_at, slot, wp.quat_rotate_inv(seat, both.f - moving))
            gained_turn = wp.quat_rotate_inv(turn_of(memory, i, slot), both.n - turning)
            put_vector(acceleration_out, body.v_at + 3, slot, gained_turn)
            turning = both.n
            moving = both.f
        set_vector(memory, i, TURNING, slot, turning)
        set_vector(memory, i, MOVING, slot, moving)


@wp.func
def solve_tree(
    tree: TreeData, memory: TreeMemory, slot: int, acceleration_out: wp.array2d(dtype=scalar)
):
    """Accelerations [m/s^2], [rad/s^2] of a placed tree under its forces and efforts."""
    lone_bodies(tree, memory, slot)
    gather_inertias(tree, memory, slot)
    accelerate(tree, memory, slot, acceleration_out)

"""Joints inside kernels: how a child moves against its parent, and what the joint does to it.

| kind | configuration q | velocity v |
|---|---|---|
| fixed | - | - |
| revolute | angle [rad] | its rate [rad/s] |
| prismatic | stroke [m] | its rate [m/s] |
| spherical | quaternion xyzw, child to joint axes | rate of the child in its own axes [rad/s] |
| free | place of the child in joint axes [m], quaternion | velocity in joint axes [m/s], rate |

Efforts go with velocities: effort times velocity is power. The derivative of a quaternion is paper
002 Eq. 18 (its last vector corrected), p' = 1/2 Q^T w, and Eq. 20 makes it unit again.
"""

import warp as wp

from alight.core.frames import wp_quat_rate
from alight.core.rows import put_quat, put_vector, quat_at, vector_at
from alight.core.types import quat, scalar, vec3
from alight.vehicles.tree.data import FREE, PRISMATIC, REVOLUTE, SPHERICAL, BodyData, TreeData


@wp.struct
class JointMotion:
    """A child against the joint's axes on its parent."""

    turn: quat
    """Child's axes to the joint's."""
    shift: vec3
    """Origin of the child in the joint's axes [m]."""
    rate: vec3
    """Rate of the child in its own axes [rad/s]."""
    speed: vec3
    """Velocity of its origin in the joint's axes [m/s]."""


@wp.func
def joint_motion(
    body: BodyData, q: wp.array2d(dtype=scalar), v: wp.array2d(dtype=scalar), slot: int
) -> JointMotion:
    """How the body moves against its parent; quaternions are taken as their directions."""
    zero = scalar(0.0)
    motion = JointMotion()
    motion.turn = quat(zero, zero, zero, scalar(1.0))
    if body.kind == REVOLUTE:
        half = scalar(0.5) * q[body.q_at, slot]
        part = wp.sin(half) * body.axis
        motion.turn = quat(part[0], part[1], part[2], wp.cos(half))
        motion.rate = v[body.v_at, slot] * body.axis
    elif body.kind == PRISMATIC:
        motion.shift = q[body.q_at, slot] * body.axis
        motion.speed = v[body.v_at, slot] * body.axis
    elif body.kind == SPHERICAL:
        motion.turn = wp.normalize(quat_at(q, body.q_at, slot))
        motion.rate = vector_at(v, body.v_at, slot)
    elif body.kind == FREE:
        motion.shift = vector_at(q, body.q_at, slot)
        motion.turn = wp.normalize(quat_at(q, body.q_at + 3, slot))
        motion.speed = vector_at(v, body.v_at, slot)
        motion.rate = vector_at(v, body.v_at + 3, slot)
    return motion


# -- springs, dampers, stops, friction, motors ------------------------------------------------


@wp.func
def _rubbing(body: BodyData, speed: scalar):
    """Damping plus friction over speed, so that the effort is minus this times the velocity.

    Coulomb's force, regularised: f v / sqrt(v^2 + e^2) is f at speeds far above e, and at speeds
    far below e a damper f / e, so that a joint under a steady load creeps instead of sticking.
    """
    small = body.friction_speed
    return body.damping + body.friction / wp.sqrt(speed * speed + small * small)


@wp.func
def _stop(body: BodyData, depth: scalar, closing: scalar):
    """Push of a stop that is ``depth`` beyond its limit; it never pulls (as in 002 Eq. 37)."""
    if depth <= scalar(0.0):
        return scalar(0.0)
    push = body.stop_stiffness * depth + body.stop_damping * closing
    return wp.max(scalar(0.0), push)


@wp.func
def axis_effort(body: BodyData, x: scalar, speed: scalar):
    """Effort [N m] or [N] of a revolute or prismatic joint at ``x`` and ``speed``."""
    effort = body.motor - body.stiffness * (x - body.rest) - _rubbing(body, wp.abs(speed)) * speed
    effort -= _stop(body, x - body.upper, speed)
    effort += _stop(body, body.lower - x, -speed)
    return effort


@wp.func
def rotation_vector(q: quat) -> vec3:
    """Axis times angle [rad], from 0 to pi, of a unit quaternion."""
    sign = wp.where(q[3] < scalar(0.0), scalar(-1.0), scalar(1.0))
    part = sign * vec3(q[0], q[1], q[2])
    size = wp.length(part)
    scale = scalar(2.0)
    if size > scalar(0.0):
        scale = scalar(2.0) * wp.atan2(size, sign * q[3]) / size
    return scale * part


@wp.func
def ball_effort(body: BodyData, turn: quat, rate: vec3) -> vec3:
    """Torque [N m], in the child's axes, of a spherical joint.

    The spring pulls along the rotation vector, which is the same in both axes: the torque is
    minus the gradient of k angle^2 / 2.
    """
    return -body.stiffness * rotation_vector(turn) - _rubbing(body, wp.length(rate)) * rate


@wp.func
def add_joint_efforts(
    tree: TreeData,
    q: wp.array2d(dtype=scalar),
    v: wp.array2d(dtype=scalar),
    efforts: wp.array2d(dtype=scalar),
    slot: int,
):
    """Add what springs, dampers, stops, friction and motors do to ``efforts``."""
    for i in range(tree.count):
        body = tree.bodies[i]
        at = body.v_at
        if body.kind == REVOLUTE or body.kind == PRISMATIC:
            x = q[body.q_at, slot]
            efforts[at, slot] = efforts[at, slot] + axis_effort(body, x, v[at, slot])
        elif body.kind == SPHERICAL:
            turn = wp.normalize(quat_at(q, body.q_at, slot))
            torque = ball_effort(body, turn, vector_at(v, at, slot))
            put_vector(efforts, at, slot, vector_at(efforts, at, slot) + torque)


@wp.func
def joint_stored(body: BodyData, q: wp.array2d(dtype=scalar), slot: int):
    """Energy in the spring and the stops of a joint [J]; a constant motor counts as a weight."""
    half = scalar(0.5)
    stored = scalar(0.0)
    if body.kind == REVOLUTE or body.kind == PRISMATIC:
        x = q[body.q_at, slot]
        over = wp.max(scalar(0.0), wp.max(x - body.upper, body.lower - x))
        stretch = x - body.rest
        stored = half * body.stiffness * stretch * stretch - body.motor * x
        if over > scalar(0.0):
            stored += half * body.stop_stiffness * over * over
    elif body.kind == SPHERICAL:
        bent = rotation_vector(wp.normalize(quat_at(q, body.q_at, slot)))
        stored = half * body.stiffness * wp.dot(bent, bent)
    return stored


# -- configurations in time -------------------------------------------------------------------


@wp.func
def configuration_rate(
    tree: TreeData,
    q: wp.array2d(dtype=scalar),
    v: wp.array2d(dtype=scalar),
    rate_out: wp.array2d(dtype=scalar),
    slot: int,
):
    """Time derivative of a configuration."""
    for i in range(tree.count):
        body = tree.bodies[i]
        a = body.q_at
        b = body.v_at
        if body.kind == REVOLUTE or body.kind == PRISMATIC:
            rate_out[a, slot] = v[b, slot]
        elif body.kind == SPHERICAL:
            put_quat(rate_out, a, slot, wp_quat_rate(quat_at(q, a, slot), vector_at(v, b, slot)))
        elif body.kind == FREE:
            turning = wp_quat_rate(quat_at(q, a + 3, slot), vector_at(v, b + 3, slot))
            put_vector(rate_out, a, slot, vector_at(v, b, slot))
            put_quat(rate_out, a + 3, slot, turning)


@wp.func
def make_unit(tree: TreeData, q: wp.array2d(dtype=scalar), slot: int):
    """Quaternions of a configuration to unit length (002 Eq. 20)."""
    for i in range(tree.count):
        body = tree.bodies[i]
        if body.kind == SPHERICAL:
            put_quat(q, body.q_at, slot, wp.normalize(quat_at(q, body.q_at, slot)))
        elif body.kind == FREE:
            put_quat(q, body.q_at + 3, slot, wp.normalize(quat_at(q, body.q_at + 3, slot)))

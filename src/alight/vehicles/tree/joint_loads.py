"""What follows from a tree's motion: loads through its joints, its energy and its momentum."""

import warp as wp

from alight.core.types import scalar, vec3
from alight.vehicles.tree.data import (
    ARM,
    FORCE,
    LEVER,
    MOMENT,
    MOVING,
    RATE,
    TURNING,
    TreeData,
    TreeMemory,
    vector_row,
)
from alight.vehicles.tree.forward_dynamics import turned_inertia
from alight.vehicles.tree.joints import joint_stored
from alight.vehicles.tree.kinematics import center_position, point_velocity


@wp.func
def joint_loads(
    tree: TreeData,
    memory: TreeMemory,
    slot: int,
    force_out: wp.array2d(dtype=vec3),
    moment_out: wp.array2d(dtype=vec3),
):
    """Force [N] and moment [N m] that each body gets through its joint, in world axes.

    Moments are about the body's origin. From the tips inward by Newton and Euler, body by body:
    what comes in is what accelerates the body, less outer forces, plus what goes on to its
    children. Springs, motors and all that a joint holds against are in it; a fixed joint has its
    loads like any other. The tree must have been solved.
    """
    for i in range(tree.count):
        body = tree.bodies[i]
        w = vector_row(memory, i, RATE, slot)
        c = vector_row(memory, i, ARM, slot)
        alpha = vector_row(memory, i, TURNING, slot)
        inertia = turned_inertia(memory, body, i, slot)
        a = vector_row(memory, i, MOVING, slot) + wp.cross(alpha, c) + wp.cross(w, wp.cross(w, c))
        f = body.mass * a - vector_row(memory, i, FORCE, slot)
        n = inertia * alpha + wp.cross(w, inertia * w) - vector_row(memory, i, MOMENT, slot)
        force_out[i, slot] = f
        moment_out[i, slot] = n + wp.cross(c, f)
    for back in range(tree.count):
        i = tree.count - 1 - back
        parent = tree.bodies[i].parent
        if parent >= 0:
            f = force_out[i, slot]
            r = vector_row(memory, i, LEVER, slot)
            force_out[parent, slot] = force_out[parent, slot] + f
            moment_out[parent, slot] = (
                moment_out[parent, slot] + moment_out[i, slot] + wp.cross(r, f)
            )


@wp.struct
class TreeSums:
    """Sums over the bodies of a placed tree, in world axes that do not turn."""

    kinetic: scalar
    """[J]"""
    stored: scalar
    """In springs, stops and constant motors [J]."""
    weight: scalar
    """Potential energy in a uniform field, 0 for a centre of mass at the origin [J]."""
    center: vec3
    """Centre of mass [m]."""
    linear: vec3
    """Momentum [kg m/s]."""
    angular: vec3
    """Angular momentum about the centre of mass [kg m^2/s]."""


@wp.func
def tree_sums(
    tree: TreeData, q: wp.array2d(dtype=scalar), gravity: vec3, memory: TreeMemory, slot: int
) -> TreeSums:
    """Energy and momentum of a placed tree under uniform ``gravity`` [m/s^2]."""
    half = scalar(0.5)
    sums = TreeSums()
    mass = scalar(0.0)
    for i in range(tree.count):
        body = tree.bodies[i]
        w = vector_row(memory, i, RATE, slot)
        v = point_velocity(memory, i, vector_row(memory, i, ARM, slot), vec3(), slot)
        h = turned_inertia(memory, body, i, slot) * w
        sums.kinetic += half * (body.mass * wp.dot(v, v) + wp.dot(w, h))
        sums.stored += joint_stored(body, q, slot)
        sums.linear += body.mass * v
        sums.angular += h
        sums.center += body.mass * center_position(memory, i, slot)
        mass += body.mass
    sums.weight = -wp.dot(gravity, sums.center)
    sums.center = sums.center / mass
    mean = sums.linear / mass
    for i in range(tree.count):
        v = point_velocity(memory, i, vector_row(memory, i, ARM, slot), vec3(), slot)
        arm = center_position(memory, i, slot) - sums.center
        sums.angular += tree.bodies[i].mass * wp.cross(arm, v - mean)
    return sums

"""What everything but the ground does to a lander in one step of contact."""

import functools
from typing import Any

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.core.types import mat33, quat, scalar, vec3
from alight.gravity.linearised import extrapolate
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.state import Memory, Run

#: Divisions are dear on a GPU.
_SIXTH = wp.constant(scalar(1.0 / 6.0))
_TWELFTH = wp.constant(scalar(1.0 / 12.0))
_TWENTIETH = wp.constant(scalar(1.0 / 20.0))


@wp.func
def turned_by(q: quat, w: vec3, dt: scalar):
    """``q`` after turning at the constant body rate ``w`` [rad/s] for ``dt`` [s]."""
    half = scalar(0.5) * dt
    angle2 = wp.dot(w, w) * half * half
    # sin(a)/a and cos(a), by series where the angle is small, as it nearly always is.
    sinc = scalar(1.0) - angle2 * _SIXTH * (scalar(1.0) - angle2 * _TWENTIETH)
    c = scalar(1.0) - scalar(0.5) * angle2 * (scalar(1.0) - angle2 * _TWELFTH)
    if angle2 > scalar(1e-5):
        angle = wp.sqrt(angle2)
        sinc = wp.sin(angle) / angle
        c = wp.cos(angle)
    s = half * sinc
    return wp.normalize(q * quat(s * w[0], s * w[1], s * w[2], c))


@functools.cache
def pushed_function(parts: Composition) -> Any:
    """The function ``(world) -> scalar``: what actuators accelerate any point by, at most
    [m/s^2]."""
    World = parts.World

    @wp.func
    def pushed(world: World):
        turn = world.body.inverse_inertia * (world.drive.torque - world.drive.gyro_rate)
        straight = wp.length(world.drive.force) / world.body.mass
        return straight + wp.length(turn) * world.body.bounding_radius

    return pushed


@functools.cache
def outer_pull_function(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot, x, q, R, dt) -> Motion`` of changes in one step."""
    World, frame_pull, spin = parts.World, parts.frame_pull, parts.laws.spin
    drives = parts.laws.drive is not None
    drive = parts.laws.drive
    locks = drive is not None and drive.instant and parts.laws.scheme.rigid

    @wp.func
    def rate_change(world: World, t: scalar, q: quat, w: vec3, dt: scalar):
        """Change of the relative body rate [rad/s] without torque, by the midpoint rule.

        I w*' = -w* x I w*, seen from the target: w' = -I^-1 (w* x I w*) - w* x w - R^T O'
        (paper 004, equation 2, with w* = w + R^T O; errata 004-1 and 004-2).
        """
        now = spin(world.rotation, t)
        omega = wp.quat_rotate_inv(q, now.rate)
        change_of_omega = wp.quat_rotate_inv(q, now.acceleration)
        change = vec3()
        for _i in range(3):
            mean = w + scalar(0.5) * change
            star = mean + omega
            change = -dt * (
                world.body.inverse_inertia * wp.cross(star, world.body.inertia * star)
                + wp.cross(star, mean)
                + change_of_omega
            )
        return change

    @wp.func
    def driven_rate_change(world: World, t: scalar, q: quat, w: vec3, dt: scalar):
        """The same with wheels that turn and what actuators do (``drive.kernel``)."""
        now = spin(world.rotation, t)
        omega = wp.quat_rotate_inv(q, now.rate)
        change_of_omega = wp.quat_rotate_inv(q, now.acceleration)
        gyro = world.drive.gyro + scalar(0.5) * dt * world.drive.gyro_rate
        push = world.drive.torque - world.drive.gyro_rate
        change = vec3()
        for _i in range(3):
            mean = w + scalar(0.5) * change
            star = mean + omega
            spun = world.body.inertia * star + gyro
            change = -dt * (
                world.body.inverse_inertia * (wp.cross(star, spun) - push)
                + wp.cross(star, mean)
                + change_of_omega
            )
        return change

    @wp.func
    def outer_pull(
        world: World, run: Run, memory: Memory, slot: int, x: vec3, q: quat, R: mat33, dt: scalar
    ):
        """What everything but the ground changes in one step, target axes."""
        value = extrapolate(memory.notes[slot].anchor, x - memory.notes[slot].anchor_x)
        g = value.acceleration
        t = run.t + scalar(0.5) * dt
        pull = Motion()
        # Coriolis' force at the speed of the start: what gravity adds meanwhile, the ground mostly
        # takes away, and a step is short against the rotation.
        pull.v = dt * frame_pull(world, t, x, run.v, g)
        if wp.static(drives):
            pull.v += (dt / world.body.mass) * (R * world.drive.force)
            pull.w = R * driven_rate_change(world, t, q, run.w, dt)
            if wp.static(locks):
                pull.w += R * world.drive.jerk
        else:
            pull.w = R * rate_change(world, t, q, run.w, dt)
        return pull

    return outer_pull

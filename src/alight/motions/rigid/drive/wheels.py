"""Wheels in each step of a rigid lander: freed by their motors, spun, and held where they stand.

I_F is the inertia less J a a^T of each free wheel, and p its absolute momentum:

    H = I_F w + sum p a,   p' = u,   I_F w' = torque - w x H - sum u a

with w the inertial rate. Holding a wheel conserves H.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.wheel import INSTANT, WheelData, brake_torque, motor_torque, spin_at_rest
from alight.core.types import mat33, scalar, vec3
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.laws import (
    EACH,
    FASTEST,
    HELD,
    MOMENTUM,
    SINCE,
    WHEEL_WORK,
    WHEELS,
    WORK,
)
from alight.motions.rigid.state import CONTACT, Memory, Run

#: Of the time that a wheel has been slowed for, what is left when it stands: in flight, and on the
#: ground, which balances the rest in the next step and does not like slivers of steps; and when
#: steps no longer stop short of that.
_STANDS = wp.constant(scalar(1e-6))
_STANDS_ON = wp.constant(scalar(1e-3))
_SOON = wp.constant(scalar(1e-3))
_SHORT = wp.constant(scalar(0.9))
#: Of the time, the shortest step that moves it on, whatever its rounding: a wheel that all but
#: stands when it is braked stands within it.
_MOMENT = wp.constant(scalar(1e-15))
#: In a step of contact a motor's torque changes by no more than this share.
_SHARE = wp.constant(scalar(0.02))
#: Torque of brakes, at their levels, that take no time [N m].
_INSTANT = wp.constant(scalar(1e-3 * INSTANT))
#: Longer than any step [s].
_NEVER = wp.constant(scalar(1e30))


@wp.struct
class WheelNow:
    """A free wheel at one instant."""

    motor: scalar  # levels of motor and brake
    brake: scalar
    speed: scalar  # relative to the lander [rad/s]
    way: scalar  # which way it turns, or will: 1, -1, or 0
    effort: scalar  # torque of motor and brake on it [N m]


@wp.func
def way_of(wheel: WheelData, motor: scalar, speed: scalar):
    """Which way a wheel turns, or will."""
    if speed == scalar(0.0):
        return wp.sign(motor_torque(wheel, motor, scalar(0.0)))
    return wp.sign(speed)


@wp.func
def wheel_effort(wheel: WheelData, motor: scalar, brake: scalar, speed: scalar, way: scalar):
    """Torque of motor and brake on a wheel that goes ``way`` [N m]."""
    return motor_torque(wheel, motor, speed) - way * brake_torque(wheel, brake)


@wp.func
def wheel_now(
    wheel: WheelData,
    drives: wp.array2d(dtype=scalar),
    level_row: int,
    slot: int,
    p: scalar,
    star: vec3,
):
    """A wheel of momentum ``p`` [N m s] in a lander that turns at the inertial rate ``star``
    [rad/s]; its levels are in rows of ``drives`` from ``level_row`` on."""
    out = WheelNow()
    out.motor = drives[level_row, slot]
    out.brake = drives[level_row + 1, slot]
    out.speed = p / wheel.inertia - wp.dot(wheel.axis, star)
    out.way = way_of(wheel, out.motor, out.speed)
    out.effort = wheel_effort(wheel, out.motor, out.brake, out.speed, out.way)
    return out


@wp.func
def freed(inverse: mat33, wheel: WheelData):
    """The inverse of I - J a a^T."""
    b = inverse * wheel.axis
    share = wheel.inertia / (scalar(1.0) - wheel.inertia * wp.dot(wheel.axis, b))
    return inverse + share * wp.outer(b, b)


@dataclasses.dataclass(frozen=True)
class WheelFunctions:
    """What a drive is made from."""

    is_free: Any
    """``(memory, slot, i) -> bool``"""
    seen: Any
    """``(world, memory, slot, i, star) -> WheelNow`` of wheel ``i``."""
    switch: Any
    """``(world, memory, slot, star)``: free wheels whose motors turn them."""
    fit: Any
    """``(here, memory, slot, star) -> world`` with the inertia of what is not free."""
    longest: Any
    """``(here, run, memory, slot, star) -> scalar``: how long the step may be [s]."""
    spin: Any
    """``(here, memory, slot, old, new, dt) -> scalar``: momenta and work after contact [J]."""
    hold: Any
    """``(here, before, run, memory, slot) -> run`` with those held that stand."""
    lock: Any
    """``(here, memory, slot, star) -> vec3``: hold what is braked instantaneously; by how much that
    would change the rate of a lander that nothing else holds [rad/s]."""
    locked: Any
    """``(world, memory, slot, old, new)``: the work of such brakes, at rates before and after."""
    stand_by: Any
    """``(world, memory, slot, star, dt)`` in a lander at rest."""


@functools.cache
def wheel_functions(parts: Composition) -> WheelFunctions:
    """The functions of the wheels of one composition of laws."""
    World, drive = parts.World, parts.laws.drive
    assert drive is not None
    wheels, level_row, turning = drive.wheels, drive.level_row, parts.laws.spin

    @wp.func
    def is_free(memory: Memory, slot: int, i: int):
        return memory.drives[WHEELS + EACH * i + HELD, slot] == scalar(0.0)

    @wp.func
    def seen(world: World, memory: Memory, slot: int, i: int, star: vec3):
        p = memory.drives[WHEELS + EACH * i + MOMENTUM, slot]
        row = wp.static(level_row) + 2 * i
        return wheel_now(world.actuators.wheels[i], memory.drives, row, slot, p, star)

    @wp.func
    def switch(world: World, memory: Memory, slot: int, star: vec3):
        for i in range(wp.static(wheels)):
            wheel = world.actuators.wheels[i]
            if not is_free(memory, slot, i):
                motor = memory.drives[wp.static(level_row) + 2 * i, slot]
                brake = memory.drives[wp.static(level_row) + 2 * i + 1, slot]
                stall = wp.abs(motor_torque(wheel, motor, scalar(0.0)))
                if stall > brake_torque(wheel, brake):
                    at = WHEELS + EACH * i
                    memory.drives[at + HELD, slot] = scalar(0.0)
                    memory.drives[at + MOMENTUM, slot] = wheel.inertia * wp.dot(wheel.axis, star)

    @wp.func
    def fit(here: World, memory: Memory, slot: int, star: vec3):
        out = here
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                wheel = here.actuators.wheels[i]
                p = memory.drives[WHEELS + EACH * i + MOMENTUM, slot]
                now = seen(here, memory, slot, i, star)
                own = wheel.inertia * wp.outer(wheel.axis, wheel.axis)
                out.body.inertia = out.body.inertia - own
                out.body.inverse_inertia = freed(out.body.inverse_inertia, wheel)
                out.drive.gyro = out.drive.gyro + p * wheel.axis
                out.drive.gyro_rate = out.drive.gyro_rate + now.effort * wheel.axis
                out.drive.stored = out.drive.stored + scalar(0.5) * p * p / wheel.inertia
        return out

    @wp.func
    def longest(here: World, run: Run, memory: Memory, slot: int, star: vec3):
        out = _NEVER
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                wheel = here.actuators.wheels[i]
                now = seen(here, memory, slot, i, star)
                light = scalar(1.0) / wheel.inertia
                light = light + wp.dot(wheel.axis, here.body.inverse_inertia * wheel.axis)
                slows = now.effort * now.speed < scalar(0.0)
                if slows and brake_torque(wheel, now.brake) > scalar(0.0):
                    # No faster than where nothing holds the lander.
                    left = wp.abs(now.speed / (now.effort * light))
                    if left > _SOON * (run.t - memory.drives[WHEELS + EACH * i + SINCE, slot]):
                        left = _SHORT * left
                    out = wp.min(out, wp.max(left, _MOMENT * run.t))
                if run.phase == CONTACT:
                    slowing = wp.abs(now.motor) * wheel.slowing * light
                    out = wp.min(out, _SHARE / wp.max(slowing, scalar(1e-30)))
        return out

    @wp.func
    def spin(here: World, memory: Memory, slot: int, old: vec3, new: vec3, dt: scalar):
        work = memory.drives[WORK, slot]
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                at = WHEELS + EACH * i
                now = seen(here, memory, slot, i, old)
                p = memory.drives[at + MOMENTUM, slot]
                memory.drives[at + MOMENTUM, slot] = p + now.effort * dt
                speed = now.speed + seen(here, memory, slot, i, new).speed
                done = scalar(0.5) * now.effort * dt * speed
                work += done
                memory.drives[at + WHEEL_WORK, slot] = memory.drives[at + WHEEL_WORK, slot] + done
        return work

    @wp.func
    def hold(here: World, before: Run, run: Run, memory: Memory, slot: int):
        """``run`` with those wheels held that stand: what they and the lander have is shared."""
        out = run
        dt = run.t - before.t
        was = turning(here.rotation, before.t)
        old = before.w + wp.quat_rotate_inv(before.q, was.rate)
        inverse = here.body.inverse_inertia
        enough = wp.where(before.phase == CONTACT, _STANDS_ON, _STANDS)
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                at = WHEELS + EACH * i
                wheel = here.actuators.wheels[i]
                omega = turning(here.rotation, out.t)
                star = out.w + wp.quat_rotate_inv(out.q, omega.rate)
                now = seen(here, memory, slot, i, star)
                fastest = wp.max(memory.drives[at + FASTEST, slot], wp.abs(now.speed))
                memory.drives[at + FASTEST, slot] = fastest
                against = brake_torque(wheel, now.brake)
                stall = wp.abs(motor_torque(wheel, now.motor, scalar(0.0)))
                if against > scalar(0.0) and stall <= against:
                    speed = now.speed
                    way = seen(here, memory, slot, i, old).speed
                    b = inverse * wheel.axis
                    light = scalar(1.0) / wheel.inertia + wp.dot(wheel.axis, b)
                    left = wp.abs(speed) / (against * light)
                    since = out.t - memory.drives[at + SINCE, slot]
                    past = way * speed < scalar(0.0) and left < scalar(2.0) * dt
                    if left <= enough * since or past:
                        memory.drives[at + HELD, slot] = scalar(1.0)
                        out.w = out.w + (speed / light) * b
                        lost = wheel.inertia * wp.dot(wheel.axis, b)
                        inverse = inverse - (wheel.inertia / (scalar(1.0) + lost)) * wp.outer(b, b)
        return out

    @wp.func
    def lock(here: World, memory: Memory, slot: int, star: vec3):
        jerk = vec3()
        inverse = here.body.inverse_inertia
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                wheel = here.actuators.wheels[i]
                now = seen(here, memory, slot, i, star + jerk)
                if brake_torque(wheel, now.brake) > _INSTANT:
                    memory.drives[WHEELS + EACH * i + HELD, slot] = scalar(2.0)
                    b = inverse * wheel.axis
                    held = wheel.inertia / (scalar(1.0) + wheel.inertia * wp.dot(wheel.axis, b))
                    jerk += (now.speed * held) * b
                    inverse = inverse - held * wp.outer(b, b)
        return jerk

    @wp.func
    def locked(world: World, memory: Memory, slot: int, old: vec3, new: vec3):
        for i in range(wp.static(wheels)):
            at = WHEELS + EACH * i
            if memory.drives[at + HELD, slot] > scalar(1.0):
                memory.drives[at + HELD, slot] = scalar(1.0)
                wheel = world.actuators.wheels[i]
                p = memory.drives[at + MOMENTUM, slot]
                speed = p / wheel.inertia - wp.dot(wheel.axis, old)
                impulse = wheel.inertia * wp.dot(wheel.axis, new) - p
                done = scalar(0.5) * impulse * speed
                memory.drives[WORK, slot] = memory.drives[WORK, slot] + done
                memory.drives[at + WHEEL_WORK, slot] = memory.drives[at + WHEEL_WORK, slot] + done

    @wp.func
    def stand_by(world: World, memory: Memory, slot: int, star: vec3, dt: scalar):
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                at = WHEELS + EACH * i
                wheel = world.actuators.wheels[i]
                now = seen(world, memory, slot, i, star)
                along = wp.dot(wheel.axis, star)
                spun = spin_at_rest(wheel, now.motor, now.brake, now.speed, dt)
                memory.drives[at + MOMENTUM, slot] = wheel.inertia * (spun.speed + along)
                if spun.held:
                    memory.drives[at + HELD, slot] = scalar(1.0)
                more = spun.speed * spun.speed - now.speed * now.speed
                gain = scalar(0.5) * wheel.inertia * more
                memory.drives[WORK, slot] = memory.drives[WORK, slot] + gain
                memory.drives[at + WHEEL_WORK, slot] = memory.drives[at + WHEEL_WORK, slot] + gain
                fastest = wp.max(memory.drives[at + FASTEST, slot], wp.abs(spun.speed))
                memory.drives[at + FASTEST, slot] = fastest

    return WheelFunctions(is_free, seen, switch, fit, longest, spin, hold, lock, locked, stand_by)

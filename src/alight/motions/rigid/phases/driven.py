"""Flight under actuators: free wheels, arms, thrust, torque.

Position and velocity of the centre of mass, attitude, angular momentum, the momenta of free wheels
and the work of all actuators are integrated together, by RK5(4). Angular momentum H and attitude
are inertial: where nothing but wheels and arms acts, H is constant by construction, and

    w = I_F^-1 (R^T H - sum p a - h).

As in free flight, steps are bounded by the distance to the ground.
"""

import functools
from typing import Any

import warp as wp

from alight.actuators.arm import Swinging
from alight.actuators.law import Effort
from alight.core.outcomes import Outcome
from alight.core.types import mat33, quat, scalar, vec3
from alight.engine.clock import after, before
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    step_function,
)
from alight.integrators.tableau import RK54
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.arms import arm_functions
from alight.motions.rigid.drive.kernel import drive_functions
from alight.motions.rigid.drive.laws import (
    ARM_EACH,
    ARM_WORK,
    EACH,
    MOMENTUM,
    WHEEL_WORK,
    WHEELS,
    WORK,
)
from alight.motions.rigid.drive.wheels import wheel_effort, wheel_functions, wheel_now
from alight.motions.rigid.phases.flight_bounds import MARGIN, flight_bounds, step_after
from alight.motions.rigid.state import Memory, Run

_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: Errors that do not matter.
_ANY = wp.constant(scalar(1e300))


@wp.func
def worked(memory: Memory, slot: int, row: int, more: scalar):
    """Add ``more`` [J] to a row."""
    memory.drives[row, slot] = memory.drives[row, slot] + more


@functools.cache
def driven_phase(parts: Composition) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one step of driven flight."""
    World, laws = parts.World, parts.laws
    pull, anchor = parts.pull, parts.anchor
    spin, attitude = laws.spin, laws.attitude
    bounds = flight_bounds(parts)
    onward, rejected, flown = bounds.onward, bounds.rejected, bounds.flown
    functions = drive_functions(parts)
    see, act = functions.see, functions.act
    is_free = wheel_functions(parts).is_free
    drive: Any = laws.drive
    wheels, pushers, level_row = drive.wheels, len(drive.pushers), drive.level_row
    arms, arm_row, push_row = drive.arms, drive.arm_row, drive.push_row
    swings = arm_functions(parts)
    arms_at, arm_power = swings.at, swings.powers
    # What errors are measured of; then the work of each wheel, arm and other actuator.
    size = 14 + wheels
    state = wp.types.vector(length=size + wheels + arms + pushers, dtype=scalar)
    core = wp.types.vector(length=size, dtype=scalar)
    ways = wp.types.vector(length=max(1, wheels), dtype=scalar)

    @wp.struct
    class Driving:
        world: World
        memory: Memory
        run: Run  # at the start of the step
        slot: int
        way: ways  # of each wheel

    @wp.struct
    class Turning:
        H: vec3  # angular momentum, body axes [N m s]
        swinging: Swinging  # arms
        inverse: mat33  # of the inertia with the arms as they are [1/(kg m^2)]
        q: quat  # body to target axes
        star: vec3  # inertial rate, body axes [rad/s]
        w: vec3  # relative to the target, body axes [rad/s]

    @wp.func
    def turning(world: World, t: scalar, since: scalar, y: state, memory: Memory, slot: int):
        """Attitude and rates in the state ``y`` of a step that began at ``since`` [s]."""
        q_NB = wp.normalize(quat(y[6], y[7], y[8], y[9]))
        gyro = vec3()
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                gyro += y[13 + i] * world.actuators.wheels[i].axis
        out = Turning()
        out.H = wp.quat_rotate_inv(q_NB, vec3(y[10], y[11], y[12]))
        if wp.static(arms > 0):
            out.swinging = arms_at(world, memory, slot, t - since)
            out.inverse = wp.inverse(world.drive.home + out.swinging.inertia)
            out.star = out.inverse * (out.H - gyro - out.swinging.spin)
        else:
            out.star = world.body.inverse_inertia * (out.H - gyro)
        out.q = wp.normalize(wp.quat_inverse(attitude(world.rotation, t)) * q_NB)
        now = spin(world.rotation, t)
        out.w = out.star - wp.quat_rotate_inv(out.q, now.rate)
        return out

    @wp.func
    def inner_velocity(now: Turning):
        """How fast the centre of mass goes from the body's origin, target axes [m/s]."""
        moving = now.swinging.shift_rate + wp.cross(now.w, now.swinging.shift)
        return wp.quat_rotate(now.q, moving)

    @wp.func
    def slope_of(data: Driving, t: scalar, y: state):
        world = data.world
        memory = data.memory
        slot = data.slot
        x = vec3(y[0], y[1], y[2])
        v = vec3(y[3], y[4], y[5])
        when = before(t, data.run.until)
        now = turning(world, t, data.run.t, y, memory, slot)
        kick = vec3()
        turn = vec3()
        a = pull(world, memory, slot, when, x, v)
        out = state()
        if wp.static(pushers > 0):
            there = data.run
            there.t = when
            there.x = x
            there.v = v
            there.q = now.q
            there.w = now.w
            if wp.static(arms > 0):
                there.x = x - wp.quat_rotate(now.q, now.swinging.shift)
                there.v = v - inner_velocity(now)
            scene = see(world, there, memory, slot)
            effort = Effort()
            for j in range(wp.static(pushers)):
                one = act(world, scene, memory, slot, j)
                effort.force += one.force
                effort.torque += one.torque
                done = wp.dot(wp.quat_rotate(now.q, one.force), there.v) + wp.dot(one.torque, now.w)
                out[wp.static(size + wheels + arms) + j] = done
            force = wp.quat_rotate(now.q, effort.force)
            a += force / world.body.mass
            q_NB = wp.normalize(quat(y[6], y[7], y[8], y[9]))
            out[wp.static(size - 1)] = wp.dot(force, there.v) + wp.dot(effort.torque, now.w)
            if wp.static(arms > 0):
                effort.torque -= wp.cross(now.swinging.shift, effort.force)
            torque = wp.quat_rotate(q_NB, effort.torque)
            for k in range(3):
                out[10 + k] = torque[k]
            kick = effort.force / world.body.mass
            turn = effort.torque
        dq = scalar(0.5) * (
            quat(y[6], y[7], y[8], y[9]) * quat(now.star[0], now.star[1], now.star[2], scalar(0.0))
        )
        for k in range(3):
            out[k] = v[k]
            out[3 + k] = a[k]
        for k in range(4):
            out[6 + k] = dq[k]
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                wheel = world.actuators.wheels[i]
                row = wp.static(level_row) + 2 * i
                spun = wheel_now(wheel, memory.drives, row, slot, y[13 + i], now.star)
                u = wheel_effort(wheel, spun.motor, spun.brake, spun.speed, data.way[i])
                out[13 + i] = u
                out[wp.static(size) + i] = u * spun.speed
                out[wp.static(size - 1)] = out[wp.static(size - 1)] + u * spun.speed
                turn -= u * wheel.axis
        if wp.static(arms > 0):
            with_arms = now.swinging.spin_rate + now.swinging.inertia_rate * now.star
            turn = now.inverse * (turn - wp.cross(now.star, now.H) - with_arms)
            for i in range(wp.static(arms)):
                power = arm_power(
                    world, memory, slot, i, now.swinging, now.star, turn, kick, scalar(1.0),
                    t - data.run.t,
                )  # fmt: skip
                out[wp.static(size + wheels) + i] = power
                out[wp.static(size - 1)] = out[wp.static(size - 1)] + power
        return out

    step = step_function(RK54, slope_of, state, Driving)
    norm = error_norm_function(core)

    @wp.func
    def cored(y: state):
        out = core()
        for k in range(wp.static(size)):
            out[k] = y[k]
        return out

    @wp.func
    def packed(world: World, run: Run, memory: Memory, slot: int):
        """The state of ``run``."""
        y = state()
        q_NB = attitude(world.rotation, run.t) * run.q
        now = spin(world.rotation, run.t)
        star = run.w + wp.quat_rotate_inv(run.q, now.rate)
        H = wp.quat_rotate(q_NB, world.body.inertia * star + world.drive.gyro)
        x = run.x
        v = run.v
        if wp.static(arms > 0):
            x = x + wp.quat_rotate(run.q, world.body.shift)
            inner = world.drive.shift_rate + wp.cross(run.w, world.body.shift)
            v = v + wp.quat_rotate(run.q, inner)
        for k in range(3):
            y[k] = x[k]
            y[3 + k] = v[k]
            y[10 + k] = H[k]
        for k in range(4):
            y[6 + k] = q_NB[k]
        for i in range(wp.static(wheels)):
            y[13 + i] = memory.drives[WHEELS + EACH * i + MOMENTUM, slot]
        return y

    @wp.func
    def allowed(world: World, run: Run, y: state, h: scalar, g: scalar):
        """Errors that a step of ``h`` [s] may make."""
        out = core()
        rtol = world.limits.rtol
        spun = wp.length(world.body.inertia * run.w) + wp.length(world.drive.gyro)
        spun += h * (wp.length(world.drive.torque) + wp.length(world.drive.gyro_rate))
        for k in range(3):
            out[k] = rtol * wp.length(run.x)
            out[3 + k] = rtol * (wp.length(run.v) + g * h)
            out[10 + k] = rtol * spun
        for k in range(4):
            out[6 + k] = rtol
        for i in range(wp.static(wheels)):
            out[13 + i] = rtol * spun
        out[wp.static(size - 1)] = _ANY
        return out

    @wp.func
    def ways_of(world: World, y: state, star: vec3, memory: Memory, slot: int):
        out = ways()
        for i in range(wp.static(wheels)):
            wheel = world.actuators.wheels[i]
            row = wp.static(level_row) + 2 * i
            out[i] = wheel_now(wheel, memory.drives, row, slot, y[13 + i], star).way
        return out

    @wp.func
    def swing(world: World, star: vec3):
        """Angular acceleration [rad/s^2]."""
        H = world.body.inertia * star + world.drive.gyro
        torque = world.drive.torque - world.drive.gyro_rate - wp.cross(star, H)
        return wp.length(world.body.inverse_inertia * torque)

    @wp.func
    def inner_pull(world: World, star: vec3, turn: scalar):
        """Acceleration of the body's origin against the centre of mass, at most [m/s^2]."""
        away = wp.length(world.body.shift) * (turn + wp.dot(star, star))
        return away + wp.length(world.drive.frame)

    @wp.func
    def fly(world: World, run: Run, memory: Memory, slot: int):
        """One step, accepted or not, or the change to the contact phase."""
        limits = world.limits
        out = run
        out.steps += 1
        if wp.static(laws.linearised):
            anchor(world, out, memory, slot)
        data = Driving()
        data.world = world
        data.memory = memory
        data.run = run
        data.slot = slot
        y = packed(world, run, memory, slot)
        start = turning(world, run.t, run.t, y, memory, slot)
        data.way = ways_of(world, y, start.star, memory, slot)
        k1 = slope_of(data, out.t, y)
        g = wp.sqrt(k1[3] * k1[3] + k1[4] * k1[4] + k1[5] * k1[5])
        if not g < scalar(1e100):
            out.outcome = _NOT_FINITE
            return out
        turn = swing(world, start.star)
        a = MARGIN * (g + world.body.bounding_radius * turn)
        if wp.static(arms > 0):
            a += MARGIN * inner_pull(world, start.star, turn)
        ahead = onward(world, out, a, g, memory, slot)
        if ahead.arrives:
            return ahead.run
        out = ahead.run
        h = ahead.h
        taken = step(data, out.t, y, k1, h)
        error = norm(
            cored(y), cored(taken.y), cored(taken.error), scalar(0.0),
            allowed(world, run, y, h, g),
        )  # fmt: skip
        if not accepted(error):
            return rejected(world, out, h, error, memory, slot)
        out.h = step_after(h, out.h, error)
        out.t = after(out.t, h, run.until, limits.max_time)
        end = turning(world, out.t, run.t, taken.y, memory, slot)
        out.q = end.q
        out.w = end.w
        out.x = vec3(taken.y[0], taken.y[1], taken.y[2])
        out.v = vec3(taken.y[3], taken.y[4], taken.y[5])
        if wp.static(arms > 0):
            out.x = out.x - wp.quat_rotate(out.q, end.swinging.shift)
            out.v = out.v - inner_velocity(end)
        for i in range(wp.static(wheels)):
            memory.drives[WHEELS + EACH * i + MOMENTUM, slot] = taken.y[13 + i]
            worked(memory, slot, WHEELS + EACH * i + WHEEL_WORK, taken.y[wp.static(size) + i])
        for i in range(wp.static(arms)):
            row = wp.static(arm_row) + ARM_EACH * i + ARM_WORK
            worked(memory, slot, row, taken.y[wp.static(size + wheels) + i])
        for j in range(wp.static(pushers)):
            more = taken.y[wp.static(size + wheels + arms) + j]
            worked(memory, slot, wp.static(push_row) + j, more)
        worked(memory, slot, WORK, taken.y[wp.static(size - 1)])
        return flown(world, run, out, h, a)

    return fly

"""Flight under actuators: free wheels, thrust, torque.

Position, velocity, attitude, angular momentum, the momenta of free wheels and the work of all
actuators are integrated together, by RK5(4). Angular momentum H and attitude are inertial: where
nothing but wheels acts, H is constant by construction, and

    w = I_F^-1 (R^T H - sum p a).

As in free flight, steps are bounded by the distance to the ground.
"""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import quat, scalar, vec3
from alight.engine.clock import after, before
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    step_function,
)
from alight.integrators.tableau import RK54
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.kernel import drive_functions
from alight.motions.rigid.drive.laws import EACH, MOMENTUM, WHEELS, WORK
from alight.motions.rigid.drive.wheels import wheel_effort, wheel_functions, wheel_now
from alight.motions.rigid.phases.flight_bounds import MARGIN, flight_bounds, step_after
from alight.motions.rigid.state import Memory, Run

_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))

#: Errors that do not matter.
_ANY = wp.constant(scalar(1e300))


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
    size = 14 + wheels
    state = wp.types.vector(length=size, dtype=scalar)
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
        q: quat  # body to target axes
        star: vec3  # inertial rate, body axes [rad/s]
        w: vec3  # relative to the target, body axes [rad/s]

    @wp.func
    def turning(world: World, t: scalar, y: state, memory: Memory, slot: int):
        """Attitude and rates in the state ``y``."""
        q_NB = wp.normalize(quat(y[6], y[7], y[8], y[9]))
        gyro = vec3()
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                gyro += y[13 + i] * world.actuators.wheels[i].axis
        out = Turning()
        H = wp.quat_rotate_inv(q_NB, vec3(y[10], y[11], y[12]))
        out.star = world.body.inverse_inertia * (H - gyro)
        out.q = wp.normalize(wp.quat_inverse(attitude(world.rotation, t)) * q_NB)
        now = spin(world.rotation, t)
        out.w = out.star - wp.quat_rotate_inv(out.q, now.rate)
        return out

    @wp.func
    def slope_of(data: Driving, t: scalar, y: state):
        world = data.world
        memory = data.memory
        slot = data.slot
        x = vec3(y[0], y[1], y[2])
        v = vec3(y[3], y[4], y[5])
        when = before(t, data.run.until)
        now = turning(world, t, y, memory, slot)
        a = pull(world, memory, slot, when, x, v)
        out = state()
        if wp.static(pushers > 0):
            there = data.run
            there.t = when
            there.x = x
            there.v = v
            there.q = now.q
            there.w = now.w
            effort = act(world, see(world, there, memory, slot), memory, slot)
            force = wp.quat_rotate(now.q, effort.force)
            a += force / world.body.mass
            q_NB = wp.normalize(quat(y[6], y[7], y[8], y[9]))
            torque = wp.quat_rotate(q_NB, effort.torque)
            for k in range(3):
                out[10 + k] = torque[k]
            out[wp.static(size - 1)] = wp.dot(force, v) + wp.dot(effort.torque, now.w)
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
                out[wp.static(size - 1)] = out[wp.static(size - 1)] + u * spun.speed
        return out

    step = step_function(RK54, slope_of, state, Driving)
    norm = error_norm_function(state)

    @wp.func
    def packed(world: World, run: Run, memory: Memory, slot: int):
        """The state of ``run``."""
        y = state()
        q_NB = attitude(world.rotation, run.t) * run.q
        now = spin(world.rotation, run.t)
        star = run.w + wp.quat_rotate_inv(run.q, now.rate)
        H = wp.quat_rotate(q_NB, world.body.inertia * star + world.drive.gyro)
        for k in range(3):
            y[k] = run.x[k]
            y[3 + k] = run.v[k]
            y[10 + k] = H[k]
        for k in range(4):
            y[6 + k] = q_NB[k]
        for i in range(wp.static(wheels)):
            y[13 + i] = memory.drives[WHEELS + EACH * i + MOMENTUM, slot]
        return y

    @wp.func
    def allowed(world: World, run: Run, y: state, h: scalar, g: scalar):
        """Errors that a step of ``h`` [s] may make."""
        out = state()
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
        start = turning(world, run.t, y, memory, slot)
        data.way = ways_of(world, y, start.star, memory, slot)
        k1 = slope_of(data, out.t, y)
        g = wp.sqrt(k1[3] * k1[3] + k1[4] * k1[4] + k1[5] * k1[5])
        if not g < scalar(1e100):
            out.outcome = _NOT_FINITE
            return out
        a = MARGIN * (g + world.body.bounding_radius * swing(world, start.star))
        ahead = onward(world, out, a, g, memory, slot)
        if ahead.arrives:
            return ahead.run
        out = ahead.run
        h = ahead.h
        taken = step(data, out.t, y, k1, h)
        error = norm(y, taken.y, taken.error, scalar(0.0), allowed(world, run, y, h, g))
        if not accepted(error):
            return rejected(world, out, h, error, memory, slot)
        out.h = step_after(h, out.h, error)
        out.t = after(out.t, h, run.until, limits.max_time)
        end = turning(world, out.t, taken.y, memory, slot)
        out.q = end.q
        out.w = end.w
        out.x = vec3(taken.y[0], taken.y[1], taken.y[2])
        out.v = vec3(taken.y[3], taken.y[4], taken.y[5])
        for i in range(wp.static(wheels)):
            memory.drives[WHEELS + EACH * i + MOMENTUM, slot] = taken.y[13 + i]
        more = taken.y[wp.static(size - 1)]
        memory.drives[WORK, slot] = memory.drives[WORK, slot] + more
        return flown(world, run, out, h, a)

    return fly

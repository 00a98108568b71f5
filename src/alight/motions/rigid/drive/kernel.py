"""Actuators in each step of a rigid lander.

At the start of a step levels are set, wheels freed and springs let go; the world is laid out for
what is free (``fitted``); the step ends where a wheel comes to a stand; then wheels have their new
momenta, and those that stand are held (``wheels``).
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.law import combined
from alight.actuators.programme_kernel import (
    NEVER,
    Begun,
    first_after_rest,
    level_at,
    next_control,
    next_switch,
    next_tick,
    switches_at,
)
from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.engine.scene import Scene
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.arms import arm_functions
from alight.motions.rigid.drive.controllers import controllers
from alight.motions.rigid.drive.laws import (
    DRIVEN,
    EACH,
    HOPS,
    RESTED,
    RESTING,
    RESTS,
    SINCE,
    TOUCHED,
    WHEELS,
    WORK,
)
from alight.motions.rigid.drive.manoeuvre_kernel import manoeuvre_functions
from alight.motions.rigid.drive.throws import throw_functions
from alight.motions.rigid.drive.wheels import wheel_functions
from alight.motions.rigid.phases.clipped import watch
from alight.motions.rigid.scene import scene_function
from alight.motions.rigid.state import CONTACT, FLIGHT, Memory, Run
from alight.vehicles.rigid.data import angular_energy, linear_energy

_RUNNING = wp.constant(int(Outcome.RUNNING))

#: A step of contact turns a lander by no more than this, from a stand [rad]; gyroscopic motion by
#: this.
_TURN = wp.constant(scalar(1e-4))
_NUTATION = wp.constant(scalar(0.1))
#: And a step in which wheels are held in no time by this, against what they would turn it [rad].
_LOCKED = wp.constant(scalar(1e-6))


@dataclasses.dataclass(frozen=True)
class DriveFunctions:
    """What a loop is made from."""

    see: Any
    """``(world, run, memory, slot) -> Scene``"""
    act: Any
    """``(world, scene, memory, slot, which) -> Effort`` of one that is neither wheel nor arm."""
    fitted: Any
    """``(world, run, memory, slot) -> world`` of the step that begins."""
    driven: Any
    """``(memory, slot) -> bool``: whether anything acts on a lander in flight."""
    begin: Any
    """``(world, run, memory, slot) -> run``: levels, free wheels, springs."""
    longest: Any
    """``(world, run, memory, slot) -> scalar``: how long the step may be [s]."""
    end: Any
    """``(world, before, run, memory, slot) -> run``: momenta of wheels, held wheels."""
    following: Any
    wake: Any


@functools.cache
def drive_functions(parts: Composition) -> DriveFunctions:
    """The functions of the actuators of one composition of laws."""
    World, laws = parts.World, parts.laws
    drive: Any = laws.drive
    wheels, levels, pushers = drive.wheels, drive.levels, len(drive.pushers)
    level_row, due_row, kick_row = drive.level_row, drive.due_row, drive.kick_row
    kicks = any(kick is not None for _, _, kick in drive.pushers)
    controls = len(drive.controllers)
    arms, push_level, push_row, said_row = (
        drive.arms, drive.push_level, drive.push_row, drive.said_row,
    )  # fmt: skip
    push_one, kick_one = combined(drive.pushers)[1:]
    control = controllers(drive.controllers)[1]
    spin, external_next, timed = laws.spin, laws.next, laws.next is not None
    own = wheel_functions(parts)
    is_free, free_wheels, fit_wheels = own.is_free, own.switch, own.fit
    wheel_step, spin_wheels, hold_wheels = own.longest, own.spin, own.hold
    lock_wheels, work_of_locks = own.lock, own.locked
    instant, jerk_row, rigid = drive.instant, drive.jerk_row, laws.scheme.rigid
    stand_by = own.stand_by
    tours = drive.manoeuvres > 0
    tour: Any = manoeuvre_functions(parts) if tours else None
    tour_level, tour_next = getattr(tour, "level", None), getattr(tour, "following", None)
    tour_wake, tour_control = getattr(tour, "wake", None), getattr(tour, "control", None)
    tour_note = getattr(tour, "note", None)
    throws = drive.throws
    leave: Any = throw_functions(parts).leave if throws else None
    swings = arm_functions(parts)
    arms_move, arms_away, switch_arms = swings.moving, swings.away, swings.switch
    fit_arms, arm_step = swings.fit, swings.longest
    balance_arms, arms_arrive = swings.balance, swings.arrive
    seen = scene_function(parts, drive.sees_height, False)

    @wp.func
    def begun(memory: Memory, slot: int):
        out = Begun()
        out.touched = memory.drives[TOUCHED, slot]
        out.rested = memory.drives[RESTED, slot]
        out.rests = int(memory.drives[RESTS, slot])
        return out

    @wp.func
    def see(world: World, run: Run, memory: Memory, slot: int):
        """What laws see of a run; one that has come to rest still touches."""
        scene = seen(world, run, memory, slot)
        scene.touching = int(run.phase == CONTACT)
        scene.touched = memory.drives[TOUCHED, slot]
        return scene

    @wp.func
    def act(world: World, scene: Scene, memory: Memory, slot: int, which: int):
        return push_one(
            world.actuators.pushers, scene, memory.drives,
            wp.static(level_row + push_level), slot, which,
        )  # fmt: skip

    @wp.func
    def inertial(world: World, run: Run):
        """Inertial rate, body axes [rad/s]."""
        now = spin(world.rotation, run.t)
        return run.w + wp.quat_rotate_inv(run.q, now.rate)

    @wp.func
    def set_levels(world: World, run: Run, memory: Memory, slot: int):
        """Levels from the start of this step on."""
        all = world.actuators.programmes
        since = begun(memory, slot)
        which = int(0)
        for c in range(wp.static(levels)):
            row = wp.static(level_row) + c
            old = memory.drives[row, slot]
            new = scalar(old)
            if all.each[c].period > scalar(0.0):
                if wp.static(controls > 0):  # noqa: SIM102
                    if run.t >= memory.drives[wp.static(due_row) + c, slot]:
                        scene = see(world, run, memory, slot)
                        said = old
                        if wp.static(said_row >= 0):
                            # What the host has said; controllers of the kernel said it themselves.
                            said = memory.drives[wp.static(said_row) + c, slot]
                        new = control(world.actuators.controllers, which, scene, said)
                        if wp.static(said_row >= 0):
                            memory.drives[wp.static(said_row) + c, slot] = new
                        due = next_tick(all.each[c].period, run.t)
                        memory.drives[wp.static(due_row) + c, slot] = due
                which += 1
            elif wp.static(tours):
                new = tour_level(memory, slot, c, run.t)
            else:
                new = level_at(all, c, run.t, since)
            memory.drives[row, slot] = new
            if new != old:
                if c < wp.static(2 * wheels):
                    memory.drives[WHEELS + EACH * (c // 2) + SINCE, slot] = run.t
                elif c >= wp.static(push_level) and old == scalar(0.0):
                    memory.drives[wp.static(kick_row - push_level) + c, slot] = scalar(1.0)

    @wp.func
    def fitted(world: World, run: Run, memory: Memory, slot: int):
        """``world`` with the inertia of what is not free, and what actuators do from now on."""
        here = world
        here.drive.work = memory.drives[WORK, slot]
        here = fit_wheels(here, memory, slot, inertial(world, run))
        if wp.static(instant):
            for k in range(3):
                here.drive.jerk[k] = memory.drives[wp.static(jerk_row) + k, slot]
        if wp.static(arms > 0):
            here = fit_arms(here, memory, slot, inertial(world, run))
        if wp.static(pushers > 0):
            scene = see(world, run, memory, slot)
            for j in range(wp.static(pushers)):
                effort = act(world, scene, memory, slot, j)
                here.drive.force = here.drive.force + effort.force
                here.drive.torque = here.drive.torque + effort.torque
        if wp.static(arms > 0):
            # About the centre of mass, and on the point of the body that is there.
            lost = wp.cross(here.body.shift, here.drive.force)
            here.drive.torque = here.drive.torque - lost
            here.drive.force = here.drive.force + here.body.mass * here.drive.frame
        return here

    @wp.func
    def driven(memory: Memory, slot: int):
        """Whether a wheel is free, an arm is not as released, or an actuator is switched on."""
        found = bool(False)
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                found = True
        if wp.static(arms > 0):
            found = found or arms_away(memory, slot)
        for j in range(wp.static(pushers)):
            if memory.drives[wp.static(level_row + push_level) + j, slot] != scalar(0.0):
                found = True
        return found

    @wp.func
    def let_go(world: World, run: Run, memory: Memory, slot: int):
        """``run`` after the impulses of what has just been switched on."""
        out = run
        here = fitted(world, run, memory, slot)
        for j in range(wp.static(pushers)):
            if memory.drives[wp.static(kick_row) + j, slot] != scalar(0.0):
                memory.drives[wp.static(kick_row) + j, slot] = scalar(0.0)
                level = memory.drives[wp.static(level_row + push_level) + j, slot]
                scene = see(world, out, memory, slot)
                gives = kick_one(
                    world.actuators.pushers, scene, level, j, here.body.mass,
                    here.body.inverse_inertia,
                )  # fmt: skip
                before = linear_energy(here.body, out.v) + angular_energy(here.body, out.w)
                out.v = out.v + wp.quat_rotate(out.q, gives.force) / here.body.mass
                out.w = out.w + here.body.inverse_inertia * gives.torque
                more = linear_energy(here.body, out.v) + angular_energy(here.body, out.w) - before
                memory.drives[WORK, slot] = memory.drives[WORK, slot] + more
                row = wp.static(push_row) + j
                memory.drives[row, slot] = memory.drives[row, slot] + more
        return out

    @wp.func
    def locked(world: World, run: Run, memory: Memory, slot: int):
        """``run`` whose wheels are held in no time; on rigid ground the step to come does that
        together with the impulses of the ground."""
        out = run
        star = inertial(world, run)
        jerk = lock_wheels(fit_wheels(world, memory, slot, star), memory, slot, star)
        if wp.static(rigid):
            for k in range(3):
                row = wp.static(jerk_row) + k
                jerk[k] = jerk[k] + memory.drives[row, slot]
                memory.drives[row, slot] = wp.where(run.phase == CONTACT, jerk[k], scalar(0.0))
        if run.phase == FLIGHT or wp.static(not rigid):
            out.w = run.w + jerk
            work_of_locks(world, memory, slot, star, star + jerk)
        return out

    @wp.func
    def begin(world: World, run: Run, memory: Memory, slot: int):
        """``run`` with the levels of the step that begins."""
        if wp.static(tours):
            tour_control(world, run, memory, slot, inertial(world, run))
        set_levels(world, run, memory, slot)
        free_wheels(world, memory, slot, inertial(world, run))
        out = run
        if wp.static(instant):
            out = locked(world, run, memory, slot)
        if wp.static(kicks):
            out = let_go(world, out, memory, slot)
        if wp.static(throws):
            out = leave(world, out, memory, slot)
        if wp.static(arms > 0):
            switch_arms(world, memory, slot)
            if run.phase == CONTACT and arms_move(memory, slot):
                # What an arm moves in is not at rest, however slow it is.
                out.quiet = scalar(0.0)
                out.still = 0
                watch(out, memory, slot)
        memory.drives[DRIVEN, slot] = scalar(driven(memory, slot))
        return out

    @wp.func
    def longest(here: World, run: Run, memory: Memory, slot: int):
        """How long the step may be [s]: to where a wheel stands, and as motion can be followed."""
        out = wheel_step(here, run, memory, slot, inertial(here, run))
        inverse = here.body.inverse_inertia
        if wp.static(instant):
            out = wp.min(out, _LOCKED / wp.max(wp.length(here.drive.jerk), scalar(1e-30)))
        if wp.static(arms > 0):
            out = wp.min(out, arm_step(here, run, memory, slot))
        if run.phase == CONTACT:
            around = wp.length(here.drive.gyro) * wp.trace(inverse)
            out = wp.min(out, _NUTATION / wp.max(around, scalar(1e-30)))
            pace = wp.length(inverse * (here.drive.torque - here.drive.gyro_rate))
            out = wp.min(out, wp.sqrt(scalar(2.0) * _TURN / wp.max(pace, scalar(1e-30))))
        return out

    @wp.func
    def spin_on(here: World, before: Run, run: Run, memory: Memory, slot: int):
        """Momenta of wheels, and the work of all, after a step of contact."""
        dt = run.t - before.t
        half = scalar(0.5)
        work = spin_wheels(here, memory, slot, inertial(here, before), inertial(here, run), dt)
        if wp.static(pushers > 0):
            push = here.drive.force
            turn = here.drive.torque
            if wp.static(arms > 0):
                push = push - here.body.mass * here.drive.frame
                turn = turn + wp.cross(here.body.shift, push)
            force = wp.quat_rotate(before.q, push)
            force = half * (force + wp.quat_rotate(run.q, push))
            work += half * dt * wp.dot(force, before.v + run.v)
            work += half * dt * wp.dot(turn, before.w + run.w)
            scene = see(here, before, memory, slot)
            for j in range(wp.static(pushers)):
                effort = act(here, scene, memory, slot, j)
                way = wp.quat_rotate_inv(before.q, before.v) + wp.quat_rotate_inv(run.q, run.v)
                done = wp.dot(effort.force, way) + wp.dot(effort.torque, before.w + run.w)
                row = wp.static(push_row) + j
                memory.drives[row, slot] = memory.drives[row, slot] + half * dt * done
        memory.drives[WORK, slot] = work

    @wp.func
    def following(world: World, run: Run, memory: Memory, slot: int):
        """When a step must end at the latest [s]."""
        soon = next_switch(world.actuators.programmes, run.t, begun(memory, slot))
        if wp.static(tours):
            soon = wp.min(soon, tour_next(memory, slot, run.t))
        if wp.static(controls > 0):
            soon = wp.min(soon, next_control(world.actuators.programmes, run.t))
        if wp.static(timed):
            soon = wp.min(soon, external_next(world.external, run.t))
        return wp.min(world.limits.max_time, soon)

    @wp.func
    def end(here: World, before: Run, run: Run, memory: Memory, slot: int):
        """``run`` at the end of a step."""
        out = run
        if wp.static(arms > 0):
            if before.phase != FLIGHT and arms_move(memory, slot):
                out = balance_arms(here, before, out, memory, slot)
            arms_arrive(here, memory, slot, run.t - before.t)
        if before.phase != FLIGHT and run.t > before.t:
            spin_on(here, before, out, memory, slot)
            if wp.static(instant):
                new = inertial(here, out)
                work_of_locks(here, memory, slot, inertial(here, before), new)
                for k in range(3):
                    memory.drives[wp.static(jerk_row) + k, slot] = scalar(0.0)
        if run.outcome == _RUNNING and run.t > before.t:
            out = hold_wheels(here, before, out, memory, slot)
        if before.phase == CONTACT and run.phase == FLIGHT:
            hops = memory.drives[HOPS, slot] + memory.drives[RESTING, slot]
            memory.drives[HOPS, slot] = hops
            memory.drives[RESTING, slot] = scalar(0.0)
        if wp.static(tours):
            tour_note(here, before, out, memory, slot, inertial(here, out))
        if out.touching != 0 and memory.drives[TOUCHED, slot] >= NEVER:
            memory.drives[TOUCHED, slot] = memory.notes[slot].touch.start
            out.until = out.t
        return out

    @wp.func
    def wake(world: World, run: Run, memory: Memory, slot: int):
        """``run`` that has come to rest goes on from the next switch, if there is one."""
        out = run
        since = begun(memory, slot)
        soon = next_switch(world.actuators.programmes, run.t, since)
        if run.t >= run.until and switches_at(world.actuators.programmes, run.t, since):
            soon = run.t  # where the step ended, and which the next one makes
        if wp.static(timed):
            soon = wp.min(soon, external_next(world.external, run.t))
        if wp.static(tours):
            # Commands are those of manoeuvres alone.
            planned = tour_wake(world, run, memory, slot, inertial(world, run))
            soon = wp.where(planned < NEVER, planned, soon)
        elif since.rests == 0 or soon >= NEVER:
            delay = first_after_rest(world.actuators.programmes, since.rests + 1)
            if delay < NEVER:
                memory.drives[RESTED, slot] = run.t
                memory.drives[RESTS, slot] = scalar(since.rests + 1)
                soon = wp.min(soon, run.t + delay)
        if soon < world.limits.max_time:
            if wp.static(not tours):
                stand_by(world, memory, slot, inertial(world, run), soon - run.t)
            memory.drives[RESTING, slot] = scalar(1.0)
            out.t = soon
            out.until = soon
            out.outcome = _RUNNING
            out.quiet = scalar(0.0)
            out.still = 0
            watch(out, memory, slot)
        return out

    return DriveFunctions(see, act, fitted, driven, begin, longest, end, following, wake)

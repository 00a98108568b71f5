"""Swing arms in each step of a rigid lander (the equations are in ``actuators.arm``).

The state of a run is that of the body's origin, the centre of mass with all arms as released, so
that hull, points, stops and figures need not know of arms. In flight the centre of mass is what is
integrated (``phases.driven``). A step of contact is one of the point of the body where the centre
of mass is at its start: levers, mass and inertia are right there, and its motion is that of the
centre of mass less 2 w x c' + c''. At the end momentum is counted exactly: what the ground and all
pushes gave in the step is kept, and rate and velocity are those that have it with the arms where
they have come to.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.arm import (
    ArmState,
    Swung,
    about_centre,
    add_arm,
    arm_after,
    arm_pace,
    arm_work,
    time_to_rate,
)
from alight.core.types import scalar, vec3
from alight.gravity.linearised import extrapolate
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.laws import ANGLE, ARM_EACH, ARM_WORK, PACE, RATE, WORK
from alight.motions.rigid.phases.free_motion import turned_by
from alight.motions.rigid.state import CONTACT, Memory, Run

#: An arm turns by no more than this in a step of contact [rad].
_SWING = wp.constant(scalar(5e-3))
#: An arm this near to where it was released is there [rad].
_HOME = wp.constant(scalar(1e-9))
_TURN = wp.constant(scalar(6.283185307179586))
_NEVER = wp.constant(scalar(1e30))


@dataclasses.dataclass(frozen=True)
class ArmFunctions:
    """What a drive is made from."""

    state: Any
    """``(memory, slot, i) -> ArmState`` at the start of the step."""
    moving: Any
    """``(memory, slot) -> bool``: whether any turns."""
    away: Any
    """``(memory, slot) -> bool``: whether any turns or is not where it was released."""
    switch: Any
    """``(world, memory, slot)``: set the paces of the step that begins."""
    at: Any
    """``(world, memory, slot, dt) -> Swinging`` so long after the start of the step [s]."""
    powers: Any
    """``(world, memory, slot, i, swinging, star, turn, kick, dt, since) -> scalar`` of arm ``i``:
    ``arm_work`` in its state ``since`` [s] after the start."""
    fit: Any
    """``(here, memory, slot, star) -> world`` with inertia and momentum of the arms."""
    longest: Any
    """``(here, run, memory, slot) -> scalar``: how long the step may be [s]."""
    to_centre: Any
    """``(here, run) -> run`` of the point of the body where the centre of mass is."""
    to_origin: Any
    """``(here, run) -> run`` back."""
    balance: Any
    """``(here, before, run, memory, slot) -> run`` after a step of contact."""
    arrive: Any
    """``(here, memory, slot, dt)``: arms as they are at the end of a step."""


@functools.cache
def arm_functions(parts: Composition) -> ArmFunctions:
    """The functions of the arms of one composition of laws."""
    World, drive = parts.World, parts.laws.drive
    assert drive is not None
    arms, first, level_row = drive.arms, drive.arm_row, drive.level_row + 2 * drive.wheels
    turning, frame_pull = parts.laws.spin, parts.frame_pull

    @wp.func
    def state(memory: Memory, slot: int, i: int):
        at = wp.static(first) + ARM_EACH * i
        out = ArmState()
        out.angle = memory.drives[at + ANGLE, slot]
        out.rate = memory.drives[at + RATE, slot]
        out.pace = memory.drives[at + PACE, slot]
        return out

    @wp.func
    def later(world: World, memory: Memory, slot: int, i: int, dt: scalar):
        level = memory.drives[wp.static(level_row) + i, slot]
        return arm_after(world.actuators.arms[i], level, state(memory, slot, i), dt)

    @wp.func
    def moving(memory: Memory, slot: int):
        found = bool(False)
        for i in range(wp.static(arms)):
            now = state(memory, slot, i)
            if now.rate != scalar(0.0) or now.pace != scalar(0.0):
                found = True
        return found

    @wp.func
    def away(memory: Memory, slot: int):
        found = moving(memory, slot)
        for i in range(wp.static(arms)):
            if state(memory, slot, i).angle != scalar(0.0):
                found = True
        return found

    @wp.func
    def switch(world: World, memory: Memory, slot: int):
        for i in range(wp.static(arms)):
            at = wp.static(first) + ARM_EACH * i
            level = memory.drives[wp.static(level_row) + i, slot]
            rate = memory.drives[at + RATE, slot]
            memory.drives[at + PACE, slot] = arm_pace(world.actuators.arms[i], level, rate)

    @wp.func
    def at(world: World, memory: Memory, slot: int, dt: scalar):
        sums = Swung()
        for i in range(wp.static(arms)):
            sums = add_arm(sums, world.actuators.arms[i], later(world, memory, slot, i, dt))
        return about_centre(sums, world.body.mass)

    @wp.func
    def powers(
        world: World,
        memory: Memory,
        slot: int,
        i: int,
        swinging: Any,
        star: vec3,
        turn: vec3,
        kick: vec3,
        dt: scalar,
        since: scalar,
    ):
        there = later(world, memory, slot, i, since)
        return arm_work(world.actuators.arms[i], there, swinging, star, turn, kick, dt)

    @wp.func
    def fit(here: World, memory: Memory, slot: int, star: vec3):
        out = here
        out.drive.home = here.body.inertia
        if away(memory, slot):
            now = at(here, memory, slot, scalar(0.0))
            out.body.inertia = here.body.inertia + now.inertia
            out.body.inverse_inertia = wp.inverse(out.body.inertia)
            out.body.shift = now.shift
            out.body.bounding_radius = here.body.bounding_radius + wp.length(now.shift)
            out.drive.gyro = here.drive.gyro + now.spin
            change = now.spin_rate + now.inertia_rate * star
            out.drive.gyro_rate = here.drive.gyro_rate + change
            out.drive.stored = here.drive.stored + now.energy + wp.dot(star, now.spin)
            out.drive.shift_rate = now.shift_rate
            out.drive.frame = -scalar(2.0) * wp.cross(star, now.shift_rate) - now.shift_pace
        return out

    @wp.func
    def longest(here: World, run: Run, memory: Memory, slot: int):
        out = _NEVER
        for i in range(wp.static(arms)):
            now = state(memory, slot, i)
            if now.pace != scalar(0.0):
                level = memory.drives[wp.static(level_row) + i, slot]
                out = wp.min(out, time_to_rate(here.actuators.arms[i], level, now))
            if run.phase == CONTACT:
                out = wp.min(out, _SWING / wp.max(wp.abs(now.rate), scalar(1e-30)))
                quick = wp.sqrt(scalar(2.0) * _SWING / wp.max(wp.abs(now.pace), scalar(1e-30)))
                out = wp.min(out, quick)
        return out

    @wp.func
    def to_centre(here: World, run: Run):
        out = run
        out.x = run.x + wp.quat_rotate(run.q, here.body.shift)
        out.v = run.v + wp.quat_rotate(run.q, wp.cross(run.w, here.body.shift))
        return out

    @wp.func
    def to_origin(here: World, run: Run):
        out = run
        out.x = run.x - wp.quat_rotate(run.q, here.body.shift)
        out.v = run.v - wp.quat_rotate(run.q, wp.cross(run.w, here.body.shift))
        return out

    @wp.func
    def balance(here: World, before: Run, run: Run, memory: Memory, slot: int):
        """``run`` with the momentum that the step gave it; the work of the motors meanwhile."""
        out = run
        dt = run.t - before.t
        old = to_centre(here, before)
        new = to_centre(here, run)
        q = turned_by(before.q, before.w, scalar(0.5) * dt)
        # -- rate: I_1 w_1 + h_1 is what I w + h has become ---------------------------------------
        then = turning(here.rotation, before.t)
        now = turning(here.rotation, run.t)
        star_0 = before.w + wp.quat_rotate_inv(before.q, then.rate)
        star_1 = run.w + wp.quat_rotate_inv(run.q, now.rate)
        was = at(here, memory, slot, scalar(0.0))
        now_at = at(here, memory, slot, dt)
        spun = here.body.inertia * star_1 + was.spin
        spun += dt * (was.spin_rate + was.inertia_rate * star_0)
        star = wp.inverse(here.drive.home + now_at.inertia) * (spun - now_at.spin)
        out.w = run.w + (star - star_1)
        # -- velocity: that of the centre of mass has all but what the frame took ------------------
        frame = -scalar(2.0) * wp.cross(before.w, was.shift_rate) - was.shift_pace
        V = new.v - dt * wp.quat_rotate(q, frame) + wp.quat_rotate(before.q, was.shift_rate)
        inner = now_at.shift_rate + wp.cross(out.w, now_at.shift)
        out.v = V - wp.quat_rotate(run.q, inner)
        # -- work: with what all but gravity gave -------------------------------------------------
        x = scalar(0.5) * (old.x + new.x)
        value = extrapolate(memory.notes[slot].anchor, x - memory.notes[slot].anchor_x)
        half = before.t + scalar(0.5) * dt
        pull = frame_pull(here, half, x, old.v, value.acceleration)
        kick = wp.quat_rotate_inv(q, new.v - old.v - dt * pull) - dt * here.drive.frame
        middle = at(here, memory, slot, scalar(0.5) * dt)
        mean = scalar(0.5) * (star_0 + star)
        for i in range(wp.static(arms)):
            row = wp.static(first) + ARM_EACH * i + ARM_WORK
            done = powers(
                here, memory, slot, i, middle, mean, star - star_0, kick, dt, scalar(0.5) * dt
            )
            memory.drives[row, slot] = memory.drives[row, slot] + done
            memory.drives[WORK, slot] = memory.drives[WORK, slot] + done
        return out

    @wp.func
    def arrive(here: World, memory: Memory, slot: int, dt: scalar):
        for i in range(wp.static(arms)):
            row = wp.static(first) + ARM_EACH * i
            new = later(here, memory, slot, i, dt)
            if new.rate == scalar(0.0):
                turns = new.angle / _TURN
                if wp.abs(turns - wp.round(turns)) * _TURN < _HOME:
                    new.angle = scalar(0.0)
            memory.drives[row + ANGLE, slot] = new.angle
            memory.drives[row + RATE, slot] = new.rate
            memory.drives[row + PACE, slot] = scalar(0.0)

    return ArmFunctions(
        state, moving, away, switch, at, powers, fit, longest, to_centre, to_origin, balance, arrive
    )

"""Manoeuvres in each run of a rigid lander: begun when it has come to rest, planned from how it
stands there (``push_offs``), carried out by levels of its actuators, and recorded.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.programme_kernel import NEVER, next_tick
from alight.core.types import scalar, vec3
from alight.flight.sun_wait import sun_wait
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.laws import WORK
from alight.motions.rigid.drive.manoeuvre_rows import manoeuvre_rows
from alight.motions.rigid.drive.manoeuvres import (
    BEGUN,
    CONTACTS,
    DUE,
    END,
    END_PLACE,
    ENERGY,
    FASTEST_WHEEL,
    LEFT_OUT,
    NEXT,
    OVER,
    PLACE,
    PLANNED,
    SHARE,
    START,
    STATE,
    TABLE,
    TAKEOFF,
    TOUCH,
    TOUCH_PLACE,
    UNDER,
    UPRIGHT,
    VELOCITY,
    WORK_OF_HOP,
    ManoeuvreData,
)
from alight.motions.rigid.drive.push_offs import Wanted, push_off_functions
from alight.motions.rigid.drive.throws import throw_functions
from alight.motions.rigid.drive.wheels import wheel_functions
from alight.motions.rigid.state import CONTACT, FLIGHT, Memory, Run

#: Control in flight: how often motors are set in the time that it settles in.
_TICKS = wp.constant(scalar(80.0))


@dataclasses.dataclass(frozen=True)
class ManoeuvreFunctions:
    """What a drive with manoeuvres is made from."""

    level: Any
    """``(memory, slot, c, t) -> scalar`` of level ``c``."""
    following: Any
    """``(memory, slot, t) -> scalar``: when a level changes next [s]."""
    wake: Any
    """``(world, run, memory, slot, star) -> scalar``: at rest; when something is to follow [s]."""
    control: Any
    """``(world, run, memory, slot, star)``: motors in flight."""
    note: Any
    """``(world, before, run, memory, slot, star)``: what a step brought."""


@functools.cache
def manoeuvre_functions(parts: Composition) -> ManoeuvreFunctions:
    """The functions of the manoeuvres of one composition of laws."""
    World, laws = parts.World, parts.laws
    drive: Any = laws.drive
    wheels, levels, count = drive.wheels, drive.levels, drive.manoeuvres
    own = drive.tour_row
    ground = laws.surface_point
    sunlit = sun_wait(laws.spin, laws.attitude, laws.rotation_data)
    wheel_parts = wheel_functions(parts)
    is_free, seen, stand_by = wheel_parts.is_free, wheel_parts.seen, wheel_parts.stand_by
    rows, plans = manoeuvre_rows(parts), push_off_functions(parts)
    record_of, keep, level, following = rows.record_of, rows.keep, rows.level, rows.following
    switches, command, silence = rows.switches, rows.command, rows.silence
    pull_at, push_off = plans.pull_at, plans.push_off
    hop_wanted, upright_wanted = plans.hop_wanted, plans.upright_wanted
    throws = drive.throws
    thrown: Any = throw_functions(parts) if throws else None
    lost, throw_on = getattr(thrown, "lost", None), getattr(thrown, "command", None)

    @wp.func
    def begins(world: World, run: Run, memory: Memory, slot: int, one: ManoeuvreData):
        """When a manoeuvre begins that a lander at rest waits for [s]."""
        when = wp.max(run.t + one.delay, one.not_before)
        if one.sun > scalar(-1.5):
            up = -wp.normalize(pull_at(world, run, memory, slot))
            when = sunlit(world.rotation, world.actuators.tour.sun, up, one.sun, when)
        return when

    @wp.func
    def start(world: World, run: Run, memory: Memory, slot: int, star: vec3):
        """Whether the next manoeuvre begins at the time of ``run``, and its commands."""
        one = world.actuators.tour.each[int(memory.drives[wp.static(own) + NEXT, slot])]
        silence(memory, slot)
        at = record_of(memory, slot)
        memory.drives[at + STATE, slot] = BEGUN
        memory.drives[at + START, slot] = run.t
        keep(memory, slot, at + PLACE, run.x)
        memory.drives[at + WORK_OF_HOP, slot] = memory.drives[WORK, slot]
        memory.drives[at + CONTACTS, slot] = scalar(run.touches)
        memory.drives[at + SHARE, slot] = scalar(1.0)
        going = bool(True)
        if one.kind == TABLE:
            for c in range(wp.static(levels)):
                said = world.actuators.tour.table[one.first + c]
                if said[0] != scalar(0.0):
                    command(
                        memory,
                        slot,
                        c,
                        said[0],
                        run.t + said[1],
                        wp.min(run.t + said[2], NEVER),
                    )
        elif one.kind == PLANNED:
            if wp.static(throws):
                away = wp.length(run.x - one.toward)
                if away <= one.within or lost(world, run, one):
                    going = False
                    memory.drives[at + STATE, slot] = LEFT_OUT
                else:
                    pull = pull_at(world, run, memory, slot)
                    n = ground(world.surface, run.x).normal
                    throw_on(world, run, memory, slot, one, pull, n)
        else:
            pull = pull_at(world, run, memory, slot)
            n = ground(world.surface, run.x).normal
            want = Wanted()
            if one.kind == UPRIGHT:
                want = upright_wanted(world, run, one, wp.length(pull), n)
            else:
                want = hop_wanted(run, one, pull, n, one.toward)
            going = want.any
            if going:
                push_off(world, run, memory, slot, one, want, n, wp.length(pull), star)
            else:
                memory.drives[at + STATE, slot] = LEFT_OUT
        return going

    @wp.func
    def close(run: Run, memory: Memory, slot: int):
        """The manoeuvre that was under way is over."""
        at = record_of(memory, slot)
        memory.drives[at + STATE, slot] = wp.max(memory.drives[at + STATE, slot], OVER)
        memory.drives[at + END, slot] = run.t
        keep(memory, slot, at + END_PLACE, run.x)
        done = memory.drives[WORK, slot] - memory.drives[at + WORK_OF_HOP, slot]
        memory.drives[at + WORK_OF_HOP, slot] = done
        met = scalar(run.touches) - memory.drives[at + CONTACTS, slot]
        memory.drives[at + CONTACTS, slot] = met
        memory.drives[wp.static(own) + UNDER, slot] = scalar(0.0)
        memory.drives[wp.static(own) + NEXT, slot] = memory.drives[
            wp.static(own) + NEXT, slot
        ] + scalar(1.0)

    @wp.func
    def wheels_noted(world: World, memory: Memory, slot: int, star: vec3):
        """How fast wheels are, and what is in them."""
        at = record_of(memory, slot)
        energy = scalar(0.0)
        for i in range(wp.static(wheels)):
            if is_free(memory, slot, i):
                speed = seen(world, memory, slot, i, star).speed
                energy += scalar(0.5) * world.actuators.wheels[i].inertia * speed * speed
                fastest = wp.max(memory.drives[at + FASTEST_WHEEL, slot], wp.abs(speed))
                memory.drives[at + FASTEST_WHEEL, slot] = fastest
        memory.drives[at + ENERGY, slot] = wp.max(memory.drives[at + ENERGY, slot], energy)

    @wp.func
    def wake(world: World, run: Run, memory: Memory, slot: int, star: vec3):
        soon = following(memory, slot, run.t)
        if run.t >= run.until and switches(memory, slot, run.t):
            soon = run.t  # where the step ended, and which the next one makes
        if soon >= NEVER and memory.drives[wp.static(own) + UNDER, slot] != scalar(0.0):
            close(run, memory, slot)
        going = bool(False)
        there = run
        while (
            soon >= NEVER
            and not going
            and int(memory.drives[wp.static(own) + NEXT, slot]) < wp.static(count)
            and there.t < world.limits.max_time
        ):
            one = world.actuators.tour.each[int(memory.drives[wp.static(own) + NEXT, slot])]
            there.t = begins(world, there, memory, slot, one)
            if there.t < world.limits.max_time:
                stand_by(world, memory, slot, star, there.t - run.t)
                going = start(world, there, memory, slot, star)
                memory.drives[wp.static(own) + UNDER, slot] = scalar(1.0)
                if going:
                    soon = there.t
                else:
                    close(there, memory, slot)
        if not going and soon < world.limits.max_time:
            stand_by(world, memory, slot, star, soon - run.t)
            wheels_noted(world, memory, slot, star)
        return soon

    @wp.func
    def steered(world: World, run: Run, memory: Memory, slot: int, one: ManoeuvreData):
        """Torque [N m] that wheels are to take from the lander, body axes: I w' = -I (2 w / T +
        e / T^2) ends its turning, with e what is left of the turn that brings its side up."""
        up = wp.quat_rotate_inv(run.q, -wp.normalize(pull_at(world, run, memory, slot)))
        pace = scalar(4.0) / one.settle
        left = wp.cross(up, one.up)
        return world.body.inertia * (pace * (scalar(2.0) * run.w + pace * left))

    @wp.func
    def steer(world: World, memory: Memory, slot: int, i: int, torque: vec3, t: scalar, star: vec3):
        """Set the motor of wheel ``i``, whose brake is off."""
        wheel = world.actuators.wheels[i]
        u = wheel.inertia * wp.dot(world.actuators.tour.share[i], torque)
        now = scalar(0.0)
        if is_free(memory, slot, i):
            now = seen(world, memory, slot, i, star).speed
        most = scalar(1.0)
        if u * now > scalar(0.0) and wp.abs(now) > world.actuators.tour.fastest[i]:
            most = scalar(0.0)
        command(memory, slot, 2 * i, wp.clamp(u / wheel.torque, -most, most), t, NEVER)
        command(memory, slot, 2 * i + 1, scalar(0.0), NEVER, NEVER)

    @wp.func
    def control(world: World, run: Run, memory: Memory, slot: int, star: vec3):
        """Set the motors, where the hop under way asks for it and they are due."""
        if memory.drives[wp.static(own) + UNDER, slot] != scalar(0.0) and run.phase == FLIGHT:
            one = world.actuators.tour.each[int(memory.drives[wp.static(own) + NEXT, slot])]
            at = record_of(memory, slot)
            flies = memory.drives[at + TAKEOFF, slot] > scalar(0.0)
            flies = flies and memory.drives[at + TOUCH, slot] == scalar(0.0)
            due = run.t >= memory.drives[wp.static(own) + DUE, slot]
            if one.settle > scalar(0.0) and flies and due:
                torque = steered(world, run, memory, slot, one)
                for i in range(wp.static(wheels)):
                    if world.actuators.wheels[i].torque > scalar(0.0):
                        steer(world, memory, slot, i, torque, run.t, star)
                tick = next_tick(one.settle / _TICKS, run.t)
                memory.drives[wp.static(own) + DUE, slot] = tick

    @wp.func
    def note(world: World, before: Run, run: Run, memory: Memory, slot: int, star: vec3):
        if memory.drives[wp.static(own) + UNDER, slot] != scalar(0.0):
            at = record_of(memory, slot)
            wheels_noted(world, memory, slot, star)
            left = memory.drives[at + TAKEOFF, slot] > scalar(0.0)
            met = memory.drives[at + TOUCH, slot] > scalar(0.0)
            if before.phase == CONTACT and run.phase == FLIGHT and not left:
                memory.drives[at + TAKEOFF, slot] = run.t
                keep(memory, slot, at + VELOCITY, run.v)
            if before.phase == FLIGHT and run.phase == CONTACT and left and not met:
                came = run.x - vec3(
                    memory.drives[at + PLACE, slot],
                    memory.drives[at + PLACE + 1, slot],
                    memory.drives[at + PLACE + 2, slot],
                )
                if wp.length(came) < world.body.bounding_radius:
                    # A foot that scrapes the ground on the way up belongs to the take-off.
                    memory.drives[at + TAKEOFF, slot] = scalar(0.0)
                else:
                    memory.drives[at + TOUCH, slot] = run.t
                    keep(memory, slot, at + TOUCH_PLACE, run.x)
                    # Wheels that turned it in flight are left as they are.
                    if memory.drives[wp.static(own) + DUE, slot] > scalar(0.0):
                        silence(memory, slot)

    return ManoeuvreFunctions(level, following, wake, control, note)

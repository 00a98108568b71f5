"""Manoeuvres in each run of a rigid lander: begun when it has come to rest, planned from how it
stands there, carried out by levels of its actuators, and recorded.

A hop's plan (``actuators.pointed_hop``) gives the speeds of the wheels. Motors reach them together,
so slowly that the lander stands: half of what would tip it at most. Then all brakes are applied.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.pointed_hop import stance_of, unit_hop
from alight.actuators.programme_kernel import NEVER, next_tick
from alight.actuators.wheel import INSTANT
from alight.core.types import scalar, vec3
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.laws import WORK
from alight.motions.rigid.drive.manoeuvres import (
    ASKED,
    BEGUN,
    CONTACTS,
    DUE,
    EACH_LEVEL,
    END,
    END_PLACE,
    ENERGY,
    FASTEST_WHEEL,
    HOP,
    LEFT_OUT,
    MEANT,
    NEXT,
    OFF,
    ON,
    OVER,
    OWN,
    PLACE,
    RECORD,
    SET,
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
    WAY,
    WORK_OF_HOP,
    ManoeuvreData,
)
from alight.motions.rigid.drive.wheels import wheel_functions
from alight.motions.rigid.state import CONTACT, FLIGHT, Memory, Run

#: Of the torque that would tip a lander, what motors give at most.
_STEADY = wp.constant(scalar(0.5))
#: Looks for the Sun in one turn of the target.
_LOOKS = wp.constant(720)
_LOOK = wp.constant(scalar(6.283185307179586 / 720.0))
#: Control in flight: how often motors are set in the time that it settles in.
_TICKS = wp.constant(scalar(80.0))
#: Brakes of at least this torque take no time [N m]; none is put on more gently than this level.
_INSTANT = wp.constant(scalar(1e-3 * INSTANT))
_GENTLEST = wp.constant(scalar(1e-3))
#: The share of the speed that must be left at the end of a spin-up, against friction.
_REACHED = wp.constant(scalar(0.9))


@wp.struct
class Wanted:
    """A push-off: direction, speed [m/s] and how far that goes over level ground [m]."""

    way: vec3
    speed: scalar
    meant: scalar
    any: bool  # False where nothing is to be done


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
    own, records = drive.tour_row, drive.record_row
    ground, spin, attitude, frame_pull = (
        laws.surface_point, laws.spin, laws.attitude, parts.frame_pull,
    )  # fmt: skip
    wheel_parts = wheel_functions(parts)
    is_free, seen, stand_by = wheel_parts.is_free, wheel_parts.seen, wheel_parts.stand_by

    @wp.func
    def row_of(c: int):
        return wp.static(own) + OWN + EACH_LEVEL * c

    @wp.func
    def record_of(memory: Memory, slot: int):
        """The first row of the record of the manoeuvre that is under way."""
        return wp.static(records) + RECORD * int(memory.drives[wp.static(own) + NEXT, slot])

    @wp.func
    def keep(memory: Memory, slot: int, row: int, v: vec3):
        for k in range(3):
            memory.drives[row + k, slot] = v[k]

    @wp.func
    def level(memory: Memory, slot: int, c: int, t: scalar):
        row = row_of(c)
        found = scalar(0.0)
        if memory.drives[row + ON, slot] <= t and t < memory.drives[row + OFF, slot]:
            found = memory.drives[row + SET, slot]
        return found

    @wp.func
    def following(memory: Memory, slot: int, t: scalar):
        soon = NEVER
        for c in range(wp.static(levels)):
            row = row_of(c)
            if memory.drives[row + SET, slot] != scalar(0.0):
                for k in range(2):
                    when = memory.drives[row + ON + k, slot]
                    if when > t:
                        soon = wp.min(soon, when)
        due = memory.drives[wp.static(own) + DUE, slot]
        if due > t:
            soon = wp.min(soon, due)
        return soon

    @wp.func
    def command(memory: Memory, slot: int, c: int, value: scalar, start: scalar, end: scalar):
        row = row_of(c)
        memory.drives[row + SET, slot] = value
        memory.drives[row + ON, slot] = start
        memory.drives[row + OFF, slot] = end

    @wp.func
    def silence(memory: Memory, slot: int):
        """Nothing is commanded."""
        for c in range(wp.static(levels)):
            command(memory, slot, c, scalar(0.0), NEVER, NEVER)
        memory.drives[wp.static(own) + DUE, slot] = scalar(0.0)

    @wp.func
    def pull_at(world: World, run: Run, memory: Memory, slot: int):
        """Acceleration of what stands there [m/s^2]."""
        field = memory.notes[slot].anchor.acceleration
        return frame_pull(world, run.t, run.x, vec3(), field)

    @wp.func
    def begins(world: World, run: Run, memory: Memory, slot: int, one: ManoeuvreData):
        """When a manoeuvre begins that a lander at rest waits for [s]."""
        when = wp.max(run.t + one.delay, one.not_before)
        if one.sun > scalar(-1.5):
            up = wp.normalize(pull_at(world, run, memory, slot))
            turning = wp.length(spin(world.rotation, when).rate)
            step = scalar(0.0)
            if turning > scalar(0.0):
                step = _LOOK / turning
            found = NEVER
            for k in range(int(_LOOKS)):
                t = when + scalar(k) * step
                sun = wp.quat_rotate_inv(attitude(world.rotation, t), world.actuators.tour.sun)
                if found >= NEVER and -wp.dot(up, sun) >= one.sun:
                    found = t
            when = found
        return when

    @wp.func
    def heading(up: vec3, azimuth: scalar):
        """Along the ground, clockwise from north (``core.frames.local_frame``)."""
        rho = wp.sqrt(up[0] * up[0] + up[1] * up[1])
        east = vec3(scalar(0.0), scalar(1.0), scalar(0.0))
        if rho > scalar(0.0):
            east = vec3(-up[1] / rho, up[0] / rho, scalar(0.0))
        return wp.cos(azimuth) * wp.cross(up, east) + wp.sin(azimuth) * east

    @wp.func
    def hop_wanted(run: Run, one: ManoeuvreData, pull: vec3, n: vec3, at: vec3):
        """What a hop is to do; its speed is 0 where the distance says it."""
        out = Wanted()
        up = -wp.normalize(pull)
        d = heading(up, one.azimuth)
        out.meant = one.distance
        out.any = True
        if one.guided:
            left = at - run.x
            flat = left - wp.dot(left, up) * up
            out.any = wp.length(flat) > one.within
            out.meant = wp.min(one.distance, wp.length(flat))
            d = wp.normalize(flat)
        out.way = wp.normalize(d - wp.dot(d, n) * n)
        out.speed = one.speed
        return out

    @wp.func
    def upright_wanted(world: World, run: Run, one: ManoeuvreData, g: scalar, n: vec3):
        """A tumble that brings a side up: just over its foot."""
        out = Wanted()
        side = wp.quat_rotate(run.q, one.up)
        out.any = wp.dot(side, n) < one.upright
        axis = wp.cross(side, n)
        if wp.length(axis) < scalar(1e-3):
            axis = wp.cross(wp.quat_rotate(run.q, vec3(one.up[1], one.up[2], one.up[0])), n)
        d = wp.cross(axis, n)
        out.way = wp.normalize(d - wp.dot(d, n) * n)
        stands = stance_of(world.actuators.tour.feet, world.body.bounding_radius, run.q, n, out.way)
        # Energy of the turn about the foot: I_t w^2 / 2 = m g (l - c), and v = w l.
        arm = wp.sqrt(stands.ahead * stands.ahead + stands.height * stands.height)
        R = wp.quat_to_matrix(run.q)
        w = wp.cross(n, out.way)
        about = wp.dot(w, R * (world.body.inertia * (wp.transpose(R) * w)))
        about += world.body.mass * arm * arm
        gain = world.body.mass * g * wp.max(arm - stands.height, scalar(0.0))
        out.speed = arm * wp.sqrt(scalar(2.0) * one.margin * gain / about)
        out.meant = scalar(0.0)
        return out

    @wp.func
    def spin_up(
        world: World, memory: Memory, slot: int, i: int, goal: scalar, T: scalar, star: vec3
    ):
        """Level of a motor that brings wheel ``i`` to ``goal`` [rad/s] in ``T`` [s], more or less,
        and how long that takes [s]."""
        wheel = world.actuators.wheels[i]
        now = scalar(0.0)
        if is_free(memory, slot, i):
            now = seen(world, memory, slot, i, star).speed
        more = goal - now
        way = wp.sign(more)
        against = wheel.friction
        if now * way < scalar(0.0):
            against = -wheel.friction
        size = (wheel.inertia * wp.abs(more) / T + against) / wheel.torque
        # At this level the torque is still there at the end, in spite of friction.
        left = wheel.torque - wheel.slowing * wp.abs(goal) / _REACHED
        size = wp.max(size, wheel.friction / wp.max(left, scalar(1e-30)))
        size = wp.min(wp.max(size, scalar(1e-6)), scalar(1.0))
        pace = (size * (wheel.torque - wheel.slowing * way * now) - against) / wheel.inertia
        k = size * wheel.slowing / wheel.inertia
        inside = scalar(1.0) - k * wp.abs(more) / pace
        takes = wp.abs(more) / pace
        if k * takes > scalar(1e-8):
            takes = -wp.log(wp.max(inside, scalar(1e-3))) / k
        return vec3(way * size, takes, scalar(0.0))

    @wp.func
    def braking_time(world: World, L: vec3):
        """How long the wheel that takes longest is braked for [s]; 0 where all take no time."""
        brief = scalar(0.0)
        for i in range(wp.static(wheels)):
            wheel = world.actuators.wheels[i]
            if wheel.torque > scalar(0.0) and wheel.brake > scalar(0.0) and wheel.brake < _INSTANT:
                goal = wp.dot(world.actuators.tour.share[i], L)
                brief = wp.max(brief, wheel.inertia * wp.abs(goal) / wheel.brake)
        return brief

    @wp.func
    def push_off(
        world: World,
        run: Run,
        memory: Memory,
        slot: int,
        one: ManoeuvreData,
        want: Wanted,
        n: vec3,
        g: scalar,
        star: vec3,
    ):
        """Command the wheels, so that they throw the lander as wanted."""
        body = world.body
        tour = world.actuators.tour
        R = wp.quat_to_matrix(run.q)
        inertia = R * body.inertia * wp.transpose(R)
        stands = stance_of(tour.feet, body.bounding_radius, run.q, n, want.way)
        plan = unit_hop(body.mass, inertia, stands.lever, n, want.way, one.friction)
        speed = want.speed
        if speed == scalar(0.0):
            # Over level ground v^2 = g d / sin(2 theta), and 2 v_n v_t = v^2 sin(2 theta).
            across = scalar(2.0) * wp.dot(plan.velocity, n) * wp.dot(plan.velocity, want.way)
            speed = wp.sqrt(g * want.meant / wp.max(across, scalar(1e-30)))
        if not plan.possible:
            speed = scalar(0.0)
        L = wp.quat_rotate_inv(run.q, plan.momentum)
        share = scalar(1.0)
        for i in range(wp.static(wheels)):
            needed = wp.abs(wp.dot(tour.share[i], L)) * speed
            if needed > tour.fastest[i]:
                share = wp.min(share, tour.fastest[i] / needed)
        L = (share * speed) * L
        # So long that the motors do not tip it, nor turn it on the spot.
        hold = _STEADY * body.mass * g * wp.min(stands.ahead, stands.behind)
        hold = wp.max(hold * wp.min(one.friction, scalar(1.0)), scalar(1e-30))
        T = wp.length(L) / hold
        for i in range(wp.static(wheels)):
            wheel = world.actuators.wheels[i]
            if wheel.torque > wheel.friction:
                most = wheel.torque - wheel.friction
                T = wp.max(T, wheel.inertia * wp.abs(wp.dot(tour.share[i], L)) / most)
        T = wp.max(T, scalar(1e-3))
        longest = scalar(0.0)
        for i in range(wp.static(wheels)):
            if world.actuators.wheels[i].torque > scalar(0.0):
                said = spin_up(world, memory, slot, i, wp.dot(tour.share[i], L), T, star)
                longest = wp.max(longest, said[1])
        end = run.t + longest
        brief = braking_time(world, L)
        for i in range(wp.static(wheels)):
            wheel = world.actuators.wheels[i]
            if wheel.torque > scalar(0.0):
                goal = wp.dot(tour.share[i], L)
                said = spin_up(world, memory, slot, i, goal, T, star)
                command(memory, slot, 2 * i, said[0], wp.max(run.t, end - said[1]), end)
                # All wheels come to a stand together, so that the push keeps its direction.
                hard = scalar(1.0)
                if wheel.brake < _INSTANT and brief > scalar(0.0):
                    hard = wp.max(wheel.inertia * wp.abs(goal) / (wheel.brake * brief), _GENTLEST)
                command(memory, slot, 2 * i + 1, hard, end, NEVER)
        at = record_of(memory, slot)
        memory.drives[at + ASKED, slot] = speed
        memory.drives[at + SHARE, slot] = share
        keep(memory, slot, at + WAY, want.way)
        v = (share * speed) * plan.velocity
        reach = want.meant
        if want.speed > scalar(0.0) and one.kind == HOP:
            reach = scalar(2.0) * wp.dot(v, n) * wp.dot(v, want.way) / g
        memory.drives[at + MEANT, slot] = reach

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

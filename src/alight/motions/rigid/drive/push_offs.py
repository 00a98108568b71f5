"""Push-offs planned from how a rigid lander lies: which way, how fast, and which wheels do it.

A hop's plan (``actuators.pointed_hop``) gives the speeds of the wheels. Motors reach them together,
so slowly that the lander stands: half of what would tip it at most. Then all brakes are applied.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.pointed_hop import stance_of, unit_hop
from alight.actuators.programme_kernel import NEVER
from alight.actuators.wheel import INSTANT
from alight.core.types import scalar, vec3
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.manoeuvre_rows import manoeuvre_rows
from alight.motions.rigid.drive.manoeuvres import (
    ASKED,
    HOP,
    MEANT,
    SHARE,
    WAY,
    ManoeuvreData,
)
from alight.motions.rigid.drive.wheels import wheel_functions
from alight.motions.rigid.state import Memory, Run

#: Of the torque that would tip a lander, what motors give at most.
_STEADY = wp.constant(scalar(0.5))
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
class PushOffFunctions:
    """What manoeuvres are planned with."""

    pull_at: Any
    """``(world, run, memory, slot) -> vec3``: acceleration of what stands there [m/s^2]."""
    heading: Any
    """``(up, azimuth) -> vec3`` along the ground, clockwise from north."""
    hop_wanted: Any
    """``(run, data, pull, normal, place) -> Wanted`` of a hop."""
    upright_wanted: Any
    """``(world, run, data, g, normal) -> Wanted`` of a tumble that brings a side up."""
    push_off: Any
    """``(world, run, memory, slot, data, wanted, normal, g, star)``: command the wheels."""


@functools.cache
def push_off_functions(parts: Composition) -> PushOffFunctions:
    """The functions of one composition of laws."""
    World = parts.World
    drive: Any = parts.laws.drive
    wheels = drive.wheels
    frame_pull = parts.frame_pull
    wheel_parts = wheel_functions(parts)
    is_free, seen = wheel_parts.is_free, wheel_parts.seen
    rows = manoeuvre_rows(parts)
    record_of, keep, command = rows.record_of, rows.keep, rows.command

    @wp.func
    def pull_at(world: World, run: Run, memory: Memory, slot: int):
        """Acceleration of what stands there [m/s^2]."""
        field = memory.notes[slot].anchor.acceleration
        return frame_pull(world, run.t, run.x, vec3(), field)

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

    return PushOffFunctions(pull_at, heading, hop_wanted, upright_wanted, push_off)

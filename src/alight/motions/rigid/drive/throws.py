"""Throws of a plan (``actuators.policy``) in the kernel: which one goes with where a lander rests,
how each errs, and the push-off itself."""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.programme_kernel import NEVER
from alight.core.random import uniform_pair, vec2u
from alight.core.types import scalar, vec3
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.laws import DRAW, THROW, THROWN, WORK
from alight.motions.rigid.drive.manoeuvre_rows import manoeuvre_rows
from alight.motions.rigid.drive.manoeuvres import ASKED, MEANT, SHARE, WAY, ManoeuvreData
from alight.motions.rigid.drive.push_offs import push_off_functions
from alight.motions.rigid.state import Memory, Run
from alight.vehicles.rigid.data import angular_energy, linear_energy

_TURN = wp.constant(scalar(6.283185307179586))
_UPRIGHT = wp.constant(scalar(1.5707963267948966))
#: As in ``mobility.maps.commands``: least cosine that errors across are divided by, and elevation.
_FLATTEST = wp.constant(scalar(1e-3))


@dataclasses.dataclass(frozen=True)
class ThrowFunctions:
    """What manoeuvres that follow plans are made from."""

    lost: Any
    """``(world, run, data) -> bool``: whether it rests where it goes no farther."""
    command: Any
    """``(world, run, memory, slot, data, pull, normal)``: the throw from where it rests."""
    leave: Any
    """``(world, run, memory, slot) -> run`` that leaves, if it is time to."""


@wp.func
def two_normals(u: scalar, v: scalar):
    """Two standard normal numbers of two uniform ones in [0, 1) (Box and Muller)."""
    size = wp.sqrt(scalar(-2.0) * wp.log(scalar(1.0) - u))
    return wp.vector(size * wp.cos(_TURN * v), size * wp.sin(_TURN * v))


@functools.cache
def throw_functions(parts: Composition) -> ThrowFunctions:
    """The functions of one composition of laws."""
    World = parts.World
    drive: Any = parts.laws.drive
    row = drive.throw_row
    rows, heading = manoeuvre_rows(parts), push_off_functions(parts).heading
    record_of, keep = rows.record_of, rows.keep

    @wp.func
    def lost(world: World, run: Run, one: ManoeuvreData):
        tour = world.actuators.tour
        found = bool(False)
        for k in range(one.avoid, one.avoid + one.avoids):
            disc = tour.avoid[k]
            if wp.length(run.x - vec3(disc[0], disc[1], disc[2])) <= disc[3]:
                found = True
        near = NEVER
        night = int(0)
        for k in range(one.dark, one.dark + one.darks):
            away = wp.length_sq(run.x - tour.dark_places[k])
            if away < near:
                near = away
                night = tour.dark[k]
        return found or night != 0

    @wp.func
    def cell_of(world: World, run: Run, one: ManoeuvreData):
        """The cell whose centre is nearest."""
        near = NEVER
        found = int(0)
        for k in range(one.cells):
            away = wp.length_sq(run.x - world.actuators.tour.centres[one.cell + k])
            if away < near:
                near = away
                found = k
        return found

    @wp.func
    def erred(said: vec3, memory: Memory, slot: int, one: ManoeuvreData):
        """A throw with its errors."""
        key = vec2u(one.low, one.high)
        number = wp.uint64(memory.drives[wp.static(row) + DRAW, slot])
        block = wp.uint64(2 * one.hop)
        first = uniform_pair(key, number, block)
        second = uniform_pair(key, number, block + wp.uint64(1))
        a = two_normals(first[0], first[1])
        b = two_normals(second[0], second[1])
        out = said
        out[0] = said[0] * wp.max(scalar(0.0), scalar(1.0) + one.speed_error * a[0])
        out[1] = said[1] + one.angle_error * a[1] / wp.max(wp.cos(said[2]), _FLATTEST)
        out[2] = wp.clamp(said[2] + one.angle_error * b[0], _FLATTEST, _UPRIGHT)
        return out

    @wp.func
    def command(
        world: World, run: Run, memory: Memory, slot: int, one: ManoeuvreData, pull: vec3, n: vec3
    ):
        tour = world.actuators.tour
        which = tour.plan[one.plan + cell_of(world, run, one)]
        said = tour.throws[one.throws + which]
        up = -wp.normalize(pull)
        if one.vertical == 1:
            up = n
        elif one.vertical == 2:
            up = wp.normalize(run.x)
        done = erred(said, memory, slot, one)
        v = done[0] * (wp.cos(done[2]) * heading(up, done[1]) + wp.sin(done[2]) * up)
        memory.drives[wp.static(row) + THROW, slot] = run.t
        keep(memory, slot, wp.static(row) + THROWN, v)
        at = record_of(memory, slot)
        memory.drives[at + ASKED, slot] = said[0]
        memory.drives[at + SHARE, slot] = scalar(1.0)
        keep(memory, slot, at + WAY, heading(up, said[1]))
        far = said[0] * said[0] * wp.sin(scalar(2.0) * said[2]) / wp.length(pull)
        memory.drives[at + MEANT, slot] = far

    @wp.func
    def leave(world: World, run: Run, memory: Memory, slot: int):
        out = run
        if run.t >= memory.drives[wp.static(row) + THROW, slot]:
            memory.drives[wp.static(row) + THROW, slot] = NEVER
            at = wp.static(row) + THROWN
            before = linear_energy(world.body, run.v) + angular_energy(world.body, run.w)
            out.v = vec3(
                memory.drives[at, slot], memory.drives[at + 1, slot], memory.drives[at + 2, slot]
            )
            out.w = vec3()
            more = linear_energy(world.body, out.v) + angular_energy(world.body, out.w) - before
            memory.drives[WORK, slot] = memory.drives[WORK, slot] + more
        return out

    return ThrowFunctions(lost, command, leave)

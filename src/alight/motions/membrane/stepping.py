"""Steps of a body, a membrane and what carries it, inside a kernel.

The method is data: a table of Runge-Kutta weights, so that one kernel takes fixed steps of RK4 and
adaptive ones of RK5(4). Both end on the slope at the new state, which is the next step's first.

``caught_loop`` takes such steps for any state that a membrane acts on: of two rigid bodies here
(``membrane_loop``), each with place and velocity in inertial axes, attitude, and rate in its own
axes, the body that is caught and the carrier of the suspension points, which stands still (or moves
evenly) if it is given no mass; and of a body and a craft with joints in ``motions.capture``.
"""

import functools
from typing import Any

import warp as wp

from alight.core.frames import wp_quat_rate
from alight.core.outcomes import Outcome
from alight.core.rows import put_vector, quat_at, vector_at
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.engine.clock import NEVER, before
from alight.engine.motion import Launch, Loop
from alight.engine.records import Touch
from alight.integrators.runge_kutta_kernel import accepted, next_step
from alight.membrane.forces import MembraneLoad, MembraneRow, Moving
from alight.membrane.geometry import CaptiveData, outside
from alight.membrane.ring import RingData
from alight.motions.membrane.drive import CraftDrive
from alight.motions.membrane.pull import Pull
from alight.motions.membrane.stages import (
    find_strained,
    keep_state,
    keep_strains,
    put_strain_rates,
    stage_state,
    stage_strains,
    step_error,
    sticking,
)
from alight.motions.membrane.state import (
    CaughtMemory,
    CaughtRun,
    Control,
    Inertia,
    make_unit,
    moving_at,
)

#: Rows of a state: the body's place, velocity, attitude and rate, the carrier's, and sums.
BODY, CARRIER, SUMS, WIDTH = 0, 13, 26, 31
#: Sums: energy lost in the fabric [J], lost to friction [J], path of slip [m], thrust [N s], and
#: the work of what pulls at body and carrier [J].
DAMPED, RUBBED, SLIPPED, THRUST, PULLED = 26, 27, 28, 29, 30
#: How runs end beside the ways of all motions.
RELEASED, RIM = int(Outcome.LOST), int(Outcome.RIM)
#: Numbers of a line of history before those of the state: time, whether in contact.
LINE_HEAD = 2
#: Steps of one launch on a GPU, and blocks of threads that each multiprocessor is to have room for:
#: each thread has fewer registers then, but while some wait for memory others go on.
GPU_STEPS, GPU_BLOCKS = 64, 8

_RUNNING = wp.constant(int(Outcome.RUNNING))
_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_STEP_FLOOR = wp.constant(int(Outcome.STEP_FLOOR))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))
_BODY, _CARRIER = wp.constant(BODY), wp.constant(CARRIER)
#: Steps that would end this close to a record, or to the end, end there. (In a function the sum
#: would be taken in float32.)
_CLOSE = wp.constant(scalar(1.0 + 1e-9))


@wp.func
def put_slopes(
    memory: CaughtMemory,
    stage: int,
    first: int,
    m: Inertia,
    now: Moving,
    force: vec3,
    torque: vec3,
    fall: vec3,
    slot: int,
):
    """Derivatives of one rigid body; ``force`` and ``torque`` in inertial axes."""
    row = stage * memory.y.shape[0] + first
    put_vector(memory.k, row, slot, now.v)
    accelerates = m.inverse_mass * force
    if m.inverse_mass > scalar(0.0):
        accelerates += fall
    put_vector(memory.k, row + 3, slot, accelerates)
    rate = wp_quat_rate(quat_at(memory.at, first + 6, slot), now.rate)
    for i in range(4):
        memory.k[row + 6 + i, slot] = rate[i]
    turning = wp.quat_rotate_inv(now.q, torque) - wp.cross(now.rate, m.inertia * now.rate)
    put_vector(memory.k, row + 10, slot, m.inverse * turning)


@wp.func
def pull_power(m: Inertia, v: vec3, fall: vec3):
    """Power [W] of what pulls with ``fall`` [m/s^2] at a body; at what nothing moves, none."""
    if m.inverse_mass > scalar(0.0):
        return wp.dot(fall, v) / m.inverse_mass
    return scalar(0.0)


@wp.func
def came_outside(ring: RingData, below: int, memory: CaughtMemory, slot: int):
    """True if a vertex below the plane, which has just come there, is not within the polygon."""
    for n in range(below):
        if outside(ring, vector_at(memory.hull.place, 3 * memory.hull.below[n, slot], slot)):
            return True
    return False


@wp.func
def begin_touch(memory: CaughtMemory, t: scalar, speed: scalar, x: vec3, n: vec3, slot: int):
    """The record of a contact that begins; ``speed`` [m/s] away from the membrane."""
    touch = Touch()
    touch.run = memory.notes[slot].number
    touch.start = t
    touch.end = t
    touch.place = x
    touch.normal = n
    touch.normal_speed_in = speed
    memory.notes[slot].touch = touch


@wp.func
def note_touch(
    memory: CaughtMemory, load: MembraneLoad, t: scalar, h: scalar, v: scalar, slot: int
):
    """What a step of contact, which came to ``t``, adds to its record."""
    touch = memory.notes[slot].touch
    mean = scalar(0.5) * (memory.notes[slot].load.force + load.force)
    touch.end = t
    touch.normal_speed_out = v
    touch.impulse += h * mean
    touch.normal_impulse += h * wp.dot(mean, touch.normal)
    touch.peak_force = wp.max(touch.peak_force, wp.length(load.force))
    touch.depth = wp.max(touch.depth, -load.lowest)
    touch.points = wp.max(touch.points, load.contacts + load.beads)
    memory.notes[slot].touch = touch


@wp.func
def keep_notes(
    control: Control,
    ring: RingData,
    carrier: Moving,
    memory: CaughtMemory,
    run: CaughtRun,
    load: MembraneLoad,
    h: scalar,
    slot: int,
):
    """``run`` with contacts, peaks and ends after a step; its slope is to be found anew where
    thrust may change."""
    zero = scalar(0.0)
    out = run
    t = run.t
    was = run.touching
    before = run.lowest
    # The plane is crossed where the lowest height, taken as linear, is zero.
    crossed = t
    if before * load.lowest < zero:
        crossed = t - h * load.lowest / (load.lowest - before)
    touches = load.below > 0 or load.beads > 0
    speed = (load.lowest - before) / h
    if touches and was == 0:
        out.touching = 1
        out.contacts += 1
        if run.first < zero:
            out.first = crossed
        out.fresh = 1
        up = wp.quat_rotate(carrier.q, ring.R * vec3(zero, zero, scalar(1.0)))
        begin_touch(memory, crossed, speed, vector_at(memory.y, 0, slot), up, slot)
    if touches or was == 1:
        note_touch(memory, load, t, h, speed, slot)
    if not touches and was == 1:
        out.touching = 0
        out.touches += 1
        memory.notes[slot].touch.end = crossed
        memory.notes[slot].release = crossed
        out.fresh = 1
        if control.until_release == 1:
            out.outcome = wp.static(RELEASED)
    if was == 1 and load.tension == zero and memory.notes[slot].slack < zero:
        memory.notes[slot].slack = t
    out.lowest = load.lowest
    memory.notes[slot].depth = wp.max(memory.notes[slot].depth, -load.lowest)
    memory.notes[slot].tension = wp.max(memory.notes[slot].tension, load.tension)
    memory.notes[slot].force = wp.max(memory.notes[slot].force, wp.length(load.force))
    if load.rim > 0 or (was == 0 and came_outside(ring, load.below, memory, slot)):
        # All of it outside a hoop: it came over the side. Or it is in and out, through the hoop.
        over = ring.beads.shape[0] > 0 and load.rim == load.through
        out.outcome = wp.where(over, wp.static(RELEASED), wp.static(RIM))
    return out


@functools.cache
def caught_loop(
    world_type: Any,
    slopes: Any,
    carrier: Any,
    finish: Any,
    drive: CraftDrive,
    switch: Any = None,
) -> Loop:
    """What a kernel is made from whose states a membrane acts on.

    ``slopes(world, run, memory, stage, t, slot) -> MembraneLoad`` fills the slopes of a stage from
    the state in ``at``; ``carrier(world, memory, slot) -> Moving`` is what carries the membrane at
    the state in ``y``; ``finish(world, run, memory, load, slot) -> run`` completes a step, whose
    slopes were the last ones asked for. A world has ``ring``, ``captive``, ``pull``, ``drive`` and
    ``limits``. ``switch(pull, t) -> time`` [s] is when what pulls switches next, which no step
    passes over, nor a switch of an actuator.
    """
    set_levels, following, driven = drive.set_levels, drive.following, drive.count > 0

    @wp.func
    def first_record(
        world: world_type, run: CaughtRun, memory: CaughtMemory, load: MembraneLoad, slot: int
    ):
        """``run`` at its start."""
        out = run
        out.saved = 1
        out.told = 1
        out.lowest = load.lowest
        if load.below > 0:
            out.touching = 1
            out.contacts = 1
            out.first = run.t
            by = carrier(world, memory, slot)
            up = wp.quat_rotate(by.q, world.ring.R * vec3(scalar(0.0), scalar(0.0), scalar(1.0)))
            begin_touch(memory, run.t, scalar(0.0), vector_at(memory.y, 0, slot), up, slot)
        return out

    @wp.func
    def keep_step(
        world: world_type,
        run: CaughtRun,
        memory: CaughtMemory,
        load: MembraneLoad,
        t: scalar,
        h: scalar,
        slot: int,
    ):
        """``run`` with the state of the last stage, ``t`` [s] being when."""
        out = run
        control = world.limits
        keep_state(control, memory, slot)
        keep_strains(control, memory, slot)
        out.t = t
        out.steps += 1
        out = finish(world, out, memory, load, slot)
        by = carrier(world, memory, slot)
        return keep_notes(control, world.ring, by, memory, out, load, h, slot)

    @wp.func
    def step(world: world_type, run: CaughtRun, memory: CaughtMemory, slot: int):
        """One step, kept or not, or the slope at a state that has none."""
        out = run
        out.told = 0
        control = world.limits
        due = wp.min(control.end, scalar(run.saved) * control.every)
        until = due
        if wp.static(switch is not None):
            until = wp.min(due, switch(world.pull, run.t))
        turned = scalar(NEVER)
        if wp.static(driven):
            turned = following(world.drive, run)
            until = wp.min(until, turned)
            if run.fresh != 0:
                set_levels(world.drive, run, memory, slot)
        h = run.h
        lands = bool(False)
        if run.t + h * _CLOSE >= until:
            h = until - run.t
            lands = True
        begin = int(1)
        last = int(control.stages)
        if run.fresh != 0:
            begin = 0
            last = 0
        load = MembraneLoad()
        count = sticking(world.captive, world.ring)
        find_strained(control, memory, begin, count, slot)
        for stage in range(begin, last + 1):
            stage_state(control, memory, stage, h, slot)
            stage_strains(control, memory, stage, h, slot)
            when = run.t + control.c[stage] * h
            if wp.static(switch is not None):
                when = before(when, until)  # what switches then has not switched yet
            load = slopes(world, run, memory, stage, when, slot)
            put_strain_rates(control, memory, stage, slot)
        if run.fresh != 0:
            out.fresh = 0
            if run.saved == 0:
                out = first_record(world, out, memory, load, slot)
            memory.notes[slot].load = load
            return out
        error = step_error(control, memory, h, slot)
        if not accepted(error):
            out.h = next_step(h, error, control.order, scalar(1.0))
            if control.order == 0 or h <= control.floor:
                out.outcome = _STEP_FLOOR
                if not wp.isfinite(error):
                    out.outcome = _NOT_FINITE
            return out
        if control.order > 0:
            after = next_step(h, error, control.order, scalar(5.0))
            if lands:
                after = wp.max(after, run.h)
            out.h = wp.min(after, control.longest)
        t = run.t + h
        if lands:
            t = until
            if until == due:
                out.told = 1
                out.saved += 1
            if wp.static(switch is not None):
                out.fresh = 1  # slopes may jump
            if wp.static(driven):  # noqa: SIM102
                if until == turned:
                    out.fresh = 1
        if control.each != 0:
            out.told = 1
        out = keep_step(world, out, memory, load, t, h, slot)
        memory.notes[slot].load = load
        if t >= control.end and out.outcome == _RUNNING:
            out.outcome = _TIMED_OUT
        return out

    @wp.func
    def account(world: world_type, run: CaughtRun, memory: CaughtMemory, slot: int, before: int):
        """A contact that lasts to the end of the run is recorded too."""
        out = run
        if run.outcome != _RUNNING and run.touching != 0:
            out.touches += 1
        return out

    @wp.func
    def line(
        world: world_type,
        run: CaughtRun,
        memory: CaughtMemory,
        slot: int,
        before: int,
        lines: wp.array2d(dtype=scalar),
        row: int,
    ):
        """Time, contact, the rows that are kept, and the load (``result.load_records``)."""
        lines[row, 0] = run.t
        lines[row, 1] = scalar(run.touching)
        at = int(wp.static(LINE_HEAD))
        for r in range(world.limits.kept):
            lines[row, at] = memory.y[r, slot]
            at += 1
        put_load(lines, row, at, memory.notes[slot].load)

    return Loop(
        World=world_type,
        Run=CaughtRun,
        Memory=CaughtMemory,
        whole=Launch("steps", step, account, gpu_steps=GPU_STEPS, gpu_blocks=GPU_BLOCKS),
        told=_told,
        line=line,
        options=POINT_OPTIONS,
    )


@wp.func
def _told(run: CaughtRun, before: int):
    return run.told != 0


@wp.func
def put_load(lines: wp.array2d(dtype=scalar), row: int, first: int, load: MembraneLoad):
    """The fields of a load one after the other."""
    for i in range(3):
        lines[row, first + i] = load.force[i]
        lines[row, first + 3 + i] = load.torque[i]
        lines[row, first + 6 + i] = load.carrier_force[i]
        lines[row, first + 9 + i] = load.carrier_torque[i]
        lines[row, first + 12 + i] = load.friction[i]
        lines[row, first + 15 + i] = load.friction_torque[i]
    at = first + 18
    lines[row, at] = load.area
    lines[row, at + 1] = load.rate
    lines[row, at + 2] = load.tension
    lines[row, at + 3] = load.stored
    lines[row, at + 4] = load.damped
    lines[row, at + 5] = load.rubbed
    lines[row, at + 6] = load.strained
    lines[row, at + 7] = load.lost
    lines[row, at + 8] = load.pressed
    lines[row, at + 9] = load.grip
    lines[row, at + 10] = load.slip
    lines[row, at + 11] = load.lowest
    lines[row, at + 12] = load.hoop
    lines[row, at + 13] = scalar(load.contacts)
    lines[row, at + 14] = scalar(load.beads)
    lines[row, at + 15] = scalar(load.below)
    lines[row, at + 16] = scalar(load.through)
    lines[row, at + 17] = scalar(load.rim)


@functools.cache
def membrane_loop(load_of: Any, drive: CraftDrive, pull: Pull) -> tuple[Loop, Any]:
    """The loop of two rigid bodies, and the struct of its world; ``drive`` acts on the carrier."""
    pulled = pull.function
    pull_data = pull.Data
    drive_data, thrust = drive.Data, drive.push

    @wp.struct
    class World:
        rows: wp.array(dtype=MembraneRow)
        ring: RingData
        captive: CaptiveData
        body: wp.array(dtype=Inertia)
        carrier: wp.array(dtype=Inertia)
        pull: pull_data
        drive: drive_data
        limits: Control

    @wp.func
    def slopes(
        world: World, run: CaughtRun, memory: CaughtMemory, stage: int, t: scalar, slot: int
    ) -> MembraneLoad:
        body = moving_at(memory.at, _BODY, slot)
        carrier = moving_at(memory.at, _CARRIER, slot)
        number = memory.notes[slot].row
        row = world.rows[wp.min(number, world.rows.shape[0] - 1)]
        load = load_of(row, world.ring, world.captive, body, carrier, memory.hull, slot)
        push = thrust(world.drive, run, memory, carrier, t, slot)
        one = world.body[wp.min(number, world.body.shape[0] - 1)]
        other = world.carrier[wp.min(number, world.carrier.shape[0] - 1)]
        fall = pulled(world.pull, t, body.x)
        put_slopes(memory, stage, _BODY, one, body, load.force, load.torque, fall, slot)
        power = pull_power(one, body.v, fall)
        force = load.carrier_force + push.force
        torque = load.carrier_torque + push.torque
        if wp.static(not pull.uniform):
            fall = pulled(world.pull, t, carrier.x)
        put_slopes(memory, stage, _CARRIER, other, carrier, force, torque, fall, slot)
        power += pull_power(other, carrier.v, fall)
        sums = stage * memory.y.shape[0]
        memory.k[sums + wp.static(DAMPED), slot] = load.damped
        memory.k[sums + wp.static(RUBBED), slot] = load.rubbed
        memory.k[sums + wp.static(SLIPPED), slot] = load.slip
        memory.k[sums + wp.static(THRUST), slot] = wp.length(push.force)
        memory.k[sums + wp.static(PULLED), slot] = power
        return load

    @wp.func
    def carried(world: World, memory: CaughtMemory, slot: int):
        return moving_at(memory.y, _CARRIER, slot)

    @wp.func
    def finish(world: World, run: CaughtRun, memory: CaughtMemory, load: MembraneLoad, slot: int):
        make_unit(memory.y, _BODY + 6, slot)
        make_unit(memory.y, _CARRIER + 6, slot)
        return run

    return caught_loop(World, slopes, carried, finish, drive, pull.next), World

"""The kernel: the phases of a motion as one loop over steps, one thread a run."""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import FIRST_FAILURE, Outcome
from alight.core.types import scalar
from alight.core.warp_setup import HULL_OPTIONS, POINT_OPTIONS
from alight.engine.flight_phase import flight_phase
from alight.engine.gain import gains_energy
from alight.engine.run import CONTACT, FLIGHT, Memory, Row, Run, Touch
from alight.engine.world import Composition, Scheme
from alight.gravity.linearised import extrapolate
from alight.vehicles.rigid.data import angular_energy, linear_energy

_RUNNING = wp.constant(int(Outcome.RUNNING))
_OUT_OF_STEPS = wp.constant(int(Outcome.OUT_OF_STEPS))
_FIRST_FAILURE = wp.constant(FIRST_FAILURE)
_GAINED_ENERGY = wp.constant(int(Outcome.GAINED_ENERGY))

#: Threads of a block on a GPU, and blocks a multiprocessor. A kernel of one phase has half the
#: registers a thread could have, for twice the threads that hide each other's waiting; that of all
#: phases is for few runs, which wait for themselves alone.
GPU_BLOCK, GPU_BLOCKS_ONE, GPU_BLOCKS_ALL = 64, 8, 4


@wp.struct
class Chunk:
    """What one launch may do."""

    steps: int  # most steps of a run
    rows: int  # room for this many lines of history of each run; 0 keeps none
    touches: int  # room for this many contacts of each run


#: What a launch may be of alone: flight, contact, and where that is two things, each of them.
FLYING, TOUCHING, HITTING, LASTING = "flight", "contact", "hits", "contact that lasts"


def kinds_of(scheme: Scheme) -> tuple[str, ...]:
    """The kinds of launches that the phases of a scheme are split into."""
    return (FLYING, TOUCHING) if scheme.presses is None else (FLYING, HITTING, LASTING)


def _press(parts: Composition, only: str | None) -> Any:
    """The function of a step in contact, or the part of it that is asked for."""
    scheme = parts.laws.scheme
    if only not in (HITTING, LASTING):
        return scheme.press(parts)
    hit, last = scheme.presses(parts)
    return hit if only == HITTING else last


@functools.cache
def advance_kernel(parts: Composition, only: str | None = None) -> Any:
    """The kernel of one composition of laws; of ``only`` one kind of launch, or of all."""
    flies, touches = only in (None, FLYING), only != FLYING
    holds = only is not None  # a run that leaves the phase waits for the next launch
    World: Any = parts.World
    fly, press = flight_phase(parts), _press(parts, only)
    energy, anchor = parts.energy, parts.anchor

    @wp.func
    def level(world: World, run: Run, memory: Memory, slot: int):
        """E_J [J] with gravity extrapolated from its anchor."""
        value = extrapolate(memory.notes[slot].anchor, run.x - memory.notes[slot].anchor_x)
        found = energy(world, run, value)
        return found.total

    @wp.func
    def kinetic(world: World, run: Run):
        """Kinetic energy relative to the target [J]."""
        return linear_energy(world.body, run.v) + angular_energy(world.body, run.w)

    @wp.func
    def releasable(world: World, memory: Memory, slot: int, now: scalar, moving: scalar):
        """What gravity does over the lander's size [J]; all of it where E_J changes with time."""
        pull = wp.length(memory.notes[slot].anchor.acceleration)
        weight = world.body.mass * pull * world.body.bounding_radius
        if wp.static(not parts.laws.steady):
            weight += wp.abs(now - moving)
        return weight

    @wp.func
    def begin_contact(world: World, run: Run, memory: Memory, slot: int):
        """Account for the arc of flight that ends here."""
        anchor(world, run, memory, slot)
        now = level(world, run, memory, slot)
        if run.touches > 0:
            off = wp.abs(now - memory.notes[slot].energy)
            memory.notes[slot].drift = wp.max(memory.notes[slot].drift, off)
        memory.notes[slot].energy = now
        memory.notes[slot].moving = kinetic(world, run)

    @wp.func
    def end_contact(world: World, run: Run, memory: Memory, slot: int):
        """Account for the contact that ends here; ``run`` without what it gained."""
        out = run
        notes = memory.notes[slot]
        now = level(world, out, memory, slot)
        more = now - notes.energy
        moving = kinetic(world, out)
        potential = releasable(world, memory, slot, now, moving)
        if gains_energy(more, notes.moving, moving, potential) and out.outcome < _FIRST_FAILURE:
            out.outcome = _GAINED_ENERGY
        if wp.static(not parts.laws.steady):
            more = scalar(0.0)
        if more > scalar(0.0) and more < moving:
            # Steps of finite length may return a little more than came in: it is not given away.
            slow = wp.sqrt(scalar(1.0) - more / moving)
            notes.touch.impulse += (slow - scalar(1.0)) * world.body.mass * out.v
            out.v = slow * out.v
            out.w = slow * out.w
            now = notes.energy
        notes.touch.energy_out = now
        notes.gain = wp.max(notes.gain, more)
        notes.energy = now
        touch = notes.touch
        told = bool(True)
        if wp.static(parts.laws.scheme.hits and not parts.laws.scheme.rigid):
            # A point on its way out that grazed the ground, and was pushed by nothing to speak of.
            told = touch.normal_speed_in <= scalar(0.0) or touch.depth > scalar(0.0)
        speed = wp.max(scalar(0.0), -touch.normal_speed_in)
        if told and out.touches == 0:
            notes.first_time = notes.touch.start
            notes.first_place = notes.touch.place
            notes.first_speed = speed
        notes.hardest = wp.max(notes.hardest, speed)
        notes.peak_force = wp.max(notes.peak_force, notes.touch.peak_force)
        memory.notes[slot] = notes
        out.touches += int(told)
        out.touching = 0
        out.force = scalar(0.0)
        return out

    @wp.func
    def row_of(run: Run, phase: int):
        """The state after a step in ``phase``, as a line of history."""
        row = Row()
        row.t = run.t
        row.x = run.x
        row.v = run.v
        row.q = run.q
        row.w = run.w
        row.phase = phase
        row.elastic = run.elastic
        row.force = run.force
        return row

    @wp.kernel(
        module="unique",
        enable_backward=False,
        module_options=HULL_OPTIONS if parts.laws.scheme.hull else POINT_OPTIONS,
        launch_bounds=(GPU_BLOCK, GPU_BLOCKS_ALL if only in (None, LASTING) else GPU_BLOCKS_ONE),
    )
    def advance(
        offset: int,
        world: World,
        chunk: Chunk,
        index: wp.array(dtype=int),
        memory: Memory,
        runs: wp.array(dtype=Run),
        touches_out: wp.array2d(dtype=Touch),
        touch_count: wp.array(dtype=int),
        rows_out: wp.array2d(dtype=Row),
        row_count_out: wp.array(dtype=int),
        status_out: wp.array(dtype=int),
    ) -> None:
        slot = index[wp.tid() + offset]
        if slot < 0:
            return
        run = runs[slot]
        taken = int(0)
        logged = int(touch_count[slot])
        written = int(0)
        going = run.outcome == _RUNNING
        while going:
            before = run.phase
            if wp.static(flies and touches):
                if before == FLIGHT:
                    run = fly(world, run, memory, slot)
                else:
                    run = press(world, run, memory, slot)
            elif wp.static(flies):
                run = fly(world, run, memory, slot)
            else:
                run = press(world, run, memory, slot)
            taken += 1
            over = run.outcome != _RUNNING
            left = over or run.phase != before
            if wp.static(flies) and before == FLIGHT and run.phase == CONTACT:
                begin_contact(world, run, memory, slot)
            if wp.static(touches) and before == CONTACT and left and run.touching != 0:
                known = run.touches
                run = end_contact(world, run, memory, slot)
                touches_out[slot, logged] = memory.notes[slot].touch
                logged += run.touches - known
                over = run.outcome != _RUNNING
            if not over and run.steps >= world.limits.max_steps:
                run.outcome = _OUT_OF_STEPS
                over = bool(True)
            # Where flight hands over to contact nothing has moved yet; all else is a line.
            moved = before != FLIGHT or run.phase == FLIGHT
            if wp.static(not holds) and chunk.rows > 0 and moved:
                rows_out[slot, written] = row_of(run, before)
                written += 1
            going = not over and taken < chunk.steps and logged < chunk.touches
            if wp.static(holds):
                going = going and not left
            elif chunk.rows > 0:
                going = going and written < chunk.rows
        runs[slot] = run
        touch_count[slot] = logged
        row_count_out[slot] = written
        status_out[slot] = run.outcome

    return advance

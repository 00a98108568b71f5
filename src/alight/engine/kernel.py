"""The kernel: the phases of a motion as one loop over steps, one thread a run."""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.engine.flight_phase import flight_phase
from alight.engine.run import CONTACT, FLIGHT, Row, Run, Touch
from alight.engine.world import Composition
from alight.gravity.linearised import extrapolate
from alight.vehicles.rigid_data import angular_energy, linear_energy

_RUNNING = wp.constant(int(Outcome.RUNNING))
_STEP_LIMIT = wp.constant(int(Outcome.STEP_LIMIT))

#: Threads of a block on a GPU and blocks a multiprocessor: half the registers a thread could have,
#: for twice the threads that hide each other's waiting.
GPU_BOUNDS = (64, 8)


@wp.struct
class Chunk:
    """What one launch may do."""

    steps: int  # most steps of a run
    rows: int  # room for this many lines of history of each run; 0 keeps none
    touches: int  # room for this many contacts of each run


@functools.cache
def advance_kernel(parts: Composition) -> Any:
    """The kernel of one composition of laws."""
    World: Any = parts.World
    fly, press = flight_phase(parts), parts.laws.scheme.press(parts)
    energy, anchored = parts.energy, parts.anchored

    @wp.func
    def level(world: World, run: Run):
        """E_J [J] with gravity extrapolated from its anchor."""
        value = extrapolate(run.anchor, run.x - run.anchor_x)
        e = energy(world, run, value)
        return e.total

    @wp.func
    def begin_contact(world: World, run: Run):
        """Account for the arc of flight that ends here."""
        out = anchored(world, run)
        now = level(world, out)
        if out.touches > 0:
            out.drift = wp.max(out.drift, wp.abs(now - out.energy))
        out.energy = now
        return out

    @wp.func
    def end_contact(world: World, run: Run):
        """Account for the contact that ends here."""
        out = run
        now = level(world, out)
        more = scalar(0.0)
        if wp.static(parts.laws.steady):
            more = now - out.energy
        moving = linear_energy(world.body, out.v) + angular_energy(world.body, out.w)
        if more > scalar(0.0) and more < moving:
            # Steps of finite length may return a little more than came in: it is not given away.
            slow = wp.sqrt(scalar(1.0) - more / moving)
            out.touch.impulse += (slow - scalar(1.0)) * world.body.mass * out.v
            out.v = slow * out.v
            out.w = slow * out.w
            now = out.energy
        out.touch.energy_out = now
        out.gain = wp.max(out.gain, more)
        out.energy = now
        speed = wp.max(scalar(0.0), -out.touch.normal_speed_in)
        if out.touches == 0:
            out.first_time = out.touch.start
            out.first_place = out.touch.place
            out.first_speed = speed
        out.hardest = wp.max(out.hardest, speed)
        out.peak_force = wp.max(out.peak_force, out.touch.peak_force)
        out.touches += 1
        out.touching = 0
        out.force = scalar(0.0)
        return out

    @wp.kernel(
        module="unique",
        enable_backward=False,
        module_options=POINT_OPTIONS,
        launch_bounds=GPU_BOUNDS,
    )
    def advance(
        offset: int,
        world: World,
        chunk: Chunk,
        index: wp.array(dtype=int),
        clear: wp.array2d(dtype=scalar),
        runs: wp.array(dtype=Run),
        touches_out: wp.array2d(dtype=Touch),
        touch_count_out: wp.array(dtype=int),
        rows_out: wp.array2d(dtype=Row),
        row_count_out: wp.array(dtype=int),
        status_out: wp.array(dtype=int),
    ) -> None:
        slot = index[wp.tid() + offset]
        run = runs[slot]
        taken = int(0)
        logged = int(0)
        written = int(0)
        going = run.outcome == _RUNNING
        while going:
            before = run.phase
            if before == FLIGHT:
                run = fly(world, run, clear, slot)
            else:
                run = press(world, run, clear, slot)
            taken += 1
            over = run.outcome != _RUNNING
            if before == FLIGHT and run.phase == CONTACT:
                run = begin_contact(world, run)
            if run.touching != 0 and (over or (before == CONTACT and run.phase == FLIGHT)):
                run = end_contact(world, run)
                touches_out[slot, logged] = run.touch
                logged += 1
            if not over and run.steps >= world.limits.max_steps:
                run.outcome = _STEP_LIMIT
                over = bool(True)
            if chunk.rows > 0 and run.phase == before:
                row = Row()
                row.t = run.t
                row.x = run.x
                row.v = run.v
                row.q = run.q
                row.w = run.w
                row.phase = run.phase
                row.elastic = run.elastic
                row.force = run.force
                rows_out[slot, written] = row
                written += 1
            going = not over and taken < chunk.steps and logged < chunk.touches
            if chunk.rows > 0 and written >= chunk.rows:
                going = bool(False)
        runs[slot] = run
        touch_count_out[slot] = logged
        row_count_out[slot] = written
        kind = run.near
        if run.phase != FLIGHT:
            kind = run.lasting
        status_out[slot] = run.outcome + 256 * (2 * run.phase + kind)

    return advance

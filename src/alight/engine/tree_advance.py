"""The kernel of articulated landers: one thread a run, chunks of steps.

Each turn of its loop asks for one slope, at one place of the source whatever it is for: a start,
a trial state, one that is kept. So the tree, the ground and gravity are compiled once.
"""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.engine.run import Touch
from alight.engine.tree_account import arrive_function, line_function
from alight.engine.tree_state import TreeRun, TreeSpace
from alight.engine.tree_steppers import START, TRIAL, Turn, adams_stepper, rk4_stepper
from alight.engine.tree_world import TreeComposition, let_go
from alight.vehicles.tree.joints import make_unit

_RUNNING = wp.constant(int(Outcome.RUNNING))
_OUT_OF_STEPS = wp.constant(int(Outcome.OUT_OF_STEPS))

#: Threads of a block on a GPU: each run keeps much in memory and waits for it.
GPU_BLOCK = 64


@wp.struct
class TreeChunk:
    """What one launch may do."""

    steps: int  # most steps of a run
    lines: int  # room for this many lines of history of each run; 0 keeps none
    touches: int  # room for this many contacts of each run


@functools.cache
def tree_kernel(parts: TreeComposition) -> Any:
    """The kernel of one composition of laws."""
    World: Any = parts.World
    slope = parts.slope
    arrive, write_line = arrive_function(parts), line_function(parts)
    prepare, use = adams_stepper(parts) if parts.laws.pece else rk4_stepper(parts)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def advance_trees(
        offset: int,
        world: World,
        chunk: TreeChunk,
        index: wp.array(dtype=int),
        space: TreeSpace,
        runs: wp.array(dtype=TreeRun),
        touches_out: wp.array2d(dtype=Touch),
        touch_count: wp.array(dtype=int),
        lines_out: wp.array2d(dtype=scalar),
        line_count_out: wp.array(dtype=int),
        status_out: wp.array(dtype=int),
    ) -> None:
        slot = index[wp.tid() + offset]
        if slot < 0:
            return
        run = runs[slot]
        contact = world.contact[space.notes[slot].row]
        begun = run.steps
        logged = int(0)
        written = int(0)
        turn = Turn()
        turn.whole = True
        going = run.outcome == _RUNNING
        while going:
            if turn.whole:
                turn.stage = wp.where(run.fresh != 0, START, TRIAL)
            turn = prepare(world, run, space, slot, turn)
            slope(world, space, slot, turn.at, contact)
            run, turn = use(world, run, space, slot, turn)
            if turn.here:
                make_unit(world.tree, space.q, slot)
                let_go(space, slot)
                was = run.touching
                run = arrive(world, run, space, slot, turn.h, contact)
                if was != 0 and run.touching == 0:
                    touches_out[slot, logged] = space.notes[slot].touch
                    logged += 1
                first = run.steps == 0 and run.fresh == 0
                if chunk.lines > 0 and (turn.h > scalar(0.0) or first):
                    line = slot * chunk.lines + written
                    write_line(world, run, space, slot, turn.h, turn.order, lines_out, line)
                    written += 1
            if turn.whole:
                if run.outcome == _RUNNING and run.steps >= world.limits.max_steps:
                    run.outcome = _OUT_OF_STEPS
                full = run.steps - begun >= chunk.steps or logged >= chunk.touches
                full = full or (chunk.lines > 0 and written >= chunk.lines)
                going = run.outcome == _RUNNING and not full
        runs[slot] = run
        touch_count[slot] = logged
        line_count_out[slot] = written
        status_out[slot] = run.outcome

    return advance_trees

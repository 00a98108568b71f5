"""Articulated landers under the engine's loop.

A step is made of turns that each ask for one slope, at one place of the source whatever it is for:
a start, a trial state, one that is kept. So the tree, the ground and gravity are compiled once.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.engine.motion import Launch, Loop
from alight.motions.tree.account import arrive_functions, line_function
from alight.motions.tree.after_rest import after_rest
from alight.motions.tree.composition import TreeComposition, let_go
from alight.motions.tree.state import TreeRun, TreeSpace
from alight.motions.tree.steppers import START, TRIAL, Turn, adams_stepper, rk4_stepper
from alight.vehicles.tree.joints import make_unit

#: Steps of one launch on a GPU.
GPU_STEPS = 200
#: Blocks a multiprocessor has room for there: half the registers a thread could have, for twice the
#: threads that hide each other's waiting. (200 steps of 53 000 landings on an H200: 0.69 s in place
#: of 0.79 s.)
GPU_BLOCKS = 8


@functools.cache
def tree_loop(parts: TreeComposition) -> Loop:
    """What the kernel of one composition of laws is made from."""
    World: Any = parts.World
    slope = parts.slope
    arrive, account = arrive_functions(parts)
    prepare, use = adams_stepper(parts) if parts.laws.pece else rk4_stepper(parts)

    @wp.func
    def step(world: World, run: TreeRun, space: TreeSpace, slot: int):
        """One step, kept or rejected, or a start."""
        out = run
        contact = world.contact[space.notes[slot].row]
        turn = Turn()
        turn.whole = True
        turn.stage = wp.where(run.fresh != 0, START, TRIAL)
        going = bool(True)
        while going:
            turn = prepare(world, out, space, slot, turn)
            slope(world, space, slot, turn.at, contact)
            out, turn = use(world, out, space, slot, turn)
            going = not turn.whole
        out.taken = scalar(-1.0)
        if turn.here:
            make_unit(world.tree, space.q, slot)
            let_go(space, slot)
            out.taken = turn.h
            out.order = turn.order
            out = arrive(world, out, space, slot, turn.h, contact)
        return out

    return Loop(
        World=World,
        Run=TreeRun,
        Memory=TreeSpace,
        whole=Launch("steps", step, account, gpu_steps=GPU_STEPS, gpu_blocks=GPU_BLOCKS),
        told=_told,
        line=line_function(parts),
        options=POINT_OPTIONS,
        next=after_rest(parts).following,
        wake=after_rest(parts).wake,
    )


@wp.func
def _told(run: TreeRun, before: int):
    """A step that was kept, and the first start of all."""
    first = run.taken == scalar(0.0) and run.steps == 0 and run.fresh == 0
    return run.taken > scalar(0.0) or first

"""What stops see of a body over a membrane."""

import functools
from typing import Any

import warp as wp

from alight.core.types import quat, scalar
from alight.engine.clock import NEVER
from alight.engine.scene import Scene
from alight.motions.membrane.state import CaughtMemory, CaughtRun, moving_at


@functools.cache
def caught_scene_function(World: Any, height: bool, turn: bool) -> Any:
    """The function ``(world, run, memory, slot) -> Scene``, in inertial axes: there is no target
    that turns, and the height of the lowest point is known anyway."""

    @wp.func
    def scene(world: World, run: CaughtRun, memory: CaughtMemory, slot: int):
        body = moving_at(memory.y, 0, slot)
        out = Scene()
        out.number = memory.notes[slot].number
        out.t = run.t
        out.x = body.x
        out.v = body.v
        out.q = body.q
        out.w = body.rate
        out.height = run.lowest
        out.touches = run.touches
        out.touching = run.touching
        out.touched = wp.where(run.first < scalar(0.0), NEVER, run.first)
        out.turn = quat(scalar(0.0), scalar(0.0), scalar(0.0), scalar(1.0))
        return out

    return scene

"""What stops and controllers see of a rigid lander."""

import functools
from typing import Any

import warp as wp

from alight.engine.clock import NEVER
from alight.engine.scene import Scene
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.state import Memory, Run


@functools.cache
def scene_function(parts: Composition, height: bool, turn: bool) -> Any:
    """The function ``(world, run, memory, slot) -> Scene``; ``height`` and ``turn``: whether the
    distance to the ground and the attitude of the target are found."""
    World: Any = parts.World
    ground, attitude = parts.laws.surface_point, parts.laws.attitude

    @wp.func
    def scene(world: World, run: Run, memory: Memory, slot: int):
        out = Scene()
        out.number = memory.notes[slot].number
        out.t = run.t
        out.x = run.x
        out.v = run.v
        out.q = run.q
        out.w = run.w
        out.touches = run.touches
        out.touching = run.touching
        out.touched = NEVER
        if run.touches > 0:
            out.touched = memory.notes[slot].first_time
        elif run.touching != 0:
            out.touched = memory.notes[slot].touch.start
        if wp.static(height):
            found = ground(world.surface, run.x)
            out.height = found.distance
        if wp.static(turn):
            out.turn = attitude(world.rotation, run.t)
        return out

    return scene

"""What stops and controllers see of an articulated lander."""

import functools
from typing import Any

import warp as wp

from alight.engine.scene import Scene
from alight.motions.tree.composition import TreeComposition
from alight.motions.tree.state import TreeRun, TreeSpace
from alight.vehicles.tree.data import RATE, turn_of, vector_row


@functools.cache
def tree_scene_function(parts: TreeComposition, height: bool, turn: bool) -> Any:
    """The function ``(world, run, space, slot) -> Scene``, the tree being placed; ``height`` and
    ``turn``: whether the distance to the ground and the attitude of the target are found."""
    World: Any = parts.World
    ground, attitude, spin = parts.laws.surface_point, parts.laws.attitude, parts.laws.spin

    @wp.func
    def scene(world: World, run: TreeRun, space: TreeSpace, slot: int):
        out = Scene()
        out.number = space.notes[slot].number
        out.t = run.t
        out.x = run.x
        out.v = run.v
        out.q = turn_of(space.tree, 0, slot)
        now = spin(world.rotation, run.t)
        w = vector_row(space.tree, 0, RATE, slot) - now.rate
        out.w = wp.quat_rotate_inv(out.q, w)
        out.touches = run.touches
        out.touching = run.touching
        out.touched = run.touched
        if wp.static(height):
            found = ground(world.surface, run.x)
            out.height = found.distance
        if wp.static(turn):
            out.turn = attitude(world.rotation, run.t)
        return out

    return scene

"""How long a lander can fly before anything of it touches."""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar
from alight.engine.time_to_ground import free_time
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.state import Memory, Run


@wp.struct
class Clearance:
    """The answer, and what was seen on the way."""

    h: scalar  # [s]
    near: int  # 1 where the lander was looked at point by point
    closing: scalar  # normal speed at which the nearest point approaches [m/s]


@functools.cache
def points_clearance(parts: Composition) -> Any:
    """The function ``(world, run, a, longest, memory, slot) -> Clearance`` for contact points."""
    World, surface_point = parts.World, parts.laws.surface_point

    @wp.func
    def clearance(
        world: World,
        run: Run,
        a: scalar,
        longest: scalar,
        memory: Memory,
        slot: int,
    ):
        """The longest step [s], up to ``longest``, in which no point of the lander can touch."""
        body = world.body
        size = body.bounding_radius
        speed = wp.length(run.v)
        rate = wp.length(run.w)
        out = Clearance()
        h = longest
        out.near = 0
        found = surface_point(world.surface, run.x)
        room = found.distance - world.slope * size
        if room > scalar(0.5) * world.slope * size:
            closing = wp.dot(found.gradient, run.v)
            out.h = wp.min(h, free_time(room, closing, speed, a, world.slope, world.curvature))
            return out
        out.near = 1
        # Near: each point with its own motion. Points that turn with the body are accelerated
        # towards its centre too; the rate of a free body changes by no more than its square.
        fast = speed + rate * size
        hard = a + scalar(2.0) * rate * rate * size
        R = wp.quat_to_matrix(run.q)
        w_T = R * run.w
        count = body.points.shape[0]
        j = int(0)
        need = fast * h + scalar(0.5) * hard * h * h
        while j < count:
            # Threads side by side look for their next point first, then look it up together.
            while memory.clear[j, slot] > run.travel + need:
                j += 1
            if j < count:
                arm = R * body.points[j]
                near = surface_point(world.surface, run.x + arm)
                gap = near.distance - body.radii[j]
                memory.clear[j, slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                closing = wp.dot(near.gradient, run.v + wp.cross(w_T, arm))
                free = free_time(gap, closing, fast, hard, world.slope, world.curvature)
                if free < h:
                    h = free
                    out.closing = wp.max(scalar(0.0), -closing) / wp.length(near.gradient)
                    need = fast * h + scalar(0.5) * hard * h * h
                j += 1
        out.h = h
        return out

    return clearance

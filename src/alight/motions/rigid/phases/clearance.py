"""How long a lander can fly before anything of it touches."""

import functools
from typing import Any

import warp as wp

from alight.core.types import mat33, scalar, vec3
from alight.engine.time_to_ground import free_time
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.state import Memory, Run
from alight.surfaces.law import SurfacePoint
from alight.vehicles.rigid.data import RigidBody

#: Second derivatives beyond this [1/m] are kinks: no bound is made from them.
_KINKED = wp.constant(scalar(1e6))


@wp.struct
class Clearance:
    """The answer, and what was seen on the way."""

    h: scalar  # [s]
    near: int  # 1 where the lander was looked at point by point
    closing: scalar  # normal speed at which the nearest point approaches [m/s]


@wp.struct
class SeenFromCentre:
    """The ground about a lander as seen from its centre alone, in body axes.

    Where no second derivative of the distance exceeds kappa, a point p of the lander has

        phi(p) >= phi + G.p - kappa |p|^2 / 2,    phi'(p) >= phi' + p.(G x w) - kappa |p| s,

    G being the gradient at the centre and s a bound on the speed of all points.
    """

    smooth: bool  # kappa is finite
    distance: scalar  # [m]
    closing: scalar  # rate of the distance [m/s]
    gradient: vec3  # G
    turning: vec3  # G x w [rad/s]
    bend: scalar  # kappa [1/m]
    blur: scalar  # kappa |p| s at most [m/s]
    steep: scalar  # |G|


@wp.struct
class PointBound:
    """What is known of a point without looking it up."""

    gap: scalar  # at least [m]
    closing: scalar  # rate of the gap, at least [m/s]
    unsure: scalar  # how much more the gap could be [m]


@wp.func
def seen_from_centre(
    curvature: scalar, size: scalar, fast: scalar, run: Run, found: SurfacePoint, R: mat33
):
    """``found`` at the centre of a lander whose points are no faster than ``fast`` [m/s]."""
    out = SeenFromCentre()
    out.smooth = curvature < _KINKED
    out.distance = found.distance
    out.closing = wp.dot(found.gradient, run.v)
    out.gradient = wp.transpose(R) * found.gradient
    out.turning = wp.cross(out.gradient, run.w)
    out.bend = curvature
    out.blur = curvature * size * fast
    out.steep = wp.length(found.gradient)
    return out


@wp.func
def bound_of(body: RigidBody, seen: SeenFromCentre, j: int):
    """Point j; nothing is known where the ground has kinks."""
    out = PointBound()
    out.unsure = scalar(1.0)
    if seen.smooth:
        p = body.points[j]
        out.unsure = seen.bend * wp.dot(p, p)
        out.gap = seen.distance + wp.dot(seen.gradient, p) - body.radii[j]
        out.gap -= scalar(0.5) * out.unsure
        out.closing = seen.closing + wp.dot(seen.turning, p) - seen.blur
    return out


@wp.func
def lowest_point(body: RigidBody, seen: SeenFromCentre):
    """The point that would touch a plane first; -1 where the ground has kinks."""
    out = int(-1)
    if seen.smooth:
        least = scalar(1e30)
        for j in range(body.points.shape[0]):
            height = wp.dot(seen.gradient, body.points[j]) - body.radii[j]
            if height < least:
                least = height
                out = j
    return out


@wp.func
def bend_of(
    slope: scalar, curvature: scalar, fast: scalar, hard: scalar, h: scalar, seen: SeenFromCentre
):
    """Second derivative of the gap of any point in the next ``h`` [s], at most [m/s^2]."""
    bend = slope * hard
    if seen.smooth:
        bend += curvature * (fast + hard * h) * (fast + hard * h)
    return bend


@wp.func
def cannot_touch(body: RigidBody, seen: SeenFromCentre, j: int, h: scalar, bend: scalar):
    """Whether point j surely keeps off the ground for ``h`` [s]: its gap stays above a parabola,
    which is lowest at one of its ends."""
    if not seen.smooth:
        return False
    bound = bound_of(body, seen, j)
    after = bound.gap + h * (bound.closing - scalar(0.5) * bend * h)
    return bound.gap > scalar(0.0) and after > scalar(0.0)


@wp.func
def following(
    body: RigidBody,
    seen: SeenFromCentre,
    clear: wp.array2d(dtype=scalar),
    slot: int,
    first: int,
    lowest: int,
    travel: scalar,
    h: scalar,
    bend: scalar,
):
    """The next point from ``first`` on, other than the lowest, that could touch in ``h`` [s], in
    which none goes beyond ``travel`` [m]; their number where there is none."""
    j = int(first)
    going = bool(True)
    while going:
        going = j < body.points.shape[0]
        if going:
            going = j == lowest or clear[j, slot] > travel or cannot_touch(body, seen, j, h, bend)
        if going:
            j += 1
    return j


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
        seen = seen_from_centre(world.curvature, size, fast, run, found, R)
        need = fast * h + scalar(0.5) * hard * h * h
        bend = bend_of(world.slope, world.curvature, fast, hard, h, seen)
        # The lowest first: it mostly decides, and then all others are out of the question.
        lowest = lowest_point(body, seen)
        j = lowest
        next = int(0)
        if not seen.smooth:
            next = following(
                body, seen, memory.points.clear, slot, 0, lowest, run.travel + need, h, bend
            )
            j = next
            next += 1
        while j < count:
            bound = bound_of(body, seen, j)
            gap = bound.gap
            closing = bound.closing
            pace = -closing / seen.steep
            if not gap > bound.unsure:
                arm = R * body.points[j]
                near = surface_point(world.surface, run.x + arm)
                gap = near.distance - body.radii[j]
                memory.points.clear[j, slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                closing = wp.dot(near.gradient, run.v + wp.cross(w_T, arm))
                pace = -closing / wp.length(near.gradient)
            free = free_time(gap, closing, fast, hard, world.slope, world.curvature)
            if free < h:
                h = free
                out.closing = wp.max(scalar(0.0), pace)
                need = fast * h + scalar(0.5) * hard * h * h
                bend = bend_of(world.slope, world.curvature, fast, hard, h, seen)
            # Threads side by side look for their next point first, then look it up together.
            next = following(
                body, seen, memory.points.clear, slot, next, lowest, run.travel + need, h, bend
            )
            j = next
            next += 1
        out.h = h
        return out

    return clearance

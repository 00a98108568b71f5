"""What a rigid lander is about to touch: contact points, the whole hull, or a ball.

A way to find contacts is two Warp functions: ``find(world, run, memory, slot, x, q, margin) ->
count`` lists those within a margin, ``clearance`` returns how long flight may continue. Points go
by the slope and the curvature of the ground's distance, or where that has edges by the slope alone;
hulls and balls on facets by planes between them and each facet
(``contact.time_to_contact.facets``).
"""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.contact_list import Collecting, HullContact, kept
from alight.contact.hull.feature_pairs import BALL, CORNER, EDGES
from alight.contact.time_to_contact.bounds import open_time
from alight.contact.time_to_contact.feature_pairs import DEEP, flying_from
from alight.core.types import quat, scalar, vec3
from alight.engine.time_to_ground import time_to_travel
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.phases.clearance import Clearance
from alight.motions.rigid.state import Memory, Run
from alight.vehicles.rigid.data import angular_acceleration
from alight.vehicles.rigid.hull_data import HullData

_BALL = wp.constant(BALL)
_CORNER = wp.constant(CORNER)
_EDGES = wp.constant(EDGES)

#: Curvatures [1/m] from here on are none: the ground has edges, and its slope alone bounds a step.
#: A point that has just hit leaves such ground by a step in contact, as its gap of 0 says nothing.
_BOUNDED = wp.constant(scalar(1e100))
#: On rates of change of the closing speed: speeds and directions change a little within a step.
_MARGIN = wp.constant(scalar(1.5))


@functools.cache
def point_gaps(parts: Composition) -> tuple[Any, Any]:
    """``find`` and ``clearance`` for the lander's contact points, on any surface."""
    World, surface_point = parts.World, parts.laws.surface_point

    @wp.func
    def find(world: World, run: Run, memory: Memory, slot: int, x: vec3, q: quat, margin: scalar):
        body = world.body
        R = wp.quat_to_matrix(q)
        count = int(0)
        among = Collecting()
        among.slot = slot
        like = HullData()
        like.radius = body.bounding_radius
        for j in range(body.points.shape[0]):
            if memory.points.clear[j, slot] <= run.travel + margin:
                arm = R * (body.points[j] - body.shift)
                at = surface_point(world.surface, x + arm)
                gap = at.distance - body.radii[j]
                memory.points.clear[j, slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                gap = gap / wp.length(at.gradient)
                if gap < margin:
                    new = HullContact()
                    new.point = x + arm - body.radii[j] * at.normal
                    new.normal = at.normal
                    new.gap = gap
                    new.kind = wp.where(body.radii[j] > scalar(0.0), _BALL, _CORNER)
                    new.feature = j
                    among.count = count
                    among = kept(memory.contacts, among, new, like)
                    count = among.count
        return count

    @wp.func
    def clearance(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        body = world.body
        size = body.bounding_radius
        speed = wp.length(run.v)
        rate = wp.length(run.w)
        out = Clearance()
        out.h = longest
        at = surface_point(world.surface, run.x)
        room = (at.distance - world.slope * size) / world.slope
        if room > scalar(0.5) * size:
            by_slope = time_to_travel(room, speed, a)
            by_bend = by_slope
            if world.curvature < _BOUNDED:
                slack = world.slope * a + world.curvature * speed * speed
                closing = wp.dot(at.gradient, run.v)
                by_bend = open_time(room * world.slope, closing, _MARGIN * slack)
            # While it lasts, the speed grows: no longer than eight times the safe time.
            out.h = wp.min(longest, wp.max(by_slope, wp.min(by_bend, scalar(8.0) * by_slope)))
            return out
        out.near = 1
        fast = speed + rate * size
        hard = a + scalar(2.0) * rate * rate * size
        bend = _MARGIN * (world.slope * hard + world.curvature * fast * fast)
        R = wp.quat_to_matrix(run.q)
        w_T = R * run.w
        for j in range(body.points.shape[0]):
            need = fast * out.h + scalar(0.5) * hard * out.h * out.h
            if memory.points.clear[j, slot] <= run.travel + need:
                arm = R * body.points[j]
                near = surface_point(world.surface, run.x + arm)
                gap = near.distance - body.radii[j]
                memory.points.clear[j, slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                closing = wp.dot(near.gradient, run.v + wp.cross(w_T, arm))
                free = time_to_travel(gap / world.slope, fast, hard)
                if world.curvature < _BOUNDED:
                    free = open_time(gap, closing, bend)
                if free < out.h:
                    out.h = free
                    out.closing = wp.max(scalar(0.0), -closing) / wp.length(near.gradient)
        return out

    return find, clearance


@functools.cache
def hull_gaps(parts: Composition, contacts: Any, clear: Any) -> tuple[Any, Any]:
    """``find`` and ``clearance`` of hulls on facets; see ``contact.time_to_contact.facets``."""
    World = parts.World

    @wp.func
    def find(world: World, run: Run, memory: Memory, slot: int, x: vec3, q: quat, margin: scalar):
        o = x - wp.quat_rotate(q, world.body.shift)
        count = contacts(
            world.surface, world.hull, o, q, margin, memory.contacts, slot, memory.shelves
        )
        # Flight and contact leave no lander deep in the ground: edges that seem to be pass each
        # other, which a wide margin lets through. Corners and peaks are known to be inside.
        good = int(0)
        for k in range(count):
            point = memory.contacts[k, slot]
            if point.kind != _EDGES or point.gap > -DEEP * world.body.bounding_radius:
                memory.contacts[good, slot] = point
                good += 1
        return good

    @wp.func
    def clearance(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        size = world.body.bounding_radius
        change = angular_acceleration(world.body, run.w, vec3())
        flying = flying_from(run.x, run.q, run.v, run.w, change, a, size, longest)
        flying = clear(world.surface, world.hull, memory.shelves, slot, flying)
        out = Clearance()
        out.h = flying.clear
        out.near = flying.near
        return out

    return find, clearance


@functools.cache
def ball_gaps(parts: Composition, contacts: Any, clear: Any) -> tuple[Any, Any]:
    """The same for a lander that is a ball or a point: each facet that its middle is over."""
    World = parts.World

    @wp.func
    def find(world: World, run: Run, memory: Memory, slot: int, x: vec3, q: quat, margin: scalar):
        radius = world.body.radii[0]
        o = x - wp.quat_rotate(q, world.body.shift)
        count = contacts(
            world.surface, world.hull, o, q, margin + radius, memory.contacts, slot, memory.shelves
        )
        good = int(0)
        for k in range(count):
            point = memory.contacts[k, slot]
            point.point = point.point - radius * point.normal
            point.gap = point.gap - radius
            if radius > scalar(0.0):
                point.kind = _BALL
            if wp.abs(point.gap) < margin:
                memory.contacts[good, slot] = point
                good += 1
        return good

    @wp.func
    def clearance(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        # A point off the centre of mass is swung about by turning.
        arm = wp.quat_rotate(run.q, world.body.points[0])
        rate = wp.length(run.w)
        hard = a + scalar(2.0) * rate * rate * wp.length(arm)
        v = run.v + wp.cross(wp.quat_rotate(run.q, run.w), arm)
        flying = flying_from(
            run.x + arm, run.q, v, vec3(), vec3(), hard, world.body.radii[0], longest
        )
        flying = clear(world.surface, world.hull, memory.shelves, slot, flying)
        out = Clearance()
        out.h = flying.clear
        out.near = flying.near
        return out

    return find, clearance

"""What a rigid lander is about to touch: single contacts, of contact points or of the whole hull.

A way to find contacts is two Warp functions: ``find(world, run, memory, slot, x, q, margin) ->
count`` lists those within a margin, ``clearance`` tells how long flight may go on. A contact has a
plane: between a corner and a facet, or a face and a peak, or two edges. Its gap changes at the rate
u now, and the rate changes by no more than b, so it stays open for

    t = (u + sqrt(u^2 + 2 b gap)) / b,

and where it opens this holds for a gap of 0 too: a lander leaves the ground it has just hit. What
is not within the margin cannot be touched before it is covered. So the way to a touch takes a few
steps, each to within the square of what was left.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.collected import MOST, Collecting, Contact, kept
from alight.contact.pairs import CORNER, EDGES, NOTHING
from alight.core.types import quat, scalar, vec3
from alight.engine.approach import time_to_travel
from alight.engine.clearance import Clearance
from alight.engine.run import Memory, Run
from alight.engine.world import Composition
from alight.vehicles.hull_data import Hull
from alight.vehicles.rigid_data import angular_acceleration

_MOST = wp.constant(MOST)
_NOTHING = wp.constant(NOTHING)
_CORNER = wp.constant(CORNER)
_EDGES = wp.constant(EDGES)

#: Contacts are looked at one by one from this many gaps away, or this share of the lander's radius.
_GAPS = wp.constant(scalar(2.5))
_CLOSE = wp.constant(scalar(0.2))
#: Where too many are that near, no closer than this share of the lander's radius.
_CROWD = wp.constant(scalar(1e-6))
#: No edge is farther below another than this share of the lander's radius.
_DEEP = wp.constant(scalar(2e-2))
#: The same for the ball about the lander, in distances of its centre.
_FAR = wp.constant(scalar(4.0))
_THIRD = wp.constant(scalar(1.0 / 3.0))  # in a function, the division would be in float32
#: Most that the acceleration of a corner changes by, over w^3 times its arm: the direction to the
#: axis turns, and a free body changes its rate.
_JERK = wp.constant(scalar(6.0))
#: On rates of change of the closing speed: speeds and directions change a little within a step.
_MARGIN = wp.constant(scalar(1.5))


@wp.func
def open_time(gap: scalar, rate: scalar, bend: scalar):
    """How long [s] a contact stays open whose gap [m] changes at ``rate`` [m/s]."""
    g = wp.max(gap, scalar(0.0))
    root = wp.sqrt(rate * rate + scalar(2.0) * bend * g)
    if rate < scalar(0.0):
        return scalar(2.0) * g / (root - rate)
    if bend * scalar(1e30) <= rate + root:
        return scalar(1e30)
    return (rate + root) / bend


@wp.func
def turning_open_time(gap: scalar, rate: scalar, bend: scalar, jerk: scalar):
    """How long [s] gap + rate t + bend t^2/2 - jerk t^3/6 stays above 0, for a ``jerk`` above 0.

    A corner that turns with the lander swings down and up again: with its acceleration known, only
    the next derivative must be bounded, and steps are a good part of a turn.
    """
    g = wp.max(gap, scalar(0.0))
    half = scalar(0.5)
    sixth = jerk / scalar(6.0)
    # The slope rate + bend t - jerk t^2/2 is above 0 between its roots.
    square = bend * bend + scalar(2.0) * jerk * rate
    low = scalar(0.0)
    high = scalar(0.0)
    if square > scalar(0.0):
        root = wp.sqrt(square)
        top = scalar(2.0) * rate / (root - bend)
        if bend > scalar(0.0):
            top = (bend + root) / jerk
        if rate < scalar(0.0):
            dip = scalar(-2.0) * rate / (bend + root)  # the smaller root, without cancellation
            if bend > scalar(0.0):
                floor = g + dip * (rate + dip * (half * bend - sixth * dip))
                if floor > scalar(0.0):
                    low = wp.max(top, scalar(0.0))
                else:
                    high = dip
        else:
            low = wp.max(top, scalar(0.0))
    if high == scalar(0.0):
        # Falls for good from here: where the cube outweighs all else is far enough.
        reach = scalar(3.0) * (wp.abs(bend) * half + wp.sqrt(sixth * wp.abs(rate))) / sixth
        high = low + reach + wp.pow(g / sixth + scalar(1e-300), _THIRD) * scalar(2.0)
    n = int(0)
    while n < 60 and high - low > scalar(1e-3) * high:
        middle = half * (low + high)
        if g + middle * (rate + middle * (half * bend - sixth * middle)) > scalar(0.0):
            low = middle
        else:
            high = middle
        n += 1
    return low


@wp.func
def bend_of(a: scalar, speed: scalar, rate: scalar, size: scalar):
    """Most that a closing speed changes by in a second [m/s^2].

    Gravity and the turning of the point; where the plane turns with the lander, also Coriolis'
    term of its motion across.
    """
    return _MARGIN * (a + scalar(2.0) * rate * speed + scalar(2.0) * rate * rate * size)


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
        like = Hull()
        like.radius = body.bounding_radius
        for j in range(body.points.shape[0]):
            if memory.clear[j, slot] <= run.travel + margin:
                arm = R * body.points[j]
                at = surface_point(world.surface, x + arm)
                gap = at.distance - body.radii[j]
                memory.clear[j, slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                gap = gap / wp.length(at.gradient)
                if gap < margin:
                    new = Contact()
                    new.point = x + arm - body.radii[j] * at.normal
                    new.normal = at.normal
                    new.gap = gap
                    new.kind = _CORNER
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
            slack = world.slope * a + world.curvature * speed * speed
            closing = wp.dot(at.gradient, run.v)
            by_bend = open_time(room * world.slope, closing, _MARGIN * slack)
            by_slope = time_to_travel(room, speed, a)
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
            if memory.clear[j, slot] <= run.travel + need:
                arm = R * body.points[j]
                near = surface_point(world.surface, run.x + arm)
                gap = near.distance - body.radii[j]
                memory.clear[j, slot] = run.travel + wp.max(gap, scalar(0.0)) / world.slope
                closing = wp.dot(near.gradient, run.v + wp.cross(w_T, arm))
                free = open_time(gap, closing, bend)
                if free < out.h:
                    out.h = free
                    out.closing = wp.max(scalar(0.0), -closing) / wp.length(near.gradient)
        return out

    return find, clearance


@functools.cache
def hull_gaps(parts: Composition, nearest: Any, contacts: Any) -> tuple[Any, Any]:
    """``find`` and ``clearance`` for the lander's hull on facets; see ``contact.proximity``."""
    World = parts.World

    @wp.func
    def contact_time(world: World, run: Run, a: scalar, point: Contact):
        """How long [s] one contact stays open."""
        size = world.body.bounding_radius
        rate = wp.length(run.w)
        arm = wp.quat_rotate_inv(run.q, point.point - run.x)
        n = wp.quat_rotate_inv(run.q, point.normal)
        turning = wp.cross(run.w, arm)
        u = wp.dot(point.normal, run.v) + wp.dot(n, turning)
        free = open_time(point.gap, u, bend_of(a, wp.length(run.v), rate, size))
        centripetal = rate * rate * size
        if point.kind == _CORNER and centripetal > a:
            # A corner swings with the lander, whose rate changes as that of a free body.
            change = angular_acceleration(world.body, run.w, vec3())
            swing = wp.dot(n, wp.cross(change, arm) + wp.cross(run.w, turning))
            jerk = _JERK * rate * centripetal
            free = wp.max(free, turning_open_time(point.gap, u, swing - a, jerk))
        return free

    @wp.func
    def find(world: World, run: Run, memory: Memory, slot: int, x: vec3, q: quat, margin: scalar):
        count = contacts(world.surface, world.hull, x, q, margin, memory.contacts, slot)
        # Flight and contact leave no lander deep in the ground: edges that seem to be pass each
        # other, which a wide margin lets through. Corners and peaks are known to be inside.
        good = int(0)
        for k in range(count):
            point = memory.contacts[k, slot]
            if point.kind != _EDGES or point.gap > -_DEEP * world.body.bounding_radius:
                memory.contacts[good, slot] = point
                good += 1
        return good

    @wp.func
    def ball_time(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        """How long [s] the ball about the lander stays clear; its turning does not matter here."""
        size = world.body.bounding_radius
        speed = wp.length(run.v)
        reach = speed * longest + scalar(0.5) * a * longest * longest + size
        near = nearest(world.surface, world.centre, run.x, run.q, reach)
        room = near.distance - size
        if near.kind == _NOTHING:
            return longest
        if room <= scalar(0.0):
            return scalar(0.0)
        margin = wp.min(_FAR * near.distance, reach)
        count = contacts(world.surface, world.centre, run.x, run.q, margin, memory.contacts, slot)
        if count == _MOST:
            return wp.min(longest, time_to_travel(room, speed, a))
        h = wp.min(longest, time_to_travel(margin - size, speed, a))
        for k in range(count):
            point = memory.contacts[k, slot]
            u = wp.dot(point.normal, run.v)
            h = wp.min(h, open_time(point.gap - size, u, _MARGIN * a))
        return h

    @wp.func
    def hull_time(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        """How long [s] the hull itself stays clear."""
        size = world.body.bounding_radius
        rate = wp.length(run.w)
        fast = wp.length(run.v) + rate * size
        hard = a + scalar(2.0) * rate * rate * size
        reach = fast * longest + scalar(0.5) * hard * longest * longest
        near = nearest(world.surface, world.hull, run.x, run.q, reach)
        gap = wp.max(near.distance, scalar(0.0))
        if near.kind == _NOTHING:
            return longest
        h = wp.min(longest, time_to_travel(gap, fast, hard))
        margin = wp.max(_GAPS * gap, _CLOSE * size)
        count = find(world, run, memory, slot, run.x, run.q, margin)
        # More than can be kept: look less far. What then is still left out lies between others
        # that are just as near.
        while count == _MOST and margin > wp.max(gap, _CROWD * size):
            margin = scalar(0.1) * margin
            count = find(world, run, memory, slot, run.x, run.q, margin)
        longer = wp.min(longest, time_to_travel(margin, fast, hard))
        for k in range(count):
            longer = wp.min(longer, contact_time(world, run, a, memory.contacts[k, slot]))
        return wp.max(h, longer)

    @wp.func
    def clearance(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        size = world.body.bounding_radius
        out = Clearance()
        out.h = ball_time(world, run, a, longest, memory, slot)
        # A ball that is clear for as long as the hull takes to fall its own size: good enough.
        fast = wp.length(run.v) + wp.length(run.w) * size
        if out.h < longest and out.h * fast < size:
            out.near = 1
            out.h = wp.max(out.h, hull_time(world, run, a, longest, memory, slot))
        return out

    return find, clearance

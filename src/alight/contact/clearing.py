"""How long a lander in flight stays clear of facets: a time within which it cannot touch any.

A facet and a plane that has it on one side and a point of the lander on the other: while the point
stays on its side, it does not touch. Planes are found for every pair that could touch in the time:

    a corner of the lander and a facet       the facet's plane; the plane across the nearest way
    a corner of the ground and the lander    planes of the lander's faces, which turn with it
    two edges                                the plane across the nearest way; the one along both

Each pair stays apart for as long as the best of its planes does (``open_times``), and the lander is
clear for as long as every pair is. Nothing is left out because it is not nearest now: what a lander
hits is often a slope ahead of it. For pairs that do touch the bound is exact to first order, so the
way to a touch takes a few steps, each to within the square of what was left.

The tree over the facets is walked by time too. A node's box and disc give two planes for the ball
about the lander, whose turning does not matter, and so does a facet: only where the ball would be
clear for less than its own size are the features of lander and facet looked at. All but the ball
is seen in the axes of the lander, where its hull stands still.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.closest import hull_facing, nearest_on_segments, to_segment2
from alight.contact.cones import ROUNDING, edge_below
from alight.contact.open_times import open_time, turning_open_time
from alight.contact.pairs import Facet, box_way, facet_in_body
from alight.core.types import mat33, quat, scalar, vec3
from alight.surfaces.bvh import Extent, Node, leaf_start, node_axis
from alight.surfaces.triangles import (
    OWN_EDGE,
    OWN_VERTEX,
    RIDGE,
    Ground,
    Triangles,
    nearest_on_triangle,
    pseudonormal,
)
from alight.vehicles.hull_data import Hull, HullEdge

_EVER = wp.constant(scalar(1e30))
#: On bounds of how fast rates change: in a step gravity, speeds and directions change a little. It
#: shortens steps by a fifth at most (measured on MINERVA-II-1 over Ryugu).
_MARGIN = wp.constant(scalar(1.5))
#: Most that the acceleration of a corner changes by, over w^3 times its arm: the direction to the
#: axis turns, and a free body changes its rate.
_JERK = wp.constant(scalar(6.0))
#: What is below the ground by no more than this share of the lander's radius is on its way out;
#: what is deeper is seen from behind. None of 2100 random landings ended deeper.
_DEEP = wp.constant(scalar(2e-2))


@wp.struct
class Flying:
    """A lander in flight, and how long it is known to be clear."""

    extent: Extent  # the ball about it, target axes
    limit2: scalar  # square of the way that anything of it can go while it is clear [m^2]
    clear: scalar  # [s]
    near: int  # 1 where the hull itself was looked at
    v: vec3  # target axes [m/s]
    a: scalar  # most acceleration of the centre of mass [m/s^2]
    fast: scalar  # most speed of any point [m/s]
    hard: scalar  # and acceleration [m/s^2]
    x: vec3  # [m]
    turn: mat33  # from body axes to target axes
    v_body: vec3  # in body axes
    w: vec3  # [rad/s]
    change: vec3  # of w [rad/s^2]
    rate: scalar  # its size


@wp.func
def clear_for(given: Flying, time: scalar):
    """``given``, clear for no longer than ``time`` [s]."""
    now = given
    if time < given.clear:
        way = time * (given.fast + scalar(0.5) * given.hard * time)
        now.clear = time
        now.limit2 = way * way
    return now


@wp.func
def time_over(given: Flying, way: scalar):
    """The least time [s] in which anything of the lander can go so far [m]."""
    root = wp.sqrt(given.fast * given.fast + scalar(2.0) * given.hard * way)
    return scalar(2.0) * way / wp.max(given.fast + root, scalar(1e-300))


@wp.func
def flying_from(
    x: vec3, q: quat, v: vec3, w: vec3, change: vec3, a: scalar, size: scalar, longest: scalar
):
    """A lander that nothing is known about: clear for ``longest`` [s] at most."""
    out = Flying()
    out.x = x
    out.v = v
    out.w = w
    out.change = change
    out.a = a
    out.turn = wp.quat_to_matrix(q)
    out.v_body = wp.transpose(out.turn) * v
    out.rate = wp.length(w)
    out.fast = wp.length(v) + out.rate * size
    out.hard = a + scalar(2.0) * out.rate * out.rate * size
    out.extent.center = x
    out.extent.radius = size
    out.extent.lower = x - vec3(size, size, size)
    out.extent.upper = x + vec3(size, size, size)
    out.clear = scalar(wp.inf)
    return clear_for(out, longest)


# -- the ball about the lander --------------------------------------------------------------------


@wp.func
def ball_time(given: Flying, gap: scalar, normal: vec3):
    """How long [s] the ball stays before a plane at ``gap`` [m] from its middle."""
    room = gap - given.extent.radius
    if room <= scalar(0.0):
        return scalar(0.0)
    return open_time(room, wp.dot(normal, given.v), _MARGIN * given.a)


@wp.func
def node_time(given: Flying, node: Node, center: vec3, rise: scalar):
    """How long [s] the ball stays clear of all that a node holds, ``center`` from its origin."""
    low = vec3(scalar(node[0]), scalar(node[1]), scalar(node[2]))
    high = vec3(scalar(node[3]), scalar(node[4]), scalar(node[5]))
    way = center - wp.min(wp.max(center, low), high)
    length = wp.length(way)
    time = scalar(0.0)
    if length > scalar(0.0):
        time = ball_time(given, length - rise, way / length)
    if time < given.clear:
        axis = node_axis(node)
        height = wp.dot(axis, center - scalar(0.5) * (low + high))
        time = wp.max(time, ball_time(given, height - scalar(node[10]) - rise, axis))
    return time


@wp.struct
class BallWay:
    """Two planes that a facet is behind, seen from the middle of the ball: its own, and across the
    nearest way. How far [m], and how fast that changes [m/s]."""

    height: scalar
    rise: scalar
    gap: scalar
    rate: scalar


@wp.func
def ball_way(mesh: Triangles, given: Flying, facet: int):
    """Both planes of a facet."""
    v = mesh.face[facet]
    normal = mesh.face_normal[facet]
    a = mesh.vertex[v[0]]
    out = BallWay()
    out.height = wp.dot(normal, given.x - a)
    out.rise = wp.dot(normal, given.v)
    at = nearest_on_triangle(given.x, a, mesh.vertex[v[1]], mesh.vertex[v[2]])
    way = given.x - at.point
    out.gap = wp.length(way)
    if out.gap > scalar(0.0):
        out.rate = wp.dot(way, given.v) / out.gap
    return out


@wp.func
def ball_way_time(given: Flying, way: BallWay, tall: scalar, reach: scalar):
    """How long [s] the ball stays clear of a facet, and of what stands on it.

    That reaches no higher than ``tall`` [m] above its plane and no farther than ``reach`` [m].
    """
    bend = _MARGIN * given.a
    room = way.height - tall - given.extent.radius
    time = scalar(0.0)
    if room > scalar(0.0):
        time = open_time(room, way.rise, bend)
    room = way.gap - reach - given.extent.radius
    if room > scalar(0.0) and time < given.clear:
        time = wp.max(time, open_time(room, way.rate, bend))
    return time


@wp.func
def touch_time(given: Flying, gap: scalar, normal: vec3):
    """How long [s] a ball that is the lander itself stays before a plane; it may touch already."""
    rate = wp.dot(normal, given.v)
    return open_time(gap - given.extent.radius, rate, _MARGIN * given.a)


@wp.func
def looked_at(given: Flying, time: scalar):
    """Whether a ball that is clear for ``time`` [s] is not good enough."""
    return time < given.clear and time * given.fast < given.extent.radius


# -- pairs of features, in the axes of the lander -------------------------------------------------


@wp.func
def point_rate(given: Flying, normal: vec3, q: vec3):
    """How fast a point of the lander moves along a direction [m/s]."""
    return wp.dot(normal, given.v_body + wp.cross(given.w, q))


@wp.func
def corner_time(given: Flying, gap: scalar, normal: vec3, q: vec3):
    """How long [s] a point q of the lander stays before a plane that stands still."""
    rate = point_rate(given, normal, q)
    time = open_time(gap, rate, _MARGIN * given.hard)
    centripetal = given.rate * given.rate * given.extent.radius
    if time < given.clear and centripetal > given.a:
        # It swings with the lander, whose rate changes as that of a free body.
        swing = wp.cross(given.change, q) + wp.cross(given.w, wp.cross(given.w, q))
        jerk = _JERK * given.rate * centripetal
        bend = wp.dot(normal, swing) - given.a
        time = wp.max(time, turning_open_time(gap, rate, bend, jerk))
    return time


@wp.func
def peak_time(given: Flying, gap: scalar, normal: vec3, p: vec3):
    """How long [s] a point p of the ground stays before a plane of the lander, of outer normal.

    Seen from the lander it moves the other way, and is turned by Coriolis' term too.
    """
    bend = given.hard + scalar(2.0) * given.rate * wp.length(given.v)
    return open_time(gap, -point_rate(given, normal, p), _MARGIN * bend)


@wp.func
def peak_on_convex(given: Flying, hull: Hull, p: vec3):
    """How long [s] a point of the ground stays out of a lander without dents."""
    top = scalar(-wp.inf)
    for j in range(hull.face.shape[0]):
        top = wp.max(top, wp.dot(hull.face[j].normal, p) - hull.face[j].offset)
    time = scalar(0.0)
    if top > -_DEEP * given.extent.radius:
        # On an edge of the lander two faces are as high: the one that turns away keeps it out.
        least = wp.min(top, scalar(0.0)) - ROUNDING * given.extent.radius
        for j in range(hull.face.shape[0]):
            height = wp.dot(hull.face[j].normal, p) - hull.face[j].offset
            if height >= least:
                time = wp.max(time, peak_time(given, height, hull.face[j].normal, p))
    return time


@wp.func
def peak_on_faces(given: Flying, hull: Hull, p: vec3):
    """The same for a lander of any shape: each face for itself."""
    least = given.clear
    size = given.extent.radius
    for j in range(hull.face.shape[0]):
        face = hull.face[j]
        height = wp.dot(face.normal, p) - face.offset
        if height * height < given.limit2:
            at = nearest_on_triangle(p, face.corner[0], face.corner[1], face.corner[2])
            way = p - at.point
            gap = wp.length(way)
            time = _EVER
            if gap * gap < given.limit2:
                normal = wp.normalize(hull_facing(hull, face, at.part))
                if gap > ROUNDING * size:
                    normal = way / gap
                if at.part == 6 and height > -_DEEP * size:
                    normal = face.normal
                    gap = height
                time = peak_time(given, gap, normal, p)
                if height > scalar(0.0):
                    time = wp.max(time, peak_time(given, height, face.normal, p))
            least = wp.min(least, time)
    return least


@wp.func
def peak_clear(given: Flying, hull: Hull, p: vec3):
    """How long [s] a corner of the ground stays out of the lander; it is far if this is long."""
    way = box_way(hull, p, p)
    time = given.clear
    if wp.dot(way, way) < given.limit2:
        if hull.bends == hull.ridges:
            time = peak_on_convex(given, hull, p)
        else:
            time = peak_on_faces(given, hull, p)
    return time


@wp.func
def edges_time(given: Flying, edge: HullEdge, p: vec3, d: vec3, up: vec3, one: vec3, other: vec3):
    """How long [s] an edge of the lander stays off the edge from p along d of the ground.

    ``up`` is the outer side of that one; ``one`` and ``other`` lead from it into its facets.
    """
    size = given.extent.radius
    at = nearest_on_segments(p, d, edge.start, edge.along)
    below = p + at.s * d
    on = edge.start + at.t * edge.along
    way = on - below
    gap = wp.length(way)
    if gap * gap >= given.limit2:
        return given.clear
    normal = wp.normalize(up)
    if gap > ROUNDING * size:
        normal = way / gap
    # The plane across the way stands still: both ends of the edge stay before it.
    end = edge.start + edge.along
    first = wp.dot(normal, edge.start - below)
    last = wp.dot(normal, end - below)
    time = scalar(0.0)
    if wp.min(first, last) >= -ROUNDING * size:
        time = corner_time(given, first, normal, edge.start)
        time = wp.min(time, corner_time(given, last, normal, end))
    inner = at.s > scalar(0.0) and at.s < scalar(1.0) and at.t > scalar(0.0) and at.t < scalar(1.0)
    if time < given.clear and inner:
        # The plane along both turns as the edges slide over each other, the faster the more they
        # run the same way; it serves while that angle does not halve.
        c = wp.cross(d, edge.along)
        sine = wp.length(c) / (scalar(2.0) * edge.half * wp.length(d))
        if sine > scalar(1e-6):
            line = wp.normalize(c)
            if wp.dot(line, up) < scalar(0.0):
                line = -line
            gap = wp.dot(line, way)
            if gap < scalar(0.0):
                # The lander's edge is below: a little inside, unless there is no ground.
                ridge = wp.max(wp.dot(one, line), wp.dot(other, line)) <= ROUNDING
                inside = ridge and edge_below(edge, line, scalar(0.0))
                if not (inside and gap > -_DEEP * size):
                    line = -line
                    gap = -gap
            turned = given.hard + scalar(4.0) * given.rate * given.fast / sine
            rate = point_rate(given, line, on)
            kept = open_time(gap, rate, _MARGIN * turned)
            time = wp.max(
                time, wp.min(kept, scalar(0.5) * sine / wp.max(given.rate, scalar(1e-30)))
            )
    return time


# -- a facet --------------------------------------------------------------------------------------


@wp.func
def corners_clear(mesh: Triangles, hull: Hull, given: Flying, seen: Facet, facet: int):
    """``given`` after the corners of the lander; ``near`` is 1 where the plane does not keep all.

    Where the facet's own plane keeps every corner off, nothing of the lander touches the facet.
    """
    now = given
    now.near = 0
    size = given.extent.radius
    a = seen.corner[0]
    slack = -_DEEP * size
    # n . (v + w x q) = n . v + (n x w) . q
    still = wp.dot(seen.normal, given.v_body)
    turning = wp.cross(seen.normal, given.w)
    for i in range(hull.vertex.shape[0]):
        q = hull.vertex[i]
        height = wp.dot(seen.normal, q - a)
        time = scalar(0.0)
        if height > scalar(0.0):
            time = open_time(height, still + wp.dot(turning, q), _MARGIN * given.hard)
            if time < now.clear:
                time = corner_time(now, height, seen.normal, q)
        if time < now.clear:
            now.near = 1
            at = nearest_on_triangle(q, a, seen.corner[1], seen.corner[2])
            way = q - at.point
            gap = wp.length(way)
            if gap * gap >= now.limit2:
                time = now.clear
            elif at.part == 6 and height > slack:
                if height <= scalar(0.0):
                    time = corner_time(now, height, seen.normal, q)
            else:
                up = wp.transpose(given.turn) * pseudonormal(mesh, facet, at.part)
                normal = wp.normalize(up)
                if gap > ROUNDING * size:
                    normal = way / gap
                time = wp.max(time, corner_time(now, gap, normal, q))
            now = clear_for(now, time)
    return now


@wp.func
def facet_edges_clear(mesh: Triangles, hull: Hull, given: Flying, seen: Facet, facet: int):
    """``given`` after the ridges that a facet answers for."""
    now = given
    k = int(0)
    while k < 3:
        own = (OWN_EDGE | RIDGE) << k
        p = seen.corner[k]
        q = seen.corner[wp.where(k == 2, 0, k + 1)]
        near = box_way(hull, wp.min(p, q), wp.max(p, q))
        if (seen.owned & own) == own and wp.dot(near, near) < now.limit2:
            d = q - p
            per_length2 = scalar(1.0) / wp.dot(d, d)
            beyond = wp.transpose(given.turn) * mesh.face_normal[mesh.across[facet][k]]
            along = wp.normalize(d)
            one = wp.cross(seen.normal, along)
            other = wp.cross(along, beyond)
            reach = wp.sqrt(now.limit2)
            for j in range(hull.ridges):
                edge = hull.edge[j]
                ball = reach + edge.half
                if to_segment2(edge.middle, p, d, per_length2) < ball * ball:
                    up = seen.normal + beyond
                    now = clear_for(now, edges_time(now, edge, p, d, up, one, other))
        k += 1
    return now


@wp.func
def facet_clear(mesh: Triangles, hull: Hull, given: Flying, facet: int):
    """``given`` after one facet."""
    time = ball_way_time(given, ball_way(mesh, given, facet), scalar(0.0), scalar(0.0))
    now = given
    if looked_at(given, time):
        seen = facet_in_body(mesh, facet, given.x, given.turn)
        low = wp.min(wp.min(seen.corner[0], seen.corner[1]), seen.corner[2])
        high = wp.max(wp.max(seen.corner[0], seen.corner[1]), seen.corner[2])
        way = box_way(hull, low, high)
        if wp.dot(way, way) < given.limit2:
            now = corners_clear(mesh, hull, given, seen, facet)
            if now.near == 1:
                k = int(0)
                while k < 3:
                    if (seen.owned & (OWN_VERTEX << k)) != 0:
                        now = clear_for(now, peak_clear(now, hull, seen.corner[k]))
                    k += 1
                now = facet_edges_clear(mesh, hull, now, seen, facet)
            if now.clear < time:
                now = clear_for(given, time)
        now.near = 1
    else:
        now = clear_for(given, time)
    return now


# -- the walk -------------------------------------------------------------------------------------


@functools.cache
def time_walk(Data: Any, visit: Any) -> Any:
    """A Warp function ``(data, flying) -> flying`` over all that may be touched, soonest first.

    As ``surfaces.bvh.walk_function``, but by time: ``data.mesh.tree`` is the tree and ``visit(data,
    flying, triangle) -> flying`` is called for what cannot be told to stay clear.
    """

    @wp.func
    def walk(data: Data, given: Flying):
        leaves = data.mesh.tree.leaves
        rise = data.mesh.tree.rise
        center = given.extent.center - data.mesh.tree.origin
        now = given
        node = int(1)
        pending = int(0)  # bit k: k levels up, the other child is still to be seen
        walking = node_time(now, data.mesh.tree.node[1], center, rise) < now.clear
        while walking:
            deeper = bool(False)
            if node < leaves:
                child = 2 * node
                soon = node_time(now, data.mesh.tree.node[child], center, rise)
                late = node_time(now, data.mesh.tree.node[child + 1], center, rise)
                if late < soon:
                    child += 1
                    swap = soon
                    soon = late
                    late = swap
                if soon < now.clear:
                    deeper = True
                    node = child
                    pending = 2 * pending + wp.where(late < now.clear, 1, 0)
            else:
                leaf = node - leaves
                end = leaf_start(data.mesh.tree, leaf + 1)
                for i in range(leaf_start(data.mesh.tree, leaf), end):
                    now = visit(data, now, i)
            while walking and not deeper:
                if pending == 0:
                    walking = False
                else:
                    while (pending & 1) == 0:
                        pending = pending >> 1
                        node = node >> 1
                    pending -= 1
                    node = node ^ 1
                    # What was found since may have made it too late.
                    deeper = node_time(now, data.mesh.tree.node[node], center, rise) < now.clear
        return now

    return walk


@wp.struct
class ClearScene:
    """Facets and a hull over them."""

    mesh: Triangles
    hull: Hull


@wp.func
def visit_facet(scene: ClearScene, given: Flying, facet: int):
    """One facet more."""
    return facet_clear(scene.mesh, scene.hull, given, facet)


walk_facets = time_walk(ClearScene, visit_facet)


@wp.func
def facets_clear(ground: Ground, hull: Hull, given: Flying):
    """``given`` after all facets."""
    scene = ClearScene()
    scene.mesh = ground.mesh
    scene.hull = hull
    return walk_facets(scene, given)


# -- a lander that is a ball ----------------------------------------------------------------------


@wp.func
def visit_ball(scene: ClearScene, given: Flying, facet: int):
    """One facet more, for a ball that is the lander itself, or a point."""
    mesh = scene.mesh
    v = mesh.face[facet]
    a = mesh.vertex[v[0]]
    normal = mesh.face_normal[facet]
    height = wp.dot(normal, given.x - a)
    at = nearest_on_triangle(given.x, a, mesh.vertex[v[1]], mesh.vertex[v[2]])
    way = given.x - at.point
    gap = wp.length(way)
    time = scalar(0.0)
    if height >= given.extent.radius:
        time = touch_time(given, height, normal)
    if gap > scalar(0.0) and not (at.part == 6 and height > -_DEEP * scene.hull.radius):
        time = wp.max(time, touch_time(given, gap, way / gap))
    else:
        time = wp.max(time, touch_time(given, height, normal))
    now = clear_for(given, time)
    if time * given.fast < scene.hull.radius:
        now.near = 1
    return now


walk_ball = time_walk(ClearScene, visit_ball)


@wp.func
def ball_clear(ground: Ground, hull: Hull, given: Flying):
    """``given`` after all facets; ``hull`` has nothing but a radius."""
    scene = ClearScene()
    scene.mesh = ground.mesh
    scene.hull = hull
    return walk_ball(scene, given)

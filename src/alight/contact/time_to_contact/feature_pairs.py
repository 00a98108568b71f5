"""How long pairs of features stay apart: a point and a facet, a peak and a face, two edges.

Each pair has planes between its two (see ``facets``), and stays apart for as long as the best of
them does (``bounds``). A ball about the lander has planes too, and its turning does not matter:
what it is clear of for long need not be looked at closer.
"""

import warp as wp

from alight.contact.hull.closest_points import hull_facing, nearest_on_segments
from alight.contact.hull.cones import ROUNDING, edge_below
from alight.contact.hull.feature_pairs import box_way
from alight.contact.time_to_contact.bounds import open_time, turning_open_time
from alight.core.types import mat33, quat, scalar, vec3
from alight.surfaces.facets.bvh import Extent, Node, node_axis
from alight.surfaces.facets.triangles import (
    Triangles,
    nearest_on_triangle,
)
from alight.vehicles.rigid.hull_data import HullData, HullEdge

_EVER = wp.constant(scalar(1e30))
#: On bounds of how fast rates change: in a step gravity, speeds and directions change a little. It
#: shortens steps by a fifth at most (measured on MINERVA-II-1 over Ryugu).
MARGIN = wp.constant(scalar(1.5))
#: Most that the acceleration of a corner changes by, over w^3 times its arm: the direction to the
#: axis turns, and a free body changes its rate.
_JERK = wp.constant(scalar(6.0))
#: What is below the ground by no more than this share of the lander's radius is on its way out;
#: what is deeper is seen from behind. None of 2100 random landings ended deeper.
DEEP = wp.constant(scalar(2e-2))


@wp.struct
class FreeFlight:
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
def clear_for(given: FreeFlight, time: scalar):
    """``given``, clear for no longer than ``time`` [s]."""
    now = given
    if time < given.clear:
        way = time * (given.fast + scalar(0.5) * given.hard * time)
        now.clear = time
        now.limit2 = way * way
    return now


@wp.func
def time_over(given: FreeFlight, way: scalar):
    """The least time [s] in which anything of the lander can go so far [m]."""
    root = wp.sqrt(given.fast * given.fast + scalar(2.0) * given.hard * way)
    return scalar(2.0) * way / wp.max(given.fast + root, scalar(1e-300))


@wp.func
def flying_from(
    x: vec3, q: quat, v: vec3, w: vec3, change: vec3, a: scalar, size: scalar, longest: scalar
):
    """A lander that nothing is known about: clear for ``longest`` [s] at most."""
    out = FreeFlight()
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
def ball_time(given: FreeFlight, gap: scalar, normal: vec3):
    """How long [s] the ball stays before a plane at ``gap`` [m] from its middle."""
    room = gap - given.extent.radius
    if room <= scalar(0.0):
        return scalar(0.0)
    return open_time(room, wp.dot(normal, given.v), MARGIN * given.a)


@wp.func
def node_time(given: FreeFlight, node: Node, center: vec3, rise: scalar):
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
def ball_way(mesh: Triangles, given: FreeFlight, facet: int):
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
def ball_way_time(given: FreeFlight, way: BallWay, tall: scalar, reach: scalar):
    """How long [s] the ball stays clear of a facet, and of what stands on it.

    That reaches no higher than ``tall`` [m] above its plane and no farther than ``reach`` [m].
    """
    bend = MARGIN * given.a
    room = way.height - tall - given.extent.radius
    time = scalar(0.0)
    if room > scalar(0.0):
        time = open_time(room, way.rise, bend)
    room = way.gap - reach - given.extent.radius
    if room > scalar(0.0) and time < given.clear:
        time = wp.max(time, open_time(room, way.rate, bend))
    return time


@wp.func
def touch_time(given: FreeFlight, gap: scalar, normal: vec3):
    """How long [s] a ball that is the lander itself stays before a plane; it may touch already."""
    rate = wp.dot(normal, given.v)
    return open_time(gap - given.extent.radius, rate, MARGIN * given.a)


@wp.func
def looked_at(given: FreeFlight, time: scalar):
    """Whether a ball that is clear for ``time`` [s] is not good enough."""
    return time < given.clear and time * given.fast < given.extent.radius


# -- pairs of features, in the axes of the lander -------------------------------------------------


@wp.func
def point_rate(given: FreeFlight, normal: vec3, q: vec3):
    """How fast a point of the lander moves along a direction [m/s]."""
    return wp.dot(normal, given.v_body + wp.cross(given.w, q))


@wp.func
def corner_time(given: FreeFlight, gap: scalar, normal: vec3, q: vec3):
    """How long [s] a point q of the lander stays before a plane that stands still."""
    rate = point_rate(given, normal, q)
    time = open_time(gap, rate, MARGIN * given.hard)
    centripetal = given.rate * given.rate * given.extent.radius
    if time < given.clear and centripetal > given.a:
        # It swings with the lander, whose rate changes as that of a free body.
        swing = wp.cross(given.change, q) + wp.cross(given.w, wp.cross(given.w, q))
        jerk = _JERK * given.rate * centripetal
        bend = wp.dot(normal, swing) - given.a
        time = wp.max(time, turning_open_time(gap, rate, bend, jerk))
    return time


@wp.func
def peak_time(given: FreeFlight, gap: scalar, normal: vec3, p: vec3):
    """How long [s] a point p of the ground stays before a plane of the lander, of outer normal.

    Seen from the lander it moves the other way, and is turned by Coriolis' term too.
    """
    bend = given.hard + scalar(2.0) * given.rate * wp.length(given.v)
    return open_time(gap, -point_rate(given, normal, p), MARGIN * bend)


@wp.func
def peak_on_convex(given: FreeFlight, hull: HullData, p: vec3):
    """How long [s] a point of the ground stays out of a lander without dents."""
    top = scalar(-wp.inf)
    for j in range(hull.face.shape[0]):
        top = wp.max(top, wp.dot(hull.face[j].normal, p) - hull.face[j].offset)
    time = scalar(0.0)
    if top > -DEEP * given.extent.radius:
        # On an edge of the lander two faces are as high: the one that turns away keeps it out.
        least = wp.min(top, scalar(0.0)) - ROUNDING * given.extent.radius
        for j in range(hull.face.shape[0]):
            height = wp.dot(hull.face[j].normal, p) - hull.face[j].offset
            if height >= least:
                time = wp.max(time, peak_time(given, height, hull.face[j].normal, p))
    return time


@wp.func
def peak_on_faces(given: FreeFlight, hull: HullData, p: vec3):
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
                if at.part == 6 and height > -DEEP * size:
                    normal = face.normal
                    gap = height
                time = peak_time(given, gap, normal, p)
                if height > scalar(0.0):
                    time = wp.max(time, peak_time(given, height, face.normal, p))
            least = wp.min(least, time)
    return least


@wp.func
def peak_clear(given: FreeFlight, hull: HullData, p: vec3):
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
def edges_time(
    given: FreeFlight, edge: HullEdge, p: vec3, d: vec3, up: vec3, one: vec3, other: vec3
):
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
                if not (inside and gap > -DEEP * size):
                    line = -line
                    gap = -gap
            turned = given.hard + scalar(4.0) * given.rate * given.fast / sine
            rate = point_rate(given, line, on)
            kept = open_time(gap, rate, MARGIN * turned)
            time = wp.max(
                time, wp.min(kept, scalar(0.5) * sine / wp.max(given.rate, scalar(1e-30)))
            )
    return time

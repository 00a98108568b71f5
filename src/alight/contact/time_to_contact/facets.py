"""How long a lander in flight stays clear of facets: a time within which it cannot touch any.

A facet and a plane that has it on one side and a point of the lander on the other: while the point
stays on its side, it does not touch. Planes are found for every pair that could touch in the time:

    a corner of the lander and a facet       the facet's plane; the plane across the nearest way
    a corner of the ground and the lander    planes of the lander's faces, which turn with it
    two edges                                the plane across the nearest way; the one along both

Each pair stays apart for as long as the best of its planes does (``bounds``), and the lander is
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

from alight.contact.hull.closest_points import to_segment2
from alight.contact.hull.cones import ROUNDING
from alight.contact.hull.feature_pairs import Facet, box_way, facet_in_body
from alight.contact.time_to_contact.bounds import open_time
from alight.contact.time_to_contact.feature_pairs import (
    DEEP,
    MARGIN,
    FreeFlight,
    ball_way,
    ball_way_time,
    clear_for,
    corner_time,
    edges_time,
    looked_at,
    node_time,
    peak_clear,
    touch_time,
)
from alight.core.out_of_line import out_of_line
from alight.core.types import scalar, vec3
from alight.surfaces.facets.bvh import BoxTree, ordered_walk
from alight.surfaces.facets.triangles import (
    OWN_EDGE,
    OWN_VERTEX,
    RIDGE,
    MeshGround,
    Triangles,
    nearest_on_triangle,
    pseudonormal,
)
from alight.vehicles.rigid.hull_data import HullData


@wp.func
def corners_clear(mesh: Triangles, hull: HullData, given: FreeFlight, seen: Facet, facet: int):
    """``given`` after the corners of the lander; ``near`` is 1 where the plane does not keep all.

    Where the facet's own plane keeps every corner off, nothing of the lander touches the facet.
    """
    now = given
    now.near = 0
    size = given.extent.radius
    a = seen.corner[0]
    slack = -DEEP * size
    # n . (v + w x q) = n . v + (n x w) . q
    still = wp.dot(seen.normal, given.v_body)
    turning = wp.cross(seen.normal, given.w)
    for i in range(hull.vertex.shape[0]):
        q = hull.vertex[i]
        height = wp.dot(seen.normal, q - a)
        time = scalar(0.0)
        if height > scalar(0.0):
            time = open_time(height, still + wp.dot(turning, q), MARGIN * given.hard)
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
def facet_edges_clear(mesh: Triangles, hull: HullData, given: FreeFlight, seen: Facet, facet: int):
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
def facet_clear(mesh: Triangles, hull: HullData, given: FreeFlight, facet: int):
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


@wp.func
def center_of(tree: BoxTree, given: FreeFlight):
    """The centre of the lander from the tree's origin [m]."""
    return given.extent.center - tree.origin


@wp.func
def soonest(tree: BoxTree, number: int, given: FreeFlight, center: vec3):
    """A time before which nothing that a node holds is touched [s]."""
    return node_time(given, tree.node[number], center, tree.rise)


@wp.func
def clear_until(given: FreeFlight):
    """The time that is left to be told [s]."""
    return given.clear


@functools.cache
def time_walk(Data: Any, visit: Any) -> Any:
    """A Warp function ``(data, flying) -> flying`` over all that may be touched, soonest first."""
    return ordered_walk(Data, FreeFlight, center_of, soonest, clear_until, visit)


@wp.struct
class ClearScene:
    """Facets and a hull over them."""

    mesh: Triangles
    hull: HullData


@wp.func
def visit_facet(scene: ClearScene, given: FreeFlight, facet: int):
    """One facet more."""
    return facet_clear(scene.mesh, scene.hull, given, facet)


walk_facets = time_walk(ClearScene, visit_facet)


@out_of_line
def facets_clear(ground: MeshGround, hull: HullData, given: FreeFlight):
    """``given`` after all facets."""
    scene = ClearScene()
    scene.mesh = ground.mesh
    scene.hull = hull
    return walk_facets(scene, given)


# -- a lander that is a ball ----------------------------------------------------------------------


@wp.func
def visit_ball(scene: ClearScene, given: FreeFlight, facet: int):
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
    if gap > scalar(0.0) and not (at.part == 6 and height > -DEEP * scene.hull.radius):
        time = wp.max(time, touch_time(given, gap, way / gap))
    else:
        time = wp.max(time, touch_time(given, height, normal))
    now = clear_for(given, time)
    if time * given.fast < scene.hull.radius:
        now.near = 1
    return now


walk_ball = time_walk(ClearScene, visit_ball)


@out_of_line
def ball_clear(ground: MeshGround, hull: HullData, given: FreeFlight):
    """``given`` after all facets; ``hull`` has nothing but a radius."""
    scene = ClearScene()
    scene.mesh = ground.mesh
    scene.hull = hull
    return walk_ball(scene, given)

"""Where a lander touches facets, or is about to: every contact within a margin, none of them twice.

A contact is a pair of points of lander and ground that is nearer than any other around it: the
normal points away from both surfaces wherever they continue from there. Such pairs are a corner of
the lander on the ground, a corner of the ground (a peak) on the lander, or two ridges that cross.
The conditions are loosened by the margin: on a face that is almost flat on the ground all corners
count, not just the lowest.

Gaps may be below 0, by as much as the margin: a corner that is really inside the ground counts with
the facet it is nearest to, and with others that rise from there.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.closest_points import hull_facing
from alight.contact.hull.cones import (
    ROUNDING,
    corner_inside,
    deepest_here,
    edge_below,
    highest_of_ground,
    lowest_of_hull,
    peak_inside,
    ridge_above,
)
from alight.contact.hull.contact_list import Collecting, HullContact, contact_at, kept
from alight.contact.hull.feature_pairs import (
    CORNER,
    EDGES,
    NOTHING,
    PEAK,
    Facet,
    across_both,
    box_way,
    facet_in_body,
    straight,
)
from alight.contact.hull.proximity import hull_spread, nearest, search_from
from alight.core.out_of_line import out_of_line
from alight.core.types import quat, scalar, vec3
from alight.surfaces.facets.bvh import walk_function
from alight.surfaces.facets.triangles import (
    OWN_EDGE,
    OWN_VERTEX,
    RIDGE,
    MeshGround,
    Triangles,
    nearest_on_triangle,
    pseudonormal,
)
from alight.vehicles.rigid.hull_data import HullData, HullEdge


@wp.func
def in_valley(owned: int, part: int):
    """Whether a facet rises from a part of its border: an edge that is no ridge, or two of them."""
    last = wp.where(part == 0, 2, part - 1)
    ridges = (RIDGE << part) | (RIDGE << last)
    if part > 2:
        ridges = RIDGE << (part - 3)
    return (owned & ridges) == 0


@wp.func
def touch_corners(
    mesh: Triangles,
    hull: HullData,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    seen: Facet,
    facet: int,
):
    """Corners of the lander on a facet, its edges and its corners."""
    now = given
    search = given.search
    margin = given.margin
    a = seen.corner[0]
    for i in range(hull.vertex.shape[0]):
        q = hull.vertex[i]
        height = wp.dot(seen.normal, q - a)
        if wp.abs(height) < margin:
            at = nearest_on_triangle(q, a, seen.corner[1], seen.corner[2])
            way = q - at.point
            gap = wp.length(way)
            normal = seen.normal
            good = gap < margin
            place = search.x + search.turn * q
            if good and (at.part == 6 or straight(way, height, hull.radius)):
                gap = height
                good = lowest_of_hull(hull, i, normal, margin)
                if good and height < -ROUNDING * hull.radius:  # not on it, to rounding
                    good = corner_inside(mesh, facet, place, margin)
            elif good:
                up = wp.transpose(search.turn) * pseudonormal(mesh, facet, at.part)
                normal = wp.normalize(up)
                if gap > ROUNDING * hull.radius:
                    normal = way / gap
                if wp.dot(normal, up) < scalar(0.0):
                    # Inside, below the edge of a valley: each of its sides counts by itself.
                    good = height < scalar(0.0) and deepest_here(mesh, facet, place, gap)
                    normal = seen.normal
                    gap = height
                elif height > scalar(0.0) and in_valley(seen.owned, at.part):
                    # Beside it, over the other side: this side rises ahead.
                    normal = seen.normal
                    gap = height
                elif at.part < 3:
                    good = (
                        highest_of_ground(mesh, facet, at.part, search.turn * normal, scalar(0.0))
                        > 0
                    )
                else:
                    good = ridge_above(mesh, facet, at.part - 3, search.turn * normal, ROUNDING)
                good = good and lowest_of_hull(hull, i, normal, margin)
            if good:
                new = contact_at(search, q, normal, gap, facet)
                new.kind = CORNER
                new.feature = i
                now = kept(found, now, new, hull)
    return now


@wp.struct
class FeaturePair:
    """What one feature of the ground and one of the lander make, in the axes of the lander."""

    good: wp.bool  # whether the lander's feature goes up from there
    gap: scalar  # [m]
    normal: vec3
    on: vec3  # point of the lander [m]


@wp.func
def peak_pair(hull: HullData, j: int, p: vec3, margin: scalar):
    """A corner p of the ground with face j of the lander, or with an edge of that face."""
    pair = FeaturePair()
    face = hull.face[j]
    height = wp.dot(face.normal, p) - face.offset
    if wp.abs(height) < margin:
        at = nearest_on_triangle(p, face.corner[0], face.corner[1], face.corner[2])
        way = at.point - p
        pair.gap = wp.length(way)
        pair.normal = -face.normal
        pair.good = pair.gap < margin and at.part > 2  # corner on corner is found with corners
        if pair.good and (at.part == 6 or straight(way, height, hull.radius)):
            pair.gap = height
            pair.good = height >= -ROUNDING * hull.radius or peak_inside(hull, j, p)
        elif pair.good:
            up = -hull_facing(hull, face, at.part)
            pair.normal = wp.normalize(up)
            if pair.gap > ROUNDING * hull.radius:
                pair.normal = way / pair.gap
            edge = hull.edge[face.edge[at.part - 3]]
            above = wp.dot(pair.normal, up) > scalar(0.0)
            pair.good = above and edge_below(edge, pair.normal, margin)
        pair.on = p + pair.gap * pair.normal
    return pair


@wp.func
def edge_pair(edge: HullEdge, p: vec3, d: vec3, up: vec3, margin: scalar):
    """The edge from p along d of the ground, whose outer side ``up`` tells, with one of the lander.

    Both points lie on a common normal, which is solved for the shares of the two lengths.
    """
    zero = scalar(0.0)
    one = scalar(1.0)
    pair = FeaturePair()
    pair.normal = across_both(d, edge.along)
    if wp.dot(pair.normal, up) < zero:
        pair.normal = -pair.normal
    way = edge.start - p
    pair.gap = wp.dot(pair.normal, way)
    if wp.abs(pair.gap) < margin and wp.dot(pair.normal, up) > zero:
        c = wp.cross(d, edge.along)
        per = one / wp.dot(c, c)
        s = wp.dot(wp.cross(way, edge.along), c) * per
        t = wp.dot(wp.cross(way, d), c) * per
        crossing = s > zero and s < one and t > zero and t < one
        pair.good = crossing and edge_below(edge, pair.normal, margin)
        pair.on = edge.start + t * edge.along
    return pair


@wp.func
def touch_peaks(
    mesh: Triangles,
    hull: HullData,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    seen: Facet,
    facet: int,
):
    """Corners of the ground that a facet answers for, on faces and edges of the lander."""
    now = given
    search = given.search
    margin = given.margin
    k = int(0)
    while k < 3:
        p = seen.corner[k]
        near = box_way(hull, p, p)
        if (seen.owned & (OWN_VERTEX << k)) != 0 and wp.dot(near, near) < margin * margin:
            for j in range(hull.face.shape[0]):
                pair = peak_pair(hull, j, p, margin)
                # A flat spot of the ground is no peak.
                if (
                    pair.good
                    and highest_of_ground(mesh, facet, k, search.turn * pair.normal, margin) > 1
                ):
                    new = contact_at(search, pair.on, pair.normal, pair.gap, facet)
                    new.kind = PEAK
                    new.feature = j
                    now = kept(found, now, new, hull)
        k += 1
    return now


@wp.func
def touch_edges(
    mesh: Triangles,
    hull: HullData,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    seen: Facet,
    facet: int,
):
    """Ridges that a facet answers for, across those of the lander."""
    now = given
    search = given.search
    margin = given.margin
    allowed = ROUNDING + margin / hull.radius
    k = int(0)
    while k < 3:
        own = (OWN_EDGE | RIDGE) << k
        p = seen.corner[k]
        q = seen.corner[wp.where(k == 2, 0, k + 1)]
        near = box_way(hull, wp.min(p, q), wp.max(p, q))
        if (seen.owned & own) == own and wp.dot(near, near) < margin * margin:
            d = q - p
            up = wp.transpose(search.turn) * pseudonormal(mesh, facet, 3 + k)
            for j in range(hull.ridges):
                pair = edge_pair(hull.edge[j], p, d, up, margin)
                if pair.good and ridge_above(mesh, facet, k, search.turn * pair.normal, allowed):
                    new = contact_at(search, pair.on, pair.normal, pair.gap, facet)
                    new.kind = EDGES
                    new.feature = j
                    now = kept(found, now, new, hull)
        k += 1
    return now


@wp.func
def touch_facet(
    mesh: Triangles,
    hull: HullData,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    facet: int,
):
    """``given`` with the contacts of one facet."""
    search = given.search
    seen = facet_in_body(mesh, facet, search.x, search.turn)
    low = wp.min(wp.min(seen.corner[0], seen.corner[1]), seen.corner[2])
    high = wp.max(wp.max(seen.corner[0], seen.corner[1]), seen.corner[2])
    way = box_way(hull, low, high)
    now = given
    if wp.dot(way, way) < given.limit2:
        now = touch_corners(mesh, hull, found, now, seen, facet)
        now = touch_peaks(mesh, hull, found, now, seen, facet)
        now = touch_edges(mesh, hull, found, now, seen, facet)
    return now


@wp.func
def spread_of(given: Collecting, axis: vec3):
    """How far the hull's box reaches along an axis from its centre [m]."""
    return hull_spread(given.search, axis)


@wp.func
def bare(
    ground: MeshGround,
    hull: HullData,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    facet: int,
):
    """Nothing stands on a facet."""
    return given


@functools.cache
def contacts_function(GroundData: Any, stands_on: Any, nearest: Any) -> Any:
    """A Warp function ``(ground, hull, position, attitude, margin, found, slot) -> count``.

    It writes contacts to ``found[0, slot]`` and on, at most ``MOST``. ``GroundData`` is a struct
    with a mesh of facets as ``ground.mesh``; after each facet, ``stands_on(ground, hull, found,
    given, facet) -> given`` adds the contacts with what stands on it. ``nearest`` is the function
    of ``proximity`` for the same ground: where two corners meet in a saddle, no direction leads
    away from both surfaces, and the pair that is nearest stands in.
    """

    @wp.struct
    class ContactScene:
        mesh: Triangles
        ground: GroundData
        hull: HullData
        found: wp.array2d(dtype=HullContact)

    @wp.func
    def visit(scene: ContactScene, given: Collecting, facet: int):
        now = touch_facet(scene.mesh, scene.hull, scene.found, given, facet)
        return stands_on(scene.ground, scene.hull, scene.found, now, facet)

    walk = walk_function(ContactScene, Collecting, spread_of, visit)

    @out_of_line
    def contacts(
        ground: GroundData,
        hull: HullData,
        position: vec3,
        attitude: quat,
        margin: scalar,
        found: wp.array2d(dtype=HullContact),
        slot: int,
    ):
        scene = ContactScene()
        scene.mesh = ground.mesh
        scene.ground = ground
        scene.hull = hull
        scene.found = found
        given = Collecting()
        given.search = search_from(hull, position, attitude, margin)
        given.extent = given.search.extent
        given.limit2 = margin * margin
        given.margin = margin
        given.slot = slot
        given = walk(scene, given)
        if given.count == 0:
            near = nearest(ground, hull, position, attitude, margin)
            if near.kind != NOTHING:
                only = HullContact()
                only.point = near.on_lander
                only.normal = near.normal
                only.gap = near.distance
                only.kind = near.kind
                only.facet = near.facet
                only.feature = near.feature
                found[0, slot] = only
                given.count = 1
        return given.count

    return contacts


#: Of facets with nothing on them.
contacts = contacts_function(MeshGround, bare, nearest)

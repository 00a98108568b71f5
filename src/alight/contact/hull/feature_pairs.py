"""Pairs of a lander's and a facet's features: which is nearest, and whether they cut each other.

All of this is done in the axes of the lander, where its hull stands still.
"""

import warp as wp

from alight.contact.hull.closest_points import cuts, nearest_on_segments, to_segment2
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.facets.bvh import Extent
from alight.surfaces.facets.triangles import (
    OWN_EDGE,
    OWN_VERTEX,
    RIDGE,
    Triangles,
    nearest_on_triangle,
)
from alight.vehicles.rigid.hull_data import HullData

#: What is nearest: nothing within reach; a corner of the lander on the ground; edge on edge; a
#: corner of the ground on the lander; a ball on the ground.
NOTHING, CORNER, EDGES, PEAK, BALL = -1, 0, 1, 2, 3
KINDS = {NOTHING: "nothing", CORNER: "corner", EDGES: "edges", PEAK: "peak", BALL: "ball"}

#: Points that are beside the inside of a face by no more than this share of the hull's radius count
#: as over it.
_ASIDE = wp.constant(scalar(1e-10))


@wp.struct
class Facet:
    """A facet of the ground in the axes of the lander [m]."""

    corner: mat33
    normal: vec3
    owned: int


@wp.struct
class Search:
    """Where the lander is, and the best pair found so far, in its axes."""

    extent: Extent
    limit2: scalar  # square of the distance [m^2]
    x: vec3
    turn: mat33  # from body axes to target axes
    arms: mat33  # rows: half sides of the hull's box, in target axes
    on_ground: vec3
    on_lander: vec3
    line: vec3  # unit vector along the way; 0 where the two points must tell it
    kind: int
    facet: int
    part: int
    feature: int
    hull_part: int  # of a face: as ``part``
    overlap: int


@wp.func
def facet_in_body(mesh: Triangles, facet: int, x: vec3, turn: mat33):
    """A facet as the lander sees it."""
    v = mesh.face[facet]
    back = wp.transpose(turn)
    seen = Facet()
    a = back * (mesh.vertex[v[0]] - x)
    b = back * (mesh.vertex[v[1]] - x)
    c = back * (mesh.vertex[v[2]] - x)
    seen.corner = wp.matrix_from_rows(a, b, c)
    seen.normal = back * mesh.face_normal[facet]
    seen.owned = int(mesh.owned[facet])
    return seen


@wp.func
def box_way(hull: HullData, low: vec3, high: vec3):
    """The way from the hull's box to another along each axis [m]; 0 where they overlap."""
    a = low - hull.center - hull.half
    b = hull.center - hull.half - high
    return wp.max(wp.max(a, b), vec3())


@wp.func
def straight(way: vec3, height: scalar, radius: scalar):
    """Whether a way runs along the normal of a face but for rounding: at flat edges it does."""
    aside = _ASIDE * radius
    return wp.dot(way, way) - height * height <= aside * aside


@wp.func
def corners_on_facet(hull: HullData, search: Search, seen: Facet, facet: int):
    """Corners of the lander over a facet."""
    now = search
    a = seen.corner[0]
    for i in range(hull.vertex.shape[0]):
        q = hull.vertex[i]
        height = wp.dot(seen.normal, q - a)
        if height * height < now.limit2:
            found = nearest_on_triangle(q, a, seen.corner[1], seen.corner[2])
            way = q - found.point
            if wp.dot(way, way) < now.limit2:
                now.limit2 = wp.dot(way, way)
                now.on_ground = found.point
                now.on_lander = q
                over = found.part == 6 or straight(way, height, hull.radius)
                now.line = wp.where(over, seen.normal, vec3())
                now.kind = CORNER
                now.facet = facet
                now.part = found.part
                now.feature = i
    return now


@wp.func
def peaks_on_faces(hull: HullData, search: Search, seen: Facet, facet: int):
    """The corners that a facet answers for, under the faces of the lander."""
    now = search
    k = int(0)
    while k < 3:
        p = seen.corner[k]
        way = box_way(hull, p, p)
        if (seen.owned & (OWN_VERTEX << k)) != 0 and wp.dot(way, way) < now.limit2:
            for j in range(hull.face.shape[0]):
                face = hull.face[j]
                height = wp.dot(face.normal, p) - face.offset
                if height * height < now.limit2:
                    found = nearest_on_triangle(p, face.corner[0], face.corner[1], face.corner[2])
                    gap = found.point - p
                    if wp.dot(gap, gap) < now.limit2:
                        now.limit2 = wp.dot(gap, gap)
                        now.on_ground = p
                        now.on_lander = found.point
                        over = found.part == 6 or straight(gap, height, hull.radius)
                        now.line = wp.where(over, -face.normal, vec3())
                        now.kind = PEAK
                        now.facet = facet
                        now.part = k
                        now.feature = j
                        now.hull_part = found.part
        k += 1
    return now


@wp.func
def edges_on_edges(hull: HullData, search: Search, seen: Facet, facet: int):
    """The ridges that a facet answers for, and those of the lander."""
    zero = scalar(0.0)
    one = scalar(1.0)
    now = search
    k = int(0)
    while k < 3:
        own = (OWN_EDGE | RIDGE) << k
        if (seen.owned & own) == own:
            p = seen.corner[k]
            d = seen.corner[wp.where(k == 2, 0, k + 1)] - p
            per_length2 = one / wp.dot(d, d)
            reach = wp.sqrt(now.limit2)
            ball = reach + hull.radius
            if to_segment2(hull.center, p, d, per_length2) < ball * ball:
                for j in range(hull.ridges):
                    edge = hull.edge[j]
                    ball = reach + edge.half
                    if to_segment2(edge.middle, p, d, per_length2) < ball * ball:
                        at = nearest_on_segments(p, d, edge.start, edge.along)
                        below = p + at.s * d
                        above = edge.start + at.t * edge.along
                        gap = above - below
                        if wp.dot(gap, gap) < now.limit2:
                            now.limit2 = wp.dot(gap, gap)
                            reach = wp.sqrt(now.limit2)
                            now.on_ground = below
                            now.on_lander = above
                            inner = at.s > zero and at.s < one and at.t > zero and at.t < one
                            now.line = wp.where(inner, across_both(d, edge.along), vec3())
                            now.kind = EDGES
                            now.facet = facet
                            now.part = 3 + k
                            now.feature = j
        k += 1
    return now


@wp.func
def across_both(d: vec3, other: vec3):
    """The unit vector across two directions, 0 where they are nearly parallel."""
    n = wp.cross(d, other)
    square = wp.dot(n, n)
    found = vec3()
    if square > scalar(1e-12) * wp.dot(d, d) * wp.dot(other, other):
        found = n / wp.sqrt(square)
    return found


@wp.func
def goes_through(hull: HullData, seen: Facet):
    """Whether an edge of the lander cuts the facet, or an edge of the facet the lander."""
    a = seen.corner[0]
    b = seen.corner[1]
    c = seen.corner[2]
    through = bool(False)
    for j in range(hull.bends):
        edge = hull.edge[j]
        through = through or cuts(edge.start, edge.along, a, b, c, seen.normal)
    k = int(0)
    while k < 3 and not through:
        p = seen.corner[k]
        q = seen.corner[wp.where(k == 2, 0, k + 1)]
        way = box_way(hull, wp.min(p, q), wp.max(p, q))
        if wp.dot(way, way) == scalar(0.0):
            for j in range(hull.face.shape[0]):
                face = hull.face[j]
                t = face.corner
                through = through or cuts(p, q - p, t[0], t[1], t[2], face.normal)
        k += 1
    return through


@wp.func
def meet_facet(hull: HullData, search: Search, seen: Facet, facet: int):
    """The best pair after a facet, given in the axes of the lander, was looked at."""
    low = wp.min(wp.min(seen.corner[0], seen.corner[1]), seen.corner[2])
    high = wp.max(wp.max(seen.corner[0], seen.corner[1]), seen.corner[2])
    way = box_way(hull, low, high)
    now = search
    if wp.dot(way, way) < now.limit2:
        height = wp.dot(seen.normal, hull.center - seen.corner[0])
        off = wp.max(wp.abs(height) - wp.dot(wp.abs(seen.normal), hull.half), scalar(0.0))
        if off * off < now.limit2:
            now = corners_on_facet(hull, now, seen, facet)
            now = peaks_on_faces(hull, now, seen, facet)
            now = edges_on_edges(hull, now, seen, facet)
            inside = off == scalar(0.0) and wp.dot(way, way) == scalar(0.0)
            if inside and now.overlap == 0 and goes_through(hull, seen):
                now.overlap = 1
    return now

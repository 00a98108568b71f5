"""Closest points of small things: two segments, a point and the faces of a hull, a cut through."""

import warp as wp

from alight.core.types import scalar, vec3
from alight.surfaces.facets.triangles import nearest_on_triangle
from alight.vehicles.rigid.hull_data import HullData, HullFace

#: Squared sine of the angle under which two edges count as parallel.
_PARALLEL = wp.constant(scalar(1e-14))


@wp.struct
class SegmentPair:
    """Where two segments are nearest: shares of their lengths, from 0 to 1."""

    s: scalar
    t: scalar


@wp.func
def nearest_on_segments(p: vec3, d: vec3, q: vec3, along: vec3):
    """The closest p + s d and q + t along (Ericson, Real-Time Collision Detection, 5.1.9)."""
    zero = scalar(0.0)
    one = scalar(1.0)
    r = p - q
    a = wp.dot(d, d)
    b = wp.dot(d, along)
    c = wp.dot(d, r)
    g = wp.dot(along, along)
    f = wp.dot(along, r)
    found = SegmentPair()
    denominator = a * g - b * b
    s = scalar(0.0)
    if denominator > _PARALLEL * a * g:
        s = wp.clamp((b * f - c * g) / denominator, zero, one)
    t = (b * s + f) / g
    if t < zero:
        t = zero
        s = wp.clamp(-c / a, zero, one)
    elif t > one:
        t = one
        s = wp.clamp((b - c) / a, zero, one)
    found.s = s
    found.t = t
    return found


@wp.func
def to_segment2(x: vec3, p: vec3, d: vec3, per_length2: scalar):
    """Squared distance from x to the segment p + s d."""
    r = x - p
    r -= wp.clamp(wp.dot(r, d) * per_length2, scalar(0.0), scalar(1.0)) * d
    return wp.dot(r, r)


@wp.func
def cuts(p: vec3, d: vec3, a: vec3, b: vec3, c: vec3, n: vec3):
    """Whether the segment from p along d goes through the triangle abc with normal n."""
    before = wp.dot(n, p - a)
    after = before + wp.dot(n, d)
    through = bool(False)
    if before * after < scalar(0.0):
        x = p + (before / (before - after)) * d
        through = (
            wp.dot(n, wp.cross(b - a, x - a)) >= scalar(0.0)
            and wp.dot(n, wp.cross(c - b, x - b)) >= scalar(0.0)
            and wp.dot(n, wp.cross(a - c, x - c)) >= scalar(0.0)
        )
    return through


@wp.func
def hull_facing(hull: HullData, face: HullFace, part: int):
    """The normal, not of unit length, that tells the side of what is nearest to a face's part."""
    normal = face.normal
    if part < 3:
        normal = hull.vertex_normal[face.vertex[part]]
    elif part < 6:
        normal = hull.edge[face.edge[part - 3]].normal
    return normal


@wp.struct
class OnHull:
    """The face of a hull nearest to a point, and the distance, negative inside [m]."""

    face: int
    distance: scalar


@wp.func
def nearest_on_hull(hull: HullData, p: vec3):
    """By looking at every face."""
    found = OnHull()
    best = scalar(wp.inf)
    for j in range(hull.face.shape[0]):
        face = hull.face[j]
        at = nearest_on_triangle(p, face.corner[0], face.corner[1], face.corner[2])
        d = p - at.point
        if wp.dot(d, d) < best:
            best = wp.dot(d, d)
            found.face = j
            found.distance = wp.sqrt(best)
            if wp.dot(d, hull_facing(hull, face, at.part)) < scalar(0.0):
                found.distance = -found.distance
    return found

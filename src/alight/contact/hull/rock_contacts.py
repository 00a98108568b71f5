"""Where a lander's hull touches one rock: corners on it, its corners under faces, edge on edge.

A rock is convex, so the nearest point of it to a corner of the lander is a contact by itself, and a
plane through one of its corners or edges touches it alone if no other corner is above the plane.
All of this is done in the axes of the lander.
"""

import warp as wp

from alight.contact.hull.cones import lowest_of_hull
from alight.contact.hull.contact_list import Collecting, HullContact, contact_at, kept
from alight.contact.hull.facet_contacts import edge_pair, peak_pair
from alight.contact.hull.feature_pairs import CORNER, EDGES, PEAK, box_way
from alight.core.out_of_line import out_of_line
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.facets.triangles import OWN_EDGE, nearest_on_triangle
from alight.surfaces.rocks.kernel import Corners, Rock
from alight.surfaces.rocks.shapes import FACES, VERTICES, owned
from alight.vehicles.rigid.hull_data import HullData

_FACES = wp.constant(FACES)
_VERTICES = wp.constant(VERTICES)

_Bits = wp.types.vector(length=FACES, dtype=int)
#: Of each face, the vertices and edges that it answers for, and ridges: all edges are.
OWNED = wp.constant(_Bits(*owned()))


@wp.func
def rock_in_body(rock: Rock, x: vec3, turn: mat33):
    """The corners of a rock as the lander sees them (rows) [m]."""
    back = wp.transpose(turn)
    seen = Corners()
    for i in range(_VERTICES):
        p = back * (rock.corner[i] - x)
        seen[i, 0] = p[0]
        seen[i, 1] = p[1]
        seen[i, 2] = p[2]
    return seen


#: Rows: outer normal of each face of a rock, and normal . x on it [m], in the axes of the lander.
Planes = wp.types.matrix(shape=(FACES, 4), dtype=scalar)


@wp.func
def planes_of(face: wp.array(dtype=wp.vec3i), seen: Corners):
    """The planes of a rock's faces."""
    out = Planes()
    f = int(0)
    while f < _FACES:
        v = face[f]
        a = seen[v[0]]
        n = wp.normalize(wp.cross(seen[v[1]] - a, seen[v[2]] - a))
        out[f, 0] = n[0]
        out[f, 1] = n[1]
        out[f, 2] = n[2]
        out[f, 3] = wp.dot(n, a)
        f += 1
    return out


@wp.func
def plane_normal(planes: Planes, f: int):
    """The normal of one."""
    return vec3(planes[f, 0], planes[f, 1], planes[f, 2])


@wp.func
def highest(seen: Corners, normal: vec3):
    """How high a rock reaches along a direction [m]."""
    top = scalar(-wp.inf)
    for i in range(_VERTICES):
        top = wp.max(top, wp.dot(normal, seen[i]))
    return top


@wp.struct
class OnRock:
    """The point of a rock nearest to another; the gap is negative inside [m]."""

    gap: scalar
    normal: vec3


@wp.func
def nearest_on_rock(
    face: wp.array(dtype=wp.vec3i), seen: Corners, planes: Planes, q: vec3, margin: scalar
):
    """From q; the gap is some number above the margin where it is more than that."""
    zero = scalar(0.0)
    out = OnRock()
    out.gap = scalar(-wp.inf)
    top = int(0)
    f = int(0)
    while f < _FACES and out.gap < margin:
        height = wp.dot(plane_normal(planes, f), q) - planes[f, 3]
        if height > out.gap:
            out.gap = height
            top = f
        f += 1
    out.normal = plane_normal(planes, top)
    if out.gap > zero and out.gap < margin:
        v = face[top]
        at = nearest_on_triangle(q, seen[v[0]], seen[v[1]], seen[v[2]])
        if at.part != 6:
            best = scalar(wp.inf)
            f = int(0)
            while f < _FACES:
                v = face[f]
                at = nearest_on_triangle(q, seen[v[0]], seen[v[1]], seen[v[2]])
                way = q - at.point
                if wp.dot(way, way) < best:
                    best = wp.dot(way, way)
                    if best > zero:
                        out.normal = way / wp.sqrt(best)
                f += 1
            out.gap = wp.sqrt(best)
    return out


@wp.func
def far_over(hull: HullData, planes: Planes, margin: scalar):
    """Whether all of the lander is over the plane of one face by the margin: no contact is left."""
    far = bool(False)
    f = int(0)
    while f < _FACES and not far:
        n = plane_normal(planes, f)
        floor = planes[f, 3] + margin
        far = wp.dot(n, hull.center) > floor
        i = int(0)
        while far and i < hull.vertex.shape[0]:
            far = wp.dot(n, hull.vertex[i]) > floor
            i += 1
        f += 1
    return far


@wp.func
def corners_on_rock(
    hull: HullData,
    face: wp.array(dtype=wp.vec3i),
    seen: Corners,
    planes: Planes,
    center: vec3,
    radius: scalar,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    name: int,
):
    """Corners of the lander on a rock in a ball of ``radius`` about ``center``."""
    now = given
    reach = radius + given.margin
    for i in range(hull.vertex.shape[0]):
        q = hull.vertex[i]
        if wp.dot(q - center, q - center) < reach * reach:
            at = nearest_on_rock(face, seen, planes, q, given.margin)
            near = at.gap < given.margin and at.gap > -given.margin
            if near and lowest_of_hull(hull, i, at.normal, given.margin):
                new = contact_at(given.search, q, at.normal, at.gap, name)
                new.kind = CORNER
                new.feature = i
                now = kept(found, now, new, hull)
    return now


@wp.func
def rock_under_faces(
    hull: HullData,
    seen: Corners,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    name: int,
):
    """Corners of a rock under faces and edges of the lander."""
    now = given
    margin = given.margin
    k = int(0)
    while k < _VERTICES:  # not ``for``: Warp would write it out twelve times
        p = vec3(seen[k, 0], seen[k, 1], seen[k, 2])
        near = box_way(hull, p, p)
        if wp.dot(near, near) < margin * margin:
            for j in range(hull.face.shape[0]):
                pair = peak_pair(hull, j, p, margin)
                if pair.good and highest(seen, pair.normal) <= wp.dot(pair.normal, p) + margin:
                    new = contact_at(given.search, pair.on, pair.normal, pair.gap, name)
                    new.kind = PEAK
                    new.feature = j
                    now = kept(found, now, new, hull)
        k += 1
    return now


@wp.func
def edges_on_rock(
    hull: HullData,
    face: wp.array(dtype=wp.vec3i),
    seen: Corners,
    center: vec3,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
    name: int,
):
    """Edges of a rock across those of the lander."""
    now = given
    margin = given.margin
    own = OWNED
    for f in range(_FACES):
        v = face[f]
        k = int(0)
        while k < 3:
            if (own[f] & (OWN_EDGE << k)) != 0:
                p = seen[v[k]]
                q = seen[v[wp.where(k == 2, 0, k + 1)]]
                near = box_way(hull, wp.min(p, q), wp.max(p, q))
                if wp.dot(near, near) < margin * margin:
                    d = q - p
                    up = scalar(0.5) * (p + q) - center
                    for j in range(hull.ridges):
                        pair = edge_pair(hull.edge[j], p, d, up, margin)
                        top = wp.dot(pair.normal, p) + margin
                        if pair.good and highest(seen, pair.normal) <= top:
                            new = contact_at(given.search, pair.on, pair.normal, pair.gap, name)
                            new.kind = EDGES
                            new.feature = j
                            now = kept(found, now, new, hull)
            k += 1
    return now


@out_of_line
def touch_rock(
    hull: HullData,
    face: wp.array(dtype=wp.vec3i),
    rock: Rock,
    found: wp.array2d(dtype=HullContact),
    given: Collecting,
):
    """``given`` with the contacts of one rock. It goes by a name below that of any facet."""
    search = given.search
    seen = rock_in_body(rock, search.x, search.turn)
    low = wp.transpose(search.turn) * (rock.center - search.x)
    ball = vec3(rock.radius, rock.radius, rock.radius)
    near = box_way(hull, low - ball, low + ball)
    now = given
    if wp.dot(near, near) < given.limit2:
        mixed = ((rock.facet * 31 + rock.octave) * 31 + rock.cell) * 31 + rock.index
        name = -2 - (mixed & 0x3FFFFFFF)
        planes = planes_of(face, seen)
        if not far_over(hull, planes, given.margin):
            now = corners_on_rock(hull, face, seen, planes, low, rock.radius, found, now, name)
            now = rock_under_faces(hull, seen, found, now, name)
            now = edges_on_rock(hull, face, seen, low, found, now, name)
    return now

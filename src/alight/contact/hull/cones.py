"""Which way the surfaces of lander and ground continue from a corner or an edge.

A pair of points is a smallest distance where the normal points away from both surfaces wherever
they continue. For a face that is so by itself; at an edge its two faces tell, at a corner its
edges.
"""

import warp as wp

from alight.contact.hull.closest_points import nearest_on_hull
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.facets.triangles import Triangles, nearest_face, signed_distance
from alight.vehicles.rigid.hull_data import HullData, HullEdge

#: Angles [rad] and shares of lengths below this are rounding.
ROUNDING = wp.constant(scalar(1e-9))


@wp.func
def lowest_of_hull(hull: HullData, i: int, normal: vec3, margin: scalar):
    """Whether no edge of the hull leads down from a corner by more than the margin."""
    lowest = bool(True)
    v = hull.vertex[i]
    for k in range(hull.ring_start[i], hull.ring_start[i + 1]):
        along = hull.vertex[hull.ring[k]] - v
        if wp.dot(along, normal) < -margin - ROUNDING * wp.length(along):
            lowest = False
    return lowest


@wp.func
def edge_below(edge: HullEdge, normal: vec3, margin: scalar):
    """Whether neither face of an edge of the hull leads down from it."""
    allowed = -(ROUNDING + margin / edge.half)
    return wp.dot(edge.into_one, normal) >= allowed and wp.dot(edge.into_other, normal) >= allowed


@wp.func
def highest_of_ground(mesh: Triangles, facet: int, corner: int, normal: vec3, margin: scalar):
    """1 where no edge of the ground leads up from a corner of a facet by more than the margin,
    2 where one of them leads down too; ``normal`` in target axes."""
    v = mesh.face[facet][corner]
    place = mesh.vertex[v]
    verdict = int(1)
    now = facet
    k = corner
    turning = bool(True)
    while turning:
        along = mesh.vertex[mesh.face[now][wp.where(k == 2, 0, k + 1)]] - place
        rise = wp.dot(along, normal)
        length = wp.length(along)
        if rise > margin + ROUNDING * length:
            verdict = 0
        elif rise < -ROUNDING * length and verdict == 1:
            verdict = 2
        # Over the edge that ends at the vertex, to the next facet around it.
        now = mesh.across[now][wp.where(k == 0, 2, k - 1)]
        face = mesh.face[now]
        k = wp.where(face[0] == v, 0, wp.where(face[1] == v, 1, 2))
        turning = verdict != 0 and now != facet
    return verdict


@wp.func
def ridge_above(mesh: Triangles, facet: int, k: int, normal: vec3, allowed: scalar):
    """Whether neither facet of an edge of the ground leads up from it, beyond an angle [rad]."""
    face = mesh.face[facet]
    start = mesh.vertex[face[k]]
    along = wp.normalize(mesh.vertex[face[wp.where(k == 2, 0, k + 1)]] - start)
    one = wp.cross(mesh.face_normal[facet], along)
    other = wp.cross(along, mesh.face_normal[mesh.across[facet][k]])
    return wp.dot(one, normal) <= allowed and wp.dot(other, normal) <= allowed


@wp.func
def rises_from(corner: mat33, origin: vec3, normal: vec3):
    """Whether a triangle's middle lies above the plane through ``origin`` with ``normal``."""
    middle = (corner[0] + corner[1] + corner[2]) / scalar(3.0)
    return wp.dot(middle - origin, normal) > scalar(0.0)


@wp.func
def corner_inside(mesh: Triangles, facet: int, x: vec3, margin: scalar):
    """Whether x is inside the ground, nearest to ``facet`` or to one that rises from there."""
    near = nearest_face(mesh, x, facet, scalar(2.0) * margin)
    inside = bool(False)
    if near >= 0 and signed_distance(mesh, near, x) < scalar(0.0):
        v = mesh.face[near]
        corner = wp.matrix_from_rows(mesh.vertex[v[0]], mesh.vertex[v[1]], mesh.vertex[v[2]])
        origin = mesh.vertex[mesh.face[facet][0]]
        inside = near == facet or rises_from(corner, origin, mesh.face_normal[facet])
    return inside


@wp.func
def deepest_here(mesh: Triangles, facet: int, x: vec3, depth: scalar):
    """Whether x is inside the ground by ``depth`` [m], to rounding."""
    near = nearest_face(mesh, x, facet, scalar(2.0) * depth)
    here = scalar(0.0)
    if near >= 0:
        here = -signed_distance(mesh, near, x)
    return here > scalar(0.0) and here >= depth * (scalar(1.0) - ROUNDING)


@wp.func
def peak_inside(hull: HullData, j: int, p: vec3):
    """Whether p is inside the hull, nearest to face j or to one that rises from there."""
    near = nearest_on_hull(hull, p)
    face = hull.face[j]
    rises = rises_from(hull.face[near.face].corner, face.corner[0], face.normal)
    return near.distance < scalar(0.0) and (near.face == j or rises)

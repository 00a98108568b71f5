"""Exact signed distance to a closed mesh: a tree of boxes, nearest triangle, pseudonormal.

Distances are in double precision. The sign comes from the feature that is nearest: a facet's
normal, the sum of two facets' normals at an edge, and the normals weighted by corner angle at a
vertex tell inside from outside for any closed mesh (Baerentzen and Aanaes, 2005).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.shapes.mesh import Mesh
from alight.surfaces.facets import bvh
from alight.surfaces.facets.bvh import BoxTree, Extent, walk_function

#: Bits of ``Triangles.owned``: the facet that answers for corner 0, 1, 2; for edge 01, 12, 20; and
#: which of these edges bend outward.
OWN_VERTEX, OWN_EDGE, RIDGE = 1, 8, 64

#: Sine of the angle by which an edge must bend outward to count: less is flat to rounding.
FLAT = 1e-12


@wp.struct
class Triangles:
    """A mesh sorted as the leaves of a tree of boxes."""

    tree: BoxTree
    vertex: wp.array(dtype=vec3)
    vertex_normal: wp.array(dtype=vec3)
    face: wp.array(dtype=wp.vec3i)
    face_normal: wp.array(dtype=vec3)
    across: wp.array(dtype=wp.vec3i)  # the facet on the other side of edges 01, 12, 20
    owned: wp.array(dtype=wp.int16)  # which of its corners and edges a facet answers for


@wp.struct
class Feature:
    """The point of a triangle nearest to another: where, and on which part.

    ``part`` is 0, 1, 2 at a vertex, 3, 4, 5 on the edge after it, 6 on the facet.
    """

    point: vec3
    part: int


@wp.func
def nearest_on_triangle(x: vec3, a: vec3, b: vec3, c: vec3):
    """The nearest point by Voronoi regions (Ericson, Real-Time Collision Detection, 5.1.5)."""
    zero = scalar(0.0)
    ab = b - a
    ac = c - a
    ax = x - a
    d1 = wp.dot(ab, ax)
    d2 = wp.dot(ac, ax)
    bx = x - b
    d3 = wp.dot(ab, bx)
    d4 = wp.dot(ac, bx)
    cx = x - c
    d5 = wp.dot(ab, cx)
    d6 = wp.dot(ac, cx)
    vc = d1 * d4 - d3 * d2
    vb = d5 * d2 - d1 * d6
    va = d3 * d6 - d5 * d4
    found = Feature()
    if d1 <= zero and d2 <= zero:
        found.point = a
        found.part = 0
    elif d3 >= zero and d4 <= d3:
        found.point = b
        found.part = 1
    elif d6 >= zero and d5 <= d6:
        found.point = c
        found.part = 2
    elif vc <= zero and d1 >= zero and d3 <= zero:
        found.point = a + (d1 / (d1 - d3)) * ab
        found.part = 3
    elif vb <= zero and d2 >= zero and d6 <= zero:
        found.point = a + (d2 / (d2 - d6)) * ac
        found.part = 5
    elif va <= zero and d4 >= d3 and d5 >= d6:
        found.point = b + ((d4 - d3) / ((d4 - d3) + (d5 - d6))) * (c - b)
        found.part = 4
    else:
        over = scalar(1.0) / (va + vb + vc)
        found.point = a + (vb * over) * ab + (vc * over) * ac
        found.part = 6
    return found


@wp.func
def triangle_feature(mesh: Triangles, face: int, x: vec3):
    """The point of one facet nearest to x."""
    v = mesh.face[face]
    return nearest_on_triangle(x, mesh.vertex[v[0]], mesh.vertex[v[1]], mesh.vertex[v[2]])


@wp.struct
class MeshGround:
    """What walks go through. A ground with more on it holds its mesh under the same name."""

    mesh: Triangles


@wp.struct
class PointQuery:
    """A point, and the nearest facet found so far."""

    extent: Extent
    limit2: scalar
    face: int


@wp.func
def visit_facet(data: MeshGround, query: PointQuery, face: int):
    """The facet, if it is nearer than those before."""
    out = query
    gap = query.extent.center - triangle_feature(data.mesh, face, query.extent.center).point
    square = wp.dot(gap, gap)
    if square < out.limit2:
        out.limit2 = square
        out.face = face
    return out


@wp.func
def no_spread(query: PointQuery, axis: vec3):
    """A point does not reach anywhere."""
    return scalar(0.0)


walk_to_point = walk_function(MeshGround, PointQuery, no_spread, visit_facet)


@wp.func
def nearest_face(mesh: Triangles, x: vec3, hint: int, reach: scalar):
    """The facet nearest to x, or -1 where none is nearer than ``reach``.

    ``hint`` is a facet likely to be near (or -1): the better it is, the less of the tree is seen.
    """
    data = MeshGround()
    data.mesh = mesh
    query = PointQuery()
    query.extent.center = x
    query.extent.lower = x
    query.extent.upper = x
    query.limit2 = reach * reach
    query.face = -1
    if hint >= 0:
        query = visit_facet(data, query, hint)
    query = walk_to_point(data, query)
    return query.face


@wp.func
def pseudonormal(mesh: Triangles, face: int, part: int):
    """The normal, not of unit length, that tells the side of what is nearest to a facet's part."""
    normal = mesh.face_normal[face]
    if part < 3:
        normal = mesh.vertex_normal[mesh.face[face][part]]
    elif part < 6:
        normal = normal + mesh.face_normal[mesh.across[face][part - 3]]
    return normal


@wp.func
def signed_distance(mesh: Triangles, face: int, x: vec3):
    """Distance from x to its nearest facet, negative inside."""
    found = triangle_feature(mesh, face, x)
    gap = x - found.point
    distance = wp.length(gap)
    inside = wp.dot(gap, pseudonormal(mesh, face, found.part)) < scalar(0.0)
    return wp.where(inside, -distance, distance)


# -- on the host ------------------------------------------------------------------------------


def triangles_data(
    mesh: Mesh, device: devices.Device, built: bvh.Built | None = None, rise: float = 0.0
) -> Any:
    """A mesh as a tree on a device; ``rise`` [m] is how far things on it stand out of it."""
    built = built or bvh.build(mesh.vertices[mesh.faces])
    order = built.order
    across = neighbours(mesh)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)

    def put(array: Any, kind: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(array), dtype=kind, device=device.name)

    data = Triangles()
    data.tree = bvh.tree_data(built, device, rise)
    data.vertex = put(mesh.vertices, vec3)
    data.vertex_normal = put(mesh.vertex_normals, vec3)
    data.face = put(mesh.faces[order], wp.vec3i)
    data.face_normal = put(mesh.face_normals[order], vec3)
    data.across = put(place[across[order]], wp.vec3i)
    data.owned = put(owned_features(mesh)[order], wp.int16)
    return data


def neighbours(mesh: Mesh) -> npt.NDArray[np.int32]:
    """(m, 3) the facet on the other side of edges 01, 12, 20 of each facet."""
    across = np.empty((mesh.n_faces, 3), np.int32)
    for face, corner, other in _half_edges(mesh):
        across[face, corner] = other
    return across


def owned_features(mesh: Mesh) -> npt.NDArray[np.int16]:
    """(m,) bits: each vertex and each edge belongs to one of its facets; ridges bend outward."""
    bits = np.zeros(mesh.n_faces, np.int16)
    corner_of = mesh.faces.ravel()
    first = np.full(mesh.n_vertices, -1, np.int64)
    # Written backwards, so that the first facet of each vertex stays.
    first[corner_of[::-1]] = np.arange(len(corner_of))[::-1]
    first = first[first >= 0]
    np.bitwise_or.at(bits, first // 3, (OWN_VERTEX << (first % 3)).astype(np.int16))
    ridge = _ridges(mesh)
    for k, (face, corner, _) in enumerate(_half_edges(mesh)):
        own = OWN_EDGE << corner if k == 0 else 0 * corner
        np.bitwise_or.at(bits, face, (own | np.where(ridge, RIDGE << corner, 0)).astype(np.int16))
    return bits


def _ridges(mesh: Mesh) -> npt.NDArray[np.bool_]:
    """(E,) edges that bend outward: beyond them the surface falls off."""
    one, other = mesh.edge_faces.T
    n1, n2 = mesh.face_normals[one], mesh.face_normals[other]
    along = mesh.vertices[mesh.edges[:, 1]] - mesh.vertices[mesh.edges[:, 0]]
    bend = np.einsum("ij,ij->i", np.cross(n1, n2), along)
    return np.asarray(bend > FLAT * np.linalg.norm(along, axis=1))


def _half_edges(mesh: Mesh) -> Any:
    """Facet, its corner where the edge starts and the facet across, from either side of edges."""
    one, other = mesh.edge_faces.T
    low, high = mesh.edges.T
    # ``one`` runs along the edge from its lower to its higher vertex, ``other`` back.
    for face, start, neighbour in ((one, low, other), (other, high, one)):
        corner = np.argmax(mesh.faces[face] == start[:, None], axis=1)
        yield face, corner, neighbour


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def _distance_kernel(
    offset: int,
    mesh: Triangles,
    points: wp.array(dtype=vec3),
    hint: wp.array(dtype=int),
    distance_out: wp.array(dtype=scalar),
    face_out: wp.array(dtype=int),
) -> None:
    i = wp.tid() + offset
    x = points[i]
    face = nearest_face(mesh, x, hint[i], scalar(wp.inf))
    distance_out[i] = signed_distance(mesh, face, x)
    face_out[i] = face


def distances(
    mesh: Any, points: Array, device: devices.Device, hint: Any = None
) -> tuple[Array, Any]:
    """Signed distance [m] of points (n, 3) from ``triangles_data``, and the nearest facets."""
    n = len(points)
    hint = np.zeros(n, np.int32) if hint is None else np.asarray(hint, np.int32)
    inputs = [mesh, devices.array(points, vec3, device), devices.array(hint, int, device)]
    found, face = devices.computed(_distance_kernel, n, inputs, (scalar, int), device, min_items=16)
    return found, face

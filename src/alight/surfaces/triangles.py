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
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.shapes.mesh import Mesh

Array = npt.NDArray[np.float64]

#: Triangles in a leaf of the tree.
LEAF = 2


@wp.struct
class Triangles:
    """A mesh sorted along a space-filling curve, under a complete binary tree of boxes.

    Node 1 is the root, nodes 2i and 2i + 1 are the children of i, and the leaves begin at
    ``leaves``: no links are stored, and a walk needs no stack.
    """

    leaves: int
    count: int
    lower: wp.array(dtype=vec3)
    upper: wp.array(dtype=vec3)
    vertex: wp.array(dtype=vec3)
    vertex_normal: wp.array(dtype=vec3)
    face: wp.array(dtype=wp.vec3i)
    face_normal: wp.array(dtype=vec3)
    across: wp.array(dtype=wp.vec3i)  # the facet on the other side of edges 01, 12, 20


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


@wp.func
def box_distance2(mesh: Triangles, node: int, x: vec3):
    """Squared distance from x to a box of the tree; infinite for an empty one."""
    zero = vec3()
    out = wp.max(wp.max(mesh.lower[node] - x, x - mesh.upper[node]), zero)
    return wp.dot(out, out)


@wp.func
def nearest_face(mesh: Triangles, x: vec3, hint: int, reach: scalar):
    """The facet nearest to x, or -1 where none is nearer than ``reach``.

    ``hint`` is a facet likely to be near (or -1): the better it is, the less of the tree is seen.
    """
    best = reach * reach
    face = int(-1)
    if hint >= 0:
        gap = x - triangle_feature(mesh, hint, x).point
        if wp.dot(gap, gap) < best:
            best = wp.dot(gap, gap)
            face = hint
    node = int(1)
    walking = bool(True)
    while walking:
        deeper = bool(False)
        if box_distance2(mesh, node, x) < best:
            if node < mesh.leaves:
                deeper = True
            else:
                first = (node - mesh.leaves) * LEAF
                for i in range(first, wp.min(first + LEAF, mesh.count)):
                    gap = x - triangle_feature(mesh, i, x).point
                    square = wp.dot(gap, gap)
                    if square < best:
                        best = square
                        face = i
        if deeper:
            node = node * 2
        else:
            while (node & 1) == 1 and node > 1:
                node = node >> 1
            if node == 1:
                walking = False
            node = node + 1
    return face


@wp.func
def signed_distance(mesh: Triangles, face: int, x: vec3):
    """Distance from x to its nearest facet, negative inside."""
    found = triangle_feature(mesh, face, x)
    gap = x - found.point
    normal = mesh.face_normal[face]
    if found.part < 3:
        normal = mesh.vertex_normal[mesh.face[face][found.part]]
    elif found.part < 6:
        normal = normal + mesh.face_normal[mesh.across[face][found.part - 3]]
    distance = wp.length(gap)
    return wp.where(wp.dot(gap, normal) < scalar(0.0), -distance, distance)


def triangles_data(mesh: Mesh, device: devices.Device) -> Any:
    """A mesh as a tree on a device."""
    faces, across, order = _sorted(mesh)
    lower, upper = _boxes(mesh.vertices[faces])
    data = Triangles()
    data.leaves, data.count = len(lower) // 2, len(faces)

    def put(array: Any, kind: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(array), dtype=kind, device=device.name)

    data.lower, data.upper = put(lower, vec3), put(upper, vec3)
    data.vertex = put(mesh.vertices, vec3)
    data.vertex_normal = put(mesh.vertex_normals, vec3)
    data.face = put(faces.astype(np.int32), wp.vec3i)
    data.face_normal = put(mesh.face_normals[order], vec3)
    data.across = put(across.astype(np.int32), wp.vec3i)
    return data


def _sorted(mesh: Mesh) -> tuple[Any, Any, Any]:
    """Facets along a Morton curve, their neighbours across edges, and the order taken."""
    order = np.argsort(_morton(mesh.vertices[mesh.faces].mean(axis=1)), kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    across = np.empty((mesh.n_faces, 3), np.int64)
    one, other = mesh.edge_faces.T
    low, high = mesh.edges.T
    # ``one`` runs along the edge from its lower to its higher vertex, ``other`` back.
    for face, start, neighbour in ((one, low, other), (other, high, one)):
        corner = np.argmax(mesh.faces[face] == start[:, None], axis=1)
        across[face, corner] = place[neighbour]
    return mesh.faces[order], across[order], order


def _morton(points: Array) -> Any:
    """Interleaved bits of coordinates, 21 each: near numbers are near places."""
    low = points.min(axis=0)
    size = max(float((points.max(axis=0) - low).max()), 1e-300)
    cells = ((points - low) * ((2.0**21 - 1.0) / size)).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    spread = ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F),
              (4, 0x10C30C30C30C30C3), (2, 0x1249249249249249))  # fmt: skip
    for axis in range(3):
        bits = cells[:, axis]
        for shift, mask in spread:
            bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
        code |= bits << np.uint64(axis)
    return code


def _boxes(corners: Array) -> tuple[Array, Array]:
    """Boxes of the complete tree over sorted triangles (m, 3, 3); empty ones are inside out."""
    count = -(-len(corners) // LEAF)
    leaves = 1 << max(0, count - 1).bit_length()
    lower, upper = np.full((2 * leaves, 3), np.inf), np.full((2 * leaves, 3), -np.inf)
    starts = np.arange(0, len(corners), LEAF)
    lower[leaves : leaves + count] = np.minimum.reduceat(corners.min(axis=1), starts, axis=0)
    upper[leaves : leaves + count] = np.maximum.reduceat(corners.max(axis=1), starts, axis=0)
    first = leaves // 2
    while first:
        pairs = slice(2 * first, 4 * first)
        lower[first : 2 * first] = lower[pairs].reshape(-1, 2, 3).min(axis=1)
        upper[first : 2 * first] = upper[pairs].reshape(-1, 2, 3).max(axis=1)
        first //= 2
    return lower, upper


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
    found = wp.empty(n, dtype=scalar, device=device.name)
    face = wp.empty(n, dtype=int, device=device.name)
    if hint is None:
        hint = np.zeros(n, np.int32)
    if n:
        inputs = [
            mesh,
            wp.array(np.ascontiguousarray(points), dtype=vec3, device=device.name),
            wp.array(np.ascontiguousarray(hint, np.int32), dtype=int, device=device.name),
            found,
            face,
        ]
        devices.launch(_distance_kernel, n, inputs, device, min_items=16)
    return found.numpy(), face.numpy()

"""A hull inside kernels: its corners, edges and faces, and which way each of them points.

Two bodies that nearly touch do so at corner and face or at edge and edge, and only ridges count:
an edge that is flat or bends inward is never nearest to anything outside. For each feature the
hull knows the directions in which its surface continues from there, which tell whether a distance
found at it is a least one.
"""

from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3
from alight.shapes.mesh import Mesh
from alight.vehicles.rigid.lander import RigidLander

#: Sine of the angle by which an edge must bend to count: less is flat to rounding.
FLAT = 1e-9


@wp.struct
class HullEdge:
    """One edge, from ``start`` along ``along`` [m]."""

    start: vec3
    along: vec3
    middle: vec3
    half: scalar  # half its length [m]
    normal: vec3  # sum of the normals of its two faces
    into_one: vec3  # unit vectors across the edge, into one face and into the other
    into_other: vec3


@wp.struct
class HullFace:
    """One triangle."""

    corner: mat33  # rows [m]
    normal: vec3
    offset: scalar  # normal . x on the face [m]
    vertex: wp.vec3i
    edge: wp.vec3i  # edges 01, 12, 20


@wp.struct
class HullData:
    """A closed polyhedron in body axes, about the centre of mass."""

    center: vec3  # of its box [m]
    half: vec3  # half sides of its box [m]
    radius: scalar  # of the ball about that centre [m]
    ridges: int  # edges before this one bend outward
    bends: int  # edges from there to this one bend inward, the rest are flat
    vertex: wp.array(dtype=vec3)
    vertex_normal: wp.array(dtype=vec3)
    ring_start: wp.array(dtype=int)  # where the neighbours of a vertex begin in ``ring``
    ring: wp.array(dtype=int)
    edge: wp.array(dtype=HullEdge)
    face: wp.array(dtype=HullFace)


def hull_mesh(given: Any) -> Mesh:
    """The closed mesh of a lander, or of a hull given as such."""
    mesh = given.hull if isinstance(given, RigidLander) else given
    if not isinstance(mesh, Mesh):
        raise InputError(
            f"a hull is {type(given).__name__}; it must be a RigidLander or a closed Mesh in body "
            "axes about the centre of mass [m]"
        )
    mesh.health.require("the hull")
    return mesh


def hull_data(given: Any, device: devices.Device) -> Any:
    """The ``HullData`` of a lander or a closed mesh, its arrays on ``device``."""
    mesh = hull_mesh(given)
    vertices = mesh.vertices
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    center = 0.5 * (lower + upper)
    hull = HullData()
    hull.center, hull.half = vec3(*center), vec3(*(0.5 * (upper - lower)))
    hull.radius = float(np.linalg.norm(vertices - center, axis=1).max())

    def put(array: Any, kind: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(array), dtype=kind, device=device.name)

    hull.vertex, hull.vertex_normal = put(vertices, vec3), put(mesh.vertex_normals, vec3)
    start, ring = _rings(mesh)
    hull.ring_start, hull.ring = put(start, int), put(ring, int)
    edges, bend = _edges(mesh)
    kind = np.where(bend > FLAT, 0, np.where(bend < -FLAT, 1, 2))
    order = np.argsort(kind, kind="stable")
    hull.ridges, hull.bends = int(np.sum(kind == 0)), int(np.sum(kind < 2))
    hull.edge = put(edges[order], HullEdge)
    hull.face = put(_faces(mesh, np.argsort(order)), HullFace)
    return hull


def point_hull(device: devices.Device) -> Any:
    """``HullData`` of nothing but the centre of mass: what a ball about it is about to touch."""
    hull = HullData()
    hull.vertex = wp.zeros(1, dtype=vec3, device=device.name)
    hull.vertex_normal = wp.zeros(1, dtype=vec3, device=device.name)
    hull.ring_start = wp.zeros(2, dtype=int, device=device.name)
    hull.ring = wp.zeros(0, dtype=int, device=device.name)
    hull.edge = wp.zeros(0, dtype=HullEdge, device=device.name)
    hull.face = wp.zeros(0, dtype=HullFace, device=device.name)
    return hull


def _rings(mesh: Mesh) -> tuple[Any, Any]:
    """Neighbours of each vertex, one after the other, and where those of each begin."""
    ends = np.concatenate([mesh.edges, mesh.edges[:, ::-1]])
    ends = ends[np.lexsort(ends.T[::-1])]
    start = np.searchsorted(ends[:, 0], np.arange(mesh.n_vertices + 1))
    return start.astype(np.int32), ends[:, 1].astype(np.int32)


def _edges(mesh: Mesh) -> tuple[Any, Array]:
    """Every edge as ``HullEdge``, and the sine of how far it bends outward."""
    low, high = mesh.vertices[mesh.edges[:, 0]], mesh.vertices[mesh.edges[:, 1]]
    along = high - low
    length = np.linalg.norm(along, axis=1)
    n1, n2 = (mesh.face_normals[side] for side in mesh.edge_faces.T)
    unit = along / length[:, None]
    rows = _table(HullEdge, len(along))
    rows["start"], rows["along"] = low, along
    rows["middle"], rows["half"] = 0.5 * (low + high), 0.5 * length
    rows["normal"] = n1 + n2
    # The first face lies to the left of the edge, seen from outside, the second to the right.
    rows["into_one"], rows["into_other"] = np.cross(n1, unit), np.cross(unit, n2)
    return rows, np.einsum("ij,ij->i", np.cross(n1, n2), unit)


def _faces(mesh: Mesh, place: Any) -> Any:
    """Every face as ``HullFace``; ``place`` is where the edges of the mesh went."""
    rows = _table(HullFace, mesh.n_faces)
    corners = mesh.vertices[mesh.faces]
    rows["corner"], rows["normal"] = corners, mesh.face_normals
    rows["offset"] = np.einsum("ij,ij->i", mesh.face_normals, corners[:, 0])
    rows["vertex"] = mesh.faces
    ends = np.sort(np.stack([mesh.faces, np.roll(mesh.faces, -1, axis=1)]), axis=0).astype(np.int64)
    key = mesh.edges[:, 0].astype(np.int64) * mesh.n_vertices + mesh.edges[:, 1]
    rows["edge"] = place[np.searchsorted(key, ends[0] * mesh.n_vertices + ends[1])]
    return rows


def _table(kind: Any, count: int) -> Any:
    """Empty rows of a struct."""
    return np.zeros(count, kind.numpy_dtype())

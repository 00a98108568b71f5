"""Facets: the triangles of a mesh as they are, of any number, touched exactly (paper 000, 4).

Where a distance field rounds edges off, facets keep them. A query walks a tree over the facets
(``bvh``); the sign comes from the nearest feature's normal (``triangles``), which is right for any
closed mesh, however concave.
"""

import functools
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.facets import bvh
from alight.surfaces.facets.triangles import (
    MeshGround,
    Triangles,
    nearest_face,
    pseudonormal,
    triangle_feature,
    triangles_data,
)
from alight.surfaces.law import Bounds, Surface, SurfacePoint

#: Nearer than this share of its own size to an edge or a vertex, a point's direction from there is
#: rounding, and the normal of the feature stands in for it.
ON_SURFACE = wp.constant(scalar(1e-14))


@wp.func
def at_facet(mesh: Triangles, face: int, x: vec3):
    """Distance, normal and gradient at x, whose nearest facet is ``face``."""
    feature = triangle_feature(mesh, face, x)
    gap = x - feature.point
    normal = pseudonormal(mesh, face, feature.part)
    found = SurfacePoint()
    if feature.part == 6:
        # Over a facet its own plane is more exact than the difference of two near points.
        found.distance = wp.dot(normal, x - mesh.vertex[mesh.face[face][0]])
        found.normal = normal
    else:
        side = wp.where(wp.dot(gap, normal) < scalar(0.0), scalar(-1.0), scalar(1.0))
        length = wp.length(gap)
        found.distance = side * length
        if length > ON_SURFACE * wp.length(x):
            found.normal = (side / length) * gap
        else:
            found.normal = wp.normalize(normal)
    found.gradient = found.normal
    return found


@wp.func
def facets_point(data: MeshGround, x: vec3):
    """The signed distance to the nearest facet; at edges and vertices any of their normals."""
    return at_facet(data.mesh, nearest_face(data.mesh, x, -1, scalar(wp.inf)), x)


class Facets(Surface):
    """The facets of a closed ``mesh`` as ground: exact, at any number of them.

    A query takes time that grows with the logarithm of their number. The distance is a true one,
    so its slope is 1. Its curvature has no bound: where the nearest facet changes, in valleys and
    deep inside, the gradient jumps.
    """

    Data = MeshGround
    point = facets_point

    def __init__(self, mesh: Mesh) -> None:
        if not isinstance(mesh, Mesh):
            raise InputError(f"mesh is {type(mesh).__name__}; facets are those of a Mesh")
        mesh.health.require("the ground")
        self.mesh = mesh
        self._devices: dict[str, Any] = {}

    @functools.cached_property
    def tree(self) -> bvh.Built:
        """The tree over the facets, built when it is first needed."""
        return bvh.build(self.mesh.vertices[self.mesh.faces])

    @property
    def nbytes(self) -> int:
        """Size on a device [bytes]: the tree's nodes, and what is kept of facets and vertices."""
        per_facet, per_vertex = 12 + 24 + 12 + 2, 24 + 24
        return int(
            self.tree.node.nbytes
            + per_facet * self.mesh.n_faces
            + per_vertex * self.mesh.n_vertices
        )

    def bounds_to(self, depth: float) -> Bounds:
        """At any depth. Approach goes by the slope alone, as it does on trilinear fields."""
        return Bounds(slope=1.0, curvature=float("inf"))

    def data(self, device: devices.Device) -> Any:
        """Tree and facets on a device, kept there for the next call."""
        if device.name not in self._devices:
            data = MeshGround()
            data.mesh = triangles_data(self.mesh, device, self.tree)
            self._devices[device.name] = data
        return self._devices[device.name]

    def __repr__(self) -> str:
        return f"Facets({self.mesh!r})"

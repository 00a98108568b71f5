"""How far a lander is from facets, where, and in which direction (paper 000, section 4).

Two polyhedra that do not overlap are nearest at a corner of the lander and a facet of the ground, a
corner of the ground and a face of the lander, or two edges. Every such pair is looked at that the
tree over the facets (``surfaces.facets.bvh``) leaves: each vertex of the ground with one of its
facets, each edge too and only if it is a ridge, as valleys are never nearest. All of this is done
in the axes of the lander, where its hull stands still.

Overlap. Edges that go through faces give it away; the distance is then that of the deepest corner,
or where no corner is inside, of the pair that is nearest, or 0. So a lander that has sunk in by a
rounding error has a gap just below 0 and the normal it had above.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.closest_points import hull_facing
from alight.contact.hull.feature_pairs import (
    CORNER,
    EDGES,
    NOTHING,
    PEAK,
    Search,
    facet_in_body,
    meet_facet,
)
from alight.core.out_of_line import out_of_line
from alight.core.types import quat, scalar, vec3
from alight.surfaces.facets.bvh import walk_function
from alight.surfaces.facets.surface import at_facet
from alight.surfaces.facets.triangles import MeshGround, Triangles, nearest_face, pseudonormal
from alight.vehicles.rigid.hull_data import HullData

#: Gaps below this share of the hull's radius have no direction of their own.
_TINY = wp.constant(scalar(1e-9))


@wp.struct
class Proximity:
    """The shortest way from the ground to a lander, in target axes."""

    distance: scalar  # [m]; not above 0 where they overlap; the reach where there is nothing
    on_ground: vec3  # [m]
    on_lander: vec3  # [m]
    normal: vec3  # unit, from the ground to the lander; 0 where there is nothing
    kind: int
    facet: int  # of the ground, in the order of its tree
    part: int  # of that facet: 0 1 2 its corners, 3 4 5 its edges, 6 its inside
    feature: int  # of the hull: vertex, edge or face, by kind
    overlap: int  # 1 where they overlap


@wp.func
def search_from(hull: HullData, x: vec3, attitude: quat, reach: scalar):
    """A search that has found nothing yet."""
    search = Search()
    search.x = x
    search.turn = wp.quat_to_matrix(attitude)
    search.limit2 = reach * reach
    search.kind = NOTHING
    search.facet = -1
    turn = search.turn
    search.arms = wp.matrix_from_rows(
        hull.half[0] * wp.transpose(turn)[0],
        hull.half[1] * wp.transpose(turn)[1],
        hull.half[2] * wp.transpose(turn)[2],
    )
    arms = search.arms
    side = wp.abs(arms[0]) + wp.abs(arms[1]) + wp.abs(arms[2])
    center = x + turn * hull.center
    search.extent.center = center
    search.extent.lower = center - side
    search.extent.upper = center + side
    search.extent.radius = hull.radius
    return search


@wp.func
def hull_spread(search: Search, axis: vec3):
    """How far the hull's box reaches along an axis from its centre [m]."""
    along = search.arms * axis
    return wp.abs(along[0]) + wp.abs(along[1]) + wp.abs(along[2])


@wp.func
def concluded(hull: HullData, search: Search, facing: vec3, reach: scalar):
    """The pair found, with a sign and a normal, in target axes.

    ``facing`` tells the outer side of the ground's feature, in target axes.
    """
    found = Proximity()
    found.distance = reach
    found.kind = search.kind
    found.facet = search.facet
    found.part = search.part
    found.feature = search.feature
    if search.kind == NOTHING:
        return found
    up = wp.transpose(search.turn) * facing
    if search.kind == PEAK:
        up = -hull_facing(hull, hull.face[search.feature], search.hull_part)
    way = search.on_lander - search.on_ground
    length = wp.length(way)
    normal = search.line
    if wp.dot(normal, normal) == scalar(0.0):
        normal = wp.normalize(up)
        if length > _TINY * hull.radius:
            normal = way / length
    # Normals of faces point the right way; of two edges, or two points, the features' sides tell.
    known = search.kind != EDGES and wp.dot(search.line, search.line) > scalar(0.0)
    if not known and wp.dot(normal, up) < scalar(0.0):
        normal = -normal
    found.distance = wp.where(wp.dot(normal, way) < scalar(0.0), -length, length)
    found.normal = search.turn * normal
    found.on_ground = search.x + search.turn * search.on_ground
    found.on_lander = search.x + search.turn * search.on_lander
    found.overlap = wp.where(found.distance < scalar(0.0), 1, search.overlap)
    return found


@wp.func
def sunk(mesh: Triangles, hull: HullData, search: Search, found: Proximity):
    """The deepest corner of a lander that overlaps the ground, if there is one below it."""
    out = found
    out.distance = wp.min(found.distance, scalar(0.0))
    facet = found.facet
    for i in range(hull.vertex.shape[0]):
        q = search.x + search.turn * hull.vertex[i]
        facet = nearest_face(mesh, q, facet, scalar(wp.inf))
        at = at_facet(mesh, facet, q)
        if at.distance < out.distance:
            out.distance = at.distance
            out.normal = at.normal
            out.on_lander = q
            out.on_ground = q - at.distance * at.normal
            out.kind = CORNER
            out.facet = facet
            out.part = 6
            out.feature = i
    return out


@wp.func
def bare(ground: MeshGround, hull: HullData, search: Search, facet: int):
    """Nothing stands on a facet."""
    return search


@wp.func
def facing_of_mesh(ground: MeshGround, facet: int, part: int):
    """The outer side of a part of a facet."""
    return pseudonormal(ground.mesh, facet, part)


@functools.cache
def nearest_function(GroundData: Any, stands_on: Any, facing: Any) -> Any:
    """A Warp function ``(ground, hull, position, attitude, reach) -> Proximity``.

    ``GroundData`` is a struct with a mesh of facets as ``ground.mesh``. After each facet,
    ``stands_on(ground, hull, search, facet) -> search`` looks at what stands on it (by
    ``meet_facet``, say); that must not reach beyond the facet by more than ``mesh.tree.rise``.
    ``facing(ground, facet, part)`` is on the outer side of what was nearest.
    """

    @wp.struct
    class ProximityScene:
        mesh: Triangles
        ground: GroundData
        hull: HullData

    @wp.func
    def visit(scene: ProximityScene, search: Search, facet: int):
        seen = facet_in_body(scene.mesh, facet, search.x, search.turn)
        now = meet_facet(scene.hull, search, seen, facet)
        return stands_on(scene.ground, scene.hull, now, facet)

    walk = walk_function(ProximityScene, Search, hull_spread, visit)

    @out_of_line
    def nearest(ground: GroundData, hull: HullData, position: vec3, attitude: quat, reach: scalar):
        scene = ProximityScene()
        scene.mesh = ground.mesh
        scene.ground = ground
        scene.hull = hull
        search = walk(scene, search_from(hull, position, attitude, reach))
        outer = vec3()
        if search.kind != NOTHING:
            outer = facing(ground, search.facet, search.part)
        found = concluded(hull, search, outer, reach)
        if found.overlap != 0:
            found = sunk(ground.mesh, hull, search, found)
        return found

    return nearest


#: Of facets with nothing on them.
nearest = nearest_function(MeshGround, bare, facing_of_mesh)

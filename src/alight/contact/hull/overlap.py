"""How deep a lander's hull and the ground overlap.

Contact points see the ground only where they are: between them a rock may stand in the lander and
nothing pushes. Two solids overlap where a corner or an edge of one is inside the other, and then
either a corner of the ground is inside the hull, or a corner or an edge of the hull is inside the
ground (a ridge of the ground that goes through a face of the hull leaves it through its edges). So
the depth is the largest of

- how far corners and edges of the hull are below the ground, by the distance of the surface,
- how far corners of facets and rocks are inside the hull, from its surface, and
- on ground without corners, how far below it lines over the hull's faces are.

Lines are followed from end to end: where the distance is d and the deepest so far b, nothing deeper
comes before (b + d) / slope. Steps are no shorter than ``FINE`` (on faces ``COARSE``) of the hull's
radius, so by half of that the ground may be deeper than it is found to be.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.contact.hull.closest_points import nearest_on_hull
from alight.contact.hull.feature_pairs import Search, facet_in_body
from alight.contact.hull.proximity import hull_spread, search_from
from alight.contact.hull.supported_surfaces import hull_functions, is_ball, touching_hull
from alight.core import devices
from alight.core.checks import Array, checked_points
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import HULL_OPTIONS
from alight.surfaces import Facets, Rocky, Surface
from alight.surfaces.facets.bvh import Extent, walk_function
from alight.surfaces.facets.triangles import OWN_VERTEX, MeshGround, Triangles
from alight.surfaces.rocks.kernel import Rock, RocksData
from alight.surfaces.rocks.search import KeptRocks, rocks_walk
from alight.surfaces.rocks.shapes import VERTICES
from alight.vehicles.rigid.hull_data import HullData
from alight.vehicles.rigid.lander import RigidLander

#: Shortest step along an edge, and along lines over a face [shares of the hull's radius].
FINE, COARSE = 1.0 / 256.0, 1.0 / 64.0
_FINE, _COARSE = wp.constant(scalar(FINE)), wp.constant(scalar(COARSE))
#: Lines over a face.
LINES = 16
_LINES, _PER_LINE = wp.constant(LINES), wp.constant(scalar(1.0 / LINES))

#: What is deepest: nothing; a corner, an edge or a face of the lander; a corner of the ground.
NOTHING, CORNER, EDGE, FACE, PEAK = 0, 1, 2, 3, 4
_CORNER, _EDGE, _FACE, _PEAK = (wp.constant(k) for k in (CORNER, EDGE, FACE, PEAK))
_VERTICES = wp.constant(VERTICES)

#: Squared distance [m^2] within which a box counts as touching the hull's.
_TOUCHING = wp.constant(scalar(1e-200))


@wp.struct
class Deepest:
    """The deepest place so far, in target axes; ``extent`` and ``limit2`` are of the hull."""

    extent: Extent
    limit2: scalar
    search: Search
    depth: scalar  # [m]
    place: vec3  # [m]
    way: vec3  # unit, along which the lander would leave
    kind: int


@wp.struct
class HullLine:
    """A line of the lander, and how it is followed."""

    start: vec3  # body axes [m]
    along: vec3  # to its end; 0 for a corner [m]
    first: scalar  # where it begins to be followed [m]
    fine: scalar  # shortest step [m]
    slope: scalar  # of the ground's distance
    radius: scalar  # of a ball about it [m]


@wp.func
def spread_of(query: Deepest, axis: vec3):
    """How far the hull's box reaches along an axis from its centre [m]."""
    return hull_spread(query.search, axis)


@wp.func
def with_peak(hull: HullData, query: Deepest, p: vec3):
    """``query`` after a corner of the ground, p in target axes [m]."""
    now = query
    turn = query.search.turn
    near = nearest_on_hull(hull, wp.transpose(turn) * (p - query.search.x))
    if -near.distance > query.depth:
        now.depth = -near.distance
        now.place = p
        now.way = -(turn * hull.face[near.face].normal)
        now.kind = _PEAK
    return now


@wp.struct
class FacetScene:
    """Facets and the hull over them."""

    mesh: Triangles
    hull: HullData


@wp.func
def visit_facet(scene: FacetScene, query: Deepest, facet: int):
    """``query`` after the corners that a facet answers for."""
    now = query
    seen = facet_in_body(scene.mesh, facet, query.search.x, query.search.turn)
    v = scene.mesh.face[facet]
    for k in range(3):
        if (seen.owned & (OWN_VERTEX << k)) != 0:
            now = with_peak(scene.hull, now, scene.mesh.vertex[v[k]])
    return now


_over_facets = walk_function(FacetScene, Deepest, spread_of, visit_facet)


@wp.func
def facet_corners(ground: MeshGround, hull: HullData, query: Deepest):
    """``query`` after the corners of bare facets."""
    scene = FacetScene()
    scene.mesh = ground.mesh
    scene.hull = hull
    return _over_facets(scene, query)


@functools.cache
def _no_corners(Data: Any) -> Any:
    @wp.func
    def none(ground: Data, hull: HullData, query: Deepest):
        return query

    return none


@functools.cache
def _rock_corners(RockyData: Any, Scene: Any, settle: Any, faceted: bool) -> Any:
    """``query`` after the corners of rocks, and of the facets below where the base is of facets."""

    @wp.struct
    class OverlapPlace:
        mesh: Triangles
        rocks: RocksData
        kept: KeptRocks
        own: Scene
        hull: HullData

    @wp.func
    def settled(place: OverlapPlace, at: vec3, normal: vec3):
        return settle(place.own, at, normal)

    @wp.func
    def visit(place: OverlapPlace, query: Deepest, rock: Rock):
        now = query
        for i in range(_VERTICES):
            now = with_peak(place.hull, now, rock.corner[i])
        return now

    over_kept, over_made = rocks_walk(OverlapPlace, Deepest, spread_of, settled, visit)

    @wp.func
    def corners(ground: RockyData, hull: HullData, query: Deepest):
        place = OverlapPlace()
        place.mesh = ground.scene.mesh
        place.rocks = ground.scene.rocks
        place.kept = ground.scene.kept
        place.own = ground.scene
        place.hull = hull
        now = over_made(place, over_kept(place, query))
        if wp.static(faceted):
            now = facet_corners(ground.base, hull, now)
        return now

    return corners


def corners_function(ground: Surface) -> Any:
    """A Warp function ``(ground, hull, query) -> query`` over the corners of a ground."""
    if isinstance(ground, Rocky):
        faceted = isinstance(ground.base, Facets)
        return _rock_corners(ground.Data, ground.field.Scene, ground.field.settle, faceted)
    return facet_corners if isinstance(ground, Facets) else _no_corners(ground.Data)


@functools.cache
def _kernel(surface_point: Any, Data: Any, corners: Any, smooth: bool) -> Any:
    @wp.func
    def followed(ground: Data, query: Deepest, line: HullLine, kind: int):
        """``query`` after a line of the lander was followed from end to end."""
        now = query
        length = wp.length(line.along)
        s = line.first
        while s <= length:
            body = line.start
            if length > scalar(0.0):
                body = line.start + (s / length) * line.along
            place = query.search.x + query.search.turn * body
            at = surface_point(ground, place)
            depth = line.radius - at.distance
            if depth > now.depth:
                now.depth = depth
                now.place = place - line.radius * at.normal
                now.way = at.normal
                now.kind = kind
            s += wp.max((now.depth - depth) / line.slope, line.fine)
        return now

    @wp.kernel(module="unique", enable_backward=False, module_options=HULL_OPTIONS)
    def find_deepest(
        offset: int,
        ground: Data,
        hull: HullData,
        ball: scalar,
        slope: scalar,
        position: wp.array(dtype=vec3),
        attitude: wp.array(dtype=quat),
        found_out: wp.array(dtype=Deepest),
    ) -> None:
        i = wp.tid() + offset
        query = Deepest()
        query.search = search_from(hull, position[i], attitude[i], scalar(0.0))
        query.extent = query.search.extent
        query.limit2 = _TOUCHING
        line = HullLine()
        line.slope = slope
        line.fine = _FINE * hull.radius
        line.radius = ball
        corner = hull.vertex.shape[0]
        edge = corner + hull.ridges
        # One loop for all, as it holds the code of the surface.
        last = edge
        if wp.static(smooth):
            last += hull.face.shape[0] * _LINES
        for k in range(last):
            kind = _CORNER
            if k < corner:
                line.start = hull.vertex[k]
                line.along = vec3()
                line.first = scalar(0.0)
            elif k < edge:
                kind = _EDGE
                line.start = hull.edge[k - corner].start
                line.along = hull.edge[k - corner].along
                line.first = line.fine
            else:
                kind = _FACE
                line.fine = _COARSE * hull.radius
                t = hull.face[(k - edge) // _LINES].corner
                share = (scalar((k - edge) % _LINES) + scalar(0.5)) * _PER_LINE
                line.start = t[0] + share * (t[1] - t[0])
                line.along = share * (t[2] - t[1])
                line.first = scalar(0.5) * line.fine
            query = followed(ground, query, line, kind)
        if hull.face.shape[0] > 0:
            query = corners(ground, hull, query)
        found_out[i] = query

    return find_deepest


class Overlap(NamedTuple):
    """What ``overlap`` returns, in target axes."""

    depth: Array
    """(...) [m]; 0 where they do not overlap."""
    place: Array
    """(..., 3) of the deepest corner or point of an edge [m]."""
    way: Array
    """(..., 3) unit, along which the lander would leave; 0 where they do not overlap."""
    kind: Any
    """(...) NOTHING; CORNER, EDGE or FACE of the lander; PEAK: a corner of the ground."""


def overlap_kernel(ground: Surface) -> Any:
    """The kernel that finds how deep hulls and this ground overlap."""
    smooth = hull_functions(ground) is None
    return _kernel(ground.point, ground.Data, corners_function(ground), smooth)


def overlap(
    ground: Surface,
    lander: RigidLander,
    positions: npt.ArrayLike,
    attitudes: npt.ArrayLike,
    *,
    device: str = "auto",
    threads: int | None = None,
) -> Overlap:
    """How deep a lander's hull and any ground overlap.

    ``positions`` are (..., 3) of the centre of mass [m], ``attitudes`` (..., 4) unit quaternions
    xyzw, body to target. Of a ball its own radius counts, not its hull.
    """
    x = checked_points(positions, "an overlap")
    q = np.broadcast_to(np.asarray(attitudes, dtype=np.float64), (*x.shape[:-1], 4))
    where = devices.resolve(device)
    hull = touching_hull(lander, where)
    count = x[..., 0].size
    inputs = [
        *(ground.data(where), hull, scalar(lander.radii[0] if is_ball(lander) else 0.0)),
        scalar(ground.bounds.slope),
        devices.array(x.reshape(-1, 3), vec3, where),
        devices.array(q.reshape(-1, 4), quat, where),
    ]
    (found,) = devices.computed(
        overlap_kernel(ground), count, inputs, [Deepest], where, threads, min_items=16
    )
    return Overlap(
        found["depth"].reshape(x.shape[:-1]),
        found["place"].reshape(x.shape),
        found["way"].reshape(x.shape),
        found["kind"].reshape(x.shape[:-1]),
    )

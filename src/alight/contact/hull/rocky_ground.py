"""Hulls on facets with rocks on them: ``proximity`` and ``facet_contacts`` for both at once."""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.contact_list import Collecting, HullContact
from alight.contact.hull.facet_contacts import contacts, spread_of
from alight.contact.hull.feature_pairs import NOTHING, Facet, Search, meet_facet
from alight.contact.hull.proximity import concluded, hull_spread, nearest, search_from
from alight.contact.hull.rock_contacts import OWNED, rock_in_body, touch_rock
from alight.core.out_of_line import out_of_line
from alight.core.types import quat, scalar, vec3
from alight.surfaces.facets.bvh import Extent
from alight.surfaces.facets.triangles import Triangles
from alight.surfaces.rocks.kernel import Rock, RocksData, rock_gap
from alight.surfaces.rocks.nearby_cache import Shelves, shelf_function, shelf_near
from alight.surfaces.rocks.search import KeptRocks, rocks_walk
from alight.surfaces.rocks.shapes import FACES
from alight.vehicles.rigid.hull_data import HullData

_FACES = wp.constant(FACES)
_NOTHING = wp.constant(NOTHING)


@wp.struct
class RockSearch:
    """The nearest pair of lander and rocks so far, and the middle of that rock."""

    extent: Extent
    limit2: scalar
    search: Search
    center: vec3


@wp.func
def spread_of_search(query: RockSearch, axis: vec3):
    """How far the hull's box reaches along an axis from its centre [m]."""
    return hull_spread(query.search, axis)


@out_of_line
def meet_rock(hull: HullData, face: wp.array(dtype=wp.vec3i), query: RockSearch, rock: Rock):
    """``query`` after one rock was looked at."""
    now = query
    reach = wp.sqrt(query.limit2) + query.extent.radius
    if rock_gap(rock.corner, rock.center, query.extent.center) < reach:
        seen = rock_in_body(rock, query.search.x, query.search.turn)
        own = OWNED
        for f in range(_FACES):
            v = face[f]
            a = seen[v[0]]
            b = seen[v[1]]
            c = seen[v[2]]
            facet = Facet()
            facet.corner = wp.matrix_from_rows(a, b, c)
            facet.normal = wp.normalize(wp.cross(b - a, c - a))
            facet.owned = own[f]
            now.search = meet_facet(hull, now.search, facet, -2)
        if now.search.limit2 < query.limit2:
            now.limit2 = now.search.limit2
            now.center = rock.center
    return now


@functools.cache
def rocky_functions(RockyData: Any, Scene: Any, settle: Any) -> tuple[Any, Any]:
    """``nearest`` and ``contacts`` for ground of facets (``base``) and rocks (``scene``).

    The second reads rocks from the shelf of a run where that serves, else they are recomputed.
    """

    @wp.struct
    class RockyPlace:
        mesh: Triangles
        rocks: RocksData
        kept: KeptRocks
        own: Scene
        hull: HullData
        found: wp.array2d(dtype=HullContact)

    @wp.func
    def settled(place: RockyPlace, at: vec3, normal: vec3):
        return settle(place.own, at, normal)

    @wp.func
    def visit(place: RockyPlace, query: RockSearch, rock: Rock):
        return meet_rock(place.hull, place.rocks.face, query, rock)

    @wp.func
    def touch(place: RockyPlace, given: Collecting, rock: Rock):
        return touch_rock(place.hull, place.rocks.face, rock, place.found, given)

    near_kept, near_made = rocks_walk(RockyPlace, RockSearch, spread_of_search, settled, visit)
    touch_kept, touch_made = rocks_walk(RockyPlace, Collecting, spread_of, settled, touch)

    @wp.func
    def place_of(ground: RockyData, hull: HullData):
        place = RockyPlace()
        place.mesh = ground.scene.mesh
        place.rocks = ground.scene.rocks
        place.kept = ground.scene.kept
        place.own = ground.scene
        place.hull = hull
        return place

    @wp.func
    def nearest_of_all(
        ground: RockyData, hull: HullData, position: vec3, attitude: quat, reach: scalar
    ):
        found = nearest(ground.base, hull, position, attitude, reach)
        if found.overlap != 0:
            return found
        query = RockSearch()
        query.search = search_from(hull, position, attitude, wp.min(reach, found.distance))
        query.extent = query.search.extent
        query.limit2 = query.search.limit2
        place = place_of(ground, hull)
        query = near_kept(place, query)
        query = near_made(place, query)
        if query.search.kind != _NOTHING:
            on = position + query.search.turn * query.search.on_ground
            found = concluded(hull, query.search, on - query.center, reach)
            if found.overlap != 0:
                found.distance = wp.min(found.distance, scalar(0.0))
        return found

    fetch = shelf_function(Scene, settle)

    @wp.func
    def touch_shelf(place: RockyPlace, shelves: Shelves, given: Collecting, reach: scalar):
        """``given`` with the contacts of rocks on the shelf."""
        now = given
        slot = given.slot
        x = given.extent.center
        for k in range(shelves.shelf[slot].count):
            row = shelves.order[k, slot]
            if shelf_near(place.rocks.shape, shelves, row, slot, x, reach):
                way = shelves.rock[row, slot].center - x
                ball = reach + shelves.rock[row, slot].radius
                if wp.dot(way, way) < ball * ball:
                    now = touch(place, now, shelves.rock[row, slot])
        return now

    @out_of_line
    def contacts_of_all(
        ground: RockyData,
        hull: HullData,
        position: vec3,
        attitude: quat,
        margin: scalar,
        found: wp.array2d(dtype=HullContact),
        slot: int,
        shelves: Shelves,
    ):
        given = Collecting()
        given.count = contacts(ground.base, hull, position, attitude, margin, found, slot)
        given.search = search_from(hull, position, attitude, margin)
        given.extent = given.search.extent
        given.limit2 = margin * margin
        given.margin = margin
        given.slot = slot
        place = place_of(ground, hull)
        place.found = found
        given = touch_kept(place, given)
        if place.rocks.made > 0:
            reach = margin + given.extent.radius
            if fetch(ground.scene, shelves, slot, given.extent.center, reach):
                given = touch_shelf(place, shelves, given, reach)
            else:
                given = touch_made(place, given)
        return given.count

    return nearest_of_all, contacts_of_all

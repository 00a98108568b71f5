"""How long a lander in flight stays clear of rocks: as ``facets``, for convex things on facets.

A rock is convex, so the plane of any of its faces keeps a corner of the lander off all of it.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.closest_points import to_segment2
from alight.contact.hull.cones import ROUNDING
from alight.contact.hull.feature_pairs import box_way
from alight.contact.hull.rock_contacts import OWNED, Planes, plane_normal, planes_of, rock_in_body
from alight.contact.time_to_contact.bounds import open_time
from alight.contact.time_to_contact.facets import ball_clear, facets_clear, time_walk
from alight.contact.time_to_contact.feature_pairs import (
    MARGIN,
    FreeFlight,
    ball_time,
    ball_way,
    ball_way_time,
    clear_for,
    corner_time,
    edges_time,
    looked_at,
    peak_clear,
    point_rate,
    time_over,
    touch_time,
)
from alight.core.out_of_line import out_of_line
from alight.core.types import scalar, vec3
from alight.surfaces.facets.triangles import OWN_EDGE, Triangles
from alight.surfaces.rocks.kernel import Corners, Rock, RocksData, RockShape, rock_gap, rock_point
from alight.surfaces.rocks.nearby_cache import Shelves, shelf_function, shelf_near
from alight.surfaces.rocks.search import KeptRocks, facet_rocks
from alight.surfaces.rocks.shapes import FACES, VERTICES
from alight.vehicles.rigid.hull_data import HullData

_FACES = wp.constant(FACES)
_VERTICES = wp.constant(VERTICES)
#: Rocks that have to be made are looked for no farther ahead than this many times what those of a
#: class reach. A look 0.3 to 1 m above rocks of 0.2 m and more costs, over the time that it clears,
#: 1.1 us/s at 1, 0.9 at 2, 1.0 at 4.
_AHEAD = wp.constant(scalar(2.0))
#: In place of a time that is shorter than any.
_AT_ONCE = wp.constant(scalar(-1.0))


@wp.func
def kept_off(planes: Planes, hull: HullData, given: FreeFlight):
    """Whether the plane of one face keeps all of the lander off for as long as it is clear."""
    off = bool(False)
    bend = MARGIN * given.hard
    f = int(0)
    while f < _FACES and not off:
        n = plane_normal(planes, f)
        still = wp.dot(n, given.v_body)
        turning = wp.cross(n, given.w)
        off = wp.dot(n, hull.center) > planes[f, 3]
        i = int(0)
        while off and i < hull.vertex.shape[0]:
            q = hull.vertex[i]
            height = wp.dot(n, q) - planes[f, 3]
            off = height > scalar(0.0) and (
                open_time(height, still + wp.dot(turning, q), bend) >= given.clear
            )
            i += 1
        f += 1
    return off


@wp.func
def corner_clear(planes: Planes, given: FreeFlight, q: vec3):
    """How long [s] a corner of the lander stays off a rock: as long as one of its planes says."""
    top = scalar(-wp.inf)
    best = int(0)
    way = wp.sqrt(given.limit2)
    f = int(0)
    while f < _FACES and top < way:
        height = wp.dot(plane_normal(planes, f), q) - planes[f, 3]
        if height > top:
            top = height
            best = f
        f += 1
    if top >= way:
        return given.clear
    # Above the highest first: that is where a touch is found to first order.
    time = corner_time(given, top, plane_normal(planes, best), q)
    least = -ROUNDING * given.extent.radius
    bend = MARGIN * given.hard
    f = int(0)
    while f < _FACES and time < given.clear:
        n = plane_normal(planes, f)
        height = wp.dot(n, q) - planes[f, 3]
        if height >= least:
            time = wp.max(time, open_time(height, point_rate(given, n, q), bend))
        f += 1
    return time


@wp.func
def rock_edges_clear(
    face: wp.array(dtype=wp.vec3i), seen: Corners, center: vec3, hull: HullData, given: FreeFlight
):
    """``given`` after the edges of a rock and of the lander."""
    now = given
    own = OWNED
    f = int(0)
    while f < _FACES:
        v = face[f]
        k = int(0)
        while k < 3:
            if (own[f] & (OWN_EDGE << k)) != 0:
                p = seen[v[k]]
                q = seen[v[wp.where(k == 2, 0, k + 1)]]
                near = box_way(hull, wp.min(p, q), wp.max(p, q))
                if wp.dot(near, near) < now.limit2:
                    d = q - p
                    up = scalar(0.5) * (p + q) - center
                    per_length2 = scalar(1.0) / wp.dot(d, d)
                    reach = wp.sqrt(now.limit2)
                    for j in range(hull.ridges):
                        edge = hull.edge[j]
                        ball = reach + edge.half
                        if to_segment2(edge.middle, p, d, per_length2) < ball * ball:
                            now = clear_for(now, edges_time(now, edge, p, d, up, -up, -up))
            k += 1
        f += 1
    return now


@out_of_line
def rock_clear(face: wp.array(dtype=wp.vec3i), rock: Rock, hull: HullData, given: FreeFlight):
    """``given`` after one rock."""
    now = given
    way = given.x - rock.center
    length = wp.length(way)
    time = scalar(0.0)
    if length > scalar(0.0):
        gap = rock_gap(rock.corner, rock.center, given.x)
        time = ball_time(given, gap, way / length)
    if looked_at(given, time):
        now.near = 1
        seen = rock_in_body(rock, given.x, given.turn)
        planes = planes_of(face, seen)
        if not kept_off(planes, hull, given):
            center = wp.transpose(given.turn) * (rock.center - given.x)
            reach = wp.sqrt(given.limit2) + rock.radius
            for i in range(hull.vertex.shape[0]):
                q = hull.vertex[i]
                if wp.length(q - center) < reach:
                    now = clear_for(now, corner_clear(planes, now, q))
            k = int(0)
            while k < _VERTICES:
                p = vec3(seen[k, 0], seen[k, 1], seen[k, 2])
                now = clear_for(now, peak_clear(now, hull, p))
                k += 1
            now = rock_edges_clear(face, seen, center, hull, now)
            if now.clear < time:
                now = clear_for(given, time)
                now.near = 1
    else:
        now = clear_for(given, time)
    return now


@wp.func
def rock_ball_clear(face: wp.array(dtype=wp.vec3i), rock: Rock, hull: HullData, given: FreeFlight):
    """``given`` after one rock, for a ball that is the lander itself, or a point."""
    limit = wp.sqrt(given.limit2) + given.extent.radius
    at = rock_point(face, rock, given.x, limit)
    now = given
    if at.distance < limit:
        now = clear_for(given, touch_time(given, at.distance, at.normal))
    return now


@wp.func
def shelf_time(shelves: Shelves, row: int, slot: int, given: FreeFlight):
    """How long [s] the ball about the lander stays clear of that about a rock on a shelf."""
    way = given.x - shelves.rock[row, slot].center
    length = wp.length(way)
    time = scalar(0.0)
    if length > scalar(0.0):
        time = ball_time(given, length - shelves.rock[row, slot].radius, way / length)
    return time


@functools.cache
def rocky_clear(RockyData: Any, Scene: Any, settle: Any, ball: bool) -> Any:
    """The function ``(ground, hull, shelves, slot, flying) -> flying`` for facets and rocks.

    For a hull, or for a ``ball`` that is the lander itself. Rocks are read from the shelf of a run
    where that serves, else they are recomputed.
    """
    base_clear = ball_clear if ball else facets_clear
    of_rock = rock_ball_clear if ball else rock_clear

    @wp.struct
    class RockPlace:
        mesh: Triangles
        rocks: RocksData
        own: Scene
        hull: HullData

    @wp.struct
    class RocksAhead:
        mesh: KeptRocks
        face: wp.array(dtype=wp.vec3i)
        hull: HullData

    @wp.struct
    class Beyond:
        mesh: Triangles
        rocks: RocksData
        least: scalar

    @wp.func
    def settled(place: RockPlace, at: vec3, normal: vec3):
        return settle(place.own, at, normal)

    @wp.func
    def visit_rock(place: RockPlace, given: FreeFlight, rock: Rock):
        return of_rock(place.rocks.face, rock, place.hull, given)

    on_facet = facet_rocks(RockPlace, FreeFlight, settled, visit_rock)

    @wp.func
    def visit_facet(place: RockPlace, given: FreeFlight, facet: int):
        """Class by class, from the largest down: over the small ones a lander flies for long."""
        now = given
        way = ball_way(place.mesh, given, facet)
        c = place.rocks.made - 1
        while c >= 0:
            wide = place.rocks.octave[c].wide
            tall = place.rocks.octave[c].tall
            time = ball_way_time(now, way, tall, wp.sqrt(wide * wide + tall * tall))
            if looked_at(now, time):
                ahead = _AHEAD * wide + now.extent.radius
                now = clear_for(now, wp.max(time, time_over(now, ahead)))
                now = on_facet(place, now, facet, c, c + 1)
                now.near = 1
            else:
                now = clear_for(now, time)
            c -= 1
        return now

    @wp.func
    def visit_kept(kept: RocksAhead, given: FreeFlight, i: int):
        now = given
        ball = kept.mesh.ball[i]
        way = given.x - vec3(ball[0], ball[1], ball[2])
        length = wp.length(way)
        time = scalar(0.0)
        if length > scalar(0.0):
            time = ball_time(given, length - ball[3], way / length)
        if time < given.clear:
            now = of_rock(kept.face, kept.mesh.rock[i], kept.hull, given)
        return now

    @wp.func
    def visit_beyond(beyond: Beyond, given: FreeFlight, facet: int):
        """The ball alone, beyond where rocks are known: no time below ``least`` matters."""
        now = given
        way = ball_way(beyond.mesh, given, facet)
        c = beyond.rocks.made - 1
        while c >= 0:
            wide = beyond.rocks.octave[c].wide
            tall = beyond.rocks.octave[c].tall
            time = ball_way_time(now, way, tall, wp.sqrt(wide * wide + tall * tall))
            if time <= beyond.least:
                now.clear = _AT_ONCE  # nothing is sooner: this ends the walk
            now = clear_for(now, time)
            c -= 1
        return now

    walk_made = time_walk(RockPlace, visit_facet)
    walk_kept = time_walk(RocksAhead, visit_kept)
    walk_beyond = time_walk(Beyond, visit_beyond)
    fetch = shelf_function(Scene, settle)

    @wp.func
    def clear_of_lasting(ground: RockyData, hull: HullData, given: FreeFlight):
        """``given`` after the facets and the rocks that are kept."""
        now = base_clear(ground.base, hull, given)
        if ground.scene.kept.tree.count > 0:
            kept = RocksAhead()
            kept.mesh = ground.scene.kept
            kept.face = ground.scene.rocks.face
            kept.hull = hull
            now = walk_kept(kept, now)
        return now

    @wp.func
    def clear_of_made(ground: RockyData, hull: HullData, given: FreeFlight):
        """``given`` after rocks that are made for it."""
        place = RockPlace()
        place.mesh = ground.scene.mesh
        place.rocks = ground.scene.rocks
        place.own = ground.scene
        place.hull = hull
        return walk_made(place, given)

    @wp.func
    def any_at_once(
        shape: RockShape, shelves: Shelves, slot: int, given: FreeFlight, reach: scalar
    ):
        """Whether a rock on the shelf has to be looked at."""
        found = bool(False)
        k = int(0)
        while k < shelves.shelf[slot].count and not found:
            if shelf_near(shape, shelves, k, slot, given.x, reach):
                found = looked_at(given, shelf_time(shelves, k, slot, given))
            k += 1
        return found

    @wp.func
    def clear_of_beyond(ground: RockyData, given: FreeFlight, least: scalar):
        """``given`` after all rocks that are not known: none is met before ``least`` [s]."""
        beyond = Beyond()
        beyond.mesh = ground.scene.mesh
        beyond.rocks = ground.scene.rocks
        beyond.least = least
        now = walk_beyond(beyond, given)
        if now.clear == _AT_ONCE:
            now = clear_for(given, least)
        return now

    @wp.func
    def clear_of_shelf(
        ground: RockyData, hull: HullData, shelves: Shelves, slot: int, given: FreeFlight
    ):
        """``given`` after the rocks on a shelf, and after the ball alone beyond what it serves."""
        now = given
        shape = ground.scene.rocks.shape
        way = wp.min(wp.sqrt(given.limit2), shelves.ahead)
        whole = given.limit2 <= shelves.ahead * shelves.ahead
        if not whole:
            least = time_over(given, way)
            if any_at_once(shape, shelves, slot, given, way + given.extent.radius):
                now = clear_for(now, least)
            else:
                now = clear_of_beyond(ground, given, least)
        k = int(0)
        while k < shelves.shelf[slot].count:
            row = shelves.order[k, slot]
            reach = wp.min(wp.sqrt(now.limit2), way) + now.extent.radius
            near = shelf_near(shape, shelves, row, slot, now.x, reach)
            if near and shelf_time(shelves, row, slot, now) < now.clear:
                now = of_rock(ground.scene.rocks.face, shelves.rock[row, slot], hull, now)
            k += 1
        return now

    @out_of_line
    def clear_of_all(
        ground: RockyData, hull: HullData, shelves: Shelves, slot: int, given: FreeFlight
    ):
        now = clear_of_lasting(ground, hull, given)
        if ground.scene.rocks.made > 0:
            reach = wp.min(wp.sqrt(now.limit2), shelves.ahead) + now.extent.radius
            if fetch(ground.scene, shelves, slot, now.x, reach):
                now = clear_of_shelf(ground, hull, shelves, slot, now)
            else:
                now = clear_of_made(ground, hull, now)
        return now

    return clear_of_all

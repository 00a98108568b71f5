"""Which rocks are near: the cells of a facet, one after the other, and a tree of kept rocks.

All that is asked about lies in a box and a ball, the ``Extent`` of ``bvh``. A rock lies in an
upright cylinder about its place on the ground, whose size goes with its own; whatever is farther
off than the best found so far is not made.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar, vec3, vec4
from alight.surfaces.facets.bvh import BoxTree, walk_function
from alight.surfaces.noise.amplitude_map import variation_at
from alight.surfaces.rocks.kernel import (
    MOST_ROCKS,
    FacetSite,
    Rock,
    RocksData,
    cells_along,
    rock_of,
    rock_size,
    rock_words,
    site_of,
    unit_of,
)


@wp.func
def is_there(rocks: RocksData, place: vec3, word: wp.uint32):
    """Whether the map leaves a rock at a place."""
    there = bool(True)
    if rocks.varies != 0:
        there = unit_of(word) * rocks.most < variation_at(rocks.variation, place).value
    return there


@wp.func
def near_enough(limit2: scalar, height: scalar, beside: scalar, wide: scalar, tall: scalar):
    """Whether a rock that is so wide and tall may be near: as a cylinder on the ground."""
    up = wp.max(wp.abs(height) - tall, scalar(0.0))
    aside = wp.max(beside - wide, scalar(0.0))
    return up * up + aside * aside < limit2


@functools.cache
def facet_rocks(Scene: Any, Query: Any, settle: Any, visit: Any) -> Any:
    """A Warp function ``(scene, query, facet, first, last) -> query`` over rocks of one facet.

    It calls ``visit(scene, query, rock) -> query`` for every rock of classes ``first`` to ``last``
    that may be near: ``Query`` has an ``extent`` and a ``limit2`` as in ``bvh.walk_function``.
    ``Scene`` is a struct with the facets as ``scene.mesh`` (``Triangles``) and the rocks' data as
    ``scene.rocks``. ``settle(scene, place, normal)`` moves the place of a rock from its facet onto
    the ground along the normal, by no more than ``rocks.shape.shift``.
    """

    @wp.func
    def found_rock(
        scene: Scene,
        query: Query,
        site: FacetSite,
        octave: int,
        cell: wp.uint32,
        index: int,
        at: vec4,
    ):
        """A rock at a place, of the size in the last of ``at``, is looked at."""
        place = settle(scene, vec3(at[0], at[1], at[2]), site.normal)
        rock = rock_of(scene.rocks.shape, site, octave, cell, index, place, at[3])
        return visit(scene, query, rock)

    @wp.func
    def on_facet(scene: Scene, query: Query, facet: int, first: int, last: int):
        now = query
        v = scene.mesh.face[facet]
        corner = wp.matrix_from_rows(
            scene.mesh.vertex[v[0]], scene.mesh.vertex[v[1]], scene.mesh.vertex[v[2]]
        )
        site = site_of(scene.rocks, corner, scene.mesh.face_normal[facet], facet)
        key = scene.rocks.shape.key
        shift = scene.rocks.shape.shift
        twice = wp.dot(wp.cross(site.ab, site.ac), site.normal)
        along_u = wp.cross(site.ac, site.normal) / twice
        along_v = wp.cross(site.normal, site.ab) / twice
        center = query.extent.center
        radius = query.extent.radius
        height = wp.dot(center - site.a, site.normal)
        u = wp.dot(along_u, center - site.a)
        w = wp.dot(along_v, center - site.a)
        zero = scalar(0.0)
        one = scalar(1.0)
        c = last - 1
        while c >= first:  # large rocks first: they are the nearest more often
            octave = scene.rocks.octave[c]
            exponent = scene.rocks.first + c
            off = wp.max(wp.abs(height) - octave.tall - radius, zero)
            if off * off < now.limit2:
                disc = wp.sqrt(now.limit2 - off * off) + octave.wide + radius
                rows = cells_along(site.cells.across[0], octave.size)
                columns = cells_along(site.cells.across[1], octave.size)
                per_row = one / scalar(rows)
                per_column = one / scalar(columns)
                area = twice * per_row * per_column
                fu = disc * wp.length(along_u)
                fw = disc * wp.length(along_v)
                row = int(wp.clamp((u - fu) / per_row, zero, scalar(rows)))
                row1 = int(wp.clamp((u + fu) / per_row, zero, scalar(rows - 1)))
                column0 = int(wp.clamp((w - fw) / per_column, zero, scalar(columns)))
                column1 = int(wp.clamp((w + fw) / per_column, zero, scalar(columns - 1)))
                if u + fu <= zero or w + fw <= zero:
                    row = rows
                column = column0
                count = zero
                index = int(0)
                # All cells, and in each all its rocks, in one loop.
                while row <= row1 and column0 <= column1:
                    cell = (wp.uint32(row) << wp.uint32(16)) | wp.uint32(column)
                    corner_u = scalar(row) * per_row
                    corner_w = scalar(column) * per_column
                    words = rock_words(key, site.cells.number, exponent, cell, index, 0)
                    count -= wp.log(unit_of(words[0]))
                    # Cells beyond the third side are empty.
                    done = count > octave.rate * area or corner_u + corner_w >= one
                    at_u = corner_u + unit_of(words[1]) * per_row
                    at_w = corner_w + unit_of(words[2]) * per_column
                    if not done and at_u + at_w < one:
                        place = site.a + at_u * site.ab + at_w * site.ac
                        way = place - center
                        beside = wp.sqrt(wp.max(wp.dot(way, way) - height * height, zero))
                        wide = octave.wide + radius
                        tall = octave.tall + radius
                        if near_enough(now.limit2, height, beside, wide, tall):
                            size = rock_size(scene.rocks.curve, octave.above + count / area)
                            wide = scene.rocks.shape.wide * size + radius
                            tall = scene.rocks.shape.tall * size + shift + radius
                            near = near_enough(now.limit2, height, beside, wide, tall)
                            if near and is_there(scene.rocks, place, words[3]):
                                at = vec4(place[0], place[1], place[2], size)
                                now = found_rock(scene, now, site, exponent, cell, index, at)
                    index += 1
                    if done or index == MOST_ROCKS:
                        index = 0
                        count = zero
                        column += 1
                        if column > column1:
                            column = column0
                            row += 1
            c -= 1
        return now

    return on_facet


@wp.struct
class KeptRocks:
    """Rocks that were made beforehand, in the order of a tree over them."""

    tree: BoxTree
    ball: wp.array(dtype=vec4)  # middle and radius of each
    rock: wp.array(dtype=Rock)


@functools.cache
def rocks_walk(Scene: Any, Query: Any, spread: Any, settle: Any, visit: Any) -> tuple[Any, Any]:
    """Two Warp functions ``(scene, query) -> query``: over kept rocks, and over those made now.

    ``spread`` is as in ``bvh.walk_function``, the rest as in ``facet_rocks``; ``Scene`` also holds
    ``KeptRocks`` as ``scene.kept``, and ``scene.mesh.tree.rise`` is at least the reach of the
    largest class made now.
    """
    on_facet = facet_rocks(Scene, Query, settle, visit)

    @wp.struct
    class KeptScene:
        mesh: KeptRocks
        scene: Scene

    @wp.func
    def visit_kept(kept: KeptScene, query: Query, i: int):
        now = query
        ball = kept.mesh.ball[i]
        way = vec3(ball[0], ball[1], ball[2]) - query.extent.center
        room = wp.sqrt(query.limit2) + query.extent.radius + ball[3]
        if wp.dot(way, way) < room * room:
            now = visit(kept.scene, query, kept.mesh.rock[i])
        return now

    @wp.func
    def visit_facet(scene: Scene, query: Query, facet: int):
        return on_facet(scene, query, facet, 0, scene.rocks.made)

    walk_kept = walk_function(KeptScene, Query, spread, visit_kept)
    walk_facets = walk_function(Scene, Query, spread, visit_facet)

    @wp.func
    def over_kept(scene: Scene, query: Query):
        now = query
        if scene.kept.tree.count > 0:
            kept = KeptScene()
            kept.mesh = scene.kept
            kept.scene = scene
            now = walk_kept(kept, query)
        return now

    @wp.func
    def over_facets(scene: Scene, query: Query):
        now = query
        if scene.rocks.made > 0:
            now = walk_facets(scene, query)
        return now

    return over_kept, over_facets

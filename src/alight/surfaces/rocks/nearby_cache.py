"""Rocks near a run, kept from step to step: making them in each step would take most of its time.

Each run has a shelf: all rocks that had to be made and come within a reach of some place. What lies
inside that ball is served from the shelf; what does not has it filled again, with some to spare.
The rocks are read in the order of their addresses, and those out of reach are passed over. So what
is found depends on what is asked alone, not on when the shelf was filled: wherever the rocks in
reach are too many for a shelf, there is none, however it was filled before.
"""

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.out_of_line import out_of_line
from alight.core.types import scalar, vec3
from alight.surfaces.facets.bvh import Extent, walk_function
from alight.surfaces.facets.triangles import Triangles
from alight.surfaces.rocks.field import RockField
from alight.surfaces.rocks.kernel import Rock, RocksData, RockShape
from alight.surfaces.rocks.search import facet_rocks, near_enough

#: Most rocks on a shelf.
ROWS = 32
#: Rocks to be expected on a shelf just filled: so far below the most that few places have too many.
_FILLED = 14.0
#: Of what a shelf reaches beyond the lander, so much is to look ahead; the rest is to spare.
_SHARE = 0.6
#: Where rocks are few, shelves go no farther beyond the lander than so many times their reach.
_MOST_REACHES = 4.0

#: Shelves are filled by this share farther than they serve: more than rounding.
_SLACK = wp.constant(scalar(1.0 + 1e-9))


@wp.struct
class NearbyRocks:
    """What is on a shelf: all rocks made within ``reach`` of ``center`` [m]; below 0, nothing."""

    center: vec3
    reach: scalar
    count: int


@wp.struct
class Shelves:
    """The shelves of all runs, by slot."""

    shelf: wp.array(dtype=NearbyRocks)
    rock: wp.array2d(dtype=Rock)  # [row, slot]
    order: wp.array2d(dtype=int)  # [place, slot]: rows in the order of addresses
    ahead: scalar  # how far a lander in flight looks ahead [m]
    spare: scalar  # how much farther shelves are filled than was asked [m]


@wp.func
def shelf_near(shape: RockShape, shelves: Shelves, row: int, slot: int, x: vec3, reach: scalar):
    """Whether a rock on a shelf comes within ``reach`` of x [m], as a cylinder on the ground."""
    way = x - shelves.rock[row, slot].ground
    size = shelves.rock[row, slot].size
    height = wp.dot(way, shelves.rock[row, slot].up)
    beside = wp.sqrt(wp.max(wp.dot(way, way) - height * height, scalar(0.0)))
    return near_enough(reach * reach, height, beside, shape.wide * size, shape.tall * size)


@wp.func
def comes_before(rock: Rock, shelves: Shelves, row: int, slot: int):
    """Whether the address of a rock is before that of one on a shelf."""
    d = rock.facet - shelves.rock[row, slot].facet
    if d == 0:
        d = rock.octave - shelves.rock[row, slot].octave
    if d == 0:
        # Cells use all 32 bits.
        one = wp.uint32(rock.cell)
        other = wp.uint32(shelves.rock[row, slot].cell)
        if one < other:
            d = -1
        elif one > other:
            d = 1
    if d == 0:
        d = rock.index - shelves.rock[row, slot].index
    return d < 0


@wp.struct
class CacheFilling:
    """A shelf that is being filled."""

    extent: Extent
    limit2: scalar
    slot: int
    count: int


@wp.func
def spread_of_filling(given: CacheFilling, axis: vec3):
    """All is about a place, which does not reach anywhere."""
    return scalar(0.0)


@wp.func
def filling_at(center: vec3, reach: scalar, slot: int):
    """An empty shelf."""
    given = CacheFilling()
    given.extent.center = center
    given.extent.lower = center
    given.extent.upper = center
    given.limit2 = reach * reach
    given.slot = slot
    return given


@wp.func
def put_on_shelf(shelves: Shelves, given: CacheFilling, rock: Rock):
    """``given`` with one rock more; with one too many, no other is near enough."""
    now = given
    now.count += 1
    slot = given.slot
    row = given.count
    if row < shelves.rock.shape[0]:
        shelves.rock[row, slot] = rock
        k = row
        moving = k > 0
        while moving:
            other = shelves.order[k - 1, slot]
            moving = comes_before(rock, shelves, other, slot)
            if moving:
                shelves.order[k, slot] = other
                k -= 1
                moving = k > 0
        shelves.order[k, slot] = row
    else:
        now.limit2 = scalar(0.0)
    return now


@functools.cache
def shelf_function(Scene: Any, settle: Any) -> Any:
    """A Warp function ``(scene, shelves, slot, center, reach) -> bool`` that fills where it must.

    True: all rocks made within ``reach`` of ``center`` [m] are on the shelf, with others. False:
    they are too many. ``Scene`` and ``settle`` are those of ``rock_field.scene_of``.
    """

    @wp.struct
    class Stock:
        mesh: Triangles
        rocks: RocksData
        own: Scene
        shelves: Shelves

    @wp.func
    def settled(stock: Stock, place: vec3, normal: vec3):
        return settle(stock.own, place, normal)

    @wp.func
    def visit(stock: Stock, given: CacheFilling, rock: Rock):
        return put_on_shelf(stock.shelves, given, rock)

    on_facet = facet_rocks(Stock, CacheFilling, settled, visit)

    @wp.func
    def visit_facet(stock: Stock, given: CacheFilling, facet: int):
        return on_facet(stock, given, facet, 0, stock.rocks.made)

    walk = walk_function(Stock, CacheFilling, spread_of_filling, visit_facet)

    @out_of_line
    def fetch(scene: Scene, shelves: Shelves, slot: int, center: vec3, reach: scalar):
        rows = shelves.rock.shape[0]
        if rows == 0:
            return False
        shelf = shelves.shelf[slot]
        served = wp.length(center - shelf.center) + reach <= shelf.reach
        if not served:
            stock = Stock()
            stock.mesh = scene.mesh
            stock.rocks = scene.rocks
            stock.own = scene
            stock.shelves = shelves
            shelf.center = center
            shelf.reach = reach + shelves.spare
            tries = int(0)
            while tries < 2 and not served:
                given = filling_at(center, _SLACK * shelf.reach, slot)
                given = walk(stock, given)
                shelf.count = given.count
                served = given.count <= rows
                if not served:
                    shelf.reach = reach
                tries += 1
            if not served:
                shelf.reach = scalar(-1.0)
            shelves.shelf[slot] = shelf
        return served

    return fetch


# -- on the host ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ShelfSize:
    """How large shelves are. Without rows there are none."""

    rows: int = 0
    ahead: float = 0.0
    """How far a lander in flight looks ahead [m]."""
    spare: float = 0.0
    """How much farther shelves are filled than was asked [m]."""

    @property
    def bytes_each(self) -> int:
        """What a shelf takes on the device [bytes]."""
        kinds: tuple[Any, ...] = (Rock, NearbyRocks)
        rock, shelf = (int(np.dtype(kind.numpy_dtype()).itemsize) for kind in kinds)
        return self.rows * (rock + 4) + (shelf if self.rows else 0)

    def shelves(self, count: int, device: devices.Device) -> Any:
        """Empty ones, for this number of runs."""
        out = Shelves()
        held = count if self.rows else 0
        out.shelf = wp.zeros(held, dtype=NearbyRocks, device=device.name)
        out.rock = wp.empty((self.rows, held), dtype=Rock, device=device.name)
        out.order = wp.zeros((self.rows, held), dtype=int, device=device.name)
        out.ahead, out.spare = self.ahead, self.spare
        return out


NO_SHELF = ShelfSize()


def shelf_size(field: RockField, radius: float) -> ShelfSize:
    """Shelves for a lander of ``radius`` [m] among rocks: as far as they are expected to hold.

    None where no rocks are made, or too many come near the lander itself.
    """
    if not field.made:
        return NO_SHELF
    beyond = min(_filled_reach(field) - radius, _MOST_REACHES * field.reaches[1])
    if beyond < radius:
        return NO_SHELF
    return ShelfSize(ROWS, _SHARE * beyond, (1.0 - _SHARE) * beyond)


def _filled_reach(field: RockField) -> float:
    """How far [m] from a place on flat ground the rocks made are as many as a shelf is to hold."""
    rates = field.rocks.most * field.rocks.rates()[: field.made]
    # Their mean size in a class is nearer to its lower end.
    size = 1.3 * 2.0 ** np.array(field.rocks.octaves[: field.made], float)
    wide = field.rocks.spread[0] * size
    # rates . pi (reach + wide)^2 = FILLED
    a, b = float(rates.sum()), float(2.0 * rates @ wide)
    c = float(rates @ wide**2) - _FILLED / math.pi
    return 0.0 if c >= 0.0 else (math.sqrt(b * b - 4.0 * a * c) - b) / (2.0 * a)

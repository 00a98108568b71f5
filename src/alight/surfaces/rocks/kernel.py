"""Rocks inside kernels: which stand near a place, and what each looks like, from the seed alone.

Sizes come in classes, octaves from 2^e to 2^(e+1) metres. For each class a facet is cut into
cells, parallelograms along two of its sides, a few rocks wide. The rocks of a cell come one after
the other, the largest first: from one to the next, the number of rocks to be expected in the cell
that are no smaller grows by an exponential draw of mean 1, as in any Poisson process, and the law
of sizes turned around gives how large the next one is. So a rock depends on the law, the seed, its
facet, class, cell and number, and on nothing else. Smaller rocks leave larger ones as they are.

Addressing (a test freezes it): the Philox key is that of (seed, "rocks"); the counter's words are
the cell (row << 16 | column), (e + 128) << 24 | number << 8 | block, the facet, and 0. Block 0
holds the step to the next size, the place along the two sides, and the chance to be there where a
map thins rocks out; block 1 the attitude and turn, how deep it is sunk, and two axes; blocks 2
and 3 the twelve vertices.
"""

import math

import warp as wp

from alight.core.random import philox4x32, vec2u, vec4u
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.facets.triangles import nearest_on_triangle
from alight.surfaces.law import SurfacePoint
from alight.surfaces.noise.amplitude_map import Variation
from alight.surfaces.rocks.shapes import FACES, TURNS, VERTICES

#: Rows: the vertices of a rock [m].
Corners = wp.types.matrix(shape=(VERTICES, 3), dtype=scalar)

#: Width of cells over the largest size of a class.
WIDTH = 1.5
#: Most cells along a side of a facet, and most rocks of a class in a cell.
MOST_CELLS, MOST_ROCKS = 65535, 65535

_WORD = wp.constant(scalar(2.0**-32))
_HALF_WORD = wp.constant(scalar(2.0**-16))
_TURN_BITS = TURNS.bit_length() - 1  # the high bits of a word: which attitude
_LOW_BITS = 32 - _TURN_BITS
_ANGLE = wp.constant(scalar(2.0 * math.pi * 2.0**-_LOW_BITS))
_BLOCK = wp.constant(VERTICES)
_FACES = wp.constant(FACES)

#: Nearer than this share of its own size to an edge, a point's direction from there is rounding.
_ON_ROCK = wp.constant(scalar(1e-14))


@wp.struct
class SizeClass:
    """Sizes from 2^e to 2^(e+1) m."""

    size: scalar  # 2^e [m]
    rate: scalar  # its rocks on a square metre, at the map's most
    above: scalar  # and those of all larger classes
    wide: scalar  # how far rocks reach from their place along the ground [m]
    tall: scalar  # and above and below their facet


@wp.struct
class FacetCells:
    """How a facet is cut into cells."""

    number: int  # of the facet in its mesh
    start: int  # the corner that cells are counted from
    across: wp.vec2f  # cells along either side, for e = 0


@wp.struct
class SizeCurve:
    """The law of sizes, turned around: size^-slope grows evenly with the number of rocks."""

    power: scalar  # -1 / slope
    amount: scalar  # K of the law, at the map's most
    least: scalar  # largest size^-slope
    bend: scalar  # rocks on a square metre above the size at which the law bends
    bent_power: scalar  # the same below that size
    bent_amount: scalar
    bent_least: scalar


@wp.struct
class RockShape:
    """What rocks are made from."""

    key: vec2u
    sunk_low: scalar  # part of the height below ground
    sunk_span: scalar
    axes: vec3  # half axes of a rock of size 1
    vary: scalar  # by this share of them the second and third vary
    rough: scalar
    wide: scalar  # how far a rock of size 1 reaches from its place along the ground
    tall: scalar  # and above and below it
    shift: scalar  # how far rocks may be moved from their facets [m]
    form: wp.array(dtype=vec3)  # vertices of icosahedra


@wp.struct
class RocksData:
    """The law, the shapes, and how facets are cut into cells. Facets are in the tree's order."""

    made: int  # classes before this one are made when they are asked for, the others are kept
    first: int  # exponent e of class 0
    octave: wp.array(dtype=SizeClass)
    curve: SizeCurve
    shape: RockShape
    face: wp.array(dtype=wp.vec3i)  # of every rock
    varies: int
    most: scalar  # largest factor of the map
    variation: Variation
    facet: wp.array(dtype=FacetCells)


@wp.struct
class Rock:
    """One rock: a convex polyhedron with the faces of an icosahedron."""

    corner: Corners  # its vertices, in target axes [m]
    center: vec3  # what it was made about [m]
    radius: scalar  # of a ball about that [m]
    ground: vec3  # its place on the ground [m]
    up: vec3  # normal of its facet
    size: scalar  # [m]
    sunk: scalar  # part of its height that is below ground
    facet: int  # in the order of the mesh
    octave: int  # e
    cell: int
    index: int  # in its cell


@wp.struct
class FacetSite:
    """A facet, from the corner that cells are counted from."""

    a: vec3
    ab: vec3
    ac: vec3
    normal: vec3
    cells: FacetCells


@wp.func
def site_of(rocks: RocksData, corner: mat33, normal: vec3, facet: int):
    """A facet with its corners (rows) in the order of the mesh."""
    site = FacetSite()
    site.cells = rocks.facet[facet]
    start = site.cells.start
    site.a = corner[start]
    site.ab = corner[(start + 1) % 3] - site.a
    site.ac = corner[(start + 2) % 3] - site.a
    site.normal = normal
    return site


@wp.func
def cells_along(across: wp.float32, size: scalar):
    """How many cells of a class lie along a side. The quotient by a power of two is exact."""
    count = across / wp.float32(size)
    return wp.clamp(int(wp.min(count, wp.float32(MOST_CELLS))), 1, MOST_CELLS)


@wp.func
def rock_words(key: vec2u, facet: int, octave: int, cell: wp.uint32, index: int, block: int):
    """Four random words of a rock."""
    middle = (wp.uint32(octave + 128) << wp.uint32(24)) | (wp.uint32(index) << wp.uint32(8))
    return philox4x32(vec4u(cell, middle | wp.uint32(block), wp.uint32(facet), wp.uint32(0)), key)


@wp.func
def unit_of(word: wp.uint32):
    """A number above 0 and below 1."""
    return (scalar(word) + scalar(0.5)) * _WORD


@wp.func
def low_half(word: wp.uint32):
    """From -1 to 1."""
    return (scalar(word & wp.uint32(0xFFFF)) + scalar(0.5)) * (scalar(2.0) * _HALF_WORD) - scalar(
        1.0
    )


@wp.func
def high_half(word: wp.uint32):
    """From -1 to 1."""
    return low_half(word >> wp.uint32(16))


@wp.func
def rock_size(curve: SizeCurve, number: scalar):
    """The size [m] above which there are so many rocks on a square metre."""
    size = scalar(0.0)
    if number <= curve.bend:
        size = wp.pow(curve.least + number / curve.amount, curve.power)
    else:
        size = wp.pow(
            curve.bent_least + (number - curve.bend) / curve.bent_amount, curve.bent_power
        )
    return size


@wp.func
def rock_of(
    shape: RockShape,
    site: FacetSite,
    octave: int,
    cell: wp.uint32,
    index: int,
    place: vec3,
    size: scalar,
):
    """A rock of a size at a place on the ground."""
    w = rock_words(shape.key, site.cells.number, octave, cell, index, 1)
    turn = int(w[0] >> wp.static(wp.uint32(_LOW_BITS)))
    angle = _ANGLE * scalar(w[0] & wp.static(wp.uint32((1 << _LOW_BITS) - 1)))
    one = scalar(1.0)
    x = wp.normalize(site.ab)
    y = wp.cross(site.normal, x)
    long = wp.cos(angle) * x + wp.sin(angle) * y
    half_long = size * shape.axes[0]
    half_wide = size * shape.axes[1] * (one + shape.vary * (scalar(2.0) * unit_of(w[2]) - one))
    half_high = size * shape.axes[2] * (one + shape.vary * (scalar(2.0) * unit_of(w[3]) - one))
    along = half_long * long
    across = half_wide * wp.cross(site.normal, long)
    up = half_high * site.normal
    corner = Corners()
    w2 = rock_words(shape.key, site.cells.number, octave, cell, index, 2)
    w3 = rock_words(shape.key, site.cells.number, octave, cell, index, 3)
    low = scalar(wp.inf)
    high = scalar(-wp.inf)
    square = scalar(0.0)
    for i in range(_BLOCK):
        k = i // 2
        word = w2[k % 4]
        if k > 3:
            word = w3[k % 4]
        moved = low_half(word)
        if i % 2 == 1:
            moved = high_half(word)
        v = (one + shape.rough * moved) * shape.form[turn * _BLOCK + i]
        height = half_high * v[2]
        low = wp.min(low, height)
        high = wp.max(high, height)
        at = v[0] * along + v[1] * across + v[2] * up
        square = wp.max(square, wp.dot(at, at))
        corner[i, 0] = at[0]
        corner[i, 1] = at[1]
        corner[i, 2] = at[2]
    rock = Rock()
    rock.sunk = shape.sunk_low + shape.sunk_span * unit_of(w[1])
    rock.center = place - (low + rock.sunk * (high - low)) * site.normal
    for i in range(_BLOCK):
        corner[i, 0] = corner[i, 0] + rock.center[0]
        corner[i, 1] = corner[i, 1] + rock.center[1]
        corner[i, 2] = corner[i, 2] + rock.center[2]
    rock.corner = corner
    rock.radius = wp.sqrt(square)
    rock.ground = place
    rock.up = site.normal
    rock.size = size
    rock.facet = site.cells.number
    rock.octave = octave
    rock.cell = int(cell)
    rock.index = index
    return rock


# -- distance to one ------------------------------------------------------------------------------


@wp.func
def rock_gap(corner: Corners, center: vec3, x: vec3):
    """A lower bound of the distance from x: to the plane across the way to the rock's middle."""
    way = x - center
    length = wp.length(way)
    most = scalar(-wp.inf)
    for i in range(_BLOCK):
        most = wp.max(most, wp.dot(corner[i], way))
    return length - (most - wp.dot(center, way)) / wp.max(length, scalar(1e-300))


@wp.func
def rock_point(face: wp.array(dtype=wp.vec3i), rock: Rock, x: vec3, limit: scalar):
    """Signed distance to a rock, exact, and its gradient; some bound from ``limit`` up beyond it.

    Inside a convex body the highest of its planes tells the distance. Outside that is a lower
    bound, and the nearest point lies on one of the faces that see x.
    """
    zero = scalar(0.0)
    found = SurfacePoint()
    corner = rock.corner
    found.distance = rock_gap(corner, rock.center, x)
    if found.distance >= limit:
        return found
    best = scalar(-wp.inf)
    top = int(0)
    f = int(0)
    while f < _FACES and best < limit:
        v = face[f]
        a = corner[v[0]]
        n = wp.normalize(wp.cross(corner[v[1]] - a, corner[v[2]] - a))
        height = wp.dot(n, x - a)
        if height > best:
            best = height
            found.normal = n
            top = f
        f += 1
    found.distance = best
    if best > zero and best < limit:
        v = face[top]
        at = nearest_on_triangle(x, corner[v[0]], corner[v[1]], corner[v[2]])
        if at.part != 6:
            way = x - at.point
            f = int(0)
            while f < _FACES:
                v = face[f]
                a = corner[v[0]]
                b = corner[v[1]]
                c = corner[v[2]]
                if wp.dot(wp.cross(b - a, c - a), x - a) > zero:
                    at = nearest_on_triangle(x, a, b, c)
                    if wp.dot(x - at.point, x - at.point) < wp.dot(way, way):
                        way = x - at.point
                f += 1
            length = wp.length(way)
            if length > _ON_ROCK * wp.length(x):
                found.distance = length
                found.normal = way / length
    found.gradient = found.normal
    return found

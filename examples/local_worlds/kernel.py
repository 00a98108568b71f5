"""The atlas in kernels: from a point to its local world, and the nearest facet in it.

Two charts of latitude and longitude, +-45 degrees each (paper 000, 4.1): one about z, and for what
it leaves out one about x. On the unit sphere |z| and |x| cannot both exceed 1/sqrt(2), so that the
two cover everything. Each chart has ``bands`` rows and four times as many columns, so that cells
are square at its equator; cell = (chart * bands + row) * 4 bands + column.

The list of a cell holds every facet seen from the centre within ``margin`` [rad] of it. Let a point
at radius r see the edge of its cell at an angle d: every facet within the ball about it that fills
a cone of half-angle d + margin, whose radius is r sin(d + margin), is then in the list. A distance
found in the list is the distance to the mesh where it is no longer than that, however the body is
shaped.
"""

import math

import warp as wp

from alight.core.frames import wp_latitude_longitude
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.surfaces.facets.surface import at_facet
from alight.surfaces.facets.triangles import Triangles, triangle_feature

#: Half the height of a chart, a quarter turn and half a turn [rad].
EIGHTH = wp.constant(scalar(0.25 * math.pi))
QUARTER = wp.constant(scalar(0.5 * math.pi))
HALF = wp.constant(scalar(math.pi))
#: Sine of 45 degrees: beyond it the chart about x takes over.
BORDER = wp.constant(scalar(math.sqrt(0.5)))

#: Steps towards the farthest corner that make a bounding sphere small; it always holds all.
ROUNDS = wp.constant(24)
#: Spheres are larger than they need be by this factor: far more than rounding.
GROWN = wp.constant(scalar(1.0 + 1e-12))


@wp.struct
class AtlasData:
    """Cells of two charts, the lists of their facets, and their bounding spheres."""

    bands: int
    margin: scalar  # how far lists reach beyond their cells [rad]
    start: wp.array(dtype=int)  # where the list of each cell begins, and the end of the last
    facet: wp.array(dtype=int)  # the lists, one after another
    center: wp.array(dtype=vec3)  # of bounding spheres [m]
    radius: wp.array(dtype=scalar)  # [m]; -inf where a list is empty
    mesh: Triangles  # its tree is empty: nothing here walks it


@wp.struct
class AtlasPlace:
    """Where a point is in the atlas: its cell, and how far its list answers for the mesh [m]."""

    cell: int
    valid: scalar


@wp.func
def atlas_place(data: AtlasData, x: vec3):
    """The cell whose local world is active at x; -1 at the very centre, which is in none."""
    found = AtlasPlace()
    found.cell = -1
    r = wp.length(x)
    if r > scalar(0.0):
        chart = int(0)
        along = x
        if wp.abs(x[2]) > BORDER * r:
            chart = 1
            along = vec3(x[1], x[2], x[0])
        seen = wp_latitude_longitude(along)
        side = QUARTER / scalar(data.bands)
        north = (seen[0] + EIGHTH) / side
        east = (seen[1] + HALF) / side
        row = wp.clamp(int(wp.floor(north)), 0, data.bands - 1)
        column = wp.clamp(int(wp.floor(east)), 0, 4 * data.bands - 1)
        found.cell = (chart * data.bands + row) * 4 * data.bands + column
        # Angles to the nearer parallel and the nearer meridian around the cell.
        up = side * within(north, row)
        aside = wp.asin(wp.cos(seen[0]) * wp.sin(side * within(east, column)))
        angle = wp.min(data.margin + wp.min(up, aside), QUARTER)
        found.valid = r * wp.sin(angle)
    return found


@wp.func
def within(where: scalar, number: int):
    """How far a place in cell ``number`` is from its nearer end, in cells."""
    offset = where - scalar(number)
    return wp.max(wp.min(offset, scalar(1.0) - offset), scalar(0.0))


@wp.func
def atlas_range(data: AtlasData, cell: int):
    """Where the list of a cell begins and ends in ``data.facet``."""
    found = wp.vec2i(0, 0)
    if cell >= 0:
        found = wp.vec2i(data.start[cell], data.start[cell + 1])
    return found


@wp.func
def nearest_in_world(data: AtlasData, cell: int, x: vec3):
    """The facet of a cell's list that is nearest to x; -1 where the list is empty."""
    span = atlas_range(data, cell)
    best = scalar(wp.inf)
    face = int(-1)
    for k in range(span[0], span[1]):
        gap = x - triangle_feature(data.mesh, data.facet[k], x).point
        square = wp.dot(gap, gap)
        if square < best:
            best = square
            face = data.facet[k]
    return face


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def place_kernel(
    offset: int,
    data: AtlasData,
    points: wp.array(dtype=vec3),
    cell_out: wp.array(dtype=int),
    valid_out: wp.array(dtype=scalar),
) -> None:
    """Cells of points, and how far their lists answer."""
    i = wp.tid() + offset
    place = atlas_place(data, points[i])
    cell_out[i] = place.cell
    valid_out[i] = place.valid


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def nearest_kernel(
    offset: int,
    data: AtlasData,
    points: wp.array(dtype=vec3),
    distance_out: wp.array(dtype=scalar),
    normal_out: wp.array(dtype=vec3),
    face_out: wp.array(dtype=int),
    valid_out: wp.array(dtype=scalar),
) -> None:
    """The nearest facet of each point's local world, whether or not there may be a nearer one."""
    i = wp.tid() + offset
    x = points[i]
    place = atlas_place(data, x)
    face = nearest_in_world(data, place.cell, x)
    distance_out[i] = scalar(wp.inf)
    if face >= 0:
        found = at_facet(data.mesh, face, x)
        distance_out[i] = found.distance
        normal_out[i] = found.normal
    face_out[i] = face
    valid_out[i] = place.valid


@wp.struct
class Farthest:
    """The corner of a list that is farthest from a point, and how far [m]."""

    point: vec3
    distance: scalar


@wp.func
def farthest_corner(data: AtlasData, span: wp.vec2i, x: vec3):
    """Over all corners of the facets of a list."""
    found = Farthest()
    for k in range(span[0], span[1]):
        face = data.mesh.face[data.facet[k]]
        for j in range(3):
            corner = data.mesh.vertex[face[j]]
            away = wp.length(corner - x)
            if away > found.distance:
                found.distance = away
                found.point = corner
    return found


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def sphere_kernel(
    offset: int,
    data: AtlasData,
    center_out: wp.array(dtype=vec3),
    radius_out: wp.array(dtype=scalar),
) -> None:
    """A small sphere around all facets of a cell's list (Badoiu and Clarkson, 2003).

    From the middle of two corners far apart, the centre goes towards the corner that is farthest,
    by a share that shrinks; of all centres the best is kept.
    """
    i = wp.tid() + offset
    span = atlas_range(data, i)
    best = scalar(-wp.inf)
    middle = vec3()
    if span[1] > span[0]:
        first = data.mesh.vertex[data.mesh.face[data.facet[span[0]]][0]]
        one = farthest_corner(data, span, first).point
        center = scalar(0.5) * (one + farthest_corner(data, span, one).point)
        best = scalar(wp.inf)
        for k in range(ROUNDS):
            far = farthest_corner(data, span, center)
            if far.distance < best:
                best = far.distance
                middle = center
            center += (far.point - center) / scalar(k + 3)
    center_out[i] = middle
    radius_out[i] = best * GROWN

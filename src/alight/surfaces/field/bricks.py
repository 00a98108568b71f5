"""A scalar field on nested grids of bricks: quadratic or linear B-splines, finest near a surface.

Level k has nodes ``spacing * 2**k`` apart, in bricks of 8 x 8 x 8 coefficients: a core of six
nodes a side and a rim of one, shared with the neighbours, so that all a point needs lies in one
brick. A B-spline is a sum of B-splines of half its width: where a level ends it is the same
polynomial as the next coarser one (``build`` sees to that), so a quadratic field has a
continuous gradient everywhere. Beyond the coarsest level the field is the distance to a ball
around the body, taken over across a shell.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar, vec3
from alight.core.vectors import over
from alight.surfaces.law import SurfacePoint

#: Nodes a side of a brick, with its rim and without.
BRICK = 8
CORE = 6
VOLUME = BRICK**3

#: Degree of the B-splines by the name of the interpolation.
DEGREES = {"smooth": 2, "trilinear": 1}


@wp.struct
class Bricks:
    """The nested grids; level 0 is the finest and the last covers everything out to the shell."""

    origin: vec3  # corner of node (0, 0, 0) of every level; nodes count up from there [m]
    per_spacing: scalar  # 1 / spacing of level 0 [1/m]
    finest_low: wp.vec3i  # first brick of level 0's index, and its bricks a side: the way most
    finest_size: wp.vec3i  # queries take
    lowest: wp.array(dtype=wp.vec3i)  # the same for every level
    size: wp.array(dtype=wp.vec3i)
    start: wp.array(dtype=int)  # where each level's index begins
    index: wp.array(dtype=int)  # brick number, or -1
    coefficient: wp.array(dtype=wp.float32)  # (bricks * 512)
    center: vec3  # of the ball around the body [m]
    radius: scalar  # of that ball [m]
    shell_inner: scalar  # radii between which the ball's distance takes over [m]
    shell_outer: scalar


@wp.func
def brick_at(bricks: Bricks, level: int, b: wp.vec3i):
    """The number of a brick, or -1 where the level has none."""
    at = b - bricks.lowest[level]
    size = bricks.size[level]
    result = -1
    if (
        at[0] >= 0 and at[1] >= 0 and at[2] >= 0
        and at[0] < size[0] and at[1] < size[1] and at[2] < size[2]
    ):  # fmt: skip
        result = bricks.index[bricks.start[level] + (at[0] * size[1] + at[1]) * size[2] + at[2]]
    return result


@wp.struct
class BrickCell:
    """Where a point lies: brick, place of the first coefficient of its cell, offset in it."""

    brick: int
    at: int
    t: vec3
    per_spacing: scalar


@wp.func
def node_of(q: vec3):
    """The node at or below a point, in nodes."""
    return wp.vec3i(int(wp.floor(q[0])), int(wp.floor(q[1])), int(wp.floor(q[2])))


@wp.func
def place_in_brick(i: wp.vec3i, b: wp.vec3i):
    """Where node i lies in brick b's coefficients, counted from the rim."""
    x = i[0] - b[0] * CORE + 1
    y = i[1] - b[1] * CORE + 1
    z = i[2] - b[2] * CORE + 1
    return (x * BRICK + y) * BRICK + z


@wp.func
def find_cell(bricks: Bricks, x: vec3):
    """The finest level with a brick at x; x must lie within the shell."""
    cell = BrickCell()
    q = (x - bricks.origin) * bricks.per_spacing
    i = node_of(q)
    b = wp.vec3i(i[0] / CORE, i[1] / CORE, i[2] / CORE)
    # Level 0 first, from figures at hand: near the surface this is all there is to do. An index
    # that is negative is a large unsigned one.
    at = b - bricks.finest_low
    size = bricks.finest_size
    brick = int(-1)
    if (
        wp.uint32(at[0]) < wp.uint32(size[0])
        and wp.uint32(at[1]) < wp.uint32(size[1])
        and wp.uint32(at[2]) < wp.uint32(size[2])
    ):
        brick = bricks.index[(at[0] * size[1] + at[1]) * size[2] + at[2]]
    cell.per_spacing = bricks.per_spacing
    level = int(1)
    while brick < 0:
        q = scalar(0.5) * q
        i = node_of(q)
        b = wp.vec3i(i[0] / CORE, i[1] / CORE, i[2] / CORE)
        brick = brick_at(bricks, level, b)
        cell.per_spacing = scalar(0.5) * cell.per_spacing
        level += 1
    cell.brick = brick
    cell.at = brick * VOLUME + place_in_brick(i, b)
    cell.t = q - vec3(scalar(i[0]), scalar(i[1]), scalar(i[2]))
    return cell


@wp.struct
class FieldPoint:
    """A value and its gradient."""

    value: scalar
    gradient: vec3


@wp.func
def at_linear(bricks: Bricks, cell: BrickCell):
    """Trilinear interpolation between eight nodes."""
    t = cell.t
    row = vec3()
    lower = vec3()
    upper = vec3()
    for a in range(2):
        for b in range(2):
            at = cell.at + (a * BRICK + b) * BRICK
            v0 = scalar(bricks.coefficient[at])
            v1 = scalar(bricks.coefficient[at + 1])
            # value, slope along y, slope along z of this row
            r = v0 + t[2] * (v1 - v0)
            if b == 0:
                row = vec3(r, scalar(0.0), v1 - v0)
            else:
                row = vec3(
                    row[0] + t[1] * (r - row[0]),
                    r - row[0],
                    row[2] + t[1] * (v1 - v0 - row[2]),
                )
        if a == 0:
            lower = row
        else:
            upper = row
    both = lower + t[0] * (upper - lower)
    found = FieldPoint()
    found.value = both[0]
    found.gradient = cell.per_spacing * vec3(upper[0] - lower[0], both[1], both[2])
    return found


@wp.func
def spline_weights(t: scalar):
    """The three quadratic B-splines over a cell at t in [0, 1]."""
    u = scalar(1.0) - t
    a = scalar(0.5) * u * u
    c = scalar(0.5) * t * t
    return vec3(a, scalar(1.0) - a - c, c)


@wp.func
def spline_slopes(t: scalar):
    """Their derivatives."""
    return vec3(t - scalar(1.0), scalar(1.0) - scalar(2.0) * t, t)


@wp.func
def at_quadratic(bricks: Bricks, cell: BrickCell):
    """The quadratic spline of 27 coefficients; its nodes lie at the centres of cells."""
    wx = spline_weights(cell.t[0])
    wy = spline_weights(cell.t[1])
    wz = spline_weights(cell.t[2])
    dx = spline_slopes(cell.t[0])
    dy = spline_slopes(cell.t[1])
    dz = spline_slopes(cell.t[2])
    value = scalar(0.0)
    gx = scalar(0.0)
    gy = scalar(0.0)
    gz = scalar(0.0)
    first = cell.at - (BRICK + 1) * BRICK - 1
    for a in range(3):
        s = scalar(0.0)
        sy = scalar(0.0)
        sz = scalar(0.0)
        for b in range(3):
            at = first + (a * BRICK + b) * BRICK
            v0 = scalar(bricks.coefficient[at])
            v1 = scalar(bricks.coefficient[at + 1])
            v2 = scalar(bricks.coefficient[at + 2])
            r = wz[0] * v0 + wz[1] * v1 + wz[2] * v2
            s += wy[b] * r
            sy += dy[b] * r
            sz += wy[b] * (dz[0] * v0 + dz[1] * v1 + dz[2] * v2)
        value += wx[a] * s
        gx += dx[a] * s
        gy += wx[a] * sy
        gz += wx[a] * sz
    found = FieldPoint()
    found.value = value
    found.gradient = cell.per_spacing * vec3(gx, gy, gz)
    return found


@functools.cache
def bricks_point(degree: int) -> Any:
    """The law's kernel function ``(data, x) -> SurfacePoint``."""
    at_cell = at_quadratic if degree == 2 else at_linear

    @wp.func
    def point(data: Bricks, x: vec3):
        out = x - data.center
        r2 = wp.dot(out, out)
        near = FieldPoint()
        if r2 < data.shell_outer * data.shell_outer:
            near = at_cell(data, find_cell(data, x))
        field = near
        if r2 >= data.shell_inner * data.shell_inner:
            r = wp.sqrt(r2)
            up = over(out, r)
            field.value = r - data.radius
            field.gradient = up
            if r < data.shell_outer:
                width = data.shell_outer - data.shell_inner
                s = (r - data.shell_inner) / width
                b = s * s * (scalar(3.0) - scalar(2.0) * s)
                slope = scalar(6.0) * s * (scalar(1.0) - s) / width
                gap = field.value - near.value
                field.value = near.value + b * gap
                field.gradient = near.gradient + b * (up - near.gradient) + (slope * gap) * up
        found = SurfacePoint()
        found.distance = field.value
        found.gradient = field.gradient
        length2 = wp.dot(field.gradient, field.gradient)
        # Where the gradient vanishes (a ridge deep inside) any direction is as good as another.
        found.normal = vec3(scalar(0.0), scalar(0.0), scalar(1.0))
        if length2 > scalar(0.0):
            found.normal = over(field.gradient, wp.sqrt(length2))
        return found

    return point

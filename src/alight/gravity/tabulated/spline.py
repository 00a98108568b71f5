"""A scalar field on nested grids: quintic B-splines, finer where the field needs it.

Level k has spacing ``spacing * 2**k`` and coefficients only where they are wanted, in bricks of
8 x 8 x 8 nodes. A B-spline is a sum of B-splines of half its width, so each level can take over
the coefficients of the next coarser one exactly and add its own correction, which dies out
inside its bricks: the finest level whose bricks hold the whole stencil of a point gives the full
field there. Where two levels meet they are the same polynomial, so the field and its first four
derivatives are continuous everywhere.
"""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core.types import mat33, scalar, vec3
from alight.gravity.law import FieldValue

#: Nodes a side of a brick, and the same as a shift and a mask.
BRICK = 8
SHIFT = wp.constant(3)
MASK = wp.constant(7)

six = wp.types.vector(length=6, dtype=scalar)
table66 = wp.types.matrix(shape=(6, 6), dtype=scalar)

#: Powers of t in the six quintic B-splines that overlap a cell, times 120.
_POWERS = np.array(
    [
        [1, -5, 10, -10, 5, -1],
        [26, -50, 20, 20, -20, 5],
        [66, 0, -60, 0, 30, -10],
        [26, 50, 20, -20, -20, 10],
        [1, 5, 10, 10, 5, -5],
        [0, 0, 0, 0, 0, 1],
    ],
    dtype=float,
)
WEIGHTS = wp.constant(table66(*(_POWERS / 120.0).ravel()))


@wp.struct
class Levels:
    """The nested grids; level 0 is the finest."""

    origin: vec3  # of node (0, 0, 0) of every level [m]
    spacing: scalar  # of level 0 [m]
    count: int
    stencil: int  # 6; as data it keeps the loops over a stencil loops: unrolled, they are slower
    lowest: wp.array(dtype=wp.vec3i)  # first brick of each level's index
    size: wp.array(dtype=wp.vec3i)  # bricks a side of each level's index
    start: wp.array(dtype=int)  # where each level's index begins
    index: wp.array(dtype=int)  # brick number, or -1
    coefficient: wp.array(dtype=scalar)  # (bricks * 512)


@wp.func
def brick_at(levels: Levels, level: int, bx: int, by: int, bz: int):
    """The number of a brick, or -1 where the level has none."""
    low = levels.lowest[level]
    size = levels.size[level]
    i = bx - low[0]
    j = by - low[1]
    k = bz - low[2]
    result = int(-1)
    if i >= 0 and j >= 0 and k >= 0 and i < size[0] and j < size[1] and k < size[2]:
        result = levels.index[levels.start[level] + (i * size[1] + j) * size[2] + k]
    return result


@wp.func
def node_at(levels: Levels, level: int, i: int, j: int, k: int):
    """Where the coefficient of a node is kept, or -1."""
    brick = brick_at(levels, level, i >> SHIFT, j >> SHIFT, k >> SHIFT)
    result = int(-1)
    if brick >= 0:
        result = (
            (brick << (SHIFT * 3))
            + ((i & MASK) << (SHIFT * 2))
            + ((j & MASK) << SHIFT)
            + (k & MASK)
        )
    return result


@wp.func
def weights(t: scalar):
    """The six B-splines over a cell at t in [0, 1]."""
    w = six()
    for i in range(6):
        p = WEIGHTS[i, 5]
        for k in range(5):
            p = p * t + WEIGHTS[i, 4 - k]
        w[i] = p
    return w


@wp.func
def weight_slopes(t: scalar):
    """Their derivatives."""
    w = six()
    for i in range(6):
        p = scalar(5.0) * WEIGHTS[i, 5]
        for k in range(4):
            p = p * t + scalar(4 - k) * WEIGHTS[i, 4 - k]
        w[i] = p
    return w


@wp.func
def weight_bends(t: scalar):
    """Their second derivatives."""
    w = six()
    for i in range(6):
        p = scalar(20.0) * WEIGHTS[i, 5]
        for k in range(3):
            p = p * t + scalar((4 - k) * (3 - k)) * WEIGHTS[i, 4 - k]
        w[i] = p
    return w


@wp.struct
class SplineCell:
    """A level that holds a point's whole stencil: first node, and the eight bricks it spans."""

    level: int
    first: wp.vec3i
    offset: vec3
    b000: int
    b001: int
    b010: int
    b011: int
    b100: int
    b101: int
    b110: int
    b111: int


@wp.func
def find_cell(levels: Levels, x: vec3):
    """The finest level with the whole stencil of x; ``level`` is -1 outside the table."""
    cell = SplineCell()
    cell.level = int(-1)
    # Node coordinates on level 0, halved from level to level: no division in the search.
    q = (x - levels.origin) * (scalar(1.0) / levels.spacing)
    for level in range(levels.count):
        if cell.level < 0:
            i = int(wp.floor(q[0]))
            j = int(wp.floor(q[1]))
            k = int(wp.floor(q[2]))
            ax = (i - 2) >> SHIFT
            ay = (j - 2) >> SHIFT
            az = (k - 2) >> SHIFT
            cell.b000 = brick_at(levels, level, ax, ay, az)
            if cell.b000 >= 0:
                bx = (i + 3) >> SHIFT
                by = (j + 3) >> SHIFT
                bz = (k + 3) >> SHIFT
                cell.b001 = brick_at(levels, level, ax, ay, bz)
                cell.b010 = brick_at(levels, level, ax, by, az)
                cell.b011 = brick_at(levels, level, ax, by, bz)
                cell.b100 = brick_at(levels, level, bx, ay, az)
                cell.b101 = brick_at(levels, level, bx, ay, bz)
                cell.b110 = brick_at(levels, level, bx, by, az)
                cell.b111 = brick_at(levels, level, bx, by, bz)
                least = wp.min(wp.min(cell.b001, cell.b010), wp.min(cell.b011, cell.b100))
                least = wp.min(least, wp.min(cell.b101, wp.min(cell.b110, cell.b111)))
                if least >= 0:
                    cell.level = level
                    cell.first = wp.vec3i(i - 2, j - 2, k - 2)
                    cell.offset = q - vec3(scalar(i), scalar(j), scalar(k))
        q = scalar(0.5) * q
    return cell


@functools.cache
def spline_value(with_gradient: bool) -> Any:
    """The spline in a cell with its derivatives, ``(levels, cell) -> FieldValue``."""

    @wp.func
    def value_in_cell(levels: Levels, cell: SplineCell):
        """The spline in a cell, with first and second derivatives."""
        h = levels.spacing * scalar(1 << cell.level)
        wx = weights(cell.offset[0])
        wy = weights(cell.offset[1])
        wz = weights(cell.offset[2])
        dx = weight_slopes(cell.offset[0])
        dy = weight_slopes(cell.offset[1])
        dz = weight_slopes(cell.offset[2])
        ex = six()
        ey = six()
        ez = six()
        if wp.static(with_gradient):
            ex = weight_bends(cell.offset[0])
            ey = weight_bends(cell.offset[1])
            ez = weight_bends(cell.offset[2])
        u = scalar(0.0)
        g = vec3()
        diagonal = vec3()
        mixed = vec3()  # xy, xz, yz
        # Of a row's six nodes along z, those past the brick's end jump to the next brick.
        z = cell.first[2] & MASK
        j1 = wp.where(z + 1 > MASK, 1, 0)
        j2 = wp.where(z + 2 > MASK, 1, 0)
        j3 = wp.where(z + 3 > MASK, 1, 0)
        j4 = wp.where(z + 4 > MASK, 1, 0)
        j5 = wp.where(z + 5 > MASK, 1, 0)
        for a in range(levels.stencil):
            i = cell.first[0] + a
            next_x = (i >> SHIFT) > (cell.first[0] >> SHIFT)
            near_low = wp.where(next_x, cell.b100, cell.b000)
            near_high = wp.where(next_x, cell.b101, cell.b001)
            far_low = wp.where(next_x, cell.b110, cell.b010)
            far_high = wp.where(next_x, cell.b111, cell.b011)
            su = scalar(0.0)
            sy = scalar(0.0)
            sz = scalar(0.0)
            syy = scalar(0.0)
            szz = scalar(0.0)
            syz = scalar(0.0)
            for b in range(levels.stencil):
                j = cell.first[1] + b
                next_y = (j >> SHIFT) > (cell.first[1] >> SHIFT)
                low = wp.where(next_y, far_low, near_low)
                jump = ((wp.where(next_y, far_high, near_high) - low) << (SHIFT * 3)) - wp.static(
                    BRICK
                )
                at = (low << (SHIFT * 3)) + ((i & MASK) << (SHIFT * 2)) + ((j & MASK) << SHIFT) + z
                v0 = levels.coefficient[at]
                v1 = levels.coefficient[at + 1 + j1 * jump]
                v2 = levels.coefficient[at + 2 + j2 * jump]
                v3 = levels.coefficient[at + 3 + j3 * jump]
                v4 = levels.coefficient[at + 4 + j4 * jump]
                v5 = levels.coefficient[at + 5 + j5 * jump]
                ru = wz[0] * v0 + wz[1] * v1 + wz[2] * v2 + wz[3] * v3 + wz[4] * v4 + wz[5] * v5
                rz = dz[0] * v0 + dz[1] * v1 + dz[2] * v2 + dz[3] * v3 + dz[4] * v4 + dz[5] * v5
                su += wy[b] * ru
                sy += dy[b] * ru
                sz += wy[b] * rz
                if wp.static(with_gradient):
                    rzz = (
                        ez[0] * v0 + ez[1] * v1 + ez[2] * v2 + ez[3] * v3 + ez[4] * v4 + ez[5] * v5
                    )
                    syy += ey[b] * ru
                    syz += dy[b] * rz
                    szz += wy[b] * rzz
            u += wx[a] * su
            g += vec3(dx[a] * su, wx[a] * sy, wx[a] * sz)
            if wp.static(with_gradient):
                diagonal += vec3(ex[a] * su, wx[a] * syy, wx[a] * szz)
                mixed += vec3(dx[a] * sy, dx[a] * sz, wx[a] * syz)
        value = FieldValue()
        value.potential = u
        value.acceleration = g / h
        if wp.static(with_gradient):
            value.gradient = mat33(
                diagonal[0], mixed[0], mixed[1],
                mixed[0], diagonal[1], mixed[2],
                mixed[1], mixed[2], diagonal[2],
            ) / (h * h)  # fmt: skip
        return value

    return value_in_cell


def prefilter_taps(radius: int) -> Any:
    """Symmetric taps that turn samples into quintic B-spline coefficients.

    Samples of the spline are coefficients smoothed by 1 + d/4 + d^2/120, with d the second
    difference; its inverse is expanded in d up to d^radius.
    """
    series = np.zeros(radius + 1)
    series[0] = 1.0
    for n in range(1, radius + 1):
        series[n] = -0.25 * series[n - 1] - (series[n - 2] / 120.0 if n > 1 else 0.0)
    taps = np.zeros(2 * radius + 1)
    difference = np.ones(1)
    for n in range(radius + 1):
        taps[radius - n : radius + n + 1] += series[n] * difference
        difference = np.convolve(difference, [1.0, -2.0, 1.0])
    return taps

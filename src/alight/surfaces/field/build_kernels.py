"""Kernels that fill a distance field: distances at nodes, and coefficients from distances."""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar, vec3
from alight.core.warp_setup import TABLE_OPTIONS
from alight.surfaces.facets.triangles import Triangles, nearest_face, signed_distance
from alight.surfaces.field.bricks import CORE, VOLUME, Bricks, brick_at, place_in_brick

#: Nodes in the core of a brick.
NODES = CORE**3


@wp.struct
class FieldGrid:
    """One level while it is built: nodes at origin + (i + shift) spacing."""

    origin: vec3
    spacing: scalar
    shift: scalar
    reach: scalar  # how far distances are looked for [m]


@wp.func
def node_place(grid: FieldGrid, i: int, j: int, k: int):
    """The place of a node [m]."""
    q = vec3(scalar(i) + grid.shift, scalar(j) + grid.shift, scalar(k) + grid.shift)
    return grid.origin + grid.spacing * q


@wp.func
def brick_center(grid: FieldGrid, b: wp.vec3i):
    """The middle of a brick's core [m]."""
    half = scalar(0.5) * scalar(CORE - 1) * grid.spacing
    first = b * CORE
    return node_place(grid, first[0], first[1], first[2]) + vec3(half, half, half)


@wp.kernel(module="unique", enable_backward=False, module_options=TABLE_OPTIONS)
def center_kernel(
    offset: int,
    mesh: Triangles,
    grid: FieldGrid,
    bricks: wp.array(dtype=wp.vec3i),
    hint: wp.array(dtype=int),
    face_out: wp.array(dtype=int),
) -> None:
    """The facet nearest to the centre of each brick, or -1 beyond reach."""
    n = wp.tid() + offset
    face_out[n] = nearest_face(mesh, brick_center(grid, bricks[n]), hint[n], grid.reach)


@wp.kernel(module="unique", enable_backward=False, module_options=TABLE_OPTIONS)
def sample_kernel(
    offset: int,
    mesh: Triangles,
    grid: FieldGrid,
    bricks: wp.array(dtype=wp.vec3i),
    hint: wp.array(dtype=int),
    sample_out: wp.array(dtype=wp.float32),
    least_out: wp.array(dtype=wp.float32),
    begin: int,
) -> None:
    """Signed distances at the core nodes of a brick (infinite beyond reach), and the smallest."""
    n = wp.tid() + offset + begin
    first = bricks[n] * CORE
    face = int(hint[n])
    least = scalar(wp.inf)
    middle = brick_center(grid, bricks[n])
    away = wp.abs(signed_distance(mesh, face, middle))
    for row in range(CORE * CORE):
        i = int(row / CORE)
        # To and fro, so that each node is next to the one before, whose nearest facet is known.
        j = row - i * CORE
        j = wp.where((i & 1) == 1, CORE - 1 - j, j)
        for step in range(CORE):
            k = wp.where((row & 1) == 1, CORE - 1 - step, step)
            x = node_place(grid, first[0] + i, first[1] + j, first[2] + k)
            found = int(-1)
            if away - wp.length(x - middle) < grid.reach:
                found = nearest_face(mesh, x, face, grid.reach)
            value = scalar(wp.inf)
            if found >= 0:
                value = signed_distance(mesh, found, x)
                least = wp.min(least, wp.abs(value))
                face = found
            sample_out[n * NODES + (i * CORE + j) * CORE + k] = wp.float32(value)
    least_out[n] = wp.float32(least)


@wp.struct
class LevelFilling:
    """How coefficients of a level come about."""

    level: int
    first: int  # number of the level's first brick
    coarsest: int  # 1 where there is no coarser level
    spacing: scalar
    band: scalar  # full weight up to this distance [m]
    fade: scalar  # none this much further [m]
    shrink: scalar  # how much nearer to zero [m]
    sample: wp.array(dtype=wp.float32)


@wp.func
def sample_at(bricks: Bricks, filling: LevelFilling, i: int, j: int, k: int):
    """The distance at a node, infinite where it was not computed."""
    size = bricks.size[filling.level] * CORE
    # Only the rim of the coarsest level reaches past its index.
    x = wp.clamp(i, 0, size[0] + bricks.lowest[filling.level][0] * CORE - 1)
    y = wp.clamp(j, 0, size[1] + bricks.lowest[filling.level][1] * CORE - 1)
    z = wp.clamp(k, 0, size[2] + bricks.lowest[filling.level][2] * CORE - 1)
    b = wp.vec3i(x / CORE, y / CORE, z / CORE)
    brick = brick_at(bricks, filling.level, b)
    value = scalar(wp.inf)
    if brick >= 0:
        local = ((x - b[0] * CORE) * CORE + (y - b[1] * CORE)) * CORE + (z - b[2] * CORE)
        value = scalar(filling.sample[(brick - filling.first) * NODES + local])
    return value


@functools.cache
def filling_kernel(degree: int) -> Any:
    """A kernel that turns samples into coefficients, one brick a thread."""

    @wp.func
    def share(i: int):
        """Weight and step of the second coarse node that a node draws on, along one axis."""
        if wp.static(degree == 2):
            return scalar(0.25), wp.where((i & 1) == 1, 1, -1)
        else:
            return wp.where((i & 1) == 1, scalar(0.5), scalar(0.0)), 1

    @wp.func
    def coarser(bricks: Bricks, level: int, parent: int, b: wp.vec3i, i: int, j: int, k: int):
        """The coefficient that a node inherits, by the two-scale relation."""
        wx, sx = share(i)
        wy, sy = share(j)
        wz, sz = share(k)
        total = scalar(0.0)
        one = scalar(1.0)
        for a in range(8):
            x = a >> 2
            y = (a >> 1) & 1
            z = a & 1
            w = wp.where(x == 1, wx, one - wx) * wp.where(y == 1, wy, one - wy)
            w = w * wp.where(z == 1, wz, one - wz)
            if w > scalar(0.0):
                node = wp.vec3i((i >> 1) + x * sx, (j >> 1) + y * sy, (k >> 1) + z * sz)
                at = parent * VOLUME + place_in_brick(node, b)
                total += w * scalar(bricks.coefficient[at])
        return total

    @wp.func
    def own(bricks: Bricks, filling: LevelFilling, d: scalar, i: int, j: int, k: int):
        """The coefficient of a level by itself."""
        value = d
        if filling.level > 0:
            ramp = wp.clamp(scalar(2.0) * d / filling.spacing, scalar(-1.0), scalar(1.0))
            value = d - filling.shrink * ramp
        elif wp.static(degree == 2):
            # c = s - (second difference of s) / 8 along each axis: exact for quadratics.
            value = scalar(0.0)
            for a in range(filling.coarsest - 1, filling.coarsest + 2):  # a loop, not unrolled
                for b in range(-1, 2):
                    for c in range(-1, 2):
                        w = wp.where(a == 0, scalar(1.25), scalar(-0.125))
                        w = w * wp.where(b == 0, scalar(1.25), scalar(-0.125))
                        w = w * wp.where(c == 0, scalar(1.25), scalar(-0.125))
                        value += w * sample_at(bricks, filling, i + a, j + b, k + c)
        return value

    @wp.kernel(module="unique", enable_backward=False, module_options=TABLE_OPTIONS)
    def fill(
        offset: int, bricks: Bricks, filling: LevelFilling, places: wp.array(dtype=wp.vec3i)
    ) -> None:
        n = wp.tid() + offset
        b = places[n]
        up = wp.vec3i(b[0] >> 1, b[1] >> 1, b[2] >> 1)
        parent = int(-1)
        if filling.coarsest == 0:
            parent = brick_at(bricks, filling.level + 1, up)
        for a in range(VOLUME):
            i = b[0] * CORE - 1 + (a >> 6)
            j = b[1] * CORE - 1 + ((a >> 3) & 7)
            k = b[2] * CORE - 1 + (a & 7)
            d = sample_at(bricks, filling, i, j, k)
            weight = scalar(1.0)
            value = scalar(0.0)
            if filling.coarsest == 0:
                s = wp.clamp((wp.abs(d) - filling.band) / filling.fade, scalar(0.0), scalar(1.0))
                weight = scalar(1.0) - s * s * (scalar(3.0) - scalar(2.0) * s)
                if weight < scalar(1.0):
                    value = (scalar(1.0) - weight) * coarser(
                        bricks, filling.level, parent, up, i, j, k
                    )
            if weight > scalar(0.0):
                value += weight * own(bricks, filling, d, i, j, k)
            bricks.coefficient[(filling.first + n) * VOLUME + a] = wp.float32(value)

    return fill


def build_kernels(degree: int) -> list[Any]:
    """All of them, those that take longest to compile first."""
    return [sample_kernel, center_kernel, filling_kernel(degree)]

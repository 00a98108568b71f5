"""Filling a distance field: which bricks, the distance at their nodes, and the coefficients.

Bricks are found from the coarsest level down: a brick is cut in eight wherever the surface is
near enough. At level k the distance counts within ``band * 2**k`` of the surface and fades out
over two more spacings; beyond, a brick repeats the next coarser level exactly (two-scale relation
of B-splines). Level 0 reproduces the distance; coarser levels hold it a little nearer to zero, so
that away from the surface the field never exceeds the true distance: see ``SHRINK``.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.core.types import scalar, vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.bricks import BRICK, CORE, VOLUME, Bricks, brick_at, place_in_brick
from alight.surfaces.law import POINT_OPTIONS
from alight.surfaces.triangles import Triangles, nearest_face, signed_distance, triangles_data

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

#: Spacings over which a level fades out beyond its band.
FADE = 2.0
#: How much nearer to zero coarse levels hold the distance, in their spacings. A point at distance
#: d from its nearest point p has d(y) <= |y - p| <= d + n.(y - x) + |y - x|^2 / 2d for any y; the
#: weights of a spline at x have mean x and variance 1/4 along each axis, so smoothing adds at
#: most 3/8 of a spacing squared over d. Coarse levels serve from d = 2 spacings: 3/16 and a margin.
SHRINK = 0.25
#: The ball around the body takes over between these radii, in its own.
SHELL = (2.0, 4.0)
#: Spacings of the coarsest level in the ball's radius.
COARSEST = 4.0

#: Half the diagonal of a brick's nodes with the rim, in spacings.
_REACH = 0.5 * (BRICK - 1) * np.sqrt(3.0)
_NODES = CORE**3
#: Bricks between two reports of progress: on a GPU enough to fill it, one a thread.
_PORTION = {"cpu": 8192, "gpu": 1 << 17}


class Level(NamedTuple):
    """One grid: its bricks, in the order of their numbers."""

    lowest: IntArray
    """(3,) first brick of the index along each axis."""
    numbers: IntArray
    """(nx, ny, nz) brick number, or -1."""
    bricks: IntArray
    """(n, 3) place of each brick."""


class Tables(NamedTuple):
    """A distance field on the host."""

    spacing: float
    origin: Array
    center: Array
    radius: float
    levels: list[Level]
    coefficient: npt.NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """What the field takes on a device [bytes]."""
        return int(self.coefficient.nbytes + sum(level.numbers.nbytes for level in self.levels))


def bricks_data(tables: Tables, device: devices.Device, coefficient: Any = None) -> Any:
    """The tables on a device; ``coefficient`` may be an array that is there already."""

    def put(array: Any, kind: Any) -> wp.array:
        return wp.array(np.ascontiguousarray(array), dtype=kind, device=device.name)

    data = Bricks()
    levels = tables.levels
    data.origin, data.per_spacing = vec3(*tables.origin), 1.0 / tables.spacing
    data.finest_low = wp.vec3i(*(int(i) for i in levels[0].lowest))
    data.finest_size = wp.vec3i(*levels[0].numbers.shape)
    data.lowest = put([level.lowest for level in levels], wp.vec3i)
    data.size = put([level.numbers.shape for level in levels], wp.vec3i)
    data.start = put(np.cumsum([0, *(level.numbers.size for level in levels[:-1])]), int)
    data.index = put(np.concatenate([level.numbers.ravel() for level in levels]), int)
    if coefficient is None:
        # On the CPU the table itself serves; it is by far the largest thing here.
        flat = np.ascontiguousarray(tables.coefficient, np.float32)
        coefficient = wp.array(flat, dtype=wp.float32, device=device.name, copy=device.is_gpu)
    data.coefficient = coefficient
    data.center, data.radius = vec3(*tables.center), tables.radius
    data.shell_inner, data.shell_outer = (factor * tables.radius for factor in SHELL)
    return data


# ---------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------


@wp.struct
class Grid:
    """One level while it is built: nodes at origin + (i + shift) spacing."""

    origin: vec3
    spacing: scalar
    shift: scalar
    reach: scalar  # how far distances are looked for [m]


@wp.func
def node_place(grid: Grid, i: int, j: int, k: int):
    """The place of a node [m]."""
    q = vec3(scalar(i) + grid.shift, scalar(j) + grid.shift, scalar(k) + grid.shift)
    return grid.origin + grid.spacing * q


@wp.func
def brick_center(grid: Grid, b: wp.vec3i):
    """The middle of a brick's core [m]."""
    half = scalar(0.5) * scalar(CORE - 1) * grid.spacing
    first = b * CORE
    return node_place(grid, first[0], first[1], first[2]) + vec3(half, half, half)


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def _center_kernel(
    offset: int,
    mesh: Triangles,
    grid: Grid,
    bricks: wp.array(dtype=wp.vec3i),
    hint: wp.array(dtype=int),
    face_out: wp.array(dtype=int),
) -> None:
    """The facet nearest to the centre of each brick, or -1 beyond reach."""
    n = wp.tid() + offset
    face_out[n] = nearest_face(mesh, brick_center(grid, bricks[n]), hint[n], grid.reach)


@wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
def _sample_kernel(
    offset: int,
    mesh: Triangles,
    grid: Grid,
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
            sample_out[n * _NODES + (i * CORE + j) * CORE + k] = wp.float32(value)
    least_out[n] = wp.float32(least)


@wp.struct
class Filling:
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
def sample_at(bricks: Bricks, filling: Filling, i: int, j: int, k: int):
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
        value = scalar(filling.sample[(brick - filling.first) * _NODES + local])
    return value


@functools.cache
def _filling_kernel(degree: int) -> Any:
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
    def own(bricks: Bricks, filling: Filling, d: scalar, i: int, j: int, k: int):
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

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def fill(
        offset: int, bricks: Bricks, filling: Filling, places: wp.array(dtype=wp.vec3i)
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


# ---------------------------------------------------------------------------------------------
# Host
# ---------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """What is to be built."""

    mesh: Mesh
    spacing: float
    band: float
    degree: int
    memory: float
    """Most that the field may take [bytes]."""


def build(plan: Plan, device: devices.Device, bar: Progress) -> Tables:
    """Build a distance field on a device."""
    low, high = plan.mesh.vertices.min(axis=0), plan.mesh.vertices.max(axis=0)
    center = 0.5 * (low + high)
    radius = float(np.linalg.norm(plan.mesh.vertices - center, axis=1).max())
    count = 1 + max(1, int(np.ceil(np.log2(radius / COARSEST / plan.spacing))))
    coarsest = plan.spacing * 2.0 ** (count - 1)
    half = SHELL[1] * radius + 4.0 * coarsest  # no spline out to the shell touches the rim
    side = int(np.ceil(2.0 * half / (CORE * coarsest)))
    origin = center - 0.5 * side * CORE * coarsest
    tree = triangles_data(plan.mesh, device)
    bar.start("Distance field: bricks", count)
    found = _all_bricks(plan, tree, origin, count, side, device, bar)
    bar.start("Distance field: distances", sum(len(b) for b, _ in found))
    sampled = _pruned(plan, tree, origin, found, device, bar)
    del tree, found
    tables = Tables(plan.spacing, origin, center, radius, _indexed(sampled), np.empty(0, "f4"))
    bar.start("Distance field: coefficients", count)
    samples = [sample for _, sample in sampled]
    del sampled  # so that each level's samples go when they have been used
    coefficient = _filled(plan, tables, samples, device, bar)
    return tables._replace(coefficient=coefficient)


def _grid(plan: Plan, origin: Array, level: int, reach: float) -> Any:
    grid = Grid()
    grid.origin, grid.spacing = vec3(*origin), plan.spacing * 2.0**level
    grid.shift, grid.reach = 0.5 if plan.degree == 2 else 0.0, reach
    return grid


def _all_bricks(
    plan: Plan,
    tree: Any,
    origin: Array,
    count: int,
    side: int,
    device: devices.Device,
    bar: Progress,
) -> list[tuple[IntArray, IntArray]]:
    """Bricks of every level, finest first, each with the facet nearest to its centre."""
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    places = places.astype(np.int32)
    hint = np.zeros(len(places), np.int32)
    corners = np.array(list(np.ndindex(2, 2, 2)), np.int32)
    found: list[tuple[IntArray, IntArray]] = []
    for level in range(count - 1, -1, -1):
        h = plan.spacing * 2.0**level
        reach = np.inf if level == count - 1 else plan.band * 2.0**level + (FADE + _REACH) * h
        face = wp.empty(len(places), dtype=int, device=device.name)
        inputs = [tree, _grid(plan, origin, level, reach), _put(places), _put(hint), face]
        inputs = [_moved(a, device) for a in inputs]
        devices.launch(_center_kernel, len(places), inputs, device, min_items=16)
        face = inputs[-1].numpy()
        places, face = places[face >= 0], face[face >= 0]
        _require_memory(plan, sum(len(b) for b, _ in found) + len(places))
        found.insert(0, (places, face))
        hint = np.repeat(face, 8)
        places = (2 * places[:, None, :] + corners).reshape(-1, 3)
        bar.advance(1, bricks=len(face))
    return found


def _put(array: Any) -> Any:
    kind = wp.vec3i if array.ndim == 2 else int
    return np.ascontiguousarray(array, np.int32), kind


def _moved(value: Any, device: devices.Device) -> Any:
    if isinstance(value, tuple):
        return wp.array(value[0], dtype=value[1], device=device.name)
    return value


def _require_memory(plan: Plan, bricks: int) -> None:
    needed = bricks * (VOLUME + _NODES) * 4.0
    if needed > plan.memory:
        coarser = plan.spacing * np.sqrt(needed / plan.memory) * 1.1
        raise InputError(
            f"a distance field of {plan.mesh!r} at spacing {plan.spacing:g} m takes more than "
            f"{needed / 1e9:.1f} GB to build, above the limit of {plan.memory / 1e9:.1f} GB. Use a "
            f"spacing of {coarser:.2g} m or more, or raise memory= [bytes]."
        )


def _pruned(
    plan: Plan,
    tree: Any,
    origin: Array,
    found: list[tuple[IntArray, IntArray]],
    device: devices.Device,
    bar: Progress,
) -> list[tuple[IntArray, npt.NDArray[np.float32]]]:
    """Bricks with their samples, without those that only repeat the level above."""
    kept: list[tuple[IntArray, npt.NDArray[np.float32]]] = []
    needed = np.empty((0, 3), np.int32)
    for level, (places, face) in enumerate(found):
        h = plan.spacing * 2.0**level
        last = level == len(found) - 1
        # The prefilter asks one node further than the level counts, along each axis.
        reach = plan.band * 2.0**level + (FADE + np.sqrt(3.0) + 0.01) * h
        grid = _grid(plan, origin, level, np.inf if last else reach)
        sample = wp.empty(len(places) * _NODES, dtype=wp.float32, device=device.name)
        least = wp.empty(len(places), dtype=wp.float32, device=device.name)
        inputs = [_moved(a, device) for a in (tree, grid, _put(places), _put(face), sample, least)]
        portion = _PORTION["gpu" if device.is_gpu else "cpu"]
        for begin in range(0, len(places), portion):
            count = min(portion, len(places) - begin)
            devices.launch(_sample_kernel, count, [*inputs, begin], device, min_items=2)
            bar.advance(count)
        # A node of the rim is at most sqrt(3) spacings from the core.
        keep = least.numpy() < reach
        keep |= last | _among(places, np.unique(needed >> 1, axis=0))
        needed = places[keep]
        kept.append((needed, sample.numpy().reshape(-1, _NODES)[keep]))
    return kept


def _among(places: IntArray, others: IntArray) -> npt.NDArray[np.bool_]:
    """Which of the places are among others."""
    if not len(others):
        return np.zeros(len(places), bool)
    size = int(max(places.max(), others.max())) + 1
    return np.isin(_number(places, size), _number(others, size))


def _number(places: IntArray, size: int) -> npt.NDArray[np.int64]:
    x, y, z = places.T.astype(np.int64)
    return (x * size + y) * size + z


def _indexed(sampled: list[tuple[IntArray, npt.NDArray[np.float32]]]) -> list[Level]:
    """Bricks numbered through all levels, and where each level keeps which."""
    levels, first = [], 0
    for places, _ in sampled:
        lowest = places.min(axis=0)
        index = np.full(places.max(axis=0) - lowest + 1, -1, np.int32)
        index[tuple((places - lowest).T)] = first + np.arange(len(places))
        levels.append(Level(lowest, index, places))
        first += len(places)
    return levels


def _filled(
    plan: Plan,
    tables: Tables,
    samples: list[npt.NDArray[np.float32]],
    device: devices.Device,
    bar: Progress,
) -> npt.NDArray[np.float32]:
    """Coefficients of all bricks, coarsest level first."""
    count = len(tables.levels)
    total = sum(len(level.bricks) for level in tables.levels)
    coefficient = wp.empty(total * VOLUME, dtype=wp.float32, device=device.name)
    data = bricks_data(tables, device, coefficient)
    first = total
    for level in range(count - 1, -1, -1):
        places = tables.levels[level].bricks
        first -= len(places)
        filling = Filling()
        filling.level, filling.first = level, first
        filling.coarsest = int(level == count - 1)
        filling.spacing = plan.spacing * 2.0**level
        filling.band, filling.fade = plan.band * 2.0**level, FADE * filling.spacing
        filling.shrink = SHRINK * filling.spacing
        sample = np.ascontiguousarray(samples.pop().ravel())
        filling.sample = wp.array(sample, dtype=wp.float32, device=device.name, copy=device.is_gpu)
        inputs = [data, filling, _moved(_put(places), device)]
        devices.launch(_filling_kernel(plan.degree), len(places), inputs, device, min_items=2)
        bar.advance(1)
    return coefficient.numpy()

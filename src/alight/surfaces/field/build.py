"""Filling a distance field: which bricks, the distance at their nodes, and the coefficients.

Bricks are found from the coarsest level down: a brick is cut in eight wherever the surface is
near enough. At level k the distance counts within ``band * 2**k`` of the surface and fades out
over two more spacings; beyond, a brick repeats the next coarser level exactly (two-scale relation
of B-splines). Level 0 reproduces the distance; coarser levels hold it a little nearer to zero, so
that away from the surface the field never exceeds the true distance: see ``SHRINK``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.progress import Progress
from alight.core.types import vec3
from alight.shapes.mesh import Mesh
from alight.surfaces.facets.triangles import triangles_data
from alight.surfaces.field.bricks import BRICK, CORE, VOLUME, Bricks
from alight.surfaces.field.build_kernels import (
    NODES,
    FieldGrid,
    LevelFilling,
    center_kernel,
    filling_kernel,
    sample_kernel,
)

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


class BuildPlan(NamedTuple):
    """What is to be built."""

    mesh: Mesh
    spacing: float
    band: float
    degree: int
    memory: float
    """Most that the field may take [bytes]."""


def build(plan: BuildPlan, device: devices.Device, bar: Progress) -> Tables:
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


def _grid(plan: BuildPlan, origin: Array, level: int, reach: float) -> Any:
    grid = FieldGrid()
    grid.origin, grid.spacing = vec3(*origin), plan.spacing * 2.0**level
    grid.shift, grid.reach = 0.5 if plan.degree == 2 else 0.0, reach
    return grid


def _all_bricks(
    plan: BuildPlan,
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
        devices.launch(center_kernel, len(places), inputs, device, min_items=16)
        face = inputs[-1].numpy()
        places, face = places[face >= 0], face[face >= 0]
        _require_memory(plan, sum(len(b) for b, _ in found) + len(places), level)
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


def _require_memory(plan: BuildPlan, bricks: int, level: int) -> None:
    """An error where the bricks so far are too many; ``level`` finer levels are still to come."""
    needed = bricks * (VOLUME + NODES) * 4.0
    if needed > plan.memory:
        needed *= 4.0**level  # bricks cover a surface: each level has four times those of the last
        coarser = plan.spacing * np.sqrt(needed / plan.memory) * 1.1
        about = f"{float(f'{needed / 1e9:.2g}'):.12g}"
        raise InputError(
            f"a distance field of {plan.mesh!r} at spacing {plan.spacing:g} m takes about "
            f"{about} GB to build, above the limit of {plan.memory / 1e9:.1f} GB. Use a "
            f"spacing of {coarser:.2g} m or more, or from Python raise memory= [bytes]."
        )


def _pruned(
    plan: BuildPlan,
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
        sample = wp.empty(len(places) * NODES, dtype=wp.float32, device=device.name)
        least = wp.empty(len(places), dtype=wp.float32, device=device.name)
        inputs = [_moved(a, device) for a in (tree, grid, _put(places), _put(face), sample, least)]
        portion = _PORTION["gpu" if device.is_gpu else "cpu"]
        for begin in range(0, len(places), portion):
            count = min(portion, len(places) - begin)
            devices.launch(sample_kernel, count, [*inputs, begin], device, min_items=2)
            bar.advance(count)
        # A node of the rim is at most sqrt(3) spacings from the core.
        keep = least.numpy() < reach
        keep |= last | _among(places, np.unique(needed >> 1, axis=0))
        needed = places[keep]
        kept.append((needed, sample.numpy().reshape(-1, NODES)[keep]))
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
    plan: BuildPlan,
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
        filling = LevelFilling()
        filling.level, filling.first = level, first
        filling.coarsest = int(level == count - 1)
        filling.spacing = plan.spacing * 2.0**level
        filling.band, filling.fade = plan.band * 2.0**level, FADE * filling.spacing
        filling.shrink = SHRINK * filling.spacing
        sample = np.ascontiguousarray(samples.pop().ravel())
        filling.sample = wp.array(sample, dtype=wp.float32, device=device.name, copy=device.is_gpu)
        inputs = [data, filling, _moved(_put(places), device)]
        devices.launch(filling_kernel(plan.degree), len(places), inputs, device, min_items=2)
        bar.advance(1)
    return coefficient.numpy()

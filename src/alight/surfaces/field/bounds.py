"""How steep and how curved a distance field is: bounds that hold at every point, not samples.

Over one cell a spline is a polynomial, and every derivative of it is a weighted mean of its
Bezier control values: the largest control value bounds the derivative over the whole cell.
Gradient vectors and Hessian matrices are formed at the control points, so the bounds are those
of vector lengths and (Frobenius) matrix norms. Cells that lie deeper inside the body than a given
depth do not count: nothing that flies gets there; nor do those that a finer level covers.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.progress import Progress
from alight.core.types import mat33, scalar, vec3
from alight.core.warp_setup import TABLE_OPTIONS
from alight.surfaces.field.bricks import BRICK, CORE, VOLUME, Bricks, brick_at
from alight.surfaces.field.build import SHELL, Tables
from alight.surfaces.law import Bounds

#: Bricks looked at closely in one go.
_BATCH = 4096

# Rows: control values of a quadratic B-spline's value and slope over a cell, from its three
# coefficients; the second derivative is constant.
_VALUE = wp.constant(mat33(0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5))
_SLOPE = wp.constant(mat33(-1.0, 1.0, 0.0, -0.5, 0.0, 0.5, 0.0, -1.0, 1.0))
_BEND = wp.constant(vec3(1.0, -2.0, 1.0))


@wp.func
def coefficient_at(bricks: Bricks, at: int):
    """A coefficient in double precision."""
    return scalar(bricks.coefficient[at])


@wp.kernel(module="unique", enable_backward=False, module_options=TABLE_OPTIONS)
def _coarse_kernel(
    offset: int,
    bricks: Bricks,
    per_spacing: wp.array(dtype=scalar),
    depth: scalar,
    slope_out: wp.array(dtype=scalar),
    bend_out: wp.array(dtype=scalar),
) -> None:
    """Quick bounds over a whole brick, from the largest differences of its coefficients."""
    n = wp.tid() + offset
    slope = vec3()
    bend = vec3()
    twist = vec3()
    highest = scalar(-wp.inf)
    for a in range(VOLUME):
        at = n * VOLUME + a
        v = coefficient_at(bricks, at)
        highest = wp.max(highest, v)
        x = a >> 6
        y = (a >> 3) & 7
        z = a & 7
        dx = wp.where(x < 7, coefficient_at(bricks, at + wp.where(x < 7, 64, 0)) - v, scalar(0.0))
        dy = wp.where(y < 7, coefficient_at(bricks, at + wp.where(y < 7, 8, 0)) - v, scalar(0.0))
        dz = wp.where(z < 7, coefficient_at(bricks, at + wp.where(z < 7, 1, 0)) - v, scalar(0.0))
        slope = wp.max(slope, vec3(wp.abs(dx), wp.abs(dy), wp.abs(dz)))
        if x < 6:
            s = coefficient_at(bricks, at + 128) - coefficient_at(bricks, at + 64) - dx
            bend[0] = wp.max(bend[0], wp.abs(s))
        if y < 6:
            s = coefficient_at(bricks, at + 16) - coefficient_at(bricks, at + 8) - dy
            bend[1] = wp.max(bend[1], wp.abs(s))
        if z < 6:
            s = coefficient_at(bricks, at + 2) - coefficient_at(bricks, at + 1) - dz
            bend[2] = wp.max(bend[2], wp.abs(s))
        if x < 7 and y < 7:
            s = coefficient_at(bricks, at + 72) - coefficient_at(bricks, at + 8) - dx
            twist[0] = wp.max(twist[0], wp.abs(s))
        if x < 7 and z < 7:
            s = coefficient_at(bricks, at + 65) - coefficient_at(bricks, at + 1) - dx
            twist[1] = wp.max(twist[1], wp.abs(s))
        if y < 7 and z < 7:
            s = coefficient_at(bricks, at + 9) - coefficient_at(bricks, at + 1) - dy
            twist[2] = wp.max(twist[2], wp.abs(s))
    counts = wp.where(highest >= -depth, scalar(1.0), scalar(0.0))
    f = per_spacing[n]
    slope_out[n] = counts * f * wp.length(slope)
    bend_out[n] = counts * f * f * wp.sqrt(wp.dot(bend, bend) + scalar(2.0) * wp.dot(twist, twist))


@functools.cache
def _close_kernel(degree: int) -> Any:
    """A kernel that bounds slope and curvature over every cell of a brick."""

    @wp.func
    def highest_near(bricks: Bricks, at: int, reach: int):
        """The largest coefficient that a cell draws on."""
        top = scalar(-wp.inf)
        for a in range(reach * reach * reach):
            x = a / (reach * reach)
            y = (a / reach) - x * reach
            z = a - (x * reach + y) * reach
            top = wp.max(top, coefficient_at(bricks, at + (x * BRICK + y) * BRICK + z))
        return top

    @wp.func
    def mixed(bricks: Bricks, at: int, x: vec3, y: vec3, z: vec3):
        """27 coefficients under one row of weights along each axis."""
        total = scalar(0.0)
        for a in range(3):
            for b in range(3):
                row = at + (a * BRICK + b) * BRICK
                r = z[0] * coefficient_at(bricks, row)
                r += z[1] * coefficient_at(bricks, row + 1)
                r += z[2] * coefficient_at(bricks, row + 2)
                total += x[a] * y[b] * r
        return total

    @wp.func
    def quadratic(bricks: Bricks, at: int, n: int):
        """Squared slope and curvature at control point n of a quadratic cell, in spacings."""
        i = n / 9
        j = (n / 3) - i * 3
        k = n - (i * 3 + j) * 3
        vx = wp.vec3d(_VALUE[i, 0], _VALUE[i, 1], _VALUE[i, 2])
        vy = wp.vec3d(_VALUE[j, 0], _VALUE[j, 1], _VALUE[j, 2])
        vz = wp.vec3d(_VALUE[k, 0], _VALUE[k, 1], _VALUE[k, 2])
        dx = wp.vec3d(_SLOPE[i, 0], _SLOPE[i, 1], _SLOPE[i, 2])
        dy = wp.vec3d(_SLOPE[j, 0], _SLOPE[j, 1], _SLOPE[j, 2])
        dz = wp.vec3d(_SLOPE[k, 0], _SLOPE[k, 1], _SLOPE[k, 2])
        s = _BEND
        g = vec3(
            mixed(bricks, at, dx, vy, vz),
            mixed(bricks, at, vx, dy, vz),
            mixed(bricks, at, vx, vy, dz),
        )
        own = vec3(
            mixed(bricks, at, s, vy, vz), mixed(bricks, at, vx, s, vz), mixed(bricks, at, vx, vy, s)
        )
        cross = vec3(
            mixed(bricks, at, dx, dy, vz),
            mixed(bricks, at, dx, vy, dz),
            mixed(bricks, at, vx, dy, dz),
        )
        bend2 = wp.dot(own, own) + scalar(2.0) * wp.dot(cross, cross)
        return wp.dot(g, g), bend2

    @wp.func
    def linear(bricks: Bricks, at: int, n: int):
        """Squared slope at corner n of a trilinear cell, in spacings."""
        x = (n >> 2) * 64
        y = ((n >> 1) & 1) * 8
        z = n & 1
        dx = coefficient_at(bricks, at + 64 + y + z) - coefficient_at(bricks, at + y + z)
        dy = coefficient_at(bricks, at + x + 8 + z) - coefficient_at(bricks, at + x + z)
        dz = coefficient_at(bricks, at + x + y + 1) - coefficient_at(bricks, at + x + y)
        return dx * dx + dy * dy + dz * dz, scalar(0.0)

    at_control = quadratic if degree == 2 else linear
    controls = 27 if degree == 2 else 8

    @wp.func
    def counts(bricks: Bricks, level: int, i: wp.vec3i, h: scalar, inner: scalar):
        """Is a cell read at all, and does it reach out to a radius?"""
        read = bool(True)
        if level > 0:
            # A finer cell is half as wide: bricks of six of them are three of these.
            finer = wp.vec3i(i[0] / 3, i[1] / 3, i[2] / 3)
            read = brick_at(bricks, level - 1, finer) < 0
        half = scalar(0.5)
        middle = vec3(scalar(i[0]) + half, scalar(i[1]) + half, scalar(i[2]) + half)
        r = wp.length(bricks.origin + h * middle - bricks.center)
        return read and r + h > inner

    reach = degree + 1

    @wp.kernel(module="unique", enable_backward=False, module_options=TABLE_OPTIONS)
    def close(
        offset: int,
        bricks: Bricks,
        number: wp.array(dtype=int),
        place: wp.array(dtype=wp.vec3i),
        level: wp.array(dtype=int),
        depth: scalar,
        inner: scalar,
        slope_out: wp.array(dtype=scalar),
        bend_out: wp.array(dtype=scalar),
    ) -> None:
        n = wp.tid() + offset
        brick = number[n]
        slope2 = scalar(0.0)
        bend2 = scalar(0.0)
        h = scalar(1 << level[n]) / bricks.per_spacing
        for a in range(CORE * CORE * CORE):
            x = a / (CORE * CORE)
            y = (a / CORE) - x * CORE
            z = a - (x * CORE + y) * CORE
            # First coefficient: the node before a quadratic cell's own, a linear cell's own.
            at = brick * VOLUME + (x * BRICK + y) * BRICK + z
            if wp.static(degree == 1):
                at = at + (BRICK + 1) * BRICK + 1
            i = place[n] * CORE + wp.vec3i(x, y, z)
            if highest_near(bricks, at, wp.static(reach)) >= -depth and counts(
                bricks, level[n], i, h, inner
            ):
                for c in range(wp.static(controls)):
                    s, b = at_control(bricks, at, c)
                    slope2 = wp.max(slope2, s)
                    bend2 = wp.max(bend2, b)
        slope_out[n] = wp.sqrt(slope2) / h
        bend_out[n] = wp.sqrt(bend2) / (h * h)

    return close


def bounds_kernels(degree: int) -> list[Any]:
    """What ``measure`` launches."""
    return [_close_kernel(degree), _coarse_kernel]


def measure(
    tables: Tables, data: Any, degree: int, depth: float, device: devices.Device, bar: Progress
) -> Bounds:
    """Bounds of a field whose data are on a device, down to a depth [m]."""
    bar.start("Distance field: slope and curvature")
    counts = [len(level.bricks) for level in tables.levels]
    spacing = tables.spacing * 2.0 ** np.arange(len(counts))
    per_spacing = _put(np.repeat(1.0 / spacing, counts), scalar, device)
    above = [wp.empty(sum(counts), dtype=scalar, device=device.name) for _ in range(2)]
    inputs = [data, per_spacing, depth, *above]
    devices.launch(_coarse_kernel, sum(counts), inputs, device, min_items=16)
    slope_above, bend_above = (a.numpy() for a in above)
    # Rounding in the sums of a bound must not undo it.
    slack = 1.0 + 1e-6
    # The ball's own field has slope 1 and a curvature that only falls outwards.
    slope, bend = 1.0, 0.0
    open_ = np.ones(sum(counts), bool)
    while True:
        open_ &= (slope_above > slope) | ((bend_above > bend) & (degree == 2))
        left = np.flatnonzero(open_)
        if not len(left):
            break
        worth = np.maximum(slope_above[left] / slope_above.max(), _share(bend_above, left, degree))
        chosen = left[np.argsort(-worth, kind="stable")[:_BATCH]]
        open_[chosen] = False
        found = _closely(tables, data, chosen, (depth, 0.0), degree, device)
        bar.advance(len(chosen))
        slope, bend = max(slope, found[0]), max(bend, found[1])
    there, excess = _in_shell(tables, degree)
    found = _closely(tables, data, there, (depth, SHELL[0] * tables.radius), degree, device)
    slope_shell, bend_shell = _shell(tables.radius, excess, *found)
    slope = max(slope, slope_shell) * slack
    return Bounds(slope, max(bend, bend_shell) * slack if degree == 2 else float("inf"))


def _share(bend_above: Any, left: Any, degree: int) -> Any:
    return bend_above[left] / bend_above.max() if degree == 2 else 0.0


def _closely(
    tables: Tables,
    data: Any,
    bricks: npt.NDArray[np.int64],
    limits: tuple[float, float],
    degree: int,
    device: devices.Device,
) -> tuple[float, float]:
    """Largest slope and curvature in some bricks, down to a depth and out from a radius."""
    place = np.concatenate([level.bricks for level in tables.levels])[bricks]
    level = np.repeat(np.arange(len(tables.levels)), [len(lv.bricks) for lv in tables.levels])
    out = [wp.empty(len(bricks), dtype=scalar, device=device.name) for _ in range(2)]
    inputs = [data, _put(bricks, int, device), _put(place, wp.vec3i, device)]
    inputs += [_put(level[bricks], int, device), *limits, *out]
    devices.launch(_close_kernel(degree), len(bricks), inputs, device, min_items=2)
    return float(out[0].numpy().max()), float(out[1].numpy().max())


def _shell(radius: float, excess: float, slope: float, bend: float) -> tuple[float, float]:
    """Bounds where the ball's distance a takes over from the grids' c, as c + b (a - c).

    b is a smooth step across the shell of width w: |b'| <= 3/2w, |b''| <= 6/w^2. Where a < c,
    b' (a - c) only takes from the slope, as both rise outwards; and c - a is at most a radius.
    Where a exceeds c, it adds.
    """
    width, inner = (SHELL[1] - SHELL[0]) * radius, SHELL[0] * radius
    step = 6.0 / width**2 + 1.5 / (width * inner)
    curvature = bend + 1.0 / inner + step * (radius + excess) + 3.0 / width * (slope + 1.0)
    return max(slope, 1.0) + 1.5 / width * excess, curvature


def _in_shell(tables: Tables, degree: int) -> tuple[npt.NDArray[np.int64], float]:
    """Bricks that reach into the shell, and the excess of the ball's distance there [m].

    The ball's distance is convex, so its excess over a spline with positive weights is at most
    the largest excess at the nodes.
    """
    inner = SHELL[0] * tables.radius
    bricks, excess, first = [], 0.0, 0
    for k, level in enumerate(tables.levels):
        h = tables.spacing * 2.0**k
        middle = tables.origin + (CORE * level.bricks + 0.5 * CORE) * h - tables.center
        # A brick, rim and support of its splines included, is within 5 spacings along each axis.
        there = np.flatnonzero(np.linalg.norm(middle, axis=1) + 5.0 * np.sqrt(3.0) * h > inner)
        if len(there):
            bricks.append(first + there)
            excess = max(excess, _excess(tables, level.bricks[there], first + there, h, degree))
        first += len(level.bricks)
    return np.concatenate(bricks), excess


def _excess(tables: Tables, places: Any, number: Any, h: float, degree: int) -> float:
    """By how much the ball's distance exceeds the coefficients of some bricks at most [m]."""
    local = np.stack(np.meshgrid(*[np.arange(BRICK)] * 3, indexing="ij"), -1).reshape(-1, 3)
    shift = (0.5 if degree == 2 else 0.0) - 1.0
    node = (CORE * places[:, None, :] + local + shift) * h + (tables.origin - tables.center)
    r = np.linalg.norm(node, axis=-1)
    support = 1.5 * np.sqrt(3.0) * h
    low, high = (factor * tables.radius for factor in SHELL)
    counts = (r > low - support) & (r < high + support)
    excess = r - tables.radius - tables.coefficient.reshape(-1, VOLUME)[number]
    return float(excess[counts].max(initial=0.0))


def _put(array: Any, kind: Any, device: devices.Device) -> wp.array:
    host = np.ascontiguousarray(array, np.float64 if kind is scalar else np.int32)
    return wp.array(host, dtype=kind, device=device.name)

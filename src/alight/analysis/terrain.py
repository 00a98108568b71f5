"""Ground as it is touched, seen from above: heights, slopes and rocks over a square.

The surface itself is asked, the very function that landers touch, so that hills, rocks and the
error of a distance field are all there. A ray falls on every point of a grid: it may always
continue by distance / slope, which no surface exceeds (``surfaces.law.Bounds``), until it is in the
ground; its last step is then halved.
Rays begin twice the half side above the middle: what hangs over the place from farther up, such as
the other lobe of a body, is not in their way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from alight.analysis import surface as on_surface
from alight.analysis.columns import Array, Bools
from alight.core.checks import checked_number, checked_vector, checked_whole
from alight.core.errors import InputError
from alight.surfaces.law import Surface

#: Points of the grid along a side, and those between which the plumb line is interpolated.
POINTS, COARSE = 201, 9

#: Rays begin so many half sides above the middle, and end as far below it.
ABOVE = 2.0

#: No step of a ray is shorter than this part of the way between points, so that it does not creep
#: along steep ground; what it then passes by is too small for the map. It takes so many at most.
SHORTEST, STEPS = 0.25, 400

#: Halvings of the last step, and how near to the ground rays then end, in ways between points.
HALVINGS = 4
NEAR = SHORTEST * 2.0**-HALVINGS

#: Weight per mass (n, 3) [m/s^2] of what rests at places (n, 3) [m], target axes.
Weight = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Terrain:
    """A square of ground about a place."""

    place: Array
    """(3,) its middle, target axes [m]."""
    R_TL: Array
    """(3, 3) columns: to the right (east), ahead (north) and out of the ground, target axes."""
    half: float
    """Half of its side [m]."""
    height: Array
    """(n, n) along the third axis from ``place`` [m], rows ahead; nan where there is no ground."""
    normal: Array
    """(n, n, 3) outward unit normals, target axes."""
    slope: Array
    """(n, n) angle between the normal and the plumb line [rad]."""
    rocks: Bools
    """(n, n) whether it is a rock that a ray meets."""

    @property
    def line(self) -> Array:
        """(n,) coordinates of columns and of rows [m]."""
        return np.linspace(-self.half, self.half, len(self.height))

    @property
    def cell(self) -> float:
        """Way between points of the grid [m]."""
        return 2.0 * self.half / (len(self.height) - 1)

    @property
    def ground(self) -> Bools:
        """(n, n) where there is ground."""
        return np.isfinite(self.height)

    def local(self, places: Array) -> Array:
        """(..., 3) places in the axes of the square, from its middle [m]."""
        return np.asarray((places - self.place) @ self.R_TL)

    def inside(self, places: Array) -> Bools:
        """(n,) which places (n, 3) lie over the square, and not on the far side of the body."""
        near = np.abs(self.local(places)) <= np.array([1.0, 1.0, ABOVE]) * self.half
        return np.asarray(near.all(axis=-1))

    def under(self, values: Array, places: Array) -> Array:
        """(n,) values of the grid at the points nearest to places (n, 3) over the square."""
        x, y = self.local(places)[:, :2].T
        column, row = (np.rint((a + self.half) / self.cell).astype(int) for a in (x, y))
        return np.asarray(values[row, column])


def terrain(
    ground: Surface,
    place: Array,
    R_TL: Array,
    half: float,
    weight: Weight,
    *,
    bare: Surface | None = None,
    points: int = POINTS,
    device: str = "cpu",
) -> Terrain:
    """The ground over a square of ``2 half`` about ``place`` [m], seen along the axis R_TL[:, 2].

    Args:
        ground: What landers touch.
        place: The middle, target axes [m], near the ground.
        R_TL: (3, 3) columns: to the right, ahead, and up as the map is seen.
        half: Half of the side [m].
        weight: What pulls at rest, whose direction is that of the plumb line.
        bare: The ground without its rocks; None where it has none.
        points: Points of the grid along a side.
        device: Where the surface is evaluated.
    """
    checked_number("half [m]", half)
    middle, n = checked_vector("place [m]", place), checked_whole("points", points, 2)
    line = np.linspace(-half, half, n)
    x, y = np.meshgrid(line, line)
    foot = middle + np.stack([x, y], axis=2).reshape(-1, 2) @ R_TL[:, :2].T
    cell = float(line[1] - line[0])
    height = _fallen(ground, foot, R_TL[:, 2], half, cell, device)
    known = np.flatnonzero(np.isfinite(height))
    if not len(known):
        near = ", ".join(f"{x:.4g}" for x in middle)
        raise InputError(f"there is no ground within {ABOVE * half:.3g} m of ({near}) m")
    touched = foot[known] + height[known, None] * R_TL[:, 2]
    normal, slope = np.full((n * n, 3), np.nan), np.full(n * n, np.nan)
    normal[known] = ground.query(touched, device)[1]
    pull = _interpolated(weight, middle, R_TL, height.reshape(n, n), half)
    slope[known] = on_surface.slope(pull.reshape(-1, 3)[known], normal[known])
    rocks = np.zeros(n * n, dtype=np.bool_)
    if bare is not None:  # a ray that a rock stops has not yet met what it lies on
        rocks[known] = bare.query(touched, device)[0] > 4.0 * NEAR * cell
    shape = (n, n)
    return Terrain(
        middle, R_TL, float(half), height.reshape(shape), normal.reshape(*shape, 3),
        slope.reshape(shape), rocks.reshape(shape),
    )  # fmt: skip


def _fallen(
    ground: Surface, foot: Array, up: Array, half: float, cell: float, device: str
) -> Array:
    """(m,) heights along ``up`` over points ``foot`` at which rays meet the ground; nan: none."""
    steep = ground.bounds.slope
    height = _outside(ground, foot, up, half, steep, device)
    going = np.flatnonzero(np.isfinite(height))
    under = [going[:0]]
    for _ in range(STEPS):
        if not len(going):
            break
        distance = ground.query(foot[going] + height[going, None] * up, device)[0]
        within = height[going] > -ABOVE * half
        under.append(going[within & (distance <= 0.0)])
        left = within & (distance > 0.0)
        going, distance = going[left], distance[left]
        height[going] -= np.maximum(distance / steep, SHORTEST * cell)
    met = np.concatenate(under)
    out = np.full(len(foot), np.nan)
    out[met] = _halved(ground, foot[met], up, height[met], SHORTEST * cell, device)
    return out


def _halved(ground: Surface, foot: Array, up: Array, low: Array, step: float, device: str) -> Array:
    """(m,) heights of the ground between ``low``, which is in it, and a step above, which is not:
    only the shortest steps go in, as longer ones are bounded by the distance."""
    high = low + step
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        inside = ground.query(foot + middle[:, None] * up, device)[0] <= 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(0.5 * (low + high))


def _outside(
    ground: Surface, foot: Array, up: Array, half: float, steep: float, device: str
) -> Array:
    """(m,) heights from which rays begin, outside the ground; nan where there is only ground."""
    height = np.full(len(foot), ABOVE * half)
    going = np.arange(len(foot))
    for _ in range(STEPS):
        distance = ground.query(foot[going] + height[going, None] * up, device)[0]
        going, deep = going[distance <= 0.0], distance[distance <= 0.0]
        if not len(going):
            return height
        height[going] += np.maximum(-deep / steep, 0.02 * half)
    height[going] = np.nan
    return height


def _interpolated(weight: Weight, middle: Array, R_TL: Array, height: Array, half: float) -> Array:
    """(n, n, 3) weight on the ground, linear between a few of its points: it hardly varies there,
    and costs the more the finer the body's mesh is."""
    n = len(height)
    known = np.where(np.isfinite(height), height, np.nanmedian(height))
    at = np.linspace(0, n - 1, min(COARSE, n)).astype(int)
    line = np.linspace(-half, half, n)
    x, y = np.meshgrid(line[at], line[at])
    few = np.stack([x, y, known[np.ix_(at, at)]], axis=2)
    pull = weight((middle + few.reshape(-1, 3) @ R_TL.T).reshape(-1, 3)).reshape(few.shape)
    share = np.stack([np.interp(line, line[at], one) for one in np.eye(len(at))], axis=1)
    return np.asarray(np.einsum("ri,ijk,cj->rck", share, pull, share, optimize=True))

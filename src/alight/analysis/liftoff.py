"""How fast an object may slide before the ground falls away under it, by place and heading.

In the frame that turns with the body an object that slides at speed v along the unit tangent t is
held on ground of normal curvature kappa(t) by the push per mass (paper 001, equation 21)

    N = -n.(g - Omega x (Omega x r) - 2 Omega x (v t)) - kappa v^2 = w + 2 c v - kappa v^2,

with w = -n.g_eff the weight and c = n.(Omega x t) half the Coriolis push at unit speed. It leaves
where N reaches zero, at the smallest positive root

    v = w / (sqrt(c^2 + kappa w) - c),

and never where there is none: in a hollow. Where w <= 0 it leaves at once. Van wal and Scheeres
draw such maps to tell where a hopper may roll. On a sphere at rest v = sqrt(g R), on the equator
of a turning one sqrt(GM/R) -+ Omega R eastward and westward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from alight.analysis.surface import CHUNK, effective_acceleration
from alight.core.checks import checked_vector
from alight.core.errors import InputError
from alight.core.frames import direction, local_frame
from alight.gravity.law import Gravity
from alight.surfaces.law import Surface
from alight.surfaces.parametric.surface import Parametric

Array = npt.NDArray[np.float64]

#: Headings that are tried for the least speed, before the best one is refined.
HEADINGS = 72

#: Halvings of the bracket around it, by the golden section: 5 degrees become 1e-7.
REFINEMENTS = 36

#: Headings [rad], clockwise from north.
NORTH, EAST, WEST = 0.0, 0.5 * np.pi, 1.5 * np.pi


@dataclass(frozen=True)
class LiftOff:
    """What decides at which speed a sliding object leaves the ground, at n places."""

    weight: Array
    """(n,) push of the ground on an object at rest, per mass [m/s^2]; negative: none stays."""
    coriolis: Array
    """(n, 2) c = n.(Omega x t) for t east and north along the ground [1/s]."""
    shape: Array
    """(n, 2, 2) curvature of the ground in the same axes [1/m]."""

    def speed(self, heading: npt.ArrayLike) -> Array:
        """(n,) lift-off speed [m/s] along ``heading`` [rad], clockwise from north; inf: never."""
        slowness = self._slowness(np.broadcast_to(heading, self.weight.shape))
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / slowness)

    @cached_property
    def east(self) -> Array:
        """(n,) lift-off speed going east [m/s]."""
        return self.speed(EAST)

    @cached_property
    def west(self) -> Array:
        """(n,) lift-off speed going west [m/s]."""
        return self.speed(WEST)

    @cached_property
    def least(self) -> Array:
        """(n,) smallest lift-off speed of all headings [m/s]; inf where none leaves."""
        return self.speed(self.least_heading)

    @cached_property
    def least_heading(self) -> Array:
        """(n,) heading of the smallest lift-off speed [rad], clockwise from north."""
        step = 2.0 * np.pi / HEADINGS
        tried = step * np.arange(HEADINGS)
        best = np.zeros(len(self.weight))
        most = np.full(len(self.weight), -np.inf)
        for heading in tried:
            found = self._slowness(np.full(len(best), heading))
            best = np.where(found > most, heading, best)
            most = np.maximum(found, most)
        return self._refined(best, step) % (2.0 * np.pi)

    def _refined(self, heading: Array, step: float) -> Array:
        """The heading of the largest slowness within ``step`` of ``heading``."""
        golden = 0.5 * (np.sqrt(5.0) - 1.0)
        low, high = heading - step, heading + step
        for _ in range(REFINEMENTS):
            span = golden * (high - low)
            left, right = high - span, low + span
            rising = self._slowness(right) > self._slowness(left)
            low, high = np.where(rising, left, low), np.where(rising, high, right)
        middle = 0.5 * (low + high)
        # Never worse than where it began: a bracket may hold an edge beyond which none leaves.
        return np.where(self._slowness(middle) >= self._slowness(heading), middle, heading)

    def _slowness(self, heading: Array) -> Array:
        """(n,) 1/v [s/m]: zero where nothing leaves, infinite where everything does."""
        t = np.stack((np.sin(heading), np.cos(heading)), axis=-1)
        c = np.einsum("na,na->n", self.coriolis, t)
        kappa = np.einsum("na,nab,nb->n", t, self.shape, t)
        rest = self.weight > 0.0
        w = np.where(rest, self.weight, 1.0)
        inside = c**2 + kappa * w
        root = np.sqrt(np.maximum(0.0, inside))
        # (root - c)/w, and for c > 0 the same without cancellation
        above = np.where(c > 0.0, kappa / np.where(c > 0.0, root + c, 1.0), (root - c) / w)
        leaves = (inside >= 0.0) & (above > 0.0)
        return np.where(rest, np.where(leaves, above, 0.0), np.inf)


def lift_off(
    ground: Surface,
    points: npt.ArrayLike,
    attraction: npt.ArrayLike,
    spin: npt.ArrayLike,
    device: str = "auto",
) -> LiftOff:
    """Lift-off at ``points`` of a smooth surface.

    Args:
        ground: A surface with second derivatives, such as ``surfaces.Parametric``.
        points: (n, 3) places on it [m].
        attraction: (n, 3) gravity there, without spin [m/s^2].
        spin: (3,) angular velocity in body axes [rad/s].
        device: Where to compute.
    """
    x, g = np.asarray(points, dtype=np.float64), np.asarray(attraction, dtype=np.float64)
    if x.ndim != 2 or g.shape != x.shape:
        raise InputError(
            f"points have shape {x.shape} and attraction {g.shape}; both must be (n, 3), one "
            "acceleration for each point"
        )
    omega = checked_vector("spin [rad/s]", spin)
    found = ground.bends(x, device)
    axes = level_axes(x, found.normal)
    effective = effective_acceleration(x, g, omega)
    coriolis = np.cross(omega, axes, axisb=1, axisc=1)
    return LiftOff(
        weight=-np.einsum("ni,ni->n", found.normal, effective),
        coriolis=np.einsum("ni,nia->na", found.normal, coriolis),
        shape=found.shape(axes),
    )


def level_axes(points: Array, normals: Array) -> Array:
    """(n, 3, 2) unit tangents: east along the ground, and north of it.

    East is that of the place, laid on the ground: it turns with longitude alone, while the
    normals of rough ground near a pole would turn it every way.
    """
    east = local_frame(points)[..., 0]
    east = east - np.einsum("ni,ni->n", east, normals)[:, None] * normals
    east = east / np.linalg.norm(east, axis=1)[:, None]
    return np.stack((east, np.cross(normals, east)), axis=-1)


@dataclass(frozen=True)
class LiftOffMap:
    """Lift-off speeds on a grid of latitude and longitude."""

    latitude: Array
    """(rows,) from -pi/2 to pi/2, both included [rad]."""
    longitude: Array
    """(columns,) east, from 0 up to but without 2 pi [rad]."""
    share: Array
    """(rows, columns) part of the body's area around each place."""
    least: Array
    """(rows, columns) smallest speed of all headings [m/s]; inf where none leaves."""
    heading: Array
    """(rows, columns) heading of that speed [rad], clockwise from north."""
    east: Array
    """(rows, columns) speed going east [m/s]."""
    west: Array
    """(rows, columns) speed going west [m/s]."""
    north: Array
    """(rows, columns) speed going north [m/s]."""

    def quantile(self, values: Array, part: float) -> float:
        """The speed [m/s] below which ``values`` are on the given part of the area."""
        order = np.argsort(values, axis=None)
        covered = np.cumsum(self.share.ravel()[order])
        index = min(int(np.searchsorted(covered, part * covered[-1])), len(order) - 1)
        return float(values.ravel()[order[index]])

    def never(self, values: Array) -> float:
        """Part of the area where nothing leaves at any speed."""
        return float(self.share[np.isinf(values)].sum())


def lift_off_map(
    ground: Parametric,
    gravity: Gravity,
    spin: npt.ArrayLike,
    *,
    rows: int = 121,
    columns: int = 240,
    device: str = "auto",
    advance: Callable[[int], None] = lambda n: None,
) -> LiftOffMap:
    """Lift-off speeds all over a body.

    Args:
        ground: Its smooth surface.
        gravity: The law that gives its attraction.
        spin: (3,) angular velocity in body axes [rad/s].
        rows: Latitudes, poles included.
        columns: Longitudes.
        device: Where to compute.
        advance: Called with the number of places done, for progress.
    """
    latitude = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rows)
    longitude = np.linspace(0.0, 2.0 * np.pi, columns, endpoint=False)
    ways = direction(*np.meshgrid(latitude, longitude, indexing="ij")).reshape(-1, 3)
    points = ground_towards(ground, ways, device)
    attraction = np.empty_like(points)
    for begin in range(0, len(points), CHUNK):
        part = slice(begin, begin + CHUNK)
        attraction[part] = gravity.evaluate(points[part], device=device)[1]
        advance(len(points[part]))
    found = lift_off(ground, points, attraction, spin, device)
    cells = np.repeat(_bands(rows), columns) * _area_over_angle(ground, points, device)
    shape = (rows, columns)
    return LiftOffMap(
        latitude,
        longitude,
        (cells / cells.sum()).reshape(shape),
        found.least.reshape(shape),
        found.least_heading.reshape(shape),
        found.east.reshape(shape),
        found.west.reshape(shape),
        found.speed(NORTH).reshape(shape),
    )


def ground_towards(ground: Parametric, ways: Array, device: str = "auto") -> Array:
    """(n, 3) points of the ground along unit vectors ``ways`` from the origin [m].

    Newton's method along each; at once exact where the radii begin at the origin.
    """
    reach = np.linalg.norm(ground.at(ways), axis=1)
    for _ in range(50):
        found = ground.sample(reach[:, None] * ways, device)
        step = found.distance / np.einsum("ni,ni->n", found.gradient, ways)
        reach = reach - step
        if np.abs(step).max() <= 1e-12 * reach.max():
            return np.asarray(reach[:, None] * ways)
    raise InputError(
        "some directions from the origin meet this ground at a grazing angle, or more than once: "
        "no map of latitude and longitude shows it. Bring the centre of its radii nearer to the "
        "origin"
    )


def _bands(rows: int) -> Array:
    """(rows,) solid angle of the band around each latitude, over 2 pi; caps at the poles."""
    edges = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rows)
    edges = np.r_[-0.5 * np.pi, 0.5 * (edges[1:] + edges[:-1]), 0.5 * np.pi]
    return np.diff(np.sin(edges))


def _area_over_angle(ground: Parametric, points: Array, device: str) -> Array:
    """(n,) area of the ground over the solid angle it fills, seen from the origin [m^2]."""
    _, normal = ground.query(points, device)
    distance = np.linalg.norm(points, axis=1)
    return np.asarray(distance**3 / np.einsum("ni,ni->n", normal, points))

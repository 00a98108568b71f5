"""What a body's gravity and spin mean on its surface: weight, slope, escape and lift-off speeds.

Everything is evaluated at the centroid of each facet, a point of the surface itself, in the
frame that turns with the body. U > 0 is the force function of the attraction and g = +grad U;
``spin`` is the angular velocity in body axes [rad/s], constant, about an axis through the origin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from alight.gravity.law import Gravity
from alight.shapes.mesh import Mesh

Array = npt.NDArray[np.float64]

#: Points per call of the gravity law: long enough to fill every core, short enough for progress
#: to move and Ctrl-C to work on large meshes.
CHUNK = 2048

#: Loose material does not stay on ground much steeper than this [rad].
STEEP = np.radians(30.0)


def effective_acceleration(points: Array, attraction: Array, spin: npt.ArrayLike) -> Array:
    """Attraction less centripetal acceleration, g - Omega x (Omega x r) [m/s^2]."""
    w = np.asarray(spin, dtype=np.float64)
    return attraction - np.cross(w, np.cross(w, points))


def effective_potential(points: Array, potential: Array, spin: npt.ArrayLike) -> Array:
    """V = -U - |Omega x r|^2 / 2 [m^2/s^2]: the energy per mass of a particle at rest."""
    return -potential - 0.5 * _square(np.cross(np.asarray(spin, dtype=np.float64), points))


def slope(effective: Array, normals: Array) -> Array:
    """Angle between straight up, -g_eff, and the outward normal [rad].

    0 on level ground, above 90 degrees under an overhang or where net gravity points outward.
    """
    along = -_dot(effective, normals)
    across = np.linalg.norm(np.cross(effective, normals), axis=-1)
    return np.arctan2(across, along)


def escape_speed(
    points: Array, normals: Array, potential: Array, gm: float, spin: npt.ArrayLike
) -> Array:
    """Speed along the normal, over the ground, that is sure to leave the body [m/s].

    Scheeres, Ostro, Hudson and Werner, "Orbits close to asteroid 4769 Castalia", Icarus 121
    (1996): a particle whose inertial speed exceeds sqrt(2 max(U, GM/r)) at launch escapes. With
    the ground's own speed u = Omega x r that takes, along the normal n,

        v = -n.u + sqrt((n.u)^2 + 2 max(U, GM/r) - u^2),

    and nothing where the ground itself is that fast. Tides of a primary are not counted: on a
    moon less is enough.
    """
    ground = np.cross(np.asarray(spin, dtype=np.float64), points)
    outward = _dot(normals, ground)
    deepest = np.maximum(potential, gm / np.linalg.norm(points, axis=-1))
    needed = outward**2 + 2.0 * deepest - _square(ground)
    return np.maximum(0.0, np.sqrt(np.maximum(0.0, needed)) - outward)


def lift_off_speeds(
    points: Array, normals: Array, effective: Array, spin: npt.ArrayLike
) -> tuple[Array, Array]:
    """Speeds over the ground at which an object sliding east, or west, leaves it [m/s].

    The ground is taken as a sphere of the local distance R = |r| from the centre, touched with
    the local normal n; "east" is the level direction Omega x n. The object presses on the ground
    with g_n = -n.g_eff per mass, less the centripetal v^2/R and, going east, less the Coriolis
    2 c v with c = |Omega x n|:

        v^2/R +- 2 c v - g_n = 0,   v = sqrt(R g_n + (c R)^2) -+ c R.

    On the equator of a sphere that is sqrt(GM/R) -+ Omega R. Where g_n <= 0 both are zero: an
    object at rest already leaves. Real ground curves more, or less, than this sphere.
    """
    radius = np.linalg.norm(points, axis=-1)
    weight = -_dot(effective, normals)
    drift = radius * np.linalg.norm(np.cross(np.asarray(spin, dtype=np.float64), normals), axis=-1)
    pressed = weight > 0.0
    root = np.sqrt(np.where(pressed, radius * weight + drift**2, 0.0))
    # sqrt(a + d^2) - d without cancellation.
    total = np.where(pressed, root + drift, 1.0)
    return np.where(pressed, radius * weight / total, 0.0), np.where(pressed, total, 0.0)


def synchronous_radius(gm: float, spin: npt.ArrayLike) -> float:
    """Radius of the circular orbit that keeps pace with the spin [m]; infinite without spin."""
    rate = float(np.linalg.norm(np.asarray(spin, dtype=np.float64)))
    return float(np.cbrt(gm / rate**2)) if rate > 0.0 else float("inf")


@dataclass(frozen=True)
class Range:
    """How a quantity spreads over the surface; every percentage is one of area."""

    least: float
    p05: float
    mean: float
    p95: float
    most: float


def spread(values: Array, areas: Array) -> Range:
    """Extremes, mean and 5 and 95 % quantiles of facet ``values``, weighted by ``areas``."""
    order = np.argsort(values)
    ranked, weight = values[order], areas[order]
    # A facet stands for the middle of its share of the area.
    share = (np.cumsum(weight) - 0.5 * weight) / weight.sum()
    p05, p95 = np.interp([0.05, 0.95], share, ranked)
    mean = float(np.average(values, weights=areas))
    return Range(float(ranked[0]), float(p05), mean, float(p95), float(ranked[-1]))


@dataclass(frozen=True)
class FacetFields:
    """The field on every facet of a body, and what follows from it."""

    mesh: Mesh
    gm: float
    """Gravitational parameter [m^3/s^2]."""
    spin: Array
    """(3,) angular velocity in body axes [rad/s]."""
    points: Array
    """(m, 3) facet centroids [m]."""
    potential: Array
    """(m,) force function of the attraction, U > 0 [m^2/s^2]."""
    attraction: Array
    """(m, 3) gravity without spin [m/s^2]."""

    @cached_property
    def effective(self) -> Array:
        """(m, 3) attraction less centripetal acceleration [m/s^2]."""
        return effective_acceleration(self.points, self.attraction, self.spin)

    @cached_property
    def effective_gravity(self) -> Array:
        """(m,) size of the effective acceleration [m/s^2]."""
        return np.linalg.norm(self.effective, axis=1)

    @cached_property
    def weight(self) -> Array:
        """(m,) inward normal part of the effective acceleration [m/s^2]; negative: it lifts off."""
        return -_dot(self.effective, self.mesh.face_normals)

    @cached_property
    def slope(self) -> Array:
        """(m,) angle of the ground against level [rad]."""
        return slope(self.effective, self.mesh.face_normals)

    @cached_property
    def effective_potential(self) -> Array:
        """(m,) energy per mass of a particle at rest [m^2/s^2]."""
        return effective_potential(self.points, self.potential, self.spin)

    @cached_property
    def height(self) -> Array:
        """(m,) height over the mean level [m]: effective potential over mean effective gravity."""
        areas, v = self.mesh.face_areas, self.effective_potential
        mean_gravity = np.average(self.effective_gravity, weights=areas)
        return (v - np.average(v, weights=areas)) / mean_gravity

    @cached_property
    def escape_speed(self) -> Array:
        """(m,) speed along the normal that is sure to escape [m/s]."""
        normals = self.mesh.face_normals
        return escape_speed(self.points, normals, self.potential, self.gm, self.spin)

    @cached_property
    def lift_off(self) -> tuple[Array, Array]:
        """(m,) lift-off speeds going east and going west [m/s]."""
        return lift_off_speeds(self.points, self.mesh.face_normals, self.effective, self.spin)

    @property
    def synchronous_radius(self) -> float:
        """Radius of the circular orbit that keeps pace with the spin [m]."""
        return synchronous_radius(self.gm, self.spin)

    def area_fraction(self, mask: npt.NDArray[np.bool_]) -> float:
        """Part of the surface covered by the facets of ``mask``."""
        areas = self.mesh.face_areas
        return float(areas[mask].sum() / areas.sum())

    @property
    def steep_fraction(self) -> float:
        """Part of the surface steeper than 30 degrees."""
        return self.area_fraction(self.slope > STEEP)

    @property
    def outward_fraction(self) -> float:
        """Part of the surface on which nothing stays by itself: net gravity points outward."""
        return self.area_fraction(self.weight < 0.0)

    def ranges(self) -> dict[str, Range]:
        """Spread of each quantity over the surface [SI units and radians]."""
        east, west = self.lift_off
        quantities = {
            "attraction": np.linalg.norm(self.attraction, axis=1),
            "effective_gravity": self.effective_gravity,
            "slope": self.slope,
            "escape_speed": self.escape_speed,
            "lift_off_east": east,
            "lift_off_west": west,
            "height": self.height,
        }
        areas = self.mesh.face_areas
        return {name: spread(values, areas) for name, values in quantities.items()}


def examine(
    mesh: Mesh,
    gravity: Gravity,
    gm: float,
    spin: npt.ArrayLike,
    device: str = "auto",
    advance: Callable[[int], None] = lambda n: None,
) -> FacetFields:
    """Evaluate ``gravity`` on every facet of ``mesh``.

    Args:
        mesh: The body, its centre of mass at the origin [m].
        gravity: The law that gives its attraction.
        gm: Gravitational parameter [m^3/s^2].
        spin: Angular velocity in body axes [rad/s]; zeros for a body that does not turn.
        device: Where to compute.
        advance: Called with the number of facets done, for progress.
    """
    points = mesh.vertices[mesh.faces].mean(axis=1)
    potential, attraction = np.empty(len(points)), np.empty((len(points), 3))
    for begin in range(0, len(points), CHUNK):
        part = slice(begin, begin + CHUNK)
        potential[part], attraction[part], _ = gravity.evaluate(points[part], device=device)
        advance(len(points[part]))
    return FacetFields(mesh, gm, np.array(spin, dtype=np.float64), points, potential, attraction)


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)


def _square(a: Array) -> Array:
    return _dot(a, a)

"""The catalogue of bodies: gravity, spin, pole, orbit, size and built-in shape, with sources.

``find("ryugu")`` gives a ``Body``; ``names()`` lists them. The figures live in
``data/bodies.toml`` beside their sources and are turned into SI units and radians here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from alight.core.constants import AU, DAY, GM_MARS, GM_SUN, HOUR, OBLIQUITY, G
from alight.core.errors import InputError, unknown_name
from alight.scenario import catalogue
from alight.scenario.catalogue import Source
from alight.shapes import builtin
from alight.shapes.mesh import Mesh

Array = NDArray[np.float64]

_PRIMARY_GM = {"Sun": GM_SUN, "Mars": GM_MARS}


@dataclass(frozen=True)
class Pole:
    """Direction of the positive spin axis (of a tumbling body: of its angular momentum), J2000."""

    frame: Literal["equatorial", "ecliptic"]
    longitude: float
    """Right ascension, or ecliptic longitude [rad]."""
    latitude: float
    """Declination, or ecliptic latitude [rad]."""

    @property
    def direction(self) -> Array:
        """Unit vector in equatorial J2000 axes."""
        c = np.cos(self.latitude)
        x, y = c * np.cos(self.longitude), c * np.sin(self.longitude)
        z = np.sin(self.latitude)
        if self.frame == "ecliptic":
            ce, se = np.cos(OBLIQUITY), np.sin(OBLIQUITY)
            y, z = ce * y - se * z, se * y + ce * z
        return np.array([x, y, z])


@dataclass(frozen=True)
class BodyOrbit:
    """Orbit about ``primary``; angles against the J2000 ecliptic, None where unknown."""

    primary: str
    primary_gm: float
    """Gravitational parameter of the primary [m^3/s^2]."""
    semi_major_axis: float
    """[m]"""
    eccentricity: float
    inclination: float | None = None
    """[rad]"""
    node: float | None = None
    """Longitude of the ascending node [rad]."""
    periapsis: float | None = None
    """Argument of periapsis [rad]."""
    mean_anomaly: float | None = None
    """Mean anomaly at ``epoch`` [rad]."""
    epoch: str | None = None
    """ISO date of the mean anomaly."""

    @property
    def periapsis_distance(self) -> float:
        """Smallest distance from the primary [m]."""
        return self.semi_major_axis * (1 - self.eccentricity)

    @property
    def mean_motion(self) -> float:
        """Mean orbital rate [rad/s], the body's own mass neglected."""
        return float(np.sqrt(self.primary_gm / self.semi_major_axis**3))


@dataclass(frozen=True)
class TumblingState:
    """Rotation about no fixed axis: a turn about the long axis, which circles the momentum."""

    long_axis_period: float
    """Time of one turn about the long axis [s]."""
    precession_period: float
    """Time in which the long axis circles the angular momentum [s]."""
    inertia_ratios: tuple[float, float, float]
    """Principal moments about body x (long), y, z, in any unit."""

    @property
    def spin_vector(self) -> Array:
        """Angular velocity in body axes [rad/s] when its part across the long axis is along y.

        Of a top as symmetric as the mean of its two larger moments: with precession rate p,
        turn rate s and moments A across, C along the long axis, the tilt of that axis from the
        angular momentum has cos = s/p / (A/C - 1).
        """
        precession, turn = 2 * np.pi / self.precession_period, 2 * np.pi / self.long_axis_period
        along, *across = self.inertia_ratios
        cos_tilt = turn / precession / (np.mean(across) / along - 1)
        sin_tilt = np.sqrt(1 - cos_tilt**2)
        return np.array([precession * cos_tilt + turn, precession * sin_tilt, 0.0])


@dataclass(frozen=True)
class Body:
    """A small body of the catalogue.

    ``surface_gravity``, ``escape_speed``, ``lift_off_speeds`` and ``synchronous_radius`` treat
    it as a sphere of ``mean_radius``: orders of magnitude, not maps.
    """

    name: str
    designation: str
    aliases: tuple[str, ...]
    shape: str
    """Name of its built-in shape."""
    gm: float
    """Gravitational parameter [m^3/s^2]."""
    gm_uncertainty: float | None
    """[m^3/s^2]"""
    mean_radius: float
    """[m]"""
    size: tuple[float, float, float]
    """Full extents along body x, y, z [m]."""
    quoted_density: float | None
    """Bulk density given by the source [kg/m^3]; ``density`` is the one to compute with."""
    quoted_density_uncertainty: float | None
    """[kg/m^3]"""
    rotation_period: float | None
    """[s]; None for a tumbling body."""
    tumbling: TumblingState | None
    pole: Pole | None
    orbit: BodyOrbit
    notes: tuple[str, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    """Source of gm, mean_radius, size, density, spin, pole and orbit."""

    @property
    def spin_vector(self) -> Array:
        """Angular velocity in body axes [rad/s]; of a tumbling body, at one moment."""
        if self.tumbling is not None:
            return self.tumbling.spin_vector
        assert self.rotation_period is not None
        return np.array([0.0, 0.0, 2 * np.pi / self.rotation_period])

    @property
    def rotation_rate(self) -> float:
        """Length of the angular velocity [rad/s]."""
        return float(np.linalg.norm(self.spin_vector))

    @property
    def surface_gravity(self) -> float:
        """Attraction on the mean sphere, without spin [m/s^2]."""
        return self.gm / self.mean_radius**2

    @property
    def escape_speed(self) -> float:
        """Two-body escape speed from the mean sphere [m/s]."""
        return float(np.sqrt(2 * self.gm / self.mean_radius))

    @property
    def lift_off_speeds(self) -> tuple[float, float] | None:
        """Speed over the ground at which a slide along the equator lifts off [m/s]: east, west.

        None for a tumbling body.
        """
        if self.tumbling is not None:
            return None
        circular = float(np.sqrt(self.gm / self.mean_radius))
        ground = self.rotation_rate * self.mean_radius
        return circular - ground, circular + ground

    @property
    def synchronous_radius(self) -> float | None:
        """Radius of a circular orbit that keeps pace with the spin [m]; None if tumbling."""
        if self.tumbling is not None:
            return None
        return float(np.cbrt(self.gm / self.rotation_rate**2))

    @property
    def hill_radius(self) -> float:
        """Radius within which the body holds satellites against its primary [m].

        q (GM / 3 GM_primary)^(1/3), q the perihelion distance; of a moon, whose orbit is nearly
        circular, the semi-major axis.
        """
        orbit = self.orbit
        reach = orbit.periapsis_distance if orbit.primary == "Sun" else orbit.semi_major_axis
        return reach * float(np.cbrt(self.gm / (3 * orbit.primary_gm)))

    @property
    def solar_orbit(self) -> BodyOrbit | None:
        """The orbit about the Sun, of a moon that of its primary; None where it is not known."""
        orbit = self.orbit
        if orbit.primary != "Sun":
            primary = next((b for b in _catalogue().values() if b.name == orbit.primary), None)
            return None if primary is None else primary.solar_orbit
        known = None not in (orbit.inclination, orbit.node, orbit.periapsis)
        return orbit if known else None

    def mesh(self, n_faces: int | None = None) -> Mesh:
        """Built-in shape with close to ``n_faces`` facets (5120 if nothing is asked).

        About its centre of mass, z the spin axis (of a tumbling body: of largest inertia).
        """
        return _mesh(self.shape, n_faces)

    def density_of(self, mesh: Mesh) -> float:
        """Density [kg/m^3] that gives ``mesh`` the body's GM."""
        return self.gm / (G * mesh.volume)

    @property
    def density(self) -> float:
        """Density [kg/m^3] that gives the default ``mesh()`` the body's GM."""
        return self.density_of(self.mesh())

    def __str__(self) -> str:
        if self.tumbling is not None:
            periods = (self.tumbling.long_axis_period, self.tumbling.precession_period)
            spin = "tumbles ({:g} d, {:g} d)".format(*(p / DAY for p in periods))
        else:
            spin = f"spins in {2 * np.pi / self.rotation_rate / HOUR:.7g} h"
        return (
            f"{self.designation}: GM {self.gm:.5g} m^3/s^2, mean radius {self.mean_radius:.5g} m, "
            f"{spin}, Hill radius {self.hill_radius / 1000:.3g} km ({self.orbit.primary})"
        )


@lru_cache(maxsize=16)
def _mesh(shape: str, n_faces: int | None) -> Mesh:
    return builtin.find(shape).mesh(n_faces).recentred()


def names() -> tuple[str, ...]:
    """Names of the bodies in the catalogue."""
    return tuple(body.name for body in _catalogue().values())


def find(name: str) -> Body:
    """The body of that name, number or other designation, in any letter case."""
    return catalogue.find("body", _catalogue().values(), name)


# -- reading the file --------------------------------------------------------------------------

_KEYS = (
    "name", "designation", "aliases", "shape", "gm_m3_s2", "gm_uncertainty_m3_s2", "mean_radius_m",
    "size_m", "density_kg_m3", "density_uncertainty_kg_m3", "rotation_period_h", "tumbling", "pole",
    "orbit", "notes", "sources",
)  # fmt: skip


@cache
def _catalogue() -> dict[str, Body]:
    tables = catalogue.tables("bodies.toml")
    return {key: _body(table, tables) for key, table in tables.items()}


def _body(table: dict[str, Any], tables: dict[str, Any]) -> Body:
    """A body from its table; ``tables`` holds its primary if that is in the catalogue too."""
    catalogue.only(table, _KEYS, f"{table.get('name')}")
    if ("rotation_period_h" in table) == ("tumbling" in table):
        raise InputError(f"{table['name']} needs either rotation_period_h or tumbling.")
    period = table.get("rotation_period_h")
    return Body(
        name=table["name"],
        designation=table["designation"],
        aliases=tuple(table["aliases"]),
        shape=table["shape"],
        gm=float(table["gm_m3_s2"]),
        gm_uncertainty=table.get("gm_uncertainty_m3_s2"),
        mean_radius=float(table["mean_radius_m"]),
        size=tuple(table["size_m"]),
        quoted_density=table.get("density_kg_m3"),
        quoted_density_uncertainty=table.get("density_uncertainty_kg_m3"),
        rotation_period=None if period is None else period * HOUR,
        tumbling=_tumbling(table["tumbling"]) if "tumbling" in table else None,
        pole=_pole(table["pole"]) if "pole" in table else None,
        orbit=_orbit(table["orbit"], tables),
        notes=tuple(table.get("notes", ())),
        sources=catalogue.sources(
            table,
            ("gm", "mean_radius", "size", "spin", "orbit"),
            {"density": "density_kg_m3", "pole": "pole"},
        ),
    )


def _tumbling(table: dict[str, Any]) -> TumblingState:
    catalogue.only(
        table, {"long_axis_period_d", "precession_period_d", "inertia_ratios"}, "tumbling"
    )
    along, one, other = table["inertia_ratios"]
    return TumblingState(
        long_axis_period=table["long_axis_period_d"] * DAY,
        precession_period=table["precession_period_d"] * DAY,
        inertia_ratios=(along, one, other),
    )


def _pole(table: dict[str, Any]) -> Pole:
    frame = table["frame"]
    if frame not in ("equatorial", "ecliptic"):
        raise unknown_name("pole frame", frame, ("equatorial", "ecliptic"))
    angles = ("ra_deg", "dec_deg") if frame == "equatorial" else ("lon_deg", "lat_deg")
    catalogue.only(table, {"frame", *angles}, f"{frame} pole")
    longitude, latitude = (float(np.radians(table[angle])) for angle in angles)
    return Pole(frame, longitude, latitude)


def _orbit(table: dict[str, Any], tables: dict[str, Any]) -> BodyOrbit:
    lengths = {"semi_major_axis_au": AU, "semi_major_axis_km": 1000.0}
    angles = ("inclination", "node", "periapsis", "mean_anomaly")
    allowed = {"primary", "eccentricity", "epoch", *lengths, *(f"{a}_deg" for a in angles)}
    catalogue.only(table, allowed, "orbit")
    if ("mean_anomaly_deg" in table) != ("epoch" in table):
        raise InputError("an orbit needs both mean_anomaly_deg and epoch, or neither.")
    primary = table["primary"]
    bodies_gm = {other["name"]: other["gm_m3_s2"] for other in tables.values()}
    gm = {**bodies_gm, **_PRIMARY_GM}
    if primary not in gm:
        raise unknown_name("primary", primary, gm)
    (axis,) = (table[key] * metres for key, metres in lengths.items() if key in table)
    known = {a: float(np.radians(table[f"{a}_deg"])) for a in angles if f"{a}_deg" in table}
    epoch = table.get("epoch")
    return BodyOrbit(primary, float(gm[primary]), axis, table["eccentricity"], **known, epoch=epoch)

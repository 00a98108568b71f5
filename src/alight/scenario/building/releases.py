"""Releases of many runs from a scenario: places, velocities, attitudes and rates.

Every row is computed by itself, with the host's own sines: a run's bits do not depend on which
other runs it is computed with.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight import motions, surfaces
from alight.core import frames, orbits
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.scenario.building.articulated_landers import Articulated
from alight.scenario.building.run_values import getter
from alight.scenario.building.state_files import spice_states, states_of
from alight.scenario.schema.articulated_lander import euler_attitude
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.release import (
    ABOVE,
    GROUND,
    INERTIAL,
    NORMAL,
    ORBIT,
    PLUMB,
    STATES,
)


def release_of(
    scenario: Scenario,
    model: motions.Model | motions.TreeModel,
    values: dict[str, Array],
    count: int,
    gm: Callable[[], float],
    lander: Articulated | None = None,
) -> motions.Release | motions.TreeRelease:
    """The releases of ``count`` runs; ``values`` hold what differs between them, by key.

    Of an articulated ``lander`` place, velocity and turn are those of its first body.
    """
    start = _Start(scenario, model, values, gm, lander)
    rows = [np.array(np.broadcast_to(a, (count, a.shape[1]))) for a in start.states()]
    return start.numbered(start.released(*rows))


@dataclass
class _Start:
    """The release of a scenario with the values of some runs."""

    scenario: Scenario
    model: Any
    values: dict[str, Array]
    gm: Callable[[], float]
    lander: Articulated | None

    def __post_init__(self) -> None:
        both, pair = self.values.get("release.state"), self.values.get("release.place")
        if both is not None:
            moved = f"release.{self.section.moved}"
            self.values = {**self.values, moved: both[:, :3], "release.velocity": both[:, 3:]}
        if pair is not None:
            angles = {"release.latitude": pair[:, :1], "release.longitude": pair[:, 1:]}
            self.values = {**self.values, **angles}
        self._of_key = getter(self.scenario, self.values)

    @property
    def section(self) -> Any:
        return self.scenario.release

    def get(self, name: str) -> Array:
        """Values under a key of [release], one row for all runs or one each."""
        return self._of_key(f"release.{name}")

    def released(self, *states: Array) -> motions.Release | motions.TreeRelease:
        """A release of these positions, velocities, attitudes and rates."""
        made = motions.Release(*states)  # its quaternions are unit
        if self.lander is None:
            return made
        return motions.TreeRelease.of(
            self.lander.tree,
            *(made.position, made.velocity, made.attitude, made.rate),
            joints=self.lander.joints,
            speeds=self.lander.speeds,
        )

    def numbered(
        self, made: motions.Release | motions.TreeRelease
    ) -> motions.Release | motions.TreeRelease:
        """With the numbers by which throws of a plan err."""
        drawn, own = self.values.get("release.draw"), self.section.draw
        if not isinstance(made, motions.Release) or (drawn is None and own is None):
            return made
        draw = np.array([own]) if drawn is None else np.round(drawn[:, 0]).astype(np.int64)
        return motions.Release(made.position, made.velocity, made.attitude, made.rate, draw)

    def attitude(self) -> Array:
        """In the axes that the scenario names."""
        if "release.euler" in self.values:
            return euler_attitude(self.values["release.euler"])
        return self.get("attitude")

    def states(self) -> list[Array]:
        """Positions, velocities, attitudes and rates, a row a run, of the turning target."""
        form = self.section.form
        if form in (INERTIAL, ORBIT, STATES):
            return self._outside(form)
        if form in (ABOVE, GROUND):
            return self._over_ground(form == GROUND)
        position = self.get("position")
        if self.section.vertical is not None:
            turn = frames.local_frame(self._vertical(position, position))
            velocity, attitude = self._turned(turn)
            return [position, velocity, attitude, self.get("rate")]
        return [position, self.get("velocity"), self._plain_attitude(), self.get("rate")]

    # -- over the ground -----------------------------------------------------------------------

    def _over_ground(self, on_it: bool) -> list[Array]:
        """At a height over the ground, or touching it."""
        section, surface = self.section, self.model.surface
        if section.position is not None:
            return self._by_position()
        up = _directions(self.get("latitude")[:, 0], self.get("longitude")[:, 0])
        ground = ground_radius(surface, up)
        radius = ground if on_it else ground + self.get("height")[:, 0]
        position = up * radius[:, None]
        turn = frames.local_frame(up)
        if section.vertical is not None:
            footing = up * ground[:, None]
            turn = frames.local_frame(self._vertical(position, footing))
        velocity, attitude = self._turned(turn)
        if on_it:
            return self._touching(position, up, velocity, attitude)
        position = position + _turned(turn, self.get("offset"))
        return [position, velocity, attitude, self.get("rate")]

    def _by_position(self) -> list[Array]:
        """On the ground nearest to the place that is given, over or below it."""
        place = self.get("position")
        distance, normal = self.model.surface.query(place, device="cpu")
        place = place - np.asarray(distance)[:, None] * np.asarray(normal)
        turn = frames.local_frame(self._vertical(place, place))
        return self._touching(place, np.asarray(normal), *self._turned(turn))

    def _touching(self, place: Array, up: Array, velocity: Array, attitude: Array) -> list[Array]:
        """Moved along ``up`` until the lander touches the ground."""
        rate = self.get("rate")
        count = max(map(len, (place, attitude)))
        place, up, attitude = (
            np.array(np.broadcast_to(a, (count, a.shape[1]))) for a in (place, up, attitude)
        )
        zero = np.zeros((count, 3))
        release = self.released(place, zero, attitude, zero)
        from alight.scenario.building.touching import touching  # hulls take long to load

        return [touching(self.model, release, up), velocity, attitude, rate]

    def _vertical(self, position: Array, footing: Array) -> Array:
        """(n, 3) which way is up at places, of any length: as ``release.vertical`` says."""
        word = self.section.vertical
        if word == NORMAL:
            return np.asarray(self.model.surface.query(footing, device="cpu")[1])
        if word == PLUMB:
            return self._plumb(position)
        return position

    def _plumb(self, position: Array) -> Array:
        """Against what a plumb line feels: gravity less the acceleration of the turning ground."""
        pull = np.asarray(self.model.gravity.evaluate(position, device="cpu")[1])
        rate, spin_up, _ = self.model.rotation.evaluate(0.0, "cpu")
        held = frames.cross(rate, frames.cross(rate, position)) + frames.cross(spin_up, position)
        felt = pull - held
        if not (np.linalg.norm(felt, axis=1) > 0.0).all():
            raise InputError(
                "nothing pulls at the release: a plumb line has no direction there. Take vertical "
                '= "surface normal" or "radial".'
            )
        return -felt

    def _turned(self, turn: Array) -> tuple[Array, Array]:
        """Velocity and attitude, given in local axes, in those of the target."""
        if self.section.speed is not None:
            names = ("speed", "azimuth", "elevation")
            velocity = _aimed(*(self.get(name)[:, 0] for name in names))
        else:
            velocity = self.get("velocity")
        attitude = self._plain_attitude()
        if self.section.attitude_axes == "local":
            attitude = frames.quat_multiply(frames.quat_from_matrix(turn), _unit(attitude))
        return _turned(turn, velocity), attitude

    def _plain_attitude(self) -> Array:
        """As given; from inertial axes to those of the target at t = 0 where it is in these."""
        attitude = self.attitude()
        if self.section.attitude_axes != "inertial":
            return attitude
        q_NT = self.model.rotation.evaluate(0.0, "cpu")[2]
        return frames.quat_multiply(frames.quat_conjugate(q_NT), _unit(attitude))

    # -- from outside --------------------------------------------------------------------------

    def _outside(self, form: str) -> list[Array]:
        """A state in inertial axes, of an orbit or of a file."""
        attitude, rate, time = self.attitude(), self.get("rate"), np.zeros(1)
        inertial = True
        if form == ORBIT:
            place, velocity = self._orbit()
        elif form == INERTIAL:
            place, velocity = self.get("position"), self.get("velocity")
        else:
            found = self._file_rows()
            place, velocity, time = found.position, found.velocity, found.time
            attitude = attitude if found.attitude is None else found.attitude
            rate = rate if found.rate is None else found.rate
            inertial = self.section.axes == "inertial"
        omega, _, q_NT = self.model.rotation.evaluate(time, "cpu")
        if inertial:
            place = frames.quat_rotate_inv(q_NT, place)
            velocity = frames.quat_rotate_inv(q_NT, velocity) - frames.cross(omega, place)
        if self.section.attitude_axes == "inertial":
            attitude = frames.quat_multiply(frames.quat_conjugate(q_NT), _unit(attitude))
            rate = rate - frames.quat_rotate_inv(attitude, omega)
        return [place, velocity, attitude, rate]

    def _file_rows(self) -> Any:
        """The states of the rows that the runs take."""
        section = self.section
        rows = self.values.get("release.row")
        states = states_of(section)
        if states is None:
            wanted = np.array([[float(section.row or 0)]]) if rows is None else rows
            return spice_states(section, wanted[:, 0])
        which = np.array([states.row(section)]) if rows is None else rows[:, 0].astype(np.int64)
        if which.max() >= len(states):
            raise InputError(
                f"row {which.max()} is asked for and release.file has {len(states)} states: one "
                "for each run."
            )
        pick: Any = {
            name: None if getattr(states, name) is None else getattr(states, name)[which]
            for name in ("position", "velocity", "time", "attitude", "rate")
        }
        return type(states)(names=(), **pick)

    def _orbit(self) -> tuple[Array, Array]:
        """Place and velocity in inertial axes of runs on orbits about the body."""
        anomaly = "true_anomaly" if self.section.true_anomaly is not None else "mean_anomaly"
        names = ("semi_major_axis", "eccentricity", "inclination", "node", "periapsis", anomaly)
        columns = np.broadcast_arrays(*(self.get(name)[:, 0] for name in names))
        at = functools.partial(orbit_state, self.gm(), mean=anomaly == "mean_anomaly")
        each = zip(*(column.tolist() for column in columns), strict=True)
        rows = [at(*row) for row in each]
        place, velocity = (np.array([row[i] for row in rows]) for i in (0, 1))
        if self.section.plane == "equator":
            q_NT = self.model.rotation.evaluate(0.0, "cpu")[2]
            place, velocity = frames.quat_rotate(q_NT, place), frames.quat_rotate(q_NT, velocity)
        return place, velocity


def orbit_state(
    gm: float,
    semi_major: float,
    eccentricity: float,
    inclination: float,
    node: float,
    periapsis: float,
    anomaly: float,
    mean: bool = False,
) -> tuple[Array, Array]:
    """Place [m] and velocity [m/s] on an orbit about ``gm`` [m^3/s^2]; a hyperbola has a < 0.

    Angles [rad] are against z = 0; ``anomaly`` is the true one, or the ``mean`` one of an ellipse.
    """
    p = semi_major * (1.0 - eccentricity**2)
    nu = anomaly
    if mean:
        E = float(orbits.eccentric_anomalies(anomaly, eccentricity))
        ahead = math.sqrt(1.0 + eccentricity) * math.sin(0.5 * E)
        nu = 2.0 * math.atan2(ahead, math.sqrt(1.0 - eccentricity) * math.cos(0.5 * E))
    c, s = math.cos(nu), math.sin(nu)
    if p <= 0.0 or 1.0 + eccentricity * c <= 0.0:
        raise InputError(
            f"a true anomaly of {math.degrees(nu):g} deg is not on an orbit of semi_major_axis "
            f"{semi_major:g} m and eccentricity {eccentricity:g}: an ellipse has a positive axis "
            "and an eccentricity below 1, a hyperbola a negative axis and stays within its branch."
        )
    turn = functools.reduce(
        frames.quat_multiply,
        [
            frames.quat_from_axis_angle([0.0, 0.0, 1.0], node),
            frames.quat_from_axis_angle([1.0, 0.0, 0.0], inclination),
            frames.quat_from_axis_angle([0.0, 0.0, 1.0], periapsis),
        ],
    )
    radius, pace = p / (1.0 + eccentricity * c), math.sqrt(gm / p)
    place = frames.quat_rotate(turn, [radius * c, radius * s, 0.0])
    return place, frames.quat_rotate(turn, [-pace * s, pace * (eccentricity + c), 0.0])


def _unit(q: Array) -> Array:
    return np.asarray(q / np.sqrt(np.sum(q * q, axis=1, keepdims=True)))


def _directions(latitude: Array, longitude: Array) -> Array:
    """Unit vectors; sines one by one, whatever the length of the arrays."""
    both = np.broadcast_arrays(latitude, longitude)
    rows = [
        (math.cos(b) * math.cos(a), math.cos(b) * math.sin(a), math.sin(b))
        for b, a in zip(both[0].tolist(), both[1].tolist(), strict=True)
    ]
    return np.array(rows).reshape(-1, 3)


def _aimed(speed: Array, azimuth: Array, elevation: Array) -> Array:
    """East, north and up of velocities; the azimuth counts from north towards east."""
    columns = np.broadcast_arrays(speed, azimuth, elevation)
    rows = [
        (v * math.cos(h) * math.sin(a), v * math.cos(h) * math.cos(a), v * math.sin(h))
        for v, a, h in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return np.array(rows).reshape(-1, 3)


def _turned(turn: Array, vectors: Array) -> Array:
    """Vectors in local axes turned to those of the target, component by component."""
    v = vectors[:, None, :]
    return np.asarray(
        turn[..., 0] * v[..., 0] + turn[..., 1] * v[..., 1] + turn[..., 2] * v[..., 2]
    )


def ground_radius(surface: surfaces.Surface, up: Array) -> Array:
    """(n,) distances [m] from the origin at which rays along ``up`` first meet the ground.

    From outside, as ``Release.above`` does it: a distance over the slope bound never exceeds the
    way to the ground. Ground that finds it in one go (``outermost``) is asked for it.
    """
    outermost = getattr(surface, "outermost", None)
    if outermost is not None and np.isfinite(met := np.asarray(outermost(up))).all():
        return met

    def distance(radius: Array, rows: Any) -> Array:
        return np.asarray(surface.query(up[rows] * radius[rows, None], device="cpu")[0])

    radius = np.ones(len(up))
    left = np.arange(len(up))
    # High over rocks the distance is one over the slope already.
    high = 0.5 / surface.bounds.slope if isinstance(surface, surfaces.Rocky) else 0.5
    while len(left):
        left = left[distance(radius, left) < high * radius[left]]
        radius[left] *= 2.0
        if len(left) and radius[left].max() > 1e12:
            raise InputError(
                "no place on a ray is high above the ground; a release by latitude and longitude "
                "needs a body about the origin, not a plane."
            )
    slope, left = surface.bounds.slope, np.arange(len(up))
    for _ in range(10_000):
        gap = distance(radius, left)
        far = gap > 1e-9 * radius[left]
        left, gap = left[far], gap[far]
        if not len(left):
            return radius
        radius[left] -= gap / slope
    raise InputError("the ray at a latitude and longitude of the release does not meet the ground.")

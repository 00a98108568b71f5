"""Scenarios of push-offs: a lander at rest on the ground, thrown by speed, azimuth and elevation.

Any landing scenario becomes one: body, gravity, ground, lander, contact, environment and stops
stay, with what is uncertain about them; how it was released does not. What a push-off does in the
engine is then what any scenario of that text does.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.frames import direction
from alight.scenario import Scenario, from_dict
from alight.scenario.building.releases import ground_radius
from alight.scenario.dispersion import SWEEP, TABLE, Dispersion
from alight.scenario.document import Document
from alight.scenario.joint_dispersions import GROUP
from alight.scenario.schema.release import ABOVE, GROUND, PLUMB, POSITION
from alight.vehicles.rigid.lander import RigidLander

#: Keys of a release that a push-off keeps: how the lander is turned, and which way is up.
_KEPT = ("attitude", "euler", "attitude_axes", "rate", "vertical")
_KEPT_KEYS = ("release.attitude", "release.euler", "release.rate")


def push_off_scenario(given: Document) -> Scenario:
    """The same scenario with a release on the ground, thrown gently upwards at its first place."""
    if not isinstance(given, Scenario):
        raise InputError(
            f"{given.source} is the scenario of a {given.KIND}; hops are aimed in landing "
            "scenarios, which have a body or flat ground and a lander."
        )
    if given.lander.is_tree:
        raise InputError(
            f"{given.source} has an articulated lander; hops are aimed for rigid ones. Give a "
            'rigid lander, such as [lander] shape = "cube".'
        )
    table = given.resolved()
    old = table["release"]
    turned = given.release.form in (ABOVE, GROUND, POSITION)
    kept = {key: old[key] for key in _KEPT if turned and key in old}
    place: dict[str, Any] = {"latitude": "0 deg", "longitude": "0 deg"}
    if given.flat:
        place = {"position": ["0 m", "0 m", "0 m"]}
    throw = {"speed": "0 m/s", "azimuth": "0 deg", "elevation": "90 deg"}
    table["release"] = {"vertical": PLUMB, **kept, "kind": GROUND, **place, **throw}
    table["dispersions"] = _own_dispersions(given)
    table["campaign"].pop("repeats", None)
    table["record"]["trajectories"] = []
    made: Scenario = from_dict(table, given.source)
    return made


def _own_dispersions(given: Scenario) -> dict[str, Any]:
    """What is uncertain beside the release, as a file says it; nothing swept."""
    kept = [one for key, one in given.dispersions.items() if one.written and _stays(key, one)]
    out: dict[str, Any] = {one.key: copy.deepcopy(one.written) for one in kept if not one.parts}
    for one in kept:
        if one.parts:
            out.setdefault(TABLE if one.kind == TABLE else GROUP, []).append(one.written)
    return out


def _stays(key: str, one: Dispersion) -> bool:
    keys = [part for part, _ in one.parts] if one.parts else [key]
    moved = [k for k in keys if k.startswith("release.") and k not in _KEPT_KEYS]
    return not moved and one.kind != SWEEP


def thrown(
    base: Scenario,
    place: Array,
    throw: tuple[float, float, float],
    sigma: tuple[float, float, float],
    runs: int,
) -> Scenario:
    """A campaign of one push-off from a place, by speed [m/s], azimuth and elevation [rad].

    ``place`` is latitude and longitude [rad], on flat ground a position [m]; ``sigma`` are standard
    deviations of the three. The elevation is not thrown beyond upright.
    """
    names = ("speed", "azimuth", "elevation")
    values = {f"release.{name}": value for name, value in zip(names, throw, strict=True)}
    table = base.replaced({**_place_values(base, place), **values}).resolved()
    units = ("m/s", "rad", "rad")
    for name, unit, one in zip(names, units, sigma, strict=True):
        if one > 0.0:
            spread: dict[str, Any] = {"kind": "normal", "sigma": f"{one:.17g} {unit}"}
            if name == "elevation":
                spread |= {"kind": "truncated", "high": "90 deg", "low": "-90 deg"}
            if name == "speed":
                spread |= {"kind": "truncated", "low": "0 m/s"}
            table["dispersions"][f"release.{name}"] = spread
    table["campaign"]["runs"] = runs
    made: Scenario = from_dict(table, base.source)
    return made


def _place_values(base: Scenario, place: Array) -> dict[str, Any]:
    if base.flat:
        return {"release.position": np.asarray(place)}
    return {"release.latitude": float(place[0]), "release.longitude": float(place[1])}


class PushOffs:
    """A prepared push-off scenario: where landers stand, which way is up, and what throws do."""

    def __init__(self, prepared: Any) -> None:
        self.prepared, self.scenario = prepared, prepared.scenario
        self.model = prepared.nominal().model
        if not isinstance(self.model.lander, RigidLander):
            raise InputError(f"{self.scenario.source}: hops are aimed for rigid landers.")

    def query(self, points: Array) -> tuple[Array, Array]:
        """Distances of points from the ground [m] and its outward normals."""
        distance, normal = self.model.surface.query(points, device="cpu")
        return np.asarray(distance), np.asarray(normal)

    def footing(self, places: Array) -> Array:
        """(n, 3) points on the ground at places: latitude and longitude [rad], or positions."""
        if self.scenario.flat:
            distance, normal = self.query(places)
            return places - distance[:, None] * normal
        up = direction(places[:, 0], places[:, 1])
        return up * ground_radius(self.model.surface, up)[:, None]

    def release(self, places: Array, throws: Array) -> tuple[Any, Any]:
        """Model and release of push-offs from places by rows of speed, azimuth, elevation."""
        names = ("speed", "azimuth", "elevation")
        values = {f"release.{name}": throws[:, k] for k, name in enumerate(names)}
        if self.scenario.flat:
            values["release.position"] = places
        else:
            values |= {"release.latitude": places[:, 0], "release.longitude": places[:, 1]}
        group = self.prepared.groups(values)[0]
        return group.model, group.release

    def standing(self, places: Array) -> tuple[Array, Array]:
        """(n, 3) centres of mass of landers on the ground, and (n, 3, 3) axes east, north, up."""
        half = 0.5 * np.pi
        axes = np.array([[1.0, half, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, half]])
        n = len(places)
        _, release = self.release(np.repeat(places, 3, axis=0), np.tile(axes, (n, 1)))
        turn = np.asarray(release.velocity).reshape(n, 3, 3).transpose(0, 2, 1)
        return np.asarray(release.position)[::3], turn


def throws_of(velocity: Array, axes: Array) -> Array:
    """(n, 3) speed [m/s], azimuth and elevation [rad] of velocities in the axes of the target."""
    local = np.einsum("nij,ni->nj", axes, velocity)
    speed = np.linalg.norm(local, axis=1)
    azimuth = np.arctan2(local[:, 0], local[:, 1])
    elevation = np.arctan2(local[:, 2], np.hypot(local[:, 0], local[:, 1]))
    return np.stack([speed, azimuth, elevation], -1)


def by_throw(throws: Array, axes: Array) -> Array:
    """(n, 3, 3) derivatives of velocities by speed, azimuth and elevation, as columns."""
    v, a, e = throws.T
    sa, ca, se, ce = np.sin(a), np.cos(a), np.sin(e), np.cos(e)
    zero = np.zeros_like(v)
    local = np.stack(
        [
            np.stack([ce * sa, ce * ca, se], -1),
            np.stack([v * ce * ca, -v * ce * sa, zero], -1),
            np.stack([-v * se * sa, -v * se * ca, v * ce], -1),
        ],
        -1,
    )
    return np.asarray(axes @ local)

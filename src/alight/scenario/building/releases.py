"""Releases of many runs from a scenario: places above the ground, velocities, attitudes.

Every row is computed by itself, with the host's own sines: a run's bits do not depend on which
other runs it is computed with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from alight import motions, surfaces
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.scenario.building.articulated_landers import Articulated
from alight.scenario.building.run_values import getter
from alight.scenario.schema.articulated_lander import euler_attitude
from alight.scenario.schema.landing import Scenario


def release_of(
    scenario: Scenario, surface: surfaces.Surface, values: dict[str, Array], count: int
) -> motions.Release:
    """The releases of ``count`` runs; ``values`` hold what differs between them, by key."""
    return motions.Release(*_states(scenario, surface, values, count))


def tree_release_of(
    scenario: Scenario,
    surface: surfaces.Surface,
    values: dict[str, Array],
    count: int,
    lander: Articulated,
) -> motions.TreeRelease:
    """The same of an articulated lander: place, velocity and turn are those of its first body."""
    states = motions.Release(*_states(scenario, surface, values, count))  # its quaternions are unit
    return motions.TreeRelease.of(
        lander.tree,
        *(states.position, states.velocity, states.attitude, states.rate),
        joints=lander.joints,
        speeds=lander.speeds,
    )


def _states(
    scenario: Scenario, surface: surfaces.Surface, values: dict[str, Array], count: int
) -> list[Array]:
    """Positions, velocities, attitudes and rates, a row a run."""
    section = scenario.release
    moved = "position" if section.position is not None else "offset"
    if "release.state" in values:
        both = values["release.state"]
        values = {**values, f"release.{moved}": both[:, :3], "release.velocity": both[:, 3:]}
    if "release.place" in values:
        both = values["release.place"]
        values = {**values, "release.latitude": both[:, :1], "release.longitude": both[:, 1:]}
    of_key = getter(scenario, values)

    def get(name: str) -> Array:
        return of_key(f"release.{name}")

    attitude = get("attitude")
    if "release.euler" in values:
        attitude = euler_attitude(values["release.euler"])
    position, velocity = get(moved), get("velocity")
    if moved == "offset":
        up = _directions(get("latitude")[:, 0], get("longitude")[:, 0])
        turn = frames.local_frame(up)
        radius = ground_radius(surface, up) + get("height")[:, 0]
        position = up * radius[:, None] + _turned(turn, position)
        velocity = _turned(turn, velocity)
        if section.attitude_axes == "local":
            attitude = frames.quat_multiply(frames.quat_from_matrix(turn), _unit(attitude))
    return [
        np.array(np.broadcast_to(a, (count, a.shape[1])))
        for a in (position, velocity, attitude, get("rate"))
    ]


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


def _turned(turn: Array, vectors: Array) -> Array:
    """Vectors in local axes turned to those of the target, component by component."""
    v = vectors[:, None, :]
    return np.asarray(
        turn[..., 0] * v[..., 0] + turn[..., 1] * v[..., 1] + turn[..., 2] * v[..., 2]
    )


def ground_radius(surface: surfaces.Surface, up: Array) -> Array:
    """(n,) distances [m] from the origin at which rays along ``up`` first meet the ground.

    From outside, as ``Release.above`` does it: a distance over the slope bound never exceeds the
    way to the ground.
    """

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

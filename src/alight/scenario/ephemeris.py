"""How the body of a scenario turns, where its Sun stands, and the way it takes over the sky."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight import flight
from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.scenario.schema.landing import Scenario
from alight.scenario.schema.sun import Sun
from alight.scenario.schema.target import BodyRotation

#: Directions of the Sun in one turn of the body, and turns of one that tumbles.
SAMPLES, TURNS = 180, 20


def rotation_of(section: BodyRotation) -> flight.Rotation:
    """The law that a scenario asks for; +z points to the pole at the angle of the meridian."""
    q_NT = np.array([0.0, 0.0, 0.0, 1.0])
    if section.pole is not None:
        ra, dec = map(float, section.pole)
        q_NT = flight.pole_attitude(ra, dec, float(section.meridian or 0.0))
    if section.kind == "tumbling":
        inertia, rates = section.inertia, [float(w) for w in section.rate]
        return flight.Tumbling(inertia, rates, _along_pole(inertia, rates, q_NT))
    if section.kind == "none":
        return flight.UniformRotation(0.0, q_NT=q_NT)
    if isinstance(section.rate, tuple):
        return flight.UniformRotation(omega=[float(w) for w in section.rate], q_NT=q_NT)
    return flight.UniformRotation(_rate(section), section.axis, q_NT)


def _rate(section: BodyRotation) -> float:
    """Length of the angular velocity [rad/s], at t = 0 where it tumbles."""
    if section.kind == "none":
        return 0.0
    if section.rate is None:
        return 2.0 * np.pi / float(section.period or 1.0)
    if isinstance(section.rate, tuple):
        return float(np.linalg.norm([float(w) for w in section.rate]))
    return float(section.rate)


def _along_pole(inertia: Any, rate: Any, q_pole: Any) -> Any:
    """q_NT of a tumbling body whose angular momentum points to the pole."""
    x, y, z = np.asarray(inertia) * np.asarray(rate) / np.linalg.norm(np.asarray(inertia) * rate)
    to_axis = np.array([1.0, 0.0, 0.0, 0.0])  # half a turn, where the momentum is along -z
    if z > -1.0 + 1e-12:
        to_axis = frames.quat_normalize([y, -x, 0.0, 1.0 + z])
    return frames.quat_multiply(q_pole, to_axis)


def sun_place(scenario: Scenario, sun: Sun) -> flight.Place:
    """Where ``sun`` stands, t = 0 being its date; an InputError says what is not known."""
    if sun.direction is not None:
        assert sun.distance is not None
        way = np.asarray(sun.direction) / np.linalg.norm(sun.direction)
        return flight.Fixed(float(sun.distance) * way)
    orbit, who = sun.orbit, scenario.body.name or "this body"
    if orbit is None:
        raise InputError(
            f"the orbit of {who} about the Sun is not known: give its elements in "
            "[environment.sun.orbit], or direction and distance of the Sun"
        )
    anomaly = sun.anomaly
    if anomaly is None:
        raise InputError(
            f"where {who} is on its orbit on {sun.date} is not known: give mean_anomaly and epoch "
            "in [environment.sun.orbit]"
        )
    return flight.apparent_sun(
        float(orbit.semi_major_axis),
        orbit.eccentricity,
        float(orbit.inclination),
        float(orbit.node),
        float(orbit.periapsis),
        anomaly,
    )


def turn(scenario: Scenario) -> tuple[float, bool]:
    """Time [s] over which light is to be looked at, and whether that is one turn about an axis."""
    section = scenario.body.rotation
    rate = abs(_rate(section))
    if rate == 0.0:
        raise InputError("the body does not rotate: give [body.rotation], or there is no day")
    tumbles = section.kind == "tumbling"
    return (TURNS if tumbles else 1) * 2.0 * np.pi / rate, not tumbles


def sun_path(scenario: Scenario, place: flight.Place, samples: int | None = None) -> Array:
    """(n, 3) unit vectors from the body to the Sun at ``place`` in target axes, over ``turn``.

    The body turns and moves along its orbit as it does in a run.
    """
    if scenario.body.rotation.pole is None:
        who = scenario.body.name or "this body"
        raise InputError(
            f"the pole of {who} is not known: give its right ascension and declination, "
            '[body.rotation] pole = ["96.4 deg", "-66.4 deg"]'
        )
    span, even = turn(scenario)
    count = samples or (SAMPLES if even else 36 * TURNS)
    times = np.linspace(0.0, span, count, endpoint=False)
    found = place.evaluate(times, rotation_of(scenario.body.rotation), "cpu")
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))

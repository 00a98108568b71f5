"""Where the Sun stands: from an orbit at a date, and in the axes of a body that turns.

N are the J2000 equatorial axes, T those of the body. Orbits are ellipses against the J2000
ecliptic, as tables of osculating elements give them; planets' pulls between the epoch of the
elements and the date are not followed.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array
from alight.core import frames, orbits
from alight.core.checks import checked_number, checked_points, checked_vector, checked_whole
from alight.core.constants import GM_SUN
from alight.core.errors import InputError
from alight.core.orbits import seconds_since_j2000

__all__ = [
    "SunPath",
    "heliocentric_position",
    "pole_attitude",
    "seconds_since_j2000",
    "subsolar_latitude",
    "sun_direction",
    "sun_over_rotation",
    "toward_sun",
]


@dataclass(frozen=True, eq=False)
class SunPath:
    """The Sun's path across the sky of a body, evenly in time, and what it rests on."""

    directions: Array
    """(n, 3) unit vectors to the Sun, target axes T."""
    span: float
    """Time that they cover [s]: a whole turn, so that the last leads to the first; many turns of
    a body that tumbles."""
    turns: bool = True
    """True where the span is one turn about an axis that stands still: a day."""
    when: str = ""
    """For readers: ``2018-10-03 01:57 UTC``, or ``at perihelion``."""
    source: str = ""
    """For readers: a sentence on where the Sun's place comes from."""

    def __post_init__(self) -> None:
        way = np.atleast_2d(checked_points(self.directions, "light"))
        size = np.linalg.norm(way, axis=1, keepdims=True)
        if len(way) < 4 or not size.all():
            raise InputError("a path of the Sun has at least 4 directions, none of them zero")
        object.__setattr__(self, "directions", way / size)
        checked_number("span [s]", self.span)

    @property
    def latitude(self) -> tuple[float, float]:
        """Smallest and largest latitude at which the Sun stands overhead in the span [rad]."""
        found = np.arcsin(np.clip(self.directions[:, 2], -1.0, 1.0))
        return float(found.min()), float(found.max())


def heliocentric_position(
    semi_major_axis: float,
    eccentricity: float,
    inclination: float,
    node: float,
    periapsis: float,
    mean_anomaly: npt.ArrayLike,
) -> Array:
    """(..., 3) place on an orbit about the Sun in N axes [m]; angles against the ecliptic [rad]."""
    a = checked_number("semi_major_axis [m]", semi_major_axis)
    axes = orbits.ecliptic_attitude()
    major, minor = orbits.ellipse_axes(a, eccentricity, inclination, node, periapsis, axes)
    return orbits.ellipse_places(major, minor, eccentricity, mean_anomaly)


def sun_direction(
    date: str | dt.datetime,
    epoch: str | dt.datetime,
    semi_major_axis: float,
    eccentricity: float,
    inclination: float,
    node: float,
    periapsis: float,
    mean_anomaly: float,
    gm: float = GM_SUN,
) -> Array:
    """(3,) unit vector from a body to the Sun at ``date``, N axes.

    ``mean_anomaly`` [rad] is that at ``epoch``; the other elements as in ``heliocentric_position``.
    """
    M = orbits.mean_anomaly_at(date, epoch, semi_major_axis, mean_anomaly, gm)
    angles = (inclination, node, periapsis)
    return toward_sun(heliocentric_position(semi_major_axis, eccentricity, *angles, M))


def toward_sun(heliocentric: npt.ArrayLike) -> Array:
    """(3,) unit vector to the Sun from a heliocentric place, in its axes."""
    place = checked_vector("heliocentric place [m]", heliocentric)
    if not np.any(place):
        raise InputError("the heliocentric place is the Sun itself: there is no direction to it")
    return -place / np.linalg.norm(place)


def subsolar_latitude(sun_N: npt.ArrayLike, pole_N: npt.ArrayLike) -> float:
    """Latitude [rad] of the place that has the Sun overhead; both directions in N axes."""
    sun, pole = checked_vector("sun_N", sun_N), checked_vector("pole_N", pole_N)
    along = float(sun @ pole)
    return float(np.arctan2(along, np.linalg.norm(np.cross(sun, pole))))


def pole_attitude(pole_N: npt.ArrayLike) -> Array:
    """A ``q_NT`` with the body's z axis along ``pole_N``, x along its equator's node.

    That is the attitude with W = 0 as the IAU counts it. The longitude of the Sun at any one moment
    needs W; what happens over a whole turn does not.
    """
    pole = checked_vector("pole_N", pole_N)
    if not np.any(pole):
        raise InputError("pole_N is zero; it must be the direction of the spin axis")
    ra = float(np.arctan2(pole[1], pole[0]))
    dec = float(np.arctan2(pole[2], np.hypot(pole[0], pole[1])))
    return orbits.pole_attitude(ra, dec)


def sun_over_rotation(
    sun_N: npt.ArrayLike,
    q_NT: npt.ArrayLike,
    samples: int = 360,
    axis_T: npt.ArrayLike = (0.0, 0.0, 1.0),
) -> Array:
    """(samples, 3) unit vectors to the Sun in T axes, evenly over one turn about ``axis_T``.

    ``q_NT`` is the attitude at the first sample. The Sun stands still in N meanwhile.
    """
    checked_whole("samples", samples, 4)
    sun = checked_vector("sun_N", sun_N)
    phase = np.arange(samples) * (2.0 * np.pi / samples)
    start = frames.quat_rotate_inv(frames.quat_normalize(q_NT), sun / np.linalg.norm(sun))
    turn = frames.quat_from_axis_angle(checked_vector("axis_T", axis_T), phase)
    return frames.quat_rotate_inv(turn, start)

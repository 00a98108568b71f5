"""Where the Sun stands: from an orbit at a date, and in the axes of a body that turns.

N are the J2000 equatorial axes, T those of the body. Orbits are ellipses against the J2000
ecliptic, as tables of osculating elements give them; planets' pulls between the epoch of the
elements and the date are not followed.
"""

from __future__ import annotations

import datetime as dt

import numpy as np
import numpy.typing as npt

from alight.analysis.columns import Array
from alight.core import frames
from alight.core.checks import checked_number, checked_vector, checked_whole
from alight.core.constants import GM_SUN, OBLIQUITY
from alight.core.errors import InputError

_J2000 = dt.datetime(2000, 1, 1, 12, tzinfo=dt.UTC)


def seconds_since_j2000(date: str | dt.datetime) -> float:
    """Seconds from 2000-01-01 12:00 to ``date``, an ISO date such as 2018-09-21T04:06:00.

    A date without a zone is UTC. The minute between UTC and the time of orbits is neglected: the
    Sun moves by 1e-5 rad in it.
    """
    try:
        moment = dt.datetime.fromisoformat(date) if isinstance(date, str) else date
    except ValueError:
        raise InputError(
            f'"{date}" is no date; write it as 2018-09-21 or 2018-09-21T04:06:00'
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return (moment - _J2000).total_seconds()


def eccentric_anomaly(mean_anomaly: npt.ArrayLike, eccentricity: float) -> Array:
    """Solve Kepler's equation E - e sin E = M [rad] by Newton's method, for 0 <= e < 1.

    From Danby's start, M + 0.85 e towards pi, a handful of steps reach rounding.
    """
    e = checked_number("eccentricity", eccentricity, above=False)
    if e >= 1.0:
        raise InputError(f"eccentricity is {e:g}; an ellipse has less than 1")
    M = np.remainder(np.asarray(mean_anomaly, dtype=np.float64) + np.pi, 2.0 * np.pi) - np.pi
    E = M + 0.85 * e * np.sign(M)
    for _ in range(50):
        step = (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
        E = E - step
        if np.all(np.abs(step) < 1e-15 * np.maximum(1.0, np.abs(E))):
            break
    return E


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
    E = eccentric_anomaly(mean_anomaly, eccentricity)
    x = a * (np.cos(E) - eccentricity)
    y = a * np.sqrt(1.0 - eccentricity**2) * np.sin(E)
    z_axis, x_axis = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    turns = ((x_axis, OBLIQUITY), (z_axis, node), (x_axis, inclination), (z_axis, periapsis))
    q = np.array([0.0, 0.0, 0.0, 1.0])
    for axis, angle in turns:
        q = frames.quat_multiply(q, frames.quat_from_axis_angle(axis, angle))
    return frames.quat_rotate(q, np.stack([x, y, np.zeros_like(x)], axis=-1))


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
    a = checked_number("semi_major_axis [m]", semi_major_axis)
    elapsed = seconds_since_j2000(date) - seconds_since_j2000(epoch)
    M = mean_anomaly + np.sqrt(checked_number("gm", gm) / a**3) * elapsed
    place = heliocentric_position(a, eccentricity, inclination, node, periapsis, M)
    return toward_sun(place)


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
    z = pole / np.linalg.norm(pole)
    x = np.array([-z[1], z[0], 0.0])
    x = x / np.linalg.norm(x) if np.any(x) else np.array([1.0, 0.0, 0.0])
    return frames.quat_from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))


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

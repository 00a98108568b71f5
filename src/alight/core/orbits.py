"""Kepler's ellipse, the axes of the sky, and dates: one source for kernels and for the host.

What a kernel evaluates, the host evaluates too: ``eccentric_anomalies`` and ``ellipse_places`` are
small kernels around the same functions. N are the J2000 equatorial axes, T those of a body.
"""

import datetime as dt

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array, checked_number
from alight.core.constants import GM_SUN, MOST_ECCENTRIC, OBLIQUITY
from alight.core.errors import InputError
from alight.core.types import scalar, vec3

_J2000 = dt.datetime(2000, 1, 1, 12, tzinfo=dt.UTC)
_X, _Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


# ---------------------------------------------------------------------------------------------
# Kepler's ellipse
# ---------------------------------------------------------------------------------------------


@wp.func
def eccentric_anomaly(mean: scalar, eccentricity: scalar) -> scalar:
    """E of E - e sin E = ``mean`` in [-pi, pi] [rad], e the eccentricity, up to 0.99.

    Halley's method from Danby's start (E = M + 0.85 e towards apoapsis), from which it always
    converges: three to five steps. A step of 1e-7 leaves an error of its cube.
    """
    anomaly = mean + wp.where(mean < scalar(0.0), scalar(-0.85), scalar(0.85)) * eccentricity
    step = scalar(1.0)
    count = int(0)
    while wp.abs(step) > scalar(1e-7) and count < 20:
        s = eccentricity * wp.sin(anomaly)
        f = anomaly - s - mean
        slope = scalar(1.0) - eccentricity * wp.cos(anomaly)
        step = f / (slope - scalar(0.5) * f * s / slope)
        anomaly -= step
        count += 1
    return anomaly


@wp.func
def ellipse_place(major: vec3, minor: vec3, eccentricity: scalar, mean: scalar) -> vec3:
    """a (cos E - e) along the major axis, b sin E along the minor one; ``mean`` in [-pi, pi]."""
    anomaly = eccentric_anomaly(mean, eccentricity)
    return (wp.cos(anomaly) - eccentricity) * major + wp.sin(anomaly) * minor


@wp.kernel(enable_backward=False)
def _ellipse(
    offset: int,
    major: vec3,
    minor: vec3,
    eccentricity: scalar,
    mean: wp.array(dtype=scalar),
    anomaly_out: wp.array(dtype=scalar),
    place_out: wp.array(dtype=vec3),
) -> None:
    i = wp.tid() + offset
    anomaly_out[i] = eccentric_anomaly(mean[i], eccentricity)
    place_out[i] = ellipse_place(major, minor, eccentricity, mean[i])


def checked_eccentricity(value: float) -> float:
    """``value`` as an eccentricity from 0 to ``MOST_ECCENTRIC``."""
    e = checked_number("eccentricity", value, above=False)
    if e > MOST_ECCENTRIC:
        raise InputError(
            f"eccentricity is {value!r}; it must be from 0 to {MOST_ECCENTRIC}: beyond, Kepler's "
            "equation loses digits near periapsis. Use Fixed for a moment's position"
        )
    return e


def eccentric_anomalies(mean_anomaly: npt.ArrayLike, eccentricity: float) -> Array:
    """Solve Kepler's equation E - e sin E = M [rad] for arrays; E is in [-pi, pi]."""
    return _on_ellipse(_X, _X, eccentricity, mean_anomaly)[0]


def ellipse_places(
    major: npt.ArrayLike, minor: npt.ArrayLike, eccentricity: float, mean_anomaly: npt.ArrayLike
) -> Array:
    """(..., 3) places on the ellipse with these half axes [m], seen from its focus."""
    return _on_ellipse(np.asarray(major), np.asarray(minor), eccentricity, mean_anomaly)[1]


def _on_ellipse(
    major: Array, minor: Array, eccentricity: float, mean_anomaly: npt.ArrayLike
) -> tuple[Array, Array]:
    e = checked_eccentricity(eccentricity)
    M = np.asarray(mean_anomaly, dtype=np.float64)
    if not np.isfinite(M).all():
        raise InputError(f"the mean anomaly is {mean_anomaly!r}; it must be finite, in radians")
    flat = np.remainder(M.reshape(-1) + np.pi, 2.0 * np.pi) - np.pi
    anomaly = wp.empty(M.size, dtype=scalar, device="cpu")
    place = wp.empty(M.size, dtype=vec3, device="cpu")
    if M.size:
        inputs = [vec3(*major), vec3(*minor), e, wp.array(flat, dtype=scalar, device="cpu")]
        cpu = devices.resolve("cpu")
        devices.launch(_ellipse, M.size, inputs, cpu, outputs=[anomaly, place])
    return anomaly.numpy().reshape(M.shape), place.numpy().reshape(*M.shape, 3)


def ellipse_axes(
    semi_major: float,
    eccentricity: float,
    inclination: float,
    node: float,
    periapsis: float,
    axes: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
) -> tuple[Array, Array]:
    """(3,) half axes of an orbit's ellipse [m], towards periapsis and a quarter turn on.

    Angles [rad] are against the plane z = 0 of the axes that ``axes``, a quaternion, turns to N.
    """
    in_plane = frames.quat_multiply(
        frames.quat_from_axis_angle(_Z, node),
        frames.quat_multiply(
            frames.quat_from_axis_angle(_X, inclination),
            frames.quat_from_axis_angle(_Z, periapsis),
        ),
    )
    R = frames.quat_to_matrix(frames.quat_multiply(axes, in_plane))
    semi_minor = semi_major * np.sqrt(1.0 - eccentricity**2)
    return semi_major * R[:, 0], semi_minor * R[:, 1]


# ---------------------------------------------------------------------------------------------
# Axes of the sky
# ---------------------------------------------------------------------------------------------


def ecliptic_attitude() -> Array:
    """Quaternion from J2000 ecliptic axes to J2000 equatorial axes."""
    return frames.quat_from_axis_angle([1.0, 0.0, 0.0], OBLIQUITY)


def ecliptic_to_equatorial(vectors: npt.ArrayLike) -> Array:
    """Vectors (..., 3) in J2000 ecliptic axes, in J2000 equatorial axes."""
    return frames.quat_rotate(ecliptic_attitude(), vectors)


def pole_attitude(ra: float, dec: float, w0: float = 0.0) -> Array:
    """q_NT at t = 0 of a target whose pole (+z) is at ``ra``, ``dec`` [rad]; N is J2000 equatorial.

    As the IAU counts: ``w0`` [rad] is the angle of the prime meridian (+x) from the node where the
    target's equator rises through the J2000 equator, at right ascension ``ra`` + 90 degrees.
    """
    to_node = frames.quat_from_axis_angle(_Z, _finite("ra [rad]", ra) + 0.5 * np.pi)
    tilt = frames.quat_from_axis_angle(_X, 0.5 * np.pi - _finite("dec [rad]", dec))
    meridian = frames.quat_from_axis_angle(_Z, _finite("w0 [rad]", w0))
    return frames.quat_multiply(to_node, frames.quat_multiply(tilt, meridian))


def _finite(name: str, value: float) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and np.isfinite(value)):
        raise InputError(f"{name} is {value!r}; it must be a finite number")
    return float(value)


# ---------------------------------------------------------------------------------------------
# Dates
# ---------------------------------------------------------------------------------------------


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


def mean_anomaly_at(
    date: str | dt.datetime,
    epoch: str | dt.datetime,
    semi_major: float,
    mean_anomaly: float,
    gm: float = GM_SUN,
) -> float:
    """Mean anomaly [rad] at ``date`` on an orbit that has ``mean_anomaly`` [rad] at ``epoch``."""
    a = checked_number("semi_major_axis [m]", semi_major)
    elapsed = seconds_since_j2000(date) - seconds_since_j2000(epoch)
    return float(mean_anomaly + np.sqrt(checked_number("gm", gm) / a**3) * elapsed)

"""Where the Sun or a companion is: fixed in inertial axes, fixed in the target, or on an orbit.

A place is a law of its own: a struct of data and a Warp function ``(data, t, q_NT) -> vec3`` that
gives the place relative to the target's centre in T axes [m].
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.constants import GM_SUN, OBLIQUITY
from alight.core.errors import InputError
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.flight.clock import ClockData, clock_from_period, clock_turn
from alight.flight.rotation import (
    Rotation,
    attitudes,
    checked_finite,
    checked_times,
    unit_quaternion,
)

#: Largest eccentricity of an ``Orbit``: up to here Kepler's equation is solved to rounding.
MOST_ECCENTRIC = 0.99


class Place:
    """A place seen from the target's centre; see the module's text."""

    #: Warp function ``(data: Data, t: scalar, q_NT: quat) -> vec3`` in T axes [m].
    place: Any
    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any
    #: True where the place does not move in T axes, whatever the rotation.
    fixed_in_target: bool = False

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct."""
        raise NotImplementedError

    def nearest(self) -> float:
        """Least distance from the target's centre [m]."""
        raise NotImplementedError

    def evaluate(
        self, times: npt.ArrayLike, rotation: Rotation | None = None, device: str = "auto"
    ) -> Array:
        """The place (..., 3) [m] at times [s] in T axes; without ``rotation`` T and N agree."""
        t = checked_times(times)
        target = devices.resolve(device)
        flat = np.ascontiguousarray(t.reshape(-1))
        q_NT = attitudes(rotation, flat, device)
        out = wp.empty(t.size, dtype=vec3, device=target.name)
        if t.size:
            inputs = [
                self.data(target),
                wp.array(flat, dtype=scalar, device=target.name),
                wp.array(q_NT, dtype=quat, device=target.name),
            ]
            kernel = _place_kernel(self.place, self.Data)
            devices.launch(kernel, t.size, inputs, target, outputs=[out])
        return np.asarray(out.numpy().reshape(*t.shape, 3))


@functools.cache
def _place_kernel(place: Any, data_type: Any) -> Any:
    """A kernel that evaluates one place at one time a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_place(
        offset: int,
        data: data_type,
        times: wp.array(dtype=scalar),
        q_NT: wp.array(dtype=quat),
        place_out: wp.array(dtype=vec3),
    ) -> None:
        i = wp.tid() + offset
        place_out[i] = place(data, times[i], q_NT[i])

    return evaluate_place


# ---------------------------------------------------------------------------------------------
# Places that do not move
# ---------------------------------------------------------------------------------------------


@wp.struct
class FixedData:
    """Place in N axes [m]."""

    inertial: vec3


@wp.func
def fixed_place(data: FixedData, t: scalar, q_NT: quat) -> vec3:
    """The same in N axes at all times."""
    return wp.quat_rotate_inv(q_NT, data.inertial)


class Fixed(Place):
    """A place fixed in inertial axes N [m]: the Sun during an afternoon's landing."""

    Data = FixedData
    place = fixed_place

    def __init__(self, position: npt.ArrayLike) -> None:
        self.position = _away("position [m]", position)

    def nearest(self) -> float:
        """Its distance [m]."""
        return float(np.linalg.norm(self.position))

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = FixedData()
        data.inertial = vec3(*self.position)
        return data


@wp.struct
class FixedInTargetData:
    """Place in T axes [m]."""

    target: vec3


@wp.func
def fixed_in_target_place(data: FixedInTargetData, t: scalar, q_NT: quat) -> vec3:
    """The same in T axes at all times."""
    return data.target


class FixedInTarget(Place):
    """A place fixed in the target's axes T [m]: the planet in the sky of a locked moon."""

    Data = FixedInTargetData
    place = fixed_in_target_place
    fixed_in_target = True

    def __init__(self, position: npt.ArrayLike) -> None:
        self.position = _away("position [m]", position)

    def nearest(self) -> float:
        """Its distance [m]."""
        return float(np.linalg.norm(self.position))

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = FixedInTargetData()
        data.target = vec3(*self.position)
        return data


def _away(name: str, position: npt.ArrayLike) -> Array:
    vector = checked_vector(name, position)
    if not vector.any():
        raise InputError(f"{name} is the target's own centre; it must lie somewhere else")
    return vector


# ---------------------------------------------------------------------------------------------
# Kepler's ellipse
# ---------------------------------------------------------------------------------------------


@wp.struct
class OrbitData:
    """Half axes of the ellipse in N axes [m], eccentricity, and the clock of the mean anomaly."""

    major: vec3
    minor: vec3
    eccentricity: scalar
    clock: ClockData


@wp.func
def eccentric_anomaly(mean: scalar, e: scalar) -> scalar:
    """E of E - e sin E = ``mean`` in [-pi, pi] [rad], to rounding for e <= 0.99.

    Halley's method from Danby's start (E = M + 0.85 e towards apoapsis), from which it always
    converges: three to five steps. A step of 1e-7 leaves an error of its cube.
    """
    E = mean + wp.where(mean < scalar(0.0), scalar(-0.85), scalar(0.85)) * e
    step = scalar(1.0)
    count = int(0)
    while wp.abs(step) > scalar(1e-7) and count < 20:
        s = e * wp.sin(E)
        f = E - s - mean
        slope = scalar(1.0) - e * wp.cos(E)
        step = f / (slope - scalar(0.5) * f * s / slope)
        E -= step
        count += 1
    return E


@wp.func
def orbit_place(data: OrbitData, t: scalar, q_NT: quat) -> vec3:
    """a (cos E - e) along the major axis, b sin E along the minor one."""
    turn = clock_turn(data.clock, t)
    mean = wp.static(scalar(2.0 * np.pi)) * (turn - wp.round(turn))
    E = eccentric_anomaly(mean, data.eccentricity)
    place_N = (wp.cos(E) - data.eccentricity) * data.major + wp.sin(E) * data.minor
    return wp.quat_rotate_inv(q_NT, place_N)


class Orbit(Place):
    """Kepler's ellipse about the target's centre.

    Parameters
    ----------
    semi_major:
        Semi-major axis [m].
    eccentricity:
        From 0 to 0.99.
    inclination, node, periapsis, mean_anomaly:
        Inclination, longitude of the ascending node, argument of periapsis, and mean anomaly at
        t = 0 [rad].
    period, gm:
        Time of one turn [s], or the sum of both gravitational parameters [m^3/s^2]: one of them.
    axes:
        Quaternion from the axes of the elements to N axes; see ``ecliptic_attitude``.
    """

    Data = OrbitData
    place = orbit_place

    def __init__(
        self,
        semi_major: float,
        eccentricity: float = 0.0,
        inclination: float = 0.0,
        node: float = 0.0,
        periapsis: float = 0.0,
        mean_anomaly: float = 0.0,
        *,
        period: float | None = None,
        gm: float | None = None,
        axes: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
    ) -> None:
        self.semi_major = checked_number("semi_major [m]", semi_major)
        self.eccentricity = checked_number("eccentricity", eccentricity, above=False)
        if self.eccentricity > MOST_ECCENTRIC:
            raise InputError(
                f"eccentricity is {eccentricity!r}; it must be from 0 to {MOST_ECCENTRIC}: beyond, "
                "Kepler's equation loses digits near periapsis. Use Fixed for a moment's position"
            )
        self.inclination = checked_finite("inclination [rad]", inclination)
        self.node = checked_finite("node [rad]", node)
        self.periapsis = checked_finite("periapsis [rad]", periapsis)
        self.mean_anomaly = checked_finite("mean_anomaly [rad]", mean_anomaly)
        if (period is None) == (gm is None):
            raise InputError("give either period [s] or gm [m^3/s^2] of the orbit")
        if period is not None:
            self.period = checked_number("period [s]", period)
        elif gm is not None:
            total = checked_number("gm [m^3/s^2]", gm)
            self.period = float(2.0 * np.pi * np.sqrt(self.semi_major**3 / total))
        self.axes = unit_quaternion("axes", axes)

    @property
    def mean_motion(self) -> float:
        """Mean rate [rad/s]."""
        return 2.0 * np.pi / self.period

    def nearest(self) -> float:
        """Distance of periapsis [m]."""
        return self.semi_major * (1.0 - self.eccentricity)

    def opposite(self) -> "Orbit":
        """The target as seen from what goes round it here: minus the position at all times."""
        return Orbit(
            self.semi_major,
            self.eccentricity,
            self.inclination,
            self.node,
            self.periapsis + np.pi,
            self.mean_anomaly,
            period=self.period,
            axes=self.axes,
        )

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
        in_plane = frames.quat_multiply(
            frames.quat_from_axis_angle(z, self.node),
            frames.quat_multiply(
                frames.quat_from_axis_angle(x, self.inclination),
                frames.quat_from_axis_angle(z, self.periapsis),
            ),
        )
        R = frames.quat_to_matrix(frames.quat_multiply(self.axes, in_plane))
        semi_minor = self.semi_major * np.sqrt(1.0 - self.eccentricity**2)
        data = OrbitData()
        data.major, data.minor = vec3(*(self.semi_major * R[:, 0])), vec3(*(semi_minor * R[:, 1]))
        data.eccentricity = self.eccentricity
        data.clock = clock_from_period(self.period, self.mean_anomaly / (2.0 * np.pi))
        return data


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
    z, x = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    to_node = frames.quat_from_axis_angle(z, checked_finite("ra [rad]", ra) + 0.5 * np.pi)
    tilt = frames.quat_from_axis_angle(x, 0.5 * np.pi - checked_finite("dec [rad]", dec))
    meridian = frames.quat_from_axis_angle(z, checked_finite("w0 [rad]", w0))
    return frames.quat_multiply(to_node, frames.quat_multiply(tilt, meridian))


def apparent_sun(
    semi_major: float,
    eccentricity: float,
    inclination: float,
    node: float,
    periapsis: float,
    mean_anomaly: float = 0.0,
) -> Orbit:
    """The Sun as seen from a target with these heliocentric elements [m], [rad].

    The elements are against the J2000 ecliptic; the orbit is in J2000 equatorial axes N, those of
    ``pole_attitude``.
    """
    target = Orbit(
        semi_major,
        eccentricity,
        inclination,
        node,
        periapsis,
        mean_anomaly,
        gm=GM_SUN,
        axes=ecliptic_attitude(),
    )
    return target.opposite()

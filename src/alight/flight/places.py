"""Where the Sun or a companion is: fixed in inertial axes, fixed in the target, or on an orbit.

A place is a law of its own: a struct of data and a Warp function ``(data, t, q_NT) -> vec3`` that
gives the place relative to the target's centre in T axes [m].
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.constants import GM_SUN
from alight.core.errors import InputError
from alight.core.orbits import (
    checked_eccentricity,
    ecliptic_attitude,
    ellipse_axes,
    ellipse_place,
)
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
        """Smallest distance from the target's centre [m]."""
        raise NotImplementedError

    def evaluate(
        self, times: npt.ArrayLike, rotation: Rotation | None = None, device: str = "auto"
    ) -> Array:
        """The place (..., 3) [m] at times [s] in T axes; without ``rotation`` T and N agree."""
        t = checked_times(times)
        target = devices.resolve(device)
        flat = np.ascontiguousarray(t.reshape(-1))
        q_NT = attitudes(rotation, flat, device)
        inputs = [
            self.data(target),
            devices.array(flat, scalar, target),
            devices.array(q_NT, quat, target),
        ]
        kernel = _place_kernel(self.place, self.Data)
        (place,) = devices.computed(kernel, t.size, inputs, [vec3], target)
        return np.asarray(place.reshape(*t.shape, 3))


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
def orbit_place(data: OrbitData, t: scalar, q_NT: quat) -> vec3:
    """The place on the ellipse, in the target's axes."""
    turn = clock_turn(data.clock, t)
    mean = wp.static(scalar(2.0 * np.pi)) * (turn - wp.round(turn))
    place_N = ellipse_place(data.major, data.minor, data.eccentricity, mean)
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
        self.eccentricity = checked_eccentricity(eccentricity)
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
        angles = (self.inclination, self.node, self.periapsis)
        major, minor = ellipse_axes(self.semi_major, self.eccentricity, *angles, self.axes)
        data = OrbitData()
        data.major, data.minor = vec3(*major), vec3(*minor)
        data.eccentricity = self.eccentricity
        data.clock = clock_from_period(self.period, self.mean_anomaly / (2.0 * np.pi))
        return data


# ---------------------------------------------------------------------------------------------
# The Sun
# ---------------------------------------------------------------------------------------------


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

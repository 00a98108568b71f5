"""Pushes from outside: sunlight, the tide of the Sun, a companion.

Each is a law: a struct of data and a Warp function ``(data, t, q_NT, x) -> Push`` in T axes.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_number, checked_points
from alight.core.constants import AU, GM_SUN, SOLAR_FLUX, SPEED_OF_LIGHT
from alight.core.errors import InputError
from alight.core.given import Given
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.flight.places import FixedInTarget, Place
from alight.flight.rotation import (
    Rotation,
    UniformRotation,
    attitudes,
    checked_times,
    unit_vector,
)

#: Pressure of sunlight on a black wall at 1 AU [N/m^2]: the IAU's nominal irradiance over c.
SOLAR_PRESSURE = SOLAR_FLUX / SPEED_OF_LIGHT


@wp.struct
class Push:
    """``acceleration`` [m/s^2] in T axes, and ``potential`` [m^2/s^2].

    At a fixed time the acceleration is +grad potential, where there is such a potential; it is 0
    where there is none.
    """

    acceleration: vec3
    potential: scalar


class External(Given):
    """A law for an external acceleration, the same for every part of a lander.

    A subclass sets ``push``, a Warp function ``(data, t, q_NT, x) -> Push`` of time [s], attitude
    of the target and position in T axes [m], and ``data(device)``.
    """

    #: Warp function ``(data: Data, t: scalar, q_NT: quat, x: vec3) -> Push``.
    push: Any
    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any
    #: True where ``potential`` is a function of the place in T axes alone: E_J is then conserved.
    steady: bool = False
    #: Warp function ``(data: Data, t: scalar) -> scalar``: the first time after t [s] at which the
    #: push switches, which no step passes over; None where it never does.
    next: Any = None

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct whose arrays live on ``device``."""
        raise NotImplementedError

    def evaluate(
        self,
        t: npt.ArrayLike,
        points: npt.ArrayLike,
        rotation: Rotation | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> tuple[Array, Array]:
        """Acceleration (..., 3) [m/s^2] in T axes and potential (...) [m^2/s^2].

        ``t`` [s] is one time or one for each of ``points`` (..., 3) [m]; without ``rotation`` the
        target is at rest and T and N agree.
        """
        x = checked_points(points, "an external acceleration")
        times = _one_each(checked_times(t), x.shape[:-1])
        target = devices.resolve(device)
        inputs = [
            self.data(target),
            devices.array(times, scalar, target),
            devices.array(attitudes(rotation, times, device), quat, target),
            devices.array(x.reshape(-1, 3), vec3, target),
        ]
        kernel = _push_kernel(self.push, self.Data)
        acceleration, potential = devices.computed(
            kernel, times.size, inputs, (vec3, scalar), target, threads
        )
        return acceleration.reshape(x.shape), potential.reshape(x.shape[:-1])


def _one_each(t: Array, shape: tuple[int, ...]) -> Array:
    """Times (n,) for points of ``shape``."""
    try:
        return np.ascontiguousarray(np.broadcast_to(t, shape).reshape(-1))
    except ValueError:
        raise InputError(
            f"t has shape {t.shape} and points {(*shape, 3)}; give one time, or one for each point"
        ) from None


@functools.cache
def _push_kernel(push: Any, data_type: Any) -> Any:
    """A kernel that evaluates one law at one time and point a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_push(
        offset: int,
        data: data_type,
        times: wp.array(dtype=scalar),
        q_NT: wp.array(dtype=quat),
        points: wp.array(dtype=vec3),
        acceleration_out: wp.array(dtype=vec3),
        potential_out: wp.array(dtype=scalar),
    ) -> None:
        i = wp.tid() + offset
        found = push(data, times[i], q_NT[i], points[i])
        acceleration_out[i] = found.acceleration
        potential_out[i] = found.potential

    return evaluate_push


# ---------------------------------------------------------------------------------------------
# Sunlight
# ---------------------------------------------------------------------------------------------


@functools.cache
def _solar_law(place: Any, place_type: Any) -> tuple[Any, Any]:
    """Data and kernel function of sunlight from one kind of place."""

    @wp.struct
    class SolarData:
        sun: place_type
        strength: scalar  # acceleration times distance squared [m^3/s^2]
        shadow_radius: scalar  # [m]

    @wp.func
    def solar_push(data: SolarData, t: scalar, q_NT: quat, x: vec3):
        d = place(data.sun, t, q_NT)
        towards = wp.normalize(d)
        push = Push()
        height = wp.dot(x, towards)
        beside = x - height * towards
        dark = height < scalar(0.0) and wp.length(beside) < data.shadow_radius
        if not dark:
            push.acceleration = -data.strength / wp.dot(d, d) * towards
            if data.shadow_radius == scalar(0.0):
                push.potential = wp.dot(push.acceleration, x)
        return push

    return SolarData, solar_push


class SolarPressure(External):
    """The pressure of sunlight on a ball-like lander: a = -C_R P (AU/d)^2 (A/m), away from the Sun.

    Parameters
    ----------
    area_over_mass:
        Cross-section over mass [m^2/kg].
    sun:
        Where the Sun is: ``Fixed``, ``Orbit`` (see ``apparent_sun``) or any ``Place``.
    reflectivity:
        C_R: 1 for a black lander, 1.3 for most, up to 2 for a mirror that faces the Sun.
    shadow_radius:
        Radius of the cylinder of shadow behind the target's centre [m]; 0: no shadow. A shadow has
        an edge, so there is no potential with one, and ``potential`` is 0.
    """

    def __init__(
        self,
        area_over_mass: float,
        sun: Place,
        reflectivity: float = 1.3,
        shadow_radius: float = 0.0,
    ) -> None:
        name = "area_over_mass [m^2/kg]"
        self.area_over_mass = checked_number(name, area_over_mass, above=False)
        self.sun = _checked_place("sun", sun)
        self.reflectivity = checked_number("reflectivity", reflectivity, above=False)
        if self.reflectivity > 2.0:
            raise InputError(
                f"reflectivity is {reflectivity!r}; it must be from 0 to 2: light that comes "
                "straight back pushes twice, and no more"
            )
        self.shadow_radius = checked_number("shadow_radius [m]", shadow_radius, above=False)
        self.steady = sun.fixed_in_target and self.shadow_radius == 0.0
        self.Data, self.push = _solar_law(sun.place, sun.Data)

    def data(self, device: devices.Device) -> Any:
        """Parameters and those of the place."""
        data = self.Data()
        data.sun = self.sun.data(device)
        data.strength = self.reflectivity * SOLAR_PRESSURE * AU**2 * self.area_over_mass
        data.shadow_radius = self.shadow_radius
        return data


# ---------------------------------------------------------------------------------------------
# Tides
# ---------------------------------------------------------------------------------------------


@wp.func
def tidal_push(gm: scalar, d: vec3, x: vec3):
    """gm ((d - x)/|d - x|^3 - d/|d|^3) and its potential, without cancellation.

    With q = x.(x - 2 d)/d^2 and s = sqrt(1 + q) = |d - x|/|d| (Battin's form of the difference):

        acceleration = -gm/|d - x|^3 (x + f d),   f = s^3 - 1 = q (3 + 3 q + q^2)/(1 + s^3)
        potential    = gm (1/|d - x| - 1/|d| - d.x/|d|^3)
                     = gm/(2 |d|) (q^2 (s + 2)/(s (1 + s)^2) - x^2/d^2)
    """
    one = scalar(1.0)
    inverse = one / wp.dot(d, d)
    q = wp.dot(x, x - scalar(2.0) * d) * inverse
    s = wp.sqrt(one + q)
    cube = s * s * s
    f = q * (scalar(3.0) + q * (scalar(3.0) + q)) / (one + cube)
    over = gm * wp.sqrt(inverse)
    push = Push()
    push.acceleration = -(over * inverse / cube) * (x + f * d)
    bent = q * q * (s + scalar(2.0)) / (s * (one + s) * (one + s))
    push.potential = scalar(0.5) * over * (bent - wp.dot(x, x) * inverse)
    return push


@functools.cache
def _tide_law(place: Any, place_type: Any) -> tuple[Any, Any]:
    """Data and kernel function of the tide of a mass at one kind of place."""

    @wp.struct
    class TideData:
        mass: place_type
        gm: scalar  # [m^3/s^2]

    @wp.func
    def tide_push(data: TideData, t: scalar, q_NT: quat, x: vec3):
        return tidal_push(data.gm, place(data.mass, t, q_NT), x)

    return TideData, tide_push


class Companion(External):
    """A point mass beside the target: its pull on the lander less its pull on the target.

    Parameters
    ----------
    gm:
        Gravitational parameter of the companion [m^3/s^2].
    orbit:
        Where it is, seen from the target's centre: ``Orbit``, ``Fixed`` or any ``Place``.
    """

    def __init__(self, gm: float, orbit: Place) -> None:
        self.gm = checked_number("gm [m^3/s^2]", gm, above=False)
        self.orbit = _checked_place("orbit", orbit)
        self.steady = orbit.fixed_in_target
        self.Data, self.push = _tide_law(orbit.place, orbit.Data)

    def data(self, device: devices.Device) -> Any:
        """Parameters and those of the place."""
        data = self.Data()
        data.mass, data.gm = self.orbit.data(device), self.gm
        return data

    @classmethod
    def synchronous(
        cls,
        gm: float,
        distance: float | None = None,
        direction: npt.ArrayLike = (1.0, 0.0, 0.0),
        *,
        gm_target: float = 0.0,
        rotation: UniformRotation | None = None,
    ) -> "Companion":
        """A companion that stands still in the sky of a tidally locked target, on a circular orbit.

        Parameters
        ----------
        gm, gm_target:
            Gravitational parameters of companion and target [m^3/s^2].
        distance:
            Between the centres [m]; without it, the one that fits ``rotation``.
        direction:
            Of the companion in T axes, of any length.
        rotation:
            The target's rotation, which must then keep pace: its rate is the mean motion
            sqrt((gm + gm_target)/distance^3) to one part in a thousand, its axis at right angles.
            ``synchronous_rotation`` gives the one that fits exactly.
        """
        gm = checked_number("gm [m^3/s^2]", gm)
        total = gm + checked_number("gm_target [m^3/s^2]", gm_target, above=False)
        unit = unit_vector("direction", direction)
        if distance is None:
            if rotation is None or not rotation.rate:
                raise InputError("give distance [m], or a rotation that turns, for it to follow")
            distance = float(np.cbrt(total / rotation.rate**2))
        distance = checked_number("distance [m]", distance)
        if rotation is not None:
            _check_pace(rotation, total, distance, unit)
        return cls(gm, FixedInTarget(distance * unit))


class SunTide(Companion):
    """The Sun's tide (``gm`` [m^3/s^2]): its pull on the lander less its pull on the target."""

    def __init__(self, sun: Place, gm: float = GM_SUN) -> None:
        super().__init__(gm, _checked_place("sun", sun))

    @property
    def sun(self) -> Place:
        """Where the Sun is."""
        return self.orbit


def synchronous_rotation(
    gm: float,
    distance: float,
    axis: npt.ArrayLike = (0.0, 0.0, 1.0),
    *,
    gm_target: float = 0.0,
    q_NT: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
) -> UniformRotation:
    """The rotation of a target locked to a companion on a circular orbit (see ``synchronous``).

    ``gm`` [m^3/s^2] is that of the companion at ``distance`` [m], ``gm_target`` that of the target.
    """
    total = checked_number("gm [m^3/s^2]", gm) + checked_number(
        "gm_target [m^3/s^2]", gm_target, above=False
    )
    distance = checked_number("distance [m]", distance)
    return UniformRotation(float(np.sqrt(total / distance**3)), axis, q_NT)


def _check_pace(rotation: UniformRotation, total: float, distance: float, unit: Array) -> None:
    """The companion keeps pace with the target's rotation, in its equator."""
    if not isinstance(rotation, UniformRotation):
        raise InputError(f"rotation is {rotation!r}; a locked target turns by a UniformRotation")
    motion = float(np.sqrt(total / distance**3))
    if abs(abs(rotation.rate) - motion) > 1e-3 * motion:
        fit = f"{np.cbrt(total / rotation.rate**2):.6g} m" if rotation.rate else "none"
        raise InputError(
            f"a companion {distance:g} m away orbits at {motion:.6g} rad/s, but the target "
            f"turns at {abs(rotation.rate):.6g} rad/s: it would not stand still in the sky. "
            f"Distance that fits: {fit}; or take synchronous_rotation, or an Orbit"
        )
    if abs(float(unit @ rotation.axis)) > 1e-3:
        raise InputError(
            f"direction {unit} is not at right angles to the axis of rotation {rotation.axis}: "
            "a companion can stand still over the equator only"
        )


def _checked_place(name: str, place: Place) -> Place:
    if not isinstance(place, Place):
        raise InputError(
            f"{name} is {place!r}; it must be a place: Fixed(position), Orbit(...), "
            "apparent_sun(...) or FixedInTarget(position)"
        )
    return place

"""How the target turns: what every law of rotation offers, and uniform rotation.

``Omega`` is the rate of the target-fixed axes T relative to inertial axes N, in T axes. A law gives
it with its derivative (``spin``) and the attitude ``q_NT``, which turns components in T into
components in N (``attitude``); both are Warp functions of time.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array, checked_vector
from alight.core.errors import InputError
from alight.core.given import Given
from alight.core.types import quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.flight.clock import ClockData, clock_from_rate, clock_turn


@wp.struct
class Spin:
    """``rate`` Omega [rad/s] and ``acceleration`` dOmega/dt [rad/s^2], both in T axes.

    The derivative is the same seen from N and from T, as Omega x Omega = 0.
    """

    rate: vec3
    acceleration: vec3


class Rotation(Given):
    """A law for the rotation of the target.

    A subclass sets ``spin``, a Warp function ``(data, t) -> Spin``, ``attitude``, a Warp function
    ``(data, t) -> quat`` (q_NT), and ``data(device)``. The sign of q_NT carries no meaning.
    """

    #: Warp function ``(data: Data, t: scalar) -> Spin``.
    spin: Any
    #: Warp function ``(data: Data, t: scalar) -> quat``.
    attitude: Any
    #: The ``@wp.struct`` class of the law's parameters.
    Data: Any
    #: True where Omega is constant: an engine may read ``spin`` once, and E_J is conserved.
    uniform: bool = False

    def data(self, device: devices.Device) -> Any:
        """The law's parameters as a struct whose arrays live on ``device``."""
        raise NotImplementedError

    def evaluate(
        self, times: npt.ArrayLike, device: str = "auto", threads: int | None = None
    ) -> tuple[Array, Array, Array]:
        """Omega [rad/s], dOmega/dt [rad/s^2] and q_NT at times of any shape [s].

        Returns arrays of shapes ``(..., 3)``, ``(..., 3)`` and ``(..., 4)``.
        """
        t = checked_times(times)
        target = devices.resolve(device)
        kernel = _rotation_kernel(self.spin, self.attitude, self.Data)
        inputs = [self.data(target), devices.array(t.reshape(-1), scalar, target)]
        rate, acceleration, q_NT = devices.computed(
            kernel, t.size, inputs, (vec3, vec3, quat), target, threads
        )
        shape = (*t.shape, 3)
        return rate.reshape(shape), acceleration.reshape(shape), q_NT.reshape(*t.shape, 4)


@functools.cache
def _rotation_kernel(spin: Any, attitude: Any, data_type: Any) -> Any:
    """A kernel that evaluates one law at one time a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def evaluate_rotation(
        offset: int,
        data: data_type,
        times: wp.array(dtype=scalar),
        rate_out: wp.array(dtype=vec3),
        acceleration_out: wp.array(dtype=vec3),
        q_NT_out: wp.array(dtype=quat),
    ) -> None:
        i = wp.tid() + offset
        found = spin(data, times[i])
        rate_out[i] = found.rate
        acceleration_out[i] = found.acceleration
        q_NT_out[i] = attitude(data, times[i])

    return evaluate_rotation


# ---------------------------------------------------------------------------------------------
# Uniform rotation
# ---------------------------------------------------------------------------------------------


@wp.struct
class UniformRotationData:
    """Omega [rad/s], its unit axis, q_NT at t = 0, and a clock of two turns."""

    rate: vec3
    axis: vec3
    start: quat
    clock: ClockData


@wp.func
def uniform_spin(data: UniformRotationData, t: scalar):
    """The same at all times."""
    spin = Spin()
    spin.rate = data.rate
    return spin


@wp.func
def uniform_attitude(data: UniformRotationData, t: scalar) -> quat:
    """q_NT(0) followed by a turn of Omega t about the axis."""
    half = wp.static(scalar(2.0 * np.pi)) * clock_turn(data.clock, t)
    turn = wp.sin(half) * data.axis
    return data.start * quat(turn[0], turn[1], turn[2], wp.cos(half))


class UniformRotation(Rotation):
    """Rotation at a constant rate about an axis fixed in the target.

    Parameters
    ----------
    rate:
        Turning rate [rad/s]; 0 for a target at rest, negative for the other sense.
    axis:
        Axis in T axes, of any length.
    q_NT:
        Attitude at t = 0, ``xyzw``, of any length; see ``pole_attitude``.
    omega:
        The rate as a vector in T axes [rad/s], instead of ``rate`` and ``axis``.
    """

    Data = UniformRotationData
    spin = uniform_spin
    attitude = uniform_attitude
    uniform = True

    def __init__(
        self,
        rate: float | None = None,
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        q_NT: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
        *,
        omega: npt.ArrayLike | None = None,
    ) -> None:
        if (rate is None) == (omega is None):
            raise InputError("give either rate [rad/s] (with axis) or omega, a vector [rad/s]")
        if omega is not None:
            vector = checked_vector("omega [rad/s]", omega)
            self.rate = float(np.linalg.norm(vector))
            self.axis = vector / self.rate if self.rate else np.array([0.0, 0.0, 1.0])
        else:
            self.rate = checked_finite("rate [rad/s]", rate)
            self.axis = unit_vector("axis", axis)
        self.q_NT = unit_quaternion("q_NT", q_NT)

    @property
    def omega(self) -> Array:
        """Omega in T axes [rad/s]."""
        return self.rate * self.axis

    @property
    def period(self) -> float:
        """Time of one turn [s]; infinite at rest."""
        return 2.0 * np.pi / abs(self.rate) if self.rate else np.inf

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = UniformRotationData()
        data.rate, data.axis = vec3(*self.omega), vec3(*self.axis)
        data.start = quat(*self.q_NT)
        data.clock = clock_from_rate(self.rate, per_turn=4)
        return data

    def __repr__(self) -> str:
        return f"UniformRotation({self.rate!r}, {self.axis.tolist()}, {self.q_NT.tolist()})"


def attitudes(rotation: Rotation | None, times: Array, device: str) -> Array:
    """q_NT at ``times`` [s]; no rotation is a target at rest, with T along N."""
    if rotation is not None and not isinstance(rotation, Rotation):
        raise InputError(
            f"rotation is {rotation!r}; it must be a Rotation, such as UniformRotation(2e-4)"
        )
    return (rotation or UniformRotation(0.0)).evaluate(times, device)[2]


# ---------------------------------------------------------------------------------------------
# Checks shared by the room
# ---------------------------------------------------------------------------------------------


def checked_times(times: npt.ArrayLike) -> Array:
    """``times`` as finite float64 [s] of any shape."""
    try:
        t = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"times are {times!r}; they must be numbers in seconds") from None
    if not np.isfinite(t).all():
        bad = int((~np.isfinite(t)).sum())
        raise InputError(f"{bad} of {t.size} times are not finite; they must be seconds since t=0")
    return t


def checked_finite(name: str, value: float | None) -> float:
    """``value`` as a finite float of any sign."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if value is None or not (number and np.isfinite(value)):
        raise InputError(f"{name} is {value!r}; it must be a finite number")
    return float(value)


def unit_vector(name: str, value: npt.ArrayLike) -> Array:
    """``value`` scaled to length 1."""
    vector = checked_vector(name, value)
    largest = np.abs(vector).max()
    if largest == 0.0:
        raise InputError(f"{name} is zero; it must point somewhere (its length is free)")
    scaled = vector / largest
    return np.asarray(scaled / np.linalg.norm(scaled))


def unit_quaternion(name: str, value: npt.ArrayLike) -> Array:
    """``value`` as a unit quaternion ``xyzw``."""
    try:
        q = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        q = np.empty(0)
    if q.shape != (4,) or not np.isfinite(q).all() or not q.any():
        raise InputError(
            f"{name} is {value!r}; it must be four finite numbers x, y, z, w, not all zero"
        )
    return frames.quat_normalize(q / np.abs(q).max())

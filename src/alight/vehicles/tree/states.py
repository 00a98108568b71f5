"""States of trees as users give them, what acts on them, and what comes back."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.vehicles.tree.parts import Joint


class Acting(TypedDict, total=False):
    """What acts on a tree, for every method that asks; arrays broadcast over the states."""

    tau: npt.ArrayLike | None
    """(..., n_v) efforts in the joints beside their own [N], [N m]."""
    gravity: npt.ArrayLike | None
    """(3,), or (..., bodies, 3) at each centre of mass: acceleration in world axes [m/s^2]."""
    forces: npt.ArrayLike | None
    """(..., bodies, 3) in world axes [N]."""
    points: npt.ArrayLike | None
    """(..., bodies, 3) where they act, in body axes [m]; the centres of mass if not given."""
    moments: npt.ArrayLike | None
    """(..., bodies, 3) in world axes [N m]."""
    spin: npt.ArrayLike | None
    """(3,) rate at which the world's axes turn about its origin, constant [rad/s]."""
    device: str
    """"auto", "cpu", "cuda:0", ..."""
    threads: int | None
    """CPU threads at most."""


class Kinematics(NamedTuple):
    """Poses and velocities of all bodies, relative to the world's axes."""

    position: Array
    """(..., bodies, 3) origins of the bodies [m]."""
    attitude: Array
    """(..., bodies, 4) body to world, xyzw."""
    velocity: Array
    """(..., bodies, 3) of the origins, world axes [m/s]."""
    rate: Array
    """(..., bodies, 3) body axes [rad/s]."""
    center: Array
    """(..., bodies, 3) centres of mass [m]."""
    center_velocity: Array
    """(..., bodies, 3) of the centres of mass, world axes [m/s]."""


class TreeEnergy(NamedTuple):
    """Energy of a tree [J]."""

    kinetic: Array
    stored: Array
    """In springs, stops and constant motors."""
    weight: Array
    """In uniform gravity, 0 with the centre of mass at the world's origin."""

    @property
    def total(self) -> Array:
        """The sum."""
        return self.kinetic + self.stored + self.weight


class Momentum(NamedTuple):
    """Momentum of a tree, in world axes."""

    linear: Array
    """(..., 3) [kg m/s]."""
    angular: Array
    """(..., 3) [kg m^2/s]."""
    center: Array
    """(..., 3) centre of mass [m]."""


class JointLoads(NamedTuple):
    """What each body gets through its joint, efforts of the joint included."""

    force: Array
    """(..., bodies, 3) [N]."""
    moment: Array
    """(..., bodies, 3) about the body's origin [N m]."""


class Flight(NamedTuple):
    """States at equal steps."""

    time: Array
    """(k,) [s]."""
    q: Array
    """(k, ..., n_q)."""
    v: Array
    """(k, ..., n_v)."""


def checked_numbers(name: str, value: npt.ArrayLike, tail: tuple[int, ...]) -> Array:
    """Finite numbers of shape (..., *tail)."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers of shape (..., {tail}); got {value!r}") from None
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        wanted = ", ".join(str(n) for n in tail)
        raise InputError(f"{name} has shape {array.shape}; it must be (..., {wanted})")
    if not np.isfinite(array).all():
        raise InputError(f"{name} has numbers that are not finite; all must be")
    return array


def over_states(
    name: str, value: npt.ArrayLike, tail: tuple[int, ...], shape: tuple[int, ...]
) -> Array:
    """``value`` over the states, flat; once where it is the same for all."""
    array = checked_numbers(name, value, tail)
    if array.ndim == len(tail):
        return array[None]
    try:
        full = np.broadcast_to(array, (*shape, *tail))
    except ValueError:
        raise InputError(
            f"{name} has shape {array.shape}, which does not broadcast to the states {shape}"
        ) from None
    return full.reshape(-1, *tail)


def require_unit(joint: Joint, lengths: Array) -> None:
    """Raise unless all quaternions of a joint, of these ``lengths``, are unit."""
    bad = np.abs(lengths - 1.0) > 1e-6
    if bad.any():
        raise InputError(
            f'the quaternion of joint "{joint.name}" has length {lengths[np.argmax(bad)]:.9g} in '
            f"{int(bad.sum())} of {len(bad)} states; it must be 1. Use core.frames.quat_normalize, "
            "and start from tree.neutral()."
        )


def turned_by(q: Array, phi: Array) -> Array:
    """Quaternions after a turn by the rotation vectors ``phi`` in their own axes."""
    half = 0.5 * np.linalg.norm(phi, axis=1, keepdims=True)
    part = 0.5 * np.sinc(half / np.pi) * phi
    return frames.quat_normalize(
        frames.quat_multiply(q, np.concatenate([part, np.cos(half)], axis=1))
    )

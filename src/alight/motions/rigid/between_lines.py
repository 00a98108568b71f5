"""A rigid lander between the lines of its history: cubic places, turns that are free in flight."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.interpolation import cubic, cubic_rate
from alight.vehicles.rigid.free_rotation import turn


def places_between(
    time: Array, position: Array, velocity: Array, t: Array, left: Any
) -> tuple[Array, Array]:
    """(m, 3) places [m] and velocities [m/s] at times ``t``, each after the line ``left``.

    Cubic between lines, from positions and velocities.
    """
    h = time[left + 1] - time[left]
    s = ((t - time[left]) / np.where(h > 0.0, h, 1.0))[:, None]
    h = h[:, None]
    ends = position[left], position[left + 1], velocity[left], velocity[left + 1]
    return cubic(*ends, h, s), cubic_rate(*ends, h, s)


def attitudes_between(
    time: Array,
    attitude: Array,
    rate: Array,
    uneven: Any,
    inertia: Array,
    rotation: Any,
    t: Array,
    left: Any,
) -> Array:
    """(m, 4) attitudes at times ``t``, each after the line ``left``: exact in flight.

    After a line that is ``uneven`` (n,), in contact and under actuators, it turns evenly.
    """
    dt = t - time[left]
    omega, _, q_NT = rotation.evaluate(time[left], device="cpu")
    q, w = attitude[left], rate[left]
    inertial = frames.inertial_rate(q, w, omega)
    turned, _ = turn(inertia, frames.quat_multiply(q_NT, q), inertial, dt, device="cpu")
    _, _, later = rotation.evaluate(t, device="cpu")
    free = frames.quat_multiply(frames.quat_conjugate(later), turned)
    size = np.linalg.norm(w, axis=-1)
    axis = np.where(size[:, None] > 0.0, w, [0.0, 0.0, 1.0])
    even = frames.quat_multiply(q, frames.quat_from_axis_angle(axis, size * dt))
    return np.where(np.asarray(uneven)[left + 1][:, None], even, free)

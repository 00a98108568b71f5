"""A rigid lander between the lines of its history: cubic places, turns that are free in flight."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.interpolation import cubic, cubic_rate
from alight.vehicles.rigid.free_rotation import turn

#: Turns less than this are rounding [rad].
ROUNDING = 4e-15


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
    """(m, 4) attitudes at times ``t``, each after the line ``left``: see ``turns_between``."""
    return turns_between(time, attitude, rate, uneven, inertia, rotation, t, left)[0]


def turns_between(
    time: Array,
    attitude: Array,
    rate: Array,
    uneven: Any,
    inertia: Array,
    rotation: Any,
    t: Array,
    left: Any,
) -> tuple[Array, Array]:
    """(m, 4) attitudes and (m, 3) rates relative to the target, body axes [rad/s], at times ``t``,
    each after the line ``left``: exact in flight.

    After a line that is ``uneven`` (n,), in contact and under actuators, it turns with the rate of
    that line. What is then missing at the next line, and where lines of contacts were left out of a
    long history, is made up for in proportion to the square of time, as by an even torque: turns
    meet every line.
    """
    law = (time, attitude, rate, uneven, inertia, rotation)
    used, which = np.unique(left, return_inverse=True)
    found, spin = _turned_freely(*law, t, left)
    ends, _ = _turned_freely(*law, time[used + 1], used)
    missing = frames.rotation_vector(
        frames.quat_multiply(frames.quat_conjugate(ends), attitude[used + 1])
    )
    # Rounding, over the time of a short step, would be a rate.
    missing[np.linalg.norm(missing, axis=1) < ROUNDING] = 0.0
    step = time[left + 1] - time[left]
    step = np.where(step > 0.0, step, 1.0)[:, None]
    part = (t - time[left])[:, None] / step
    whole = missing[which]
    more = frames.quat_from_rotation_vector(part**2 * whole)
    faster = frames.quat_rotate_inv(more, spin) + 2.0 * part / step * whole
    return frames.quat_multiply(found, more), faster


def _turned_freely(
    time: Array,
    attitude: Array,
    rate: Array,
    uneven: Any,
    inertia: Array,
    rotation: Any,
    t: Array,
    left: Any,
) -> tuple[Array, Array]:
    """(m, 4) attitudes and (m, 3) rates that free flight, or an even turn, makes of a line."""
    dt = t - time[left]
    omega, _, q_NT = rotation.evaluate(time[left], device="cpu")
    q, w = attitude[left], rate[left]
    inertial = frames.inertial_rate(q, w, omega)
    turned, spin = turn(inertia, frames.quat_multiply(q_NT, q), inertial, dt, device="cpu")
    carried, _, later = rotation.evaluate(t, device="cpu")
    free = frames.quat_multiply(frames.quat_conjugate(later), turned)
    freely = spin - frames.quat_rotate_inv(free, carried)
    even = frames.quat_multiply(q, frames.quat_from_rotation_vector(w * dt[:, None]))
    is_uneven = np.asarray(uneven)[left + 1][:, None]
    return np.where(is_uneven, even, free), np.where(is_uneven, w, freely)

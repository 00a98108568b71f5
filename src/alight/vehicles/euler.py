"""Euler angles 1-2-3 of paper 002, for reports alone: attitudes are quaternions everywhere else.

R = R_x(a1) R_y(a2) R_z(a3), turning by a1 about the first axis, then by a2 about the second so
moved, then by a3 about the third. Rates are in body axes. At a2 = +-90 deg the first and the third
turn about the same line (gimbal lock): only their sum or difference has a meaning.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.core import frames
from alight.core.checks import Array

#: |cos a2| below which a3 is taken as 0: rounding of the quaternion decides it.
LOCKED = 1e-12


def euler_angles(q: npt.ArrayLike) -> Array:
    """(..., 3) angles 1-2-3 [rad] of unit quaternions, a2 from -pi/2 to pi/2.

    In gimbal lock a3 is 0 and a1 has all of the turn, so that the attitude is kept.
    """
    R = frames.quat_to_matrix(q)
    level = np.hypot(R[..., 0, 0], R[..., 0, 1])
    locked = level < LOCKED
    a1 = np.arctan2(-R[..., 1, 2], R[..., 2, 2])
    a3 = np.arctan2(-R[..., 0, 1], R[..., 0, 0])
    both = np.arctan2(R[..., 2, 1], R[..., 1, 1])
    a2 = np.arctan2(R[..., 0, 2], level)
    return np.stack([np.where(locked, both, a1), a2, np.where(locked, 0.0, a3)], -1)


def quat_from_euler(angles: npt.ArrayLike) -> Array:
    """(..., 4) unit quaternions of angles 1-2-3 [rad]."""
    a = np.asarray(angles, dtype=np.float64)
    turns = [frames.quat_from_axis_angle(np.eye(3)[k], a[..., k]) for k in range(3)]
    return frames.quat_multiply(frames.quat_multiply(turns[0], turns[1]), turns[2])


def euler_rates(angles: npt.ArrayLike, rate: npt.ArrayLike) -> Array:
    """(..., 3) time derivatives of the angles [rad/s] at body rates [rad/s].

    Paper 002 Eqs. 5 and 6, entry (3, 1) corrected to -cos a3 tan a2. It grows without bound
    towards gimbal lock, which is why nothing integrates it.
    """
    a, w = np.asarray(angles, dtype=np.float64), np.asarray(rate, dtype=np.float64)
    c3, s3 = np.cos(a[..., 2]), np.sin(a[..., 2])
    across = (c3 * w[..., 0] - s3 * w[..., 1]) / np.cos(a[..., 1])
    along = s3 * w[..., 0] + c3 * w[..., 1]
    return np.stack([across, along, w[..., 2] - np.sin(a[..., 1]) * across], -1)

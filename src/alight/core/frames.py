"""Rotations and directions: quaternions, latitude and longitude, local frames.

Monogram notation: ``q_TB`` and ``R_TB`` turn components in B into components in T; letters
cancel when chained, ``R_TC = R_TB @ R_BC``. ``w_TB_B`` is the rate of B relative to T in the
axes of B. Quaternions are ``xyzw`` (scalar last), as in Warp and SciPy.

The functions here work on NumPy arrays with any leading dimensions. In kernels Warp's own
``wp.quat_rotate``, ``wp.quat_rotate_inv``, ``*``, ``wp.quat_to_matrix``, ``wp.quat_from_matrix``,
``wp.quat_from_axis_angle``, ``wp.normalize`` and ``wp.skew`` follow the same conventions (tested);
what Warp lacks stands at the end with the prefix ``wp_``.
"""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import ArrayLike, NDArray

from alight.core.types import quat, real, scalar, vec2, vec3

Array = NDArray[np.float64]


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """Cross products of vectors (..., 3): the bits of NumPy's own, in less time for few."""
    a, b = np.asarray(a, real), np.asarray(b, real)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out


# ---------------------------------------------------------------------------------------------
# Quaternions
# ---------------------------------------------------------------------------------------------


def quat_normalize(q: ArrayLike) -> Array:
    """Scale quaternions to unit length; a zero quaternion has no direction and gives NaN."""
    q = np.asarray(q, real)
    with np.errstate(invalid="ignore"):
        return q / np.linalg.norm(q, axis=-1, keepdims=True)


def quat_conjugate(q: ArrayLike) -> Array:
    """The inverse of a unit quaternion: ``q_BT`` from ``q_TB``."""
    return np.asarray(q, real) * np.array([-1.0, -1.0, -1.0, 1.0])


def quat_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product: rotate by ``b`` first, then by ``a`` (``q_TC = q_TB * q_BC``)."""
    a, b = np.asarray(a, real), np.asarray(b, real)
    va, sa = a[..., :3], a[..., 3:]
    vb, sb = b[..., :3], b[..., 3:]
    vector = sa * vb + sb * va + cross(va, vb)
    return np.concatenate([vector, sa * sb - np.sum(va * vb, -1, keepdims=True)], -1)


def quat_rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """Rotate vectors by unit quaternions: components in T from components in B with ``q_TB``."""
    q, v = np.asarray(q, real), np.asarray(v, real)
    turn = 2.0 * cross(q[..., :3], v)
    return v + q[..., 3:] * turn + cross(q[..., :3], turn)


def quat_rotate_inv(q: ArrayLike, v: ArrayLike) -> Array:
    """Rotate vectors by the inverses: components in B from components in T with ``q_TB``."""
    return quat_rotate(quat_conjugate(q), v)


def quat_from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Quaternions that turn by ``angle`` [rad] about ``axis`` (any non-zero length)."""
    axis = np.asarray(axis, real)
    half = 0.5 * np.asarray(angle, real)[..., None]
    unit = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    vector = np.sin(half) * unit
    scalar_part = np.broadcast_to(np.cos(half), (*vector.shape[:-1], 1))
    return np.concatenate([vector, scalar_part], -1)


def quat_from_rotation_vector(v: ArrayLike) -> Array:
    """Quaternions that turn about vectors (..., 3) by as many radians as they are long."""
    v = np.asarray(v, real)
    angle = np.linalg.norm(v, axis=-1)
    return quat_from_axis_angle(np.where(angle[..., None] > 0.0, v, [0.0, 0.0, 1.0]), angle)


def rotation_vector(q: ArrayLike) -> Array:
    """Axis times angle [rad] of quaternions (..., 4), the shorter way."""
    q = np.asarray(q, real)
    q = q * np.where(q[..., 3:] < 0.0, -1.0, 1.0)
    size = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[..., 3:])
    return q[..., :3] * np.where(size > 0.0, angle / np.where(size > 0.0, size, 1.0), 2.0)


def quat_to_matrix(q: ArrayLike) -> Array:
    """Rotation matrices of unit quaternions, ``R_TB`` from ``q_TB``."""
    q = np.asarray(q, real)
    columns = [quat_rotate(q, axis) for axis in np.eye(3)]
    return np.stack(columns, -1)


def quat_from_matrix(R: ArrayLike) -> Array:
    """Unit quaternions of rotation matrices, scalar part not negative.

    Of the four ways to read a quaternion off a matrix, the one with the largest divisor loses
    no digits (Shepperd 1978).
    """
    R = np.asarray(R, real)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    # Row i is the quaternion times four of its own component i; the longest is the best.
    off = {(i, j): R[..., i, j] for i in range(3) for j in range(3) if i != j}
    yz, zx, xy = off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]
    sxy, szx, syz = off[1, 0] + off[0, 1], off[0, 2] + off[2, 0], off[2, 1] + off[1, 2]
    rows = np.stack(
        [
            np.stack([1.0 + xx - yy - zz, sxy, szx, yz], -1),
            np.stack([sxy, 1.0 - xx + yy - zz, syz, zx], -1),
            np.stack([szx, syz, 1.0 - xx - yy + zz, xy], -1),
            np.stack([yz, zx, xy, 1.0 + xx + yy + zz], -1),
        ],
        -2,
    )
    squares = np.stack([rows[..., i, i] for i in range(4)], -1)
    best = np.argmax(squares, -1)[..., None, None]
    q = quat_normalize(np.take_along_axis(rows, best, -2)[..., 0, :])
    return np.where(q[..., 3:] < 0.0, -q, q)


def quat_rate(q_TB: ArrayLike, w_TB_B: ArrayLike) -> Array:
    """Time derivative of ``q_TB`` [1/s] under the body rate ``w_TB_B`` [rad/s].

    ``q' = 1/2 q * [w, 0]``; paper 000 Eq. 3 with its last row corrected.
    """
    w = np.asarray(w_TB_B, real)
    return 0.5 * quat_multiply(q_TB, np.concatenate([w, np.zeros_like(w[..., :1])], -1))


def inertial_rate(q_TB: ArrayLike, w_TB_B: ArrayLike, omega_T: ArrayLike) -> Array:
    """Inertial body rate ``w_NB_B = w_TB_B + R_TB^T Omega`` [rad/s] on a target spinning at Omega.

    The two rates live in different axes and must not be added as they stand (paper 004).
    """
    return np.asarray(w_TB_B, real) + quat_rotate_inv(q_TB, omega_T)


def skew(v: ArrayLike) -> Array:
    """The matrix with ``skew(a) @ b == cross(a, b)``."""
    v = np.asarray(v, real)
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    o = np.zeros_like(x)
    rows = [[o, -z, y], [z, o, -x], [-y, x, o]]
    return np.stack([np.stack(row, -1) for row in rows], -2)


# ---------------------------------------------------------------------------------------------
# Latitude, longitude and the local frame
# ---------------------------------------------------------------------------------------------


def direction(latitude: ArrayLike, longitude: ArrayLike) -> Array:
    """Unit vectors at planetocentric latitude and east longitude [rad]."""
    latitude, longitude = np.broadcast_arrays(
        np.asarray(latitude, real), np.asarray(longitude, real)
    )
    c = np.cos(latitude)
    return np.stack([c * np.cos(longitude), c * np.sin(longitude), np.sin(latitude)], -1)


def latitude_longitude(v: ArrayLike) -> tuple[Array, Array]:
    """Planetocentric latitude and east longitude in (-pi, pi] [rad] of non-zero vectors.

    On the axis, where the longitude is free, it is 0.
    """
    v = np.asarray(v, real)
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    # Adding +0 turns -0 into +0: the half-plane y = 0, x < 0 is +pi, and the axis is 0.
    return np.arctan2(z, np.hypot(x, y)), np.arctan2(y + 0.0, x + 0.0)


def local_frame(up: ArrayLike) -> Array:
    """``R_TL`` of the local frame at a place with outward direction ``up`` (any length).

    Columns are east, north, up. Where ``up`` lies on the T axis, east is taken as +y, as at
    longitude 0.
    """
    given = np.asarray(up, real)
    unit = given / np.linalg.norm(given, axis=-1, keepdims=True)
    x, y = unit[..., 0], unit[..., 1]
    rho = np.hypot(x, y)
    on_axis = rho == 0.0
    safe = np.where(on_axis, 1.0, rho)
    cos_lon, sin_lon = np.where(on_axis, 1.0, x / safe), y / safe
    east = np.stack([-sin_lon, cos_lon, np.zeros_like(rho)], -1)
    return np.stack([east, np.cross(unit, east), unit], -1)


# ---------------------------------------------------------------------------------------------
# The same for kernels
# ---------------------------------------------------------------------------------------------


@wp.func
def wp_quat_rate(q_TB: quat, w_TB_B: vec3) -> quat:
    """Time derivative of ``q_TB`` under the body rate ``w_TB_B`` (see ``quat_rate``)."""
    return scalar(0.5) * (q_TB * quat(w_TB_B[0], w_TB_B[1], w_TB_B[2], scalar(0.0)))


@wp.func
def wp_latitude_longitude(v: vec3) -> vec2:
    """Latitude and east longitude [rad] of a non-zero vector (see ``latitude_longitude``)."""
    rho = wp.sqrt(v[0] * v[0] + v[1] * v[1])
    zero = scalar(0.0)
    return vec2(wp.atan2(v[2], rho), wp.atan2(v[1] + zero, v[0] + zero))

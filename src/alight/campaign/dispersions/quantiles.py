"""Pieces that kinds of dispersion are made of: quantiles, roots, directions and checks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from alight.core import random
from alight.core.checks import Array
from alight.core.errors import InputError

#: A full turn [rad].
TURN = 2.0 * math.pi


def normal_quantile(u: Array) -> Array:
    """Standard normal numbers at uniform numbers in [0, 1), to 53 bits.

    The same bits as ``core.random.normal`` gives for the same uniform numbers, on every machine.
    """
    return random.normal_from_bits(np.asarray(u * 2.0**53).astype(np.uint64))


def covariance_root(matrix: Array) -> Array:
    """Lower triangular L with L L^T = ``matrix``, which may be singular (Cholesky's way)."""
    scale = np.sqrt(np.abs(np.diag(matrix)))
    unit = np.outer(scale, scale)
    if not (np.abs(matrix - matrix.T) <= 1e-9 * unit).all():
        i, j = (int(k) for k in np.argwhere(np.abs(matrix - matrix.T) > 1e-9 * unit)[0])
        raise InputError(
            f"the covariance is not symmetric: row {i + 1}, column {j + 1} has "
            f"{matrix[i, j]:g} and its mirror image {matrix[j, i]:g}."
        )
    n = len(matrix)
    root = np.zeros((n, n))
    for j in range(n):
        left = matrix[j, j] - float(np.sum(root[j, :j] ** 2))
        if left < -1e-9 * unit[j, j] or matrix[j, j] < 0.0:
            raise _not_positive(j)
        known = left > 1e-12 * unit[j, j]
        root[j, j] = math.sqrt(left) if known else 0.0
        for i in range(j + 1, n):
            rest = matrix[i, j] - float(np.sum(root[i, :j] * root[j, :j]))
            if known:
                root[i, j] = rest / root[j, j]
            elif abs(rest) > 1e-6 * unit[i, j]:
                raise _not_positive(i)
    return root


def _not_positive(row: int) -> InputError:
    return InputError(
        f"the covariance is not positive semi-definite: its part up to row {row + 1} has a "
        "negative variance in some direction. Correlations must agree with each other."
    )


def any_rotation(u: Array) -> Array:
    """Shoemake's construction: two circles in two planes."""
    one, two = np.sqrt(1.0 - u[:, 0]), np.sqrt(u[:, 0])
    a, b = TURN * u[:, 1], TURN * u[:, 2]
    return np.stack([one * np.sin(a), one * np.cos(a), two * np.sin(b), two * np.cos(b)], axis=-1)


def turn_angle(u: Array, most: float) -> Array:
    """Angles [rad] of rotations that are even up to ``most``: a - sin a is even there."""
    wanted = u * _lag(np.asarray(most))
    low, high = np.zeros_like(u), np.full_like(u, most)
    for _ in range(60):  # halving: the same for every row, whatever its neighbours
        middle = 0.5 * (low + high)
        below = _lag(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _lag(angle: Array) -> Array:
    """a - sin a, by its series where the difference would lose digits."""
    square = angle * angle
    terms = [1.0, 20.0, 42.0, 72.0, 110.0, 156.0]
    series, total = square * angle / 6.0, np.zeros_like(square)
    for i, divisor in enumerate(terms):
        series = series / divisor * (1.0 if i == 0 else -square)
        total = total + series
    return np.where(angle < 0.5, total, angle - np.sin(angle))


def within(angle: float, u: Array) -> Array:
    """Directions (n, 3) within ``angle`` of the third axis, evenly over the solid angle."""
    return about_pole(u[:, 0] * 2.0 * math.sin(0.5 * angle) ** 2, u[:, 1])


def about_pole(versine: Array, turn: Array) -> Array:
    """Unit vectors by 1 - cos of the angle to the third axis, exact for small ones, and a turn."""
    across, azimuth = np.sqrt(versine * (2.0 - versine)), TURN * turn
    return np.stack([across * np.cos(azimuth), across * np.sin(azimuth), 1.0 - versine], axis=-1)


def turned(turn: Array, v: Array) -> Array:
    """Rows of ``v`` from axes that are the columns of ``turn``, each row by itself."""
    return v[:, :1] * turn[:, 0] + v[:, 1:2] * turn[:, 1] + v[:, 2:] * turn[:, 2]


def numbers(name: str, value: Any) -> Array:
    """``value`` as an array, or an error that names it."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; it must be a number or a list of them.") from None


def components(name: str, value: Any, nominal: Array, *, finite: bool = True) -> Array:
    """One number for each component of the nominal value."""
    array = numbers(name, value)
    if array.shape not in ((), (1,), (nominal.size,)):
        raise InputError(
            f"{name} is {value!r}; it must be one number or {nominal.size}, one for each component."
        )
    if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
        raise InputError(f"{name} is {value!r}; it must be finite.")
    return np.array(np.broadcast_to(array.reshape(-1) if array.ndim else array, nominal.shape))


def limits(low: Any, high: Any, nominal: Array) -> tuple[Array, Array]:
    """Lower and upper limits of each component, in order."""
    lower = components("low", low, nominal, finite=False)
    upper = components("high", high, nominal, finite=False)
    if not (lower <= upper).all():
        raise InputError(f"low {low!r} must not be above high {high!r}.")
    return lower, upper


def require(good: Any, name: str, value: Any, allowed: str) -> None:
    """Raise an error that names a parameter unless all of ``good`` holds."""
    if not np.all(good):
        raise InputError(f"{name} is {value!r}; it must be {allowed}.")


def require_vector(nominal: Array, kind: str) -> None:
    """Raise an error unless the quantity has three components."""
    if nominal.size != 3:
        raise InputError(
            f'a dispersion of kind "{kind}" is for vectors of three components; this quantity has '
            f"{nominal.size}."
        )


def checked_size(name: str, value: Any) -> float:
    """A finite number of at least 0."""
    number = numbers(name, value)
    if number.shape != () or not (np.isfinite(number) and number >= 0.0):
        raise InputError(f"{name} is {value!r}; it must be a finite number of at least 0.")
    return float(number)


def checked_angle(value: Any) -> float:
    """A half-angle of at most pi [rad]."""
    angle = checked_size("half_angle", value)
    if angle > math.pi:
        raise InputError(
            f"half_angle is {angle:g} rad ({math.degrees(angle):g} deg); it must be at most "
            "180 deg, which is every direction."
        )
    return angle


def checked_axis(name: str, value: Any) -> Array:
    """Three numbers with a direction, made unit."""
    axis = numbers(name, value)
    if axis.shape != (3,) or not np.isfinite(axis).all() or not axis.any():
        raise InputError(f"{name} is {value!r}; it must be three finite numbers, not all 0.")
    return np.asarray(axis / np.linalg.norm(axis))

"""Lambert's problem about a point mass: the velocity that leads to a place in a given time.

In universal variables (Bate, Mueller, White 1971, section 5.3): with the angle theta between the
places, A = sin(theta) sqrt(r1 r2 / (1 - cos(theta))) and z the square of the change of eccentric
anomaly,

    y(z) = r1 + r2 + A (z S(z) - 1) / sqrt(C(z)),   sqrt(mu) T = (y / C)^(3/2) S + A sqrt(y)

T grows with z below one turn, so that bisection finds it. Many at once.
"""

from __future__ import annotations

import numpy as np

from alight.core import frames
from alight.core.checks import Array

_HALVINGS = 80


def lambert(gm: Array, start: Array, end: Array, time: Array, long_way: bool = False) -> Array:
    """(n, 3) velocities [m/s] at ``start`` (n, 3) [m] that lead to ``end`` in ``time`` (n,) [s].

    Of the two ways round it takes the shorter one, or the ``long_way``. NaN where there is none,
    and where both places lie on one line through the centre, which leaves the plane open.
    """
    r1, r2 = (np.linalg.norm(a, axis=1) for a in (start, end))
    cosine = np.clip(np.sum(start * end, axis=1) / (r1 * r2), -1.0, 1.0)
    sine = np.linalg.norm(frames.cross(start, end), axis=1) / (r1 * r2)
    sine = -sine if long_way else sine
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        A = sine * np.sqrt(r1 * r2 / (1.0 - cosine))
        y = _solved(r1 + r2, A, np.sqrt(gm) * time)
        f, g = 1.0 - y / r1, A * np.sqrt(y / gm)
        found = (end - f[:, None] * start) / g[:, None]
    return np.where(np.isfinite(found).all(axis=1)[:, None], found, np.nan)


def _solved(total: Array, A: Array, wanted: Array) -> Array:
    """(n,) y of the orbit whose time is ``wanted`` [sqrt(mu) s]; NaN where none is."""
    low = np.full(len(A), -4.0 * np.pi**2 * 100.0)
    high = np.full(len(A), 4.0 * np.pi**2 * (1.0 - 1e-9))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        C, S = stumpff(middle)
        y = total + A * (middle * S - 1.0) / np.sqrt(C)
        time = (y / C) ** 1.5 * S + A * np.sqrt(np.maximum(y, 0.0))
        late = (y > 0.0) & (time > wanted)
        low, high = np.where(late, low, middle), np.where(late, middle, high)
    reached = np.isfinite(time) & (np.abs(time - wanted) < 1e-6 * wanted) & (y > 0.0)
    return np.where(reached, y, np.nan)


def stumpff(z: Array) -> tuple[Array, Array]:
    """C(z) = (1 - cos sqrt z) / z and S(z) = (sqrt z - sin sqrt z) / sqrt z^3, and their series."""
    root = np.sqrt(np.abs(z))
    safe = np.where(root < 1e-2, 1.0, root)
    up, down = z > 0.0, z < 0.0
    bounded = np.minimum(safe, 700.0)
    C = np.where(up, 1.0 - np.cos(safe), np.cosh(bounded) - 1.0) / safe**2
    S = np.where(up, safe - np.sin(safe), np.sinh(bounded) - safe) / safe**3
    near = root < 1e-2
    C = np.where(near, 0.5 - z / 24.0 + z * z / 720.0, C)
    S = np.where(near, 1.0 / 6.0 - z / 120.0 + z * z / 5040.0, S)
    return np.where(up | down | near, C, 0.5), np.where(up | down | near, S, 1.0 / 6.0)

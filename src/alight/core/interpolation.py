"""Between two states: Hermite's cubic for places, the even turn for attitudes."""

from __future__ import annotations

import numpy as np

from alight.core import frames
from alight.core.checks import Array


def cubic(a: Array, b: Array, va: Array, vb: Array, h: Array, s: Array) -> Array:
    """Hermite's cubic from a to b with velocities va and vb over a time h, at the part s of it."""
    start = a * (1.0 + 2.0 * s) * (1.0 - s) ** 2 + h * va * s * (1.0 - s) ** 2
    return np.asarray(start + b * s**2 * (3.0 - 2.0 * s) - h * vb * s**2 * (1.0 - s))


def turned(q: Array, p: Array, s: Array) -> Array:
    """The even turn from q to p (m, P, 4), the shorter way, at parts s (m,) of it."""
    dot = (q * p).sum(axis=-1)
    p = p * np.where(dot < 0.0, -1.0, 1.0)[..., None]
    half = np.arccos(np.clip(np.abs(dot), 0.0, 1.0))
    part = s.reshape(-1, *([1] * (half.ndim - 1)))
    size = np.sin(half)
    near = size < 1e-6  # sin(s x) / sin(x) is s there, to 1e-12
    safe = np.where(near, 1.0, size)
    a = np.where(near, 1.0 - part, np.sin((1.0 - part) * half) / safe)
    b = np.where(near, part, np.sin(part * half) / safe)
    return frames.quat_normalize(a[..., None] * q + b[..., None] * p)


def cubic_rate(a: Array, b: Array, va: Array, vb: Array, h: Array, s: Array) -> Array:
    """The velocity along ``cubic``; va where h is 0."""
    chord = 6.0 * s * (1.0 - s) * (b - a) / np.where(h > 0.0, h, 1.0)
    rate = chord + va * (1.0 - s) * (1.0 - 3.0 * s) + vb * s * (3.0 * s - 2.0)
    return np.asarray(np.where(h > 0.0, rate, va))

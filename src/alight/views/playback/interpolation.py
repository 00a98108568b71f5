"""States between the lines of a track: cubic places, even turns."""

from __future__ import annotations

import numpy as np

from alight.core.checks import Array
from alight.core.interpolation import cubic, turned


def between(
    t: Array, time: Array, position: Array, velocity: Array, attitude: Array, surface: Array | None
) -> tuple[Array, Array, Array | None]:
    """Positions, attitudes and vertices of a surface at times ``t`` within ``time``."""
    left = np.searchsorted(time, t, side="right") - 1
    left = np.clip(left, 0, max(len(time) - 2, 0))
    right = np.minimum(left + 1, len(time) - 1)
    step = time[right] - time[left]
    s = (t - time[left]) / np.where(step > 0.0, step, 1.0)
    s = np.where(step > 0.0, s, 1.0)  # of two lines at one time the later counts
    h, u = step[:, None, None], s[:, None, None]
    ends = (position[left], position[right], velocity[left], velocity[right])
    bent = None if surface is None else surface[left] + u * (surface[right] - surface[left])
    return cubic(*ends, h, u), turned(attitude[left], attitude[right], s), bent

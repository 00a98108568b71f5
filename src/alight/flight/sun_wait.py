"""When the Sun next stands high enough over a place, inside kernels.

The Sun stands still in inertial space meanwhile, and is looked for 720 times in one turn of the
target.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar, vec3

#: Looks in one turn of the target.
_LOOKS = wp.constant(720)
_LOOK = wp.constant(scalar(6.283185307179586 / 720.0))
#: A time that does not come [s].
_NEVER = wp.constant(scalar(1e30))


@functools.cache
def sun_wait(spin: Any, attitude: Any, rotation_data: Any) -> Any:
    """``(rotation, sun, up, sine, when) -> scalar``: the first time [s] from ``when`` on at which
    the Sun's elevation over ground with this ``up`` (target axes) has at least this ``sine``; 1e30
    if it has not in one turn. ``sun`` is the Sun's direction in inertial axes."""

    @wp.func
    def first(rotation: rotation_data, sun: vec3, up: vec3, sine: scalar, when: scalar):
        turning = wp.length(spin(rotation, when).rate)
        step = scalar(0.0)
        if turning > scalar(0.0):
            step = _LOOK / turning
        found = _NEVER
        for k in range(int(_LOOKS)):
            t = when + scalar(k) * step
            toward = wp.quat_rotate_inv(attitude(rotation, t), sun)
            if found >= _NEVER and wp.dot(up, toward) >= sine:
                found = t
        return found

    return first

"""The number types of every kernel: the only place where float64 is chosen.

Laws write ``scalar``, ``vec3``, ``mat33`` and ``quat``; nothing else in the package names a
precision for state or geometry. Single precision freezes a slow lander a few hundred metres
from the origin, so this is not a tuning knob.
"""

import numpy as np
import warp as wp

from alight.core import warp_setup as _warp_setup  # noqa: F401  (settings before any kernel)

scalar = wp.float64
vec2 = wp.vec2d
vec3 = wp.vec3d
vec4 = wp.vec4d
mat22 = wp.mat22d
mat33 = wp.mat33d
quat = wp.quatd

#: The NumPy type with the same bits as ``scalar``.
real = np.float64

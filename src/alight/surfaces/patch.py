"""A finite plane: the top of a block, whose distance is exact."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.checks import checked_number, checked_vector
from alight.core.errors import InputError
from alight.core.types import mat33, scalar, vec3
from alight.surfaces.law import Bounds, Surface, SurfacePoint


@wp.struct
class PatchData:
    """A block: its middle, its axes as rows, and half its sizes [m]."""

    middle: vec3
    axes: mat33
    half: vec3


@wp.func
def patch_point(data: PatchData, x: vec3):
    """Distance from a block; inside, to the nearest of its faces."""
    zero = scalar(0.0)
    one = scalar(1.0)
    p = data.axes * (x - data.middle)
    sign = vec3(
        wp.where(p[0] < zero, -one, one),
        wp.where(p[1] < zero, -one, one),
        wp.where(p[2] < zero, -one, one),
    )
    over = wp.cw_mul(sign, p) - data.half
    out = vec3(wp.max(over[0], zero), wp.max(over[1], zero), wp.max(over[2], zero))
    size = wp.length(out)
    found = SurfacePoint()
    normal = vec3()
    if size > zero:
        found.distance = size
        normal = out / size
    else:
        # The top comes first where two faces are as near.
        found.distance = over[2]
        normal = vec3(zero, zero, one)
        if over[0] > found.distance:
            found.distance = over[0]
            normal = vec3(one, zero, zero)
        if over[1] > found.distance:
            found.distance = over[1]
            normal = vec3(zero, one, zero)
    found.normal = wp.transpose(data.axes) * wp.cw_mul(sign, normal)
    found.gradient = found.normal
    return found


class Patch(Surface):
    """A rectangle of flat ground, the top of a block of ``thickness`` [m].

    ``center`` [m] is the middle of the top, ``normal`` points up, ``along`` is the direction of
    ``length`` [m] (what it has along the normal is taken off), ``width`` [m] goes across. A point
    beyond an edge is not over the ground; one that slides off meets the side of the block.
    """

    Data = PatchData
    point = patch_point

    def __init__(
        self,
        center: npt.ArrayLike = (0, 0, 0),
        normal: npt.ArrayLike = (0, 0, 1),
        along: npt.ArrayLike = (1, 0, 0),
        length: float = 1.0,
        width: float = 1.0,
        thickness: float = 1.0,
    ) -> None:
        self.center = checked_vector("center [m]", center)
        up, first = checked_vector("normal", normal), checked_vector("along", along)
        if not up.any():
            raise InputError("normal is zero; a plane needs a direction")
        up = up / np.linalg.norm(up)
        first = first - (first @ up) * up
        if np.linalg.norm(first) < 1e-9:
            raise InputError(f"along is {along!r}, which does not lie along the plane at all")
        first = first / np.linalg.norm(first)
        self.axes = np.array([first, np.cross(up, first), up])
        given = {"length [m]": length, "width [m]": width, "thickness [m]": thickness}
        self.sizes = np.array([checked_number(name, size) for name, size in given.items()])

    def bounds_to(self, depth: float) -> Bounds:
        """A true distance, whose gradient turns at once at edges."""
        return Bounds(slope=1.0, curvature=math.inf)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = PatchData()
        data.middle = vec3(*(self.center - 0.5 * self.sizes[2] * self.axes[2]))
        data.axes = mat33(*self.axes.ravel())
        data.half = vec3(*(0.5 * self.sizes))
        return data

    def __repr__(self) -> str:
        return f"Patch({self.center.tolist()}, sizes={self.sizes.tolist()})"

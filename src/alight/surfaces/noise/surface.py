"""Rough: a surface with fractal hills on it."""

import functools
from typing import Any

import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.core.vectors import over
from alight.surfaces.law import Bounds, Surface
from alight.surfaces.noise.fractal import FractalNoise, NoiseData, noise_height

#: Beyond this many times the greatest height the hills are not looked up.
FAR = 4.0


@functools.cache
def _rough_law(base_point: Any, base_data: Any) -> tuple[Any, Any]:
    """Data and kernel function of hills on one kind of surface."""

    @wp.struct
    class RoughData:
        base: base_data
        noise: NoiseData
        top: scalar  # greatest height [m]

    @wp.func
    def point(data: RoughData, x: vec3):
        """Distance less height, with the gradient of just that."""
        found = base_point(data.base, x)
        if wp.abs(found.distance) < wp.static(scalar(FAR)) * data.top:
            height = noise_height(data.noise, x)
            found.distance -= height.value
            found.gradient -= height.gradient
            length2 = wp.dot(found.gradient, found.gradient)
            if length2 > scalar(0.0):
                found.normal = over(found.gradient, wp.sqrt(length2))
        else:
            found.distance -= wp.sign(found.distance) * data.top
        return found

    return RoughData, point


class Rough(Surface):
    """``base`` with the hills of ``noise`` on it: distance = base's distance - height.

    Far from the surface (four times the largest height) the hills are not looked up, and the
    largest height is taken off instead: a lower bound of the distance, with the base's normal.
    A height measured along the base's normal makes the surface steeper, not the distance longer:
    ``distance / bounds.slope`` never exceeds the way to the surface, as for every surface.
    """

    def __init__(self, base: Surface, noise: FractalNoise) -> None:
        if not isinstance(base, Surface):
            raise InputError(f"base is {base!r}; hills need a Surface to stand on")
        if not isinstance(noise, FractalNoise):
            raise InputError(f"noise is {noise!r}; it must be a FractalNoise")
        self.base, self.noise = base, noise
        self.Data, self.point = _rough_law(base.point, base.Data)
        self.bounds_to(0.0)  # hills too deep for the base are found out now

    def bounds_to(self, depth: float) -> Bounds:
        """Those of the base, down to where valleys reach, and of the hills."""
        base = self.base.bounds_to(depth + self.noise.max_height)
        return Bounds(
            slope=base.slope + self.noise.max_slope,
            curvature=base.curvature + self.noise.max_curvature,
        )

    def data(self, device: devices.Device) -> Any:
        """Data of base and noise."""
        data = self.Data()
        data.base, data.noise = self.base.data(device), self.noise.data(device)
        data.top = self.noise.max_height
        return data

    def __repr__(self) -> str:
        return f"Rough({self.base!r}, {self.noise!r})"

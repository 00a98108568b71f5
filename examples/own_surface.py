"""A surface of your own: dunes, z = height * sin(2 pi x / length), and a box that lands on them."""

import math

import numpy as np
import warp as wp

import alight
from alight.contact import Compliant
from alight.core.types import scalar, vec3
from alight.engine import Stop
from alight.gravity import Uniform
from alight.surfaces import Bounds, Surface
from alight.surfaces.law import SurfacePoint


@wp.struct
class DunesData:
    """Height [m] and wave number [1/m]."""

    height: scalar
    number: scalar


@wp.func
def dunes_point(data: DunesData, x: vec3):
    """The height above the dunes, its gradient, and the unit vector along that."""
    phase = data.number * x[0]
    found = SurfacePoint()
    found.distance = x[2] - data.height * wp.sin(phase)
    slope = data.height * data.number * wp.cos(phase)
    found.gradient = vec3(-slope, scalar(0.0), scalar(1.0))
    found.normal = wp.normalize(found.gradient)
    return found


class Dunes(Surface):
    """Waves along x, ``height`` [m] above and below z = 0 and ``length`` [m] from top to top."""

    Data = DunesData
    point = dunes_point

    def __init__(self, height: float, length: float) -> None:
        self.height, self.number = height, 2.0 * math.pi / length

    def bounds_to(self, depth):
        """At any depth: how steep the height is at most, and how much it bends."""
        steepest = self.height * self.number
        return Bounds(slope=math.hypot(1.0, steepest), curvature=steepest * self.number)

    def data(self, device):
        """Parameters as the kernel reads them."""
        data = DunesData()
        data.height, data.number = self.height, self.number
        return data


if __name__ == "__main__":
    dunes = Dunes(height=0.4, length=8.0)
    box = alight.RigidLander.box((0.37, 0.23, 0.10), mass=12.0)
    model = alight.Model(
        Uniform((0.0, 0.0, -1e-3)), dunes, box, Compliant(restitution=0.4), stop=Stop(max_time=1e4)
    )
    release = alight.Release((0.0, 0.0, 3.0), velocity=(0.04, 0.01, 0.0), rate=(0.0, 0.2, 0.05))
    solution = alight.simulate(model, release)
    print(solution)

    corners = alight.core.frames.quat_rotate(solution.attitude[-1], np.array(box.points))
    gap, normal = dunes.query(solution.position[-1] + corners)
    lowest = int(np.argmin(gap))
    print(f"lowest corner: {1e3 * gap[lowest]:.4f} mm above the ground")
    print(f"slope there: {math.degrees(math.acos(normal[lowest][2])):.1f} degrees")

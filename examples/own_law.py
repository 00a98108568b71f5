"""A gravity law of your own: two point masses on a rod, a first model of a contact binary."""

import numpy as np
import warp as wp

from alight.core.types import vec3
from alight.gravity import Gravity, PointMass
from alight.gravity.law import FieldValue
from alight.gravity.simple import PointMassData, point_mass_field


@wp.struct
class DumbbellData:
    """The two ends."""

    head: PointMassData
    body: PointMassData


@wp.func
def dumbbell_field(data: DumbbellData, x: vec3) -> FieldValue:
    """The sum of the two ends' fields."""
    value = point_mass_field(data.head, x)
    other = point_mass_field(data.body, x)
    value.potential += other.potential
    value.acceleration += other.acceleration
    value.gradient += other.gradient
    return value


class Dumbbell(Gravity):
    """Two masses a distance apart on the x axis, about their common centre of mass."""

    Data = DumbbellData
    field = dumbbell_field

    def __init__(self, gm: float, share: float, distance: float) -> None:
        self.head = PointMass(gm * share, (distance * (1.0 - share), 0.0, 0.0))
        self.body = PointMass(gm * (1.0 - share), (-distance * share, 0.0, 0.0))

    def data(self, device):
        """Parameters as the kernel reads them; arrays, had it any, would live on ``device``."""
        data = DumbbellData()
        data.head, data.body = self.head.data(device), self.body.data(device)
        return data


if __name__ == "__main__":
    law = Dumbbell(gm=666.2, share=0.3, distance=2500.0)
    points = np.array([[4000.0, 0.0, 0.0], [0.0, 3000.0, 0.0]])
    potential, acceleration, gradient = law.evaluate(points)
    print("acceleration [m/s^2]:", *acceleration, sep="\n  ")
    trace = np.trace(gradient, axis1=1, axis2=2) / np.abs(gradient).max(axis=(1, 2))
    print("trace of the gradient, 0 in empty space:", trace)

"""Gravity of two point masses on a rod: a first model of a contact binary."""

from typing import Annotated

import warp as wp

from alight.core.types import vec3
from alight.gravity import Gravity, PointMass
from alight.gravity.law import FieldValue
from alight.gravity.simple import PointMassData, point_mass_field
from alight.scenario.keys import Measure, Number, Section


class DumbbellKeys(Section):
    """What stands under [gravity] besides law = "dumbbell"."""

    share: Annotated[float, Number(above=0, below=1)] = 0.5
    distance: Annotated[float, Measure(dimension="length", above=0)]


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
    """Two masses a distance [m] apart on the x axis, about their common centre of mass.

    ``share`` and ``distance`` are keys of the file; ``gm`` [m^3/s^2] is no key, so it is asked of
    the scenario: that of the body.
    """

    Data = DumbbellData
    field = dumbbell_field

    def __init__(self, gm: float, share: float, distance: float) -> None:
        self.head = PointMass(gm * share, (distance * (1.0 - share), 0.0, 0.0))
        self.body = PointMass(gm * (1.0 - share), (-distance * share, 0.0, 0.0))

    def data(self, device):
        """Parameters as the kernel reads them."""
        data = DumbbellData()
        data.head, data.body = self.head.data(device), self.body.data(device)
        return data

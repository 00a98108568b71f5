"""An actuator: a flywheel that is stopped at once when the lander rests, and throws it over."""

from typing import Annotated, Any

import warp as wp

from alight.actuators import Actuator, Effort, Schedule
from alight.core.types import mat33, scalar, vec3
from alight.scenario.keys import ListField, Measure, Number, Section


class FlywheelKeys(Section):
    """What stands under [[lander.actuator]] besides kind = "flywheel"."""

    axis: Annotated[Any, ListField(Number(), nonzero=True)]
    inertia: Annotated[float, Measure(dimension="moment of inertia", above=0)]
    speed: Annotated[float, Measure(dimension="angular rate", least=0)]
    delay: Annotated[float, Measure(dimension="time", least=0)]


@wp.struct
class FlywheelData:
    """Angular momentum that the lander is given, in body axes [N m s]."""

    momentum: vec3


@wp.func
def stopped(data: FlywheelData, scene: Any, level: scalar, mass: scalar, inverse_inertia: mat33):
    """The whole momentum of the wheel goes into the lander."""
    out = Effort()
    out.torque = level * data.momentum
    return out


class Flywheel(Actuator):
    """A wheel with ``inertia`` [kg m^2] and ``speed`` [rad/s] about an axis, stopped once.

    The ``delay`` [s] counts from when the lander has come to rest.
    """

    Data, kick = FlywheelData, stopped

    def __init__(self, axis, inertia, speed, delay, name="flywheel"):
        along = vec3(*axis)
        self.momentum = wp.normalize(along) * scalar(inertia * speed)
        self.schedule, self.name = Schedule.after_rest(delay), name

    def data(self, device):
        """Parameters as the kernel reads them."""
        data = FlywheelData()
        data.momentum = self.momentum
        return data

"""A thruster of a rigid lander: a force fixed in the body. Its mass does not change."""

from typing import Any

import numpy.typing as npt
import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.law import Actuator, Effort, require_command
from alight.actuators.schedule import Schedule
from alight.core import devices
from alight.core.checks import checked_direction, checked_number, checked_vector
from alight.core.types import scalar, vec3


@wp.struct
class ThrusterData:
    """Force at level 1 [N] and where it acts from the centre of mass [m], in body axes."""

    force: vec3
    place: vec3


@wp.func
def thrust(data: ThrusterData, scene: Any, level: scalar):
    """Force and torque at a level."""
    out = Effort()
    out.force = level * data.force
    out.torque = wp.cross(data.place, out.force)
    return out


class Thruster(Actuator):
    """A ``force`` [N] along ``direction`` (against the jet) at ``place`` [m] from the centre of
    mass, both in body axes."""

    Data = ThrusterData
    act = thrust

    def __init__(
        self,
        force: float,
        direction: npt.ArrayLike,
        place: npt.ArrayLike = (0.0, 0.0, 0.0),
        schedule: Schedule | Controller | None = None,
        name: str = "thruster",
    ) -> None:
        self.name, who = name, f'thruster "{name}"'
        self.force = checked_number(f"the force of {who} [N]", force)
        self.direction = checked_direction(f"the direction of {who}", direction)
        self.place = checked_vector(f"the place of {who} [m]", place)
        self.schedule = Schedule() if schedule is None else schedule
        require_command(who, self.schedule)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = ThrusterData()
        data.force, data.place = vec3(*(self.force * self.direction)), vec3(*self.place)
        return data

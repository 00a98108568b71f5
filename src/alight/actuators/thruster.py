"""A thruster: a force fixed in a rigid lander, in a body of a tree or in a craft. Its mass does not
change."""

from typing import Any

import numpy.typing as npt
import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.law import Actuator, Effort, require_command
from alight.actuators.schedule import Schedule
from alight.core import devices
from alight.core.checks import checked_direction, checked_name, checked_number, checked_vector
from alight.core.errors import InputError
from alight.core.types import scalar, vec3


@wp.struct
class ThrusterData:
    """Force at level 1 [N] and where it acts [m], in body axes."""

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
    """A ``force`` [N] along ``direction`` (against the jet) at ``place`` [m], both in body axes.

    On a tree ``body`` names the body that it is fixed in, and ``place`` counts from the body's
    origin. A rigid lander and a craft are one body: there ``body`` is left out, and ``place``
    counts from the centre of mass (of a capture craft: from the bus's origin).
    """

    Data = ThrusterData
    act = thrust

    def __init__(
        self,
        force: float,
        direction: npt.ArrayLike,
        place: npt.ArrayLike = (0.0, 0.0, 0.0),
        schedule: Schedule | Controller | None = None,
        name: str = "",
        body: str | None = None,
    ) -> None:
        first: object = force  # a body, as trees once had it
        if isinstance(first, str):
            raise InputError(
                f"the force of a thruster is {force!r}; it must be a number [N]. On a tree: "
                f'Thruster(force, direction, place, schedule, body="{force}").'
            )
        self.body = None if body is None else checked_name("the body of a thruster", body)
        self.name = name or self.body or "thruster"
        who = f'thruster "{self.name}"'
        self.force = checked_number(f"the force of {who} [N]", force)
        self.direction = checked_direction(f"the direction of {who}", direction)
        self.place = checked_vector(f"the place of {who} [m]", place)
        self.schedule = Schedule() if schedule is None else schedule
        self.scheduled = schedule is not None
        require_command(who, self.schedule)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = ThrusterData()
        data.force, data.place = vec3(*(self.force * self.direction)), vec3(*self.place)
        return data

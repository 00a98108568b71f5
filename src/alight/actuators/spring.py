"""A spring foot: it pushes the lander off the ground, at once, when it is released.

The spring gives all its energy E to the lander. With n the direction of the push, r its place, u
the speed of that place along n and 1/m* = 1/m + (r x n) . I^-1 (r x n), the impulse P obeys

    P u + P^2 / (2 m*) = E,    P = m* (-u + sqrt(u^2 + 2 E / m*)).

So a lander that is pushed through its centre leaves at sqrt(2 E / m), and what is pushed beside it
turns as well. It takes no time: good where the spring's own time is short against what the lander
does meanwhile.
"""

from typing import Any

import numpy.typing as npt
import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.law import Actuator, Effort, require_command
from alight.actuators.schedule import Schedule
from alight.core import devices
from alight.core.checks import checked_direction, checked_number, checked_vector
from alight.core.types import mat33, scalar, vec3


@wp.struct
class SpringData:
    """Energy at level 1 [J]; direction of the push and its place [m], in body axes."""

    energy: scalar
    direction: vec3
    place: vec3


@wp.func
def let_go(data: SpringData, scene: Any, level: scalar, mass: scalar, inverse_inertia: mat33):
    """The impulse of a spring that is let go on the ground; above it there is nothing to push."""
    out = Effort()
    if scene.touching != 0:
        n = data.direction
        arm = wp.cross(data.place, n)
        light = scalar(1.0) / mass + wp.dot(arm, inverse_inertia * arm)
        speed = wp.dot(n, wp.quat_rotate_inv(scene.q, scene.v)) + wp.dot(arm, scene.w)
        root = wp.sqrt(speed * speed + scalar(2.0) * level * data.energy * light)
        out.force = ((root - speed) / light) * n
        out.torque = wp.cross(data.place, out.force)
    return out


class Spring(Actuator):
    """``energy`` [J] released along ``direction`` at ``place`` [m] from the centre of mass, when
    the level of its schedule rises from 0 and the lander is on the ground."""

    Data = SpringData
    kick = let_go

    def __init__(
        self,
        energy: float,
        direction: npt.ArrayLike,
        place: npt.ArrayLike = (0.0, 0.0, 0.0),
        schedule: Schedule | Controller | None = None,
        name: str = "spring",
    ) -> None:
        self.name, who = name, f'spring "{name}"'
        self.energy = checked_number(f"the energy of {who} [J]", energy)
        self.direction = checked_direction(f"the direction of {who}", direction)
        self.place = checked_vector(f"the place of {who} [m]", place)
        self.schedule = Schedule.after_rest() if schedule is None else schedule
        self.scheduled = schedule is not None
        require_command(who, self.schedule)

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = SpringData()
        data.energy, data.direction = self.energy, vec3(*self.direction)
        data.place = vec3(*self.place)
        return data

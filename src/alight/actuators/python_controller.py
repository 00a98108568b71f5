"""Controllers that are functions of Python, for single runs.

Between two launches of the kernel the host looks at the run, calls the function and writes the
level that it returns: slower by some 0.1 ms a call than a Warp function, and free to be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from alight.actuators.controller import Controller
from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.types import scalar

#: Why batches and campaigns refuse them, and what to do.
ONE_RUN = (
    "the model has a PythonController, which is called between the launches of a single run: "
    "use it with simulate. In batches and campaigns, give the law as a Warp function: a "
    "Controller with Data and command, as examples/own_actuator.py has one"
)


@dataclass(frozen=True, eq=False)
class Seen:
    """What a function of Python sees of a run."""

    time: float
    """[s]"""
    position: Array
    """(3,) centre of mass, target axes [m]; with arms, as they were released."""
    velocity: Array
    """(3,) relative to the turning target, target axes [m/s]."""
    attitude: Array
    """(4,) quaternion xyzw, body to target axes."""
    rate: Array
    """(3,) relative to the target, body axes [rad/s]."""
    contacts: int
    """Contacts with the ground that have ended."""
    touching: bool
    """Whether it is in contact."""
    wheel_speed: Array
    """(wheels,) relative to the lander [rad/s]."""
    arm_angle: Array
    """(arms,) since the release [rad]."""
    level: float
    """What was commanded last."""
    surface: Any

    @cached_property
    def height(self) -> float:
        """Distance of the centre of mass to the ground [m]."""
        return float(self.surface.query(self.position[None], device="cpu")[0][0])


@wp.struct
class AsSaidData:
    """Nothing; a struct must have a field."""

    nothing: scalar


@wp.func
def as_said(data: AsSaidData, scene: Any, level: scalar):
    """What the host has said."""
    return level


class PythonController(Controller):
    """Calls ``function(seen)`` every ``period`` [s] from the release on, ``seen`` being a ``Seen``;
    what it returns is the level until the next call.

    For single runs (``simulate``); batches and campaigns take Warp functions (``Controller``).
    """

    Data, command = AsSaidData, as_said

    def __init__(self, function: Callable[[Seen], float], period: float) -> None:
        super().__init__(period)
        if not callable(function):
            raise InputError(
                f"a PythonController has {function!r} for its function; give one that takes what "
                "is seen of the run and returns a level, such as lambda seen: -seen.rate[2]."
            )
        self.function = function

    def level(self, seen: Seen) -> float:
        """What the function says, which must be a finite number."""
        said = self.function(seen)
        number = np.asarray(said)
        if number.shape != () or number.dtype.kind not in "iufb" or not math.isfinite(number):
            raise InputError(
                f"the function of a PythonController returned {said!r} at {seen.time:g} s; a level "
                "must be one finite number."
            )
        return float(number)

    def data(self, device: devices.Device) -> Any:
        """Nothing."""
        return AsSaidData()

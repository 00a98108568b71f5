"""What an articulated lander's manoeuvres are to its kernel: checked, and as rows of commands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from alight.actuators import Brake, Manoeuvre, Motor, Pulse, UprightByJoints
from alight.actuators.manoeuvre import require_named
from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import scalar, vec3
from alight.motions.rigid.drive.manoeuvres import RECORD
from alight.vehicles.fittings import Fitted
from alight.vehicles.tree.tree import Tree


@wp.struct
class TreeManoeuvreData:
    """One manoeuvre."""

    first: int  # of its row of levels, one for each actuator
    delay: scalar  # [s]
    not_before: scalar  # [s]
    sun: scalar  # sine of the Sun's elevation, at least; -2 for no Sun
    duration: scalar  # [s]
    within: scalar  # tilt that is upright [rad]; below 0 where it is carried out in any case


@wp.struct
class TreeTourData:
    """All manoeuvres."""

    each: wp.array(dtype=TreeManoeuvreData)
    levels: wp.array(dtype=scalar)
    sun: vec3  # where the Sun is, inertial axes


@wp.struct
class NoTour:
    """Nothing; a struct must have a field."""

    nothing: scalar


#: Commands that make no sense without a rigid body's wheels, and what to do instead.
_INSTEAD = {
    "Hop": "a hop by wheels is planned for one rigid body; give a Pulse of motors in joints, or of "
    "thrusters",
    "SpinAndBrake": "wheels of an articulated lander are bodies on joints; give a Pulse of their "
    "motors and another of their brakes",
    "Upright": "it tumbles by wheels over the corners of one rigid body; give UprightByJoints with "
    "the levels of motors",
}


@dataclass(frozen=True)
class TreeTour:
    """The manoeuvres of one articulated lander, checked."""

    manoeuvres: tuple[Manoeuvre, ...]
    tree: Tree
    parts: Fitted
    sun: tuple[float, float, float] | None

    def __post_init__(self) -> None:
        for number, one in enumerate(self.manoeuvres):
            if not isinstance(one, Manoeuvre):
                raise InputError(f"{one!r} is among the manoeuvres; each must be a Manoeuvre.")
            self._check(f"manoeuvre {one.name or number}", one)

    def _check(self, who: str, one: Manoeuvre) -> None:
        command = one.command
        if not isinstance(command, Pulse | UprightByJoints):
            kind = type(command).__name__
            why = _INSTEAD.get(kind, "it goes with rigid landers")
            raise InputError(f"{who} is a {kind} and the lander is articulated: {why}.")
        if one.sun_above is not None and self.sun is None:
            raise InputError(
                f"{who} waits for the Sun, and nothing says where it is: give the model a sun."
            )
        names = [part.name for part in self.parts.actuators]
        require_named(f"actuator of {who}", command.levels, names)
        for part in self.parts.actuators:
            if part.name in command.levels:
                self._check_part(who, part, command)

    def _check_part(self, who: str, part: Any, command: Pulse | UprightByJoints) -> None:
        kind = type(part).__name__.lower()
        if any(getattr(part.schedule, "levels", (1.0,))):
            raise InputError(
                f'{who} commands {kind} "{part.name}", which has a schedule of its own; leave one '
                "of the two out (Schedule.never() is no schedule)."
            )
        if isinstance(part, Brake) and command.levels[part.name] < 0.0:
            raise InputError(
                f'{who} gives brake "{part.name}" a level below 0: a brake does not drive.'
            )
        if isinstance(command, UprightByJoints) and not isinstance(part, Motor):
            raise InputError(
                f'{who} gets upright by joints, and "{part.name}" is a {kind}; name motors in '
                "joints."
            )
        if isinstance(part, Motor) and abs(command.levels[part.name]) > 1.0:
            raise InputError(
                f'{who} gives motor "{part.name}" a level of {command.levels[part.name]:g}; '
                "motors have 1 at most, and -1 the other way."
            )

    @property
    def rows(self) -> tuple[Manoeuvre, ...]:
        """One for each time that a manoeuvre is carried out."""
        return tuple(one for one in self.manoeuvres for _ in range(one.repeats))

    @property
    def memory(self) -> int:
        """Rows of memory of their records."""
        return int(RECORD) * len(self.rows)

    @property
    def upright(self) -> float | None:
        """Tilt within which it counts as upright [rad]; None where it does not right itself."""
        found = [
            one.command.within
            for one in self.manoeuvres
            if isinstance(one.command, UprightByJoints)
        ]
        return min(found, default=None)

    def data(self, device: devices.Device) -> Any:
        """As the kernel reads them."""
        names = [part.name for part in self.parts.actuators]
        rows: Any = np.zeros(len(self.rows), dtype=TreeManoeuvreData.numpy_dtype())  # type: ignore[attr-defined]
        levels = np.zeros((len(self.rows), len(names)))
        for i, one in enumerate(self.rows):
            command = one.command
            assert isinstance(command, Pulse | UprightByJoints)
            rows[i]["first"] = i * len(names)
            rows[i]["delay"], rows[i]["not_before"] = one.delay, one.not_before
            rows[i]["sun"] = -2.0 if one.sun_above is None else math.sin(one.sun_above)
            rows[i]["duration"] = command.duration
            rows[i]["within"] = getattr(command, "within", -1.0)
            levels[i] = [command.levels.get(name, 0.0) for name in names]
        data = TreeTourData()
        data.each = wp.array(rows, dtype=TreeManoeuvreData, device=device.name)
        data.levels = wp.array(levels.ravel(), dtype=scalar, device=device.name)
        data.sun = vec3(*(self.sun or (0.0, 0.0, 0.0)))
        return data

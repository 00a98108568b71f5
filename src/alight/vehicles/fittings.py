"""What is fitted to a tree: pads, crushables, thrusters, motors, brakes, and slosh that is watched.

A device names a body of the tree and is checked alone; ``fitted`` checks all of them against a
tree. What changes in time does so in steps, by a ``Schedule``, counted from the release or from
the first touch of the ground.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alight.actuators.schedule import Schedule, require_schedule
from alight.core.checks import checked_direction, checked_number, checked_vector
from alight.core.errors import InputError
from alight.vehicles.tree.parts import checked_name
from alight.vehicles.tree.tree import Tree

#: What the schedules of a tree may count their times from.
TRIGGERS = ("release", "touch")

#: Compression at which a crushable begins to give, unless its stiffness is given [m], and the time
#: in which its damper lets go of its spring, unless its damping is given [s].
YIELD, RELAX = 2e-3, 2e-3


@dataclass(frozen=True, eq=False)
class Pad:
    """Where a body touches the ground: a point, or a ball of ``radius``."""

    body: str
    place: npt.ArrayLike = (0.0, 0.0, 0.0)
    """Centre of the ball in body axes [m]."""
    radius: float = 0.0
    """[m]; 0 for a point."""
    name: str = ""
    """What tables call it; the body's name if not given."""

    def __post_init__(self) -> None:
        who = _named(self, "pad")
        _set(self, place=checked_vector(f"the place of {who} [m]", self.place))
        _set(self, radius=checked_number(f"the radius of {who} [m]", self.radius, above=False))


@dataclass(frozen=True, eq=False)
class Crushable:
    """An element along a prismatic joint that gives at a constant force and stays as it is.

    The joint's stroke x is positive in compression. With p the stroke that is crushed for good,

        F = k (x - p) + c (x' - p'),    p' = max(0, (k (x - p) + c x' - force) / c)

    so that F never exceeds ``force`` until p reaches ``limit``; from there on it is a spring. p
    never falls: there is no rebound but that of the spring k, and the leg stays where it is when
    it is pulled.
    """

    body: str
    """The body on the prismatic joint."""
    force: float
    """At which it gives [N]."""
    limit: float
    """Longest crushed stroke [m]."""
    stiffness: float | None = None
    """k [N/m]; force / 2 mm if not given."""
    damping: float | None = None
    """c [N s/m]; stiffness x 2 ms if not given."""
    crushed: float = 0.0
    """Stroke crushed before the release [m]."""
    name: str = ""

    def __post_init__(self) -> None:
        who = _named(self, "crushable")
        force = checked_number(f"the force of {who} [N]", self.force)
        limit = checked_number(f"the stroke limit of {who} [m]", self.limit)
        crushed = checked_number(f"the crushed stroke of {who} [m]", self.crushed, above=False)
        if crushed > limit:
            raise InputError(
                f"{who} is crushed by {crushed:g} m already, more than its limit of {limit:g} m. "
                "Lower crushed, or raise limit."
            )
        k = force / YIELD if self.stiffness is None else self.stiffness
        k = checked_number(f"the stiffness of {who} [N/m]", k)
        c = RELAX * k if self.damping is None else self.damping
        c = checked_number(f"the damping of {who} [N s/m]", c)
        _set(self, force=force, limit=limit, crushed=crushed, stiffness=k, damping=c)


@dataclass(frozen=True, eq=False)
class Thruster:
    """A force fixed in a body; its mass does not change."""

    body: str
    place: npt.ArrayLike
    """Where it pushes, in body axes [m]."""
    direction: npt.ArrayLike
    """Of the force on the body (against the jet), in body axes; any length but 0."""
    force: float
    """At level 1 [N]."""
    schedule: Schedule = field(default_factory=Schedule)
    name: str = ""

    def __post_init__(self) -> None:
        who = _named(self, "thruster")
        _set(
            self,
            place=checked_vector(f"the place of {who} [m]", self.place),
            direction=checked_direction(f"the direction of {who}", self.direction),
            force=checked_number(f"the force of {who} [N]", self.force),
        )
        _require_schedule(who, self.schedule)


@dataclass(frozen=True, eq=False)
class Motor:
    """A torque (or force) in a revolute (or prismatic) joint: a reaction wheel's motor."""

    body: str
    """The body on the joint."""
    torque: float
    """At level 1 [N m] or [N], positive along the joint's axis on the body."""
    schedule: Schedule = field(default_factory=Schedule)
    name: str = ""

    def __post_init__(self) -> None:
        who = _named(self, "motor")
        torque = checked_number(f"the torque of {who} [N m]", self.torque, -math.inf)
        _set(self, torque=torque)
        _require_schedule(who, self.schedule)


@dataclass(frozen=True, eq=False)
class Brake:
    """A torque (or force) against the motion of a revolute (or prismatic) joint."""

    body: str
    torque: float
    """At level 1 [N m] or [N]."""
    schedule: Schedule = field(default_factory=Schedule)
    speed: float = 1e-2
    """At which it is 0.71 of its greatest [rad/s] or [m/s]; well below it is a damper."""
    name: str = ""

    def __post_init__(self) -> None:
        who = _named(self, "brake")
        torque = checked_number(f"the torque of {who} [N m]", self.torque)
        speed = checked_number(f"the speed of {who} [rad/s]", self.speed)
        _set(self, torque=torque, speed=speed)
        _require_schedule(who, self.schedule)
        if min(self.schedule.levels) < 0.0:
            raise InputError(f"{who} has levels below 0: a brake does not drive. Use a Motor.")


@dataclass(frozen=True, eq=False)
class Slosh:
    """A body whose swing from a direction fixed in another is watched; it exerts nothing."""

    body: str
    direction: npt.ArrayLike
    """From the pivot to the mass, in body axes; along the same axes of ``parent`` at rest."""
    parent: str
    """The body against which it swings, whose axes are the body's own when nothing swings."""
    name: str = ""

    def __post_init__(self) -> None:
        who = _named(self, "slosh")
        _set(self, direction=checked_direction(f"the direction of {who}", self.direction))


Device = Pad | Crushable | Thruster | Motor | Brake | Slosh


class Fitted(NamedTuple):
    """The devices of a tree, by kind."""

    pads: tuple[Pad, ...]
    crushables: tuple[Crushable, ...]
    actuators: tuple[Thruster | Motor | Brake, ...]
    sloshes: tuple[Slosh, ...]


def fitted(tree: Tree, devices: Sequence[Device]) -> Fitted:
    """``devices`` by kind, or an error that names the one that does not fit the tree."""
    for device in devices:
        if not isinstance(device, Device):
            raise InputError(
                f"{device!r} is among the devices; each must be a Pad, Crushable, Thruster, "
                "Motor, Brake or Slosh."
            )
        joint = tree.joints[tree.index(device.body)]
        if isinstance(device, Crushable) and joint.kind != "prismatic":
            raise InputError(
                f'crushable "{device.name}" is on the {joint.kind} joint of body "{device.body}"; '
                "it crushes along a prismatic joint."
            )
        if isinstance(device, Motor | Brake) and joint.kind not in ("revolute", "prismatic"):
            raise InputError(
                f'"{device.name}" turns the {joint.kind} joint of body "{device.body}"; motors and '
                "brakes go on revolute and prismatic joints."
            )
        if isinstance(device, Slosh):
            tree.index(device.parent)
    _require_names(devices)
    return Fitted(
        pads=tuple(d for d in devices if isinstance(d, Pad)),
        crushables=tuple(d for d in devices if isinstance(d, Crushable)),
        actuators=tuple(d for d in devices if isinstance(d, Thruster | Motor | Brake)),
        sloshes=tuple(d for d in devices if isinstance(d, Slosh)),
    )


def _require_names(devices: Sequence[Device]) -> None:
    """Raise where two devices of a kind have one name, or two crushables one joint."""
    seen: set[tuple[type, str]] = set()
    for device in devices:
        key = (type(device), device.name)
        if key in seen:
            kind = type(device).__name__.lower()
            raise InputError(f'there are two of kind {kind} named "{device.name}"; rename one.')
        seen.add(key)
    bodies = [d.body for d in devices if isinstance(d, Crushable)]
    twice = next((b for b in bodies if bodies.count(b) > 1), None)
    if twice is not None:
        raise InputError(f'body "{twice}" has two crushables on its joint; put one there.')


def _named(device: Any, kind: str) -> str:
    """What messages call a device; its name is set."""
    checked_name(f"the body of a {kind}", device.body)
    if not device.name:
        object.__setattr__(device, "name", device.body)
    return f'{kind} "{device.name}"'


def _set(device: object, **values: object) -> None:
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            value = np.array(value)
            value.flags.writeable = False
        object.__setattr__(device, key, value)


def _require_schedule(who: str, schedule: object) -> None:
    require_schedule(who, schedule)
    if isinstance(schedule, Schedule) and schedule.after not in TRIGGERS:
        raise InputError(
            f'the schedule of {who} counts from "{schedule.after}"; articulated landers have '
            f"schedules after {' or '.join(TRIGGERS)}: their runs end at rest."
        )

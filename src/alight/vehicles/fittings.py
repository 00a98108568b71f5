"""What is fitted to a tree: pads, bellies, crushables, watched slosh, and actuators.

A device names a body of the tree and is checked alone; ``fitted`` checks all of them against a
tree. Thrusters, and motors and brakes in joints, are those of ``alight.actuators``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alight.actuators import Brake, Motor, Schedule, Thruster
from alight.core import frames
from alight.core.checks import checked_direction, checked_name, checked_number, checked_vector
from alight.core.errors import InputError
from alight.vehicles.tree.tree import Tree

#: Most points of a belly: each is looked at in every step.
MOST_POINTS = 1000

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
class Belly:
    """Points of a body that touch the ground beside its pads: corners of a bus, a tank, a dish.

    They are pushed as pads are, by the same law, with friction that sticks. What stands between
    the points is not felt: give corners, and more of them where rocks are small.
    """

    body: str
    points: npt.ArrayLike
    """(n, 3) in body axes [m]."""
    radius: float = 0.0
    """Of a ball about each of them [m]; 0 for points."""
    name: str = ""
    """What tables call it; the body's name if not given."""

    def __post_init__(self) -> None:
        who = _named(self, "belly")
        try:
            points = np.array(self.points, dtype=np.float64)
        except (TypeError, ValueError):
            points = np.zeros(0)
        if points.ndim != 2 or points.shape[-1] != 3 or not 1 <= len(points) <= MOST_POINTS:
            raise InputError(
                f"the points of {who} have shape {points.shape}; they must be rows of x, y, z in "
                f"body axes [m], one at least and {MOST_POINTS} at most."
            )
        for point in points:
            checked_vector(f"a point of {who} [m]", point)
        _set(self, points=points)
        _set(self, radius=checked_number(f"the radius of {who} [m]", self.radius, above=False))

    @classmethod
    def box(
        cls,
        body: str,
        size: npt.ArrayLike,
        place: npt.ArrayLike = (0.0, 0.0, 0.0),
        turn: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
        name: str = "",
    ) -> Belly:
        """The corners of a box of ``size`` [m], its centre at ``place`` [m] and its axes turned by
        the quaternion ``turn`` (xyzw)."""
        who = f'belly "{name or body}"'
        sides = checked_vector(f"the size of {who} [m]", size)
        if not (sides > 0.0).all():
            raise InputError(f"the size of {who} is {sides.tolist()} m; all sides must be above 0.")
        corners = 0.5 * sides * np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
        at = checked_vector(f"the place of {who} [m]", place)
        turned = frames.quat_rotate(frames.quat_normalize(np.asarray(turn, np.float64)), corners)
        return cls(body, at + turned, name=name)

    @property
    def pads(self) -> tuple[Pad, ...]:
        """Its points, each as a pad."""
        points = np.asarray(self.points)
        return tuple(
            Pad(self.body, point, self.radius, f"{self.name} {i + 1}")
            for i, point in enumerate(points)
        )


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
class Slosh:
    """A body whose swing [rad] from a direction fixed in another is recorded; it exerts nothing."""

    body: str
    direction: npt.ArrayLike
    """From the pivot to the mass, in body axes; along the same axes of ``parent`` at rest."""
    parent: str
    """The body against which it swings, whose axes are the body's own when nothing swings."""
    name: str = ""

    def __post_init__(self) -> None:
        who = _named(self, "slosh")
        _set(self, direction=checked_direction(f"the direction of {who}", self.direction))


Device = Pad | Crushable | Thruster | Motor | Brake | Slosh | Belly


class Fitted(NamedTuple):
    """The devices of a tree, by kind."""

    pads: tuple[Pad, ...]
    crushables: tuple[Crushable, ...]
    actuators: tuple[Thruster | Motor | Brake, ...]
    sloshes: tuple[Slosh, ...]
    bellies: tuple[Belly, ...] = ()

    @property
    def touching(self) -> tuple[Pad, ...]:
        """All that touches the ground: the pads, then the points of each belly."""
        return self.pads + tuple(point for belly in self.bellies for point in belly.pads)

    @property
    def owners(self) -> tuple[int, ...]:
        """The belly that each of ``touching`` is of; -1 for a pad."""
        of_bellies = [i for i, belly in enumerate(self.bellies) for _ in belly.pads]
        return (-1,) * len(self.pads) + tuple(of_bellies)


def fitted(tree: Tree, devices: Sequence[Device]) -> Fitted:
    """``devices`` by kind, or an error that names the one that does not fit the tree."""
    for device in devices:
        if not isinstance(device, Device):
            raise InputError(
                f"{device!r} is among the devices; each must be a Pad, Belly, Crushable, "
                "Thruster, Motor, Brake or Slosh."
            )
        if isinstance(device, Thruster | Motor | Brake):
            _require_for_trees(device)
        joint = tree.joints[tree.index(str(device.body))]
        if isinstance(device, Crushable) and joint.kind != "prismatic":
            raise InputError(
                f'crushable "{device.name}" is on the {joint.kind} joint of body "{device.body}"; '
                "it crushes along a prismatic joint."
            )
        if isinstance(device, Motor | Brake) and joint.kind not in ("revolute", "prismatic"):
            raise InputError(
                f'"{device.name}" turns the {joint.kind} joint of body "{device.body}"; motors and '
                "brakes belong on revolute and prismatic joints."
            )
        if isinstance(device, Slosh):
            tree.index(device.parent)
    _require_names(devices)
    return Fitted(
        pads=tuple(d for d in devices if isinstance(d, Pad)),
        crushables=tuple(d for d in devices if isinstance(d, Crushable)),
        actuators=tuple(d for d in devices if isinstance(d, Thruster | Motor | Brake)),
        sloshes=tuple(d for d in devices if isinstance(d, Slosh)),
        bellies=tuple(d for d in devices if isinstance(d, Belly)),
    )


def _require_for_trees(device: Thruster | Motor | Brake) -> None:
    """Raise where an actuator is one of rigid landers: without a body, or with a controller."""
    who = f'{type(device).__name__.lower()} "{device.name}"'
    if device.body is None:
        raise InputError(
            f"{who} has no body, as on a rigid lander; a tree has several. Give it the one that "
            'it is fixed in: Thruster(..., body="bus").'
        )
    if not isinstance(device.schedule, Schedule):
        raise InputError(
            f"{who} is commanded by {device.schedule!r}; actuators of trees have a Schedule, such "
            "as Schedule.after_rest(delay=60.0). Controllers go with rigid landers."
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

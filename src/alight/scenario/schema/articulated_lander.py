"""Articulated landers in a scenario: [[lander.body]], [[lander.joint]] and what is fitted to them.

Each part makes the part of ``alight.vehicles`` that it describes; ``building.articulated_landers``
puts them together.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from alight import actuators, vehicles
from alight.actuators.schedule import TRIGGERS
from alight.core.errors import InputError
from alight.scenario import quantities
from alight.scenario.errors import told
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    Moments,
    Number,
    OneOf,
    TextField,
    Whole,
)
from alight.scenario.quantities import DIMENSIONS
from alight.scenario.schema.section import Section
from alight.vehicles.tree.joint_kinds import KINDS

if TYPE_CHECKING:
    from alight.vehicles.fittings import Device

_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")

LENGTH = Measure(dimension="length")
FORCE = Measure(dimension="force", above=0)
#: Of joints that turn, and of those that slide.
PLACE = OneOf(dimensions=("angle", "length"))
SPEED = OneOf(dimensions=("angular rate", "speed"))
EFFORT = OneOf(dimensions=("torque", "force"))
STIFFNESS = OneOf(dimensions=("torsional stiffness", "stiffness"), least=0)
DAMPING = OneOf(dimensions=("torsional damping", "damping"), least=0)


def part_name(text: str) -> str:
    """A name that keys can have in them."""
    if not _NAME.fullmatch(text):
        raise InputError(f"found {told(text)}; it must be letters, digits, - and _ alone")
    return text


def euler_attitude(angles: Any) -> Any:
    """Quaternions (..., 4) of roll, pitch and yaw [rad]: turned about x, then y, then z."""
    rows = []
    for roll, pitch, yaw in angles.reshape(-1, 3).tolist():
        (sr, cr), (sp, cp), (sy, cy) = (
            (math.sin(0.5 * a), math.cos(0.5 * a)) for a in (roll, pitch, yaw)
        )
        rows.append(
            (
                sr * cp * cy - cr * sp * sy,
                cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy,
                cr * cp * cy + sr * sp * sy,
            )
        )
    return np.array(rows).reshape(*angles.shape[:-1], 4)


class TreePart(Section):
    """One table of a list; it goes by its name, or by that of its body."""

    #: The list that it stands in.
    LIST: ClassVar[str] = ""

    @property
    def called(self) -> str:
        """Its name."""
        return str(getattr(self, "name", None) or getattr(self, "body", None) or "")

    @property
    def where(self) -> str:
        """Its key in messages and dispersions."""
        return f"lander.{self.LIST}.{self.called}"

    def given(self, *names: str, linear: bool = False) -> dict[str, Any]:
        """Those of the keys ``names`` that have values, in SI; ``linear`` for joints that slide."""
        out: dict[str, Any] = {}
        for name in names:
            value, kind = getattr(self, name), self.kinds()[name]
            if value is None:
                continue
            if isinstance(kind, OneOf):
                out[name] = _of_dimension(name, value, kind.dimensions[int(linear)])
            else:
                out[name] = value if isinstance(value, str) else _plain(value)
        return out


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, float) else np.asarray(value, dtype=np.float64)


def _of_dimension(name: str, value: quantities.Quantity, dimension: str) -> float:
    """A quantity whose unit may be of another dimension than the joint's."""
    try:
        return float(quantities.read(value.text, dimension))
    except InputError:
        raise InputError(
            f"{name} is {told(value.text)}; for this kind of joint it must be a {dimension}, such "
            f'as "{DIMENSIONS[dimension].example}"'
        ) from None


class BodySection(TreePart):
    """A rigid body."""

    LIST: ClassVar = "body"

    name: Annotated[str, TextField(part_name, ("bus",))]
    mass: Annotated[float | None, Measure(dimension="mass", least=0)] = None
    inertia: Annotated[Any, Moments(Measure(dimension="moment of inertia"))] = None
    center: Annotated[Any, ListField(LENGTH)] = None

    def make(self) -> vehicles.TreeBody:
        """The body."""
        return vehicles.TreeBody(self.name, **self.given("mass", "inertia", "center"))


class JointSection(TreePart):
    """How a body is carried."""

    LIST: ClassVar = "joint"

    body: Annotated[str, TextField(None, ("bus",))]
    kind: Annotated[str, ChoiceField(tuple(KINDS))]
    parent: Annotated[str | None, TextField(None, ("bus",))] = None
    place: Annotated[Any, ListField(LENGTH)] = None
    turn: Annotated[Any, ListField(Number(), 4, nonzero=True)] = None
    euler: Annotated[Any, ListField(Measure(dimension="angle"))] = None
    axis: Annotated[Any, ListField(Number(), nonzero=True)] = None
    stiffness: Annotated[float | None, STIFFNESS] = None
    rest: Annotated[float | None, PLACE] = None
    damping: Annotated[float | None, DAMPING] = None
    lower: Annotated[float | None, PLACE] = None
    upper: Annotated[float | None, PLACE] = None
    stop_stiffness: Annotated[float | None, STIFFNESS] = None
    stop_damping: Annotated[float | None, DAMPING] = None
    friction: Annotated[float | None, OneOf(dimensions=("torque", "force"), least=0)] = None
    friction_speed: Annotated[
        float | None, OneOf(dimensions=("angular rate", "speed"), above=0)
    ] = None
    motor: Annotated[float | None, EFFORT] = None
    start: Annotated[float | None, PLACE] = None
    start_speed: Annotated[float | None, SPEED] = None

    @property
    def linear(self) -> bool:
        """Whether it slides."""
        return self.kind == "prismatic"

    def make(self) -> vehicles.Joint:
        """The joint."""
        names = (
            *("place", "axis", "stiffness", "rest", "damping", "lower", "upper", "stop_stiffness"),
            *("stop_damping", "friction", "friction_speed", "motor"),
        )
        options = self.given(*names, linear=self.linear)
        if self.turn is not None and self.euler is not None:
            raise InputError("has both turn and euler; give one of them")
        if self.turn is not None:
            turn = np.asarray(self.turn, dtype=np.float64)
            options["turn"] = turn / np.linalg.norm(turn)
        elif self.euler is not None:
            options["turn"] = euler_attitude(np.asarray(self.euler, dtype=np.float64))
        self.first()
        return vehicles.Joint(self.body, self.kind, self.parent, **options)

    def first(self) -> tuple[float, float]:
        """Where it stands at the release, and how fast it moves."""
        found = self.given("start", "start_speed", linear=self.linear)
        if found and self.kind not in ("revolute", "prismatic"):
            raise InputError(
                f'{next(iter(found))} does not go with kind = "{self.kind}"; only revolute and '
                "prismatic joints have it"
            )
        return found.get("start", 0.0), found.get("start_speed", 0.0)


class PadSection(TreePart):
    """Where a body touches the ground."""

    LIST: ClassVar = "pad"

    body: Annotated[str, TextField(None, ("leg",))]
    name: Annotated[str | None, TextField(part_name, ("pad-1",))] = None
    place: Annotated[Any, ListField(LENGTH)] = None
    radius: Annotated[float | None, Measure(dimension="length", least=0)] = None

    def make(self, linear: bool) -> Device:
        """The pad."""
        return vehicles.Pad(self.body, name=self.called, **self.given("place", "radius"))


class BellySection(TreePart):
    """Points of a body that touch the ground beside its pads."""

    LIST: ClassVar = "belly"

    body: Annotated[str, TextField(None, ("bus",))]
    name: Annotated[str | None, TextField(part_name, ("bus-corners",))] = None
    points: Annotated[Any, ListField(ListField(LENGTH), 0)] = None
    box: Annotated[Any, ListField(Measure(dimension="length", above=0))] = None
    place: Annotated[Any, ListField(LENGTH)] = None
    radius: Annotated[float | None, Measure(dimension="length", least=0)] = None

    def make(self, linear: bool) -> Device:
        """The belly."""
        if (self.points is None) == (self.box is None):
            given = "both points and box" if self.points is not None else "neither points nor box"
            raise InputError(
                f'has {given}; give points = [["1 m", "0 m", "-1 m"], ...] or box = ["2 m", "2 m", '
                '"1 m"], a box about its place'
            )
        if self.box is not None:
            if self.radius is not None:
                raise InputError("has a radius, which does not go with box; give points")
            at = np.asarray(self.place or (0.0, 0.0, 0.0), dtype=np.float64)
            return vehicles.Belly.box(
                self.body, np.asarray(self.box, np.float64), at, name=self.called
            )
        if self.place is not None:
            raise InputError("has a place, which goes with box; points have theirs")
        return vehicles.Belly(self.body, name=self.called, **self.given("points", "radius"))


class CrushableSection(TreePart):
    """An element that gives at a constant force."""

    LIST: ClassVar = "crushable"

    body: Annotated[str, TextField(None, ("leg",))]
    force: Annotated[float, FORCE]
    limit: Annotated[float, Measure(dimension="length", above=0)]
    name: Annotated[str | None, TextField(part_name, ("crush-1",))] = None
    stiffness: Annotated[float | None, Measure(dimension="stiffness", above=0)] = None
    damping: Annotated[float | None, Measure(dimension="damping", above=0)] = None
    crushed: Annotated[float | None, Measure(dimension="length", least=0)] = None

    def make(self, linear: bool) -> Device:
        """The crushable."""
        names = ("force", "limit", "stiffness", "damping", "crushed")
        return vehicles.Crushable(self.body, name=self.called, **self.given(*names))


class Scheduled(TreePart):
    """Something whose level changes in steps."""

    after: Annotated[str | None, ChoiceField(TRIGGERS)] = None
    times: Annotated[Any, ListField(Measure(dimension="time", least=0), 0)] = None
    levels: Annotated[Any, ListField(Number(), 0)] = None
    repeats: Annotated[int | None, Whole(least=1)] = None

    @property
    def _said(self) -> dict[str, Any]:
        given = {n: getattr(self, n) for n in ("after", "times", "levels", "repeats")}
        return {n: v for n, v in given.items() if v is not None}

    @property
    def is_scheduled(self) -> bool:
        """Whether anything is said of its schedule."""
        return bool(self._said)

    def schedule(self) -> actuators.Schedule:
        """Its schedule; on from the release if nothing is said."""
        return actuators.Schedule(**self._said)


class ThrusterSection(Scheduled):
    """A force fixed in a body."""

    LIST: ClassVar = "thruster"

    body: Annotated[str | None, TextField(None, ("bus",))] = None
    place: Annotated[Any, ListField(LENGTH)] = None
    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    force: Annotated[float, FORCE]
    name: Annotated[str | None, TextField(part_name, ("thruster-1",))] = None

    def make(self, linear: bool) -> Device:
        """The thruster, on a body of a tree."""
        if self.body is None or self.place is None:
            what = "body" if self.body is None else "place"
            raise InputError(f"has no {what}; a thruster of an articulated lander needs one")
        options = self.given("place", "direction", "force")
        return actuators.Thruster(
            schedule=self.schedule(), name=self.called, body=self.body, **options
        )

    def make_rigid(self) -> actuators.Thruster:
        """The thruster of a rigid lander."""
        if self.body is not None:
            raise InputError("has a body; a rigid lander is one, so leave it out")
        options = self.given("place", "direction", "force")
        return actuators.Thruster(schedule=self.schedule(), name=self.called, **options)


class MotorSection(Scheduled):
    """A torque or force in a joint."""

    LIST: ClassVar = "motor"

    body: Annotated[str, TextField(None, ("wheel",))]
    torque: Annotated[float, EFFORT]
    top_speed: Annotated[float | None, OneOf(dimensions=("angular rate", "speed"), above=0)] = None
    name: Annotated[str | None, TextField(part_name, ("motor-1",))] = None

    def make(self, linear: bool) -> Device:
        """The motor."""
        options = self.given("torque", "top_speed", linear=linear)
        return actuators.Motor(self.body, schedule=self.schedule(), name=self.called, **options)


class BrakeSection(Scheduled):
    """A torque or force against the motion of a joint."""

    LIST: ClassVar = "brake"

    body: Annotated[str, TextField(None, ("wheel",))]
    torque: Annotated[float, EFFORT]
    speed: Annotated[float | None, OneOf(dimensions=("angular rate", "speed"), above=0)] = None
    name: Annotated[str | None, TextField(part_name, ("brake-1",))] = None

    def make(self, linear: bool) -> Device:
        """The brake."""
        options = self.given("torque", "speed", linear=linear)
        return actuators.Brake(self.body, schedule=self.schedule(), name=self.called, **options)


class SloshSection(TreePart):
    """A body whose swing is recorded."""

    LIST: ClassVar = "slosh"

    body: Annotated[str, TextField(None, ("liquid",))]
    parent: Annotated[str, TextField(None, ("bus",))]
    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    name: Annotated[str | None, TextField(part_name, ("tank-1",))] = None

    def make(self, linear: bool) -> Device:
        """What is watched."""
        return vehicles.Slosh(
            self.body, parent=self.parent, name=self.called, **self.given("direction")
        )


#: Lists of devices, in the order in which tables have them.
DEVICES = ("pad", "belly", "crushable", "thruster", "motor", "brake", "slosh")

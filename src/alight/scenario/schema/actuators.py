"""Actuators of rigid landers in a scenario: [[lander.wheel]], [[lander.thruster]] (a list that
articulated landers have too) and [[lander.spring]]; [[lander.actuator]] is of any kind that the
registry knows, those of other packages among them."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from alight import actuators
from alight.actuators.schedule import TRIGGERS
from alight.core.errors import InputError
from alight.core.registry import registry
from alight.scenario.field_types import (
    ChoiceField,
    ListField,
    Measure,
    NameField,
    Number,
    Switch,
    TextField,
    Whole,
)
from alight.scenario.registered import own_values, plain
from alight.scenario.schema.articulated_lander import FORCE, LENGTH, Scheduled, part_name
from alight.scenario.schema.listed import Listed
from alight.scenario.schema.section import Section

_TIMES = ListField(Measure(dimension="time", least=0), 0)


class WheelKeys(Section):
    """Of the kind "wheel"; the schedule of the entry is the motor's."""

    axis: Annotated[Any, ListField(Number(), nonzero=True)]
    inertia: Annotated[float, Measure(dimension="moment of inertia", above=0)]
    speed: Annotated[float | None, Measure(dimension="angular rate")] = None
    torque: Annotated[float | None, Measure(dimension="torque", above=0)] = None
    top_speed: Annotated[float | None, Measure(dimension="angular rate", above=0)] = None
    friction: Annotated[float | None, Measure(dimension="torque", least=0)] = None
    brake: Annotated[float | None, Measure(dimension="torque", above=0)] = None
    instant_brake: Annotated[bool | None, Switch()] = None
    brake_after: Annotated[str | None, ChoiceField(TRIGGERS)] = None
    brake_times: Annotated[Any, _TIMES] = None
    brake_levels: Annotated[Any, ListField(Number(), 0)] = None
    brake_repeats: Annotated[int | None, Whole(least=1)] = None


def wheel_of(
    schedule: actuators.Schedule | None = None, name: str = "wheel", **given: Any
) -> actuators.Wheel:
    """The wheel with these keys, whose motor has a schedule."""
    words = {f"brake_{n}": n for n in ("after", "times", "levels", "repeats")}
    braking = {words[n]: v for n, v in given.items() if n in words}
    own = {n: v for n, v in given.items() if n not in (*words, "instant_brake")}
    if given.get("instant_brake"):
        if "brake" in own:
            raise InputError(
                f'wheel "{name}" has a brake torque and instant_brake, a brake that takes no time; '
                "give one of them."
            )
        own["brake"] = math.inf
    return actuators.Wheel(
        motor=schedule, braking=actuators.Schedule(**braking) if braking else None, name=name, **own
    )


class NamedSection(Scheduled):
    """A part with a name and a schedule."""

    name: Annotated[str, TextField(part_name, ("wheel-y",))]


class WheelSection(WheelKeys, NamedSection):
    """A flywheel with motor and brake; times and levels are the motor's."""

    LIST: ClassVar = "wheel"

    def make(self) -> actuators.Wheel:
        """The wheel."""
        found = {name: plain(getattr(self, name)) for name in WheelKeys.model_fields}
        given = {name: value for name, value in found.items() if value is not None}
        return wheel_of(self.schedule() if self.is_scheduled else None, self.name, **given)


class SpringSection(Scheduled):
    """A spring foot that is released."""

    LIST: ClassVar = "spring"

    name: Annotated[str, TextField(part_name, ("foot",))]
    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    energy: Annotated[float, Measure(dimension="energy", above=0)]
    place: Annotated[Any, ListField(LENGTH)] = None

    def make(self) -> actuators.Spring:
        """The spring."""
        schedule = self.schedule() if self.is_scheduled else actuators.Schedule.after_rest()
        return actuators.Spring(
            schedule=schedule, name=self.name, **self.given("energy", "direction", "place")
        )


class ActuatorSection(Listed):
    """An actuator of any kind: its keys, and its schedule."""

    REGISTRY: ClassVar = "actuator"

    kind: Annotated[str, NameField("actuator")]
    after: Annotated[str | None, ChoiceField(TRIGGERS)] = None
    times: Annotated[Any, _TIMES] = None
    levels: Annotated[Any, ListField(Number(), 0)] = None
    repeats: Annotated[int | None, Whole(least=1)] = None

    @property
    def called(self) -> str:
        """Its name."""
        return str(self.name or "")

    @property
    def where(self) -> str:
        """Its key in messages and dispersions."""
        return f"lander.actuator.{self.called}"

    def make(self) -> actuators.Wheel | actuators.Arm | actuators.Actuator:
        """The actuator: ``make`` of its entry with its keys, and ``name`` and ``schedule`` if it
        takes them."""
        entry = registry.find("actuator", self.kind)
        said = {n: getattr(self, n) for n in ("after", "times", "levels", "repeats")}
        said = {n: v for n, v in said.items() if v is not None}
        offers: dict[str, Any] = {"name": lambda: self.called}
        if said or entry.asks().get("schedule"):
            offers["schedule"] = lambda: actuators.Schedule(**said)
        found = entry.called(own_values(self, entry), offers)
        if not isinstance(found, actuators.Wheel | actuators.Arm | actuators.Actuator):
            raise InputError(f"{entry} makes {found!r}, which is no alight.actuators.Actuator.")
        return found


class ThrusterKeys(Section):
    """Of the kind "thruster"."""

    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    force: Annotated[float, FORCE]
    place: Annotated[Any, ListField(LENGTH)] = None


class SpringKeys(Section):
    """Of the kind "spring"."""

    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    energy: Annotated[float, Measure(dimension="energy", above=0)]
    place: Annotated[Any, ListField(LENGTH)] = None


class ArmKeys(Section):
    """Of the kind "arm"."""

    axis: Annotated[Any, ListField(Number(), nonzero=True)]
    mass: Annotated[float, Measure(dimension="mass", above=0)]
    reach: Annotated[Any, ListField(Measure(dimension="length"))]
    rate: Annotated[float, Measure(dimension="angular rate", above=0)]
    acceleration: Annotated[float, Measure(dimension="angular acceleration", above=0)]
    pivot: Annotated[Any, ListField(Measure(dimension="length"))] = None
    inertia: Annotated[float | None, Measure(dimension="moment of inertia", least=0)] = None


registry.add("actuator", "wheel", wheel_of, keys=WheelKeys, text="a flywheel, motor and brake")
registry.add(
    "actuator", "arm", "alight.actuators:Arm", keys=ArmKeys, text="a mass on an arm that swings"
)
registry.add(
    "actuator",
    "thruster",
    "alight.actuators:Thruster",
    keys=ThrusterKeys,
    text="a force fixed in the body",
)
registry.add(
    "actuator",
    "spring",
    "alight.actuators:Spring",
    keys=SpringKeys,
    text="a spring foot that is released",
)

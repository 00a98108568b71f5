"""Actuators of rigid landers in a scenario: [[lander.wheel]], [[lander.thruster]] (a list that
articulated landers have too) and [[lander.spring]]."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from alight.actuators import Schedule, Spring, Wheel
from alight.actuators.schedule import TRIGGERS
from alight.core.registry import registry
from alight.scenario.field_types import ChoiceField, ListField, Measure, Number, TextField, Whole
from alight.scenario.schema.articulated_lander import LENGTH, Scheduled, part_name

_TIMES = ListField(Measure(dimension="time", least=0), 0)


class WheelSection(Scheduled):
    """A flywheel with motor and brake; times and levels are the motor's."""

    LIST: ClassVar = "wheel"

    name: Annotated[str, TextField(part_name, ("wheel-y",))]
    axis: Annotated[Any, ListField(Number(), nonzero=True)]
    inertia: Annotated[float, Measure(dimension="moment of inertia", above=0)]
    speed: Annotated[float | None, Measure(dimension="angular rate")] = None
    torque: Annotated[float | None, Measure(dimension="torque", above=0)] = None
    top_speed: Annotated[float | None, Measure(dimension="angular rate", above=0)] = None
    friction: Annotated[float | None, Measure(dimension="torque", least=0)] = None
    brake: Annotated[float | None, Measure(dimension="torque", above=0)] = None
    brake_after: Annotated[str | None, ChoiceField(TRIGGERS)] = None
    brake_times: Annotated[Any, _TIMES] = None
    brake_levels: Annotated[Any, ListField(Number(), 0)] = None
    brake_repeats: Annotated[int | None, Whole(least=1)] = None

    def make(self) -> Wheel:
        """The wheel."""
        names = ("axis", "inertia", "speed", "torque", "top_speed", "friction", "brake")
        names_of = {n: f"brake_{n}" for n in ("after", "times", "levels", "repeats")}
        given = {n: getattr(self, k) for n, k in names_of.items()}
        braking = {n: v for n, v in given.items() if v is not None}
        return Wheel(
            motor=self.schedule() if self.is_scheduled else None,
            braking=Schedule(**braking) if braking else None,
            name=self.name,
            **self.given(*names),
        )


class SpringSection(Scheduled):
    """A spring foot that is let go."""

    LIST: ClassVar = "spring"

    name: Annotated[str, TextField(part_name, ("foot",))]
    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    energy: Annotated[float, Measure(dimension="energy", above=0)]
    place: Annotated[Any, ListField(LENGTH)] = None

    def make(self) -> Spring:
        """The spring."""
        schedule = self.schedule() if self.is_scheduled else Schedule.after_rest()
        return Spring(
            schedule=schedule, name=self.name, **self.given("energy", "direction", "place")
        )


registry.add("actuator", "wheel", Wheel, keys=WheelSection, text="a flywheel with motor and brake")
registry.add("actuator", "spring", Spring, keys=SpringSection, text="a spring foot that is let go")

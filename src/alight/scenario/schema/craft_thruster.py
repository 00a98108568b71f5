"""Thrusters of a craft with a membrane in a scenario: [[carrier.thruster]] of a drop and
[[spacecraft.thruster]] of a capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from alight import actuators
from alight.core.errors import InputError
from alight.scenario.errors import Fault
from alight.scenario.field_types import ListField, Number, TextField
from alight.scenario.schema.articulated_lander import FORCE, LENGTH, Scheduled, part_name


class CraftThruster(Scheduled):
    """A force fixed in the craft."""

    LIST: ClassVar = "thruster"

    name: Annotated[str, TextField(part_name, ("main",))]
    direction: Annotated[Any, ListField(Number(), nonzero=True)]
    force: Annotated[float, FORCE]
    place: Annotated[Any, ListField(LENGTH)] = None

    def make(self) -> actuators.Thruster:
        """The thruster."""
        options = self.given("direction", "force", "place")
        return actuators.Thruster(schedule=self.schedule(), name=self.name, **options)


def thruster_problems(table: str, parts: Sequence[CraftThruster]) -> list[Fault]:
    """What is wrong with the thrusters of ``table``, each for itself."""
    if not parts:
        return []
    from alight.motions.membrane.drive import checked_actuators

    found, known = [], set()
    for part in parts:
        key = f"{table}.thruster.{part.name}"
        if part.name in known:
            found.append(Fault(key, "two have this name; each needs its own"))
        known.add(part.name)
        try:
            checked_actuators([part.make()])
        except InputError as cause:
            found.append(Fault(key, " ".join(str(cause).split())))
    return found

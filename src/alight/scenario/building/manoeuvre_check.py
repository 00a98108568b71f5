"""Commands that a lander cannot carry out, found from the file alone: no ground, no kernel."""

from __future__ import annotations

from typing import Any

from alight.core.errors import AlightError
from alight.motions.rigid.drive.laws import Drives
from alight.motions.rigid.drive.manoeuvres import Tour
from alight.motions.tree.manoeuvres import TreeTour
from alight.scenario.building.articulated_landers import Articulated, commanded_devices
from alight.scenario.errors import Fault
from alight.scenario.schema.landing import Scenario
from alight.vehicles import RigidLander
from alight.vehicles.fittings import fitted

#: Stands for places and for where the Sun is, which no check of a command looks at.
_SOMEWHERE = (1.0, 0.0, 0.0)


def impossible_commands(scenario: Scenario, lander: RigidLander | Articulated) -> list[Fault]:
    """What is wrong with the manoeuvres of a scenario, and would be reported by its first run."""
    friction = float(scenario.contact.friction or 0.6)
    made: list[Any] = []
    for number, one in enumerate(scenario.manoeuvre):
        where = f"manoeuvre.{one.name or number}"
        try:
            made.append(one.make(friction, lambda *_: _SOMEWHERE, int(scenario.seed)))
        except AlightError as cause:
            return [_fault(where, cause)]
    if not made:
        return []
    try:
        _check(scenario, lander, tuple(made))
    except AlightError as cause:
        return [_fault("manoeuvre", cause)]
    return []


def _check(scenario: Scenario, lander: RigidLander | Articulated, made: tuple[Any, ...]) -> None:
    """Raise where actuators cannot do it."""
    if isinstance(lander, Articulated):
        devices = commanded_devices(scenario.lander, lander.devices, made)
        TreeTour(made, lander.tree, fitted(lander.tree, devices), _SOMEWHERE)
        return
    plain = Drives(tuple(scenario.lander.actuators()))
    tour = Tour(made, lander, plain.wheels, tuple(plain.names), _SOMEWHERE)
    Drives(tuple(scenario.lander.actuators()), tour)


def _fault(where: str, cause: AlightError) -> Fault:
    return Fault(where, " ".join(str(cause).split()).rstrip("."))

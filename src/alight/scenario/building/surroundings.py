"""What pulls at captures and drops: the laws of landings, made from their [target]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from alight.core.progress import Progress
from alight.scenario.building.laws import ScenarioLaws
from alight.scenario.errors import Fault, ScenarioError
from alight.scenario.schema.run import Environment
from alight.scenario.schema.surroundings import Surrounded
from alight.scenario.schema.target import GravitySection, TargetBodySection


@dataclass(frozen=True)
class _Around:
    """The sections of a capture or drop as ``ScenarioLaws`` reads them of a landing."""

    source: str
    seed: int
    body: TargetBodySection
    gravity: GravitySection
    environment: Environment


class Surroundings:
    """Makes gravity, rotation and pushes of scenarios that differ from ``nominal`` in numbers."""

    def __init__(self, nominal: Surrounded, device: str, progress: str | Progress) -> None:
        self._laws = ScenarioLaws(_around(nominal), device, progress)

    def laws(self, scenario: Surrounded) -> dict[str, Any]:
        """``gravity``, ``rotation`` and ``externals`` of a model."""
        here = _around(scenario)
        try:
            rotation = here.body.rotation
            # Without a turn and a pole the target's axes are the inertial ones.
            turns = rotation.kind != "none" or rotation.pole is not None
            return {
                "gravity": self._laws.gravity(here),
                "rotation": self._laws.rotation(here) if turns else None,
                "externals": self._laws.externals(here),
            }
        except ScenarioError as error:
            raise ScenarioError(error.source, [_of_target(f) for f in error.problems]) from error


def _around(scenario: Surrounded) -> Any:
    one = scenario
    return _Around(one.source, one.seed, one.target, one.gravity, one.environment)


def _of_target(fault: Fault) -> Fault:
    """A fault under [body], which is [target] here."""
    at = fault.key == "body" or fault.key.startswith("body.")
    return Fault(f"target{fault.key[4:]}", fault.text) if at else fault

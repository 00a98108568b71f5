"""Scenarios and the catalogues of bodies and landers.

``load`` reads a scenario file, ``prepare`` builds it, ``simulate`` runs it once. They are loaded
when first used: reading scenarios takes pydantic and pint, which the catalogues do without.
"""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.scenario import bodies, landers
    from alight.scenario.building.prepare import Group, Prepared, prepare, simulate
    from alight.scenario.dispersion import Dispersion
    from alight.scenario.document_kinds import json_schema
    from alight.scenario.errors import ScenarioError
    from alight.scenario.reader import from_dict, load, loads
    from alight.scenario.schema.capture import CaptureScenario
    from alight.scenario.schema.landing import Scenario
    from alight.scenario.schema.membrane import DropScenario

__all__ = [
    "CaptureScenario",
    "Dispersion",
    "DropScenario",
    "Group",
    "Prepared",
    "Scenario",
    "ScenarioError",
    "bodies",
    "from_dict",
    "json_schema",
    "landers",
    "load",
    "loads",
    "prepare",
    "simulate",
]

lazy.door(
    __name__,
    {
        "alight.scenario.building.prepare": "Group Prepared prepare simulate",
        "alight.scenario.dispersion": "Dispersion",
        "alight.scenario.document_kinds": "json_schema",
        "alight.scenario.errors": "ScenarioError",
        "alight.scenario.reader": "from_dict load loads",
        "alight.scenario.schema.capture": "CaptureScenario",
        "alight.scenario.schema.landing": "Scenario",
        "alight.scenario.schema.membrane": "DropScenario",
    },
)

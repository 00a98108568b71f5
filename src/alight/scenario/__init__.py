"""Scenarios and the catalogues of bodies and landers.

``load`` reads a scenario file, ``prepare`` builds it, ``simulate`` runs it once. They are loaded
when first used: reading scenarios takes pydantic and pint, which the catalogues do without.
"""

import importlib
from typing import TYPE_CHECKING, Any

from alight.scenario import bodies, landers

if TYPE_CHECKING:
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

_NAMES = {
    "CaptureScenario": "schema.capture",
    "Dispersion": "dispersion",
    "DropScenario": "schema.membrane",
    "Group": "building.prepare",
    "Prepared": "building.prepare",
    "Scenario": "schema.landing",
    "ScenarioError": "errors",
    "from_dict": "reader",
    "json_schema": "document_kinds",
    "load": "reader",
    "loads": "reader",
    "prepare": "building.prepare",
    "simulate": "building.prepare",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use."""
    if name in _NAMES:
        return getattr(importlib.import_module(f"alight.scenario.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'alight.scenario' has no attribute {name!r}")

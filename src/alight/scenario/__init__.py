"""Scenarios and the catalogues of bodies and landers.

``load`` reads a scenario file, ``prepare`` builds it, ``simulate`` runs it once. They are loaded
when first used: reading scenarios takes pydantic and pint, which the catalogues do without.
"""

import importlib
from typing import TYPE_CHECKING, Any

from alight.scenario import bodies, landers

if TYPE_CHECKING:
    from alight.scenario.build import Group, Prepared, prepare, simulate
    from alight.scenario.dispersion import Dispersion
    from alight.scenario.documents import json_schema
    from alight.scenario.errors import ScenarioError
    from alight.scenario.reader import from_dict, load, loads
    from alight.scenario.schema import Scenario
    from alight.scenario.schema_capture import CaptureScenario
    from alight.scenario.schema_membrane import DropScenario

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
    "CaptureScenario": "schema_capture",
    "Dispersion": "dispersion",
    "DropScenario": "schema_membrane",
    "Group": "build",
    "Prepared": "build",
    "Scenario": "schema",
    "ScenarioError": "errors",
    "from_dict": "reader",
    "json_schema": "documents",
    "load": "reader",
    "loads": "reader",
    "prepare": "build",
    "simulate": "build",
}


def __getattr__(name: str) -> Any:
    """Load a name on first use."""
    if name in _NAMES:
        return getattr(importlib.import_module(f"alight.scenario.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'alight.scenario' has no attribute {name!r}")

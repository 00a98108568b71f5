"""Alight: landing, bouncing, sliding, settling, hopping and capture at small bodies.

::

    import alight
    mesh = alight.Mesh.read("itokawa.obj", unit="km")
    field = alight.gravity.Polyhedron(mesh, density=1950.0)
    potential, acceleration, gradient = field.evaluate(points)

Names are loaded when first used, so that ``import alight`` and the command line start at once.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers read it; the module typing takes long to load
if TYPE_CHECKING:
    from typing import Any

    from alight import (
        analysis,
        campaign,
        contact,
        core,
        engine,
        flight,
        gravity,
        integrators,
        membrane,
        motions,
        scenario,
        shapes,
        surfaces,
        vehicles,
    )
    from alight.campaign import Study, dispersions, open_campaign, run_campaign
    from alight.engine import run_batch
    from alight.motions import Model, Release
    from alight.scenario.bodies import Body
    from alight.scenario.bodies import find as body
    from alight.scenario.building.prepare import simulate
    from alight.scenario.landers import find as lander
    from alight.shapes import Mesh
    from alight.vehicles import RigidLander

__version__ = "0.1.0"
__all__ = [
    "Body",
    "Mesh",
    "Model",
    "Release",
    "RigidLander",
    "Study",
    "analysis",
    "body",
    "campaign",
    "contact",
    "core",
    "dispersions",
    "engine",
    "flight",
    "gravity",
    "integrators",
    "lander",
    "membrane",
    "motions",
    "open_campaign",
    "run_batch",
    "run_campaign",
    "scenario",
    "shapes",
    "simulate",
    "surfaces",
    "vehicles",
]

_ROOMS = (
    "analysis",
    "campaign",
    "contact",
    "core",
    "engine",
    "flight",
    "gravity",
    "integrators",
    "membrane",
    "motions",
    "scenario",
    "shapes",
    "surfaces",
    "vehicles",
)
_NAMES = {
    "Body": ("alight.scenario.bodies", "Body"),
    "Mesh": ("alight.shapes", "Mesh"),
    "Model": ("alight.motions", "Model"),
    "Release": ("alight.motions", "Release"),
    "RigidLander": ("alight.vehicles", "RigidLander"),
    "Study": ("alight.campaign", "Study"),
    "body": ("alight.scenario.bodies", "find"),
    "lander": ("alight.scenario.landers", "find"),
    "open_campaign": ("alight.campaign", "open_campaign"),
    "run_batch": ("alight.engine", "run_batch"),
    "run_campaign": ("alight.campaign", "run_campaign"),
    "simulate": ("alight.scenario.building.prepare", "simulate"),
}


def __getattr__(name: str) -> Any:
    """Load a room or a front-door name on first use."""
    if name in _ROOMS:
        return importlib.import_module(f"alight.{name}")
    if name == "dispersions":
        return importlib.import_module("alight.campaign.dispersions")
    if name in _NAMES:
        module, attribute = _NAMES[name]
        return getattr(importlib.import_module(module), attribute)
    from alight.core.errors import did_you_mean

    hint = did_you_mean(name, __all__)
    raise AttributeError(f"module 'alight' has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    """The front door's names."""
    return sorted([*__all__, "__version__"])

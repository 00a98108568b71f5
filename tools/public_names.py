"""What is public: the front door (``alight.__all__``) and what rooms export (their ``__all__``).

The API reference shows these names and no others, and a test reads their docstrings.
"""

from __future__ import annotations

import importlib
import pkgutil
import types
from typing import Any

import alight


def _rooms() -> tuple[str, ...]:
    """The front door, then every package of it that says what it exports."""
    found = [f"alight.{one.name}" for one in pkgutil.iter_modules(alight.__path__) if one.ispkg]
    found.append("alight.campaign.dispersions")
    return ("alight", *(name for name in found if _exported(name)))


def _exported(room: str) -> list[str]:
    return list(getattr(importlib.import_module(room), "__all__", []))


ROOMS = _rooms()


def public_names(room: str) -> dict[str, Any]:
    """What a room exports, modules aside."""
    module = importlib.import_module(room)
    things = {name: getattr(module, name) for name in _exported(room)}
    return {n: thing for n, thing in things.items() if not isinstance(thing, types.ModuleType)}

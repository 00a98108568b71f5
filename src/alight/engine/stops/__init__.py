"""Stops: laws that say when a run ends, each with an ending of its own."""

from alight.engine.scene import Scene, scenes
from alight.engine.stops.law import StopLaw
from alight.engine.stops.shipped import (
    BelowHeight,
    HitCompanion,
    InRegion,
    OutOfRegion,
    SpinAbove,
)

__all__ = [
    "BelowHeight",
    "HitCompanion",
    "InRegion",
    "OutOfRegion",
    "Scene",
    "SpinAbove",
    "StopLaw",
    "scenes",
]

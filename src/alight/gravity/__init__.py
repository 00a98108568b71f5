"""Gravity laws: one interface, ``evaluate(points) -> potential, acceleration, gradient``."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.gravity.law import Gravity
    from alight.gravity.linearised import Linearised
    from alight.gravity.multipole import Multipole
    from alight.gravity.polyhedron.field import Polyhedron
    from alight.gravity.reduced import Reduced
    from alight.gravity.simple import PointMass, Uniform
    from alight.gravity.tabulated.cached_field import CachedField, CacheReport
    from alight.gravity.tabulated.smooth_field import SmoothField

__all__ = [
    "CacheReport",
    "CachedField",
    "Gravity",
    "Linearised",
    "Multipole",
    "PointMass",
    "Polyhedron",
    "Reduced",
    "SmoothField",
    "Uniform",
]

lazy.door(
    __name__,
    {
        "alight.gravity.law": "Gravity",
        "alight.gravity.linearised": "Linearised",
        "alight.gravity.multipole": "Multipole",
        "alight.gravity.polyhedron.field": "Polyhedron",
        "alight.gravity.reduced": "Reduced",
        "alight.gravity.simple": "PointMass Uniform",
        "alight.gravity.tabulated.cached_field": "CachedField CacheReport",
        "alight.gravity.tabulated.smooth_field": "SmoothField",
    },
)

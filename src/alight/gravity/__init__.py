"""Gravity laws: one interface, ``evaluate(points) -> potential, acceleration, gradient``."""

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

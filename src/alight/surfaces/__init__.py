"""Surfaces to touch: one interface, ``query(points) -> distance, normal``."""

from alight.surfaces.facets.surface import Facets
from alight.surfaces.field.distance_field import DistanceField, FieldReport
from alight.surfaces.law import Bends, Bounds, Sample, Surface
from alight.surfaces.noise.amplitude_map import AmplitudeMap
from alight.surfaces.noise.fractal import FractalNoise
from alight.surfaces.noise.surface import Rough
from alight.surfaces.parametric.surface import Parametric
from alight.surfaces.patch import Patch
from alight.surfaces.rocks.field import RockField
from alight.surfaces.rocks.population import Rocks
from alight.surfaces.rocks.surface import Rocky
from alight.surfaces.simple import Plane, Sphere

__all__ = [
    "AmplitudeMap",
    "Bends",
    "Bounds",
    "DistanceField",
    "Facets",
    "FieldReport",
    "FractalNoise",
    "Parametric",
    "Patch",
    "Plane",
    "RockField",
    "Rocks",
    "Rocky",
    "Rough",
    "Sample",
    "Sphere",
    "Surface",
]

"""Surfaces to touch: one interface, ``query(points) -> distance, normal``."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
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

lazy.door(
    __name__,
    {
        "alight.surfaces.facets.surface": "Facets",
        "alight.surfaces.field.distance_field": "DistanceField FieldReport",
        "alight.surfaces.law": "Bends Bounds Sample Surface",
        "alight.surfaces.noise.amplitude_map": "AmplitudeMap",
        "alight.surfaces.noise.fractal": "FractalNoise",
        "alight.surfaces.noise.surface": "Rough",
        "alight.surfaces.parametric.surface": "Parametric",
        "alight.surfaces.patch": "Patch",
        "alight.surfaces.rocks.field": "RockField",
        "alight.surfaces.rocks.population": "Rocks",
        "alight.surfaces.rocks.surface": "Rocky",
        "alight.surfaces.simple": "Plane Sphere",
    },
)

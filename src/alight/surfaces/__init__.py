"""Surfaces to touch: one interface, ``query(points) -> distance, normal``."""

from alight.surfaces.atlas import Atlas, LocalWorld
from alight.surfaces.distance_field import DistanceField, FieldReport
from alight.surfaces.facets import Facets
from alight.surfaces.law import Bends, Bounds, Sample, Surface
from alight.surfaces.noise import FractalNoise
from alight.surfaces.parametric import Parametric
from alight.surfaces.patch import Patch
from alight.surfaces.rock_field import RockField
from alight.surfaces.rocks import Rocks
from alight.surfaces.rocky import Rocky
from alight.surfaces.rough import Rough
from alight.surfaces.simple import Plane, Sphere
from alight.surfaces.variation import AmplitudeMap

__all__ = [
    "AmplitudeMap",
    "Atlas",
    "Bends",
    "Bounds",
    "DistanceField",
    "Facets",
    "FieldReport",
    "FractalNoise",
    "LocalWorld",
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

"""Surfaces to touch: one interface, ``query(points) -> distance, normal``."""

from alight.surfaces.distance_field import DistanceField, FieldReport
from alight.surfaces.law import Bounds, Sample, Surface
from alight.surfaces.noise import FractalNoise
from alight.surfaces.rough import Rough
from alight.surfaces.simple import Plane, Sphere
from alight.surfaces.variation import AmplitudeMap

__all__ = [
    "AmplitudeMap",
    "Bounds",
    "DistanceField",
    "FieldReport",
    "FractalNoise",
    "Plane",
    "Rough",
    "Sample",
    "Sphere",
    "Surface",
]

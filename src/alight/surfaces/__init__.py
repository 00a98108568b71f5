"""Surfaces to touch: one interface, ``query(points) -> distance, normal``."""

from alight.surfaces.distance_field import DistanceField, FieldReport
from alight.surfaces.law import Bounds, Sample, Surface
from alight.surfaces.simple import Plane, Sphere

__all__ = ["Bounds", "DistanceField", "FieldReport", "Plane", "Sample", "Sphere", "Surface"]

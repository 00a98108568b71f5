"""Vehicles: what lands. Rigid landers, their hulls and the points at which they touch."""

from alight.vehicles.points import hull_corners, spread
from alight.vehicles.rigid import RigidLander
from alight.vehicles.rigid_data import RigidBody

__all__ = ["RigidBody", "RigidLander", "hull_corners", "spread"]

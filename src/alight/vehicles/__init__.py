"""Vehicles: what lands. Rigid landers, their hulls, contact points; trees of bodies."""

from alight.vehicles.points import hull_corners, spread
from alight.vehicles.rigid import RigidLander
from alight.vehicles.rigid_data import RigidBody
from alight.vehicles.tree import Tree
from alight.vehicles.tree_parts import Joint, TreeBody
from alight.vehicles.urdf import read_urdf

__all__ = [
    "Joint",
    "RigidBody",
    "RigidLander",
    "Tree",
    "TreeBody",
    "hull_corners",
    "read_urdf",
    "spread",
]

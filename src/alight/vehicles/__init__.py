"""Vehicles: what lands. Rigid landers, their hulls, contact points; trees of bodies, devices."""

from alight.vehicles.branches import (
    Assembly,
    Branch,
    assemble,
    crushable_leg,
    flywheel,
    slosh_pendulum,
    slosh_spring,
    telescopic_leg,
)
from alight.vehicles.dcap import dcap_lander
from alight.vehicles.devices import Brake, Crushable, Motor, Pad, Schedule, Slosh, Thruster
from alight.vehicles.points import hull_corners, spread
from alight.vehicles.rigid import RigidLander
from alight.vehicles.rigid_data import RigidBody
from alight.vehicles.tree import Tree
from alight.vehicles.tree_parts import Joint, TreeBody
from alight.vehicles.urdf import read_urdf

__all__ = [
    "Assembly",
    "Brake",
    "Branch",
    "Crushable",
    "Joint",
    "Motor",
    "Pad",
    "RigidBody",
    "RigidLander",
    "Schedule",
    "Slosh",
    "Thruster",
    "Tree",
    "TreeBody",
    "assemble",
    "crushable_leg",
    "dcap_lander",
    "flywheel",
    "hull_corners",
    "read_urdf",
    "slosh_pendulum",
    "slosh_spring",
    "spread",
    "telescopic_leg",
]

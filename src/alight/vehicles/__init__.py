"""Vehicles: what lands. Rigid landers, their hulls, contact points; trees of bodies, devices."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.actuators import Brake, Motor, Schedule, Thruster
    from alight.vehicles.assembly import (
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
    from alight.vehicles.fittings import Belly, Crushable, Pad, Slosh
    from alight.vehicles.idefix import idefix_lander
    from alight.vehicles.rigid.contact_points import hull_corners, spread
    from alight.vehicles.rigid.data import RigidBody
    from alight.vehicles.rigid.lander import RigidLander
    from alight.vehicles.tree.parts import Joint, TreeBody
    from alight.vehicles.tree.tree import Tree
    from alight.vehicles.urdf import read_urdf
    from alight.vehicles.urdf_collision import read_urdf_bellies

__all__ = [
    "Assembly",
    "Belly",
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
    "idefix_lander",
    "read_urdf",
    "read_urdf_bellies",
    "slosh_pendulum",
    "slosh_spring",
    "spread",
    "telescopic_leg",
]

lazy.door(
    __name__,
    {
        "alight.actuators": "Brake Motor Schedule Thruster",
        "alight.vehicles.assembly": (
            "Assembly Branch assemble crushable_leg flywheel slosh_pendulum slosh_spring "
            "telescopic_leg"
        ),
        "alight.vehicles.dcap": "dcap_lander",
        "alight.vehicles.fittings": "Belly Crushable Pad Slosh",
        "alight.vehicles.idefix": "idefix_lander",
        "alight.vehicles.rigid.contact_points": "hull_corners spread",
        "alight.vehicles.rigid.data": "RigidBody",
        "alight.vehicles.rigid.lander": "RigidLander",
        "alight.vehicles.tree.parts": "Joint TreeBody",
        "alight.vehicles.tree.tree": "Tree",
        "alight.vehicles.urdf": "read_urdf",
        "alight.vehicles.urdf_collision": "read_urdf_bellies",
    },
)

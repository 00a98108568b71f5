"""Shapes of small bodies: meshes, their files, health and mass, spheres and simplification."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.shapes.icosphere import icosphere, sphere_points_mesh
    from alight.shapes.integrity.health import MeshHealth
    from alight.shapes.mass import MassProperties
    from alight.shapes.mesh import Mesh

__all__ = ["MassProperties", "Mesh", "MeshHealth", "icosphere", "sphere_points_mesh"]

lazy.door(
    __name__,
    {
        "alight.shapes.icosphere": "icosphere sphere_points_mesh",
        "alight.shapes.integrity.health": "MeshHealth",
        "alight.shapes.mass": "MassProperties",
        "alight.shapes.mesh": "Mesh",
    },
)

"""Shapes of small bodies: meshes, their files, health and mass, spheres and simplification."""

from alight.shapes.icosphere import icosphere, sphere_points_mesh
from alight.shapes.integrity.health import MeshHealth
from alight.shapes.mass import MassProperties
from alight.shapes.mesh import Mesh

__all__ = ["MassProperties", "Mesh", "MeshHealth", "icosphere", "sphere_points_mesh"]

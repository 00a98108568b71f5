"""Which surfaces a lander's whole hull can touch, and by which functions."""

import functools
from typing import Any

import warp as wp

from alight.contact.clearing import ball_clear, facets_clear
from alight.contact.proximity import nearest
from alight.contact.rock_clearing import rocky_clear
from alight.contact.rocky_hulls import rocky_functions
from alight.contact.touching import contacts
from alight.core import devices
from alight.core.types import vec3
from alight.surfaces import Facets, Rocky, Surface
from alight.surfaces.facets import facets_point
from alight.vehicles import RigidLander
from alight.vehicles.hull_data import hull_data, point_hull


def hull_functions(surface: Surface) -> tuple[Any, Any] | None:
    """``nearest`` and ``contacts`` for kernels, or None where only points can be looked up."""
    if isinstance(surface, Facets):
        return nearest, contacts
    if isinstance(surface, Rocky) and isinstance(surface.base, Facets):
        functions: tuple[Any, Any] = rocky_functions(
            surface.Data, surface.field.Scene, surface.field.settle
        )
        return functions
    return None


def is_ball(lander: RigidLander) -> bool:
    """Whether a lander touches as a ball, or a point: by its one contact point, not its hull."""
    return lander.n_points == 1


def clear_function(surface: Surface, ball: bool) -> Any:
    """``(ground, hull, flying) -> flying`` for kernels, of a surface with ``hull_functions``."""
    if isinstance(surface, Rocky):
        return rocky_clear(surface.Data, surface.field.Scene, surface.field.settle, ball)
    return ball_clear if ball else facets_clear


def depth_function(surface: Surface) -> Any:
    """``(ground, x) -> SurfacePoint`` for kernels: of the facets alone, without what is on them."""
    if not isinstance(surface, Rocky):
        return surface.point
    return _below_rocks(surface.Data)


@functools.cache
def _below_rocks(RockyData: Any) -> Any:
    @wp.func
    def below_rocks(ground: RockyData, x: vec3):
        return facets_point(ground.base, x)

    return below_rocks


def touching_hull(lander: RigidLander, device: devices.Device) -> Any:
    """The ``Hull`` that touches facets: of a ball nothing but its middle and its radius."""
    if not is_ball(lander):
        return hull_data(lander, device)
    hull = point_hull(device)
    hull.vertex = wp.array(lander.points, dtype=vec3, device=device.name)
    hull.center, hull.radius = vec3(*lander.points[0]), lander.bounding_radius
    return hull

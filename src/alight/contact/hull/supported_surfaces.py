"""Which surfaces a lander's whole hull can touch, and by which functions."""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.contact_list import HullContact
from alight.contact.hull.facet_contacts import contacts
from alight.contact.hull.proximity import nearest
from alight.contact.hull.rocky_ground import rocky_functions
from alight.contact.time_to_contact.facets import ball_clear, facets_clear
from alight.contact.time_to_contact.feature_pairs import FreeFlight
from alight.contact.time_to_contact.rocks import rocky_clear
from alight.core import devices
from alight.core.types import quat, scalar, vec3
from alight.surfaces import Facets, Rocky, Surface
from alight.surfaces.facets.surface import facets_point
from alight.surfaces.facets.triangles import MeshGround
from alight.surfaces.rocks.nearby_cache import NO_SHELF, ShelfSize, Shelves, shelf_size
from alight.vehicles import RigidLander
from alight.vehicles.rigid.hull_data import HullData, hull_data, point_hull

#: Where a whole hull can touch, for messages.
HULL_TOUCHES = (
    "a whole hull touches facets, with or without rocks but without hills (ground.kind = "
    '"facets" and no ground.noise in a scenario); elsewhere points touch: leave touch out'
)


def hull_functions(surface: Surface) -> tuple[Any, Any] | None:
    """``nearest`` and ``contacts`` for kernels, or None where only points can be looked up.

    ``contacts`` is given the shelves of ``rock_shelf`` last; without a row they are not used.
    """
    if isinstance(surface, Facets):
        return nearest, contacts_on_facets
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
    """``(ground, hull, shelves, slot, flying) -> flying`` for kernels.

    Of a surface with ``hull_functions``; as there, shelves without a row are not used.
    """
    if isinstance(surface, Rocky):
        return rocky_clear(surface.Data, surface.field.Scene, surface.field.settle, ball)
    return ball_clear_of_facets if ball else hull_clear_of_facets


@wp.func
def contacts_on_facets(
    ground: MeshGround,
    hull: HullData,
    position: vec3,
    attitude: quat,
    margin: scalar,
    found: wp.array2d(dtype=HullContact),
    slot: int,
    shelves: Shelves,
):
    """Those on bare facets, where nothing is on shelves."""
    return contacts(ground, hull, position, attitude, margin, found, slot)


@wp.func
def hull_clear_of_facets(
    ground: MeshGround, hull: HullData, shelves: Shelves, slot: int, given: FreeFlight
):
    """``given`` after bare facets."""
    return facets_clear(ground, hull, given)


@wp.func
def ball_clear_of_facets(
    ground: MeshGround, hull: HullData, shelves: Shelves, slot: int, given: FreeFlight
):
    """The same for a ball."""
    return ball_clear(ground, hull, given)


def shelf_of(surface: Surface, lander: RigidLander) -> ShelfSize:
    """How large the shelves of runs are; none where no rocks are made, or hulls do not touch."""
    if isinstance(surface, Rocky) and hull_functions(surface) is not None:
        return shelf_size(surface.field, lander.bounding_radius)
    return NO_SHELF


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
    """The ``HullData`` that touches facets: of a ball nothing but its middle and its radius."""
    if not is_ball(lander):
        return hull_data(lander, device)
    hull = point_hull(device)
    hull.vertex = wp.array(lander.points, dtype=vec3, device=device.name)
    hull.center, hull.radius = vec3(*lander.points[0]), lander.bounding_radius
    return hull

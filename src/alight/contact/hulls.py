"""Which surfaces a lander's whole hull can touch, and by which functions."""

from typing import Any

from alight.contact.proximity import nearest
from alight.contact.rocky_hulls import rocky_functions
from alight.contact.touching import contacts
from alight.surfaces import Facets, Rocky, Surface


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

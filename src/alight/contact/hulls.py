"""Which surfaces a lander's whole hull can touch, and by which functions."""

from typing import Any

from alight.contact.proximity import nearest
from alight.contact.touching import contacts
from alight.surfaces import Facets, Surface


def hull_functions(surface: Surface) -> tuple[Any, Any] | None:
    """``nearest`` and ``contacts`` for kernels, or None where only points can be looked up."""
    if isinstance(surface, Facets):
        return nearest, contacts
    return None

"""The lander of a scenario: a rigid one of the catalogue, a shape, a mesh, or a tree of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.scenario import landers
from alight.scenario.building import articulated_landers
from alight.scenario.building.articulated_landers import Articulated
from alight.scenario.schema.lander import LanderSection
from alight.shapes import Mesh
from alight.vehicles import RigidLander


def lander_of(section: LanderSection) -> RigidLander | Articulated:
    """What a section describes."""
    if section.is_tree:
        return articulated_landers.require(articulated_landers.articulated(section))
    options: dict[str, Any] = {"points": section.points}
    for name in ("extra_points", "center_of_mass", "inertia"):
        value = getattr(section, name)
        if value is not None:
            options[name.replace("_points", "")] = np.asarray(value, dtype=np.float64)
    if section.name is not None:
        return _catalogued(section.name, float(section.mass or 0.0), options)
    if section.shape == "mesh":
        solid: Any = {
            n: float(v) for n in ("mass", "density") if (v := getattr(section, n)) is not None
        }
        return RigidLander.from_mesh(Mesh.read(str(section.mesh), section.unit), **solid, **options)
    sizes = {n: getattr(section, n) for n in ("side", "size", "diameter", "height", "sides")}
    given = {n: v for n, v in sizes.items() if v is not None}
    make: Any = getattr(RigidLander, str(section.shape))
    return make(**given, mass=float(section.mass or 0.0), **options)


def _catalogued(name: str, mass: float, options: dict[str, Any]) -> RigidLander:
    """A lander of the catalogue, with another mass or other figures where they are given."""
    entry = landers.find(name)
    if mass == entry.mass and set(options) == {"points"}:
        return entry.rigid(options["points"])
    if entry.inertia is not None:
        options.setdefault("inertia", np.asarray(entry.inertia) * (mass / entry.mass))
    if entry.center_of_mass is not None:
        options.setdefault("center_of_mass", entry.center_of_mass)
    if entry.extra_points:
        options.setdefault("extra", entry.extra_points)
    make: Any = getattr(RigidLander, entry.kind)
    return make(**entry.dimensions, mass=mass, name=entry.name, **options)

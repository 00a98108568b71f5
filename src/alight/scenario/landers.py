"""The catalogue of landers: mass, size, inertia, contact points, each with its source.

``find("minerva-ii-1")`` gives a ``Lander``, whose ``rigid()`` is the vehicle to fly; ``names()``
lists them. The figures live in ``data/landers.toml`` beside their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from alight import vehicles
from alight.core.errors import InputError, unknown_name
from alight.scenario import catalogue
from alight.scenario.catalogue import Source

#: Figures of each kind of shape, in the order its maker takes them.
SHAPES: dict[str, tuple[str, ...]] = {
    "box": ("size_m",),
    "cylinder": ("diameter_m", "height_m", "sides"),
    "prism": ("sides", "diameter_m", "height_m"),
    "sphere": ("diameter_m",),
}


@dataclass(frozen=True)
class Lander:
    """A lander of the catalogue."""

    name: str
    designation: str
    aliases: tuple[str, ...]
    mass: float
    """[kg]"""
    kind: str
    """Its shape: box, cylinder, prism or sphere."""
    dimensions: Mapping[str, Any]
    """What the shape measures: size, diameter, height [m], sides."""
    inertia: tuple[float, float, float] | None = None
    """Moments about x, y, z [kg m^2]; None for a uniform solid."""
    center_of_mass: tuple[float, float, float] | None = None
    """From the middle of the hull [m]; None where it is the middle."""
    extra_points: tuple[tuple[float, float, float], ...] = ()
    """Contact points besides those of the hull, from its middle [m]."""
    notes: tuple[str, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    """Source of mass, size, inertia, and of the centre of mass and extra points where given."""

    def rigid(self, points: int | None = None) -> vehicles.RigidLander:
        """The lander as a rigid vehicle.

        ``points`` says how many contact points are spread over the hull; its corners if not
        given, and the exact ball of a sphere. Extra points come on top.
        """
        return _rigid(self.name, points)

    def __str__(self) -> str:
        return f"{self.designation}: {str(self.rigid()).partition(': ')[2]}"


@cache
def _rigid(name: str, points: int | None) -> vehicles.RigidLander:
    lander = find(name)
    make: Callable[..., vehicles.RigidLander] = getattr(vehicles.RigidLander, lander.kind)
    return make(
        **lander.dimensions,
        mass=lander.mass,
        name=lander.name,
        points=points,
        extra=lander.extra_points or None,
        inertia=lander.inertia,
        center_of_mass=lander.center_of_mass,
    )


def names() -> tuple[str, ...]:
    """Names of the landers in the catalogue."""
    return tuple(lander.name for lander in _catalogue().values())


def find(name: str) -> Lander:
    """The lander of that name or other designation, in any letter case."""
    return catalogue.find("lander", _catalogue().values(), name)


# -- reading the file --------------------------------------------------------------------------

_KEYS = (
    "name", "designation", "aliases", "mass_kg", "shape", "inertia_kg_m2", "center_of_mass_m",
    "extra_points_m", "notes", "sources",
)  # fmt: skip


@cache
def _catalogue() -> dict[str, Lander]:
    tables = catalogue.tables("landers.toml")
    return {key: _lander(table) for key, table in tables.items()}


def _lander(table: dict[str, Any]) -> Lander:
    """A lander from its table."""
    name = table["name"]
    catalogue.only(table, _KEYS, name)
    kind = table["shape"].get("kind", "")
    if kind not in SHAPES:
        raise unknown_name(f"shape of {name}", kind, SHAPES)
    measures = {key: value for key, value in table["shape"].items() if key != "kind"}
    catalogue.only(measures, SHAPES[kind], f"the {kind} of {name}")
    missing = [key for key in SHAPES[kind] if key not in measures]
    if missing:
        raise InputError(f"the {kind} of {name} lacks {', '.join(missing)}.")
    return Lander(
        name=name,
        designation=table["designation"],
        aliases=tuple(table["aliases"]),
        mass=float(table["mass_kg"]),
        kind=kind,
        dimensions={key.removesuffix("_m"): value for key, value in measures.items()},
        inertia=_triple(table.get("inertia_kg_m2")),
        center_of_mass=_triple(table.get("center_of_mass_m")),
        extra_points=tuple((x, y, z) for x, y, z in table.get("extra_points_m", ())),
        notes=tuple(table.get("notes", ())),
        sources=catalogue.sources(
            table,
            ("mass", "size", "inertia"),
            {"center_of_mass": "center_of_mass_m", "extra_points": "extra_points_m"},
        ),
    )


def _triple(values: list[float] | None) -> tuple[float, float, float] | None:
    if values is None:
        return None
    x, y, z = values
    return float(x), float(y), float(z)

"""The catalogue of landers: mass, size, inertia, contact points, each with its source.

``find("minerva-ii-1")`` gives a ``Lander``, whose ``rigid()`` is the vehicle to fly; ``names()``
lists them. The figures live in ``data/landers.toml`` beside their sources.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, get_args

from alight.core.errors import InputError, did_you_mean, unknown_name
from alight.scenario.bodies import Mark, Source
from alight.vehicles import RigidLander

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

    def rigid(self, points: int | None = None) -> RigidLander:
        """The lander as a rigid vehicle.

        ``points`` says how many contact points are spread over the hull; its corners if not
        given, and the exact ball of a sphere. Extra points come on top.
        """
        return _rigid(self.name, points)

    def __str__(self) -> str:
        return f"{self.designation}: {str(self.rigid()).partition(': ')[2]}"


@cache
def _rigid(name: str, points: int | None) -> RigidLander:
    lander = find(name)
    make: Callable[..., RigidLander] = getattr(RigidLander, lander.kind)
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
    wanted = _plain(str(name))
    for lander in _catalogue().values():
        if wanted in {_plain(a) for a in (lander.name, lander.designation, *lander.aliases)}:
            return lander
    known = [a for lander in _catalogue().values() for a in (lander.name, *lander.aliases)]
    raise InputError(
        f'unknown lander "{name}".{did_you_mean(name, known)} Known: {", ".join(names())}.'
    )


def _plain(name: str) -> str:
    """Letters and digits only, in lower case: "MINERVA-II-1" and "minerva ii1" are one."""
    return re.sub(r"[^0-9a-z]+", "", name.lower())


# -- reading the file --------------------------------------------------------------------------

_KEYS = {
    "name",
    "designation",
    "aliases",
    "mass_kg",
    "shape",
    "inertia_kg_m2",
    "center_of_mass_m",
    "extra_points_m",
    "notes",
    "sources",
}


@cache
def _catalogue() -> dict[str, Lander]:
    text = (resources.files("alight.scenario") / "data" / "landers.toml").read_text("utf-8")
    return {key: _lander(table) for key, table in tomllib.loads(text).items()}


def _lander(table: dict[str, Any]) -> Lander:
    """A lander from its table."""
    name = table["name"]
    _only(table, _KEYS, name)
    kind = table["shape"].get("kind", "")
    if kind not in SHAPES:
        raise unknown_name(f"shape of {name}", kind, SHAPES)
    measures = {key: value for key, value in table["shape"].items() if key != "kind"}
    _only(measures, set(SHAPES[kind]), f"the {kind} of {name}")
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
        sources=_sources(table),
    )


def _triple(values: list[float] | None) -> tuple[float, float, float] | None:
    if values is None:
        return None
    x, y, z = values
    return float(x), float(y), float(z)


def _sources(table: dict[str, Any]) -> dict[str, Source]:
    """Every figure must say where it comes from, and how far it can be trusted."""
    optional = {"center_of_mass": "center_of_mass_m", "extra_points": "extra_points_m"}
    figures = {"mass", "size", "inertia"}
    figures |= {figure for figure, key in optional.items() if key in table}
    given = table["sources"]
    if set(given) != figures:
        wrong = ", ".join(sorted(set(given) ^ figures))
        raise InputError(f"sources of {table['name']}: missing or unexpected {wrong}.")
    return {figure: _source(f"{figure} of {table['name']}", line) for figure, line in given.items()}


def _source(what: str, line: str) -> Source:
    marks: dict[str, Mark] = {mark: mark for mark in get_args(Mark)}
    mark, _, text = line.partition(": ")
    if mark not in marks or not text:
        raise InputError(
            f'source of {what} is "{line}"; it must start with '
            f"{', '.join(m + ':' for m in marks)} and go on with the source."
        )
    return Source(marks[mark], text)


def _only(table: Mapping[str, Any], allowed: set[str], kind: str) -> None:
    for key in table:
        if key not in allowed:
            raise unknown_name(f"key of {kind}", key, allowed)

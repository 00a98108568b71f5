"""The names that scenario files always know: laws, pushes and dispersions that are shipped.

The keys of the laws of [gravity], [ground] and [contact] stand in their sections; those of the
entries of lists are registered with them, as those of other packages are.
"""

from __future__ import annotations

from typing import Annotated, Any

from alight import flight
from alight.core.registry import registry
from alight.scenario.dispersion import KINDS
from alight.scenario.errors import Fault
from alight.scenario.field_types import ChoiceField, ListField, Measure
from alight.scenario.schema import stops
from alight.scenario.schema.section import Section

AXES = ("inertial", "target")


class SteadyKeys(Section):
    """A push that is the same everywhere."""

    acceleration: Annotated[Any, ListField(Measure(dimension="acceleration"))]
    axes: Annotated[str, ChoiceField(AXES)] = "inertial"


class TimedKeys(SteadyKeys):
    """A push that begins and ends."""

    start: Annotated[float, Measure(dimension="time", least=0)]
    end: Annotated[float, Measure(dimension="time", above=0)]

    def problems(self, where: str) -> list[Fault]:
        """It ends after it began."""
        if self.start < self.end:
            return []
        said = f"must be after start, {float(self.start):g} s; a push that never acts is a mistake"
        return [Fault(f"{where}.end", said)]


def timed(acceleration: Any, axes: str, start: float, end: float) -> flight.External:
    """The same push everywhere, from ``start`` to ``end`` [s]."""
    return flight.Timed(flight.SteadyPush(acceleration, axes), start, end)


def _add_laws() -> None:
    laws: dict[str, dict[str, tuple[Any, str]]] = {
        "gravity": {
            "smooth": ("alight.gravity:SmoothField", "a table of the polyhedron's field, smooth"),
            "polyhedron": ("alight.gravity:Polyhedron", "every facet of the shape"),
            "reduced": ("alight.gravity:Reduced", "the facets of a simpler shape"),
            "cached": ("alight.gravity:CachedField", "a table, with near facets exact"),
            "point-mass": ("alight.gravity:PointMass", "GM at the centre"),
            "uniform": ("alight.gravity:Uniform", "the same everywhere"),
        },
        "surface": {
            "distance-field": ("alight.surfaces:DistanceField", "distances to the shape on a grid"),
            "facets": ("alight.surfaces:Facets", "the triangles of the shape"),
            "parametric": ("alight.surfaces:Parametric", "a smooth series of radii"),
            "sphere": ("alight.surfaces:Sphere", "a sphere about the centre"),
            "plane": ("alight.surfaces:Plane", "a plane"),
            "patch": ("alight.surfaces:Patch", "a plate"),
        },
        "contact": {
            "compliant": ("alight.contact:Compliant", "springs and dampers"),
            "impulse": ("alight.contact:Impulse", "rigid hits"),
            "sliding": ("alight.contact:Sliding", "a point that slides"),
            "hertz": ("alight.contact:Hertz", "springs of Hertz under pads"),
        },
    }
    for kind, named in laws.items():
        for name, (make, text) in named.items():
            registry.add(kind, name, make, text=text)


def _add_pushes() -> None:
    steady = "the same acceleration everywhere"
    registry.add("external", "steady", "alight.flight:SteadyPush", keys=SteadyKeys, text=steady)
    registry.add("external", "timed", timed, keys=TimedKeys, text=f"{steady}, for some time")


def _add_stops() -> None:
    named: dict[str, tuple[Any, Any, str]] = {
        "below-height": (
            "alight.engine.stops:BelowHeight",
            stops.HeightKeys,
            "nearer to the ground than a height",
        ),
        "in-region": (stops.in_region, stops.RegionKeys, "on the ground in a region"),
        "out-of-region": (stops.out_of_region, stops.RegionKeys, "on the ground outside a region"),
        "hit-companion": (stops.hit_companion, stops.CompanionKeys, "inside the companion"),
        "spin-above": (
            "alight.engine.stops:SpinAbove",
            stops.SpinKeys,
            "turning faster than a rate",
        ),
    }
    for name, (make, keys, text) in named.items():
        registry.add("stop", name, make, keys=keys, text=text)


_add_laws()
_add_pushes()
_add_stops()
for _name in KINDS:
    registry.add("dispersion", _name, None, text="")

"""Regions of the ground in a scenario: [[ground.region]], a shape and properties of its own."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

import numpy as np

from alight import contact
from alight.core.errors import InputError
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import ListField, Measure, Number, TextField
from alight.scenario.schema.section import Section

#: Properties of the contact that a region may change, by a value or a factor.
PROPERTIES = ("restitution", "friction", "static_friction", "rolling_resistance")
#: Keys of a region whose values may differ between the runs of one model.
REGION_ARRAYS = tuple(name + end for name in PROPERTIES for end in ("", "_factor"))
#: Keys of each shape.
SHAPES = (
    ("latitude", "longitude", "angle"),
    ("latitude", "longitude", "radius"),
    ("center", "radius"),
    ("south", "north", "west", "east"),
    ("south", "north"),
    ("corners",),
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")

LATITUDE = Measure(dimension="angle", least=-math.pi / 2, most=math.pi / 2)
LONGITUDE = Measure(dimension="angle", least=-2 * math.pi, most=2 * math.pi)


def checked_name(text: str) -> str:
    """A name that can stand in a dotted key."""
    if not _NAME.fullmatch(text):
        raise InputError(f"found {told(text)}; it must be letters, digits, - and _ alone")
    return text


def factors_problems(where: str, rows: Any) -> list[Fault]:
    """Whether factors by latitude and longitude, where they are given, are a table."""
    widths = {len(row) for row in rows or ()}
    if rows is None or (len(rows) > 1 and len(widths) == 1 and min(widths) > 1):
        return []
    said = (
        f"found {len(rows)} rows of {sorted(widths)} factors; it must be at least 2 rows (from the "
        "south pole to the north) of equally many longitudes"
    )
    return [Fault(where, said)]


class RegionName(Section):
    """What regions go by."""

    name: Annotated[str, TextField(checked_name, ("pond",))]


class RegionShape(Section):
    """A part of the ground: a cap, a ball, a box or a polygon."""

    latitude: Annotated[float | None, LATITUDE] = None
    longitude: Annotated[float | None, LONGITUDE] = None
    angle: Annotated[float | None, Measure(dimension="angle", above=0, most=math.pi)] = None
    radius: Annotated[float | None, Measure(dimension="length", above=0)] = None
    center: Annotated[Any, ListField(Measure(dimension="length"))] = None
    south: Annotated[float | None, LATITUDE] = None
    north: Annotated[float | None, LATITUDE] = None
    west: Annotated[float | None, LONGITUDE] = None
    east: Annotated[float | None, LONGITUDE] = None
    corners: Annotated[Any, ListField(ListField(Measure(dimension="angle"), 2), 0)] = None

    @property
    def form(self) -> tuple[str, ...]:
        """The keys of its shape that are given."""
        known = dict.fromkeys(key for keys in SHAPES for key in keys)
        return tuple(key for key in known if getattr(self, key) is not None)

    def shape_problems(self, where: str, plane: bool) -> list[Fault]:
        """What is no shape, or does not go with the ground."""
        if set(self.form) not in [set(keys) for keys in SHAPES]:
            listed = "; or ".join(", ".join(keys) for keys in SHAPES)
            has = f"has {', '.join(self.form)}" if self.form else "has no shape"
            return [Fault(where, f"{has}; it must have {listed}")]
        if plane and "center" not in self.form:
            said = "needs a body about the origin, not a plane; there give center and radius"
            return [Fault(f"{where}.{self.form[0]}", said)]
        try:
            self.shape((0.0, 0.0, 1.0))
        except InputError as cause:
            return [Fault(where, str(cause))]
        return []

    def shape(self, place: Any) -> contact.Cap | contact.Ball | contact.Box | contact.Polygon:
        """Its shape; ``place`` [m] is where its latitude and longitude meet the ground."""
        if self.angle is not None:
            return contact.Cap(*self._floats("latitude", "longitude", "angle"))
        if self.radius is not None:
            middle = place if self.center is None else [float(v) for v in self.center]
            return contact.Ball(tuple(middle), float(self.radius))
        if self.corners is not None:
            return contact.Polygon([[float(v) for v in corner] for corner in self.corners])
        south, north = self._floats("south", "north")
        if self.west is None:
            return contact.Box(south, north, -math.pi, math.pi)
        return contact.Box(south, north, *self._floats("west", "east"))

    def _floats(self, *names: str) -> list[float]:
        return [float(getattr(self, name)) for name in names]


class RegionSection(RegionShape, RegionName):
    """A part of the ground with properties of its own."""

    restitution: Annotated[float | None, Number(above=0, most=1)] = None
    friction: Annotated[float | None, Number(least=0)] = None
    static_friction: Annotated[float | None, Number(least=0)] = None
    rolling_resistance: Annotated[float | None, Measure(dimension="length", least=0)] = None
    restitution_factor: Annotated[float | None, Number(above=0)] = None
    friction_factor: Annotated[float | None, Number(least=0)] = None
    static_friction_factor: Annotated[float | None, Number(least=0)] = None
    rolling_resistance_factor: Annotated[float | None, Number(least=0)] = None

    @property
    def where(self) -> str:
        """Its key in messages and dispersions."""
        return f"ground.region.{self.name}"

    def problems(self, plane: bool) -> list[Fault]:
        """What does not fit together, or with the ground."""
        found = self.shape_problems(self.where, plane)
        for name in PROPERTIES:
            if None not in (getattr(self, name), getattr(self, f"{name}_factor")):
                said = f"does not go with {name}; give one of them"
                found.append(Fault(f"{self.where}.{name}_factor", said))
        if all(getattr(self, name) is None for name in REGION_ARRAYS):
            listed = ", ".join(REGION_ARRAYS)
            found.append(Fault(self.where, f"changes nothing; give it one of {listed}"))
        return found

    def region(self, place: Any, arrays: dict[str, Any]) -> contact.Region:
        """The region; ``arrays`` hold what differs from run to run, by the keys of all."""
        numbers: dict[str, Any] = {}
        for name in REGION_ARRAYS:
            value = arrays.get(f"{self.where}.{name}")
            if value is not None:
                numbers[name] = np.asarray(value)[:, 0]
            elif getattr(self, name) is not None:
                numbers[name] = float(getattr(self, name))
        return contact.Region(self.name, self.shape(place), **numbers)

"""The dispersed values of runs as columns, with the units of the scenario's keys."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from alight.core.checks import Array
from alight.engine.columns import Column
from alight.scenario import Scenario
from alight.scenario.dispersion import MixedVector
from alight.scenario.document import Document
from alight.scenario.field_types import FieldType, ListField, Measure, Moments, OneOf
from alight.scenario.quantities import DIMENSIONS
from alight.scenario.schema.capture import DRAWN_SHAPE

#: Components of dispersed vectors, by their number.
_AXES: dict[int, tuple[str, ...]] = {
    2: ("latitude", "longitude"),
    3: ("x", "y", "z"),
    4: ("x", "y", "z", "w"),
    6: ("x", "y", "z", "vx", "vy", "vz"),
}


def drawn_columns(scenario: Any, values: Mapping[str, Array]) -> list[tuple[Column, Array]]:
    """A column for each dispersed number of a scenario or study, and its values."""
    # Which shape a capture has is among its own columns.
    told = {key: a for key, a in values.items() if key != DRAWN_SHAPE}
    units = {key: _units(scenario, key, a.shape[1] if a.ndim > 1 else 0) for key, a in told.items()}
    return input_columns(told, units)


def _units(scenario: Any, key: str, width: int) -> Sequence[str]:
    if not isinstance(scenario, Document):
        return [scenario.unit_of(key)] * max(1, width)
    return units_of(key, width, scenario.kind_here(key), cast(Hashable, type(scenario)))


def input_columns(
    values: Mapping[str, Array], units: Mapping[str, Sequence[str]]
) -> list[tuple[Column, Array]]:
    """A column for each dispersed number, named by its key in the scenario, and its values.

    ``units`` has one for each component.
    """
    out = []
    for key in sorted(values):
        array = values[key]
        if array.ndim == 1:
            out.append((Column(key, units[key][0], "as drawn"), array))
            continue
        width = array.shape[1]
        axes = _AXES.get(width, tuple(map(str, range(width))))
        if width == 2 and units[key][0] != "rad":
            axes = ("x", "y")
        for i, (axis, unit) in enumerate(zip(axes, units[key], strict=True)):
            out.append((Column(f"{key}_{axis}", unit, "as drawn"), array[:, i]))
    return out


@functools.cache
def units_of(
    key: str, width: int = 0, known: FieldType | None = None, document: type[Document] = Scenario
) -> tuple[str, ...]:
    """The SI unit of each component of a quantity of the scenario; "" for plain numbers.

    ``width`` is the number of components, 0 for a single number: some keys take either. ``known``
    is the kind of quantity where the scenario's laws decide it.
    """
    kind = document.kind_of(key, (0.0,) * width if width else 0.0)
    if isinstance(kind, OneOf) and known is not None:
        kind = known
    parts: Any = kind.kinds if isinstance(kind, MixedVector) else None
    if parts is None:
        parts = [kind.of if isinstance(kind, ListField | Moments) else kind] * max(1, width)
    return tuple(DIMENSIONS[p.dimension].si if isinstance(p, Measure) else "" for p in parts)

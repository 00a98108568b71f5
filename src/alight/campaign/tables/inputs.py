"""The dispersed values of runs as columns, with the units of the scenario's keys."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from typing import Any, cast

from alight.campaign.tables.landing import Column, input_columns
from alight.core.checks import Array
from alight.scenario import Scenario
from alight.scenario.dispersion import MixedVector
from alight.scenario.document import Document
from alight.scenario.field_types import FieldType, ListField, Measure, Moments, OneOf
from alight.scenario.quantities import DIMENSIONS


def drawn_columns(scenario: Any, values: Mapping[str, Array]) -> list[tuple[Column, Array]]:
    """A column for each dispersed number of a scenario, and its values."""
    document = cast(Hashable, type(scenario))
    units = {
        key: units_of(key, a.shape[1] if a.ndim > 1 else 0, scenario.kind_here(key), document)
        for key, a in values.items()
    }
    return input_columns(values, units)


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

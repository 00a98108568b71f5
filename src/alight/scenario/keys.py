"""What the keys of an extension are made of: a ``Section`` with one field for each key.

::

    from typing import Annotated
    from alight.scenario.keys import Measure, Number, Section

    class DumbbellKeys(Section):
        share: Annotated[float, Number(above=0, below=1)]
        distance: Annotated[float, Measure(dimension="length", above=0)]

A field without a default must be given; one whose default is None may be left out.
"""

from alight.scenario.dispersion import SPREAD, VALUE
from alight.scenario.errors import Fault
from alight.scenario.field_types import (
    ChoiceField,
    FieldType,
    ListField,
    Measure,
    Number,
    Switch,
    TextField,
    Whole,
)
from alight.scenario.quantities import DIMENSIONS, Quantity, in_si
from alight.scenario.schema.section import Section

__all__ = [
    "DIMENSIONS",
    "SPREAD",
    "VALUE",
    "ChoiceField",
    "Fault",
    "FieldType",
    "ListField",
    "Measure",
    "Number",
    "Quantity",
    "Section",
    "Switch",
    "TextField",
    "Whole",
    "in_si",
]

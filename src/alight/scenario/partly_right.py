"""What is right in a file that is wrong elsewhere, so that all mistakes are reported at once.

Tables are judged together only where each of them is right by itself. A value that is wrong is
taken out here, so that the others can be held against each other all the same: not where others
depend on it, as all do on the kind of ground.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from alight.scenario.document import Document

#: Tables and keys on which no value that may vary depends.
VARY_NOT = {"stop", "steps", "campaign", "record", "report", "requirement", "title", "seed"}
#: Tables that no other is held against.
APART = VARY_NOT | {"release", "contact", "approach"}
#: Keys that say what a table is about.
LEADING = ("kind", "law", "shape", "name", "mesh", "command")
#: Tables of which the mere presence of a key matters to others.
NEEDED = ("environment", "manoeuvre")


def right_part(
    document: type[Document], table: dict[str, Any], errors: Sequence[Any]
) -> Document | None:
    """The scenario without the values that pydantic's ``errors`` are about; None where others
    depend on them, or where it cannot do without."""
    places = [tuple(error["loc"]) for error in errors]
    if not all(_alone(place, error) for place, error in zip(places, errors, strict=True)):
        return None
    rest = copy.deepcopy(table)
    for place in places:
        if not _taken_out(rest, place):
            return None
    try:
        return document.model_validate(rest)
    except ValidationError:
        return None


def _alone(place: tuple[Any, ...], error: Any) -> bool:
    """Whether tables other than its own can be judged without this value."""
    if error["type"] == "missing" or any(isinstance(part, int) for part in place):
        return False
    if place[0] in APART:
        return True
    plain = error["type"] != "extra_forbidden" and place[-1] not in LEADING
    return len(place) > 1 and plain and place[0] not in NEEDED


def _taken_out(table: Any, place: tuple[Any, ...]) -> bool:
    """Whether the value there could be taken out of ``table``."""
    for part in place[:-1]:
        if not isinstance(table, dict) or part not in table:
            return False
        table = table[part]
    return isinstance(table, dict) and table.pop(place[-1], None) is not None

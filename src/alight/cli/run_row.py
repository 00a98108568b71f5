"""One run by the columns of campaigns, for ``alight run``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.engine.columns import Column, Source, filled
from alight.motions import Solution

if TYPE_CHECKING:
    from alight.motions import TreeSolution


def borne(solution: Solution | TreeSolution) -> list[tuple[Column, Any]]:
    """The loads of an articulated lander; none of a rigid one."""
    if isinstance(solution, Solution):
        return []
    from alight.motions.tree.columns import load_columns

    source = Source(solution, np.zeros(1, dtype=np.int64), solution.model)
    return [(column, column.values(source)[0]) for column in load_columns(solution.model)]


def row_of(solution: Solution | TreeSolution) -> dict[str, Any]:
    """The row of a campaign's table of runs, by its columns."""
    columns, place = solution.model.columns.runs, getattr(solution, "device", None)
    device = place.name if place is not None else "cpu"
    found = filled(columns, Source(solution.result, np.zeros(1, np.int64), solution.model, device))
    return {column.full_name: plain(found[column.name][0]) for column in columns}


def plain(value: Any) -> Any:
    """A value of a column for JSON, which has no nan: None where there is none."""
    if np.ma.is_masked(value):
        return None
    found = value.item() if isinstance(value, np.generic) else value
    return found if not isinstance(found, float) or math.isfinite(found) else None

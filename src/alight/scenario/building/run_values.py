"""Values of many runs: checked against a scenario, and sorted into those that can share a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.scenario.document import Document
from alight.scenario.field_types import Either


def checked_values(scenario: Document, values: dict[str, Any]) -> tuple[dict[str, Array], int]:
    """Values in SI units as (runs, width) arrays by dotted key, and the number of runs."""
    arrays = {key: _checked(scenario, key, value) for key, value in values.items()}
    counts = {len(a) for a in arrays.values()}
    if len(counts) > 1:
        raise InputError(f"values are given for different numbers of runs: {sorted(counts)}.")
    return arrays, counts.pop() if counts else 1


def _checked(scenario: Document, key: str, value: Any) -> Array:
    kind = scenario.varied_kind(key)
    if kind is None:
        scenario.kind_of(key)
        raise InputError(f"{key} cannot vary from run to run.")
    if scenario.kind_here(key) is None:
        raise InputError(scenario.unfit(key))
    width = np.size(scenario.number(key)) if isinstance(kind, Either) else kind.width
    array = np.asarray(value, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise InputError(
            f"values of {key} have shape {np.shape(value)}; it must be one row of {width} "
            "for each run."
        )
    return array


def settings(shared: dict[str, Array], count: int) -> list[tuple[dict[str, Any], NDArray[Any]]]:
    """Each different setting of the shared values, and the rows that have it."""
    if not shared:
        return [({}, np.arange(count))]
    table = np.concatenate(list(shared.values()), axis=1)
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    out = []
    for group in np.argsort(first, kind="stable"):
        row = int(first[group])
        setting = {k: a[row, 0] if a.shape[1] == 1 else a[row] for k, a in shared.items()}
        out.append((setting, np.flatnonzero(which == group)))
    return out


class ValueRows:
    """Rows of the values of some runs: those that differ, or the scenario's own for all."""

    def __init__(self, scenario: Any, arrays: dict[str, Array], which: slice) -> None:
        self._scenario, self._arrays, self._which = scenario, arrays, which

    def get(self, key: str) -> Array:
        """(n or 1, width) under a key."""
        if key in self._arrays:
            return self._arrays[key][self._which]
        return np.atleast_1d(np.asarray(self._scenario.number(key), dtype=np.float64))[None, :]

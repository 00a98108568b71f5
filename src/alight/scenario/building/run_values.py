"""Values of many runs: checked against a scenario, and sorted into those that can share a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.scenario.document import Document, component
from alight.scenario.field_types import Either


def checked_values(scenario: Document, values: dict[str, Any]) -> tuple[dict[str, Array], int]:
    """Values in SI units as (runs, width) arrays by dotted key, and the number of runs."""
    arrays = {key: _checked(scenario, key, value) for key, value in values.items()}
    arrays = with_components(arrays, partial(component, type(scenario)), scenario.number)
    counts = {len(a) for a in arrays.values()}
    if len(counts) > 1:
        raise InputError(f"values are given for different numbers of runs: {sorted(counts)}.")
    return arrays, counts.pop() if counts else 1


def with_components(
    arrays: dict[str, Array],
    component: Callable[[str], tuple[str, int] | None],
    number: Callable[[str], Any],
) -> dict[str, Array]:
    """The same with vectors where single components of them are given.

    ``component`` says which vector a key is a number of; ``number`` has the values as they stand.
    """
    out: dict[str, Array] = {}
    for key, array in arrays.items():
        part = component(key)
        if part is None:
            out[key] = array
            continue
        whole, index = part
        if whole not in out:
            nominal = np.asarray(number(whole), dtype=np.float64)
            out[whole] = np.array(np.broadcast_to(nominal, (len(array), nominal.size)))
        out[whole][:, index] = array[:, 0]
    return out


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


def getter(scenario: Any, arrays: dict[str, Array]) -> Callable[[str], Array]:
    """Gives the values under a key, (n or 1, width): those that differ, or the scenario's own."""

    def get(key: str) -> Array:
        if key in arrays:
            return arrays[key]
        return np.atleast_1d(np.asarray(scenario.number(key), dtype=np.float64))[None, :]

    return get


class PreparedCaught:
    """The scenario of a capture or drop; ``WITHIN`` are keys that may differ within a model."""

    WITHIN: ClassVar[set[str]]

    def __init__(self, scenario: Any, device: str) -> None:
        self.scenario, self.device = scenario, device

    def nominal(self) -> Any:
        """One run of the scenario as it stands, nothing dispersed."""
        return self.groups({})[0]

    def simulate(self, device: str = "cpu") -> Any:
        """One run of the scenario as it stands, with its trajectory."""
        return self.nominal().follow(device, float(self.scenario.record.every))

    def groups(self, values: dict[str, Any]) -> list[Any]:
        """The runs of ``values``: under each dotted key one row a run, in SI units.

        Runs that differ in keys of ``WITHIN`` share a model; any other key makes a model for each
        of its values.
        """
        return self.grouped(*checked_values(self.scenario, values))

    def grouped(self, arrays: dict[str, Array], count: int) -> list[Any]:
        """The same of values that are checked."""
        own = {k: a for k, a in arrays.items() if k in self.WITHIN}
        shared = {k: a for k, a in arrays.items() if k not in own}
        return [
            self._group(setting, {k: a[rows] for k, a in own.items()}, rows)
            for setting, rows in settings(shared, count)
        ]

    def _group(self, setting: dict[str, Any], arrays: dict[str, Array], rows: Any) -> Any:
        """The runs of one model."""
        raise NotImplementedError

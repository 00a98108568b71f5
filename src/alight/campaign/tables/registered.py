"""Columns of other packages, which scenario files name under ``record.columns``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from alight.core.errors import InputError
from alight.core.registry import registry
from alight.engine.columns import Column

_KINDS = {"f": "float", "i": "int64", "u": "int64", "b": "bool", "U": "text", "O": "text"}


def registered_columns(
    names: Iterable[str], columns: Sequence[Column], data: Mapping[str, Any]
) -> list[tuple[Column, Any]]:
    """The named columns with their values, made of the columns that a table has already.

    ``data`` has the values of ``columns`` by their names without units.
    """
    wanted = list(names)
    if not wanted:
        return []
    rows = {column.full_name: _whole(data[column.name]) for column in columns}
    return [_made(name, rows) for name in wanted]


def _whole(values: Any) -> Any:
    """Values as a function reads them: nan where they are empty."""
    masked = isinstance(values, np.ma.MaskedArray)
    return values.astype(np.float64).filled(np.nan) if masked else np.asarray(values)


def _made(name: str, rows: Mapping[str, Any]) -> tuple[Column, Any]:
    entry, count = registry.find("column", name), len(next(iter(rows.values())))
    try:
        values = np.asarray(entry.make(rows))
    except KeyError as cause:
        raise InputError(
            f'the column "{name}" of package {entry.package} asks for a column {cause} that this '
            "table does not have."
        ) from cause
    if values.shape != (count,) or values.dtype.kind not in _KINDS:
        raise InputError(
            f'the column "{name}" of package {entry.package} gives an array of shape '
            f"{values.shape} and type {values.dtype}; it must give one number for each of the "
            f"{count} runs."
        )
    kind = _KINDS[values.dtype.kind]
    unit = getattr(entry, "unit", "") or getattr(entry.make, "unit", "")
    column = Column(name, str(unit), entry.text, kind=kind)
    if kind == "float" and np.isnan(values).any():
        values = np.ma.masked_array(values, mask=np.isnan(values))
    return column, values.astype(object) if kind == "text" else values

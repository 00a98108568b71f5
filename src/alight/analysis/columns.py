"""Columns of stored tables as arrays, gathered batch by batch.

A table is a mapping of names to columns, a ``pyarrow.Table`` or a ``RecordBatch``; a function that
takes tables takes one of them or any iterable of them, such as the shards of a campaign. Only the
columns that are asked for are kept: 8 bytes a row and column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.errors import InputError, unknown_name

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: Arrow's names of the numbers whose memory NumPy can share.
NUMBERS = (
    "double",
    "float",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def batches(tables: Any) -> Iterator[Any]:
    """Each table of ``tables``, which may be a single one."""
    if isinstance(tables, Mapping) or hasattr(tables, "schema"):
        yield tables
    elif isinstance(tables, Iterable):
        yield from tables
    else:
        raise InputError(
            f"a table is needed, not {type(tables).__name__}: a mapping of column names to arrays, "
            "a pyarrow Table or RecordBatch, or an iterable of these"
        )


def column_names(table: Any) -> list[str]:
    """Names of a table's columns."""
    return list(table) if isinstance(table, Mapping) else list(table.schema.names)


def column(table: Any, name: str) -> Array:
    """One column as float64; where it is empty, nan."""
    if name not in (known := column_names(table)):
        raise unknown_name("column", name, known)
    found = table[name] if isinstance(table, Mapping) else table.column(name)
    if isinstance(found, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(found), np.nan, found.data.astype(np.float64))
    try:
        return np.asarray(_shared(found), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f'column "{name}" does not hold numbers') from None


def _shared(found: Any) -> Any:
    """A column of Arrow as an array of its memory, nan where it is empty: Arrow's own way loads
    pandas first. Whatever else there is as it is."""
    if not hasattr(found, "null_count") or str(found.type) not in (*NUMBERS, "bool"):
        return found
    parts = [_values(part) for part in getattr(found, "chunks", [found]) if len(part)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts or [np.empty(0)])


def _values(part: Any) -> Any:
    known, data = part.buffers()
    own = slice(part.offset, part.offset + len(part))
    if str(part.type) == "bool":
        values = _bits(data, own)
    else:
        values = np.frombuffer(data, part.type.to_pandas_dtype())[own]
    return np.where(_bits(known, own), values, np.nan) if part.null_count else values


def _bits(data: Any, own: slice) -> Bools:
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[own].astype(np.bool_)


def arrow_table(given: Mapping[str, npt.NDArray[Any]]) -> Any:
    """A ``pyarrow.Table`` of columns of numbers, nan being kept: as ``pyarrow.table`` makes it,
    which would load pandas first."""
    import pyarrow as pa

    def column(values: npt.NDArray[Any]) -> Any:
        kind = pa.from_numpy_dtype(values.dtype)
        data = pa.py_buffer(np.ascontiguousarray(values))
        return pa.Array.from_buffers(kind, len(values), [None, data])

    return pa.Table.from_arrays([column(values) for values in given.values()], list(given))


def gather(tables: Any, names: Sequence[str]) -> dict[str, Array]:
    """The columns ``names`` of all tables, end to end."""
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for table in batches(tables):
        for name in names:
            parts[name].append(column(table, name))
    return {name: np.concatenate(found or [np.empty(0)]) for name, found in parts.items()}


def points(columns: Mapping[str, Array], prefix: str, unit: str = "m") -> Array:
    """(n, 3) from the columns ``<prefix>x_<unit>``, y and z."""
    return np.stack([columns[f"{prefix}{axis}_{unit}"] for axis in "xyz"], axis=1)


def point_names(prefix: str, unit: str = "m") -> list[str]:
    """Names of the three columns that ``points`` puts together."""
    return [f"{prefix}{axis}_{unit}" for axis in "xyz"]

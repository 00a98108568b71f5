"""Tables as Arrow and Parquet have them, from columns and their values.

Files are written with fixed settings and no date, so that equal runs make equal bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from alight.engine.columns import Column, Source, filled

#: Rows that a reader gets at a time, at most.
ROW_GROUP = 65_536

#: Types by the words that columns have for them.
_TYPES = {
    "float": pa.float64(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "text": pa.string(),
}


@functools.lru_cache(maxsize=1024)
def field_of(column: Column) -> Any:
    """A column as Arrow knows it, with its unit beside it."""
    return pa.field(column.full_name, _TYPES[column.kind], metadata={"unit": column.unit})


def table_from(columns: Iterable[Column], source: Source) -> Any:
    """The table of some columns of what was found."""
    listed = list(columns)
    return table_of(listed, filled(listed, source))


def table_of(columns: Iterable[Column], data: Mapping[str, Any]) -> Any:
    """The table of some columns, whose values stand in ``data`` by their names without units.

    A single value stands for every row.
    """
    listed = list(columns)
    fields = [field_of(column) for column in listed]
    rows = max(
        (len(data[column.name]) for column in listed if len(data[column.name]) != 1), default=-1
    )
    arrays = []
    for column, entry in zip(listed, fields, strict=True):
        given = data[column.name]
        if len(given) == 1 and rows >= 0:
            given = np.repeat(given, rows)
        arrays.append(_array(given, entry.type))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _array(given: Any, kind: Any) -> Any:
    # Fields are copied one by one: records of the engine have padding, which holds anything.
    if isinstance(given, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(given)
        return pa.array(np.where(mask, 0.0, given.data), kind, mask=mask)
    return pa.array(np.ascontiguousarray(given), kind)


def to_bytes(table: Any) -> bytes:
    """A table as a Parquet file; the same bytes for the same table."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=ROW_GROUP,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=3,
        use_dictionary=["outcome"] if "outcome" in table.column_names else False,
        write_statistics=True,
        store_schema=True,
    )
    return bytes(sink.getvalue())

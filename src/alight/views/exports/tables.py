"""Tables for spreadsheets and data frames: CSV and Parquet, a shard at a time.

Names of columns end in their units; Parquet has units and what the file is of as metadata. CSV has
no place for either: ``columns.csv`` beside it lists units.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from alight.core.errors import InputError
from alight.views.exports.names import one_line

CSV, PARQUET = "csv", "parquet"


def write_tables(
    named: Iterable[tuple[str, Iterable[Any]]], folder: Path, kind: str, notes: Sequence[str]
) -> list[Path]:
    """Write tables, each given by its name and its parts, ``pyarrow.Table``s of equal columns."""
    written, schemas = [], {}
    for name, parts in named:
        written.append(folder / f"{name}.{kind}")
        schemas[name] = _write(written[-1], parts, notes)
    if kind == CSV:
        written.append(folder / "columns.csv")
        _write(written[-1], [_units(schemas, notes)], notes)
    return written


def _write(path: Path, parts: Iterable[Any], notes: Sequence[str]) -> Any:
    """Write one table by the ending of its file; its schema."""
    rest = iter(parts)
    first = next(rest, None)
    if first is None:
        raise InputError("no shard is finished yet: there is nothing to export.")
    said = {f"alight.note_{i}": one_line(note, 1000) for i, note in enumerate(notes)}
    schema = first.schema.with_metadata(said)
    with _writer(path, schema) as out:
        for part in itertools.chain([first], rest):
            out.write_table(part.replace_schema_metadata(schema.metadata))
    return schema


def _writer(path: Path, schema: Any) -> Any:
    if path.suffix == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(str(path), schema)
    import pyarrow.parquet as pq

    return pq.ParquetWriter(str(path), schema, compression="zstd")


def _units(schemas: dict[str, Any], notes: Sequence[str]) -> Any:
    """Which unit each column of each table has, and what they are of."""
    import pyarrow as pa

    rows = [("", "note", "", one_line(note, 1000)) for note in notes]
    for table, schema in schemas.items():
        for field in schema:
            unit = (field.metadata or {}).get(b"unit", b"").decode()
            rows.append((table, field.name, unit, str(field.type)))
    names = ("table", "column", "unit", "type")
    return pa.table([list(values) for values in zip(*rows, strict=True)], names=names)

"""Tables that users bring: CSV and Parquet files whose headers say the unit of each column.

``x [km]`` is a column ``x`` in kilometres; of a Parquet file the unit may also stand in the
metadata of the column, as Alight's own tables have it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.files import MOST_BYTES, read_bounded
from alight.scenario import quantities
from alight.scenario.errors import told
from alight.scenario.quantities import DIMENSIONS

_HEAD = re.compile(r"\s*(.*?)\s*(?:\[\s*([^\]]*?)\s*\])?\s*")


@dataclass(frozen=True, eq=False)
class FileColumn:
    """One column: as the file has it."""

    name: str
    unit: str
    """Empty where the file says none."""
    values: Any
    """(n,) numbers, or texts."""

    def numbers(self) -> Array:
        """(n,) its numbers, all finite."""
        try:
            found = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            first = next((v for v in self.values if not _is_number(v)), "")
            raise InputError(
                f'column "{self.name}" has {told(str(first))}; numbers are needed'
            ) from None
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            raise InputError(f'column "{self.name}" has no finite number in row {bad[0]}')
        return found

    def in_si(self, dimension: str | None) -> Array:
        """(n,) its numbers in SI units; None: of a number without a unit."""
        if dimension is None:
            if self.unit not in ("", "1"):
                raise InputError(f'column "{self.name}" is in {self.unit}, and has no unit here')
            return self.numbers()
        example = DIMENSIONS[dimension].example.partition(" ")[2]
        if not self.unit:
            raise InputError(
                f'column "{self.name}" has no unit; write it into the header: "{self.name} '
                f'[{example}]"'
            )
        try:
            size = float(quantities.read(f"1 {self.unit}", dimension))
        except InputError as cause:
            raise InputError(f'column "{self.name}": {cause}') from None
        # One by one as scenario files are read: the same number has the same bits in both.
        return np.array([v * size for v in self.numbers().tolist()])


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def read_table(path: Path) -> dict[str, FileColumn]:
    """The columns of a CSV or Parquet file, by name."""
    data = read_bounded(path, MOST_BYTES, "the table")
    try:
        table = _parquet(data) if path.suffix.lower() == ".parquet" else _csv(data)
    except (ValueError, OSError, UnicodeDecodeError) as cause:
        raise InputError(f"is no table: {' '.join(str(cause).split())}") from None
    found: dict[str, FileColumn] = {}
    for field, values in table:
        match = _HEAD.fullmatch(field.name)
        name, unit = (match.group(1), match.group(2) or "") if match else (field.name, "")
        unit = unit or (field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace")
        if name in found:
            raise InputError(f'has two columns "{name}"')
        found[name] = FileColumn(name, unit, values)
    if not found or not len(next(iter(found.values())).values):
        raise InputError("has no rows; it must have a header and a row for each run")
    return found


def _parquet(data: bytes) -> list[tuple[Any, Any]]:
    import io

    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(data))
    return [(f, table.column(i).to_pylist()) for i, f in enumerate(table.schema)]


def _csv(data: bytes) -> list[tuple[Any, Any]]:
    """Text with commas; lines that begin with # are remarks."""
    import io

    import pyarrow.csv as pc

    lines = [s for s in data.splitlines() if s.strip() and not s.lstrip().startswith(b"#")]
    table = pc.read_csv(io.BytesIO(b"\n".join(lines) + b"\n"))
    return [(f, table.column(i).to_pylist()) for i, f in enumerate(table.schema)]


def needed(table: dict[str, FileColumn], name: str) -> FileColumn:
    """The column of that name."""
    if name not in table:
        raise InputError(
            f'has no column "{name}"; add one, with its unit. It has {", ".join(table)}.'
        )
    return table[name]

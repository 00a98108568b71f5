"""Dispersions of several keys at once: ``[[dispersions.group]]`` and ``[[dispersions.table]]``.

A group is normal with a covariance; a table has samples that somebody else has drawn, a row a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.errors import AlightError, InputError, did_you_mean
from alight.core.files import MOST_BYTES, read_bounded
from alight.core.paths import check_text, user_path
from alight.scenario.dispersion import TABLE, Dispersion, MixedVector, read_as_vector
from alight.scenario.errors import Fault, told
from alight.scenario.field_types import ChoiceField, FieldType, ListField, Measure, _Range
from alight.scenario.table_files import FileColumn, read_table

GROUP, LISTS = "group", ("group", "table")
BY_RUN, RANDOM = "by run", "random"
_GROUP_KEYS = ("keys", "kind", "matrix", "sigma", "correlation")
_TABLE_KEYS = ("file", "rows", "sha256")

#: ``(key) -> kind, value`` of a key that may vary; an InputError says why it may not.
Look = Callable[[str], tuple[FieldType, Any]]


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows of values in SI units, known by the digest of their file."""

    rows: Array = field(repr=False)
    sha256: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Samples) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __len__(self) -> int:
        return len(self.rows)


def joined(keys: list[str]) -> str:
    """The name that a joint dispersion of these keys goes by."""
    return " + ".join(sorted(keys))


# -- groups ----------------------------------------------------------------------------------------


def read_group(number: int, table: Any, look: Look) -> tuple[Dispersion | None, list[Fault]]:
    """The correlated group that a table describes, and what is wrong."""
    where = f"dispersions.{GROUP}.{number}"
    found = _wrong_keys(where, table, _GROUP_KEYS)
    if found:
        return None, found
    keys = table.get("keys")
    several = isinstance(keys, list) and len(keys) > 1 and all(isinstance(k, str) for k in keys)
    if not several or len(set(keys)) < len(keys):
        said = 'must list two or more keys that vary together: ["release.velocity", '
        said += '"contact.friction"]; one alone stands under [dispersions]'
        return None, [Fault(f"{where}.keys", f"found {told(keys)}; it {said}")]
    kinds: list[FieldType] = []
    nominal: list[float] = []
    parts: list[tuple[str, int]] = []
    for key in keys:
        try:
            kind, value = look(key)
            items, numbers = _components(key, kind, value)
        except InputError as cause:
            found.append(Fault(f"{where}.keys", str(cause)))
            continue
        kinds += items
        nominal += numbers
        parts.append((key, len(items)))
    if found:
        return None, found
    rest = {"kind": "covariance", **{k: v for k, v in table.items() if k != "keys"}}
    labels = tuple(key for key, count in parts for _ in range(count))
    made, found = read_as_vector(where, MixedVector(tuple(kinds), labels), rest, nominal)
    if made is None:
        return None, found
    return replace(made, key=joined(keys), parts=tuple(parts), written=dict(table)), found


def _components(key: str, kind: FieldType, value: Any) -> tuple[list[FieldType], list[float]]:
    """The kinds and values of the numbers under a key."""
    if key.endswith(".attitude"):
        raise InputError(f"{key} is a quaternion, whose numbers are tied; take angles instead")
    if value is None:
        raise InputError(f"the scenario has no value under {key} for it to vary about")
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64)).tolist()
    if isinstance(kind, MixedVector):
        return list(kind.kinds), numbers
    if isinstance(kind, ListField):
        return [kind.of] * kind.width, numbers
    return [kind], numbers


# -- tables of samples -----------------------------------------------------------------------------


def read_samples(
    number: int, table: Any, look: Look, folder: Path
) -> tuple[Dispersion | None, list[Fault]]:
    """The samples in a file that a table names, and what is wrong."""
    where = f"dispersions.table.{number}"
    found = _wrong_keys(where, table, _TABLE_KEYS)
    if found:
        return None, found
    try:
        rows = ChoiceField((BY_RUN, RANDOM)).read(table.get("rows", BY_RUN))
    except InputError as cause:
        return None, [Fault(f"{where}.rows", str(cause))]
    try:
        path, digest = _located(table.get("file"), folder)
        if table.get("sha256", digest) != digest:
            said = f"{told(table['file'])} has changed since the scenario was made: it is {digest}"
            return None, [Fault(f"{where}.sha256", said)]
        keys, values, wrong = _columns(path, look)
    except AlightError as cause:
        return None, [Fault(f"{where}.file", f"{' '.join(str(cause).split())}")]
    if wrong:
        return None, [Fault(f"{where}.file", text) for text in wrong]
    written = {"file": path.as_posix(), "sha256": digest, "rows": rows}
    made = Dispersion(
        *(joined(keys), TABLE, len(keys)),
        parts=tuple((key, 1) for key in keys),
        samples=Samples(values, digest),
        random=rows == RANDOM,
        written=written,
    )
    return made, []


def _located(given: Any, folder: Path) -> tuple[Path, str]:
    if not isinstance(given, str):
        raise InputError(f'found {told(given)}; it must name a file, such as "samples.csv"')
    if not given.lower().endswith((".csv", ".parquet")):
        raise InputError(f"found {told(given)}; it must end in .csv or .parquet")
    path = check_text((folder / user_path(given, "file")).resolve())
    return path, hashlib.sha256(read_bounded(path, MOST_BYTES, "the table")).hexdigest()


def _columns(path: Path, look: Look) -> tuple[list[str], Array, list[str]]:
    """The keys that a file has columns of, their values in SI units, and what is wrong."""
    columns: list[Array] = []
    wrong: list[str] = []
    table = read_table(path)
    for name, one in table.items():
        try:
            columns.append(_column(name, one, look))
        except InputError as cause:
            wrong.append(" ".join(str(cause).split()))
    return list(table), np.empty((0, 0)) if wrong else np.stack(columns, axis=1), wrong


def _column(name: str, one: FileColumn, look: Look) -> Array:
    """The values of one column in SI units."""
    kind, _ = look(name)
    if kind.width != 1:
        raise InputError(
            f'column "{name}" is of a vector; give a column for each component, such as "{name}.x"'
        )
    numbers = one.in_si(kind.dimension if isinstance(kind, Measure) else None)
    if isinstance(kind, _Range):
        for value in (float(numbers.min()), float(numbers.max())):
            kind._within(value, f'{value:g} in column "{name}"')
    return numbers


def _wrong_keys(where: str, table: Any, known: tuple[str, ...]) -> list[Fault]:
    if not isinstance(table, dict):
        name = where.rpartition(".")[0]
        return [Fault(where, f"found {told(table)}; it must be a table: [[{name}]] above its keys")]
    listed = ", ".join(known)
    return [
        Fault(f"{where}.{key}", f"unknown key.{did_you_mean(key, known)} Known here: {listed}.")
        for key in table
        if key not in known
    ]

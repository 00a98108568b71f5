"""Ground maps in files: CSV with a line for each node, or NPZ with an array for each property."""

from __future__ import annotations

import csv
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from alight.contact.ground import GroundMap
from alight.contact.local import PROPERTIES
from alight.core.checks import Array
from alight.core.errors import FileError, InputError, did_you_mean

#: Columns of a CSV file, or arrays of an NPZ file, that say where nodes are.
PLACES = ("latitude_deg", "longitude_deg")
#: Most nodes of a map: a tenth of a degree all over the body.
MOST_NODES = 10_000_000


def read_map(path: str | os.PathLike[str]) -> GroundMap:
    """The map in a ``.csv`` or ``.npz`` file; what is wrong with it is told with the file's name.

    CSV: a header with ``latitude_deg``, ``longitude_deg`` and one or more of ``PROPERTIES``, then a
    line for each node of a grid, in any order; lines that begin with # are skipped. NPZ: arrays of
    the same names, two of them axes and the others tables (latitudes, longitudes).
    """
    file = Path(path)
    readers = {".csv": _read_csv, ".npz": _read_npz}
    if file.suffix.lower() not in readers:
        raise InputError(f'"{file}" is no ground map: its name must end in .csv or .npz.')
    try:
        latitudes, longitudes, tables = readers[file.suffix.lower()](file)
        return GroundMap(tables, np.radians(latitudes), np.radians(longitudes))
    except UnicodeDecodeError:
        raise InputError(f'"{file}" is not UTF-8 text.') from None
    except OSError as cause:
        raise FileError(
            f'cannot read the ground map "{file}": {cause.strerror or cause}.'
        ) from None
    except InputError as cause:
        raise InputError(f'"{file}": {cause}') from None


def _checked_names(names: list[str], noun: str) -> list[str]:
    """The properties among the names of a file."""
    known = (*PLACES, *PROPERTIES)
    for name in names:
        if name not in known:
            raise InputError(
                f'unknown {noun} "{name}"; known are {", ".join(known)}.{did_you_mean(name, known)}'
            )
        if names.count(name) > 1:
            raise InputError(f'the {noun} "{name}" stands there twice.')
    for name in PLACES:
        if name not in names:
            raise InputError(f'has no {noun} "{name}".')
    found = [name for name in names if name in PROPERTIES]
    if not found:
        raise InputError(f"has no {noun} with factors; give one of {', '.join(PROPERTIES)}.")
    return found


# -- CSV -------------------------------------------------------------------------------------------


def _read_csv(file: Path) -> tuple[Array, Array, dict[str, Array]]:
    with file.open(newline="", encoding="utf-8-sig") as stream:
        lines = [
            (number, [cell.strip() for cell in next(csv.reader([line]))])
            for number, line in enumerate(stream, start=1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
    if not lines:
        raise InputError(
            "is empty; it must begin with a header such as latitude_deg,longitude_deg,friction."
        )
    names = lines[0][1]
    found = _checked_names(names, "column")
    if not 2 <= len(lines) <= MOST_NODES:
        raise InputError(f"has {len(lines) - 1} nodes; a map has between 2 and {MOST_NODES}.")
    rows = np.array([_numbers(names, number, cells) for number, cells in lines[1:]])
    columns = dict(zip(names, rows.T, strict=True))
    latitudes, i = np.unique(columns[PLACES[0]], return_inverse=True)
    longitudes, j = np.unique(columns[PLACES[1]], return_inverse=True)
    _all_there(latitudes, longitudes, i, j)
    tables = {}
    for name in found:
        tables[name] = np.empty((len(latitudes), len(longitudes)))
        tables[name][i, j] = columns[name]
    return latitudes, longitudes, tables


def _numbers(names: list[str], number: int, cells: list[str]) -> list[float]:
    if len(cells) != len(names):
        raise InputError(
            f"line {number} has {len(cells)} entries; the header names {len(names)} columns."
        )
    out = []
    for name, cell in zip(names, cells, strict=True):
        try:
            value = float(cell)
        except ValueError:
            value = np.nan
        least = "" if name in PLACES else " of at least 0"
        if name == "restitution":
            least = " above 0"
        low = name in PROPERTIES and (value < 0.0 or (name == "restitution" and value == 0.0))
        if not np.isfinite(value) or low:
            raise InputError(
                f'line {number}: {name} is "{cell}"; it must be a finite number{least}.'
            )
        out.append(value)
    return out


def _all_there(latitudes: Array, longitudes: Array, i: Any, j: Any) -> None:
    """Every node of the grid once."""
    count = np.zeros((len(latitudes), len(longitudes)), dtype=np.int64)
    np.add.at(count, (i, j), 1)
    for bad, said in ((count > 1, "given twice"), (count == 0, "missing")):
        if bad.any():
            a, b = np.argwhere(bad)[0]
            raise InputError(
                f"{int(bad.sum())} of {bad.size} nodes are {said}, the first at latitude "
                f"{latitudes[a]:g}, longitude {longitudes[b]:g}; a map is a grid, here of "
                f"{len(latitudes)} latitudes by {len(longitudes)} longitudes, with one line for "
                "each node."
            )


# -- NPZ -------------------------------------------------------------------------------------------


def _read_npz(file: Path) -> tuple[Array, Array, dict[str, Array]]:
    try:
        with np.load(file, allow_pickle=False) as stored:
            found = _checked_names(list(stored.files), "array")
            arrays = {name: np.asarray(stored[name], dtype=np.float64) for name in stored.files}
    except (ValueError, TypeError, zipfile.BadZipFile, EOFError) as cause:
        raise InputError(f"is no NPZ file of numbers: {cause}.") from None
    shape = tuple(arrays[name].size for name in PLACES)
    for name in PLACES:
        if arrays[name].ndim != 1:
            raise InputError(f"{name} has shape {arrays[name].shape}; it must be a list of angles.")
    for name in found:
        if arrays[name].shape != shape:
            raise InputError(
                f"{name} has shape {arrays[name].shape}; by its axes it must be {shape}."
            )
    return arrays[PLACES[0]], arrays[PLACES[1]], {name: arrays[name] for name in found}

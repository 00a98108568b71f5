"""Ground maps in files: CSV with a line for each node, or NPZ with an array for each property."""

from __future__ import annotations

import array
import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alight.contact.ground_properties.local_law import PROPERTIES
from alight.contact.ground_properties.property_map import GroundMap
from alight.core.archives import read_archive
from alight.core.checks import Array
from alight.core.errors import InputError, did_you_mean
from alight.core.files import read_bounded

IndexArray = npt.NDArray[np.int64]

#: Columns of a CSV file, or arrays of an NPZ file, that say where nodes are.
PLACES = ("latitude_deg", "longitude_deg")
#: Most nodes of a map: a tenth of a degree all over the body.
MOST_NODES = 10_000_000
#: Largest file of a map [bytes], and unpacked arrays of one: room for so many nodes.
MOST_BYTES = 500_000_000
#: Longest line of a CSV file [characters].
MOST_LINE = 10_000


def read_map(path: str | os.PathLike[str]) -> GroundMap:
    """The map in a ``.csv`` or ``.npz`` file; faults are reported with the file's name.

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
            raise InputError(f'the {noun} "{name}" appears twice.')
    for name in PLACES:
        if name not in names:
            raise InputError(f'has no {noun} "{name}".')
    found = [name for name in names if name in PROPERTIES]
    if not found:
        raise InputError(f"has no {noun} with factors; give one of {', '.join(PROPERTIES)}.")
    return found


# -- CSV -------------------------------------------------------------------------------------------


def _read_csv(file: Path) -> tuple[Array, Array, dict[str, Array]]:
    lines = _lines(read_bounded(file, MOST_BYTES, "the ground map"))
    names = next(lines, (0, []))[1]
    if not names:
        raise InputError(
            "is empty; it must begin with a header such as latitude_deg,longitude_deg,friction."
        )
    found = _checked_names(names, "column")
    values = array.array("d")
    for number, cells in lines:
        if len(values) >= MOST_NODES * len(names):
            raise InputError(f"has more than {MOST_NODES} nodes, the most that a map may have.")
        values.extend(_numbers(names, number, cells))
    if not values:
        raise InputError(f"has no nodes; a map has between 1 and {MOST_NODES}.")
    columns = dict(zip(names, np.array(values).reshape(-1, len(names)).T, strict=True))
    latitudes, i = np.unique(columns[PLACES[0]], return_inverse=True)
    longitudes, j = np.unique(columns[PLACES[1]], return_inverse=True)
    _all_there(latitudes, longitudes, i * len(longitudes) + j)
    tables = {}
    for name in found:
        tables[name] = np.empty((len(latitudes), len(longitudes)))
        tables[name][i, j] = columns[name]
    return latitudes, longitudes, tables


def _lines(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line that is neither blank nor a comment."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig")
    for number, line in enumerate(text, start=1):
        if len(line) > MOST_LINE:
            raise InputError(
                f"line {number} has {len(line)} characters; a line is one node, with at most "
                f"{MOST_LINE}."
            )
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield number, [cell.strip() for cell in next(csv.reader([line]))]
            except csv.Error as cause:
                raise InputError(f"line {number} is no line of a CSV file: {cause}.") from None


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


def _all_there(latitudes: Array, longitudes: Array, given: IndexArray) -> None:
    """Every node of the grid once; ``given`` are the nodes of the lines, counted along latitudes.

    The grid itself may be far larger than the file, and is not made before it is known to be full.
    """
    size = len(latitudes) * len(longitudes)
    nodes, times = np.unique(given, return_counts=True)
    if (times > 1).any():
        said, bad, first = "given twice", int((times > 1).sum()), int(nodes[times > 1][0])
    elif len(nodes) < size:
        here = np.flatnonzero(nodes != np.arange(len(nodes)))  # the first gap in the count
        first = int(here[0]) if len(here) else len(nodes)
        said, bad = "missing", size - len(nodes)
    else:
        return
    a, b = divmod(first, len(longitudes))
    raise InputError(
        f"{bad} of {size} nodes are {said}, the first at latitude {latitudes[a]:g}, longitude "
        f"{longitudes[b]:g}; a map is a grid, here of {len(latitudes)} latitudes by "
        f"{len(longitudes)} longitudes, with one line for each node."
    )


# -- NPZ -------------------------------------------------------------------------------------------


def _read_npz(file: Path) -> tuple[Array, Array, dict[str, Array]]:
    stored, names = read_archive(file, MOST_BYTES, "the ground map")
    found = _checked_names(names, "array")
    try:
        arrays = {name: np.asarray(stored[name], dtype=np.float64) for name in names}
    except (ValueError, TypeError) as cause:
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

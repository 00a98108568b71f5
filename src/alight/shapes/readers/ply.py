"""Stanford PLY, text or binary: x, y, z of element ``vertex`` and the list of element ``face``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError
from alight.shapes.readers.raw import RawMesh, require_triangles, whole_numbers
from alight.shapes.readers.text import NumberRows, parse_rows, plain_text, read_bytes

_TYPES = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"float": "f4", "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2"},
    **{"int32": "i4", "uint32": "u4", "float32": "f4", "float64": "f8"},
}
_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}
#: Name of the field with the length of a list.
LENGTH = " length"

_CORNER_LISTS = ("vertex_indices", "vertex_index")

IndexArray = npt.NDArray[np.int64]


@dataclass
class _Element:
    """One element of the header; a list property has two types, its length's and its items'."""

    name: str
    count: int
    properties: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    @property
    def lists(self) -> list[str]:
        return [name for name, types in self.properties if len(types) == 2]

    def record(self, order: str) -> np.dtype[Any]:
        """Memory of one entry whose lists have three items."""
        fields: list[tuple[Any, ...]] = []
        for name, types in self.properties:
            if len(types) == 2:
                fields += [(name + LENGTH, order + types[0]), (name, order + types[1], 3)]
            else:
                fields.append((name, order + types[0]))
        return np.dtype(fields)


@dataclass
class _Header:
    order: str
    elements: list[_Element]
    size: int
    lines: int


def read_ply(path: Path) -> RawMesh:
    """Read a PLY file; every face must be a triangle."""
    data = read_bytes(path)
    header = _header(data, path)
    if header.order:
        return _read_binary(data, header, path)
    rows = parse_rows(plain_text(data[header.size :], path), path, first_line=header.lines + 1)
    return _read_rows(rows, header, path)


def _header(data: bytes, path: Path) -> _Header:
    end = data.find(b"end_header")
    newline = data.find(b"\n", end)
    if not data.startswith(b"ply") or end < 0 or newline < 0:
        raise FileError(f'"{path}" is not a PLY file: no header from "ply" to "end_header".')
    lines = data[:end].decode("ascii", "replace").split("\n")
    order: str | None = None
    elements: list[_Element] = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        try:
            if words[:1] == ["format"]:
                order = _ORDERS[words[1]]
            elif words[:1] == ["element"]:
                elements.append(_Element(words[1], int(words[2])))
            elif words[:1] == ["property"]:
                types = words[2:4] if words[1] == "list" else words[1:2]
                elements[-1].properties.append((words[-1], tuple(_TYPES[t] for t in types)))
        except (IndexError, KeyError, ValueError):
            raise FileError(f'"{path}", line {number}: cannot make out "{line.strip()}".') from None
    if order is None:
        raise FileError(f'"{path}" does not state its format in the header.')
    header = _Header(order, elements, newline + 1, len(lines))
    _require_mesh(header, path)
    return header


def _require_mesh(header: _Header, path: Path) -> None:
    """The header must promise vertices with coordinates and faces with corners."""
    names = {e.name: e for e in header.elements}
    for name, needed in (("vertex", ("x", "y", "z")), ("face", _CORNER_LISTS)):
        has = [p for p, _ in names[name].properties] if name in names else []
        complete = all(n in has for n in needed) if name == "vertex" else set(has) & set(needed)
        if not complete or names[name].count < 1:
            raise FileError(
                f'"{path}" holds no mesh: its header needs an element "{name}" with '
                f"{' or '.join(needed) if name == 'face' else ', '.join(needed)}."
            )
    last = max(i for i, e in enumerate(header.elements) if e.name in ("vertex", "face"))
    for element in header.elements[: last + 1]:
        extra = [n for n in element.lists if element.name != "face" or n not in _CORNER_LISTS]
        if extra:
            raise FileError(
                f'"{path}": list "{extra[0]}" of element "{element.name}" stands in the way of '
                "the mesh; save the file without it."
            )


def _read_binary(data: bytes, header: _Header, path: Path) -> RawMesh:
    at = header.size
    found: dict[str, npt.NDArray[Any]] = {}
    for element in header.elements:
        record = element.record(header.order)
        held = min(element.count, (len(data) - at) // record.itemsize)
        entries = np.frombuffer(data, dtype=record, count=held, offset=at)
        if element.lists and (entries[element.lists[0] + LENGTH] != 3).any():
            lengths = _list_lengths(data[at:], element, header.order)
            require_triangles(lengths, path, lambda i: f"face {i}")
        if held < element.count:
            raise FileError(
                f'"{path}" is cut short: its header states {element.count} entries of '
                f'"{element.name}", and only {held} are there.'
            )
        found[element.name] = entries
        at += held * record.itemsize
        if {"vertex", "face"} <= found.keys():
            break
    vertices = np.column_stack([found["vertex"][c].astype(np.float64) for c in "xyz"])
    corners = found["face"][_corner_list(found["face"].dtype.names)]
    return RawMesh(vertices, corners.astype(np.int64))


def _corner_list(names: Sequence[str] | None) -> str:
    return next(name for name in _CORNER_LISTS if name in (names or ()))


def _list_lengths(data: bytes, element: _Element, order: str) -> IndexArray:
    """Walk the faces one by one: only a file with some that are not triangles comes here."""
    lengths: list[int] = []
    at = 0
    sizes = [[np.dtype(order + t) for t in types] for _, types in element.properties]
    for _ in range(element.count):
        for types in sizes:
            if at + types[0].itemsize > len(data):
                return np.array(lengths)
            if len(types) == 2:
                length = int(np.frombuffer(data, types[0], 1, at)[0])
                lengths.append(length)
                at += length * types[1].itemsize
            at += types[0].itemsize
    return np.array(lengths)


def _read_rows(rows: NumberRows, header: _Header, path: Path) -> RawMesh:
    total = sum(e.count for e in header.elements)
    if len(rows) != total:
        raise FileError(
            f'"{path}" states {total} entries in its header but holds {len(rows)} rows: it is cut '
            "short or its counts are wrong."
        )
    at, vertices, faces = 0, np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    for element in header.elements:
        if element.name == "vertex":
            names = [name for name, _ in element.properties]
            block = rows.block(at, element.count, "vertices")
            vertices = block[:, [names.index(c) for c in "xyz"]]
        elif element.name == "face":
            faces = _face_rows(rows, element, at, path)
        at += element.count
    return RawMesh(vertices, faces)


def _face_rows(rows: NumberRows, element: _Element, at: int, path: Path) -> IndexArray:
    """Corners of the text faces from row ``at`` on."""
    names = [name for name, _ in element.properties]
    place = names.index(_corner_list(names))
    offsets = rows.offsets[at : at + element.count] + place
    lengths = rows.values[np.minimum(offsets, len(rows.values) - 1)].astype(np.int64)
    require_triangles(lengths, path, lambda i: f"line {rows.lines[at + i]}")
    block = rows.block(at, element.count, "faces")
    corners, broken = whole_numbers(block[:, place + 1 : place + 4])
    if broken.any() or corners.shape[1] != 3:
        raise FileError(f'"{path}": a face does not have three whole numbers for its corners.')
    return corners

"""Wavefront OBJ: ``v x y z`` and ``f a b c`` lines; everything else is left aside."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError, MeshError
from alight.shapes.integrity.arrays import FloatArray
from alight.shapes.readers.raw import RawMesh, require_triangles, whole_numbers
from alight.shapes.readers.text import NumberRows, parse_rows, read_text

_NOT_VERTEX = re.compile(rb"^(?![ \t]*v[ \t])[^\n]+", re.MULTILINE)
_NOT_FACE = re.compile(rb"^(?![ \t]*f[ \t])[^\n]+", re.MULTILINE)
_KIND = re.compile(rb"^[ \t]*([vf])[ \t]", re.MULTILINE)
_TEXTURE_AND_NORMAL = re.compile(rb"/\S*")

IndexArray = npt.NDArray[np.int64]


def read_obj(path: Path) -> RawMesh:
    """Read an OBJ file; indices count from 1, or backwards from the latest vertex if negative."""
    text = read_text(path)
    if b"\\" in text:  # a line may go on after a backslash
        text = re.sub(rb"\\\n", b" ", text)
    vertices, corners, lines = lettered_rows(text, path)
    faces = corners - 1
    back = corners < 0
    if back.any():
        faces = np.where(back, _vertices_so_far(text)[:, None] + corners, faces)
    outside = (corners == 0) | (back & (faces < 0))
    bad = np.flatnonzero(outside.any(axis=1))
    if len(bad):
        raise MeshError(
            f'"{path}": {len(bad)} facets name a vertex before the first one (first: line '
            f"{lines[bad[0]]}). OBJ files count vertices from 1, here to {len(vertices)}."
        )
    return RawMesh(vertices, faces)


def lettered_rows(text: bytes, path: Path) -> tuple[FloatArray, IndexArray, IndexArray]:
    """The ``v`` and ``f`` lines of a text: coordinates, corners as written, lines of the faces."""
    vertices = _rows(text, _NOT_VERTEX, b"v", path, 'vertices, lines such as "v x y z"')
    faces = _rows(text, _NOT_FACE, b"f", path, 'facets, lines such as "f 1 2 3"')
    require_triangles(faces.widths, path, lambda i: f"line {faces.lines[i]}")
    corners, broken = whole_numbers(faces.values.reshape(-1, 3))
    odd = np.flatnonzero(broken.any(axis=1))
    if len(odd):
        raise FileError(f'"{path}", line {faces.lines[odd[0]]}: an index is not a whole number.')
    return vertices.columns(3, "a vertex"), corners, faces.lines


def _rows(
    text: bytes, others: re.Pattern[bytes], letter: bytes, path: Path, what: str
) -> NumberRows:
    """Numbers on the lines of one letter; others are blanked, so that lines keep their number."""
    body = others.sub(b"", text).replace(letter, b" ")
    if letter == b"f" and b"/" in body:
        body = _TEXTURE_AND_NORMAL.sub(b"", body)
    rows = parse_rows(body, path)
    if len(rows) == 0:
        raise FileError(f'"{path}" holds no {what}.')
    return rows


def _vertices_so_far(text: bytes) -> IndexArray:
    """Vertices defined before each face line: negative indices count back from there."""
    letters = np.frombuffer(b"".join(_KIND.findall(text)), dtype=np.uint8)
    return np.cumsum(letters == ord("v"))[letters == ord("f")]

"""Plate tables, the text form in which most archives keep shape models.

Counts come first, either ``V F`` on one line followed by V vertex rows and F facet rows, or ``V``,
the vertex rows, ``F``, the facet rows. Rows may begin with their number. Facets may count
vertices from 0 or from 1; which one is given by the lowest and highest index in use or, where
these leave it open, by the row numbers of the vertices. A third form has the letters ``v`` and
``f`` instead of counts, like OBJ, but counts from 0 or 1 alike.

A single count followed by rows of three coordinates to the end is a Gaskell ICQ model (icq.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError, MeshError
from alight.shapes.integrity.arrays import FloatArray
from alight.shapes.readers.icq import grid_rows, read_icq
from alight.shapes.readers.obj import lettered_rows
from alight.shapes.readers.raw import RawMesh, whole_numbers
from alight.shapes.readers.text import NumberRows, parse_rows, read_text

_LETTERED = re.compile(rb"\s*[vf][ \t]")

#: Commas separate like blanks, and Fortran writes 1.0D+00 for 1.0e+00.
_FORTRAN = bytes.maketrans(b",Dd", b" Ee")

IndexArray = npt.NDArray[np.int64]


def read_table(path: Path) -> RawMesh:
    """Read a plate table or an ICQ model, distinguished by what the file holds."""
    text = read_text(path)
    if _LETTERED.match(text):
        vertices, corners, _ = lettered_rows(text, path)
        return RawMesh(vertices, corners - _base(corners, len(vertices), None, path))
    rows = parse_rows(text.translate(_FORTRAN), path)
    if len(rows) == 0:
        raise FileError(f'"{path}" holds no numbers.')
    counts = _counts(rows, 0)
    if len(counts) == 1 and (rows.widths[1:] == 3).all():
        return read_icq(rows, counts[0])
    return _read_plates(rows, counts)


def _counts(rows: NumberRows, at: int) -> list[int]:
    """The one or two counts that row ``at`` must hold."""
    values, broken = whole_numbers(rows.row(at))
    if len(values) > 2 or broken.any() or (values < 1).any():
        given = " ".join(f"{x:g}" for x in rows.row(at)[:6])
        raise FileError(
            f'"{rows.path}", line {rows.lines[at]}: "{given}" where counts are needed. A plate '
            'table starts with the numbers of vertices and facets ("V F", or "V" and later "F"), '
            "an ICQ model with its grid size Q."
        )
    return [int(v) for v in values]


def _read_plates(rows: NumberRows, counts: list[int]) -> RawMesh:
    n_vertices = counts[0]
    if len(counts) == 2:
        n_faces, first = counts[1], 1 + n_vertices
    else:
        n_faces, first = _second_count(rows, n_vertices), 2 + n_vertices
    expected = first + n_faces
    if len(rows) != expected:
        raise FileError(
            f'"{rows.path}" states {n_vertices} vertices and {n_faces} facets, which makes '
            f"{expected} rows with the counts, but holds {len(rows)}. The file is cut short or "
            "its counts are wrong."
        )
    vertices, numbering = _unnumbered(rows, 1, n_vertices, "vertices")
    corners, _ = _unnumbered(rows, first, n_faces, "facets")
    if n_faces < n_vertices:
        raise FileError(
            f'"{rows.path}" states {n_vertices} vertices and {n_faces} facets, but closed surfaces '
            "have about twice as many facets as vertices. The counts may have been swapped."
        )
    whole, broken = whole_numbers(corners)
    if broken.any():
        line = rows.lines[first + int(np.argmax(broken.any(axis=1)))]
        raise FileError(f'"{rows.path}", line {line}: a vertex index is not a whole number.')
    return RawMesh(vertices, whole - _base(whole, n_vertices, numbering, rows.path))


def _second_count(rows: NumberRows, n_vertices: int) -> int:
    """The facet count that follows the vertices in the two-count form."""
    at = 1 + n_vertices
    if at < len(rows) and rows.widths[at] == 1:
        return _counts(rows, at)[0]
    lone = np.flatnonzero(rows.widths == 1)[1:]
    found = (
        f"a lone count stands after {int(lone[0]) - 1} rows, on line {rows.lines[lone[0]]}"
        if len(lone)
        else f"there are {len(rows) - 1} rows and no second count"
    )
    raise FileError(
        f'"{rows.path}" states {n_vertices} vertices, so a facet count must follow {n_vertices} '
        f"rows later; {found}. (As an ICQ model with Q = {n_vertices} it would need "
        f"{grid_rows(n_vertices)} rows of three coordinates.)"
    )


def _unnumbered(
    rows: NumberRows, first: int, count: int, what: str
) -> tuple[FloatArray, int | None]:
    """A block of three columns without its row numbers, and the first row number if it had any."""
    block = rows.block(first, count, what)
    if block.shape[1] == 3:
        return block, None
    if block.shape[1] == 4 and block[0, 0] in (0.0, 1.0):
        start = int(block[0, 0])
        if (block[:, 0] == np.arange(start, start + count)).all():
            return block[:, 1:], start
    if block.shape[1] == 4 and what == "facets":
        raise MeshError(
            f'"{rows.path}", line {rows.lines[first]}: facet rows have 4 numbers and the first is '
            "not the row's number, so the facets seem to have 4 corners. Facets must be triangles: "
            "triangulate the mesh."
        )
    raise FileError(
        f'"{rows.path}", line {rows.lines[first]}: rows of {what} have {block.shape[1]} numbers; '
        "they must have 3, or 4 with the row number (from 0 or 1) in front."
    )


def _base(corners: IndexArray, n_vertices: int, numbering: int | None, path: Path) -> int:
    """Whether facets count vertices from 0 or from 1: by the indices, else by the row numbers."""
    low, high = int(corners.min()), int(corners.max())
    if low == 0:
        return 0
    if high >= n_vertices:
        return 1
    if numbering is not None:
        return numbering
    raise FileError(
        f'"{path}": facets use vertices {low} to {high} of {n_vertices}, so they may count from 0 '
        "or from 1 and the file does not tell. Number the vertex rows, or remove the vertices "
        "that no facet uses."
    )

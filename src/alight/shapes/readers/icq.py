"""Gaskell's implicitly connected quadrilaterals: six grids on the faces of a cube.

A first line holds Q; then follow 6 (Q+1)^2 rows of coordinates, face by face, J by J, I fastest.
Where faces meet, their grids repeat the same vertices: 6 Q^2 + 2 remain, and every cell splits
into two triangles, 12 Q^2 in all. The seams are those of R. Gaskell's description of the format
(icqmodel.asc in the archives of the Itokawa and Eros models), which are the seams of the cube
[0, Q]^3 with

    face        1            2            3            4             5             6
    (x, y, z)   (I, J, Q)    (I, Q, Q-J)  (0, I, Q-J)  (Q-I, 0, Q-J) (Q, Q-I, Q-J) (I, Q-J, 0)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError
from alight.shapes.integrity.arrays import FloatArray, bounding_diagonal
from alight.shapes.mass import mass_properties
from alight.shapes.readers.raw import RawMesh
from alight.shapes.readers.text import NumberRows

#: Copies of a vertex on two grids may differ by the rounding of their decimals, as part of size.
SEAM_TOLERANCE = 1e-4

IndexArray = npt.NDArray[np.int64]


def grid_rows(q: int) -> int:
    """Vertex rows of an ICQ model of grid size ``q``, seams counted on every face."""
    return 6 * (q + 1) ** 2


def read_icq(rows: NumberRows, q: int) -> RawMesh:
    """Build the mesh of an ICQ model from its rows, the first of which holds ``q``."""
    if len(rows) - 1 != grid_rows(q):
        raise FileError(
            f'"{rows.path}" starts with the single count {q} and then has {len(rows) - 1} rows of '
            f"three numbers. An ICQ model with Q = {q} needs 6 (Q+1)^2 = {grid_rows(q)} rows; a "
            "plate table needs its facet count and facets after the vertices."
        )
    given = rows.block(1, grid_rows(q), "vertices")
    number, first = _shared_numbers(q)
    vertices = given[first]
    _require_seams(given, vertices[number], rows)
    faces = _split_cells(vertices, number[_cells(q)])
    # Nothing in the file states a winding, so outward is a choice and not a repair.
    if mass_properties(vertices, faces.astype(np.int32)).volume < 0.0:
        faces = faces[:, [0, 2, 1]]
    return RawMesh(vertices, faces)


def _shared_numbers(q: int) -> tuple[IndexArray, IndexArray]:
    """Vertex number of every grid point, equal on seams, and each vertex's first grid point."""
    j, i = (a.ravel() for a in np.mgrid[0 : q + 1, 0 : q + 1])
    zero, full = np.zeros_like(i), np.full_like(i, q)
    on_cube = [
        (i, j, full),
        (i, full, q - j),
        (zero, i, q - j),
        (q - i, zero, q - j),
        (full, q - i, q - j),
        (i, q - j, zero),
    ]
    x, y, z = np.concatenate([np.array(face) for face in on_cube], axis=1)
    place = (x * (q + 1) + y) * (q + 1) + z
    _, first, number = np.unique(place, return_index=True, return_inverse=True)
    # np.unique numbers by place on the cube; number by first appearance in the file instead.
    rank = np.argsort(np.argsort(first))
    return rank[number], np.sort(first)


def _require_seams(given: FloatArray, shared: FloatArray, rows: NumberRows) -> None:
    """Refuse a file whose grids do not meet where the format says they do."""
    gap = np.linalg.norm(given - shared, axis=1)
    worst = int(np.argmax(gap))
    if gap[worst] > SEAM_TOLERANCE * bounding_diagonal(given):
        raise FileError(
            f'"{rows.path}", line {rows.lines[1 + worst]}: this vertex lies on a seam but '
            f"{gap[worst]:.4g} (in the file's unit) away from its copy on the neighbouring face. "
            "The six grids of an ICQ model must run face by face, J by J, I fastest."
        )


def _cells(q: int) -> IndexArray:
    """(6 q^2, 4) grid points around each cell, in the order that the format gives."""
    j, i = (a.ravel() for a in np.mgrid[0:q, 0:q])
    corner = j * (q + 1) + i
    cell = np.column_stack([corner, corner + q + 1, corner + q + 2, corner + 1])
    faces = np.arange(6) * (q + 1) ** 2
    return (faces[:, None, None] + cell).reshape(-1, 4)


def _split_cells(vertices: FloatArray, cells: IndexArray) -> IndexArray:
    """Two triangles per cell, cut along the shorter diagonal."""
    a, b, c, d = cells.T
    ac = np.linalg.norm(vertices[a] - vertices[c], axis=1)
    bd = np.linalg.norm(vertices[b] - vertices[d], axis=1)
    along_ac = (ac <= bd)[:, None]
    one = np.where(along_ac, np.column_stack([a, b, c]), np.column_stack([a, b, d]))
    two = np.where(along_ac, np.column_stack([a, c, d]), np.column_stack([b, c, d]))
    return np.stack([one, two], axis=1).reshape(-1, 3)

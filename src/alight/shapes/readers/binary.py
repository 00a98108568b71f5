"""STL and NPZ: facets as they lie in memory."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from alight.core.archives import read_archive
from alight.core.errors import FileError, MeshError, did_you_mean
from alight.core.files import MOST_BYTES
from alight.shapes.integrity.arrays import FloatArray
from alight.shapes.integrity.topology import weld_equal
from alight.shapes.readers.raw import RawMesh
from alight.shapes.readers.text import parse_rows, plain_text, read_bytes

_STL_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_HEADER = 84
_NOT_A_CORNER = re.compile(rb"^(?![ \t]*vertex[ \t])[^\n]+", re.MULTILINE | re.IGNORECASE)
_CORNER = re.compile(rb"vertex", re.IGNORECASE)
_LOOP_END = re.compile(rb"\bendloop\b", re.IGNORECASE)


def read_stl(path: Path) -> RawMesh:
    """Read an STL file, binary or text.

    STL repeats each vertex in every facet, so vertices with equal coordinates are made one: the
    format has no other way to tell neighbours.
    """
    data = read_bytes(path)
    count = int.from_bytes(data[80:_STL_HEADER], "little")
    if len(data) == _STL_HEADER + count * _STL_FACET.itemsize:
        soup = np.frombuffer(data, dtype=_STL_FACET, offset=_STL_HEADER)["corners"]
        corners = soup.reshape(-1, 3).astype(np.float64)
    elif data.lstrip()[:5].lower() == b"solid":
        corners = _text_corners(plain_text(data, path), path)
    else:
        raise FileError(
            f'"{path}" is not an STL file: it does not start with "solid", and as a binary file '
            f"its {len(data)} bytes do not fit the {count} facets that its header states "
            f"({_STL_HEADER + count * _STL_FACET.itemsize} bytes)."
        )
    if len(corners) == 0:
        raise FileError(f'"{path}" holds no facets.')
    faces = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    vertices, faces = weld_equal(corners, faces)
    return RawMesh(vertices, faces.astype(np.int64))


def _text_corners(text: bytes, path: Path) -> FloatArray:
    loops = len(_LOOP_END.findall(text))
    rows = parse_rows(_CORNER.sub(b" ", _NOT_A_CORNER.sub(b"", text)), path)
    if len(rows) != 3 * loops:
        raise MeshError(
            f'"{path}" has {len(rows)} corners in {loops} facets; every facet must have three. '
            "Triangulate the mesh, or save it again if the file is cut short."
        )
    return rows.columns(3, "a corner")


def read_npz(path: Path) -> RawMesh:
    """Read a NumPy archive: ``vertices`` (n, 3), ``faces`` (m, 3) from 0, and perhaps ``unit``."""
    contents, names = read_archive(path, MOST_BYTES, "the mesh", _NPZ_NAMES)
    for name in ("vertices", "faces"):
        if name not in contents:
            raise FileError(
                f'"{path}" holds no array "{name}".{did_you_mean(name, names)} A mesh archive has '
                '"vertices" (n, 3) and "faces" (m, 3), counted from 0, and may state its "unit"; '
                f"this one has: {', '.join(names) or 'nothing'}."
            )
    unit = contents.get("unit")
    stated = str(unit) if unit is not None and unit.ndim == 0 else None
    return RawMesh(contents["vertices"], contents["faces"], stated)


_NPZ_NAMES = ("vertices", "faces", "unit")

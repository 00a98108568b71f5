"""SPICE shape models (DSK, ``.bds``): plates of type 2, by the package spiceypy.

All segments of one body are read as one mesh. They are in kilometres, always.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from alight.core.errors import FileError
from alight.core.extras import require
from alight.core.files import MOST_BYTES, opened, refusal
from alight.shapes.readers.raw import RawMesh

_PLATES = 2
_KIND = b"DAS/DSK "
#: Plates, at most: what SPICE itself allows in a segment is less.
_MOST = 100_000_000


def read_dsk(path: Path) -> RawMesh:
    """Read the plates of a DSK file."""
    _require_dsk(path)
    spice = require("spiceypy", "spice")
    try:
        handle = spice.dasopr(str(path))
        try:
            parts = [_segment(spice, handle, found, path) for found in _segments(spice, handle)]
        finally:
            spice.dascls(handle)
    except spice.SpiceyError as problem:
        said = getattr(problem, "long", "") or getattr(problem, "short", "") or str(problem)
        raise FileError(f'"{path}": SPICE cannot read it: {" ".join(said.split())[:300]}') from None
    if not parts:
        raise FileError(f'"{path}" holds no shape: it has no segment.')
    start = np.cumsum([0, *(len(points) for points, _ in parts)])
    vertices = np.concatenate([points for points, _ in parts])
    faces = [plates - 1 + k for (_, plates), k in zip(parts, start[:-1].tolist(), strict=True)]
    return RawMesh(vertices, np.concatenate(faces).astype(np.int64), "km")


def _require_dsk(path: Path) -> None:
    """SPICE opens by name and may end a process that gives it anything: it is looked at first."""
    with opened(path, "the mesh") as file:
        head = file.read(8)
        size = file.seek(0, 2)
    if head != _KIND:
        raise FileError(
            f'"{path}", byte 0: it is no SPICE shape model: it begins with {head!r} and not with '
            f"{_KIND!r}."
        )
    if size > MOST_BYTES:
        raise refusal(f'the mesh "{path}"', f"it has {size} bytes; at most {MOST_BYTES} are read.")


def _segments(spice: Any, handle: int) -> list[Any]:
    """Descriptors of all segments."""
    found, listed = None, []
    try:
        found = spice.dlabfs(handle)
        while True:
            listed.append(found)
            found = spice.dlafns(handle, found)
    except spice.NotFoundError:
        return listed


def _segment(spice: Any, handle: int, found: Any, path: Path) -> tuple[Any, Any]:
    """Vertices [km] and plates, counted from 1, of a segment."""
    about = spice.dskgd(handle, found)
    if about.dtype != _PLATES:
        raise FileError(
            f'"{path}" has a segment of type {about.dtype}; plates, of type {_PLATES}, are read.'
        )
    n_vertices, n_plates = spice.dskz02(handle, found)
    if not (0 < n_vertices <= _MOST and 0 < n_plates <= _MOST):
        raise FileError(f'"{path}" has a segment of {n_vertices} vertices and {n_plates} plates.')
    return (
        np.array(spice.dskv02(handle, found, 1, n_vertices), dtype=np.float64),
        np.array(spice.dskp02(handle, found, 1, n_plates), dtype=np.int64),
    )

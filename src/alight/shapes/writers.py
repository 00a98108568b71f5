"""Write a mesh to a file that other tools read; what is read back is the same mesh.

| extension | precision | notes                                                          |
|-----------|-----------|----------------------------------------------------------------|
| .obj      | exact     | text; every number in the fewest digits that give it back      |
| .ply      | exact     | binary, little-endian, 64-bit coordinates                      |
| .npz      | exact     | arrays ``vertices``, ``faces``, ``unit``                       |
| .stl      | 32 bits   | binary; the format has no more, and repeats vertices per facet |
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from alight.core.errors import FileError, unknown_name
from alight.shapes.integrity.arrays import FloatArray, IntArray
from alight.shapes.mass import facet_vectors
from alight.shapes.units import metres_per

#: Rows that are made into text at a time.
_ROWS = 100_000


def write_arrays(
    path: str | os.PathLike[str], vertices: FloatArray, faces: IntArray, unit: str = "m"
) -> None:
    """Write ``vertices`` [m] and ``faces`` to ``path``, in ``unit``, as its extension says."""
    file = Path(path)
    writer = WRITERS.get(file.suffix.lower())
    if writer is None:
        raise unknown_name("mesh file extension to write", file.suffix, WRITERS)
    scale = metres_per(unit, f'mesh.save("{file.name}", unit="m")')
    scaled = vertices if scale == 1.0 else vertices / scale
    try:
        with file.open("wb") as out:
            writer(out, scaled, faces, unit)
    except OSError as error:
        raise FileError(f'cannot write "{file}": {error.strerror}.') from None


def _write_obj(out: BinaryIO, vertices: FloatArray, faces: IntArray, unit: str) -> None:
    out.write(f"# {len(vertices)} vertices, {len(faces)} facets, unit {unit}\n".encode())
    for rows in _chunks(vertices):
        out.write("".join(map("v %r %r %r\n".__mod__, map(tuple, rows.tolist()))).encode())
    for rows in _chunks(faces + 1):
        out.write("".join(map("f %d %d %d\n".__mod__, map(tuple, rows.tolist()))).encode())


def _chunks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    return (array[i : i + _ROWS] for i in range(0, len(array), _ROWS))


def _write_ply(out: BinaryIO, vertices: FloatArray, faces: IntArray, unit: str) -> None:
    header = (
        f"ply\nformat binary_little_endian 1.0\ncomment unit {unit}\n"
        f"element vertex {len(vertices)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    records = np.empty(len(faces), dtype=[("length", "u1"), ("corners", "<i4", 3)])
    records["length"], records["corners"] = 3, faces
    out.write(header.encode() + vertices.astype("<f8").tobytes() + records.tobytes())


def _write_stl(out: BinaryIO, vertices: FloatArray, faces: IntArray, unit: str) -> None:
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    facets = np.zeros(len(faces), dtype=record)
    vectors = facet_vectors(vertices, faces)
    facets["normal"] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    facets["corners"] = vertices[faces]
    # A header that begins with "solid" would be taken for a text file.
    out.write(f"binary STL, unit {unit}".encode().ljust(80))
    out.write(len(faces).to_bytes(4, "little") + facets.tobytes())


def _write_npz(out: BinaryIO, vertices: FloatArray, faces: IntArray, unit: str) -> None:
    np.savez_compressed(out, vertices=vertices, faces=faces, unit=np.array(unit))


#: The writer of each extension.
WRITERS: dict[str, Callable[[BinaryIO, FloatArray, IntArray, str], None]] = {
    ".obj": _write_obj,
    ".ply": _write_ply,
    ".stl": _write_stl,
    ".npz": _write_npz,
}

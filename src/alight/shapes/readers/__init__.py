"""Mesh files of every kind, read into arrays in metres.

| extension                        | format                                                      |
|----------------------------------|-------------------------------------------------------------|
| .obj                             | Wavefront: ``v`` and ``f`` lines                            |
| .ply                             | Stanford polygons, text or binary                           |
| .stl                             | stereolithography, text or binary; equal vertices are one   |
| .npz                             | NumPy archive: ``vertices``, ``faces``, optionally ``unit`` |
| .glb .gltf                       | glTF 2.0: all triangles of the scene, turned to z up        |
| .bds .dsk                        | SPICE shape model (DSK), with the package spiceypy; km      |
| .tab .plt .txt .icq .dat         | plate table or Gaskell ICQ, known by content               |
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from alight.core.errors import FileError, InputError, did_you_mean
from alight.shapes.integrity.arrays import FloatArray, IntArray, as_faces, as_vertices
from alight.shapes.readers.binary import read_npz, read_stl
from alight.shapes.readers.dsk import read_dsk
from alight.shapes.readers.gltf import read_gltf
from alight.shapes.readers.obj import read_obj
from alight.shapes.readers.plates import read_table
from alight.shapes.readers.ply import read_ply
from alight.shapes.readers.raw import RawMesh
from alight.shapes.units import metres_per, require_plausible_size

#: The reader of each extension.
READERS: dict[str, Callable[[Path], RawMesh]] = {
    ".obj": read_obj,
    ".ply": read_ply,
    ".stl": read_stl,
    ".npz": read_npz,
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".bds": read_dsk,
    ".dsk": read_dsk,
    ".tab": read_table,
    ".plt": read_table,
    ".txt": read_table,
    ".icq": read_table,
    ".dat": read_table,
}


def read_arrays(path: str | os.PathLike[str], unit: str | None) -> tuple[FloatArray, IntArray]:
    """Vertices [m] and faces (counted from 0) of a mesh file written in ``unit``."""
    file = Path(path)
    scale = metres_per(unit, f'Mesh.read("{file.name}", unit="km")')
    raw = _reader(file)(file)
    if raw.unit is not None and raw.unit != unit:
        raise InputError(
            f'"{file}" states that its unit is "{raw.unit}", but unit="{unit}" was given. Give '
            f'unit="{raw.unit}", or correct the file.'
        )
    vertices = as_vertices(raw.vertices) * scale
    require_plausible_size(vertices, str(unit), f'"{file}"')
    return vertices, as_faces(raw.faces)


def _reader(file: Path) -> Callable[[Path], RawMesh]:
    """The reader for a file that is there and has a known extension."""
    if file.is_dir():
        raise FileError(f'"{file}" is a folder; a mesh file is needed.')
    if not file.exists():
        raise FileError(f'no such file: "{file}".{_similar(file)}')
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        hint = did_you_mean(file.suffix, READERS)
        raise InputError(
            f'"{file}" ends in "{file.suffix}", which names no mesh format.{hint} Known endings: '
            f"{', '.join(READERS)}. Rename the file after its format, or convert it."
        )
    return reader


def _similar(file: Path) -> str:
    """A hint at a file of nearly the same name beside the missing one."""
    try:
        beside = [p.name for p in file.parent.iterdir() if p.suffix.lower() in READERS]
    except OSError:
        return f' There is no folder "{file.parent}" to read from.'
    return did_you_mean(file.name, beside)

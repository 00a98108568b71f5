"""What every reader hands over: arrays in the file's own unit, not yet checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alight.core.errors import MeshError
from alight.shapes.integrity.arrays import BoolArray, FloatArray


class RawMesh(NamedTuple):
    """Contents of a mesh file.

    Attributes:
        vertices: (n, 3) coordinates in the file's unit.
        faces: (m, 3) vertex indices, counted from 0, unchecked.
        unit: The unit that the file itself states, if it does.
    """

    vertices: FloatArray
    faces: npt.NDArray[np.int64]
    unit: str | None = None


def require_triangles(
    corners: npt.NDArray[np.integer], path: Path, where: Callable[[int], str]
) -> None:
    """Refuse faces whose numbers of ``corners`` are not all three."""
    odd = np.flatnonzero(corners != 3)
    if len(odd):
        first = int(odd[0])
        raise MeshError(
            f'"{path}": {len(odd)} of {len(corners)} faces are not triangles (first: '
            f"{where(first)}, {corners[first]} corners). Triangulate the mesh in a mesh editor "
            "and save it again."
        )


def whole_numbers(values: FloatArray) -> tuple[npt.NDArray[np.int64], BoolArray]:
    """``values`` as integers, and which of them are not whole numbers."""
    whole = np.where(np.abs(values) < 2**53, values, 0.5).astype(np.int64)
    return whole, whole != values

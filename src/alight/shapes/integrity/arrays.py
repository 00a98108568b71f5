"""What counts as the vertices and the faces of a mesh: shapes, types and first complaints."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.errors import MeshError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]

LARGEST_INDEX = int(np.iinfo(np.int32).max)


def as_vertices(vertices: npt.ArrayLike) -> FloatArray:
    """A fresh, C-contiguous (n, 3) array of coordinates [m]."""
    try:
        if np.iscomplexobj(vertices):
            raise TypeError("complex numbers were given")
        array = np.array(vertices, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise MeshError(f"vertices must be numbers in rows of x, y, z [m]: {error}.") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise MeshError(
            f"vertices have shape {array.shape}; they must be rows of x, y, z [m], shape (n, 3)."
        )
    return array


def as_faces(faces: npt.ArrayLike) -> IntArray:
    """A fresh, C-contiguous (m, 3) int32 array of vertex indices, counted from 0."""
    try:
        given: npt.NDArray[Any] = np.asarray(faces)
    except ValueError:  # rows of unequal length
        raise MeshError(
            "faces do not all have the same number of corners; every face must be a triangle, "
            "shape (m, 3). Triangulate the mesh first."
        ) from None
    if given.ndim != 2 or given.shape[1] != 3:
        four = " The faces have 4 corners: triangulate them." if given.shape[1:] == (4,) else ""
        raise MeshError(
            f"faces have shape {given.shape}; they must be rows of three vertex indices, "
            f"shape (m, 3).{four}"
        )
    if given.size and given.dtype.kind not in "iu":
        raise MeshError(
            f"faces have type {given.dtype}; vertex indices must be integers, counted from 0."
        )
    if given.size and int(given.max()) > LARGEST_INDEX:
        raise MeshError(
            f"faces name vertex {int(given.max())}; indices must fit in 32 bits "
            f"(at most {LARGEST_INDEX})."
        )
    # Indices below zero are out of range; far below, 32 bits would turn them into good ones.
    return np.array(np.maximum(given, -1), dtype=np.int32, order="C")


def bounding_diagonal(vertices: FloatArray) -> float:
    """Length of the diagonal of the bounding box [m]: the size that tolerances refer to."""
    if len(vertices) == 0:
        return 0.0
    return float(np.linalg.norm(vertices.max(axis=0) - vertices.min(axis=0)))

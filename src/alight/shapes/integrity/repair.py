"""Repair what can be repaired without inventing surface: weld, drop, rewind, turn outward.

Holes stay holes and separate pieces stay apart: choosing how to close or join them is the work
of a person with a mesh editor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from alight.shapes.integrity.arrays import FloatArray, IntArray, bounding_diagonal
from alight.shapes.integrity.health import degenerate_facets
from alight.shapes.integrity.topology import (
    find_edges,
    label_pieces,
    repeated_facets,
    turned_over,
    weld_equal,
    winding_flips,
    without_loose_vertices,
)
from alight.shapes.mass import mass_properties

#: Vertices nearer than this part of the body's size are one vertex.
WELD_DISTANCE = 1e-9


class Repaired(NamedTuple):
    """A repaired mesh and, in words, what was done to it."""

    vertices: FloatArray
    faces: IntArray
    actions: tuple[str, ...]


def repair(vertices: FloatArray, faces: IntArray) -> Repaired:
    """Weld vertices, drop empty and repeated facets, make the winding agree and face outward.

    A mesh with bad indices or vertices that are not finite comes back as it is: there is nothing
    to go by. Whether the result bounds a solid is for ``integrity.inspect`` to say.
    """
    usable = np.isfinite(vertices).all() and len(faces) > 0
    if not usable or faces.min() < 0 or faces.max() >= len(vertices):
        return Repaired(vertices, faces, ())
    actions: list[str] = []
    vertices, faces = _weld(vertices, faces, actions)
    faces = _drop_facets(vertices, faces, actions)
    vertices, faces = _drop_loose(vertices, faces, actions)
    faces = _rewind(vertices, faces, actions)
    return Repaired(vertices, faces, tuple(actions))


def _weld(vertices: FloatArray, faces: IntArray, actions: list[str]) -> tuple[FloatArray, IntArray]:
    before = len(vertices)
    vertices, faces = without_loose_vertices(vertices, faces)
    loose = before - len(vertices)
    before = len(vertices)
    vertices, faces = weld_equal(vertices, faces)
    vertices, faces = _weld_near(vertices, faces)
    _note(actions, loose, "dropped {} vertices that no facet used")
    _note(actions, before - len(vertices), "welded {} vertices onto others")
    return vertices, faces


def _weld_near(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray]:
    """Merge vertices within ``WELD_DISTANCE``; each group keeps its first vertex's place."""
    reach = WELD_DISTANCE * bounding_diagonal(vertices)
    near = scipy.spatial.cKDTree(vertices).query_pairs(reach, output_type="ndarray")
    if len(near) == 0:
        return vertices, faces
    count, label = label_pieces(len(vertices), near[:, 0], near[:, 1])
    leader = np.full(count, len(vertices))
    np.minimum.at(leader, label, np.arange(len(vertices)))
    return without_loose_vertices(vertices, leader[label][faces].astype(np.int32))


def _drop_facets(vertices: FloatArray, faces: IntArray, actions: list[str]) -> IntArray:
    empty = degenerate_facets(vertices, faces)
    _note(actions, int(empty.sum()), "dropped {} facets without area")
    faces = faces[~empty]
    again = repeated_facets(faces)
    _note(actions, int(again.sum()), "dropped {} repeated facets")
    return faces[~again]


def _drop_loose(
    vertices: FloatArray, faces: IntArray, actions: list[str]
) -> tuple[FloatArray, IntArray]:
    """Dropping facets may have left vertices without any."""
    before = len(vertices)
    vertices, faces = without_loose_vertices(vertices, faces)
    _note(actions, before - len(vertices), "dropped {} vertices left without a facet")
    return vertices, faces


def _rewind(vertices: FloatArray, faces: IntArray, actions: list[str]) -> IntArray:
    if len(faces) == 0:
        return faces
    flips, _ = winding_flips(find_edges(faces), len(faces))
    if flips.any():
        _note(actions, int(flips.sum()), "turned over {} facets that wound against the others")
        faces = turned_over(faces, flips)
    if mass_properties(vertices, faces).volume < 0.0:
        actions.append("turned the whole surface to face outward")
        faces = np.ascontiguousarray(faces[:, [0, 2, 1]])
    return faces


def _note(actions: list[str], count: int, text: str) -> None:
    if count:
        actions.append(text.format(count))

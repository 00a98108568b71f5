"""Exact volume, centre of mass and inertia of the solid that a closed mesh bounds.

The solid is the signed sum of the tetrahedra between each facet and one origin. With corners
a, b, c seen from that origin, d = a . (b x c) and s = a + b + c, a tetrahedron has

    volume          d / 6
    integral x_i    d s_i / 24
    integral x_i x_j    d (a_i a_j + b_i b_j + c_i c_j + s_i s_j) / 120

The origin is the mean vertex, so that a body far from its frame's origin loses no digits, and
the sums are pairwise within blocks and exact between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alight.shapes.integrity.arrays import FloatArray, IntArray

#: Facets per block: a block's arrays fit the cache of one core.
BLOCK = 1 << 15

#: The six independent products x_i x_j.
_PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class MassProperties:
    """Integrals over a solid of density 1.

    Attributes:
        volume: Enclosed volume [m^3]; negative for a mesh turned inside out.
        center_of_mass: (3,) centroid of the volume [m].
        inertia: (3, 3) moments of inertia about the centroid per unit density [m^5].
    """

    volume: float
    center_of_mass: FloatArray
    inertia: FloatArray


def mass_properties(vertices: FloatArray, faces: IntArray) -> MassProperties:
    """Volume, centroid and inertia of the solid bounded by a closed mesh."""
    volume, center, inertia = properties_of_each(vertices[None], faces)
    return MassProperties(float(volume[0]), center[0], inertia[0])


def properties_of_each(
    vertices: FloatArray, faces: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Volumes (n,), centroids (n, 3) and inertias (n, 3, 3) of solids with the same facets, whose
    vertices are (n, V, 3); not a number but for the volume where that is 0."""
    origin = vertices.mean(axis=1)
    local = np.ascontiguousarray(np.moveaxis(vertices - origin[:, None], -1, 0))
    sums = [_block_sums(local, faces[i : i + BLOCK]) for i in range(0, len(faces), BLOCK)]
    total = sums[0] if len(sums) == 1 else _exact_sum(np.array(sums))
    volume = total[0] / 6.0
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.where(volume == 0.0, np.nan, total[1:4] / 24.0 / volume)
    second = np.empty((len(volume), 3, 3))
    for (i, j), value in zip(_PAIRS, total[4:], strict=True):
        second[:, i, j] = second[:, j, i] = value / 120.0 - volume * offset[i] * offset[j]
    trace = second[:, 0, 0] + second[:, 1, 1] + second[:, 2, 2]
    inertia = trace[:, None, None] * np.eye(3) - second
    return volume, origin + offset.T, inertia


def _exact_sum(blocks: FloatArray) -> FloatArray:
    """Sums over the first axis, rounded once."""
    flat = blocks.reshape(len(blocks), -1)
    return np.array([math.fsum(column) for column in flat.T]).reshape(blocks.shape[1:])


def _block_sums(local: FloatArray, faces: IntArray) -> FloatArray:
    """(10, n) sums over some facets of d, d s_i and d (a_i a_j + b_i b_j + c_i c_j + s_i s_j)."""
    a, b, c = (np.take(local, faces[:, k], axis=2) for k in range(3))
    d = (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    s = a + b + c
    parts = [d] + [d * s[i] for i in range(3)]
    parts += [d * (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + s[i] * s[j]) for i, j in _PAIRS]
    # Rows are contiguous: each is added up in pairs, as if it were alone.
    return np.array([part.sum(axis=-1) for part in parts])


def facet_vectors(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(m, 3) outward normal of each facet, as long as its area [m^2]."""
    corner = vertices[faces[:, 0]]
    return 0.5 * np.cross(vertices[faces[:, 1]] - corner, vertices[faces[:, 2]] - corner)


def principal_rotation(inertia: FloatArray) -> FloatArray:
    """(..., 3, 3) rotation into principal axes: rows are the axes, moments ascending, right-handed.

    z is the axis of largest inertia, about which a body at rest in energy spins. The signs of x
    and z make their largest component positive, so a body already near its principal axes is
    turned by little; y completes the frame.
    """
    _, columns = np.linalg.eigh(inertia)
    x, z = _leading_positive(columns[..., 0]), _leading_positive(columns[..., 2])
    return np.stack([x, np.cross(z, x), z], axis=-2)


def _leading_positive(axis: FloatArray) -> FloatArray:
    """``axis`` or its opposite: the first of its largest components comes out positive."""
    size = np.abs(axis)
    leading = np.argmax(size > (1.0 - 1e-6) * size.max(axis=-1, keepdims=True), axis=-1)
    return axis * np.sign(np.take_along_axis(axis, leading[..., None], axis=-1))


def in_principal_axes(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(n, V, 3) the solids recentred and turned into principal axes; see ``properties_of_each``."""
    _, center, inertia = properties_of_each(vertices, faces)
    R = principal_rotation(inertia)
    turned = (vertices + -center[:, None]) @ np.swapaxes(R, -1, -2)
    return np.ascontiguousarray(turned)

"""Vectors, quaternions and matrices kept as rows of numbers [row, slot], in kernels.

The slot is last: neighbouring threads of a GPU, which have neighbouring slots, read neighbouring
words at once. An array of vectors would have them three words apart, one of matrices nine, and each
of their loads and stores would touch three and nine times the memory. On a CPU the rows of a slot
lie one after the other, as those of a vector do.
"""

from typing import Any

import warp as wp

from alight.core.devices import Device
from alight.core.types import mat33, quat, scalar, vec3


def by_slot(rows: int, slots: int, kind: Any, device: Device) -> Any:
    """Zeros [row, slot], laid out as the device reads them fastest.

    On a GPU neighbours in memory are neighbouring slots, which neighbouring threads read at once.
    On a CPU they are the rows of one slot, which one thread reads one after the other.
    """
    if device.is_gpu or not rows:
        return wp.zeros((rows, slots), dtype=kind, device=device.name)
    return wp.zeros((slots, rows), dtype=kind, device=device.name).transpose()


@wp.func
def vector_at(values: wp.array2d(dtype=scalar), row: int, slot: int) -> vec3:
    """Three rows from ``row`` on."""
    return vec3(values[row, slot], values[row + 1, slot], values[row + 2, slot])


@wp.func
def put_vector(values: wp.array2d(dtype=scalar), row: int, slot: int, vector: vec3):
    """Fill three rows from ``row`` on."""
    values[row, slot] = vector[0]
    values[row + 1, slot] = vector[1]
    values[row + 2, slot] = vector[2]


@wp.func
def quat_at(values: wp.array2d(dtype=scalar), row: int, slot: int) -> quat:
    """Four rows from ``row`` on, as they are."""
    return quat(
        values[row, slot], values[row + 1, slot], values[row + 2, slot], values[row + 3, slot]
    )


@wp.func
def put_quat(values: wp.array2d(dtype=scalar), row: int, slot: int, q: quat):
    """Fill four rows from ``row`` on."""
    values[row, slot] = q[0]
    values[row + 1, slot] = q[1]
    values[row + 2, slot] = q[2]
    values[row + 3, slot] = q[3]


@wp.func
def matrix_at(values: wp.array2d(dtype=scalar), row: int, slot: int) -> mat33:
    """Nine rows from ``row`` on, as the rows of a matrix one after the other."""
    return wp.matrix_from_rows(
        vector_at(values, row, slot),
        vector_at(values, row + 3, slot),
        vector_at(values, row + 6, slot),
    )


@wp.func
def put_matrix(values: wp.array2d(dtype=scalar), row: int, slot: int, A: mat33):
    """Fill nine rows from ``row`` on."""
    for i in range(3):
        for j in range(3):
            values[row + 3 * i + j, slot] = A[i, j]

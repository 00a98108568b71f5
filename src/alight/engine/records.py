"""What runs leave behind: the record of a contact, and how records and runs come off a device.

Runs and what goes with them are moved as words of eight bytes, whatever they are made of: a struct
in slot s is column s of a table [word, slot], and so is a column of an array [row, slot].
"""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.types import scalar, vec3

_WORD = 8


@wp.struct
class Touch:
    """One contact: from the first push of the ground to the last.

    Speeds are of the effective point of contact relative to the ground; ``place`` and ``normal``
    are where it began, in target axes.
    """

    run: int
    start: scalar  # [s]
    end: scalar  # [s]
    place: vec3  # [m]
    normal: vec3
    normal_speed_in: scalar  # along the normal, negative towards the ground [m/s]
    tangential_speed_in: scalar  # [m/s]
    normal_speed_out: scalar  # [m/s]
    tangential_speed_out: scalar  # [m/s]
    impulse: vec3  # of the ground on the lander [N s]
    normal_impulse: scalar  # [N s]
    peak_force: scalar  # largest normal force [N]
    depth: scalar  # deepest penetration [m]
    points: int  # most points that touched at once
    energy_in: scalar  # E_J before [J]
    energy_out: scalar  # E_J after [J]


@wp.kernel(enable_backward=False)
def _put(
    offset: int,
    slots: wp.array(dtype=int),
    values: wp.array2d(dtype=wp.int64),  # [run, word]
    words_out: wp.array2d(dtype=wp.int64),  # [word, slot]
) -> None:
    i = wp.tid() + offset
    for k in range(values.shape[1]):
        words_out[k, slots[i]] = values[i, k]


@wp.kernel(enable_backward=False)
def _take(
    offset: int,
    slots: wp.array(dtype=int),
    words: wp.array2d(dtype=wp.int64),
    values_out: wp.array2d(dtype=wp.int64),
) -> None:
    i = wp.tid() + offset
    for k in range(values_out.shape[1]):
        values_out[i, k] = words[k, slots[i]]


@wp.kernel(enable_backward=False)
def _fill(
    offset: int, slots: wp.array(dtype=int), value: scalar, rows_out: wp.array2d(dtype=scalar)
) -> None:
    slot = slots[wp.tid() + offset]
    for k in range(rows_out.shape[0]):
        rows_out[k, slot] = value


@wp.kernel(enable_backward=False)
def _gather_touches(
    offset: int,
    slots: wp.array(dtype=int),
    places: wp.array(dtype=int),
    touches: wp.array2d(dtype=Touch),
    values_out: wp.array(dtype=Touch),
) -> None:
    i = wp.tid() + offset
    values_out[i] = touches[slots[i], places[i]]


@functools.cache
def record_dtype(record: Any) -> Any:
    """The NumPy type of a Warp struct; Warp makes it anew each time, which takes a while."""
    return np.dtype(record.numpy_dtype())


def size_of(record: Any) -> int:
    """Size of a Warp struct [bytes]."""
    return int(record_dtype(record).itemsize)


def words_of(array: Any) -> Any:
    """An array of structs [slot], or of scalars [row, slot], seen as words [word, slot]."""
    shape, strides = array.shape, array.strides
    if array.ndim == 1:
        (slots,), (size,) = shape, strides
        if size % _WORD:
            raise TypeError(f"{array.dtype} has {size} bytes, which are no words of {_WORD}")
        shape, strides = (size // _WORD, slots), (_WORD, size)
    return _view(array, wp.int64, shape, strides)


def field_of(array: Any, name: str) -> Any:
    """One scalar of each struct of an array [slot], as [1, slot]."""
    (slots,), (size,) = array.shape, array.strides
    first = record_dtype(array.dtype).fields[name][1]
    return _view(array, scalar, (1, slots), (_WORD, size), first)


def _view(array: Any, dtype: Any, shape: Any, strides: Any, first: int = 0) -> Any:
    pointer = None if array.ptr is None else array.ptr + first
    out = wp.array(ptr=pointer, dtype=dtype, shape=shape, strides=strides, device=array.device)
    out._behind = array  # whose memory it is
    return out


def put(words: Any, values: Any, slots: Any, device: devices.Device) -> None:
    """Write a row of ``values`` (structs, or numbers in rows) into each of some slots."""
    rows = np.ascontiguousarray(values)
    rows = rows.view(np.int64).reshape(len(rows), -1)
    inputs = [slots, wp.array(rows, dtype=wp.int64, device=device.name), words]
    devices.launch(_put, len(rows), inputs, device)


@wp.kernel(enable_backward=False)
def _put_numbers(
    offset: int, slots: wp.array(dtype=int), values: wp.array(dtype=int), out: wp.array(dtype=int)
) -> None:
    i = wp.tid() + offset
    out[slots[i]] = values[i]


def put_numbers(array: Any, values: Any, slots: Any, device: devices.Device) -> None:
    """Write a whole number into each of some slots."""
    inputs = [slots, wp.array(values, dtype=int, device=device.name), array]
    devices.launch(_put_numbers, len(values), inputs, device)


def take(words: Any, values: Any, chosen: Any, slots: Any, device: devices.Device) -> None:
    """Read some slots into the rows ``chosen`` of ``values``."""
    found = wp.empty((len(chosen), words.shape[0]), dtype=wp.int64, device=device.name)
    devices.launch(_take, len(chosen), [slots, words, found], device)
    rows = found.numpy()
    values[chosen] = rows.view(values.dtype).reshape(len(chosen), *values.shape[1:])


def fill(rows: Any, value: float, slots: Any, device: devices.Device) -> None:
    """Set all rows of some slots."""
    devices.launch(_fill, len(slots), [slots, scalar(value), rows], device)


def stacked(dtype: Any, parts: list[Any]) -> Any:
    """Structured arrays one after the other, in the layout ``dtype`` (or that of a Warp struct).

    NumPy's own concatenation drops the padding between fields, and Warp insists on it.
    """
    if not isinstance(dtype, np.dtype):
        dtype = record_dtype(dtype)
    out: Any = np.zeros(sum(len(part) for part in parts), dtype=dtype)
    start = 0
    for part in parts:
        out[start : start + len(part)] = part
        start += len(part)
    return out


def joined(*parts: Any) -> Any:
    """Structured arrays of equal length as one with the fields of all."""
    fields = [(name, part.dtype[name]) for part in parts for name in part.dtype.names]
    out: Any = np.zeros(len(parts[0]), dtype=np.dtype(fields))
    for part in parts:
        for name in part.dtype.names:
            out[name] = part[name]
    return out


def take_touches(touches: wp.array, counts: Any, device: devices.Device) -> tuple[Any, Any]:
    """The first ``counts[s]`` records of each slot, as a structured array, and their slots."""
    busy = np.flatnonzero(counts)
    counts = counts[busy]
    slots = np.repeat(busy, counts)
    places = np.arange(len(slots)) - np.repeat(np.cumsum(counts) - counts, counts)
    out = wp.empty(len(slots), dtype=Touch, device=device.name)
    inputs = [
        wp.array(slots, dtype=int, device=device.name),
        wp.array(places, dtype=int, device=device.name),
        touches,
        out,
    ]
    devices.launch(_gather_touches, len(slots), inputs, device)
    found = out.numpy()
    # On a CPU that is the kernel's own memory.
    return (found if device.is_gpu else found.copy()), slots

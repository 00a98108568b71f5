"""What runs leave behind: the record of a contact, and how records and runs come off a device.

Runs and what goes with them are moved as words of eight bytes, whatever they are made of: a struct
in slot s is column s of a table [row, word, slot], whether a slot has one or several of them.
"""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.streams import fetched
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
    values: wp.array2d(dtype=wp.int64),  # [run, word of every row]
    words_out: wp.array3d(dtype=wp.int64),  # [row, word, slot]
) -> None:
    i = wp.tid() + offset
    width = words_out.shape[1]
    for r in range(words_out.shape[0]):
        for k in range(width):
            words_out[r, k, slots[i]] = values[i, r * width + k]


@wp.kernel(enable_backward=False)
def _take(
    offset: int,
    slots: wp.array(dtype=int),
    words: wp.array3d(dtype=wp.int64),
    values_out: wp.array2d(dtype=wp.int64),
) -> None:
    i = wp.tid() + offset
    width = words.shape[1]
    for r in range(words.shape[0]):
        for k in range(width):
            values_out[i, r * width + k] = words[r, k, slots[i]]


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
    """The NumPy type of a Warp struct; Warp makes a new one each time, which takes a while."""
    return np.dtype(record.numpy_dtype())


def size_of(record: Any) -> int:
    """Size of a Warp struct [bytes]."""
    return int(record_dtype(record).itemsize)


def words_of(array: Any) -> Any:
    """Structs or scalars [slot] or [row, slot] seen as words [row, word, slot]."""
    size = array.strides[-1]
    if size % _WORD:
        raise TypeError(f"{array.dtype} has {size} bytes, which are no words of {_WORD}")
    rows, by = (array.shape[0], array.strides[0]) if array.ndim == 2 else (1, size)
    width = wp.types.type_size_in_bytes(array.dtype) // _WORD
    return _view(array, wp.int64, (rows, width, array.shape[-1]), (by, _WORD, size))


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


def put(words: Any, values: Any, slots: Any, device: devices.Device) -> Any:
    """Write a row of ``values`` (structs, or numbers in rows) into each of some slots.

    What is returned must be kept until the device has done so.
    """
    rows = np.ascontiguousarray(values)
    given = wp.array(rows.view(np.int64).reshape(len(rows), -1), dtype=wp.int64, device=device.name)
    devices.launch(_put, len(rows), [slots, given, words], device)
    return given


@wp.kernel(enable_backward=False)
def _put_numbers(
    offset: int, slots: wp.array(dtype=int), values: wp.array(dtype=int), out: wp.array(dtype=int)
) -> None:
    i = wp.tid() + offset
    out[slots[i]] = values[i]


def put_numbers(array: Any, values: Any, slots: Any, device: devices.Device) -> Any:
    """Write a whole number into each of some slots; see ``put``."""
    given = wp.array(values, dtype=int, device=device.name)
    devices.launch(_put_numbers, len(values), [slots, given, array], device)
    return given


def taken(words: Any, slots: Any, device: devices.Device) -> Any:
    """(n, words) what some slots hold."""
    rows, width, _ = words.shape
    found = wp.empty((len(slots), rows * width), dtype=wp.int64, device=device.name)
    devices.launch(_take, len(slots), [slots, words, found], device)
    return fetched(found)


def fill(rows: Any, value: float, slots: Any, device: devices.Device) -> None:
    """Set all rows of some slots."""
    devices.launch(_fill, len(slots), [slots, scalar(value), rows], device)


def stacked(dtype: Any, parts: list[Any]) -> Any:
    """Structured arrays one after the other, in the layout ``dtype`` (or that of a Warp struct).

    NumPy's own concatenation drops the padding between fields, and Warp insists on it.
    """
    if not isinstance(dtype, np.dtype):
        dtype = record_dtype(dtype)
    whole = [part for part in parts if part.dtype == dtype and part.flags.c_contiguous]
    if parts and len(whole) == len(parts) and dtype.itemsize % _WORD == 0:
        # As words: many times faster than field by field.
        return np.concatenate([_as_words(part) for part in parts]).view(dtype).reshape(-1)
    out: Any = np.zeros(sum(len(part) for part in parts), dtype=dtype)
    start = 0
    for part in parts:
        out[start : start + len(part)] = part
        start += len(part)
    return out


def _as_words(table: Any) -> Any:
    return table.view(np.int64).reshape(len(table), table.dtype.itemsize // _WORD)


def rows_of(table: Any, chosen: Any) -> Any:
    """Some rows of a structured array, padding and all."""
    return _as_words(table)[chosen].view(table.dtype).reshape(-1)


def joined(*parts: Any) -> Any:
    """Structured arrays of equal length as one with the fields of all."""
    fields = [(name, part.dtype[name]) for part in parts for name in part.dtype.names]
    out: Any = np.zeros(len(parts[0]), dtype=np.dtype(fields))
    for part in parts:
        for name in part.dtype.names:
            out[name] = part[name]
    return out


def take_touches(touches: wp.array, slots: Any, counts: Any, device: devices.Device) -> Any:
    """The first ``counts[i]`` records of each of some slots, as a structured array, and the slot of
    each."""
    whose = np.repeat(slots, counts)
    places = np.arange(len(whose)) - np.repeat(np.cumsum(counts) - counts, counts)
    out = wp.empty(len(whose), dtype=Touch, device=device.name)
    inputs = [
        wp.array(whose, dtype=int, device=device.name),
        wp.array(places, dtype=int, device=device.name),
        touches,
        out,
    ]
    devices.launch(_gather_touches, len(whose), inputs, device)
    found = fetched(out)
    # On a CPU that is the kernel's own memory.
    return (found if device.is_gpu else found.copy()), whose

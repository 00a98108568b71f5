"""Moving runs and records between the host and the slots of a batch on a device."""

from typing import Any

import numpy as np
import warp as wp

from alight.contact.hull.contact_list import MOST, HullContact
from alight.contact.impulse.contact_solver import HeldContact
from alight.contact.state import Found
from alight.core import devices
from alight.core.types import scalar
from alight.engine.run import Memory, Notes, Run, Touch
from alight.surfaces.rocks.nearby_cache import NO_SHELF, ShelfSize

_RUN: Any = Run
_NOTES: Any = Notes


@wp.kernel(enable_backward=False)
def _scatter(
    offset: int,
    slots: wp.array(dtype=int),
    runs: wp.array(dtype=Run),
    notes: wp.array(dtype=Notes),
    memory: Memory,
    runs_out: wp.array(dtype=Run),
) -> None:
    i = wp.tid() + offset
    slot = slots[i]
    runs_out[slot] = runs[i]
    memory.notes[slot] = notes[i]
    for j in range(memory.clear.shape[0]):
        memory.clear[j, slot] = scalar(-1.0)
    if memory.shelves.shelf.shape[0] > 0:
        memory.shelves.shelf[slot].reach = scalar(-1.0)


@wp.kernel(enable_backward=False)
def _gather(
    offset: int,
    slots: wp.array(dtype=int),
    runs: wp.array(dtype=Run),
    memory: Memory,
    runs_out: wp.array(dtype=Run),
    notes_out: wp.array(dtype=Notes),
) -> None:
    i = wp.tid() + offset
    runs_out[i] = runs[slots[i]]
    notes_out[i] = memory.notes[slots[i]]


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


def stacked(dtype: Any, parts: list[Any]) -> Any:
    """Structured arrays one after the other, in the layout ``dtype`` (or that of a Warp struct).

    NumPy's own concatenation drops the padding between fields, and Warp insists on it.
    """
    if not isinstance(dtype, np.dtype):
        dtype = dtype.numpy_dtype()
    out: Any = np.zeros(sum(len(part) for part in parts), dtype=dtype)
    start = 0
    for part in parts:
        out[start : start + len(part)] = part
        start += len(part)
    return out


def size_of(record: Any) -> int:
    """Size of a Warp struct [bytes]."""
    return int(np.dtype(record.numpy_dtype()).itemsize)


def state_dtype() -> Any:
    """All that is kept of a run, its state and its notes, as one NumPy record."""
    kinds = [np.dtype(part.numpy_dtype()) for part in (_RUN, _NOTES)]
    return np.dtype([(name, kind[name]) for kind in kinds for name in kind.names or ()])


class States:
    """The states and notes of all runs of a batch, on the host."""

    def __init__(self, count: int) -> None:
        self.runs: Any = np.zeros(count, dtype=_RUN.numpy_dtype())
        self.notes: Any = np.zeros(count, dtype=_NOTES.numpy_dtype())

    def joined(self) -> Any:
        """As one structured array."""
        out: Any = np.zeros(len(self.runs), dtype=state_dtype())
        for part in (self.runs, self.notes):
            for name in part.dtype.names:
                out[name] = part[name]
        return out


class Slots:
    """Runs on a device: state in ``runs``, the rest in ``memory``."""

    def __init__(
        self,
        count: int,
        points: int,
        pairs: bool,
        device: devices.Device,
        shelf: ShelfSize = NO_SHELF,
    ) -> None:
        self.device = device
        self.runs = wp.zeros(count, dtype=Run, device=device.name)
        self.memory = Memory()
        self.memory.notes = wp.zeros(count, dtype=Notes, device=device.name)
        # One row more than there are points ends a search for those that are near.
        self.memory.clear = wp.empty((points + 1, count), dtype=scalar, device=device.name)
        most = MOST if pairs else 0
        self.memory.found = wp.empty((max(points, most), count), dtype=Found, device=device.name)
        self.memory.contacts = wp.empty((most, count), dtype=HullContact, device=device.name)
        self.memory.held = wp.zeros((most, count), dtype=HeldContact, device=device.name)
        self.memory.before = wp.zeros((most, count), dtype=HeldContact, device=device.name)
        self.memory.shelves = shelf.shelves(count, device)

    @staticmethod
    def bytes_each(points: int, pairs: bool, shelf: ShelfSize = NO_SHELF) -> int:
        """What one slot takes on the device [bytes]."""
        most = MOST if pairs else 0
        own = size_of(Run) + size_of(Notes) + 8 * points + max(points, most) * size_of(Found)
        return own + shelf.bytes_each + most * (size_of(HullContact) + 2 * size_of(HeldContact))

    def put(self, states: States, chosen: Any, slots: Any) -> None:
        """Put runs into slots; nothing is known yet of the ground near them."""
        name = self.device.name
        inputs = [
            wp.array(slots, dtype=int, device=name),
            wp.array(states.runs[chosen], dtype=Run, device=name),
            wp.array(states.notes[chosen], dtype=Notes, device=name),
            self.memory,
            self.runs,
        ]
        devices.launch(_scatter, len(slots), inputs, self.device)

    def take(self, states: States, chosen: Any, slots: Any) -> None:
        """Copy the runs in some slots back to the host."""
        name = self.device.name
        runs = wp.empty(len(slots), dtype=Run, device=name)
        notes = wp.empty(len(slots), dtype=Notes, device=name)
        inputs = [wp.array(slots, dtype=int, device=name), self.runs, self.memory, runs, notes]
        devices.launch(_gather, len(slots), inputs, self.device)
        states.runs[chosen], states.notes[chosen] = runs.numpy(), notes.numpy()


def take_touches(touches: wp.array, counts: Any, device: devices.Device) -> Any:
    """The first ``counts[s]`` records of each slot, as a structured array."""
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
    return found if device.is_gpu else found.copy()  # on a CPU that is the kernel's own memory

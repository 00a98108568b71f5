"""Moving runs and records between the host and the slots of a batch on a device."""

from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.types import scalar
from alight.engine.run import Run, Touch


@wp.kernel(enable_backward=False)
def _scatter(
    offset: int,
    slots: wp.array(dtype=int),
    values: wp.array(dtype=Run),
    runs_out: wp.array(dtype=Run),
    clear_out: wp.array2d(dtype=scalar),
) -> None:
    i = wp.tid() + offset
    slot = slots[i]
    runs_out[slot] = values[i]
    for j in range(clear_out.shape[0]):
        clear_out[j, slot] = scalar(-1.0)


@wp.kernel(enable_backward=False)
def _gather(
    offset: int,
    slots: wp.array(dtype=int),
    runs: wp.array(dtype=Run),
    values_out: wp.array(dtype=Run),
) -> None:
    i = wp.tid() + offset
    values_out[i] = runs[slots[i]]


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


def stacked(record: Any, parts: list[Any]) -> Any:
    """Structured arrays one after the other, in the layout of the Warp struct ``record``.

    NumPy's own concatenation drops the padding between fields, and Warp insists on it.
    """
    out: Any = np.zeros(sum(len(part) for part in parts), dtype=record.numpy_dtype())
    start = 0
    for part in parts:
        out[start : start + len(part)] = part
        start += len(part)
    return out


def scatter(
    values: Any, slots: Any, runs: wp.array, clear: wp.array, device: devices.Device
) -> None:
    """Put runs into slots; nothing is known yet of the way their points have to the ground."""
    inputs = [
        wp.array(slots, dtype=int, device=device.name),
        wp.array(values, dtype=Run, device=device.name),
        runs,
        clear,
    ]
    devices.launch(_scatter, len(slots), inputs, device)


def gather(runs: wp.array, slots: Any, device: devices.Device) -> Any:
    """The runs in some slots, as a structured array."""
    out = wp.empty(len(slots), dtype=Run, device=device.name)
    inputs = [wp.array(slots, dtype=int, device=device.name), runs, out]
    devices.launch(_gather, len(slots), inputs, device)
    return out.numpy()


def take_touches(touches: wp.array, counts: Any, device: devices.Device) -> Any:
    """The first ``counts[s]`` records of each slot, as a structured array."""
    slots = np.repeat(np.arange(len(counts)), counts)
    places = np.arange(len(slots)) - np.repeat(np.cumsum(counts) - counts, counts)
    out = wp.empty(len(slots), dtype=Touch, device=device.name)
    inputs = [
        wp.array(slots, dtype=int, device=device.name),
        wp.array(places, dtype=int, device=device.name),
        touches,
        out,
    ]
    devices.launch(_gather_touches, len(slots), inputs, device)
    return out.numpy().copy()

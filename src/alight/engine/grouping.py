"""Which runs are advanced together: on a GPU those that do alike, in launches of some phases each.

Sorting happens on the device, between two launches; the host reads back only how many there are of
each group. The order of runs changes no run's bits.
"""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.outcomes import Outcome
from alight.engine.motion import Loop

_RUNNING = wp.constant(int(Outcome.RUNNING))

#: A launch of few runs is spread over this many groups of 32 threads at least.
GPU_GROUPS = 264


@functools.cache
def _grouping_kernel(loop: Loop) -> Any:
    Run: Any = loop.Run
    group, idle = loop.group, loop.groups

    @wp.kernel(module="unique", enable_backward=False)
    def tell_apart(
        offset: int,
        runs: wp.array(dtype=Run),
        touch_count: wp.array(dtype=int),
        room: int,
        group_out: wp.array(dtype=int),
        slot_out: wp.array(dtype=int),
        total_out: wp.array(dtype=int),
    ) -> None:
        slot = wp.tid() + offset
        number = group(runs[slot])
        if runs[slot].outcome != _RUNNING or touch_count[slot] >= room:
            number = wp.static(idle)
        group_out[slot] = number
        slot_out[slot] = slot
        wp.atomic_add(total_out, number, 1)

    return tell_apart


class Grouping:
    """Sorts the slots of a batch on a GPU."""

    def __init__(self, loop: Loop, count: int, device: devices.Device) -> None:
        self.device, self.count = device, count
        self._kernel = _grouping_kernel(loop)
        self._last = [launch.last for launch in loop.apart]
        # The sort works in place and needs as much room again.
        self._group = wp.empty(2 * count, dtype=int, device=device.name)
        self._slot = wp.empty(2 * count, dtype=int, device=device.name)
        # One more, of those that are not to be advanced.
        self._total = wp.zeros(loop.groups + 1, dtype=int, device=device.name)

    def sorted(self, runs: wp.array, touch_count: wp.array, room: int) -> list[Any]:
        """The slots of each launch, as arrays on the device.

        A run whose contacts fill their ``room`` waits until they are taken out.
        """
        self._total.zero_()
        inputs = [runs, touch_count, room, self._group, self._slot, self._total]
        devices.launch(self._kernel, self.count, inputs, self.device)
        wp.utils.radix_sort_pairs(self._group, self._slot, self.count)
        ends = np.cumsum(self._total.numpy())[self._last]
        return [self._slot[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def spread(busy: Any) -> Any:
    """Slots for the threads of a launch, in ``GPU_GROUPS`` groups of 32 or more; -1 for none."""
    lanes = min(32, -(-len(busy) // GPU_GROUPS))
    place = np.arange(len(busy))
    index = np.full((-(-len(busy) // lanes), 32), -1)
    index[place // lanes, place % lanes] = busy
    return index.ravel()

"""Which runs are advanced together: on a GPU those that do alike, in launches of some phases each.

Runs are distinguished on the device, before every launch, and a launch reads there how many it has:
the host asks for nothing and waits for nothing. The order of runs changes no run's bits.
"""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.outcomes import Outcome
from alight.engine.motion import Loop

_RUNNING = wp.constant(int(Outcome.RUNNING))

#: Threads that go in step on a GPU.
_LANES = 32
#: A launch of few runs is spread over this many groups of 32 threads at least: runs that do not
#: share one do not wait for each other.
GPU_GROUPS = 264
#: A launch has room for so many threads at least.
GPU_THREADS = GPU_GROUPS * _LANES


@wp.func
def listed_slot(
    index: wp.array2d(dtype=int), counts: wp.array(dtype=int), first: int, last: int, place: int
):
    """The slot of the run that a thread has, of groups ``first`` to ``last``; -1 for none."""
    total = int(0)
    for g in range(first, last + 1):
        total += counts[g]
    lanes = wp.min(wp.static(_LANES), (total + wp.static(GPU_GROUPS - 1)) // wp.static(GPU_GROUPS))
    lane = place % wp.static(_LANES)
    if lane >= lanes:
        return -1
    left = place // wp.static(_LANES) * lanes + lane
    for g in range(first, last + 1):
        if left < counts[g]:
            return index[g, left]
        left -= counts[g]
    return -1


# Threads that go in step take their places at once: thousands that each add 1 to the same number
# would wait for each other. A CPU has one thread here.
@wp.func_native(
    """
#if defined(__CUDA_ARCH__)
    const unsigned alike = __match_any_sync(__activemask(), group);
    const int lane = threadIdx.x % 32, first = __ffs(alike) - 1;
    int place = 0;
    if (lane == first)
        place = atomicAdd(counts.data + group, __popc(alike));
    place = __shfl_sync(alike, place, first);
    return place + __popc(alike & ((1u << lane) - 1));
#else
    return counts.data[group]++;
#endif
"""
)
def next_place(counts: wp.array(dtype=int), group: int) -> int:  # type: ignore[empty-body]
    """A place in the list of a group, which then has one more."""
    ...


@functools.cache
def grouping_kernel(loop: Loop) -> Any:
    """The kernel that lists the slots of each group of runs."""
    Run: Any = loop.Run
    group = loop.group

    @wp.kernel(module="unique", enable_backward=False)
    def tell_apart(
        offset: int,
        runs: wp.array(dtype=Run),
        touch_count: wp.array(dtype=int),
        room: int,
        most_steps: int,
        counts_out: wp.array(dtype=int),
        index_out: wp.array2d(dtype=int),
    ) -> None:
        slot = wp.tid() + offset
        idle = runs[slot].outcome != _RUNNING or runs[slot].steps >= most_steps
        if idle or touch_count[slot] >= room:
            return
        number = group(runs[slot])
        index_out[number, next_place(counts_out, number)] = slot

    return tell_apart


class Grouping:
    """Lists the slots of a deck on a GPU, for each of a number of launches."""

    def __init__(self, loop: Loop, slots: int, launches: int, device: devices.Device) -> None:
        self._device, self._slots = device, slots
        self._kernel = grouping_kernel(loop)
        self.index = wp.empty((loop.groups, slots), dtype=int, device=device.name)
        #: How many there are in each group, a row for each launch.
        self.counts = wp.zeros((launches, loop.groups), dtype=int, device=device.name)
        #: Threads that a launch needs, however the runs are spread.
        self.threads = max(GPU_THREADS, -(-slots // _LANES) * _LANES)

    def listing(
        self, launch: int, runs: wp.array, touch_count: wp.array, room: int, most_steps: int
    ) -> Any:
        """What lists the runs of each group as they are then, as a launch to be made later.

        A run whose contacts fill their ``room``, or that has taken ``most_steps``, waits for the
        host. ``counts`` must be 0 before the first launch.
        """
        inputs = [runs, touch_count, room, most_steps, self.counts[launch], self.index]
        return devices.recorded(self._kernel, self._slots, inputs, self._device)


def spread(busy: Any) -> Any:
    """Slots for the threads of a launch, in ``GPU_GROUPS`` groups of 32 or more; -1 for none."""
    lanes = min(_LANES, -(-len(busy) // GPU_GROUPS))
    place = np.arange(len(busy))
    index = np.full((-(-len(busy) // lanes), _LANES), -1)
    index[place // lanes, place % lanes] = busy
    return index.ravel()

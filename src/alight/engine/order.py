"""In which order runs are advanced: on a GPU by phase, so that neighbouring threads do alike.

Sorting happens on the device, between two launches; the host reads back only how many there are of
each kind. The order of runs changes no run's bits.
"""

from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.outcomes import Outcome
from alight.engine.run import FLIGHT, Run

_RUNNING = wp.constant(int(Outcome.RUNNING))

#: Kinds of runs, in the order in which they are sorted: flight far from the ground and close to
#: it, hits, contact that lasts, and what is not to be advanced.
_KINDS = 5
_IDLE = wp.constant(4)


@wp.kernel(enable_backward=False)
def _tell_apart(
    offset: int,
    runs: wp.array(dtype=Run),
    touch_count: wp.array(dtype=int),
    room: int,
    kind_out: wp.array(dtype=int),
    slot_out: wp.array(dtype=int),
    total_out: wp.array(dtype=int),
) -> None:
    slot = wp.tid() + offset
    kind = 2 + runs[slot].lasting
    if runs[slot].phase == FLIGHT:
        kind = runs[slot].near
    if runs[slot].outcome != _RUNNING or touch_count[slot] >= room:
        kind = _IDLE
    kind_out[slot] = kind
    slot_out[slot] = slot
    wp.atomic_add(total_out, kind, 1)


class PhaseOrder:
    """Sorts the slots of a batch on a GPU."""

    def __init__(self, count: int, groups: int, device: devices.Device) -> None:
        self.device, self.count = device, count
        # Flight is one group; hits and contact that lasts are one, or two.
        self._last = (1, 3) if groups == 2 else (1, 2, 3)
        # The sort works in place and needs as much room again.
        self._kind = wp.empty(2 * count, dtype=int, device=device.name)
        self._slot = wp.empty(2 * count, dtype=int, device=device.name)
        self._total = wp.zeros(_KINDS, dtype=int, device=device.name)

    def sorted(self, runs: wp.array, touch_count: wp.array, room: int) -> list[Any]:
        """Slots in flight and slots in contact, in one or two groups, as arrays on the device.

        A run whose contacts fill their ``room`` waits until they are taken out.
        """
        self._total.zero_()
        inputs = [runs, touch_count, room, self._kind, self._slot, self._total]
        devices.launch(_tell_apart, self.count, inputs, self.device)
        wp.utils.radix_sort_pairs(self._kind, self._slot, self.count)
        ends = np.cumsum(self._total.numpy())[list(self._last)]
        return [self._slot[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]

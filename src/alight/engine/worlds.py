"""The parameters of models on a device, where runs of several go together: a table of worlds.

A place in the table is taken when runs of its model come, and free again when they have all ended.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.core.streams import fetched
from alight.engine import records
from alight.engine.motion import Motion, WorldRows, world_rows
from alight.engine.stops import judging

Places = npt.NDArray[np.int32]

#: What runs of one batch may have of their own (``Loop.own``).
CONTACT, ALL = "contact", "all"


def least_own(model: Motion) -> str:
    """The least that the runs of a batch may have of their own that begins with this model's, and
    continues with those of others."""
    shared = not model.own_worlds and CONTACT in model.loop().World.vars
    return CONTACT if shared else ALL


def alike(first: Any, other: Any) -> bool:
    """Whether two worlds are the same but for the numbers of the contact law."""
    names = [name for name in first._cls.vars if name != CONTACT]
    return all(_same(getattr(first, name), getattr(other, name)) for name in names)


def _same(a: Any, b: Any) -> bool:
    """Whether two fields of a struct have the same numbers."""
    if isinstance(a, wp.array):
        if a.ptr == b.ptr and a.shape == b.shape:
            return True
        return a.shape == b.shape and fetched(a).tobytes() == fetched(b).tobytes()
    if hasattr(a, "_cls"):
        return all(_same(getattr(a, name), getattr(b, name)) for name in a._cls.vars)
    # Numbers that nobody has set are Warp's own.
    return np.array_equal(getattr(a, "value", a), getattr(b, "value", b))


class Table:
    """Structs of one kind, by place; it grows as it must."""

    def __init__(self, record: Any, device: devices.Device) -> None:
        self.record, self.device = record, device
        self.array = wp.empty(0, dtype=record, device=device.name)

    def put(self, rows: Any, places: Places) -> None:
        """Write structs, as rows of a structured array, to their places."""
        if int(places.max()) >= len(self.array):
            self._grow(int(places.max()) + 1)
        index = wp.array(places, dtype=int, device=self.device.name)
        records.put(records.words_of(self.array), rows, index, self.device)

    def _grow(self, least: int) -> None:
        old = self.array
        self.device.synchronize()  # launches under way may read it
        self.array = wp.zeros(max(least, 2 * len(old)), dtype=self.record, device=self.device.name)
        if len(old):
            wp.copy(self.array, old, count=len(old))


class Worlds:
    """The worlds of all models whose runs are under way, and their stops."""

    def __init__(
        self, World: Any, judge: judging.Judge | None, stops: Any, device: devices.Device
    ) -> None:
        self.device = device
        self._worlds = Table(World, device)
        self._stops = None if judge is None else Table(judging.type_of(stops), device)
        self._free = np.zeros(0, dtype=np.int32)
        self._used = 0
        #: What lies at places, by the first of them: arrays must outlive the runs that read them.
        self._behind: dict[int, Any] = {}

    @property
    def array(self) -> wp.array:
        """Of worlds, by place."""
        return self._worlds.array

    def stops(self) -> Any:
        """Of their stops, by place; None where there are none."""
        return None if self._stops is None else self._stops.array

    def add(self, worlds: WorldRows) -> Places:
        """Take a place for each row, with the stops that go with it."""
        places = self._places(len(worlds.rows))
        own: list[Any] = []
        if len(places):
            self._worlds.put(worlds.rows, places)
            if self._stops is not None:
                own = [judging.data_of(each, self.device) for each in worlds.stops]
                self._stops.put(world_rows(own, len(places) if len(own) == 1 else None), places)
            self._behind[int(places[0])] = (worlds, own)
        return places

    def _places(self, count: int) -> Places:
        """This number that are free."""
        more = max(0, count - len(self._free))
        new = np.arange(self._used, self._used + more, dtype=np.int32)
        taken, self._free = self._free[: count - more], self._free[count - more :]
        self._used += more
        return np.concatenate([taken, new])

    def remove(self, places: Places) -> None:
        """Their runs have ended."""
        if len(places):
            del self._behind[int(places[0])]
            self._free = np.concatenate([self._free, places])

"""The parameters of models on a device, where runs of several go together: a table of worlds.

A place in the table is taken when runs of its model come, and free again when they have all ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices
from alight.engine import records
from alight.engine.stops import judging
from alight.engine.stops.law import StopLaw

Places = npt.NDArray[np.int32]


class Table:
    """Structs of one kind, by place; it grows as it must."""

    def __init__(self, record: Any, device: devices.Device) -> None:
        self.record, self.device = record, device
        self.array = wp.empty(0, dtype=record, device=device.name)

    def put(self, structs: Sequence[Any], places: Places) -> None:
        """Write structs to their places."""
        if int(places.max()) >= len(self.array):
            self._grow(int(places.max()) + 1)
        made = wp.array(list(structs), dtype=self.record, device="cpu").numpy()
        index = wp.array(places, dtype=int, device=self.device.name)
        records.put(records.words_of(self.array), made, index, self.device)

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
        self._free: list[int] = []
        self._used = 0
        #: What lies at each place: its arrays must outlive the runs that read them.
        self._behind: dict[int, Any] = {}

    @property
    def array(self) -> wp.array:
        """Of worlds, by place."""
        return self._worlds.array

    def stops(self) -> Any:
        """Of their stops, by place; None where there are none."""
        return None if self._stops is None else self._stops.array

    def add(self, worlds: Sequence[Any], stops: Sequence[Sequence[StopLaw]]) -> Places:
        """Take a place for each world, with the stops of its model."""
        places = np.array([self._place() for _ in worlds], dtype=np.int32)
        self._worlds.put(worlds, places)
        own: list[Any] = [None] * len(worlds)
        if self._stops is not None:
            own = [judging.data_of(each, self.device) for each in stops]
            self._stops.put(own, places)
        for place, world, data in zip(places.tolist(), worlds, own, strict=True):
            self._behind[place] = (world, data)
        return places

    def _place(self) -> int:
        if self._free:
            return self._free.pop()
        self._used += 1
        return self._used - 1

    def remove(self, places: Places) -> None:
        """Their runs have ended."""
        for place in places.tolist():
            del self._behind[place]
            self._free.append(place)

"""Runs that were released together, on the host: as they start, and as far as they have come."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core import devices
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine import records
from alight.engine.history import History
from alight.engine.motion import Motion, WorldRows
from alight.engine.records import Touch


class Lot:
    """The runs of one release.

    Rows in ``on_host`` are computed on cores of the host also where all others go to a GPU.
    """

    def __init__(
        self, model: Motion, release: Any, threads: int | None, on_host: Any = None
    ) -> None:
        if not isinstance(release, model.Release):
            raise InputError(
                f"the model is a {type(model).__name__} and the release a "
                f"{type(release).__name__}; a "
                f"{type(model).__name__} goes with a {model.Release.__name__}."
            )
        self.model, self.release, self._threads = model, release, threads
        # On the host, wherever the runs go on: a release has the same bits everywhere.
        self.states = model.start(release, devices.resolve("cpu"), threads)
        #: (n,) the runs as they start: releases a little below the ground are lifted.
        self.released = self.states.runs.copy()
        #: Rows of runs that could not start, and of those that are computed on the host.
        self.ended = np.flatnonzero(self.released["outcome"] != Outcome.RUNNING)
        self.on_host = np.zeros(0, dtype=np.int64) if on_host is None else on_host
        self.drained: list[Any] = []
        self.histories: dict[int, History] = {}

        self._worlds: dict[str, WorldRows] = {}

    def __len__(self) -> int:
        return len(self.states.runs)

    def worlds(self, device: devices.Device, rows: Any) -> WorldRows:
        """The parameters of some of its runs; found once where these are those of all."""
        if self.model.own_worlds:
            return self.model.worlds(self.release, device, rows)
        if device.name not in self._worlds:
            self._worlds[device.name] = self.model.worlds(self.release, device, rows)
        return self._worlds[device.name]

    @property
    def running(self) -> Any:
        """Rows of runs that have not ended."""
        return np.flatnonzero(self.states.runs["outcome"] == Outcome.RUNNING)

    def codes(self, rows: Any) -> list[int]:
        """How some runs ended."""
        return list(self.states.runs["outcome"][rows].tolist())

    def result(self) -> Any:
        """Runs as far as they have come, and all contacts so far."""
        touches = records.stacked(Touch, self.drained)
        # Those of one run were drained in order of time.
        touches = records.rows_of(touches, np.argsort(touches["run"], kind="stable"))
        return self.model.result(self.states, touches, self._threads)


class Share:
    """Some runs of a lot, which one batch carries to their ends; all that can run if not said.

    ``carried`` is what those that are under way have in memory beside their states, a row each.
    """

    def __init__(self, lot: Lot, rows: Any = None, carried: dict[str, Any] | None = None) -> None:
        self.lot = lot
        self.rows = lot.running if rows is None else rows
        self._carried = carried or {}
        self._next = 0
        #: Runs that have not ended.
        self.left = len(self.rows)
        #: (n,) where the parameters of each run of the lot are (``engine.worlds``), and all places.
        self.world_of: Any = None
        self.places: Any = None

    @property
    def waiting(self) -> int:
        """Runs that are in no slot yet."""
        return len(self.rows) - self._next

    def next(self, most: int) -> Any:
        """At most this number of rows that are to go into slots now."""
        chosen = self.rows[self._next : self._next + most]
        self._next += len(chosen)
        return chosen

    def carried_by(self, chosen: Any) -> dict[str, Any]:
        """What the last rows that ``next`` gave have in memory."""
        last = slice(self._next - len(chosen), self._next)
        return {name: values[last] for name, values in self._carried.items()}

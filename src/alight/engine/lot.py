"""Runs that were released together, on the host: as they start, and as far as they have come."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core import devices
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine import records
from alight.engine.history import History
from alight.engine.motion import Motion
from alight.engine.records import Touch


class Lot:
    """The runs of one release."""

    def __init__(
        self, model: Motion, release: Any, device: devices.Device, threads: int | None
    ) -> None:
        if not isinstance(release, model.Release):
            raise InputError(
                f"the model is a {type(model).__name__} and the release a "
                f"{type(release).__name__}; a "
                f"{type(model).__name__} goes with a {model.Release.__name__}."
            )
        self.model, self.release, self._threads = model, release, threads
        self.states = model.start(release, device, threads)
        #: (n,) the runs as they start: releases a little below the ground are lifted.
        self.released = self.states.runs.copy()
        #: Runs that are in no slot yet, the last first.
        self.waiting = np.flatnonzero(self.states.runs["outcome"] == Outcome.RUNNING)[::-1]
        #: Runs that have not ended.
        self.left = len(self.waiting)
        self.drained: list[Any] = []
        self.histories: dict[int, History] = {}
        #: (n,) where the parameters of each run are (``engine.worlds``), and all such places.
        self.world_of: Any = None
        self.places: Any = None

    def __len__(self) -> int:
        return len(self.states.runs)

    def next(self, most: int) -> Any:
        """At most so many runs that are to go into slots now."""
        count = min(most, len(self.waiting))
        chosen = self.waiting[len(self.waiting) - count :][::-1]
        self.waiting = self.waiting[: len(self.waiting) - count]
        return chosen

    def result(self) -> Any:
        """Runs as far as they have come, and all contacts so far."""
        touches = records.stacked(Touch, self.drained)
        touches = touches[np.lexsort((touches["start"], touches["run"]))]
        return self.model.result(self.states, touches, self._threads)

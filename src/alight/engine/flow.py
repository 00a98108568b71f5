"""Runs that flow through slots: what a batch of rigid landers and one of articulated ones share.

Waiting runs are put into empty slots, launches carry them on, and after each the records are taken
out and the runs that ended make room. Each run is whole between launches, so that an interruption
loses nothing. What a slot holds, and what a launch is, the two batches know.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.errors import InputError
from alight.core.outcomes import FIRST_FAILURE, Outcome
from alight.core.progress import Progress, progress
from alight.engine.run import Touch
from alight.engine.slots import stacked, take_touches

Result = TypeVar("Result")


class Flow(Generic[Result]):
    """Runs of one model under way; ``run`` carries them all to their ends.

    After a KeyboardInterrupt, ``result`` has what was reached (runs not finished have the outcome
    "still running") and ``run`` goes on from there.
    """

    #: Outcomes that progress tells, by what it calls them.
    told: ClassVar[dict[str, Outcome]] = {}

    def __init__(
        self, model: Any, release: Any, device: str, threads: int | None, waiting: Any
    ) -> None:
        self.model, self.release = model, release
        self.device = devices.resolve(device)
        self.threads = threads
        #: Runs that are in no slot yet, the last first.
        self._waiting = waiting
        self._drained: list[Any] = []

    def _make_slots(self, slots: int, touches: int) -> None:
        """Room for what launches record of runs in ``slots``, ``touches`` contacts each."""
        name = self.device.name
        self._touches = wp.empty((slots, touches), dtype=Touch, device=name)
        self._touch_count = wp.zeros(slots, dtype=int, device=name)
        self._line_count = wp.zeros(slots, dtype=int, device=name)
        self._status = wp.zeros(slots, dtype=int, device=name)
        #: The run in each slot; -1 where it is empty.
        self._owner = np.full(slots, -1)

    # -- what the two batches know -------------------------------------------------------------

    def _outcomes(self) -> Any:
        """(n,) codes of all runs, as far as the host knows."""
        raise NotImplementedError

    def _put(self, chosen: Any, slots: Any) -> None:
        """Carry runs into slots of the device."""
        raise NotImplementedError

    def _take(self, chosen: Any, slots: Any) -> None:
        """Carry runs back from slots."""
        raise NotImplementedError

    def _launch_all(self, busy: Any) -> None:
        """Carry the runs in ``busy`` slots on."""
        raise NotImplementedError

    def _keep_lines(self, busy: Any) -> None:
        """Take out the lines of history that were written."""
        raise NotImplementedError

    def result(self) -> Result:
        """Runs as far as they have come, and all contacts so far."""
        raise NotImplementedError

    # -- going on ------------------------------------------------------------------------------

    def run(self, show: str | Progress = "silent") -> Result:
        """Carry every run to its end."""
        with progress(show) as bar:
            bar.start("Landings", total=len(self.release))
            bar.advance(len(self.release) - self.left)
            while self.advance():
                bar.advance(self._ended, **self._facts())
        return self.result()

    def advance(self) -> bool:
        """One launch or a few; False when every run has ended."""
        self._fill()
        busy = np.flatnonzero(self._owner >= 0)
        self._ended = 0
        if not len(busy):
            return False
        self._touch_count.zero_()
        self._line_count.zero_()
        try:
            self._launch_all(busy)
        finally:
            # Also when interrupted: each run is whole, and what it recorded is kept.
            self._drain(busy)
        return True

    @property
    def left(self) -> int:
        """Runs that have not ended."""
        return int(np.count_nonzero(self._owner >= 0)) + len(self._waiting)

    def _fill(self) -> None:
        """Put waiting runs into empty slots."""
        empty = np.flatnonzero(self._owner < 0)[: len(self._waiting)]
        if not len(empty):
            return
        chosen = self._waiting[len(self._waiting) - len(empty) :][::-1]
        self._waiting = self._waiting[: len(self._waiting) - len(empty)]
        self._put(chosen, empty)
        self._owner[empty] = chosen

    def _drain(self, busy: Any) -> None:
        """Take out what the last launches recorded and the runs that they ended."""
        counts = self._touch_count.numpy()
        if counts.any():
            self._drained.append(take_touches(self._touches, counts, self.device))
        self._keep_lines(busy)
        done = busy[self._status.numpy()[busy] != Outcome.RUNNING]
        if len(done):
            self._take(self._owner[done], done)
            self._owner[done] = -1
            self._status.zero_()
        self._ended = len(done)

    def _facts(self) -> dict[str, object]:
        code = self._outcomes()
        shown: dict[str, object] = {name: int((code == c).sum()) for name, c in self.told.items()}
        failed = int((code >= FIRST_FAILURE).sum())
        return {**shown, "failed": failed} if failed else shown

    def _so_far(self) -> Any:
        """All contacts by run and then by time; runs still in slots are carried back."""
        busy = np.flatnonzero(self._owner >= 0)
        if len(busy):
            self._take(self._owner[busy], busy)
        touches = stacked(Touch, self._drained)
        return touches[np.lexsort((touches["start"], touches["run"]))]


def check_count(parameters: int, runs: int) -> None:
    """Whether contact parameters are given once, or for each run."""
    if parameters not in (1, runs):
        raise InputError(
            f"contact parameters are given for {parameters} runs and the release for "
            f"{runs}; they must agree."
        )

"""Cores of the host beside a GPU: they carry on the runs that a GPU is slow at.

A GPU goes through thousands of runs at once, each of them a hundred times slower than a core would.
Runs that need very many steps would keep it waiting at the end. So a run that has taken as many
steps as its motion says (``Pace.hand_over``) continues here: by its own number of steps alone, so
that its bits do not depend on its company. Runs whose trajectory is kept begin here.
"""

from __future__ import annotations

import threading
from typing import Any

from alight.core import devices
from alight.engine.lot import Lot, Share
from alight.engine.motion import Motion

#: Cores that are left to the host's other work.
_OTHERS = 2


class LongRuns:
    """A batch on the host's cores, in a thread of its own."""

    def __init__(self, model: Motion, threads: int | None, together: bool, own: str) -> None:
        self._model, self._how = model, {"together": together, "own": own}
        self._threads = max(1, devices.thread_count(threads) - _OTHERS)
        self._changed = threading.Condition()
        self._given: list[Share] = []
        self._ended: list[tuple[Lot, Any]] = []
        self._failed: BaseException | None = None
        self._stopped = False
        #: Runs that were given and have not come back.
        self.left = 0
        self._thread = threading.Thread(target=self._work, name="alight long runs", daemon=True)
        self._thread.start()

    def give(self, lot: Lot, rows: Any, carried: dict[str, Any] | None = None) -> None:
        """Carry some runs of a lot on from where they are."""
        self.left += len(rows)
        with self._changed:
            self._given.append(Share(lot, rows, carried))
            self._changed.notify_all()

    def ended(self, wait: bool = False) -> list[tuple[Lot, Any]]:
        """Rows of lots that have ended since this was last asked; ``wait`` until there are some."""
        with self._changed:
            while wait and self.left and not (self._ended or self._failed):
                self._changed.wait(0.1)  # at intervals: Ctrl-C is heard between them
            if self._failed is not None:
                raise self._failed
            out, self._ended = self._ended, []
        self.left -= sum(len(rows) for _, rows in out)
        return out

    def stop(self) -> None:
        """Let go of what has not ended."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        try:
            self._carry_on()
        except BaseException as cause:
            with self._changed:
                self._failed = cause
                self._changed.notify_all()

    def _carry_on(self) -> None:
        from alight.engine.batch import Batch

        cpu = devices.resolve("cpu")
        options: dict[str, Any] = {"device": cpu.name, "threads": self._threads}
        options |= {"slots": self._model.pace(cpu).slots, "hands_over": False, **self._how}
        batch: Any = None
        while True:
            with self._changed:
                while not (self._stopped or self._given or (batch is not None and batch.left)):
                    self._changed.wait()
                if self._stopped:
                    return
                given, self._given = self._given, []
            for share in given:
                if batch is None:
                    batch = Batch(self._model, share, **options)
                else:
                    batch.add(share)
            batch.advance()
            with self._changed:
                self._ended += batch.let_go
                self._changed.notify_all()

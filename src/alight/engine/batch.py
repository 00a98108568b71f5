"""Many runs at once: chunks of steps, finished runs replaced by waiting ones, records drained.

A batch holds a bounded number of runs in slots on the device. Each launch advances every run in a
slot by at most a chunk of steps. Between launches the host takes out the contacts recorded, takes
out runs that have ended, puts waiting ones in their place, and can be interrupted; nothing that was
computed is lost. On a GPU runs are sorted by phase before each launch, so that neighbouring threads
do alike. None of this changes a run's bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_whole
from alight.core.errors import InputError
from alight.core.outcomes import Outcome, outcome_of
from alight.core.progress import Progress, progress
from alight.core.types import scalar
from alight.engine.kernel import GPU_BOUNDS, Chunk, advance_kernel
from alight.engine.model import Model
from alight.engine.release import Release, gaps
from alight.engine.run import Row, Run, Touch
from alight.engine.slots import gather, scatter, stacked, take_touches

_RUN: Any = Run

#: Runs in slots at a time, steps of one launch, contacts kept of one launch: on CPU and GPU.
CPU_SLOTS, CPU_STEPS, CPU_TOUCHES = 512, 4000, 16
GPU_SLOTS, GPU_STEPS, GPU_TOUCHES = 262_144, 32, 4
#: With fewer runs than this left, a GPU has room for all of them at once: longer launches then.
GPU_FEW, GPU_FEW_STEPS = 16_384, 512


@dataclass(frozen=True, eq=False)
class BatchResult:
    """How the runs of a batch ended; row i is run i."""

    final: Any
    """Structured array of the runs' last states and tallies (see ``engine.run.Run``)."""
    touches: Any
    """Structured array of all contacts, by run and then by time (see ``engine.run.Touch``)."""

    @property
    def outcome(self) -> Any:
        """(n,) codes of ``core.outcomes.Outcome``."""
        return self.final["outcome"]

    @property
    def time(self) -> Array:
        """(n,) when each run ended [s]."""
        return np.asarray(self.final["t"])

    @property
    def position(self) -> Array:
        """(n, 3) where, in target axes [m]."""
        return np.asarray(self.final["x"])

    @property
    def attitude(self) -> Array:
        """(n, 4) how turned, xyzw, body to target axes."""
        return np.asarray(self.final["q"])

    @property
    def bounces(self) -> Any:
        """(n,) contacts of each run, the last included."""
        return self.final["touches"]

    def count(self) -> dict[Outcome, int]:
        """How many runs ended in each way."""
        codes, counts = np.unique(self.outcome, return_counts=True)
        return {outcome_of(c): int(n) for c, n in zip(codes, counts, strict=True)}

    def __len__(self) -> int:
        return len(self.final)


class Batch:
    """Runs of one model under way; ``run`` carries them all to their ends.

    After a KeyboardInterrupt, ``result`` has what was reached (runs not finished have the outcome
    "still running") and ``run`` goes on from there.
    """

    def __init__(
        self,
        model: Model,
        release: Release,
        *,
        device: str = "auto",
        threads: int | None = None,
        slots: int | None = None,
        history: int = 0,
    ) -> None:
        if model.contact.count not in (1, len(release)):
            raise InputError(
                f"contact parameters are given for {model.contact.count} runs and the release for "
                f"{len(release)}; they must agree."
            )
        self.model, self.release = model, release
        self.device = devices.resolve(device)
        self.threads = threads
        gpu = self.device.is_gpu
        most = GPU_SLOTS if gpu else CPU_SLOTS
        self.slots = min(len(release), checked_whole("slots", slots or most, 1))
        self._prepare(history, gpu)

    def _prepare(self, history: int, gpu: bool) -> None:
        name, model = self.device.name, self.model
        self._kernel = advance_kernel(model.composition())
        self._world = model.data(self.device)
        self._chunk = Chunk()
        self._chunk.steps = GPU_STEPS if gpu else CPU_STEPS
        self._chunk.touches = GPU_TOUCHES if gpu else CPU_TOUCHES
        self._chunk.rows = history
        n = self.slots
        self._runs = wp.zeros(n, dtype=Run, device=name)
        self._clear = wp.empty((model.lander.n_points + 1, n), dtype=scalar, device=name)
        self._touches = wp.empty((n, self._chunk.touches), dtype=Touch, device=name)
        self._touch_count = wp.zeros(n, dtype=int, device=name)
        self._rows = wp.empty((n, max(1, history)), dtype=Row, device=name)
        self._row_count = wp.zeros(n, dtype=int, device=name)
        self._status = wp.zeros(n, dtype=int, device=name)
        self._final = self._first_states()
        #: The run in each slot; -1 where it is empty.
        self._owner = np.full(n, -1)
        self._waiting = np.flatnonzero(self._final["outcome"] == Outcome.RUNNING)[::-1]
        self._drained: list[Any] = []
        self._lines: list[Any] = []
        self._phase = np.zeros(n, dtype=np.int64)

    def _first_states(self) -> Any:
        """(n,) runs as they are released; those inside the ground have already failed."""
        release = self.release
        runs: Any = np.zeros(len(release), dtype=_RUN.numpy_dtype())
        runs["number"] = np.arange(len(release))
        runs["row"] = runs["number"] if self.model.contact.count > 1 else 0
        runs["x"], runs["v"] = release.position, release.velocity
        runs["q"], runs["w"] = release.attitude, release.rate
        runs["h"] = self.model.steps.longest
        runs["anchor_x"] = np.nan  # nowhere yet
        sunk = gaps(self.model, release, self.device, self.threads)
        # A lander may be placed on the ground, as deep as contact may press it in and no deeper.
        inside = sunk < -self.model.contact.depth
        runs["outcome"][inside] = Outcome.STARTED_INSIDE
        return runs

    # -- going on ------------------------------------------------------------------------------

    def run(self, show: str | Progress = "silent") -> BatchResult:
        """Carry every run to its end."""
        with progress(show) as bar:
            bar.start("Landings", total=len(self.release))
            bar.advance(int((self._final["outcome"] != Outcome.RUNNING).sum()))
            while self.advance():
                bar.advance(self._ended, **self._facts())
        return self.result()

    def advance(self) -> bool:
        """One launch; False when every run has ended."""
        self._fill()
        busy = np.flatnonzero(self._owner >= 0)
        self._ended = 0
        if not len(busy):
            return False
        index = self._ordered(busy)
        if self.device.is_gpu:
            self._chunk.steps = GPU_STEPS if len(busy) > GPU_FEW else GPU_FEW_STEPS
        self._touch_count.zero_()
        self._row_count.zero_()
        try:
            self._launch(index)
        finally:
            # Also when interrupted: each run is whole, and what it recorded is kept.
            self._drain(busy)
        return True

    def _ordered(self, busy: Any) -> Any:
        """``busy`` slots with equal phases side by side."""
        if self.device.is_cpu:
            return busy
        phase = self._phase[busy]
        return np.concatenate([busy[phase == p] for p in np.unique(phase)])

    def _launch(self, index: Any) -> None:
        inputs = [
            self._world,
            self._chunk,
            wp.array(index, dtype=int, device=self.device.name),
            self._clear,
            self._runs,
        ]
        outputs = [
            self._touches,
            self._touch_count,
            self._rows,
            self._row_count,
            self._status,
        ]
        devices.launch(
            self._kernel,
            len(index),
            inputs,
            self.device,
            self.threads,
            outputs=outputs,
            min_items=1,
            block=GPU_BOUNDS[0],
        )

    def _fill(self) -> None:
        """Put waiting runs into empty slots."""
        empty = np.flatnonzero(self._owner < 0)[: len(self._waiting)]
        if not len(empty):
            return
        chosen = self._waiting[len(self._waiting) - len(empty) :][::-1]
        self._waiting = self._waiting[: len(self._waiting) - len(empty)]
        scatter(self._final[chosen], empty, self._runs, self._clear, self.device)
        self._owner[empty] = chosen
        self._phase[empty] = 0

    def _drain(self, busy: Any) -> None:
        """Take out what the last launch recorded and the runs that it ended."""
        counts = self._touch_count.numpy()
        if counts.any():
            self._drained.append(take_touches(self._touches, counts, self.device))
        if self._chunk.rows:
            written, rows = self._row_count.numpy(), self._rows.numpy()
            self._lines += [rows[s, : written[s]].copy() for s in busy]
        status = self._status.numpy()
        self._phase[busy] = status[busy] >> 8
        done = busy[(status[busy] & 255) != Outcome.RUNNING]
        if len(done):
            self._final[self._owner[done]] = gather(self._runs, done, self.device)
            self._owner[done] = -1
        self._ended = len(done)

    def _facts(self) -> dict[str, object]:
        code = self._final["outcome"]
        facts = {"settled": Outcome.SETTLED, "escaped": Outcome.ESCAPED}
        shown: dict[str, object] = {name: int((code == c).sum()) for name, c in facts.items()}
        failed = int((code >= Outcome.STEP_FLOOR).sum())
        return {**shown, "failed": failed} if failed else shown

    # -- what came of it -----------------------------------------------------------------------

    def result(self) -> BatchResult:
        """Runs as far as they have come, and all contacts so far."""
        final = self._final.copy()
        busy = np.flatnonzero(self._owner >= 0)
        if len(busy):
            final[self._owner[busy]] = gather(self._runs, busy, self.device)
        touches = stacked(Touch, self._drained)
        return BatchResult(final, touches[np.lexsort((touches["start"], touches["run"]))])

    @property
    def history(self) -> Any:
        """Structured array of all lines recorded (batches of one run keep them in order)."""
        return stacked(Row, self._lines)


def run_batch(
    model: Model,
    release: Release,
    *,
    device: str = "auto",
    threads: int | None = None,
    show: str | Progress = "silent",
) -> BatchResult:
    """Carry every run of ``release`` to its end: final states and all contacts.

    ``show`` is how progress is told: "silent", "auto", "text" or "rich".
    """
    return Batch(model, release, device=device, threads=threads).run(show)

"""Many runs at once: chunks of steps, finished runs replaced by waiting ones, records drained.

A batch holds a bounded number of runs in slots on the device. Each launch advances every run in a
slot by at most a chunk of steps. Between launches the host takes out the contacts recorded, takes
out runs that have ended, puts waiting ones in their place, and can be interrupted; nothing that was
computed is lost. On a GPU, while there are many runs, each launch is of some phases alone, so that
neighbouring threads do alike, and the host looks after its records once in several launches. None
of this changes a run's bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from alight.actuators.python_controller import ONE_RUN
from alight.core import devices
from alight.core.checks import checked_whole
from alight.core.errors import InputError
from alight.core.outcomes import FIRST_FAILURE, FIRST_OWN, Outcome
from alight.core.progress import Progress, progress
from alight.core.types import scalar
from alight.engine import records
from alight.engine.grouping import Grouping, spread
from alight.engine.history import MAX_LINES, History
from alight.engine.loop import GPU_BLOCK, Chunk, loop_kernel
from alight.engine.motion import Motion
from alight.engine.records import Touch
from alight.engine.stops import judging

#: Launches of each kind between two looks at the records. A launch ends at most one contact of a
#: run.
GPU_ROUNDS = 8
#: With this many runs or fewer in slots, a GPU waits for single runs and no longer for arithmetic:
#: then all phases are one launch of this many steps. (Not where launches are three: each is too
#: long to wait for the others.)
GPU_FEW = 65_536


class Batch:
    """Runs of one model under way; ``run`` carries them all to their ends.

    After a KeyboardInterrupt, ``result`` has what was reached (runs not finished have the outcome
    "still running") and ``run`` goes on from there.
    """

    def __init__(
        self,
        model: Motion,
        release: Any,
        *,
        device: str = "auto",
        threads: int | None = None,
        slots: int | None = None,
        history: int = 0,
        max_lines: int = MAX_LINES,
    ) -> None:
        if not isinstance(release, model.Release):
            raise InputError(
                f"the model is a {type(model).__name__} and the release a "
                f"{type(release).__name__}; a "
                f"{type(model).__name__} goes with a {model.Release.__name__}."
            )
        if model.waits and (not history or len(release) != 1):
            raise InputError(f"{ONE_RUN}.")
        self.model, self.release = model, release
        self.device, self.threads = devices.resolve(device), threads
        self._pace = model.pace(self.device)
        most = checked_whole("slots", slots or self._most_slots(), 1)
        self.states = model.start(release, self.device, threads)
        #: (n,) the runs as they start: releases a little below the ground are lifted.
        self.released = self.states.runs.copy()
        #: Runs that are in no slot yet, the last first.
        self._waiting = np.flatnonzero(self.states.runs["outcome"] == Outcome.RUNNING)[::-1]
        self._drained: list[Any] = []
        self._prepare(max(1, min(len(self._waiting), most)), history)
        self.histories: dict[int, History] = {}
        """Lines of the runs of a batch that was asked to keep them, by their numbers."""
        self._max_lines = max_lines

    def _most_slots(self) -> int:
        return self._pace.slots if self.device.is_cpu else self._pace.most_on_gpu

    def _prepare(self, slots: int, history: int) -> None:
        """Kernels, parameters, and room for runs and for what launches record of them."""
        name, model, loop = self.device.name, self.model, self.model.loop()
        # Histories are kept by the kernel of all phases.
        self._apart = loop.apart if self.device.is_gpu and not history else ()
        self._kernel, self._whole = loop_kernel(loop), loop.whole
        self._kernels = [loop_kernel(loop, launch) for launch in self._apart]
        self._grouping = Grouping(loop, slots, self.device) if self._apart else None
        self._worlds = model.worlds(self.release, self.device)
        self._chunk = Chunk()
        self._chunk.touches = GPU_ROUNDS if self._apart else self._pace.touches
        self._chunk.lines = history
        self._memory = model.memory(slots, self.device)
        self._runs = wp.zeros(slots, dtype=loop.Run, device=name)
        rows = model.rows(self._memory)
        self._words = {key: records.words_of(array) for key, array in rows.items()}
        self._run_words = records.words_of(self._runs)
        self._note_words = records.words_of(self._memory.notes)
        self._watch = judging.watch(loop.judge, model.judged_by(), slots, self.device)
        self._fresh = model.fresh(self._memory)
        if loop.judge is not None and loop.judge.rows:
            self._fresh = [*self._fresh, (self._watch.since, -1.0)]
        self._touches = wp.empty((slots, self._chunk.touches), dtype=Touch, device=name)
        self._touch_count = wp.zeros(slots, dtype=int, device=name)
        self._line_count = wp.zeros(slots, dtype=int, device=name)
        self._status = wp.zeros(slots, dtype=int, device=name)
        shape = (slots * max(1, history), model.line_width)
        self._lines = wp.zeros(shape, dtype=scalar, device=name)
        #: The run in each slot; -1 where it is empty.
        self._owner = np.full(slots, -1)

    # -- going on ------------------------------------------------------------------------------

    def run(self, show: str | Progress = "silent") -> Any:
        """Carry every run to its end."""
        with progress(show) as bar:
            bar.start(self.model.title, total=len(self.states.runs))
            bar.advance(len(self.states.runs) - self.left)
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
        if self.model.waits:
            self._steer(busy)
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

    def result(self) -> Any:
        """Runs as far as they have come, and all contacts so far."""
        busy = np.flatnonzero(self._owner >= 0)
        if len(busy):
            self._take(self._owner[busy], busy)
        touches = records.stacked(Touch, self._drained)
        touches = touches[np.lexsort((touches["start"], touches["run"]))]
        return self.model.result(self.states, touches, self.threads)

    def _facts(self) -> dict[str, object]:
        code = self.states.runs["outcome"]
        by_stops = {law.ending.name.lower(): int(law.ending) for law in self.model.stops}
        named = {**self.model.shown, **by_stops}
        shown: dict[str, object] = {name: int((code == c).sum()) for name, c in named.items()}
        failures = (code >= FIRST_FAILURE) & (code < FIRST_OWN)
        failed = int((failures & ~np.isin(code, list(named.values()))).sum())
        return {**shown, "failed": failed} if failed else shown

    # -- slots ---------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Put waiting runs into empty slots."""
        empty = np.flatnonzero(self._owner < 0)[: len(self._waiting)]
        if not len(empty):
            return
        chosen = self._waiting[len(self._waiting) - len(empty) :][::-1]
        self._waiting = self._waiting[: len(self._waiting) - len(empty)]
        index = wp.array(empty, dtype=int, device=self.device.name)
        for words, values in self._travelling():
            records.put(words, values[chosen], index, self.device)
        for rows, value in self._fresh:
            records.fill(rows, value, index, self.device)
        self._owner[empty] = chosen

    def _take(self, chosen: Any, slots: Any) -> None:
        """Copy the runs in some slots back to the host."""
        index = wp.array(slots, dtype=int, device=self.device.name)
        for words, values in self._travelling():
            records.take(words, values, chosen, index, self.device)

    def _travelling(self) -> list[tuple[Any, Any]]:
        """What goes with a run: on the device, and on the host."""
        states = self.states
        rows = [(words, states.rows[name]) for name, words in self._words.items()]
        return [(self._run_words, states.runs), (self._note_words, states.notes), *rows]

    def _steer(self, busy: Any) -> None:
        """Let the host set what it commands."""
        owners = self._owner[busy]
        self._take(owners, busy)
        for number in owners:
            self.model.steer(self.states, int(number))
        index = wp.array(busy, dtype=int, device=self.device.name)
        for name, words in self._words.items():
            records.put(words, self.states.rows[name][owners], index, self.device)

    def _drain(self, busy: Any) -> None:
        """Take out what the last launches recorded and the runs that they ended."""
        counts = self._touch_count.numpy()
        if counts.any():
            self._drained.append(records.take_touches(self._touches, counts, self.device))
        if self._chunk.lines:
            self._keep_lines(busy)
        done = busy[self._status.numpy()[busy] != Outcome.RUNNING]
        if len(done):
            self._take(self._owner[done], done)
            self._owner[done] = -1
            self._status.zero_()
        self._ended = len(done)

    def _keep_lines(self, busy: Any) -> None:
        written, lines, room = self._line_count.numpy(), self._lines.numpy(), self._chunk.lines
        for slot in busy:
            own = lines[slot * room : slot * room + written[slot]]
            history = self.histories.setdefault(int(self._owner[slot]), History(self._max_lines))
            history.add(own, self.model.line_phase(own))

    # -- launches ------------------------------------------------------------------------------

    def _launch_all(self, busy: Any) -> None:
        """One launch of all phases, or a few of some each."""
        grouping, name = self._grouping, self.device.name
        if grouping is not None and (len(busy) > GPU_FEW or len(self._apart) > 2):
            self._advance_apart(grouping)
            return
        gpu = self.device.is_gpu
        self._chunk.steps = self._whole.gpu_steps if gpu else self._pace.steps
        index = spread(busy) if gpu else busy
        self._launch(self._kernel, wp.array(index, dtype=int, device=name))

    def _advance_apart(self, grouping: Grouping) -> None:
        for _ in range(GPU_ROUNDS):
            groups = grouping.sorted(self._runs, self._touch_count, self._chunk.touches)
            for kernel, index, launch in zip(self._kernels, groups, self._apart, strict=True):
                self._chunk.steps = launch.gpu_steps
                self._launch(kernel, index)

    def _launch(self, kernel: Any, index: wp.array) -> None:
        if not len(index):
            return
        inputs = [*self._worlds, self._watch, self._chunk, index, self._memory, self._runs]
        outputs = [*(self._touches, self._touch_count, self._lines), self._line_count, self._status]
        devices.launch(
            *(kernel, len(index), inputs, self.device, self.threads),
            outputs=outputs,
            min_items=1,
            block=GPU_BLOCK,
        )


def run_batch(
    model: Motion,
    release: Any,
    *,
    device: str = "auto",
    threads: int | None = None,
    show: str | Progress = "silent",
) -> Any:
    """Carry every run of ``release`` to its end: final states and all contacts.

    ``show`` is how progress is told: "silent", "auto", "text" or "rich".
    """
    return Batch(model, release, device=device, threads=threads).run(show)


def simulate(
    model: Motion,
    release: Any,
    *,
    device: str = "cpu",
    threads: int | None = None,
    max_lines: int | None = None,
) -> Any:
    """Carry one run from its release to its end, with its steps and every contact kept.

    At most ``max_lines`` lines are kept (``engine.history.MAX_LINES`` if not given): those of long
    runs are thinned, the first and last lines of contacts excepted (``solution.thinning``).

    One run uses one core: a GPU is slower at it. Interrupting raises KeyboardInterrupt; use a
    ``Batch`` to go on from an interruption.
    """
    if isinstance(release, model.Release) and len(release) != 1:
        raise InputError(
            f"simulate follows one run and the release has {len(release)}; pick one, such as "
            "release[0], or use run_batch for many."
        )
    kept = model.keeping(1, max_lines)
    batch = Batch(model, release, device=device, threads=threads, **kept)
    return model.solution(batch, batch.run())


def check_count(parameters: int, runs: int) -> None:
    """Whether contact parameters are given once, or for each run."""
    if parameters not in (1, runs):
        raise InputError(
            f"contact parameters are given for {parameters} runs and the release for "
            f"{runs}; they must agree."
        )

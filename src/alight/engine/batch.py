"""Many runs at once: chunks of steps, finished runs replaced by waiting ones, records drained.

A batch holds a bounded number of runs in slots on the device. Each launch advances every run in a
slot by at most a chunk of steps. Between launches the host takes out the contacts recorded, takes
out runs that have ended, puts waiting ones in their place, and can be interrupted; nothing that was
computed is lost. On a GPU, while there are many runs, each launch is of some phases alone, so that
neighbouring threads do alike, and the host looks after its records once in several launches. None
of this changes a run's bits.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
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
from alight.engine.lot import Lot
from alight.engine.motion import Motion
from alight.engine.records import Touch
from alight.engine.stops import judging
from alight.engine.worlds import Worlds

#: Launches of each kind between two looks at the records. A launch ends at most one contact of a
#: run.
GPU_ROUNDS = 8
#: With this many runs or fewer in slots, a GPU waits for single runs and no longer for arithmetic:
#: then all phases are one launch of this many steps. (Not where launches are three: each is too
#: long to wait for the others.)
GPU_FEW = 65_536


class Batch:
    """Runs under way; ``run`` carries them all to their ends.

    It begins with the runs of one release, and ``add`` brings more while it goes on. After a
    KeyboardInterrupt, ``result`` has what was reached (runs not finished have the outcome "still
    running") and ``run`` goes on from there.

    With ``together`` further runs may be of other models, which differ in numbers alone. In place
    of a release a ``Lot`` may be given, made before for the same device.
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
        together: bool = False,
    ) -> None:
        self.device, self.threads = devices.resolve(device), threads
        if model.waits and (not history or len(release) != 1):
            raise InputError(f"{ONE_RUN}.")
        self.model = model
        self._pace = model.pace(self.device)
        most = checked_whole("slots", slots or self._most_slots(), 1)
        first = release if isinstance(release, Lot) else Lot(model, release, self.device, threads)
        if not together:
            most = max(1, min(len(first.waiting), most))
        self._max_lines, self._room = max_lines, model.room
        loop = model.loop()
        self._loop = dataclasses.replace(loop, own=True) if together else loop
        self._prepare(most, history)
        self._first, self._lots = first, dict[int, Lot]()
        self._count, self._ended_lots = 0, list[Lot]()
        #: How many runs ended with each code.
        self._codes: Counter[int] = Counter()
        self.add(first)

    @property
    def release(self) -> Any:
        """What the first runs were released with."""
        return self._first.release

    @property
    def states(self) -> Any:
        """The first runs, as far as they have come."""
        return self._first.states

    @property
    def released(self) -> Any:
        """(n,) the first runs as they start: releases a little below the ground are lifted."""
        return self._first.released

    @property
    def histories(self) -> dict[int, History]:
        """Lines of the runs of a batch that was asked to keep them, by their numbers."""
        return self._first.histories

    def _most_slots(self) -> int:
        return self._pace.slots if self.device.is_cpu else self._pace.most_on_gpu

    def _prepare(self, slots: int, history: int) -> None:
        """Kernels, and room for runs and for what launches record of them."""
        name, model, loop = self.device.name, self.model, self._loop
        # Histories are kept by the kernel of all phases.
        self._apart = loop.apart if self.device.is_gpu and not history else ()
        self._kernel, self._whole = loop_kernel(loop), loop.whole
        self._kernels = [loop_kernel(loop, launch) for launch in self._apart]
        self._grouping = Grouping(loop, slots, self.device) if self._apart else None
        self._worlds = Worlds(loop.World, loop.judge, model.stops, self.device)
        self._world_of = wp.zeros(slots, dtype=int, device=name)
        self._chunk = Chunk()
        self._chunk.touches = GPU_ROUNDS if self._apart else self._pace.touches
        self._chunk.lines = history
        self._memory = model.memory(slots, self.device, self._room)
        self._runs = wp.zeros(slots, dtype=loop.Run, device=name)
        rows = model.rows(self._memory)
        self._words = {key: records.words_of(array) for key, array in rows.items()}
        self._run_words = records.words_of(self._runs)
        self._note_words = records.words_of(self._memory.notes)
        self._watch = judging.watch(loop.judge, model.stops, slots, self.device)
        self._fresh = model.fresh(self._memory)
        if loop.judge is not None and loop.judge.rows:
            self._fresh = [*self._fresh, (self._watch.since, -1.0)]
        self._touches = wp.empty((slots, self._chunk.touches), dtype=Touch, device=name)
        self._touch_count = wp.zeros(slots, dtype=int, device=name)
        self._line_count = wp.zeros(slots, dtype=int, device=name)
        self._status = wp.zeros(slots, dtype=int, device=name)
        shape = (slots * max(1, history), model.line_width)
        self._lines = wp.zeros(shape, dtype=scalar, device=name)
        #: Which lot the run in each slot is of (-1 where it is empty), and its place there.
        self._lot_of, self._owner = np.full(slots, -1), np.full(slots, -1)

    # -- lots ----------------------------------------------------------------------------------

    def add(self, lot: Lot) -> None:
        """Let further runs, made for the same device, follow those that wait (see ``fits``)."""
        worlds, which = lot.model.worlds(lot.release, self.device)
        if lot is self._first:
            self._world = worlds[0]
        if self._loop.own:
            lot.places = self._worlds.add(worlds, lot.model.judged_by())
            lot.world_of = lot.places[which]
            if self._loop.judge is not None:
                self._watch.own = self._worlds.stops()
        code = lot.states.runs["outcome"]
        self._codes.update(code[code != Outcome.RUNNING].tolist())
        self._lots[self._count] = lot
        self._count += 1
        if not lot.left:
            self._leave(self._count - 1)

    def fits(self, lot: Lot) -> bool:
        """Whether memory has room for the runs of a lot."""
        return all(m <= t for m, t in zip(lot.model.room, self._room, strict=True))

    @property
    def free(self) -> int:
        """Slots that nothing waits for."""
        return int(np.count_nonzero(self._owner < 0)) - self.waiting

    def _leave(self, key: int) -> None:
        """All runs of a lot have ended."""
        lot = self._lots.pop(key)
        if lot.places is not None:
            self._worlds.remove(lot.places)
        self._ended_lots.append(lot)

    def ended(self) -> list[Lot]:
        """Lots whose runs have all ended since this was last asked."""
        out, self._ended_lots = self._ended_lots, []
        return out

    @property
    def waiting(self) -> int:
        """Runs that are in no slot yet."""
        return sum(len(lot.waiting) for lot in self._lots.values())

    # -- going on ------------------------------------------------------------------------------

    def run(self, show: str | Progress = "silent") -> Any:
        """Carry every run to its end."""
        with progress(show) as bar:
            bar.start(self.model.title, total=len(self._first))
            bar.advance(len(self._first) - self.left)
            while self.advance():
                bar.advance(self.done, **self.facts())
        return self.result()

    def advance(self) -> bool:
        """One launch or a few; False when every run has ended."""
        self._fill()
        busy = np.flatnonzero(self._owner >= 0)
        #: Runs that ended in the last call.
        self.done = 0
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
        return sum(lot.left for lot in self._lots.values())

    def result(self) -> Any:
        """The first runs as far as they have come, and all their contacts so far."""
        busy = np.flatnonzero(self._owner >= 0)
        if len(busy):
            self._take(busy)
        return self._first.result()

    def facts(self) -> dict[str, object]:
        """How many runs have ended in each way that a bar shows."""
        by_stops = {law.ending.name.lower(): int(law.ending) for law in self.model.stops}
        named = {**self.model.shown, **by_stops}
        shown: dict[str, object] = {name: self._codes[int(c)] for name, c in named.items()}
        others = set(self._codes) - {int(code) for code in named.values()}
        failed = sum(self._codes[c] for c in others if FIRST_FAILURE <= c < FIRST_OWN)
        return {**shown, "failed": failed} if failed else shown

    # -- slots ---------------------------------------------------------------------------------

    def _fill(self) -> None:
        """Put waiting runs into empty slots."""
        empty = np.flatnonzero(self._owner < 0)
        for key, lot in self._lots.items():
            if not len(empty):
                return
            chosen = lot.next(len(empty))
            if len(chosen):
                self._put(key, lot, chosen, empty[: len(chosen)])
                empty = empty[len(chosen) :]

    def _put(self, key: int, lot: Lot, chosen: Any, slots: Any) -> None:
        index = wp.array(slots, dtype=int, device=self.device.name)
        for words, values in self._travelling(lot):
            records.put(words, values[chosen], index, self.device)
        if lot.world_of is not None:
            places = lot.world_of[chosen]
            records.put_numbers(self._world_of, places, index, self.device)
        for rows, value in self._fresh:
            records.fill(rows, value, index, self.device)
        self._lot_of[slots], self._owner[slots] = key, chosen

    def _take(self, slots: Any) -> None:
        """Copy the runs in some slots back to the host."""
        for lot, own in self._by_lot(slots):
            index = wp.array(own, dtype=int, device=self.device.name)
            for words, values in self._travelling(lot):
                records.take(words, values, self._owner[own], index, self.device)

    def _by_lot(self, slots: Any) -> list[tuple[Lot, Any]]:
        """Some slots, those of each lot."""
        of = self._lot_of[slots]
        return [(self._lots[key], slots[of == key]) for key in np.unique(of).tolist()]

    def _travelling(self, lot: Lot) -> list[tuple[Any, Any]]:
        """What goes with a run: on the device, and on the host."""
        states = lot.states
        rows = []
        for name, words in self._words.items():
            # Models of one batch may have memory of different sizes: the largest has room for all.
            values = states.rows[name]
            rows.append((words[: values.shape[1]] if len(self._room) else words, values))
        return [(self._run_words, states.runs), (self._note_words, states.notes), *rows]

    def _steer(self, busy: Any) -> None:
        """Let the host set what it commands."""
        self._take(busy)
        for lot, own in self._by_lot(busy):
            owners = self._owner[own]
            for number in owners:
                self.model.steer(lot.states, int(number))
            index = wp.array(own, dtype=int, device=self.device.name)
            for name, words in self._words.items():
                records.put(words, lot.states.rows[name][owners], index, self.device)

    def _drain(self, busy: Any) -> None:
        """Take out what the last launches recorded and the runs that they ended."""
        counts = self._touch_count.numpy()
        if counts.any():
            self._keep_touches(*records.take_touches(self._touches, counts, self.device))
        if self._chunk.lines:
            self._keep_lines(busy)
        done = busy[self._status.numpy()[busy] != Outcome.RUNNING]
        if len(done):
            self._take(done)
            self._let_go(done)
            self._status.zero_()
        self.done = len(done)

    def _let_go(self, done: Any) -> None:
        """Empty slots whose runs have ended."""
        for lot, own in self._by_lot(done):
            lot.left -= len(own)
            self._codes.update(lot.states.runs["outcome"][self._owner[own]].tolist())
        keys = np.unique(self._lot_of[done]).tolist()
        self._lot_of[done] = self._owner[done] = -1
        for key in keys:
            if not self._lots[key].left:
                self._leave(key)

    def _keep_touches(self, touches: Any, slots: Any) -> None:
        """Give each lot the contacts of its runs."""
        of = self._lot_of[slots]
        for key in np.unique(of).tolist():
            alone = len(self._lots) == 1
            self._lots[key].drained.append(touches if alone else touches[of == key])

    def _keep_lines(self, busy: Any) -> None:
        written, lines, room = self._line_count.numpy(), self._lines.numpy(), self._chunk.lines
        for slot in busy:
            own = lines[slot * room : slot * room + written[slot]]
            histories = self._lots[int(self._lot_of[slot])].histories
            history = histories.setdefault(int(self._owner[slot]), History(self._max_lines))
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
        worlds = [self._world, self._worlds.array, self._world_of]
        inputs = [*worlds, self._watch, self._chunk, index, self._memory, self._runs]
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
    kept: dict[str, Any] = model.keeping(1, max_lines)
    batch = Batch(model, release, device=device, threads=threads, **kept)
    return model.solution(batch, batch.run())


def check_count(parameters: int, runs: int) -> None:
    """Whether contact parameters are given once, or for each run."""
    if parameters not in (1, runs):
        raise InputError(
            f"contact parameters are given for {parameters} runs and the release for "
            f"{runs}; they must agree."
        )

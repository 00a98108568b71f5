"""Slots on a device, with the runs in them, and the launches that carry these on.

A batch has one deck on a CPU and two on a GPU, which take turns there: while the host looks after
the records of one, the launches of the other continue.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.outcomes import Outcome
from alight.core.streams import fetched, stream_of_its_own
from alight.core.types import scalar
from alight.engine import records
from alight.engine.grouping import Grouping, spread
from alight.engine.loop import GPU_BLOCK, HANDED_OVER, Chunk, loop_kernel
from alight.engine.motion import Launch, Loop, Motion
from alight.engine.records import Touch
from alight.engine.stops import judging
from alight.engine.worlds import Worlds

#: Launches of each kind between two looks at the records. A launch ends at most one contact of a
#: run.
GPU_ROUNDS = 8
#: With this many runs or fewer in the slots of all decks a GPU waits for single runs, no longer for
#: arithmetic. A lander that rocks or rolls changes between flight and contact every few steps: then
#: all phases are one launch. (Not where launches are three: each is too long to wait for.) Of
#: 300 000 reference landings in two decks, each of which has half of these, 0.7 % were left on an
#: H200 after 16.3 s with 8 192, after 14.3 s so.
GPU_FEW = 32_768
#: Steps that no run reaches.
ENDLESS = 2**31 - 1


def many_at_once(device: devices.Device) -> bool:
    """Whether a device is one for thousands of runs: launches are of some phases each, of several
    decks in turn, and the longest runs continue elsewhere."""
    return device.is_gpu


def launches_apart(loop: Loop, device: devices.Device, history: bool) -> tuple[Launch, ...]:
    """Launches of some phases each; none where all phases are one, as histories need it."""
    return loop.apart if many_at_once(device) and not history else ()


def ever_whole(apart: tuple[Launch, ...]) -> bool:
    """Whether all phases are one launch where there are few runs, or always."""
    return sum(not launch.prepares for launch in apart) <= 2


class Deck:
    """Some slots of a batch."""

    def __init__(
        self,
        model: Motion,
        loop: Loop,
        slots: int,
        device: devices.Device,
        *,
        threads: int | None,
        history: int,
        room: tuple[int, ...],
        most_steps: int,
        few: int = 0,
        shared: Any = None,
    ) -> None:
        #: Whether launches have been made whose records nobody has looked at.
        self.under_way = False
        self._few, self._shared = few, shared
        self.device, self.threads, self._loop, self._sizes = device, threads, loop, room
        name, pace = device.name, model.pace(device)
        self._apart = launches_apart(loop, device, bool(history))
        # What looks after records is short, and does not wait for the launches of other decks.
        self._records = wp.Stream(name, priority=-1) if device.is_gpu else None
        # Launches of some phases fill a GPU: those of several decks are made in turn, on a stream
        # that they share. Those of few runs leave room for each other.
        self._own = stream_of_its_own(device)
        self._event = wp.Event(name) if device.is_gpu else None
        with self.on():
            self._kernels = [loop_kernel(loop, launch) for launch in self._apart]
            self._kernel = loop_kernel(loop) if ever_whole(self._apart) else None
            launches = GPU_ROUNDS * len(self._apart)
            self._grouping = Grouping(loop, slots, launches, device) if self._apart else None
            self._no_counts = wp.zeros(1, dtype=int, device=name)
            self._world_of = wp.zeros(slots, dtype=int, device=name)
            self.chunk = Chunk()
            self.chunk.touches = GPU_ROUNDS if self._apart else pace.touches
            self.chunk.lines, self.chunk.most_steps = history, most_steps
            self._all_steps = loop.whole.gpu_steps if device.is_gpu else pace.steps
            self._memory = model.memory(slots, device, room)
            self._runs = wp.zeros(slots, dtype=loop.Run, device=name)
            self.watch = judging.watch(loop.judge, model.stops, slots, device)
            self._prepare_rows(model)
            self._touches = wp.empty((slots, self.chunk.touches), dtype=Touch, device=name)
            self._touch_count = wp.zeros(slots, dtype=int, device=name)
            self._line_count = wp.zeros(slots, dtype=int, device=name)
            self._status = wp.zeros(slots, dtype=int, device=name)
            shape = (slots * max(1, history), model.line_width)
            self._lines = wp.zeros(shape, dtype=scalar, device=name)
        #: Which share the run in each slot is of (-1 where it is empty), and its row in its lot.
        self.share_of, self.row_of = np.full(slots, -1), np.full(slots, -1)
        self._busy: Any = np.empty(0, dtype=np.int64)
        self._kept: list[Any] = []
        #: Launches of some phases each, recorded, as a graph on a GPU; what they read.
        self._recorded: list[Any] = []
        self._graph: Any = None
        self._read: Any = None

    def __del__(self) -> None:
        # Memory is given back at once: not while a launch uses it. (At the end of a process
        # nothing is left to wait with.)
        if self.under_way:
            with suppress(Exception):
                self.wait()

    def _prepare_rows(self, model: Motion) -> None:
        """What goes with a run, as words: always, and where it comes in the middle of its way."""
        rows, memory = model.rows(self._memory), self._memory
        self._words = {key: records.words_of(array) for key, array in rows.items()}
        self._run_words = records.words_of(self._runs)
        self._note_words = records.words_of(memory.notes)
        self._fresh = list(model.fresh(memory))
        carried = dict(model.carried(memory))
        if self._loop.judge is not None and self._loop.judge.rows:
            self._fresh.append((self.watch.since, -1.0))
            carried["since"] = self.watch.since
        self._carried = {key: records.words_of(array) for key, array in carried.items()}

    @contextmanager
    def on(self) -> Iterator[None]:
        """What looks after the runs of this deck and their records."""
        with devices.on_stream(self._records):
            yield

    @property
    def busy(self) -> Any:
        """Slots that have a run."""
        return np.flatnonzero(self.share_of >= 0)

    @property
    def empty(self) -> Any:
        """Slots that have none."""
        return np.flatnonzero(self.share_of < 0)

    # -- runs ----------------------------------------------------------------------------------

    def put(self, key: int, share: Any, chosen: Any, slots: Any) -> None:
        """Put the rows ``chosen`` of a share's lot into some slots."""
        lot, device = share.lot, self.device
        index = wp.array(slots, dtype=int, device=device.name)
        kept = [index]
        for words, values in self._travelling(lot.states):
            kept.append(records.put(words, values[chosen], index, device))
        if share.world_of is not None:
            kept.append(records.put_numbers(self._world_of, share.world_of[chosen], index, device))
        for rows, value in self._fresh:
            records.fill(rows, value, index, device)
        for name, values in share.carried_by(chosen).items():
            kept.append(records.put(self._carried[name], values, index, device))
        self._kept += kept  # launches that read them may still wait for their turn
        self.share_of[slots], self.row_of[slots] = key, chosen

    def take(self, parts: list[tuple[Any, Any]]) -> None:
        """Copy the runs in some slots back to the host: shares, and the slots of each."""
        slots = np.concatenate([own for _, own in parts])
        index = wp.array(slots, dtype=int, device=self.device.name)
        edges = np.cumsum([0, *(len(own) for _, own in parts)])
        columns = [self._travelling(share.lot.states) for share, _ in parts]
        whole = [self._run_words, self._note_words, *self._words.values()]
        for number, all_words in enumerate(whole):
            found = records.taken(all_words, index, self.device)
            for (_, own), mine, a, b in zip(parts, columns, edges, edges[1:], strict=False):
                words, values = mine[number]
                rows = np.ascontiguousarray(found[a:b, : words.shape[0] * words.shape[1]])
                rows = rows.view(values.dtype).reshape(len(own), *values.shape[1:])
                values[self.row_of[own]] = rows

    def _travelling(self, states: Any) -> list[tuple[Any, Any]]:
        """What goes with a run: on the device, and on the host."""
        rows = []
        for name, words in self._words.items():
            # Models of one batch may have memory of different sizes: the largest has room for all.
            values = states.rows[name]
            rows.append((words[: values.shape[1]] if len(self._sizes) else words, values))
        return [(self._run_words, states.runs), (self._note_words, states.notes), *rows]

    def put_rows(self, lot: Any, slots: Any) -> None:
        """Write again what the host has changed."""
        index = wp.array(slots, dtype=int, device=self.device.name)
        for name, words in self._words.items():
            records.put(words, lot.states.rows[name][self.row_of[slots]], index, self.device)

    def carried(self, slots: Any) -> dict[str, Any]:
        """What runs have in memory that continue elsewhere, a row a slot."""
        index = wp.array(slots, dtype=int, device=self.device.name)
        return {k: records.taken(w, index, self.device) for k, w in self._carried.items()}

    def let_go(self, slots: Any) -> None:
        """Empty some slots."""
        self.share_of[slots] = self.row_of[slots] = -1

    # -- launches ------------------------------------------------------------------------------

    def launch(self, world: Any, worlds: Worlds) -> None:
        """Carry every run on; on a GPU without waiting."""
        self._busy, self.under_way = self.busy, True
        many = len(self._busy) > self._few or not ever_whole(self._apart)
        stream = self._shared if self._grouping is not None and many else self._own
        with self.on(), devices.on_stream(stream):
            try:
                self._touch_count.zero_()
                self._line_count.zero_()
                if self._grouping is not None and many:
                    self._launch_apart(self._grouping, [world, worlds.array])
                else:
                    self._launch_all([world, worlds.array])
            finally:  # also when interrupted: who reads on waits for what was launched
                if self._event is not None:
                    wp.record_event(self._event)

    def _launch_all(self, worlds: list[Any]) -> None:
        self.chunk.steps = self._all_steps
        slots = spread(self._busy) if self.device.is_gpu else self._busy
        index = wp.array(slots.reshape(1, -1), dtype=int, device=self.device.name)
        self._kept.append(index)
        devices.launch(
            *(
                self._kernel,
                len(slots),
                self._arguments(worlds, index, self._no_counts, self.chunk),
            ),
            *(self.device, self.threads),
            min_items=1,
            block=GPU_BLOCK,
        )

    def _launch_apart(self, grouping: Grouping, worlds: list[Any]) -> None:
        """Launches of some phases each, runs distinguished before each of them."""
        if self._read is not worlds[1]:
            self._record(grouping, worlds)
            self._graph = None
        if self.device.is_cpu:
            self._launch_recorded(grouping)
            return
        if self._graph is None:
            # One call in place of dozens, for each of which Python's lock would change hands.
            with wp.ScopedCapture(self.device.name, self._shared, False) as captured:
                self._launch_recorded(grouping)
            self._graph = captured.graph
        wp.capture_launch(self._graph, stream=self._shared)

    def _launch_recorded(self, grouping: Grouping) -> None:
        grouping.counts.zero_()
        for command in self._recorded:
            command.launch()

    def _record(self, grouping: Grouping, worlds: list[Any]) -> None:
        self._recorded, self._read = [], worlds[1]
        room, most = self.chunk.touches, self.chunk.most_steps
        chunks = self._chunks()
        for row in range(len(grouping.counts)):
            number = row % len(chunks)
            arguments = self._arguments(
                worlds, grouping.index, grouping.counts[row], chunks[number]
            )
            self._recorded += [
                grouping.listing(row, self._runs, self._touch_count, room, most),
                devices.recorded(
                    *(self._kernels[number], grouping.threads, arguments, self.device, GPU_BLOCK)
                ),
            ]
        self._behind = chunks

    def _chunks(self) -> list[Any]:
        """What launches of each kind may do. A recorded launch reads the struct it was given."""
        out, first = [], 0
        for launch in self._apart:
            chunk = Chunk()
            chunk.touches, chunk.lines = self.chunk.touches, 0
            chunk.most_steps, chunk.steps = self.chunk.most_steps, launch.gpu_steps
            chunk.first, chunk.last, first = first, launch.last, launch.last + 1
            out.append(chunk)
        return out

    def _arguments(self, worlds: list[Any], index: Any, counts: Any, chunk: Any) -> list[Any]:
        inputs = [*worlds, self._world_of, self.watch, chunk, index, counts]
        outputs = [self._touches, self._touch_count, self._lines, self._line_count, self._status]
        return [*inputs, self._memory, self._runs, *outputs]

    # -- records -------------------------------------------------------------------------------

    def wait(self) -> None:
        """Until the launches are done."""
        if self._event is not None:
            wp.synchronize_event(self._event)
        self._kept = []

    def status(self) -> tuple[Any, Any]:
        """Slots whose runs have ended, and those whose runs are to continue elsewhere."""
        self.under_way = False
        found = fetched(self._status)[self._busy]
        over, handed = self._busy[found > int(Outcome.RUNNING)], self._busy[found == HANDED_OVER]
        if len(over) or len(handed):
            self._status.zero_()
        return over, handed

    def touches(self) -> tuple[Any, Any]:
        """Contacts that the launches recorded, in the order of shares, and their slots."""
        counts = fetched(self._touch_count)
        slots = np.flatnonzero(counts)
        slots = slots[np.argsort(self.share_of[slots], kind="stable")]
        return records.take_touches(self._touches, slots, counts[slots], self.device)

    def lines(self) -> Iterator[tuple[int, Any]]:
        """Lines of history that were written, by slot."""
        written, lines, room = fetched(self._line_count), fetched(self._lines), self.chunk.lines
        for slot in self._busy.tolist():
            yield slot, lines[slot * room : slot * room + written[slot]]

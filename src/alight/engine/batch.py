"""Many runs at once: chunks of steps, finished runs replaced by waiting ones, records drained.

A batch holds a bounded number of runs in slots on the device. Each launch advances every run in a
slot by at most a chunk of steps. Between launches the host takes out the contacts recorded, takes
out runs that have ended, puts waiting ones in their place, and can be interrupted; nothing that was
computed is lost. On a GPU, while there are many runs, each launch is of one phase, so that
neighbouring threads do alike, and the host looks after its records once in several launches. None
of this changes a run's bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array, checked_whole
from alight.core.outcomes import Outcome, outcome_of
from alight.core.progress import Progress
from alight.engine.flow import Flow, check_count
from alight.engine.history import MAX_LINES, History
from alight.engine.kernel import (
    FLYING,
    GPU_BLOCK,
    HITTING,
    LASTING,
    TOUCHING,
    Chunk,
    advance_kernel,
    kinds_of,
)
from alight.engine.model import Model
from alight.engine.order import PhaseOrder
from alight.engine.placing import placed
from alight.engine.release import Release
from alight.engine.run import Row, Touch
from alight.engine.slots import Slots, States, size_of

#: Runs in slots at a time, steps of one launch, contacts kept of one launch, on a CPU.
CPU_SLOTS, CPU_STEPS, CPU_TOUCHES = 512, 4000, 16
#: Runs in slots at a time on a GPU, and most memory [bytes] that they may take.
GPU_SLOTS, GPU_MEMORY = 262_144, 4 << 30
#: Steps of one launch on a GPU. Threads go in step, and a run that leaves its phase waits for the
#: next launch: fewer than a phase has.
GPU_STEPS = {FLYING: 8, TOUCHING: 12, HITTING: 1, LASTING: 5}
#: Launches of each between two looks at the records. A launch ends at most one contact of a run.
GPU_ROUNDS = 8
#: With this many runs or fewer in slots, a GPU waits for single runs and no longer for arithmetic:
#: then all phases are one launch of this many steps, spread over this many groups of 32 threads.
#: (Not where phases are three: each is too long to wait for the others.)
GPU_FEW, GPU_FEW_STEPS, GPU_GROUPS = 65_536, 400, 264


@dataclass(frozen=True, eq=False)
class BatchResult:
    """How the runs of a batch ended; row i is run i."""

    final: Any
    """Structured array of last states and tallies (see ``engine.run.Run`` and ``Notes``)."""
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


class Batch(Flow[BatchResult]):
    """Runs of one model under way; see ``Flow``."""

    told: ClassVar[dict[str, Outcome]] = {"settled": Outcome.SETTLED, "escaped": Outcome.ESCAPED}
    model: Model
    release: Release

    def __init__(
        self,
        model: Model,
        release: Release,
        *,
        device: str = "auto",
        threads: int | None = None,
        slots: int | None = None,
        history: int = 0,
        max_lines: int = MAX_LINES,
    ) -> None:
        check_count(model.contact.count, len(release))
        super().__init__(model, release, device, threads, np.zeros(0, dtype=np.int64))
        self._states = self._first_states()
        #: (n, 3) where the runs start [m]: releases a little below the ground are lifted.
        self.placed = self._states.runs["x"].copy()
        self._waiting = np.flatnonzero(self._outcomes() == Outcome.RUNNING)[::-1]
        most = checked_whole("slots", slots or self._most_slots(), 1)
        self._prepare(max(1, min(len(self._waiting), most)), history)
        self._history = History(max_lines)

    def _most_slots(self) -> int:
        if self.device.is_cpu:
            return CPU_SLOTS
        each = Slots.bytes_each(
            self.model.lander.n_points, self.model.scheme.pairs, self.model.shelf
        ) + GPU_ROUNDS * size_of(Touch)
        return max(1, min(GPU_SLOTS, GPU_MEMORY // each))

    def _prepare(self, slots: int, history: int) -> None:
        name, model = self.device.name, self.model
        # Histories are kept by the kernel of all phases.
        self._apart = self.device.is_gpu and not history
        self._kernel = advance_kernel(model.composition())
        self._kinds = kinds_of(model.scheme) if self._apart else ()
        self._kernels = [advance_kernel(model.composition(), kind) for kind in self._kinds]
        self._world = model.data(self.device)
        self._chunk = Chunk()
        self._chunk.steps = CPU_STEPS
        self._chunk.touches = GPU_ROUNDS if self._apart else CPU_TOUCHES
        self._chunk.rows = history
        self._slots = Slots(
            slots, model.lander.n_points, model.scheme.pairs, self.device, model.shelf
        )
        self._order = PhaseOrder(slots, len(self._kinds), self.device) if self._apart else None
        self._make_slots(slots, self._chunk.touches)
        self._rows = wp.empty((slots, max(1, history)), dtype=Row, device=name)

    def _first_states(self) -> States:
        """The runs as they are released; those inside the ground have already failed."""
        release, model = self.release, self.model
        states = States(len(release))
        runs, notes = states.runs, states.notes
        notes["number"] = np.arange(len(release))
        notes["row"] = notes["number"] if model.contact.count > 1 else 0
        notes["anchor_x"] = np.nan  # nowhere yet
        runs["v"], runs["q"], runs["w"] = release.velocity, release.attitude, release.rate
        runs["h"] = model.steps.longest
        runs["x"], refused = placed(model, release, self.device, self.threads)
        runs["outcome"][refused] = Outcome.STARTED_INSIDE
        return states

    def _outcomes(self) -> Any:
        return self._states.runs["outcome"]

    def _put(self, chosen: Any, slots: Any) -> None:
        self._slots.put(self._states, chosen, slots)

    def _take(self, chosen: Any, slots: Any) -> None:
        self._slots.take(self._states, chosen, slots)

    def _keep_lines(self, busy: Any) -> None:
        if self._chunk.rows:
            written, rows = self._line_count.numpy(), self._rows.numpy()
            for slot in busy:
                lines = rows[slot, : written[slot]]
                self._history.add(lines, lines["phase"])

    def _launch_all(self, busy: Any) -> None:
        """One launch of all phases, or a few of one each."""
        if self._order is None:
            self._launch(self._kernel, wp.array(busy, dtype=int, device=self.device.name))
        elif len(busy) > GPU_FEW or len(self._kinds) > 2:
            self._advance_by_phase(self._order)
        else:
            self._chunk.steps = GPU_FEW_STEPS
            index = wp.array(spread(busy), dtype=int, device=self.device.name)
            self._launch(self._kernel, index)

    def _advance_by_phase(self, order: PhaseOrder) -> None:
        for _ in range(GPU_ROUNDS):
            groups = order.sorted(self._slots.runs, self._touch_count, self._chunk.touches)
            for kernel, index, kind in zip(self._kernels, groups, self._kinds, strict=True):
                self._chunk.steps = GPU_STEPS[kind]
                self._launch(kernel, index)

    def _launch(self, kernel: Any, index: wp.array) -> None:
        if not len(index):
            return
        inputs = [self._world, self._chunk, index, self._slots.memory, self._slots.runs]
        outputs = [
            self._touches,
            self._touch_count,
            self._rows,
            self._line_count,
            self._status,
        ]
        devices.launch(
            kernel,
            len(index),
            inputs,
            self.device,
            self.threads,
            outputs=outputs,
            min_items=1,
            block=GPU_BLOCK,
        )

    def result(self) -> BatchResult:
        """Runs as far as they have come, and all contacts so far."""
        touches = self._so_far()
        return BatchResult(self._states.joined(), touches)

    @property
    def history(self) -> History:
        """Lines of the run, in batches of one run that were asked to keep them."""
        return self._history


def spread(busy: Any) -> Any:
    """Slots for the threads of a launch, in ``GPU_GROUPS`` groups of 32 or more; -1 for none."""
    lanes = min(32, -(-len(busy) // GPU_GROUPS))
    place = np.arange(len(busy))
    index = np.full((-(-len(busy) // lanes), 32), -1)
    index[place // lanes, place % lanes] = busy
    return index.ravel()


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

"""Models that differ in numbers alone, as one: each run has its own, in one batch.

Whatever can differ between models without another kernel or another layout of memory may differ
from run to run: masses and joints, the slope of a plane, thrust, gravity, rotation, the hull of an
asteroid. A run reads the parameters of its own model, a row of ``worlds``; laws know nothing of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.actuators.python_controller import ONE_RUN
from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import AnyEnding, Ending, own_endings
from alight.engine.batch import run_batch
from alight.engine.columns import Columns
from alight.engine.lot import Lot
from alight.engine.motion import Loop, Motion, Pace, Start, WorldRows, world_rows
from alight.engine.records import rows_of, stacked
from alight.engine.result import BatchResult
from alight.engine.stops.law import StopLaw


@dataclass(frozen=True, eq=False)
class Releases:
    """The releases of runs, each of its own kind of model; rows in the order of runs."""

    parts: tuple[Any, ...]
    """One for each model: those of its runs, in order."""
    count: int

    def __len__(self) -> int:
        return self.count


@dataclass(frozen=True, eq=False)
class FleetResult(BatchResult):
    """How runs with models of their own ended; row i is run i."""

    parts: tuple[tuple[npt.NDArray[np.int64], Any], ...]
    """Of each model: which runs are its own, and their result."""


class Fleet(Motion):
    """Models whose runs go in one batch: ``rows`` tell which runs each of them has."""

    Release = Releases

    def __init__(self, models: Sequence[Motion], rows: Sequence[npt.ArrayLike]) -> None:
        self.models = tuple(models)
        self.rows_of = tuple(np.asarray(each, dtype=np.int64) for each in rows)
        if len({kind_of(model) for model in self.models}) != 1:
            raise InputError(
                "these models cannot share a batch: their laws, or the number of their parts, "
                "differ. Give each kind a batch of its own (engine.fleet.sorted_by_kind)."
            )
        self._first = self.models[0]
        if self._first.waits:
            raise InputError(f"{ONE_RUN}.")
        self.title, self.shown = self._first.title, self._first.shown
        self.run_kind, self.stops = self._first.run_kind, self._first.stops
        self.count = sum(map(len, self.rows_of))

    # -- what all of them have in common -------------------------------------------------------

    def loop(self) -> Loop:
        """What the kernel is made from."""
        return self._first.loop()

    own_worlds = True

    @property
    def endings(self) -> dict[int, Ending]:
        """Those of the stops of all."""
        return own_endings(law.ending for model in self.models for law in model.stops)

    @property
    def all_endings(self) -> dict[int, AnyEnding]:
        """What codes mean beside the outcomes, or in the words of the motion."""
        return {**self._first.words, **self.endings}

    def pace(self, device: devices.Device) -> Pace:
        """How much is done at once."""
        return self._first.pace(device)

    @property
    def layout(self) -> Hashable:
        """What the memory of a run depends on."""
        return self._first.layout

    @property
    def room(self) -> tuple[int, ...]:
        """Room for the largest."""
        sizes = zip(*(model.room for model in self.models), strict=True)
        return tuple(max(size) for size in sizes)

    def memory(self, slots: int, device: devices.Device, room: tuple[int, ...] = ()) -> Any:
        """What runs keep in memory, by slot."""
        return self._first.memory(slots, device, room or self.room)

    def rows(self, memory: Any) -> dict[str, Any]:
        """Arrays [row, slot] that go with a run."""
        return self._first.rows(memory)

    def fresh(self, memory: Any) -> list[tuple[Any, float]]:
        """What they hold where a run comes into a slot."""
        return self._first.fresh(memory)

    def carried(self, memory: Any) -> dict[str, Any]:
        """What else goes with a run that is under way."""
        return self._first.carried(memory)

    @property
    def line_width(self) -> int:
        """Numbers of a line of history."""
        return self._first.line_width

    def line_phase(self, lines: Array) -> npt.NDArray[Any]:
        """(n,) which phase lines are of."""
        return self._first.line_phase(lines)

    @property
    def columns(self) -> Columns:
        """What is reported of the runs."""
        return self._first.columns

    # -- what each run has ---------------------------------------------------------------------

    def data(self, device: devices.Device) -> Any:
        """The parameters of the first."""
        return self._first.data(device)

    def worlds(self, release: Releases, device: devices.Device, rows: Any) -> WorldRows:
        """The parameters of the models of some runs."""
        asked = np.zeros(self.count, dtype=bool)
        asked[rows] = True
        which = np.zeros(self.count, dtype=np.int32)
        single, several = list[Any](), list[WorldRows]()
        stops = list[Sequence[StopLaw]]()
        # Models of one world first: their structs become rows all at once.
        for model, part, own in self._parts(release, own_worlds=False):
            mine = own[asked[own]]
            if len(mine):
                which[mine] = len(single)
                single.append(model.world(part, device))
                stops.append(model.stops)
        for model, part, own in self._parts(release, own_worlds=True):
            mine = np.flatnonzero(asked[own])
            if len(mine):
                one = model.worlds(part, device, mine)
                which[own[mine]] = len(stops) + one.which[mine]
                several.append(one)
                stops += [model.stops] * len(mine)
        if not stops:
            return self._first.worlds(release.parts[0], device, np.arange(1))
        tables = [world_rows(single)] if single else []
        tables += [one.rows for one in several]
        first = single[0] if single else several[0].first
        table = stacked(tables[0].dtype, tables)
        return WorldRows(first, table, stops, which, behind=(single, several))

    def _parts(self, release: Releases, own_worlds: bool) -> Iterator[tuple[Motion, Any, Any]]:
        """Models with a world for each of their runs, or without, with releases and rows."""
        for part in zip(self.models, release.parts, self.rows_of, strict=True):
            if part[0].own_worlds == own_worlds:
                yield part

    def start(self, release: Releases, device: devices.Device, threads: int | None) -> Start:
        """The runs of all releases, in the order of runs."""
        type(self._first).prepare_together(self.models, release.parts)
        parts = [
            m.start(r, device, threads) for m, r in zip(self.models, release.parts, strict=True)
        ]
        start = Start(
            self._in_order([part.runs for part in parts]),
            self._in_order([part.notes for part in parts]),
            {name: self._in_order([p.rows[name] for p in parts]) for name in parts[0].rows},
            parts=tuple(parts),
        )
        start.notes["number"] = np.arange(self.count)
        return start

    def _in_order(self, parts: list[Any]) -> Any:
        """Rows of all runs; those of fewer numbers than others are filled up with zeros."""
        wide = () if parts[0].ndim == 1 else (max(part.shape[1] for part in parts),)
        out = np.zeros((self.count, *wide), dtype=parts[0].dtype)
        for rows, part in zip(self.rows_of, parts, strict=True):
            out[(rows, slice(0, part.shape[1])) if wide else rows] = part
        return out

    def result(self, runs: Start, touches: Any, threads: int | None) -> FleetResult:
        """How the runs ended."""
        parts = []
        final: Any = None
        own = np.zeros(self.count, dtype=np.int64)
        edges = np.searchsorted(touches["run"], np.arange(self.count + 1))
        for model, rows, start in zip(self.models, self.rows_of, runs.parts, strict=True):
            own[rows] = np.arange(len(rows))
            mine = _chosen(touches, edges, rows)
            mine["run"] = own[mine["run"]]
            notes = runs.notes[rows].copy()
            notes["number"] = np.arange(len(rows))
            states = {
                name: runs.rows[name][rows, : array.shape[1]] for name, array in start.rows.items()
            }
            so_far = Start(runs.runs[rows].copy(), notes, states, start.release, start.first)
            part = model.result(so_far, mine, threads)
            parts.append((rows, part))
            if final is None:
                final = np.zeros(self.count, dtype=part.final.dtype)
            final[rows] = part.final
        final["number"] = np.arange(self.count)
        return FleetResult(final, touches, tuple(parts), endings=self.all_endings)

    def solution(self, batch: Any, result: Any) -> Any:
        """The trajectory of the only run."""
        raise InputError("simulate follows one run of one model; give that model.")


def _chosen(touches: Any, edges: Any, rows: npt.NDArray[np.int64]) -> Any:
    """The contacts of some runs; ``edges`` are where those of each run begin."""
    first, count = edges[rows], edges[rows + 1] - edges[rows]
    before = np.repeat(np.cumsum(count) - count, count)
    return rows_of(touches, np.repeat(first, count) + np.arange(int(count.sum())) - before)


def kind_of(model: Motion) -> Hashable:
    """What models must have in common to share a batch."""
    if isinstance(model, Fleet):
        return kind_of(model.models[0])
    return type(model), model.loop(), model.layout


def sorted_by_kind(models: Iterable[Motion]) -> list[list[int]]:
    """The numbers of models that can share a batch, in lists."""
    found: dict[Hashable, list[int]] = {}
    for number, model in enumerate(models):
        found.setdefault(kind_of(model), []).append(number)
    return list(found.values())


@dataclass(frozen=True, eq=False)
class Gathered:
    """Models whose runs go in one batch."""

    numbers: list[int]
    """Which of the models these are."""
    model: Any
    release: Any

    def lot(self, threads: int | None, on_host: Any = None) -> Lot:
        """Their runs, about to begin; see ``Lot``."""
        return Lot(self.model, self.release, threads, on_host)

    def each(self, result: BatchResult) -> list[Any]:
        """The result of each model alone."""
        if isinstance(result, FleetResult):
            return [part for _, part in result.parts]
        return [result]


def gathered(models: Sequence[Motion], releases: Sequence[Any]) -> Iterator[Gathered]:
    """Models with their releases, those together that can share a batch; the runs of the first
    model come first, then those of the next."""
    for numbers in sorted_by_kind(models):
        some, starts = [models[i] for i in numbers], [releases[i] for i in numbers]
        if len(some) == 1:
            yield Gathered(numbers, some[0], starts[0])
            continue
        edges = np.cumsum([0, *map(len, starts)])
        rows = [np.arange(a, b) for a, b in itertools.pairwise(edges)]
        yield Gathered(numbers, Fleet(some, rows), Releases(tuple(starts), int(edges[-1])))


def run_models(
    models: Sequence[Motion], releases: Sequence[Any], **options: Any
) -> Iterator[tuple[list[int], BatchResult, list[Any]]]:
    """Run models, those together that can be: numbers of models, what came of their runs (those of
    the first model, then those of the next), and the result of each model alone.

    ``options`` are those of ``run_batch``.
    """
    for some in gathered(models, releases):
        result = run_batch(some.model, some.release, **options)
        yield some.numbers, result, some.each(result)

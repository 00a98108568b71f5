"""Captures and drops of a campaign.

On a CPU each run is a launch of its own, and as many are under way as there are threads: runs last
a part of a second, and many of them have an asteroid of their own. On a GPU the runs that share a
model are launched together. A run's bits are the same either way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.jobs.run_kinds import RunKind, run_kind
from alight.campaign.shard_store import runs_name, trajectory_name
from alight.campaign.tables.inputs import drawn_columns
from alight.campaign.tables.landing import to_bytes
from alight.campaign.tables.membrane import (
    capture_course,
    capture_table,
    drop_course,
    drop_numbers,
    drop_table,
)
from alight.core import devices
from alight.core.checks import Array
from alight.core.progress import Progress, Silent
from alight.motions.capture.result import ROW
from alight.scenario.building.membrane_drops import length_of
from alight.scenario.schema.capture import DRAWN_SHAPE

Index = npt.NDArray[np.int64]
#: A group of runs that share a model, and which of them are launched together.
Piece = tuple[Any, slice]


class _Flown:
    """Runs on membranes, all of them done."""

    def __init__(
        self, work: Any, runs: Index, values: dict[str, Array], bar: Progress | None
    ) -> None:
        self._work, self._runs, self._values = work, runs, values
        self._kind: RunKind = run_kind({"kind": type(work.scenario).KIND})
        self._reserve(len(runs))
        self._fly(work.prepared.groups(values), bar or Silent())

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        raise NotImplementedError

    def files(self, shard: int, own: slice) -> tuple[dict[str, bytes], int]:
        """The files of a shard, whose runs are ``own`` of these; there is no table of contacts."""
        drawn = {key: a[own] for key, a in self._values.items() if key != DRAWN_SHAPE}
        table = self._table(own, drawn_columns(self._work.scenario, drawn))
        return {runs_name(shard): to_bytes(table), **self._trajectories(self._runs[own])}, 0

    # -- what captures and drops do each in their way -----------------------------------------

    def _reserve(self, count: int) -> None:
        raise NotImplementedError

    def _take(self, rows: Index, flight: Any) -> None:
        raise NotImplementedError

    def _table(self, own: slice, more: list[Any]) -> Any:
        raise NotImplementedError

    def _course(self, run: int, flight: Any) -> Any:
        raise NotImplementedError

    # -- running ------------------------------------------------------------------------------

    def _fly(self, groups: list[Any], bar: Progress) -> None:
        """Run all groups, and tell of runs as they end."""
        bar.start(self._kind.noun, len(self._runs))
        ended: Counter[int] = Counter()
        for rows, flight in self._flights(groups):
            self._take(rows, flight)
            ended.update(map(int, self.codes[rows]))
            bar.advance(len(rows), **self._kind.facts(ended))

    def _flights(self, groups: list[Any]) -> Iterator[tuple[Index, Any]]:
        """Rows of runs and their flight, as they are done."""
        if not self._values:  # nothing is dispersed: every run is the nominal one
            yield np.arange(len(self._runs)), self._flight((groups[0], slice(None)))
            return
        if devices.resolve(self._work.device).is_gpu:
            for group in groups:
                yield group.rows, self._flight((group, slice(None)))
            return
        pieces = [(g, slice(i, i + 1)) for g in groups for i in range(len(g.rows))]
        for (group, which), flight in _in_turn(
            pieces, self._flight, devices.thread_count(self._work.threads)
        ):
            yield group.rows[which], flight

    def _flight(self, piece: Piece, every: float | None = None) -> Any:
        group, which = piece
        return group.run(which, device=self._work.device, threads=1, every=every)

    def _trajectories(self, runs: Index) -> dict[str, bytes]:
        """Files of the runs whose course is kept."""
        out, work = {}, self._work
        for run in work.kept(runs):
            values = sample(work.scenario, [run], total=work.plan.total)
            (group,) = work.prepared.groups(values)
            flight = self._flight((group, slice(None)), float(work.scenario.record.every))
            out[trajectory_name(run)] = to_bytes(self._course(run, flight))
        return out


def _in_turn(
    pieces: list[Piece], fly: Callable[[Piece], Any], threads: int
) -> Iterator[tuple[Piece, Any]]:
    """Each piece with its flight, as it is done, on ``threads`` threads."""
    # The first loads the kernel, which threads should not do all at once.
    yield pieces[0], fly(pieces[0])
    if threads == 1:
        yield from ((piece, fly(piece)) for piece in pieces[1:])
        return
    pool = ThreadPoolExecutor(threads)
    try:
        waiting: dict[Future[Any], Piece] = {pool.submit(fly, p): p for p in pieces[1:]}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Captures(_Flown):
    """Captures of some runs, all of them done."""

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        return np.asarray(self._rows["outcome"])

    def _reserve(self, count: int) -> None:
        self._rows: Any = np.zeros(count, dtype=ROW)
        self._lengths = np.zeros(count)

    def _take(self, rows: Index, flight: Any) -> None:
        self._rows[rows] = flight.rows
        self._rows["run"][rows] = self._runs[rows]
        self._lengths[rows] = length_of(flight.asteroids.body.mesh)

    def _table(self, own: slice, more: list[Any]) -> Any:
        return capture_table(self._rows[own], self._lengths[own], more)

    def _course(self, run: int, flight: Any) -> Any:
        return capture_course(run, flight)


class Drops(_Flown):
    """Drops of some runs, all of them done."""

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        return np.asarray(self._numbers["outcome"], dtype=np.int32)

    def _reserve(self, count: int) -> None:
        self._numbers: dict[str, Any] = {"run": self._runs, "outcome": np.zeros(count, np.int64)}

    def _take(self, rows: Index, flight: Any) -> None:
        for name, array in drop_numbers(flight).items():
            blank = np.zeros(len(self._runs), dtype=np.asarray(array).dtype)
            self._numbers.setdefault(name, blank)[rows] = array

    def _table(self, own: slice, more: list[Any]) -> Any:
        return drop_table({name: a[own] for name, a in self._numbers.items()}, more)

    def _course(self, run: int, flight: Any) -> Any:
        return drop_course(run, flight)

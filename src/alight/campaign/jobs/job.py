"""Runs of a campaign, whatever moves in them: computed together, reported in tables.

All that a kind of run has of its own, how it ends and which columns it leaves, its motion says.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.shard_store import contacts_name, hops_name, runs_name, trajectory_name
from alight.campaign.tables.arrow import table_from, table_of, to_bytes
from alight.campaign.tables.inputs import drawn_columns
from alight.campaign.tables.registered import registered_columns
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import Ending, Outcome
from alight.core.progress import Progress
from alight.engine import run_batch, simulate
from alight.engine.columns import Column, Columns, Source
from alight.engine.fleet import Gathered, gathered
from alight.engine.lot import Lot
from alight.engine.records import Touch, rows_of, stacked

Index = npt.NDArray[np.int64]


class Job:
    """Some runs: drawn, done in one batch wherever their kernels are the same, and written up.

    ``run`` does them all. Or each of ``parts`` is done elsewhere and its result given to ``take``,
    and ``close`` follows when all have come.
    """

    def __init__(self, work: Any, runs: Index, values: dict[str, Array]) -> None:
        self.work, self.runs, self._values = work, runs, values
        self.codes: npt.NDArray[np.int32] = np.zeros(len(runs), dtype=np.int32)
        self._data: dict[str, Any] = {}
        self._groups = work.prepared.groups(values)
        self._contacts: list[tuple[Any, Index]] = []
        self._hops: Any = None
        with self._groups[0].blamed():
            self._models = [group.model for group in self._groups]
            # Of a study the first run decides, which need not be among these.
            known = getattr(work.prepared, "columns", None)
            self._columns: Columns = known or self._models[0].columns
            self.parts = list(gathered(self._models, [group.release for group in self._groups]))

    # -- running -------------------------------------------------------------------------------

    def run(self, bar: Progress) -> None:
        """Run all parts, one after the other."""
        ended: Counter[int] = Counter()
        new: dict[int, Ending] = {}
        for model in self._models:
            new |= model.endings
        kind = self._models[0].run_kind.having(new)
        options = {"device": self.work.device, "threads": self.work.threads, "show": bar}
        with self.blamed():
            for part in self.parts:
                lot = self.lot(part)
                rows = self.take(part, run_batch(part.model, lot, **options))
                ended.update(self.codes[rows].tolist())
                bar.advance(len(rows) - len(lot), **kind.facts(ended))
        self.close()

    def lot(self, part: Gathered) -> Lot:
        """The runs of a part. Those whose trajectory is kept are computed on the host, wherever
        others are: one run is slow on a GPU, and the trajectory must be that of its row."""
        rows = np.concatenate([self._rows(self._groups[number]) for number in part.numbers])
        kept = np.isin(self.runs[rows], self.work.kept(self.runs))
        if not self._values:  # one run stands for all, in every shard
            kept = np.array([len(self.work.scenario.record.trajectories) > 0])
        return part.lot(self.work.threads, np.flatnonzero(kept))

    def blamed(self) -> Any:
        """What is wrong with the runs is reported with file and key."""
        return self._groups[0].blamed()

    def take(self, part: Gathered, result: Any) -> Index:
        """Keep what came of the runs of a part; the places here of these runs."""
        own = [self._rows(self._groups[number]) for number in part.numbers]
        for number, one, rows in zip(part.numbers, part.each(result), own, strict=True):
            self._take(rows, self._models[number], one)
        all_rows = np.concatenate(own)
        self._contacts += self._spread(result.touches, all_rows)
        return all_rows

    def close(self) -> None:
        """All runs are done: put contacts in their order."""
        parts, owners = zip(*self._contacts, strict=True)
        touches = parts[0] if len(parts) == 1 else stacked(Touch, list(parts))
        row = np.concatenate(owners)
        # Groups come one after the other; within a run contacts are already in order of time.
        if (row[1:] < row[:-1]).any():
            order = np.argsort(row, kind="stable")
            touches, row = rows_of(touches, order), row[order]
        self._touches, self._owners = touches, row
        self._contacts = []

    def _take(self, rows: Index, model: Any, result: Any) -> None:
        """Keep what came of the runs of one model; ``rows`` are their places here."""
        self.codes[rows] = result.outcome
        self._take_hops(rows, getattr(result, "manoeuvres", None))
        columns = model.columns.runs
        check_alike(self._columns.runs, columns, self.runs[rows[0]])
        place = (self.work.device, self.work.threads)
        source = Source(result, self.runs[rows], model, *place)
        for column in columns:
            self._put(column, rows, column.values(source))

    def _take_hops(self, rows: Index, records: Any) -> None:
        """Keep records (n, manoeuvres) of what landers did by themselves."""
        if records is None or not records.shape[1]:
            return
        if self._hops is None:
            self._hops = np.zeros((len(self.runs), records.shape[1]), dtype=records.dtype)
        self._hops[rows] = records

    def _put(self, column: Column, rows: Index, values: Any) -> None:
        given, count = np.ma.asanyarray(values), len(self.runs)
        if column.name not in self._data:
            self._data[column.name] = np.ma.masked_array(np.empty(count, dtype=given.dtype))
        kept = self._data[column.name]
        kept.data[rows] = given.data
        if np.ma.is_masked(values):
            mask = np.ma.getmaskarray(kept)
            mask[rows] = np.ma.getmaskarray(given)
            self._data[column.name] = np.ma.masked_array(kept.data, mask=mask)

    def _rows(self, group: Any) -> Index:
        """The places of the runs of a group. With nothing dispersed one run stands for all."""
        if self._values:
            return np.asarray(group.rows, dtype=np.int64)
        return np.arange(len(self.runs))

    def _spread(self, touches: Any, rows: Index) -> list[tuple[Any, Index]]:
        """Contacts, and the places of their runs."""
        if self._values:
            return [(touches, rows[touches["run"]])]
        return [(touches, np.full(len(touches), row)) for row in rows]

    # -- files ---------------------------------------------------------------------------------

    def files(
        self, shard: int, own: slice, courses: dict[str, Any]
    ) -> tuple[dict[str, bytes], int]:
        """The files of a shard, whose runs are ``own`` of these, and its number of contacts."""
        met = slice(*np.searchsorted(self._owners, [own.start, own.stop]))
        touches, owners = self._touches[met], self.runs[self._owners[met]]
        contacts = table_from(self._columns.contacts, Source(touches, owners))
        files = {runs_name(shard): self.table(own), contacts_name(shard): contacts}
        if self._columns.hops:
            files[hops_name(shard)] = self._hop_table(own)
        made = {name: to_bytes(table) for name, table in {**files, **courses}.items()}
        return made, len(touches)

    def table(self, own: slice) -> Any:
        """The table of some runs: the columns of their motion, values as drawn, registered ones."""
        scenario = self.work.scenario
        drawn = {key: array[own] for key, array in self._values.items()}
        more = drawn_columns(scenario, drawn)
        columns = [*self._columns.runs, *(column for column, _ in more)]
        data = {name: _plain(array[own]) for name, array in self._data.items()}
        data |= {column.name: array for column, array in more}
        names = scenario.record.columns or ()
        for column, array in registered_columns(names, columns, data):
            columns.append(column)
            data[column.name] = array
        return table_of(columns, data)

    def _hop_table(self, own: slice) -> Any:
        """The manoeuvres of some runs that were begun, in the order of runs and of time."""
        records = self._hops[own]
        owners, numbers = np.nonzero(records["state"] > 0.0)
        found = {name: records[name][owners, numbers] for name in records.dtype.names}
        found["number"] = numbers
        return table_from(self._columns.hops, Source(found, self.runs[own][owners]))

    def courses(self, own: slice) -> dict[str, Any]:
        """Tables of the runs whose trajectory is kept; one released inside the ground has none."""
        out, work = {}, self.work
        every = getattr(work.scenario.record, "every", None)
        for run in work.kept(self.runs[own]):
            if self.codes[np.searchsorted(self.runs, run)] == Outcome.STARTED_INSIDE:
                continue
            (group,) = work.prepared.groups(sample(work.scenario, [run], total=work.plan.total))
            with group.blamed():
                model = group.model.followed(None if every is None else float(every))
                solution = simulate(model, group.release, device="cpu", threads=work.threads)
            source = Source(solution, np.array([run]), model, "cpu", work.threads)
            out[trajectory_name(run)] = table_from(model.columns.course, source)
        return out


def _plain(values: Any) -> Any:
    """An array without a mask where nothing is empty."""
    return values if np.ma.is_masked(values) else values.data


def check_alike(wanted: tuple[Column, ...], found: tuple[Column, ...], run: int) -> None:
    """An error unless the models of a campaign leave the same columns: it has one table."""
    if wanted is found:
        return
    first, second = ([column.full_name for column in each] for each in (wanted, found))
    if first != second:
        odd = sorted(set(first) ^ set(second))
        raise InputError(
            f"the model of run {run} leaves other columns than that of run 0 (such as "
            f"{', '.join(odd[:3])}), and a campaign has one table. Parts of all models of a study "
            "need the same names, and the models the same kind of motion."
        )

"""Runs of a campaign, whatever moves in them: computed together, told in tables.

All that a kind of run has of its own, how it ends and which columns it leaves, its motion says.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.shard_store import contacts_name, runs_name, trajectory_name
from alight.campaign.tables.arrow import table_from, table_of, to_bytes
from alight.campaign.tables.inputs import drawn_columns
from alight.campaign.tables.registered import registered_columns
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import Ending, Outcome
from alight.core.progress import Progress, Silent
from alight.engine import simulate
from alight.engine.columns import Column, Columns, Source
from alight.engine.fleet import run_models
from alight.engine.records import Touch, stacked

Index = npt.NDArray[np.int64]


class Job:
    """Some runs, all of them done: in one batch wherever their kernels are the same."""

    def __init__(
        self, work: Any, runs: Index, values: dict[str, Array], bar: Progress | None = None
    ) -> None:
        self.work, self.runs, self._values = work, runs, values
        self.codes: npt.NDArray[np.int32] = np.zeros(len(runs), dtype=np.int32)
        self._data: dict[str, Any] = {}
        self._run(work.prepared.groups(values), bar or Silent())

    # -- running -------------------------------------------------------------------------------

    def _run(self, groups: list[Any], bar: Progress) -> None:
        """Run all groups, those together that can be, and keep what they left."""
        ended: Counter[int] = Counter()
        parts, owners = [], []
        new: dict[int, Ending] = {}
        with groups[0].blamed():
            models, releases = zip(*((g.model, g.release) for g in groups), strict=True)
            # Of a study the first run decides, which need not be among these.
            known = getattr(self.work.prepared, "columns", None)
            self._columns: Columns = known or models[0].columns
            for model in models:
                new |= model.endings
            kind = models[0].run_kind.having(new)
            options = {"device": self.work.device, "threads": self.work.threads, "show": bar}
            for numbers, result, each in run_models(models, releases, **options):
                rows = [self._rows(groups[number]) for number in numbers]
                for number, part, own in zip(numbers, each, rows, strict=True):
                    self._take(own, models[number], part)
                    ended.update(self.codes[own].tolist())
                for touches, row in self._spread(result.touches, np.concatenate(rows)):
                    parts.append(touches)
                    owners.append(row)
                bar.advance(0, **kind.facts(ended))
        touches, row = stacked(Touch, parts), np.concatenate(owners)
        # Groups come one after the other; within a run contacts are already in order of time.
        order = np.argsort(row, kind="stable")
        self._touches, self._owners = touches[order], row[order]

    def _take(self, rows: Index, model: Any, result: Any) -> None:
        """Keep what came of the runs of one model; ``rows`` are their places here."""
        self.codes[rows] = result.outcome
        columns = model.columns.runs
        check_alike(self._columns.runs, columns, self.runs[rows[0]])
        place = (self.work.device, self.work.threads)
        source = Source(result, self.runs[rows], model, *place)
        for column in columns:
            self._put(column, rows, column.values(source))

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

    def files(self, shard: int, own: slice) -> tuple[dict[str, bytes], int]:
        """The files of a shard, whose runs are ``own`` of these, and its number of contacts."""
        met = slice(*np.searchsorted(self._owners, [own.start, own.stop]))
        touches, owners = self._touches[met], self.runs[self._owners[met]]
        contacts = table_from(self._columns.contacts, Source(touches, owners))
        files = {runs_name(shard): self.table(own), contacts_name(shard): contacts}
        made = {name: to_bytes(table) for name, table in {**files, **self._courses(own)}.items()}
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

    def _courses(self, own: slice) -> dict[str, Any]:
        """Tables of the runs whose course is kept; one released inside the ground has none."""
        out, work = {}, self.work
        every = getattr(work.scenario.record, "every", None)
        for run in work.kept(self.runs[own]):
            if self.codes[np.searchsorted(self.runs, run)] == Outcome.STARTED_INSIDE:
                continue
            (group,) = work.prepared.groups(sample(work.scenario, [run], total=work.plan.total))
            with group.blamed():
                model = group.model.followed(None if every is None else float(every))
                place = {"device": work.device, "threads": work.threads}
                solution = simulate(model, group.release, **place)
            source = Source(solution, np.array([run]), model, work.device, work.threads)
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

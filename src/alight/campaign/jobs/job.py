"""Runs of a campaign, computed together: in one batch wherever their kernels are the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.jobs.run_kinds import run_kind
from alight.campaign.shard_store import runs_name, trajectory_name
from alight.campaign.tables.articulated import Filled
from alight.campaign.tables.inputs import drawn_columns
from alight.campaign.tables.landing import to_bytes
from alight.core.checks import Array
from alight.core.outcomes import AnyEnding, Ending
from alight.core.progress import Progress, Silent
from alight.engine.fleet import run_models
from alight.engine.records import Touch, stacked
from alight.scenario.schema.capture import DRAWN_SHAPE

Index = npt.NDArray[np.int64]


class Job:
    """Some runs, all of them done. What each kind of run leaves, subclasses know."""

    def __init__(
        self, work: Any, runs: Index, values: dict[str, Array], bar: Progress | None
    ) -> None:
        self.work, self.runs, self._values = work, runs, values
        self._kind = run_kind({"kind": type(work.scenario).KIND})
        #: What codes mean beside the outcomes, or in the words of the motion.
        self.endings: dict[int, AnyEnding] = {}
        self.reserve(len(runs))
        self._run(work.prepared.groups(values), bar or Silent())

    # -- what each kind of run does in its way -------------------------------------------------

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        raise NotImplementedError

    def reserve(self, count: int) -> None:
        """Make room for so many runs."""
        raise NotImplementedError

    def take(self, rows: Index, group: Any, result: Any) -> None:
        """Keep what came of the runs of one model; ``rows`` are their places here."""
        raise NotImplementedError

    def table(self, own: slice, more: list[Filled]) -> Any:
        """The table of some runs, with further columns."""
        raise NotImplementedError

    def course(self, run: int, group: Any) -> Any:
        """The table of the course of a run; None where it has none."""
        raise NotImplementedError

    def more_files(self, shard: int, owners: Index, touches: Any) -> dict[str, bytes]:
        """Files beside the table of runs; ``touches`` are contacts, ``owners`` their runs."""
        return {}

    # -- running -------------------------------------------------------------------------------

    def _run(self, groups: list[Any], bar: Progress) -> None:
        """Run all groups, those together that can be, and keep what they left."""
        ended: Counter[int] = Counter()
        parts, owners = [], []
        models, releases = [], []
        new: dict[int, Ending] = {}
        with groups[0].blamed():
            for group in groups:
                models.append(group.model)
                self.endings |= group.model.all_endings
                new |= group.model.endings
                releases.append(group.release)
            self._kind = self._kind.having(new)
            options = {"device": self.work.device, "threads": self.work.threads, "show": bar}
            for numbers, result, each in run_models(models, releases, **options):
                rows = [self._rows(groups[number]) for number in numbers]
                for number, part, own in zip(numbers, each, rows, strict=True):
                    self.take(own, groups[number], part)
                    ended.update(map(int, self.codes[own]))
                everyone = np.concatenate(rows)
                for touches, row in self._spread(result.touches, everyone):
                    parts.append(touches)
                    owners.append(row)
                bar.advance(0, **self._kind.facts(ended))
        touches, row = stacked(Touch, parts), np.concatenate(owners)
        # Groups come one after the other; within a run contacts are already in order of time.
        order = np.argsort(row, kind="stable")
        self._touches, self._owners = touches[order], row[order]

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
        drawn = {key: a[own] for key, a in self._values.items() if key != DRAWN_SHAPE}
        met = slice(*np.searchsorted(self._owners, [own.start, own.stop]))
        touches, owners = self._touches[met], self.runs[self._owners[met]]
        table = self.table(own, drawn_columns(self.work.scenario, drawn))
        more = self.more_files(shard, owners, touches)
        files = {runs_name(shard): to_bytes(table), **more, **self._trajectories(own)}
        return files, len(touches) if more else 0

    def _trajectories(self, own: slice) -> dict[str, bytes]:
        """Files of the runs whose course is kept."""
        out, work = {}, self.work
        for run in work.kept(self.runs[own]):
            values = sample(work.scenario, [run], total=work.plan.total)
            (group,) = work.prepared.groups(values)
            course = self.course(run, group)
            if course is not None:
                out[trajectory_name(run)] = to_bytes(course)
        return out

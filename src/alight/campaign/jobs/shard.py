"""Computing shards: values drawn, runs done, tables made. No files, no folders.

A ``Work`` can be pickled: an executor may send it to other machines. The costly parts of a model
(meshes, fields) are made once in each process, when its first shard is computed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.jobs.job import Job
from alight.campaign.plan import Plan
from alight.campaign.shard_store import Shard
from alight.campaign.study.study import Study
from alight.core.errors import InputError
from alight.core.progress import Progress, Silent
from alight.scenario import prepare


@dataclass
class Work:
    """All that computing a shard needs."""

    scenario: Any
    plan: Plan
    device: str = "auto"
    threads: int | None = None
    show: str = "silent"
    """How the making of meshes and fields is reported."""
    beside: tuple[str, ...] = ()
    """Further GPUs of this machine that share the campaign (``jobs.several``)."""

    @functools.cached_property
    def prepared(self) -> Any:
        """The scenario with its costly parts made, or the study, whose parts are made."""
        if isinstance(self.scenario, Study):
            return self.scenario.prepared()
        return prepare(self.scenario, self.device, self.show)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("scenario", "plan", "device", "threads", "show", "beside")
        return {name: self.__dict__[name] for name in kept}

    def kept(self, runs: npt.NDArray[np.int64]) -> list[int]:
        """Those of ``runs`` whose whole trajectory is kept."""
        return sorted(set(map(int, self.scenario.record.trajectories)) & set(runs.tolist()))

    def compute(self, shard: int, bar: Progress | None = None) -> Shard:
        """Do all runs of a shard; ``bar`` is advanced as they end."""
        drawn = self.drawn([shard])
        with drawn.named():
            drawn.job.run(bar or Silent())
        (only,) = drawn.shards()
        return only()

    def drawn(self, shards: Sequence[int]) -> Drawn:
        """The runs of some shards, about to be done."""
        members = [self.plan.runs(shard) for shard in shards]
        return Drawn(self, list(shards), members)


class Drawn:
    """The runs of some shards: their values drawn, their models made."""

    def __init__(self, work: Work, shards: list[int], members: list[Any]) -> None:
        self.shards_of, self.runs = shards, np.concatenate(members)
        self._edges = np.cumsum([0, *(len(m) for m in members)]).tolist()
        with self.named():
            values = sample(work.scenario, self.runs, total=work.plan.total)
            self.job = Job(work, self.runs, values)

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """What is wrong with the runs is reported with the shards they are of."""
        try:
            yield
        except InputError as cause:
            first, more = self.shards_of[0], len(self.shards_of) > 1
            named = f"shards {first} ..." if more else f"shard {first}"
            raise InputError(
                f"{named} (runs {self.runs[0]} to {self.runs[-1]}) cannot be run: {cause}"
            ) from cause

    def shards(self) -> Iterator[Callable[[], Shard]]:
        """Of runs that are done, each shard as a call that makes its files, in any thread."""
        for shard, (begin, end) in zip(
            self.shards_of, itertools.pairwise(self._edges), strict=True
        ):
            yield functools.partial(self._shard, shard, slice(begin, end))

    def _shard(self, shard: int, own: slice) -> Shard:
        files, contacts = self.job.files(shard, own, self.job.courses(own))
        codes, counts = np.unique(self.job.codes[own], return_counts=True)
        outcomes = {int(c): int(n) for c, n in zip(codes, counts, strict=True)}
        return Shard(shard, files, contacts, outcomes)


class ShardBar(Silent):
    """A bar of the whole campaign, as the batches of one shard see it, one after the other."""

    def __init__(self, whole: Progress, before: dict[str, int]) -> None:
        self._whole, self._before, self._own = whole, dict(before), dict[str, int]()

    def start(self, title: str, total: int | None = None) -> None:
        """A batch begins: the bar of the campaign stays, with what the last batch came to."""
        self._before, self._own = self._counts(), {}

    def advance(self, n: int = 1, **facts: object) -> None:
        """Report ``n`` more runs, with outcomes of this batch added to those before."""
        self._own.update({name: int(str(count)) for name, count in facts.items()})
        self._whole.advance(n, **self._counts())

    def _counts(self) -> dict[str, int]:
        names = [*self._before, *(name for name in self._own if name not in self._before)]
        return {name: self._before.get(name, 0) + self._own.get(name, 0) for name in names}

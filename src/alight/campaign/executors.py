"""Where shards are computed: on this machine, on a cluster, or by an executor of your own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from alight.campaign.jobs.flow import LOT, Flow
from alight.campaign.jobs.several import Several
from alight.campaign.jobs.shard import ShardBar, Work
from alight.campaign.shard_store import Shard
from alight.core import devices
from alight.core.checks import checked_whole
from alight.core.errors import InputError, unknown_name
from alight.core.progress import Progress, Silent
from alight.engine.run_kind import LANDINGS, RunKind


class Executor(Protocol):
    """Computes shards; writing them is not its affair.

    One that computes on other machines may also have ``resolve(device) -> Device``, which finds
    devices there; without it they are those of this machine.
    """

    def prepare(self, work: Work) -> None:
        """Get ready: called once, before the first shard and before the bar of landings."""
        ...

    def compute(self, work: Work, shards: Sequence[int], tally: Tally) -> Iterator[Shard]:
        """Yield each of ``shards`` once, in any order, as it is done.

        Each shard is asked for when the one before has been written: an executor that works ahead
        bounds how many results wait. It reports runs to ``tally.bar`` as they end.
        """
        ...


class Tally:
    """The bar of a campaign, and how the runs so far have ended."""

    def __init__(self, kind: RunKind = LANDINGS) -> None:
        self.kind = kind
        self.bar: Progress = Silent()
        self.outcomes: Counter[int] = Counter()

    def add(self, outcomes: dict[int, int]) -> None:
        """Count the runs of a finished shard."""
        self.outcomes.update(outcomes)

    def facts(self) -> dict[str, int]:
        """Outcomes as a bar shows them."""
        return self.kind.facts(self.outcomes)


class Local:
    """All cores of this machine, or its GPU, or several.

    On a CPU each shard is computed on all cores, in order. On a GPU, which takes about as long for
    ten landings as for ten thousand, all shards are one flow (``jobs.flow``), and on several a flow
    each (``jobs.several``). ``lot`` is the number of runs that are drawn at once for it; given,
    shards are one flow on a CPU too.
    """

    def __init__(self, lot: int | None = None) -> None:
        self.lot = lot if lot is None else checked_whole("lot", lot, 1)

    def prepare(self, work: Work) -> None:
        """Make meshes and fields, which may take a while and says so."""
        _ = work.prepared

    def compute(self, work: Work, shards: Sequence[int], tally: Tally) -> Iterator[Shard]:
        """Yield the shards, in order on one device."""
        if work.beside:
            yield from Several(work, shards, tally.bar, tally.facts(), self.lot or LOT).shards()
            return
        if devices.resolve(work.device).is_gpu or self.lot is not None:
            bar = ShardBar(tally.bar, tally.facts())
            yield from Flow(work, shards, bar, self.lot or LOT).shards()
            return
        for shard in shards:
            yield work.compute(shard, ShardBar(tally.bar, tally.facts()))


_NAMED = {"local": Local}


def executor_of(executor: str | Executor, scheduler: Any = None) -> Executor:
    """The executor that a name stands for, one that was made before, or a scheduler's workers."""
    if scheduler is not None:
        if executor != "local":
            raise InputError(
                f"executor is {executor!r} and scheduler is {scheduler!r}; give one of them."
            )
        from alight.campaign.cluster.executor import Cluster

        return Cluster(scheduler)
    if isinstance(executor, str):
        if executor not in _NAMED:
            raise unknown_name("executor", executor, _NAMED)
        return _NAMED[executor]()
    if not (hasattr(executor, "compute") and hasattr(executor, "prepare")):
        raise InputError(
            f'executor is {executor!r}; it must be "local" or an object with prepare(work) and '
            "compute(work, shards, tally). For a Dask cluster give scheduler."
        )
    return executor


def resolver_of(executor: Executor) -> Callable[[str], devices.Device]:
    """Finds the device of a name where the executor computes."""
    return getattr(executor, "resolve", devices.resolve)

"""Where shards are computed: on this machine, on a cluster, or by an executor of one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from alight.campaign.jobs.shard import ShardBar, Work
from alight.campaign.shard_store import Shard
from alight.core import devices
from alight.core.checks import checked_whole
from alight.core.errors import InputError, unknown_name
from alight.core.progress import Progress, Silent
from alight.engine.run_kind import LANDINGS, RunKind

#: Runs begun at once on a GPU: as many as fill it, whose contacts still fit into the memory of a
#: host (2 GB for 25 contacts each).
GPU_TOGETHER = 262_144


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
        bounds how many results wait. It tells ``tally.bar`` of runs as they end.
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
    """All cores of this machine, or its GPU: each shard on the whole of it, in order.

    ``together`` is the number of runs that are begun at once: on a GPU those of many shards, as it
    takes about as long for ten landings as for ten thousand; on a CPU those of one.
    """

    def __init__(self, together: int | None = None) -> None:
        self.together = together if together is None else checked_whole("together", together, 1)

    def prepare(self, work: Work) -> None:
        """Make meshes and fields, which may take a while and tells so."""
        _ = work.prepared

    def compute(self, work: Work, shards: Sequence[int], tally: Tally) -> Iterator[Shard]:
        """Yield the shards in order."""
        on_gpu = devices.resolve(work.device).is_gpu
        most = self.together or (GPU_TOGETHER if on_gpu else 1)
        each = max(1, most // work.plan.shard)
        for first in range(0, len(shards), each):
            bar = ShardBar(tally.bar, tally.facts())
            yield from work.compute_together(shards[first : first + each], bar)


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

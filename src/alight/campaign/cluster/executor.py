"""Shards on a Dask cluster: many machines compute, and one folder is written by one process.

The scenario travels to the workers, with the files that it names; the tables travel back. No disk
is shared, and the scheduler needs no Alight: its tasks are made of Python's own functions. Dask
computes again what was lost with a worker. A shard depends on its number alone, so it comes out the
same whoever computes it. A task is one shard; on GPUs, which take about as long for ten landings as
for ten thousand, it is as many as one of them takes at once.

``worker_task`` is the other end: what happens on a worker.
"""

from __future__ import annotations

import contextlib
import logging
import operator
import pickle
import queue
import re
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from alight.campaign.cluster.worker_task import SAFE, ClusterError, extensions_of, named, packed
from alight.campaign.cluster.workers import Crew
from alight.campaign.executors import Tally
from alight.campaign.jobs.flow import LOT, pieces
from alight.campaign.jobs.shard import Work
from alight.campaign.shard_store import Shard
from alight.campaign.study.study import Study
from alight.core.checks import checked_number
from alight.core.devices import Device
from alight.core.errors import AlightError, DeviceError, InputError
from alight.core.extras import require
from alight.engine.deck import many_at_once

#: Tasks that each worker has: the one it computes, and the next, so that it need not wait while
#: tables are written. This bounds the results that wait for the writer.
AHEAD = 2

#: Runs of a task on a GPU: enough to keep it busy, few enough to travel back at once.
GPU_RUNS = 2 * LOT

#: How long to try to reach a scheduler [s].
REACH = 10.0

# Between two looks at bar and workers while no shard arrives [s].
_TICK = 0.5


class Cluster:
    """The workers of a Dask scheduler, each with one shard at a time on all of its threads, or
    with thousands of runs at a time on its GPU.

    Parameters
    ----------
    scheduler:
        Its address, such as ``"tcp://host:8786"``, or a ``distributed.Client`` made before, where
        the connection needs more than an address.
    patience:
        How long to wait for a first worker, and for another one when all have left [s].
    """

    def __init__(self, scheduler: Any, patience: float = 60.0) -> None:
        require("distributed", "cluster")
        named = isinstance(scheduler, str) and scheduler.strip()
        if not named and not all(hasattr(scheduler, n) for n in ("submit", "run", "nthreads")):
            raise InputError(
                f"scheduler is {scheduler!r}; it must be the address of a Dask scheduler, such as "
                '"tcp://host:8786", or a distributed.Client.'
            )
        if getattr(scheduler, "asynchronous", False):
            raise InputError(
                "scheduler is an asynchronous distributed.Client, which this function cannot wait "
                "for; give a plain one, or the address."
            )
        self.scheduler = scheduler
        self.patience = checked_number("patience", patience, 0.0, above=False)

    def resolve(self, device: str) -> Device:
        """A device of the workers; ``"auto"`` is a GPU where every worker has one."""
        wanted = str(device).strip().lower()
        if wanted == "auto":
            with self._connected() as client:
                crew = Crew(client, self.patience)
                crew.wait()
                wanted = "cuda" if crew.all_have("cuda:0") else "cpu"
        if wanted == "cpu":
            return Device("cpu", "cores of the workers")
        found = re.fullmatch(r"(?:cuda|gpu)(:\d+)?", wanted)
        if found is None:
            raise DeviceError(
                f'device "{device}" cannot be used: that is not the name of a device. On a cluster '
                "take auto, cpu, cuda, or cuda:1 for the second GPU of every worker."
            )
        return Device(f"cuda{found[1] or ':0'}", "GPU of the workers")

    def prepare(self, work: Work) -> None:
        """See that there are workers and that they fit; they make meshes and fields themselves."""
        with self._connected() as client:
            Crew(client, self.patience, work.device, extensions_of(work)).wait()

    def compute(self, work: Work, shards: Sequence[int], tally: Tally) -> Iterator[Shard]:
        """Yield the shards as workers finish them."""
        with self._connected() as client:
            crew = Crew(client, self.patience, work.device, extensions_of(work))
            with contextlib.closing(_Flow(client, crew, work, tally)) as flow:
                yield from flow.run(shards)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """A client of the scheduler; one that was given stays open."""
        if not isinstance(self.scheduler, str):
            yield self.scheduler
            return
        distributed, address = require("distributed", "cluster"), self.scheduler.strip()
        reach = min(REACH, max(self.patience, 1.0))
        try:
            # First, as a client that fails on a name leaves threads behind.
            distributed.comm.get_address_host(address)
            client = distributed.Client(address, timeout=reach, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as cause:
            raise ClusterError(
                f'the Dask scheduler "{self.scheduler}" cannot be reached '
                f"({str(cause).strip() or type(cause).__name__}). See that it runs (dask scheduler "
                "prints its address, such as tcp://host:8786), that this machine may connect to "
                f"it, and that the address is right. {SAFE}"
            ) from None
        with _filtered("tornado.application", _is_no_stumble):
            try:
                yield client
            finally:
                # Dask's traceback on a connection that was lost: an error of ours tells of it.
                lost = client.status != "running"
                with _filtered("distributed.client", lambda _: not lost):
                    client.close()


@contextlib.contextmanager
def _filtered(logger: str, wanted: Callable[[logging.LogRecord], bool]) -> Iterator[None]:
    """Log only what is ``wanted``."""
    log = logging.getLogger(logger)
    log.addFilter(wanted)
    try:
        yield
    finally:
        log.removeFilter(wanted)


def _is_no_stumble(record: logging.LogRecord) -> bool:
    """False for Dask stumbling over Ctrl-C that comes before a call has begun: it does no harm."""
    return "sync.<locals>.cancel" not in record.getMessage()


class _Flow:
    """Shards on their way: a bounded number of them at the workers, one at a time back."""

    def __init__(self, client: Any, crew: Crew, work: Work, tally: Tally) -> None:
        self._client, self._crew = client, crew
        self._of_study = isinstance(work.scenario, Study)
        self._bar = _Bar(work, tally)
        self._name = f"alight-{uuid.uuid4().hex}"
        self._plan, self._many = work.plan, many_at_once(Device(work.device, ""))
        self._sent: dict[Any, tuple[Sequence[int], str]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Many megabytes where the scenario names a mesh: sent once, and not in every task. As the
        # result of a task Dask makes it again when the worker that held it is lost.
        config = require("dask", "cluster").config
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            blob = packed(work, self._name)
            self._parcel = client.submit(pickle.loads, blob, key=f"{self._name}-parcel", pure=False)
        client.subscribe_topic(self._name, self._bar.heard)

    def run(self, shards: Sequence[int]) -> Iterator[Shard]:
        """Yield each of ``shards`` once."""
        waiting = deque(pieces(shards, self._shards_each(len(shards))))
        while waiting or self._sent:
            self._send(waiting)
            try:
                future = self._done.get(timeout=_TICK)
            except queue.Empty:
                self._bar.show()
                continue
            done = self._received(future)
            self._bar.finished(done)
            yield from done

    def _shards_each(self, count: int) -> int:
        """How many of ``count`` shards a task has; on GPUs all workers get some."""
        if not self._many:
            return 1
        share = -(-count // max(1, len(self._crew.present())))
        return max(1, min(share, GPU_RUNS // self._plan.shard))

    def _send(self, waiting: deque[Sequence[int]]) -> None:
        """Give the least busy workers more, up to the bound."""
        workers = self._crew.present()
        load = dict.fromkeys(workers, 0)
        for _, worker in self._sent.values():
            if worker in load:
                load[worker] += 1
        # Tasks of lost workers count as well: they wait at others.
        while waiting and len(self._sent) < AHEAD * len(workers) and min(load.values()) < AHEAD:
            worker = min(load, key=lambda address: load[address])
            load[worker] += 1
            self._submit(waiting.popleft(), worker)

    def _submit(self, shards: Sequence[int], worker: str) -> None:
        future = self._client.submit(
            operator.methodcaller("compute", list(shards)),
            self._parcel,
            key=f"{self._name}-{shards[0]}",
            pure=False,
            workers=[worker],
            allow_other_workers=True,  # when this one is lost, or another is idle
        )
        self._sent[future] = (shards, worker)
        future.add_done_callback(self._done.put)

    def _received(self, future: Any) -> list[Shard]:
        """The shards of a future that is done."""
        numbers, _ = self._sent[future]
        wait = max(10.0, 2.0 * _TICK)
        while True:
            if future.status == "cancelled":
                raise self._crew.lost()
            if future.status == "error":
                raise self._explained(numbers, future.exception())
            try:
                shards: list[Shard] = future.result(timeout=wait)
                break
            except TimeoutError:
                # A slow network, or lost with its worker before it was fetched and now computed
                # again: neither may take the other's time.
                self._crew.present()
                wait *= 2.0
            except Exception:
                if future.status not in ("cancelled", "error"):
                    raise
        del self._sent[future]
        future.release()
        return shards

    def _explained(self, shards: Sequence[int], error: BaseException) -> BaseException:
        """What to raise for shards that failed."""
        if isinstance(error, AlightError):
            return error
        if isinstance(error, require("distributed", "cluster").KilledWorker):
            one = len(shards) == 1
            return ClusterError(
                f"{named(shards)} {'was' if one else 'were'} not computed: each worker that tried "
                f"{'it' if one else 'them'} was lost "
                f"({str(error).split('. ')[0]}). Most often the machine ran out of memory: check "
                "the worker logs, and give them more memory or the campaign smaller shards "
                f"(campaign.shard, in another folder). {SAFE}"
            )
        if isinstance(error, ImportError | AttributeError) and self._of_study:
            return ClusterError(
                f"the workers cannot load the study: {error}. Modules that it is made with must be "
                "on the path (PYTHONPATH) of every worker, in the same version as here. "
                f"{SAFE}"
            )
        # A worker that came late, whom Dask gave work before it was looked at, or a defect.
        self._crew.look_again()
        return error

    def close(self) -> None:
        """Let go of everything: nothing more is begun, and workers drop what they are at."""
        futures = [*self._sent, self._parcel]
        self._sent = {}
        with contextlib.suppress(Exception):  # of a scheduler that is gone, which holds nothing
            self._client.unsubscribe_topic(self._name)
        for future in futures:
            with contextlib.suppress(Exception):
                future.release()


class _Bar:
    """The bar of the campaign, moved by shards that arrive and by what workers tell before.

    Tasks go by the number of their first shard.
    """

    def __init__(self, work: Work, tally: Tally) -> None:
        self._plan, self._tally = work.plan, tally
        self._told: dict[int, tuple[int, dict[str, int]]] = {}
        self._shown: dict[int, int] = {}
        self._over: set[int] = set()

    def heard(self, event: tuple[float, dict[str, Any]]) -> None:
        """A worker reports on a task (in a thread of the client's)."""
        _, said = event
        before, _ = self._told.get(said["first"], (0, {}))
        if said["done"] >= before:  # less where it is computed again
            self._told[said["first"]] = (said["done"], said["facts"])

    def show(self) -> None:
        """Move the bar to what was reported."""
        told = {k: v for k, v in list(self._told.items()) if k not in self._over}
        more = sum(done - self._shown.get(first, 0) for first, (done, _) in told.items())
        self._shown.update({first: done for first, (done, _) in told.items()})
        if more:
            facts = Counter(self._tally.facts())
            for _, own in told.values():
                facts.update(own)
            self._tally.bar.advance(more, **facts)

    def finished(self, shards: Sequence[Shard]) -> None:
        """All runs of a task have ended."""
        first, own = shards[0].number, Tally(self._tally.kind)
        for shard in shards:
            own.add(shard.outcomes)
        runs = sum(len(self._plan.runs(shard.number)) for shard in shards)
        self._told[first] = (runs, own.facts())
        self.show()
        self._over.add(first)  # from here on it is the tally that counts it
        self._told.pop(first)
        self._shown.pop(first)

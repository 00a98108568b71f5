"""A campaign on several GPUs of one machine: a flow on each, in a thread of its own.

Shards are taken from one list, by whichever GPU has room for more, so that all of them are busy to
the end. A shard has the same bytes on each, as long as they are of one kind.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from alight.campaign.jobs.flow import Flow, pieces
from alight.campaign.jobs.shard import Work
from alight.campaign.shard_store import Shard
from alight.core import devices
from alight.core.progress import Progress, Silent

#: Shards that wait to be written.
_AHEAD = 64
#: Between two looks for Ctrl-C while no shard arrives [s].
_TICK = 0.2


class Several:
    """The runs of some shards, on the device of ``work`` and those beside it."""

    def __init__(
        self, work: Work, shards: Sequence[int], bar: Progress, before: dict[str, int], lot: int
    ) -> None:
        lots = _Waiting(pieces(shards, max(1, lot // work.plan.shard)))
        told, self._stop = _Told(bar, before), threading.Event()
        self._flows = [
            Flow(own, shards, _Part(told, number, self._stop), lots=lots)
            for number, own in enumerate(_each(work))
        ]
        self._made: queue.Queue[Shard | BaseException | None] = queue.Queue(_AHEAD)
        self._under_way = len(self._flows)

    def shards(self) -> Iterator[Shard]:
        """Each shard, as its last run has ended and its files are made."""
        threads = [
            threading.Thread(target=self._carry, args=(flow,), daemon=True) for flow in self._flows
        ]
        for thread in threads:
            thread.start()
        try:
            yield from self._received()
        except KeyboardInterrupt:
            self._stop.set()
            yield from self._received()  # whole, and not to be lost
            raise
        finally:
            self._stop.set()
            for thread in threads:
                while thread.is_alive():
                    self._discard()
                    thread.join(_TICK)

    def _carry(self, flow: Flow) -> None:
        """One flow, to its end."""
        try:
            for shard in flow.shards():
                self._made.put(shard)
        except KeyboardInterrupt:
            pass  # it was told to stop, and its whole shards are there
        except BaseException as cause:
            self._made.put(cause)
        self._made.put(None)

    def _received(self) -> Iterator[Shard]:
        """Shards until all flows have ended; the error of one ends all."""
        while self._under_way:
            try:
                found = self._made.get(timeout=_TICK)  # at intervals: Ctrl-C is heard between them
            except queue.Empty:
                continue
            if found is None:
                self._under_way -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found

    def _discard(self) -> None:
        """Make room for threads that are to end."""
        while not self._made.empty():
            self._made.get_nowait()


def _each(work: Work) -> Iterator[Work]:
    """The work of each device: meshes and fields of its own, and a share of the cores."""
    names = [work.device, *work.beside]
    threads = max(1, devices.thread_count(work.threads) // len(names))
    for number, name in enumerate(names):
        own = replace(work, device=name, beside=(), threads=threads)
        if number == 0:
            own.prepared = work.prepared  # made before the bar began
        _ = own.prepared  # one after the other: what is kept on disk is there for the next
        yield own


class _Waiting:
    """Pieces of a list, for several threads."""

    def __init__(self, lots: Iterator[Sequence[int]]) -> None:
        self._lots, self._lock = lots, threading.Lock()

    def __iter__(self) -> _Waiting:
        return self

    def __next__(self) -> Sequence[int]:
        with self._lock:
            return next(self._lots)


class _Told:
    """The bar of the campaign, with how the runs of all flows have ended."""

    def __init__(self, whole: Progress, before: dict[str, int]) -> None:
        self._whole, self._before = whole, before
        self._parts: dict[int, dict[str, int]] = {}
        self._lock = threading.Lock()

    def advance(self, part: int, n: int, facts: dict[str, int]) -> None:
        """``n`` runs more of one flow; ``facts`` counts how its runs ended."""
        with self._lock:
            self._parts[part] = facts
            counts = Counter(self._before)
            for own in self._parts.values():
                counts.update(own)
            self._whole.advance(n, **counts)


class _Part(Silent):
    """The same as one flow sees it; ends the flow where the campaign is to stop."""

    def __init__(self, told: _Told, number: int, stop: threading.Event) -> None:
        self._told, self._number, self._stop = told, number, stop

    def advance(self, n: int = 1, **facts: object) -> None:
        """Report ``n`` more runs."""
        if self._stop.is_set():
            raise KeyboardInterrupt
        if n:
            counts = {name: int(str(count)) for name, count in facts.items()}
            self._told.advance(self._number, n, counts)

"""A campaign as one flow: runs of many shards in one batch, from the first to the last.

Slots that become free take runs of the shards that follow, so that no shard waits for its longest
run with a GPU idle. Values are drawn and models made ahead, by one thread; files of shards whose
runs have ended are made by others. A shard is what ``Work.compute`` makes of it.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from alight.campaign.jobs.shard import Drawn, Work
from alight.campaign.shard_store import Shard
from alight.core import devices
from alight.core.progress import Progress
from alight.engine.batch import Batch
from alight.engine.fleet import Gathered, kind_of
from alight.engine.lot import Lot
from alight.engine.worlds import ALL, least_own

#: Runs that are drawn at once: enough to fill what becomes free of a GPU between two looks at it.
LOT = 16_384
#: Shards whose files are made or wait to be written.
AHEAD = 64
#: Lots whose results are being made: each has all contacts of its runs.
CLOSING = 4
#: Threads that make files; tables are made and compressed outside of Python's lock.
WRITERS = 8


@dataclass(eq=False)
class _Drawn:
    """Runs of some shards, about to go into slots."""

    drawn: Drawn
    lots: list[tuple[Gathered, Lot]]
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = len(self.lots)

    def closed(self) -> list[Callable[[], Shard]]:
        """All runs have ended: shards, as calls that make their files."""
        with self.drawn.named(), self.drawn.job.blamed():
            for part, lot in self.lots:
                self.drawn.job.take(part, lot.result())
        self.drawn.job.close()
        self.lots = []
        return list(self.drawn.shards())


class _Files:
    """Shards whose runs have ended, on the way to their files, in threads."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(WRITERS, thread_name_prefix="alight-files")
        self._closing: deque[Future[list[Callable[[], Shard]]]] = deque()
        self._making: deque[Future[Shard]] = deque()

    def add(self, drawn: _Drawn) -> None:
        """Runs of shards that have all ended."""
        self._closing.append(self._pool.submit(drawn.closed))

    def made(self, all_of_them: bool = False) -> Iterator[Shard]:
        """Shards in their order, as far as they are made; more than ``AHEAD`` are waited for, and
        so is the first of more than ``CLOSING`` lots."""
        while self._closing or self._making:
            full = all_of_them or len(self._closing) > CLOSING
            if self._closing and (full or self._closing[0].done()):
                self._making += map(self._pool.submit, self._closing.popleft().result())
            wait = all_of_them or len(self._making) + len(self._closing) > AHEAD
            if self._making and (wait or self._making[0].done()):
                yield self._making.popleft().result()
            elif not all_of_them:
                return

    def close(self) -> None:
        """Forget what has not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class Flow:
    """The runs of some shards, on one device.

    ``lots`` are the shards that are drawn at once, where other flows take from them too.
    """

    def __init__(
        self,
        work: Work,
        shards: Sequence[int],
        bar: Progress,
        lot: int = LOT,
        lots: Iterator[Sequence[int]] | None = None,
    ) -> None:
        self._work, self._bar = work, bar
        self._device = devices.resolve(work.device)
        each = max(1, lot // work.plan.shard)
        self._lots = pieces(shards, each) if lots is None else lots
        self._runs = sum(len(work.plan.runs(shard)) for shard in shards)
        self._batches: dict[Hashable, list[Batch]] = {}
        self._under_way: dict[Lot, _Drawn] = {}

    def shards(self) -> Iterator[Shard]:
        """Each shard, as its last run has ended and its files are made."""
        files = _Files()
        with ThreadPoolExecutor(1, thread_name_prefix="alight-draws") as drawing:
            try:
                self._next = self._ahead(drawing)
                while self._feed(drawing) or self._under_way:
                    for drawn in self._advance():
                        files.add(drawn)
                    yield from files.made()
                yield from files.made(all_of_them=True)
            except KeyboardInterrupt:
                yield from files.made(all_of_them=True)  # whole, and not to be lost
                raise
            finally:
                if self._next is not None:
                    self._next.cancel()
                for batch in itertools.chain.from_iterable(self._batches.values()):
                    batch.close()
                files.close()

    # -- feeding -------------------------------------------------------------------------------

    def _ahead(self, drawing: ThreadPoolExecutor) -> Future[_Drawn] | None:
        """The next runs, drawn while others continue; None where there are no more."""
        shards = next(self._lots, None)
        return None if shards is None else drawing.submit(self._draw, shards)

    def _draw(self, shards: Sequence[int]) -> _Drawn:
        drawn = self._work.drawn(shards)
        with drawn.named(), drawn.job.blamed():
            return _Drawn(drawn, [(part, drawn.job.lot(part)) for part in drawn.job.parts])

    def _feed(self, drawing: ThreadPoolExecutor) -> bool:
        """Let runs follow as long as slots are free; False when there are no more."""
        while self._next is not None and self._has_room():
            if self._under_way and not self._next.done():
                return True  # no slot waits for what is being drawn while others have runs
            drawn = self._next.result()
            self._next = self._ahead(drawing)
            for _, lot in drawn.lots:
                self._under_way[lot] = drawn
                self._enter(lot)
        return self._next is not None

    def _has_room(self) -> bool:
        # Of each kind the last: what fits no earlier one is what follows.
        batches = [some[-1] for some in self._batches.values()]
        return not batches or any(batch.free > 0 for batch in batches)

    def _enter(self, lot: Lot) -> None:
        """Put a lot into a batch of its kind."""
        batches = self._batches.setdefault(kind_of(lot.model), [])
        for batch in batches:
            if batch.fits(lot):
                batch.add(lot)
                return
        pace = lot.model.pace(self._device)
        most = pace.slots if self._device.is_cpu else pace.most_on_gpu
        slots = max(1, min(most, self._runs))
        place: dict[str, Any] = {"device": self._device.name, "threads": self._work.threads}
        # A second one is for lots that differ in more than contact, as was not known of the first.
        own = ALL if batches else least_own(lot.model)
        batches.append(Batch(lot.model, lot, slots=slots, together=True, own=own, **place))

    # -- going on ------------------------------------------------------------------------------

    def _advance(self) -> Iterator[_Drawn]:
        """One launch or a few of each batch; runs of shards that have all ended."""
        for batches in self._batches.values():
            for batch in batches:
                batch.advance()
                for lot in batch.ended():
                    drawn = self._under_way.pop(lot)
                    drawn.left -= 1
                    if not drawn.left:
                        yield drawn
        self._tell()

    def _tell(self) -> None:
        """Report the runs that have ended, and how."""
        facts: dict[str, Any] = {}
        done = 0
        for batch in itertools.chain.from_iterable(self._batches.values()):
            done += batch.done
            for name, count in batch.facts().items():
                facts[name] = int(facts.get(name, 0)) + int(str(count))
        self._bar.advance(done, **facts)


def pieces(shards: Sequence[int], each: int) -> Iterator[Sequence[int]]:
    """Shards in their order, ``each`` at a time."""
    for first in range(0, len(shards), each):
        yield shards[first : first + each]

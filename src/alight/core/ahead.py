"""Results in order, of which the next few are made by threads while the last one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from alight.core.devices import thread_count

Given = TypeVar("Given")
Made = TypeVar("Made")

#: Threads, at most: what reads files is soon as fast as the disk.
MOST = 4

#: Results that wait for each thread: enough that none is idle, few enough to hold in memory.
WAITING = 4


def ahead(make: Callable[[Given], Made], given: Iterable[Given]) -> Iterator[Made]:
    """``map(make, given)``, with a few of its results made ahead.

    For what waits or lets other threads run: reading, hashing, unpacking. An error comes out in
    its turn. Memory is that of a few results, however many there are.
    """
    workers = min(MOST, thread_count())
    if workers == 1:
        yield from map(make, given)
        return
    pool = ThreadPoolExecutor(workers, "ahead")
    try:
        waiting: deque[Future[Made]] = deque()
        for one in given:
            waiting.append(pool.submit(make, one))
            if len(waiting) > WAITING * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)

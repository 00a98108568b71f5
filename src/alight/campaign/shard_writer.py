"""Shards are written by threads of their own, while others are computed."""

from __future__ import annotations

import pathlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from alight.campaign.plan import Plan
from alight.campaign.shard_store import Seal, Shard, write_shard

#: Threads that write: each spends most of its time waiting for the disk.
THREADS = 4
#: Shards that may wait to be written; who computes more waits for them.
WAITING = 16


class ShardWriter:
    """Writes the shards of a folder; what went wrong is raised at the next call, or at the end.

    Leaving it, also by an error or Ctrl-C, waits until what was handed over is on the disk.
    """

    def __init__(self, folder: pathlib.Path, plan: Plan, check: Callable[[], None]) -> None:
        self._folder, self._plan, self._check = folder, plan, check
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="alight-writer")
        self._writing: deque[Future[Seal]] = deque()

    def write(self, shard: Shard) -> None:
        """Have a shard written."""
        task = (self._folder, self._plan, shard, self._check)
        self._writing.append(self._pool.submit(write_shard, *task))
        while self._writing and (self._writing[0].done() or len(self._writing) > WAITING):
            self._writing.popleft().result()

    def finish(self) -> None:
        """Wait until all are written."""
        while self._writing:
            self._writing.popleft().result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True)
        if kind is None:
            self.finish()

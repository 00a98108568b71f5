"""Work done by a copy of this process (``fork``) while this one runs.

Much of what takes long is Python, of which one thread runs at a time: only processes help. A copy
has everything that was read and computed so far; a new process would first import for longer than
it works. Where copies are not safe, or one core is all there is, the work is done here, when its
result is asked for.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from alight.core import devices

T = TypeVar("T")


def can_copy() -> bool:
    """Whether this process may be copied: elsewhere system libraries do not live through it."""
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


def begin_copy() -> None:
    """What a copy does first."""
    gc.freeze()  # what the other process has to clear away, such as arrays on a GPU, is not ours
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is answered by the process that waits
    os.environ["ALIGHT_THREADS"] = "1"  # every core has a copy, and threads were not copied


@contextmanager
def copying() -> Iterator[None]:
    """Around the making of copies: Python warns of threads that a copy lacks, but of those here
    none holds a lock that it needs."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
        yield


class Beside(Generic[T]):
    """``work`` under way in a copy; ``result()`` waits for it. Left early, the copy is ended."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work, self._process = work, None
        if not can_copy() or devices.thread_count() == 1:
            return
        context = multiprocessing.get_context("fork")
        self._ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_tell, args=(work, theirs), daemon=True)
        with copying():
            self._process.start()
        theirs.close()

    def result(self) -> T:
        """What the work returned; what it raised is raised here."""
        if self._process is None:
            return self._work()
        try:
            made, error = self._ours.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            raise RuntimeError(f"a copy of this process ended with code {code}") from None
        self._process.join()
        if error is not None:
            raise error
        return made

    def __enter__(self) -> Beside[T]:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._ours.close()


def _tell(work: Callable[[], Any], out: Any) -> None:
    """In the copy: do the work, and send what came of it."""
    begin_copy()
    told: tuple[Any, Exception | None]
    try:
        told = work(), None
    except Exception as error:
        told = None, error
    out.send(told)
    out.close()

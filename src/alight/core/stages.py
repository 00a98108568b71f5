"""Stages of long work that no bar counts: what is done, in a line a second after it began and every
two seconds from then on, so that nobody waits in silence.

Whoever knows that someone listens says so with ``compile_notice.reported``, as for compilers;
outside of that, and where silence is asked for, nothing is written::

    with reported("auto"), stage("Computing light"):
        ...
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from alight.core import compile_notice
from alight.core.progress import TEXT_FIRST, TEXT_INTERVAL, duration


@contextlib.contextmanager
def stage(title: str) -> Iterator[None]:
    """Around work that may take seconds; compilers within speak for themselves."""
    if not compile_notice.listening():
        yield
        return
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(title, ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _tell(title: str, ended: threading.Event) -> None:
    began, wait = time.monotonic(), TEXT_FIRST
    while not ended.wait(wait):
        wait = TEXT_INTERVAL
        if not compile_notice.under_way():
            compile_notice.write(f"{title}: {duration(time.monotonic() - began)} so far")

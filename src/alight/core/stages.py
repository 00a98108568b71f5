"""Stages of long work that no bar shows: what is done, in a line whenever nothing was said for some
while, so that nobody waits in silence for two seconds.

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
from alight.core.progress import counted, duration, showing, silence

#: What the outermost stage calls itself once others have spoken within it.
LATER = "Working"

#: Silence after which a line is written, and how often that is looked at [s].
LONGEST, TICK = 0.9, 0.2


class Stage:
    """How far work has come. Around others it says what begins; later it is called ``LATER``."""

    def __init__(self, title: str, total: int | None) -> None:
        self.title, self._total, self._done = title, total, 0
        self._began = time.monotonic()

    def advance(self, n: int = 1) -> None:
        """``n`` more of its items are done."""
        self._done += n

    def __str__(self) -> str:
        said = f"{self.title}: "
        if self._total is not None:
            said += f"{counted(self._done, self._total)}, "
        return f"{said}{duration(time.monotonic() - self._began)} elapsed"


#: Stages that are under way, the innermost last: it alone speaks.
_open: list[Stage] = []


@contextlib.contextmanager
def stage(title: str, total: int | None = None) -> Iterator[Stage]:
    """Around work that may take seconds, of ``total`` items if that is known. Compilers and bars
    within it speak for themselves."""
    now = Stage(title, total)
    if not compile_notice.listening():
        yield now
        return
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(now, ended), daemon=True)
    _open.append(now)
    teller.start()
    try:
        yield now
    finally:
        ended.set()
        teller.join()
        _open.remove(now)


def _tell(now: Stage, ended: threading.Event) -> None:
    while not ended.wait(TICK):
        if now is _open[0] and (_open[-1] is not now or showing()):
            now.title = LATER
        if _open[-1] is now and silence() > LONGEST and not compile_notice.under_way():
            compile_notice.write(str(now))

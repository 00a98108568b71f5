"""Ctrl-C that is not lost.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a destructor (those of
Dask's futures and of arrays on a device run all the time) it is printed and forgotten, and the
command would continue for hours.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """``check``, which raises the KeyboardInterrupt of a Ctrl-C if it was swallowed on its way;
    nothing is printed of it there.

    Elsewhere than in the main thread, or where Ctrl-C is ignored, it does nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None
        return
    pressed = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        before(number, frame)

    def check() -> None:
        nonlocal pressed
        if pressed:
            pressed = False
            raise KeyboardInterrupt

    told = sys.unraisablehook

    def swallowed(what: sys.UnraisableHookArgs) -> None:
        if what.exc_type is not KeyboardInterrupt:  # that one is still to be raised
            told(what)

    signal.signal(signal.SIGINT, note)
    sys.unraisablehook = swallowed
    try:
        yield check
    finally:
        if sys.unraisablehook is swallowed:
            sys.unraisablehook = told
        signal.signal(signal.SIGINT, before)

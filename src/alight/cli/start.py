"""Where the command ``alight`` begins: Ctrl-C ends it without a traceback from the first moment on.

Loading the command line takes some tenths of a second, in which nothing can be lost. This module
imports nothing else that takes time.
"""

import os
import signal

from alight.core import garbage

#: Exit code after Ctrl-C: 128 + SIGINT, as shells expect.
INTERRUPTED = 130


def run() -> None:
    """Load the command line and run it."""
    garbage.look_less_often()
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # and not ignored, as in a shell's background
        signal.signal(signal.SIGINT, _leave)
    from alight.cli import main

    signal.signal(signal.SIGINT, before)
    main.run()


def _leave(*_: object) -> None:
    """End at once: a KeyboardInterrupt within an import could be caught or reported by others."""
    os._exit(INTERRUPTED)

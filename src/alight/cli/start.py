"""Where the command ``alight`` begins: Ctrl-C ends it without a traceback from the first moment on.

Loading the command line takes some tenths of a second, in which nothing can be lost. This module
imports nothing else that takes time.
"""

import atexit
import gc
import os
import signal

#: Exit code after Ctrl-C: 128 + SIGINT, as shells expect.
INTERRUPTED = 130

#: New objects after which Python looks for those that nobody holds, and how often at older ones. By
#: default it goes through all modules again and again while they load: a fifth of the time.
GARBAGE = (50_000, 20, 50)


def run() -> None:
    """Load the command line and run it."""
    gc.set_threshold(*GARBAGE)
    # What stands when the command ends goes with the process: to look through it for what could be
    # freed takes as long again as to load it.
    atexit.register(gc.freeze)
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # and not ignored, as in a shell's background
        signal.signal(signal.SIGINT, _leave)
    from alight.cli import main

    signal.signal(signal.SIGINT, before)
    main.run()


def _leave(*_: object) -> None:
    """End at once: a KeyboardInterrupt within an import could be caught or reported by others."""
    os._exit(INTERRUPTED)

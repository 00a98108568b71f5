"""Python's search for garbage, which costs more than it frees where many modules are loaded."""

import atexit
import gc

#: New objects after which Python looks for those that nobody holds, and how often at older ones. By
#: default it goes through all modules again and again while they load: a fifth of the time.
_SELDOM = (50_000, 20, 50)


def look_less_often() -> None:
    """For a whole process, such as a command or a run of tests."""
    gc.set_threshold(*_SELDOM)
    # What stands when the process ends goes with it: to look through it for what could be freed
    # takes as long again as to load it.
    atexit.register(gc.freeze)

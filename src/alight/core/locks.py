"""Locks on open files, which fall with the process that holds them, however it ends."""

from __future__ import annotations

import sys
from typing import IO, Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file for this process; False where another one holds it.

    An ``OSError`` is the file system's: it has no locks, or no memory for them.
    """
    try:
        if sys.platform == "win32":
            # A byte far behind the text, so that others may still read who holds it.
            file.seek(1 << 20)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True

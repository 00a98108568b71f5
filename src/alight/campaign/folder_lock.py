"""A campaign's folder, held by one process at a time, and still the folder that it was.

The lock is a file in the folder that stays open. While it is open its identity cannot pass to
another file, as that of a deleted folder can: the folder is the same as long as the file under the
lock's name is the one that is held.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
from collections.abc import Iterator
from typing import IO

from alight.campaign.shard_store import StoreError, cannot_write
from alight.core.errors import AlightError
from alight.core.locks import try_lock

LOCK_FILE = ".lock"


class BusyError(AlightError, RuntimeError):
    """A folder that another process is working on."""


class FolderLock:
    """A folder that this process has locked."""

    def __init__(self, folder: pathlib.Path, lock: IO[bytes]) -> None:
        self.folder, self._lock = folder, lock

    def check(self) -> None:
        """An error if the folder is no longer there, or another one has its name."""
        with contextlib.suppress(OSError):
            held = os.fstat(self._lock.fileno())
            if os.path.samestat(held, (self.folder / LOCK_FILE).stat()):
                return
        raise StoreError(
            f"{self.folder} was moved, deleted or replaced while the campaign was writing to it"
            f"{self._place_now()}. Nothing more is written. Move the folder back, or name its new "
            "place as out, and run the same command again: it resumes from the finished shards."
        )

    def _place_now(self) -> str:
        """Where the folder is now, on systems that know the path of an open file."""
        with contextlib.suppress(OSError):
            path = pathlib.Path(os.readlink(f"/proc/self/fd/{self._lock.fileno()}"))
            if path.exists():
                return f"; it is now {path.parent}"
        return ""


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[FolderLock]:
    """Hold the folder for this process; the lock falls with the process, however that ends."""
    path = folder / LOCK_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Unbuffered: on a full disk closing it has nothing left to write, and cannot fail.
        file = open(path, "a+b", buffering=0)  # noqa: SIM115  (held, not only opened)
    except OSError as cause:
        raise cannot_write(path, cause) from cause
    with file:
        try:
            mine = try_lock(file)
        except OSError as cause:
            raise cannot_write(path, cause) from cause
        if not mine:
            file.seek(0)
            holder = file.read().decode(errors="replace").strip() or "another process"
            raise BusyError(
                f"{folder} is in use by {holder}. Wait for it, stop it, or use another folder: two "
                "processes must not write one campaign."
            )
        with contextlib.suppress(OSError):
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
            file.flush()
        yield FolderLock(folder, file)

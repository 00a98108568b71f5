"""What a killed process leaves behind, removed by the next one that starts.

Whoever makes something that would be left behind holds a locked file for as long: the half-written
file itself, or a sign of the process in the kernel cache. The system drops the lock when the
process ends, however it ends, and no later process can be taken for it, as a process number can.
Names carry the host: what another host left on a shared disk is that host's to remove.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pathlib
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from typing import IO

from alight.core.locks import try_lock

PART = ".part"

#: Of the signs of processes that may be building kernels.
SIGN = ".alight"

# Elsewhere an open file can be neither renamed nor removed.
_POSIX = os.name == "posix"


def _host() -> str:
    return re.sub(r"[^\w-]", "_", socket.gethostname()) or "host"


# ---------------------------------------------------------------------------------------------
# Half-written files
# ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def whole_file(target: pathlib.Path) -> Iterator[IO[bytes]]:
    """A file to write, which becomes ``target`` when it is complete and is removed otherwise."""
    handle, name = tempfile.mkstemp(PART, f"{_host()}-", target.parent)
    part = pathlib.Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            with contextlib.suppress(OSError):  # where there are no locks nothing is removed either
                try_lock(file)
            yield file
            file.flush()
            if _POSIX:
                part.replace(target)
        if not _POSIX:
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def clear_parts(folder: pathlib.Path) -> None:
    """Remove half-written files of this host whose process is gone."""
    for path in _found(folder, f"{_host()}-*{PART}"):
        _remove_unheld(path)


def _found(folder: pathlib.Path, pattern: str) -> list[pathlib.Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _remove_unheld(path: pathlib.Path) -> bool:
    """Remove a file that no process holds; False where one does, or where it cannot be known."""
    try:
        with open(path, "r+b") as file:
            if not try_lock(file):
                return False
            if _POSIX:
                path.unlink(missing_ok=True)
        if not _POSIX:
            path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


# ---------------------------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------------------------

_sign: IO[bytes] | None = None


def sign_kernels(cache: pathlib.Path) -> None:
    """Remove what killed processes left in the kernel cache, and sign it for this one.

    Warp builds a module in a folder ``NAME_pPROCESS_tTHREAD`` and renames it; its name does not
    tell the host. So a process leaves a sign with both as long as it lives.
    """
    global _sign
    for path in _found(cache, f"{SIGN}-{_host()}-*"):
        process = path.name.rpartition("-")[2]
        if process.isdecimal() and _may_clear(int(process)) and _remove_unheld(path):
            _clear_builds(cache, process)
    with contextlib.suppress(OSError):
        _sign = open(cache / f"{SIGN}-{_host()}-{os.getpid()}", "ab")  # noqa: SIM115  (held)
        if try_lock(_sign):
            atexit.register(_leave, pathlib.Path(_sign.name), os.getpid())


def _may_clear(process: int) -> bool:
    """False for the number of a process that runs now: it may be another one, with Warp alone."""
    if process == os.getpid():
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _clear_builds(cache: pathlib.Path, process: str) -> None:
    for folder in (cache, cache / "lto"):
        for path in _found(folder, f"*_p{process}_t*"):
            shutil.rmtree(path, ignore_errors=True)


def _leave(path: pathlib.Path, process: int) -> None:
    """The process ends by itself and has left nothing (not so the child of a fork)."""
    if os.getpid() == process:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)

"""Files that users name: regular ones alone are read, and never more bytes than are allowed.

A device, a pipe or a link to one may never end, and the size that a file states may be wrong. So
what is opened is looked at before it is read, and what counts is the bytes that were read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from alight.core.errors import FileError

#: Largest file of any kind [bytes]: as text, a mesh of some fifteen million facets.
MOST_BYTES = 1_000_000_000

#: What stands under a name where no regular file does.
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)

#: Opened without waiting for the other end of a pipe that came in a file's place.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_CHUNK = 1 << 20


def read_bounded(path: str | os.PathLike[str], most: int, what: str) -> bytes:
    """The bytes of a regular file of at most ``most`` of them; ``what`` it is, for messages."""
    with opened(path, what) as file:
        stated = os.fstat(file.fileno()).st_size
        if stated > most:
            raise _too_large(f'{what} "{path}"', f"has {_size(stated)}", most)
        return read_stream(file, most, f'{what} "{path}"', stated)


def read_stream(stream: BinaryIO, most: int, who: str, stated: int = _CHUNK) -> bytes:
    """All of a stream, refused once it has given more than ``most`` bytes."""
    # One byte more than is stated: a file that is as long as it says is read at once.
    parts = [stream.read(min(stated, most) + 1)]
    left = most - len(parts[0])
    while parts[-1] and left >= 0:
        parts.append(stream.read(min(_CHUNK, left + 1)))
        left -= len(parts[-1])
    if left < 0:
        raise _too_large(who, "does not end", most)
    return parts[0] if len(parts) <= 2 and not parts[-1] else b"".join(parts)


@contextlib.contextmanager
def opened(path: str | os.PathLike[str], what: str) -> Iterator[BinaryIO]:
    """A regular file, open for reading; anything else is an error that says what it is."""
    try:
        _require_regular(os.stat(path), path, what)  # opening a device may already do something
        handle = os.open(path, _FLAGS)
    except FileError:
        raise
    except (OSError, ValueError) as cause:  # a name with a null character is a ValueError
        raise _unreadable(path, what, cause) from None
    with open(handle, "rb") as file:
        _require_regular(os.fstat(handle), path, what)
        try:
            yield file
        except FileError:
            raise
        except OSError as cause:
            raise _unreadable(path, what, cause) from None


def _unreadable(path: str | os.PathLike[str], what: str, cause: Exception) -> FileError:
    said = getattr(cause, "strerror", None) or str(cause)
    return refusal(f'{what} "{path}"', f"{said[:1].lower()}{said[1:]}.")


def refusal(who: str, reason: str) -> FileError:
    """An error for a file, named by ``who``, that is not read for a ``reason``."""
    error = FileError(f"cannot read {who}: {reason}")
    error.reason = reason
    return error


def _require_regular(found: os.stat_result, path: str | os.PathLike[str], what: str) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    kind = next((name for test, name in _KINDS if test(found.st_mode)), "no file")
    link = f' links to "{os.path.realpath(path)}", which' if os.path.islink(path) else ""
    hint = "Name a file in it." if kind == "a folder" else "Copy what it holds to a file first."
    reason = f"it{link} is {kind}, and only regular files are read. {hint}"
    raise refusal(f'{what} "{path}"', reason)


def _too_large(who: str, found: str, most: int) -> FileError:
    return refusal(
        who,
        f"it {found}, and at most {_size(most)} are read. Check that it is the file you mean, or "
        "make it smaller.",
    )


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"

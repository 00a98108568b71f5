"""Paths that users give: home folders found, and names that nothing can have refused."""

from __future__ import annotations

import errno
import os
import pathlib

from alight.core.errors import InputError

# Longest piece of a name that a message repeats.
_SHOWN = 60


def user_path(given: str | os.PathLike[str], what: str) -> pathlib.Path:
    """The path that ``given`` names, ``~`` and ``~user`` replaced by home folders.

    An ``InputError`` begins with ``what`` where the name cannot be that of a file or folder here,
    or is not UTF-8: such paths can be written neither to a plan nor to a page, and readers of
    Parquet do not take them.
    """
    path = pathlib.Path(given)
    try:
        path = path.expanduser()
        check_text(path)
        os.lstat(path)
    except RuntimeError:
        user = path.parts[0]
        raise _refused(what, given, f"there is no home folder {user} on this machine") from None
    except InputError as cause:
        raise _refused(what, given, str(cause)) from None
    except ValueError:
        raise _refused(what, given, "the name has a null character") from None
    except OSError as cause:
        if cause.errno == errno.ENAMETOOLONG:
            why = "the name is longer than the system allows (most often 255 bytes)"
            raise _refused(what, given, why) from None
    return path


def check_text(path: pathlib.Path) -> pathlib.Path:
    """The path; an ``InputError`` where it is not UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError("the name of the file or of its folder is not UTF-8 text") from None
    return path


def _refused(what: str, given: object, why: str) -> InputError:
    name = str(given)
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
    return InputError(f'{what} "{shown}" cannot be used: {why}. Take another name.')

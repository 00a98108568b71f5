"""Errors that say what was given, what is allowed, why, and how to fix it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AlightError(Exception):
    """Base of every error that a user's input can cause.

    The command line prints the message alone, without a traceback; anything that is not an
    ``AlightError`` is a defect of Alight.
    """


class InputError(AlightError, ValueError):
    """A value, name or option that cannot be used."""


class FileError(AlightError, OSError):
    """A file that is missing, unreadable or not what it claims to be."""

    reason: str = ""
    """Why it cannot be read, for messages that name it in their own way."""


class MeshError(InputError):
    """A mesh that does not bound a solid: says how many elements are at fault and which first."""


class DeviceError(AlightError, RuntimeError):
    """A device that was asked for and is not there."""


class MissingExtraError(AlightError, ImportError):
    """An optional package that a feature needs and that is not installed."""


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return ``' Did you mean "x"?'`` for the allowed name nearest to ``name``, or ``''``."""
    names = list(allowed)
    lowered = {n.lower(): n for n in reversed(names)}
    close = difflib.get_close_matches(str(name).lower(), lowered, n=1, cutoff=0.5)
    return f' Did you mean "{lowered[close[0]]}"?' if close else ""


def unknown_name(kind: str, name: str, allowed: Iterable[str]) -> InputError:
    """An error for a name that is not among ``allowed``, with the nearest one suggested."""
    names = sorted(allowed)
    listed = ", ".join(names)
    return InputError(f'unknown {kind} "{name}".{did_you_mean(name, names)} Known: {listed}.')

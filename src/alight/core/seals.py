"""Seals: the digest of a file, kept beside it, so that a file cut short or changed is noticed."""

from __future__ import annotations

import hashlib
import pathlib

#: Ending of a seal.
SEAL = ".sha256"


def seal_of(file: pathlib.Path) -> pathlib.Path:
    """Where the seal of a file is."""
    return file.with_name(file.name + SEAL)


def stated(file: pathlib.Path) -> str | None:
    """What the seal of a file says; None where there is none."""
    try:
        return seal_of(file).read_text("ascii", "replace")
    except OSError:
        return None


def digest(file: pathlib.Path) -> str:
    """Of a file's bytes; of one that cannot be read, nothing."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def is_sound(file: pathlib.Path) -> bool:
    """Whether a file is there and as its seal says."""
    return stated(file) == digest(file)

"""Arrays that were dear to make, kept on disk and found again by what they were made from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from alight.core import stale_files
from alight.core.archives import read_archive
from alight.core.errors import InputError
from alight.core.paths import user_path
from alight.core.sources import code_digest

# The array that vouches for the others.
_SEAL = "sha256"

#: Where to keep arrays: True for the user's cache folder, False for nowhere, or a folder.
Store = bool | str | os.PathLike[str]


def name_of(module: str, parts: Sequence[str]) -> str:
    """A name for arrays made from ``parts`` by the code of ``module`` and all that it imports.

    Arrays made by other code get another name, so that they are never taken for these.
    """
    text = json.dumps([code_digest(module), *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _digest(name: str, arrays: Mapping[str, Any]) -> str:
    """Of names, shapes, kinds and bytes of all arrays, and of the name they are kept under.

    The archive's own checksums tell whether each array is whole, not whether all are there.
    """
    whole = hashlib.sha256(name.encode())
    for key in sorted(arrays):
        array = np.asarray(arrays[key], order="C")
        whole.update(f"\0{key} {array.dtype.str} {array.shape}\0".encode())
        whole.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return whole.hexdigest()


def folder(store: Store, room: str) -> pathlib.Path | None:
    """The folder that ``store`` names for a room's arrays, or None."""
    if isinstance(store, bool):
        return user_cache_path("alight") / room if store else None
    if not isinstance(store, (str, os.PathLike)):
        raise InputError(f"store is {store!r}; it must be True, False or the path of a folder.")
    return user_path(store, "store")


def load(place: pathlib.Path | None, name: str) -> dict[str, Any] | None:
    """Read arrays, or None where there are none or they are not those that were written.

    A damaged file is as good as none: its arrays are made again and written again.
    """
    if place is None:
        return None
    stale_files.clear_parts(place)
    file = place / f"{name}.npz"
    try:
        # They are not packed: together they are smaller than the file.
        arrays, _ = read_archive(file, file.stat().st_size, "the table")
    except OSError:
        return None
    seal = arrays.pop(_SEAL, None)
    return arrays if seal is not None and str(seal) == _digest(name, arrays) else None


def save(place: pathlib.Path | None, name: str, arrays: dict[str, Any]) -> None:
    """Write arrays whole or not at all; a full or read-only disk only costs the next making."""
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        with stale_files.whole_file(place / f"{name}.npz") as file:
            np.savez(file, **{**arrays, _SEAL: np.array(_digest(name, arrays))})

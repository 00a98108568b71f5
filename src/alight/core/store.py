"""Arrays that were dear to make, kept on disk and found again by what they were made from."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from alight.core import litter
from alight.core.errors import InputError
from alight.core.paths import user_path

#: Where to keep arrays: True for the user's cache folder, False for nowhere, or a folder.
Store = bool | str | os.PathLike[str]


def name_of(module_file: str, sources: Sequence[str], parts: Sequence[str]) -> str:
    """A name for arrays made from ``parts`` by the code of ``sources``.

    ``sources`` are modules beside ``module_file``: arrays made by other code get another name, so
    that they are never taken for these.
    """
    here = pathlib.Path(module_file).parent
    code = hashlib.sha256(b"\0".join((here / f"{s}.py").read_bytes() for s in sources))
    text = json.dumps([code.hexdigest(), *parts])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def folder(store: Store, room: str) -> pathlib.Path | None:
    """The folder that ``store`` names for a room's arrays, or None."""
    if isinstance(store, bool):
        return user_cache_path("alight") / room if store else None
    if not isinstance(store, (str, os.PathLike)):
        raise InputError(f"store is {store!r}; it must be True, False or the path of a folder.")
    return user_path(store, "store")


def load(place: pathlib.Path | None, name: str) -> dict[str, Any] | None:
    """Read arrays, or None where there are none or their file is damaged.

    A damaged file is as good as none: its arrays are made again and written anew.
    """
    if place is not None:
        litter.clear_parts(place)
    if place is None or not (place / f"{name}.npz").is_file():
        return None
    try:
        with np.load(place / f"{name}.npz", allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def save(place: pathlib.Path | None, name: str, arrays: dict[str, Any]) -> None:
    """Write arrays whole or not at all; a full or read-only disk only costs the next making."""
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        with litter.whole_file(place / f"{name}.npz") as file:
            np.savez(file, **arrays)

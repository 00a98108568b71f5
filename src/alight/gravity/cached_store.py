"""Tables of cached fields on disk, found again by what they were made from."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import tempfile
import zipfile
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from alight.gravity.cached_build import Grid, Lists
from alight.gravity.polyhedron import Polyhedron

#: The sources that tables depend on: a table made by other code must not be read again.
_SOURCES = ("cached", "cached_build", "cached_store", "patches", "spline", "tree")


@functools.cache
def _source_hash() -> str:
    here = pathlib.Path(__file__).parent
    texts = [(here / f"{name}.py").read_bytes() for name in _SOURCES]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def key(field: Polyhedron, tolerance: float) -> str:
    """A name for the tables of a field: the same mesh, mass, tolerance and code give the same."""
    numbers = [field.density.hex(), field.G.hex(), float(tolerance).hex()]
    parts = [_source_hash(), field.mesh.content_hash, *numbers]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def folder(store: bool | str) -> pathlib.Path | None:
    """Where tables are kept, or None."""
    if store is False:
        return None
    return user_cache_path("alight") / "gravity" if store is True else pathlib.Path(store)


def load(name: str, store: bool | str) -> dict[str, Any] | None:
    """Read tables, or None where there are none or they are damaged."""
    place = folder(store)
    if place is None or not (place / f"{name}.npz").is_file():
        return None
    try:
        with np.load(place / f"{name}.npz", allow_pickle=False) as file:
            return _unpack(dict(file))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        # A damaged file is as good as none: the tables are built again and written anew.
        return None


def save(name: str, store: bool | str, tables: dict[str, Any]) -> None:
    """Write tables whole or not at all; a full or read-only disk only costs the next build."""
    place = folder(store)
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **_pack(tables))
            pathlib.Path(temporary).replace(place / f"{name}.npz")
        except BaseException:
            pathlib.Path(temporary).unlink(missing_ok=True)
            raise


def _pack(tables: dict[str, Any]) -> dict[str, Any]:
    arrays = {k: np.asarray(tables[k]) for k in ("pieces", "reach", "spacing", "origin", "nbytes")}
    arrays |= {f"lists_{k}": np.asarray(v) for k, v in tables["lists"]._asdict().items()}
    for i, grid in enumerate(tables["grids"]):
        arrays |= {f"grid{i}_{k}": np.asarray(v) for k, v in grid._asdict().items()}
    arrays["report"] = np.array(json.dumps(tables["report"]))
    arrays["levels"] = np.array(len(tables["grids"]))
    return arrays


def _unpack(arrays: dict[str, Any]) -> dict[str, Any]:
    def group(kind: Any, prefix: str) -> Any:
        return kind(**{name: arrays[prefix + name] for name in kind._fields})

    lists = group(Lists, "lists_")._replace(block=float(arrays["lists_block"]))
    return {
        "pieces": arrays["pieces"],
        "reach": float(arrays["reach"]),
        "spacing": float(arrays["spacing"]),
        "origin": arrays["origin"],
        "nbytes": int(arrays["nbytes"]),
        "lists": lists,
        "grids": [group(Grid, f"grid{i}_") for i in range(int(arrays["levels"]))],
        "report": json.loads(str(arrays["report"])),
    }

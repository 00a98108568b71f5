"""Distance fields on disk, found again by what they were made from."""

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

from alight.core.errors import InputError
from alight.surfaces.field_build import Level, Plan, Tables

#: The sources that tables depend on: a table made by other code must not be read again.
_SOURCES = (
    "bricks",
    "distance_field",
    "field_bounds",
    "field_build",
    "field_kernels",
    "field_store",
    "triangles",
)


@functools.cache
def _source_hash() -> str:
    here = pathlib.Path(__file__).parent
    texts = [(here / f"{name}.py").read_bytes() for name in _SOURCES]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def key(plan: Plan) -> str:
    """A name for a field: the same mesh, spacing, band, interpolation and code give the same."""
    parts = [_source_hash(), plan.mesh.content_hash]
    parts += [plan.spacing.hex(), plan.band.hex(), str(plan.degree)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def folder(store: bool | str | os.PathLike[str]) -> pathlib.Path | None:
    """Where fields are kept, or None."""
    if isinstance(store, bool):
        return user_cache_path("alight") / "surfaces" if store else None
    if not isinstance(store, (str, os.PathLike)):
        raise InputError(f"store is {store!r}; it must be True, False or the path of a folder.")
    return pathlib.Path(store)


def load(name: str, place: pathlib.Path | None) -> tuple[Tables, dict[str, Any]] | None:
    """Read tables and report, or None where there are none or they are damaged."""
    if place is None or not (place / f"{name}.npz").is_file():
        return None
    try:
        with np.load(place / f"{name}.npz", allow_pickle=False) as file:
            return _unpack(file)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        # A damaged file is as good as none: the field is built again and written anew.
        return None


def save(name: str, place: pathlib.Path | None, tables: Tables, report: dict[str, Any]) -> None:
    """Write tables whole or not at all; a full or read-only disk only costs the next build."""
    if place is None:
        return
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **_pack(tables, report))
            pathlib.Path(temporary).replace(place / f"{name}.npz")
        except BaseException:
            pathlib.Path(temporary).unlink(missing_ok=True)
            raise


def _pack(tables: Tables, report: dict[str, Any]) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "spacing": np.array(tables.spacing),
        "origin": tables.origin,
        "center": tables.center,
        "radius": np.array(tables.radius),
        "coefficient": tables.coefficient,
        "levels": np.array(len(tables.levels)),
        "report": np.array(json.dumps(report)),
    }
    for i, level in enumerate(tables.levels):
        arrays |= {f"level{i}_{name}": array for name, array in level._asdict().items()}
    return arrays


def _unpack(file: Any) -> tuple[Tables, dict[str, Any]]:
    levels = [
        Level(*(file[f"level{i}_{name}"] for name in Level._fields))
        for i in range(int(file["levels"]))
    ]
    tables = Tables(
        spacing=float(file["spacing"]),
        origin=file["origin"],
        center=file["center"],
        radius=float(file["radius"]),
        levels=levels,
        coefficient=file["coefficient"],
    )
    return tables, json.loads(str(file["report"]))

"""Tables of cached fields on disk, found again by what they were made from."""

import json
import pathlib
from typing import Any

import numpy as np

from alight.core import store as core_store
from alight.core.store import Store
from alight.gravity.polyhedron.field import Polyhedron
from alight.gravity.tabulated.build import TableGrid
from alight.gravity.tabulated.near_lists import HostNearLists

#: The module that makes the tables.
_MAKER = "alight.gravity.tabulated.cached_field"


def key(field: Polyhedron, tolerance: float) -> str:
    """A name for the tables of a field: the same mesh, mass, tolerance and code give the same."""
    numbers = [field.density.hex(), field.G.hex(), float(tolerance).hex()]
    return core_store.name_of(_MAKER, [field.mesh.content_hash, *numbers])


def folder(store: Store) -> pathlib.Path | None:
    """Where tables are kept, or None."""
    return core_store.folder(store, "gravity")


def load(name: str, store: Store) -> dict[str, Any] | None:
    """Read tables, or None where there are none or they are damaged."""
    arrays = core_store.load(folder(store), name)
    return None if arrays is None else _unpack(arrays)


def save(name: str, store: Store, tables: dict[str, Any]) -> None:
    """Write tables whole or not at all."""
    core_store.save(folder(store), name, _pack(tables))


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

    lists = group(HostNearLists, "lists_")._replace(block=float(arrays["lists_block"]))
    return {
        "pieces": arrays["pieces"],
        "reach": float(arrays["reach"]),
        "spacing": float(arrays["spacing"]),
        "origin": arrays["origin"],
        "nbytes": int(arrays["nbytes"]),
        "lists": lists,
        "grids": [group(TableGrid, f"grid{i}_") for i in range(int(arrays["levels"]))],
        "report": json.loads(str(arrays["report"])),
    }

"""Distance fields on disk, found again by what they were made from."""

import json
import pathlib
from typing import Any

import numpy as np

from alight.core import store as core_store
from alight.core.store import Store
from alight.surfaces.field.build import BuildPlan, Level, Tables

#: The module that makes the fields.
_MAKER = "alight.surfaces.field.distance_field"


def key(plan: BuildPlan) -> str:
    """A name for a field: the same mesh, spacing, band, interpolation and code give the same."""
    parts = [plan.mesh.content_hash, plan.spacing.hex(), plan.band.hex(), str(plan.degree)]
    return core_store.name_of(_MAKER, parts)


def folder(store: Store) -> pathlib.Path | None:
    """Where fields are kept, or None."""
    return core_store.folder(store, "surfaces")


def load(name: str, place: pathlib.Path | None) -> tuple[Tables, dict[str, Any]] | None:
    """Read tables and report, or None where there are none or they are damaged."""
    arrays = core_store.load(place, name)
    return None if arrays is None else _unpack(arrays)


def save(name: str, place: pathlib.Path | None, tables: Tables, report: dict[str, Any]) -> None:
    """Write tables whole or not at all."""
    core_store.save(place, name, _pack(tables, report))


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

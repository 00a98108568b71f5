"""The tables of a campaign: which columns there are, and how results of the engine fill them.

Fields are copied one by one: records of the engine have padding between them, which holds anything.
Files are written with fixed settings and no date, so that equal runs make equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from alight.core import frames
from alight.core.checks import Array
from alight.core.outcomes import Endings, Outcome, ending_of

#: Rows that a reader gets at a time, at most.
ROW_GROUP = 65_536


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    """Name without its unit."""
    unit: str
    """As a person writes it: ``m/s``; empty for none."""
    text: str
    """What it holds."""
    kind: Any = None
    """Arrow type; float64 if None."""

    @property
    def full_name(self) -> str:
        """Name with its unit, as in the table."""
        return named(self.name, self.unit)

    def field(self) -> Any:
        """The column as Arrow knows it, with its unit beside it."""
        kind = pa.float64() if self.kind is None else self.kind
        return pa.field(self.full_name, kind, metadata={"unit": self.unit})


def named(name: str, unit: str) -> str:
    """A column's name with its unit: ``end_x_m``, ``speed_m_per_s``."""
    return f"{name}_{spelt(unit)}" if unit else name


def spelt(unit: str) -> str:
    """A unit in letters, digits and underscores: ``N*s/m^2`` is ``N_s_per_m2``."""
    return unit.replace("^", "").replace("*", "_").replace(" ", "_").replace("/", "_per_")


def _vector(name: str, unit: str, text: str, axes: str = "xyz") -> list[Column]:
    return [Column(f"{name}{axis}", unit, text) for axis in axes]


_INT = pa.int32()

RUN_COLUMNS: list[Column] = [
    Column("run", "", "number of the run", pa.int64()),
    Column("outcome", "", "how it ended, in a word: settled, escaped, timed_out, ...", pa.string()),
    Column("outcome_code", "", "the same as a number (16 to 63: failed)", _INT),
    Column("end_time", "s", "when it ended"),
    *_vector("end_", "m", "where: centre of mass, target axes"),
    *_vector("end_v", "m/s", "how fast then, relative to the turning target, target axes"),
    Column("settle_time", "s", "when it came to rest; empty if it did not"),
    *_vector("rest_", "m", "where it rests, target axes; empty if it does not"),
    Column("rest_latitude", "deg", "planetocentric latitude of that place"),
    Column("rest_longitude", "deg", "east longitude of that place, -180 to 180"),
    *_vector("rest_q", "", "attitude there, quaternion from body to target axes", "xyzw"),
    Column(
        "hull_depth",
        "m",
        "how deep hull and ground stand in each other there; empty if articulated",
    ),
    Column("first_contact_time", "s", "when it first touched; empty if never"),
    *_vector("first_contact_", "m", "where it first touched, target axes"),
    Column("first_contact_latitude", "deg", "planetocentric latitude of that place"),
    Column("first_contact_longitude", "deg", "east longitude of that place"),
    Column("first_contact_normal_speed", "m/s", "towards the ground, then"),
    Column("bounces", "", "contacts, the last included", _INT),
    Column("path", "m", "way of the centre of mass"),
    Column("hardest_normal_speed", "m/s", "largest speed towards the ground of any contact"),
    Column("peak_force", "N", "largest normal force"),
    Column("energy", "J", "E_J after the last contact; empty without one"),
    Column("energy_gain", "J", "largest rise of E_J in a contact, which was taken back"),
    Column("energy_drift", "J", "largest change of E_J in an arc of flight"),
    Column("steps", "", "steps tried", _INT),
    Column("rejected_steps", "", "those of them not accepted", _INT),
]

CONTACT_COLUMNS: list[Column] = [
    Column("run", "", "number of the run", pa.int64()),
    Column("contact", "", "number of the contact in its run, from 0", _INT),
    Column("start_time", "s", "first push of the ground"),
    Column("end_time", "s", "last push"),
    *_vector("", "m", "where it began, target axes"),
    Column("latitude", "deg", "planetocentric latitude of that place"),
    Column("longitude", "deg", "east longitude of that place"),
    *_vector("normal_", "", "outward normal of the ground there, target axes"),
    Column("normal_speed_in", "m/s", "along the normal before; negative towards the ground"),
    Column("tangential_speed_in", "m/s", "along the ground before"),
    Column("normal_speed_out", "m/s", "along the normal after"),
    Column("tangential_speed_out", "m/s", "along the ground after"),
    *_vector("impulse_", "N s", "of the ground on the lander, target axes"),
    Column("normal_impulse", "N s", "the part along the normal"),
    Column("peak_force", "N", "largest normal force"),
    Column("depth", "m", "deepest penetration"),
    Column("points", "", "most points that touched at once", _INT),
    Column("energy_in", "J", "E_J before"),
    Column("energy_out", "J", "E_J after"),
]

_PARTS = ("linear", "angular", "centrifugal", "gravity", "elastic")
TRAJECTORY_COLUMNS: list[Column] = [
    Column("run", "", "number of the run", pa.int64()),
    Column("time", "s", "at the release, then after each step"),
    *_vector("", "m", "centre of mass, target axes"),
    *_vector("v", "m/s", "velocity relative to the turning target, target axes"),
    *_vector("q", "", "attitude, quaternion from body to target axes", "xyzw"),
    *_vector("w", "rad/s", "rate relative to the target, body axes"),
    Column("in_contact", "", "true in steps of the contact phase", pa.bool_()),
    Column("normal_force", "N", "in the step before"),
    Column("energy", "J", "E_J"),
    *(Column(f"energy_{part}", "J", f"its part: {part}") for part in _PARTS),
]


# ---------------------------------------------------------------------------------------------
# Filling them
# ---------------------------------------------------------------------------------------------


def run_table(
    runs: npt.NDArray[np.int64],
    final: Any,
    more: Sequence[tuple[Column, Array]] = (),
    depth: Any = None,
    endings: Endings | None = None,
) -> Any:
    """The table of runs: ``final`` as the engine leaves it.

    ``more`` are further columns: loads of articulated landers, and values as they were drawn.
    ``depth`` is how deep hulls stand in the ground (``motions.rigid.rest_depth``), where known.
    ``endings`` are those of stops (``Motion.all_endings``).
    """
    code = final["outcome"].astype(np.int32)
    data: dict[str, Any] = {
        "run": runs,
        "outcome": np.array([ending_of(c, endings).name.lower() for c in code], dtype=object),
        "outcome_code": code,
        "end_time": final["t"],
        **_split("end_", final["x"]),
        **_split("end_v", final["v"]),
        "bounces": final["touches"],
        "path": final["path"],
        "hardest_normal_speed": final["hardest"],
        "peak_force": final["peak_force"],
        "energy_gain": final["gain"],
        "energy_drift": final["drift"],
        "steps": final["steps"],
        "rejected_steps": final["rejected"],
        "hull_depth": np.ma.masked_all(len(runs)) if depth is None else depth,
    }
    settled, touched = code == Outcome.SETTLED, final["touches"] > 0
    rest = {
        "settle_time": final["t"],
        **_split("rest_", final["x"]),
        **_place("rest_", final["x"]),
        **_split("rest_q", final["q"], "xyzw"),
    }
    first = {
        "first_contact_time": final["first_time"],
        **_split("first_contact_", final["first_place"]),
        **_place("first_contact_", final["first_place"]),
        "first_contact_normal_speed": final["first_speed"],
        "energy": final["energy"],
    }
    for known, part in ((settled, rest), (touched, first)):
        data.update({name: _masked(array, known) for name, array in part.items()})
    data.update({column.name: array for column, array in more})
    return table_of([*RUN_COLUMNS, *(column for column, _ in more)], data)


#: Components of dispersed vectors, by their number.
_AXES = {
    2: ("latitude", "longitude"),
    3: ("x", "y", "z"),
    4: ("x", "y", "z", "w"),
    6: ("x", "y", "z", "vx", "vy", "vz"),
}


def input_columns(
    values: Mapping[str, Array], units: Mapping[str, Sequence[str]]
) -> list[tuple[Column, Array]]:
    """A column for each dispersed number, named by its key in the scenario, and its values.

    ``units`` has one for each component.
    """
    out = []
    for key in sorted(values):
        array = values[key]
        if array.ndim == 1:
            out.append((Column(key, units[key][0], "as drawn"), array))
            continue
        width = array.shape[1]
        axes = _AXES.get(width, tuple(map(str, range(width))))
        if width == 2 and units[key][0] != "rad":
            axes = ("x", "y")
        for i, (axis, unit) in enumerate(zip(axes, units[key], strict=True)):
            out.append((Column(f"{key}_{axis}", unit, "as drawn"), array[:, i]))
    return out


def contact_table(runs: npt.NDArray[np.int64], touches: Any) -> Any:
    """The table of contacts; ``runs`` are the run numbers of ``touches``, in order."""
    same = np.concatenate([[False], runs[1:] == runs[:-1]]) if len(runs) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(same, 0, np.arange(len(runs))))
    data: dict[str, Any] = {
        "run": runs,
        "contact": np.arange(len(runs)) - first,
        "start_time": touches["start"],
        "end_time": touches["end"],
        **_split("", touches["place"]),
        **_place("", touches["place"]),
        **_split("normal_", touches["normal"]),
        **_split("impulse_", touches["impulse"]),
    }
    named_alike = [c.name for c in CONTACT_COLUMNS if c.name in touches.dtype.names]
    data.update({name: touches[name] for name in named_alike if name != "run"})
    return table_of(CONTACT_COLUMNS, data)


def trajectory_table(
    run: int, solution: Any, more: Sequence[tuple[Column, Array]] | None = None
) -> Any:
    """The table of one run's course; ``more`` are columns that stand in the place of energies."""
    data: dict[str, Any] = {
        "run": np.full(len(solution.time), run),
        "time": solution.time,
        **_split("", solution.position),
        **_split("v", solution.velocity),
        **_split("q", solution.attitude, "xyzw"),
        **_split("w", solution.rate),
        "in_contact": solution.in_contact,
        "normal_force": solution.normal_force,
    }
    if more is None:
        energy = solution.energy
        parts = {f"energy_{part}": getattr(energy, part) for part in _PARTS}
        return table_of(TRAJECTORY_COLUMNS, {**data, "energy": energy.total, **parts})
    shared = [column for column in TRAJECTORY_COLUMNS if not column.name.startswith("energy")]
    data.update({column.name: array for column, array in more})
    return table_of([*shared, *(column for column, _ in more)], data)


def to_bytes(table: Any) -> bytes:
    """A table as a Parquet file; the same bytes for the same table."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=ROW_GROUP,
        version="2.6",
        data_page_version="1.0",
        compression="zstd",
        compression_level=3,
        use_dictionary=["outcome"] if "outcome" in table.column_names else False,
        write_statistics=True,
        store_schema=True,
    )
    return bytes(sink.getvalue())


def table_of(columns: list[Column], data: Mapping[str, Any]) -> Any:
    """The table of some columns, whose values stand in ``data`` by their names without units."""
    fields = [column.field() for column in columns]
    arrays = []
    for column, entry in zip(columns, fields, strict=True):
        given = data[column.name]
        if isinstance(given, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(given)
            arrays.append(pa.array(np.where(mask, 0.0, given.data), entry.type, mask=mask))
        else:
            arrays.append(pa.array(np.ascontiguousarray(given), entry.type))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def vector_columns(
    name: str, unit: str, text: str, rows: Array, axes: str = "xyzw"
) -> list[tuple[Column, Array]]:
    """A column for each component of vectors (n, k), with their values."""
    parts = _split(name, rows, axes[: rows.shape[1]])
    return [(Column(each, unit, text), array) for each, array in parts.items()]


def _split(name: str, rows: Array, axes: str = "xyz") -> dict[str, Array]:
    return {f"{name}{axis}": np.ascontiguousarray(rows[:, i]) for i, axis in enumerate(axes)}


def _place(name: str, x: Array) -> dict[str, Array]:
    latitude, longitude = frames.latitude_longitude(x)
    return {f"{name}latitude": np.degrees(latitude), f"{name}longitude": np.degrees(longitude)}


def _masked(array: Array, known: npt.NDArray[np.bool_]) -> Any:
    return np.ma.masked_array(np.asarray(array), mask=~known)

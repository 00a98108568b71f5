"""Columns of campaigns of captures and of drops on membranes.

Runs of captures have the columns of ``motions.capture.result.ROW``, units and all; drops are told
in the same way. Times of what never happened are empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from alight.campaign.tables.articulated import Filled
from alight.campaign.tables.landing import Column, table_of, vector_columns
from alight.core.checks import Array
from alight.core.outcomes import Endings, ending_of
from alight.motions.capture.craft import ARRAYS
from alight.motions.capture.result import CAPTURE_WORDS, ROW, CaptureFlight
from alight.motions.membrane.result import DROP_WORDS, MembraneFlight, MembraneResult

_RPM = 30.0 / np.pi
_KINDS = {"f": None, "i": pa.int64(), "b": pa.bool_()}


class _Named(Column):
    """A column whose name has its unit already, in small letters: ``bending_nm``."""

    @property
    def full_name(self) -> str:
        """Its name."""
        return self.name


_CODE = Column("outcome", "", "how it ended, as a number", pa.int32())
_WORD = Column("ending", "", "the same in a word: held, at_rest, lost, ...", pa.string())

#: What the columns of ``ROW`` hold, with their units.
_ROWS: dict[str, tuple[str, str]] = {
    "run": ("", "number of the run"),
    "success": ("", "in contact at the end, and no bending moment beyond the limit"),
    "shape": ("", "number of its shape in asteroid.shapes"),
    "mass_kg": ("kg", "of the asteroid"),
    "spin_rpm": ("rpm", "of the asteroid at the start"),
    "friction": ("", "of fabric on asteroid"),
    "end_s": ("s", "when it ended"),
    "contact_s": ("s", "first contact; empty if never"),
    "settle_s": ("s", "from contact until at rest against each other for good; empty if never"),
    "lost_s": ("s", "when contact was lost for good; empty if it was not"),
    "contacts": ("", "how often contact was made"),
    "bending_nm": ("N m", "greatest bending moment at either drive assembly"),
    "bending_1_nm": ("N m", "greatest at the first"),
    "bending_2_nm": ("N m", "greatest at the second"),
    "bending_at_s": ("s", "when it was greatest"),
    "torsion_nm": ("N m", "greatest moment about a boom"),
    "margin": ("", "limit over bending, less 1"),
    "force_n": ("N", "greatest between asteroid and membrane"),
    "hoop_n": ("N", "greatest between asteroid and hoop"),
    "hoop_s": ("s", "when the hoop was first touched; empty if never"),
    "depth_m": ("m", "greatest below the suspension plane"),
    "clearance_m": ("m", "between the deepest vertex and the bus"),
    "slip_m": ("m", "path of the contact along the fabric"),
    "relative_rpm": ("rpm", "of craft against asteroid at the end"),
    "pair_rpm": ("rpm", "spin of the pair as one body at the end"),
    "axis_deg": ("deg", "between the craft's axis and that spin: 90 in a flat spin"),
    "offset_m": ("m", "of the pair's spin axis from the craft at the end"),
    "needed_n": ("N", "thrust that a steady spin of the pair would take"),
    "drift_m_s": ("m/s", "slip in the last window over its length; empty if not in contact"),
    "spin_up_nm": ("N m", "growth of the pair's angular momentum then; empty if not in contact"),
    "left_s": ("s", "until thrust would no longer hold at that growth; empty: no end in sight"),
    "propellant_kg": ("kg", "used"),
    "steps": ("", "steps taken"),
}

CAPTURE_COLUMNS: list[Column] = [
    _Named("run", "", "number of the run", pa.int64()),
    _CODE,
    _WORD,
    *(
        _Named(name, *_ROWS[name], _KINDS[ROW[name].kind])
        for name in ROW.names or ()
        if name not in ("run", "outcome")
    ),
    _Named("length_m", "m", "of the asteroid along its longest principal axis"),
]

DROP_COLUMNS: list[Column] = [
    _Named("run", "", "number of the run", pa.int64()),
    _CODE,
    _WORD,
    _Named("end_s", "s", "when it ended"),
    _Named("first_contact_s", "s", "empty if never"),
    _Named("slack_s", "s", "when the fabric first went slack; empty if never"),
    _Named("release_s", "s", "when the body last left the membrane; empty if never"),
    _Named("contacts", "", "how often contact was made", pa.int64()),
    _Named("depth_m", "m", "greatest below the suspension plane"),
    _Named("tension_n_per_m", "N/m", "greatest"),
    _Named("force_n", "N", "greatest on the body"),
    _Named("slip_m", "m", "path of the contact along the fabric"),
    _Named("steps", "", "steps taken", pa.int64()),
]

_MOVING = [
    ("x", "xyz", "m", "centre of mass, inertial axes"),
    ("v", "xyz", "m/s", "its velocity"),
    ("q", "xyzw", "", "attitude, quaternion from body to inertial axes"),
    ("w", "xyz", "rad/s", "rate, body axes"),
]


def capture_table(
    rows: Any, lengths: Array, more: list[Filled], endings: Endings = CAPTURE_WORDS
) -> Any:
    """The table of runs; ``rows`` are records of ``ROW``, ``endings`` what their codes mean."""
    data: dict[str, Any] = {name: _known(rows[name]) for name in ROW.names or ()}
    data["left_s"] = _known(np.where(np.isinf(rows["left_s"]), np.nan, rows["left_s"]))
    data["ending"] = _words(rows["outcome"], endings)
    return _filled(CAPTURE_COLUMNS, data | {"length_m": lengths}, more)


def drop_table(numbers: dict[str, Array], more: list[Filled], endings: Endings = DROP_WORDS) -> Any:
    """The table of runs; ``numbers`` by the names of columns, ``endings`` what codes mean."""
    data: dict[str, Any] = {name: _known(array) for name, array in numbers.items()}
    data["ending"] = _words(numbers["outcome"], endings)
    return _filled(DROP_COLUMNS, data, more)


def drop_numbers(found: MembraneFlight | MembraneResult) -> dict[str, Array]:
    """Columns of runs, but for their numbers."""
    notes = dict(found.notes)
    notes["tension_n_per_m"] = notes.pop("tension")
    end = found.time if isinstance(found, MembraneResult) else found.end
    numbers: dict[str, Any] = {
        "outcome": np.array([int(code) for code in found.outcome]),
        "end_s": end,
        "slip_m": found.last[:, 28],
        **notes,
    }
    return numbers


def capture_course(run: int, flight: CaptureFlight) -> Any:
    """The table of the course of one capture."""
    kept = int(flight.records[0])
    load, q, v = flight.loads[0, :kept], flight.q[0, :kept], flight.v[0, :kept]
    craft = (q[:, 0:3], v[:, 0:3], q[:, 3:7], v[:, 3:6])
    slices = flight.craft.tree.q_slices
    arrays = [
        column
        for number, name in enumerate(ARRAYS, 1)
        for column in vector_columns(
            f"array_{number}_q", "", "turn against the bus", q[:, slices[name]]
        )
    ]
    bending = flight.bending[0, :kept]
    more = [
        *_contact(load, flight.sums[0, :kept, 3]),
        (Column("bending_1", "N m", "at the first drive assembly"), bending[:, 0]),
        (Column("bending_2", "N m", "at the second"), bending[:, 1]),
        (
            Column("relative_rate", "rpm", "of craft against asteroid"),
            flight.relative_rate[0, :kept] * _RPM,
        ),
        (Column("pair_rate", "rpm", "of the pair as one body"), flight.pair_rate[0, :kept] * _RPM),
        (
            Column("axis_angle", "deg", "of the craft's axis from that spin"),
            np.degrees(flight.axis_angle[0, :kept]),
        ),
    ]
    asteroid = _moving("asteroid_", _states(flight, kept))
    return _course(run, flight.time[:kept], [*asteroid, *_moving("craft_", craft), *arrays, *more])


def drop_course(run: int, flight: MembraneFlight) -> Any:
    """The table of the course of one drop."""
    kept = int(flight.records[0])
    load = flight.loads[0, :kept]
    craft = tuple(
        getattr(flight, f"craft_{name}")[0, :kept]
        for name in ("position", "velocity", "attitude", "rate")
    )
    more = [
        *_contact(load, flight.slipped[0, :kept]),
        (Column("tension", "N/m", "of the fabric"), load["tension"]),
        (Column("damped", "J", "lost in the fabric so far"), flight.damped[0, :kept]),
        (Column("rubbed", "J", "lost to friction so far"), flight.rubbed[0, :kept]),
    ]
    body = _moving("body_", _states(flight, kept))
    return _course(run, flight.time[:kept], [*body, *_moving("carrier_", craft), *more])


def _states(flight: Any, kept: int) -> tuple[Array, ...]:
    names = ("position", "velocity", "attitude", "rate")
    return tuple(getattr(flight, name)[0, :kept] for name in names)


def _moving(name: str, states: tuple[Array, ...]) -> list[Filled]:
    """Place, velocity, attitude and rate of one body."""
    found: list[Filled] = []
    for (letter, axes, unit, text), rows in zip(_MOVING, states, strict=True):
        start = name if letter == "x" else f"{name}{letter}"
        found += vector_columns(start, unit, text, rows, axes)
    return found


def _contact(load: Any, slip: Array) -> list[Filled]:
    force = np.linalg.norm(load["force"], axis=1)
    deep = np.maximum(0.0, -load["lowest"])
    return [
        (Column("in_contact", "", "true where the fabric is touched", pa.bool_()), deep > 0.0),
        (Column("force", "N", "of the fabric on the body"), force),
        (Column("depth", "m", "of the lowest vertex below the suspension plane"), deep),
        (Column("slip", "m", "path of the contact along the fabric so far"), slip),
    ]


def _course(run: int, time: Array, more: list[Filled]) -> Any:
    first = [
        Column("run", "", "number of the run", pa.int64()),
        Column("time", "s", "of the record"),
    ]
    return _filled(first, {"run": np.full(len(time), run), "time": time}, more)


def _filled(columns: list[Column], data: dict[str, Any], more: list[Filled]) -> Any:
    every = {**data, **{column.name: array for column, array in more}}
    return table_of([*columns, *(column for column, _ in more)], every)


def _known(array: Any) -> Any:
    """Numbers, empty where they are none."""
    values = np.asarray(array)
    return np.ma.masked_invalid(values, copy=True) if _has_nan(values) else values


def _has_nan(values: Array) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _words(codes: Any, endings: Endings) -> Any:
    return np.array([ending_of(code, endings).name.lower() for code in codes], dtype=object)

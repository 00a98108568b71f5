"""What is reported of captures: the columns of ``ROW``, contacts, and trajectories."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from alight.core.outcomes import Outcome
from alight.engine.columns import RUN, Column, Columns, Source
from alight.engine.run_kind import STOPPED, RunKind
from alight.motions.capture import stepping as layout
from alight.motions.capture.craft import ARRAYS
from alight.motions.capture.result import CAPTURE_WORDS, ROW
from alight.motions.membrane.columns import CODE, CONTACTS, TIME, WORD, contact, moving, recorded

_RPM = 30.0 / np.pi
_KINDS = {"f": "float", "i": "int64", "b": "bool"}

#: What the columns of ``ROW`` hold, with their units.
_ROWS: dict[str, tuple[str, str]] = {
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
    "bending_nm": ("N m", "largest bending moment at either drive assembly"),
    "bending_1_nm": ("N m", "largest at the first"),
    "bending_2_nm": ("N m", "largest at the second"),
    "bending_at_s": ("s", "when it was largest"),
    "torsion_nm": ("N m", "largest moment about a boom"),
    "margin": ("", "limit over bending, less 1"),
    "force_n": ("N", "largest between asteroid and membrane"),
    "hoop_n": ("N", "largest between asteroid and hoop"),
    "hoop_s": ("s", "when the hoop was first touched; empty if never"),
    "depth_m": ("m", "largest below the suspension plane"),
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


def _left(source: Source) -> Any:
    left = source.found.rows["left_s"]
    return np.where(np.isinf(left), np.nan, left)


def _row(name: str) -> Column:
    kind = _KINDS[ROW[name].kind]
    of = _left if name == "left_s" else f"rows.{name}"
    return Column(name, *_ROWS[name], of, kind, "known" if kind == "float" else "", plain=True)


def _length(source: Source) -> Any:
    return np.broadcast_to(source.model.asteroid.lengths, len(source.found.rows))


_RUNS = (
    RUN,
    CODE,
    WORD,
    *(_row(name) for name in ROW.names or () if name not in ("run", "outcome")),
    Column(
        "length_m", "m", "of the asteroid along its longest principal axis", _length,
        where="known", plain=True,
    ),
)  # fmt: skip


def _bus(flight: Any, state: str) -> Any:
    """Of the craft's first body."""
    places = {"position": ("q", 0, 3), "velocity": ("v", 0, 3)}
    places |= {"attitude": ("q", 3, 7), "rate": ("v", 3, 6)}
    name, first, last = places[state]
    return getattr(flight, name)[..., first:last]


def _turn(name: str, flight: Any) -> Any:
    """Of an array against the bus."""
    return flight.q[..., flight.craft.tree.q_slices[name]]


def _arrays() -> Iterator[Column]:
    """How the solar arrays are turned."""
    for number, name in enumerate(ARRAYS, 1):
        for i, axis in enumerate("xyzw"):
            of = recorded(functools.partial(_turn, name), i)
            yield Column(f"array_{number}_q{axis}", "", "turn against the bus", of)


_COURSE = (
    RUN,
    TIME,
    *moving("asteroid_", getattr),
    *moving("craft_", _bus),
    *_arrays(),
    *contact(lambda flight: flight.sums[..., layout.SLIPPED]),
    Column("bending_1", "N m", "at the first drive assembly", recorded(lambda f: f.bending, 0)),
    Column("bending_2", "N m", "at the second", recorded(lambda f: f.bending, 1)),
    Column("relative_rate", "rpm", "of craft against asteroid",
           recorded(lambda f: f.relative_rate * _RPM)),
    Column("pair_rate", "rpm", "of the pair as one body", recorded(lambda f: f.pair_rate * _RPM)),
    Column("axis_angle", "deg", "of the craft's axis from that spin",
           recorded(lambda f: np.degrees(f.axis_angle))),
)  # fmt: skip

#: What captures are called, and how they end.
CAPTURE_KIND = RunKind(
    "capture",
    "Captures",
    CAPTURE_WORDS,
    {"held": Outcome.HELD, "at_rest": Outcome.SETTLED, "moving": Outcome.TIMED_OUT},
    {
        "rim": Outcome.RIM,
        "lost": Outcome.LOST,
        "missed": Outcome.MISSED,
        "struck": Outcome.STRUCK,
        **STOPPED,
    },
)
#: Of captures.
CAPTURES = Columns(_RUNS, CONTACTS, _COURSE)

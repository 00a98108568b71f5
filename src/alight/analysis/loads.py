"""What articulated landers bear: accelerations, tilts, pads, legs and joints, over many runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from alight.analysis.columns import Array
from alight.analysis.intervals import CONFIDENCE, Spread, spread


@dataclass(frozen=True)
class LoadKind:
    """A kind of load: the columns ``<start><part>_<unit>``, or one column without a part."""

    start: str
    unit: str
    label: str
    """What it is called, for one part or for a lander that has no parts."""
    parts: bool = False
    """Whether there is a column for each pad, leg or joint."""

    def part_of(self, column: str) -> str | None:
        """The part that a column is of ("" where there are none); None if of another kind."""
        end = f"_{self.unit}"
        if not self.parts:
            return "" if column == f"{self.start}{end}" else None
        begin = f"{self.start}_"
        if not (column.startswith(begin) and column.endswith(end)):
            return None
        return column[len(begin) : len(column) - len(end)] or None


#: Every kind, in the order in which they are told.
STROKE = LoadKind("stroke", "m", "stroke crushed", parts=True)
PAD = LoadKind("peak_pad_force", "N", "normal force on a pad", parts=True)
BELLY = LoadKind("peak_belly_force", "N", "normal force on a belly", parts=True)
ACCELERATION = LoadKind("peak_acceleration", "m_per_s2", "acceleration of the first body")
TILT = LoadKind("peak_tilt", "deg", "tilt from the vertical")
RATE = LoadKind("peak_rate", "rad_per_s", "rate of the first body")
SPEED = LoadKind("peak_speed", "m_per_s", "speed of the centre of mass")
SLOSH = LoadKind("peak_slosh", "deg", "swing of liquid", parts=True)
JOINT = LoadKind("peak_joint_force", "N", "force through a joint", parts=True)
MOMENT = LoadKind("peak_joint_moment", "N_m", "moment at a joint", parts=True)
KINDS = (STROKE, PAD, BELLY, ACCELERATION, TILT, RATE, SPEED, SLOSH, JOINT, MOMENT)


@dataclass(frozen=True)
class LoadSpread:
    """How one load is spread over the runs that touched the ground."""

    kind: LoadKind
    part: str
    """Pad, leg or body; "" for the whole lander or the largest of all parts."""
    spread: Spread


def load_names(columns: Iterable[str]) -> list[str]:
    """Those of ``columns`` that hold loads; none in tables of rigid landers."""
    return [c for c in columns if any(kind.part_of(c) is not None for kind in KINDS)]


def of_kind(table: Mapping[str, Array], kind: LoadKind) -> dict[str, Array]:
    """Columns of one kind by part, in the order of the table."""
    found = {kind.part_of(name): values for name, values in table.items()}
    return {part: values for part, values in found.items() if part is not None}


def greatest(table: Mapping[str, Array], kind: LoadKind, touched: Array | None = None) -> Array:
    """(n,) of each run the largest over all parts; nan where it did not touch, or has no such."""
    found = list(of_kind(table, kind).values())
    if not found:
        n = len(next(iter(table.values()))) if table else 0
        return np.full(n, np.nan)
    most: Array = np.max(found, axis=0)
    return most if touched is None else np.where(np.isfinite(touched), most, np.nan)


def loads(
    table: Mapping[str, Array],
    touched: Array,
    probabilities: Sequence[float] = (0.05, 0.5, 0.95, 0.99),
    confidence: float = CONFIDENCE,
) -> list[LoadSpread]:
    """Every load of a table of runs, each part by itself and, of several, the largest.

    ``touched`` is nan for runs that never touched the ground (``first_contact_time_s``), which
    bear nothing and are left out.
    """
    out = []
    known = np.isfinite(touched)
    for kind in KINDS:
        parts = of_kind(table, kind)
        if len(parts) > 1:
            most = greatest(table, kind, touched)
            out.append(LoadSpread(kind, "", spread(most, probabilities, confidence)))
        for part, values in parts.items():
            own = np.where(known, values, np.nan)
            out.append(LoadSpread(kind, part, spread(own, probabilities, confidence)))
    return out

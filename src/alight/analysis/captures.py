"""What came of captures: who is held, what the arrays bear, how shares change with what varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from alight.analysis.bins import varies
from alight.analysis.columns import Array, Bools

#: Columns of a table of captures that are numbers a reader asks for, and the runs that have them:
#: all that touched, those in contact at the end, or those at rest then.
TOUCHED, KEPT, RESTING = "touched", "kept", "resting"
QUANTITIES: dict[str, str] = {
    "contact_s": TOUCHED,
    "settle_s": RESTING,
    "bending_nm": TOUCHED,
    "torsion_nm": TOUCHED,
    "force_n": TOUCHED,
    "depth_m": TOUCHED,
    "clearance_m": TOUCHED,
    "slip_m": KEPT,
    "relative_rpm": KEPT,
    "pair_rpm": KEPT,
    "axis_deg": KEPT,
    "offset_m": KEPT,
    "needed_n": KEPT,
    "propellant_kg": KEPT,
}

#: What a capture may depend on and every table has.
PARAMETERS = ("spin_rpm", "mass_kg", "friction", "length_m")

#: Columns that ``known_of`` and ``limit_of`` read.
NEEDED = ("run", "outcome", "success", "shape", "end_s", "margin", *QUANTITIES, *PARAMETERS)


def known_of(table: Mapping[str, Array], kept: Bools, resting: Bools) -> dict[str, Array]:
    """The quantities of each run; nan where a run has none.

    A run that was cut short, at the rim or because contact was lost, has loads up to then, but no
    final slip, spin or propellant.
    """
    who = {TOUCHED: np.isfinite(table["contact_s"]), KEPT: kept, RESTING: resting}
    return {name: np.where(who[kind], table[name], np.nan) for name, kind in QUANTITIES.items()}


def limit_of(table: Mapping[str, Array]) -> Array:
    """(n,) bending moment that the drive assemblies of each run stand [N m]; nan where unloaded."""
    with np.errstate(invalid="ignore"):  # no load at all: 0 times infinity
        found = (table["margin"] + 1.0) * table["bending_nm"]
    return np.where(np.isfinite(found), found, np.nan)


def grown(times: Array, of: int) -> tuple[Array, Array]:
    """When things happen, ascending, and the share of ``of`` to which each brings them."""
    ascending = np.sort(times[np.isfinite(times)])
    return ascending, np.arange(1.0, len(ascending) + 1.0) / max(of, 1)


def beyond(values: Array) -> tuple[Array, Array]:
    """Values ascending, and the share of runs that are at least as great as each."""
    ascending = np.sort(values[np.isfinite(values)])
    n = len(ascending)
    return ascending, (n - np.arange(n)) / max(n, 1)


def distinct(inputs: Mapping[str, Array], others: Sequence[tuple[str, Array]]) -> dict[str, Array]:
    """``inputs`` that vary, and those of ``others`` that do and are no multiple of one of them."""
    found = {name: values for name, values in inputs.items() if varies(values)}
    for name, values in others:
        if varies(values) and not any(_proportional(values, known) for known in found.values()):
            found[name] = values
    return found


def _proportional(a: Array, b: Array) -> bool:
    if not np.isfinite([a, b]).all() or not b.any():
        return False
    scale = float(a @ b) / float(b @ b)
    return bool(np.allclose(a, scale * b, rtol=1e-6, atol=1e-9 * float(np.abs(a).max())))

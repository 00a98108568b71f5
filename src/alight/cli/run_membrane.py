"""What ``alight run`` prints of captures and of drops on membranes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.cli import screen
from alight.cli.run_row import plain

if TYPE_CHECKING:
    from alight.motions.capture.result import CaptureFlight
    from alight.motions.membrane.result import MembraneFlight

Lines = list[tuple[str, str]]


def facts(flight: CaptureFlight | MembraneFlight) -> dict[str, Any]:
    """What a script reads: numbers by the columns of campaigns."""
    numbers = {name: plain(value) for name, value in _row(flight).items()}
    return {"outcome": flight.outcome[0].name.lower(), **numbers}


def tell(flight: CaptureFlight | MembraneFlight) -> None:
    """What a person reads."""
    from alight.motions.capture.result import CaptureFlight

    row, console = _row(flight), screen.console()
    said = str(flight.outcome[0])
    console.print(f"{said[:1].upper()}{said[1:]} after {row['end_s']:.6g} s.", soft_wrap=True)
    lines = _capture_lines(row, flight) if isinstance(flight, CaptureFlight) else _drop_lines(row)
    console.print(screen.table(("", ""), lines, right=[1]))


def _row(flight: CaptureFlight | MembraneFlight) -> dict[str, Any]:
    """The numbers of the first run, by the columns of campaigns."""
    from alight.engine.columns import Source
    from alight.motions.capture.columns import CAPTURES
    from alight.motions.capture.result import CaptureFlight
    from alight.motions.membrane.columns import DROPS

    captured, source = isinstance(flight, CaptureFlight), Source(flight, np.zeros(1, np.int64))
    listed = (CAPTURES if captured else DROPS).runs
    # What a course alone does not know, or is told before these.
    told = [c for c in listed if c.name not in ("run", "outcome", "ending", "shape", "length_m")]
    return {c.name: np.ma.filled(c.values(source), np.nan)[0] for c in told}


def _capture_lines(row: dict[str, Any], flight: CaptureFlight) -> Lines:
    limit = flight.craft.moment_limit
    part = row["relative_rpm"] / row["spin_rpm"] if row["spin_rpm"] else math.nan
    kept = "kept" if row["margin"] >= 0.0 else "exceeded"
    return [
        ("asteroid", f"{row['mass_kg'] / 1e3:.4g} t, {row['spin_rpm']:.3g} rpm"),
        ("first contact", _time(row["contact_s"])),
        ("time from contact to rest", _time(row["settle_s"])),
        ("contact lost", _time(row["lost_s"])),
        ("max bending moment", f"{row['bending_nm']:.4g} N m, {_time(row['bending_at_s'])}"),
        ("at drive assemblies 1, 2", f"{row['bending_1_nm']:.4g}, {row['bending_2_nm']:.4g} N m"),
        ("limit, margin", f"{limit:.4g} N m {kept}, {row['margin']:.3g}"),
        ("max torsion", f"{row['torsion_nm']:.4g} N m"),
        ("max force", f"{row['force_n']:.4g} N"),
        ("max force on the hoop", f"{row['hoop_n']:.4g} N, touched {_time(row['hoop_s'])}"),
        ("max depth", f"{row['depth_m']:.3g} m, {row['clearance_m']:.3g} m from the bus"),
        ("slip along the fabric", f"{row['slip_m']:.3g} m"),
        ("rate relative to the asteroid", f"{row['relative_rpm']:.3g} rpm, {part:.0%} of its spin"),
        ("spin of the pair", f"{row['pair_rpm']:.3g} rpm, {row['offset_m']:.3g} m from the craft"),
        ("angle of the craft's axis to that spin", f"{row['axis_deg']:.3g} deg (90: flat spin)"),
        ("thrust needed to stop this spin", f"{row['needed_n']:.4g} N"),
        *_drift_lines(row),
        ("propellant", f"{row['propellant_kg']:.3g} kg"),
        ("steps", f"{row['steps']}"),
    ]


def _drift_lines(row: dict[str, Any]) -> Lines:
    """What still happens at the end, of captures that are in contact then."""
    if math.isnan(row["drift_m_s"]):
        return []
    left = f"{row['left_s']:.3g} s" if math.isfinite(row["left_s"]) else "no limit"
    return [
        ("slip rate over the last rotation", f"{1e3 * row['drift_m_s']:.3g} mm/s"),
        ("torque of thrust on the pair", f"{row['spin_up_nm']:.3g} N m along its spin"),
        ("thrust will hold for", left),
    ]


def _drop_lines(row: dict[str, Any]) -> Lines:
    return [
        ("first contact", _time(row["first_contact_s"])),
        ("fabric slack", _time(row["slack_s"])),
        ("left the membrane", _time(row["release_s"])),
        ("contacts", f"{row['contacts']}"),
        ("max depth", f"{row['depth_m']:.4g} m"),
        ("max tension", f"{row['tension_n_per_m']:.4g} N/m"),
        ("max force", f"{row['force_n']:.4g} N"),
        ("slip along the fabric", f"{row['slip_m']:.3g} m"),
        ("steps", f"{row['steps']}"),
    ]


def _time(value: float) -> str:
    return f"{value:.4g} s" if math.isfinite(value) else "never"

"""What a report of drops says in sentences, with units and intervals."""

from __future__ import annotations

import numpy as np

from alight.analysis.columns import Bools
from alight.views import words
from alight.views.estimates import interval, none_of, percent, stops_said, with_interval
from alight.views.report.data import Trajectory
from alight.views.report.drop.findings import SHARES, DropFindings
from alight.views.report.section import named

_SECOND, _METRE, _SPEED = (words.Unit(name, 1.0) for name in ("s", "m", "m/s"))
_NEWTON, _TENSION = words.Unit("N", 1.0), words.Unit("N/m", 1.0)

_MISSED = "None touched the membrane."


def leaves(found: DropFindings) -> str:
    """How many come off again, when, and how fast; what became of the others."""
    runs, count, share = found.data.runs, int(found.left.sum()), found.part(found.left)
    if not count:
        return f"{none_of(runs, share.high, 'drops', 'came off again', 'come off again')} " + (
            _others(found)
        )
    said = f"{percent(share.value)} of the drops do ({count} of {runs}; {interval(share)})"
    if (lasted := found.spread("in_contact_s")) is not None:
        said += f", {with_interval(lasted.quantiles[0.5], _SECOND)} after contact in the median"
    if "rebound_m_s" in found.known and (speed := found.spread("rebound_m_s")) is not None:
        ratio = found.spread("restitution")
        said += f". Its lowest point leaves at {with_interval(speed.quantiles[0.5], _SPEED)}"
        if ratio is not None:
            said += f", {percent(ratio.quantiles[0.5].value)} of the speed with which it came"
    return f"{said}. {_others(found)}".strip()


def _others(found: DropFindings) -> str:
    """How the other drops ended."""
    runs = found.data.runs
    told = [
        (found.staying, f"are still on the membrane after {_SECOND(found.duration)}"),
        (found.rim & ~found.left, "reach past its rim"),
        (~found.touched & ~found.data.failed, "never touch it"),
        (found.failed, "failed numerically"),
    ]
    parts = [f"{_part(hit, runs)} {what}" for hit, what in told if hit.any()]
    parts += stops_said(found.data.stops, runs)
    return f"Of the others, {named(parts)}." if parts else ""


def _part(hit: Bools, runs: int) -> str:
    return f"{percent(hit.sum() / runs)} ({int(hit.sum())})"


def depth(found: DropFindings) -> str:
    """How deep, and how far from there."""
    known = found.spread("depth_m")
    if known is None:
        return _MISSED
    median, late = (known.quantiles[p] for p in (0.5, 0.95))
    return (
        f"{with_interval(median, _METRE)} below the suspension plane in the median, its lowest "
        f"point; less than {with_interval(late, _METRE)} in 95 % of the drops, and "
        f"{_METRE(known.most)} at most."
    )


def force(found: DropFindings) -> str:
    """How hard, and what the fabric bears."""
    known, tension = found.spread("force_n"), found.spread("tension_n_per_m")
    if known is None or tension is None:
        return _MISSED
    return (
        f"With {with_interval(known.quantiles[0.5], _NEWTON)} at most in the median drop, below "
        f"{with_interval(known.quantiles[0.95], _NEWTON)} in 95 %. The tension of the fabric stays "
        f"below {_TENSION(tension.quantiles[0.95].value)} in 95 %, {_TENSION(tension.most)} being "
        "the largest."
    )


def stop(found: DropFindings) -> str:
    """When the way down ends, as far as the kept trajectories tell."""
    if not found.touched.any():
        return _MISSED
    times = [t for c in found.data.courses if (t := _to_deepest(c)) > 0.0]
    lasted = found.spread("in_contact_s")
    said = ""
    if times:
        low, high = _SECOND.of(min(times)), _SECOND(max(times))
        took = high if high.startswith(f"{low} ") else f"{low} to {high}"
        said = f"It is deepest {took} after contact in the {_drops(len(times))} on record"
    if lasted is None:
        return f"{said}." if said else "No trajectory was kept that would show it."
    late = lasted.quantiles[0.95]
    rest = f"95 % of those that come off again have left within {with_interval(late, _SECOND)}"
    return f"{said}; {rest}." if said else f"{rest}."


def _drops(count: int) -> str:
    return "drop" if count == 1 else f"{count} drops"


def slip(found: DropFindings) -> str:
    """How far the contact moves along the fabric."""
    known = found.spread("slip_m")
    if known is None:
        return _MISSED
    return (
        f"{with_interval(known.quantiles[0.5], _METRE)} along the fabric in the median, less than "
        f"{_METRE(known.quantiles[0.95].value)} in 95 % of the drops."
    )


def energy(found: DropFindings) -> str:
    """Shares of what the body brought."""
    if not found.touched.any():
        return _MISSED
    if not found.accounted:
        return (
            "Not known: the tables do not have the energy that a carrier with a mass takes up, and "
            "tables of earlier versions have no energies."
        )
    unit = words.share(0.0)
    told = []
    for column, what in SHARES.items():
        known = found.spread(column)
        assert known is not None
        median = known.quantiles[0.5]
        if median.value >= 0.005:
            told.append(f"{with_interval(median, unit)} is {what}")
    return f"Of what the body brought, in the median, {named(told)}."


def warnings(found: DropFindings) -> list[str]:
    """What a reader must know before trusting the numbers."""
    if not found.rim.any():
        return []
    return [
        f"{percent(found.rim.mean())} of the drops end where the body reaches past the rim of the "
        "membrane. The model knows nothing beyond: their loads are those until then, and slip and "
        "energy leave them out."
    ]


COURSE_HEAD = [
    "run", "first contact [s]", "from there to the largest depth [s]", "until it left [s]",
    "depth [m]", "force [N]", "slip [m]", "how it ended",
]  # fmt: skip


def course_rows(courses: list[Trajectory]) -> list[list[str]]:
    """A row for each kept trajectory; times but the first are counted from contact on."""
    rows = []
    for c in courses:
        touched = c.row["first_contact_s"]
        times = (touched, _to_deepest(c), c.row["release_s"] - touched)
        most = (c["depth_m"].max(), c["force_N"].max(), c["slip_m"][-1])
        known = ["–" if np.isnan(x) else words.number(float(x)) for x in (*times, *most)]
        rows.append([str(c.run), *known, c.ending])
    return rows


def _to_deepest(course: Trajectory) -> float:
    """Time from the first contact to the largest depth [s]; nan if it never touched."""
    depth = course["depth_m"]
    deepest = course.time[int(depth.argmax())] if depth.any() else np.nan
    return float(deepest - course.row["first_contact_s"])


def notes(found: DropFindings) -> list[str]:
    """What the numbers rest on."""
    return [
        "Depth is that of the body's lowest point below the plane of the suspension points; force "
        "and tension are the largest of the whole run, looked at after every step.",
        "Speeds at contact and as it leaves are those of the lowest point, away from the membrane, "
        "over the step in which it crosses the plane: the body also turns, so that they are not "
        "those of its centre.",
        "Energy that the body brought is its kinetic energy at the start and what gravity gave it "
        "from there to the end. What is neither lost nor motion then strains the fabric.",
        "The fabric sticks truly, without creep: slip is sliding at the limit of friction.",
    ]

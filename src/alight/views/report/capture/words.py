"""What a report of captures says in sentences and tables, with units and intervals."""

from __future__ import annotations

import numpy as np

from alight.analysis.bins import Bin, binned, varies
from alight.analysis.intervals import Estimate, Spread
from alight.views import words
from alight.views.estimates import interval, most_of_none, percent, with_interval
from alight.views.report.capture.data import AT_REST, HELD, UNSETTLED
from alight.views.report.capture.findings import CaptureFindings
from alight.views.report.losses import why
from alight.views.report.section import named

_SECOND, _METRE, _MOMENT = words.Unit("s", 1.0), words.Unit("m", 1.0), words.Unit("N m", 1.0)
_TURN, _NEWTON, _KILOGRAM = words.Unit("rpm", 1.0), words.Unit("N", 1.0), words.Unit("kg", 1.0)
_ANGLE = words.Unit("°", 1.0)

#: A craft whose axis is so near to 90° from the spin counts as in a flat spin [deg].
FLAT = 75.0


def held(found: CaptureFindings) -> str:
    """How many are held, and what became of the others."""
    share, count, runs = found.success, int(found.data.success.sum()), found.data.runs
    told = _lasting(found.duration)
    if not count:
        most = percent(most_of_none(runs, share.high))
        said = f"Never in {runs} captures: with 95 % confidence in fewer than {most}."
    else:
        said = (
            f"In {percent(share.value)} of the captures ({count} of {runs}; {interval(share)}): in "
            f"contact after {told}, and no bending moment beyond the limit. "
            f"{percent(found.part(found.resting).value)} are also at rest against the asteroid, "
            f"and {percent(found.part(found.lasting).value)} with no drift that would end it."
        )
    others = [
        f"{percent(int(hit.sum()) / runs)} {_PLURAL[name]}"
        for name, hit in found.ends.items()
        if name not in (HELD, AT_REST, UNSETTLED)
    ]
    said = f"{said} Of all, {named(others)}." if others else said
    return f"{said} {why(found.losses[0])}".rstrip()


def _lasting(time: float) -> str:
    """How long captures are followed, in seconds up to a quarter of an hour, as scenarios are."""
    unit = _SECOND if time <= 900.0 else words.time(time)
    return f"{words.quoted(float(f'{time / unit.size:.4g}'))} {unit.name}"


#: What captures did that are not held.
_PLURAL = {
    "OVERLOADED": "are held but were loaded beyond the limit",
    "LOST": "lost contact",
    "RIM": "reached past the rim",
    "STRUCK": "reached the bus",
    "MISSED": "never touched",
    "STOPPED": "were ended by a stop",
    "FAILED": "failed numerically",
}


def loads(found: CaptureFindings) -> str:
    """Peak bending moments against the limit."""
    known = found.spread("bending_nm")
    if known is None:
        return "They are not loaded: no craft touched its asteroid."
    times = found.limit / known.most
    said = (
        f"The peak bending moment is {with_interval(known.quantiles[0.5], _MOMENT)} in the median"
        f"{_most(known, _MOMENT, (0.95, 0.99))}. The largest, {_MOMENT(known.most)}, is "
        f"{percent(known.most / found.limit)} of the limit of {found.limit:.0f} N m (margin "
        f"{words.number(times - 1.0)})."
    )
    return f"{said} {_beyond(found)}"


def _most(known: Spread, unit: words.Unit, parts: tuple[float, ...] = (0.95,)) -> str:
    """What parts of the captures stay below; nothing of parts that so few runs do not show."""
    told = [
        f"{unit(known.quantiles[p].value)} in {100 * p:.0f} %"
        for p in parts
        if known.n * (1.0 - p) >= 1.0 - 1e-9
    ]
    return f", below {named(told)}" if told else ""


def _beyond(found: CaptureFindings) -> str:
    hit, runs = found.overloaded, found.data.runs
    share = found.part(hit)
    if hit.any():
        return (
            f"{percent(share.value)} go beyond the limit ({int(hit.sum())} of {runs}; "
            f"{interval(share)})."
        )
    return (
        f"None of {runs} goes beyond it: with 95 % confidence fewer than "
        f"{percent(most_of_none(runs, share.high))} do."
    )


def rest(found: CaptureFindings) -> str:
    """Time from contact to rest."""
    times, moving = found.spread("settle_s"), int(found.data.ended(UNSETTLED).sum())
    if times is None:
        return "No craft came to rest against its asteroid in the simulated time."
    said = (
        f"{with_interval(times.quantiles[0.5], _SECOND)} after contact in the median"
        f"{_most(times, _SECOND)}, of those that come to rest."
    )
    if moving:
        part = found.part(found.data.ended(UNSETTLED))
        said += (
            f" {percent(part.value)} ({moving}) were held but still moving at the end: the times "
            "leave them out."
        )
    return said


def slip(found: CaptureFindings) -> str:
    """Path along the fabric, and how friction changes it."""
    known = found.spread("slip_m")
    if known is None:
        return "None was in contact at the end."
    said = (
        f"{with_interval(known.quantiles[0.5], _METRE)} along the fabric in the median"
        f"{_most(known, _METRE)}, of the captures that are in contact at the end."
    )
    friction, slip = found.data.table["friction"], found.known["slip_m"]
    if not varies(friction):
        return said
    bins = [
        (b, float(np.median(slip[b.members][np.isfinite(slip[b.members])])))
        for b in binned(friction, found.data.kept, most=3)
        if np.isfinite(slip[b.members]).sum() >= 5
    ]
    if len(bins) > 1:
        (low, most), (high, least) = bins[0], bins[-1]
        said += (
            f" Where friction is {_ends(low)}, the median is {_METRE(most)}; where it is "
            f"{_ends(high)}, {_METRE(least)}."
        )
    return said


def _ends(found: Bin) -> str:
    low, high = (words.quoted(float(f"{x:.2g}")) for x in (found.low, found.high))
    return low if low == high else f"{low} to {high}"


def spin(found: CaptureFindings) -> str:
    """Spin of the pair, and the thrust that it takes."""
    spin, angle, needed = (found.spread(n) for n in ("pair_rpm", "axis_deg", "needed_n"))
    if spin is None or angle is None or needed is None:
        return "There is no pair: none was in contact at the end."
    before = float(np.median(found.data.table["spin_rpm"][found.data.kept]))
    kept = int(found.data.kept.sum())
    flat = int((found.values("axis_deg") >= FLAT).sum())
    said = (
        f"At {with_interval(spin.quantiles[0.5], _TURN)} in the median, where the asteroid had "
        f"{_TURN(before)}. The craft's axis is then {_degrees(angle.quantiles[0.5])} "
        f"from the axis of that spin; {percent(flat / kept)} are within {90.0 - FLAT:.0f}° of a "
        "flat spin (90°)."
    )
    said += f" Such a spin takes {_NEWTON(needed.quantiles[0.5].value)} of thrust in the median"
    if found.data.thrust is None:
        return f"{said}{_most(needed, _NEWTON)}."
    over = found.values("needed_n") > found.data.thrust
    if not over.any():
        return f"{said}, never more than the {found.data.thrust:.0f} N available."
    return f"{said}, more than the {found.data.thrust:.0f} N available in {percent(over.mean())}."


def _degrees(angle: Estimate) -> str:
    return with_interval(angle, _ANGLE).replace(" °", "°")


def propellant(found: CaptureFindings) -> str:
    """What the whole capture uses."""
    known = found.spread("propellant_kg")
    if known is None:
        return "No craft held its asteroid to the end."
    median, late = (_KILOGRAM(known.quantiles[p].value) for p in (0.5, 0.95))
    said = "" if median == late else f" in the median{_most(known, _KILOGRAM)}"
    return (
        f"{median}{said}, approach included, for captures that are in contact at the end. "
        "Thrust continues to the end of the simulated time, and propellant grows with that."
    )


# -- warnings and notes -----------------------------------------------------------------------


def warnings(found: CaptureFindings) -> list[str]:
    """What a reader must know before trusting the numbers."""
    rim = found.data.ended("RIM")
    if not rim.any():
        return []
    return [
        f"{percent(rim.mean())} of the captures end where the asteroid reaches past the rim of the "
        "membrane. The model knows nothing beyond: they count as not held, and their loads are "
        "those until then."
    ]


def notes(found: CaptureFindings) -> list[str]:
    """What the numbers rest on."""
    told = _lasting(found.duration)
    return [
        f"In contact means: when the simulated time ends, after {told}. The bag does not close. "
        "Held for good are those that do not slip in the last rotation and whose thrust will "
        "exceed for another hour what the spin takes, by its growth in that rotation; the column "
        "left_s says how long it will for the others.",
        "At rest means: the craft turns slowly against the asteroid and slips slowly along the "
        "fabric, below the bounds of the scenario, from then on to the end. The drift toward a "
        "flat spin continues.",
        "Loads are the largest of the whole run, evaluated after every step. The limit is that of "
        "bending moments at the drive assemblies; torsion is reported but has no limit here.",
        "The fabric sticks truly, without creep: slip is sliding at the limit of friction.",
        "After contact the thrust is steady along the craft's axis, with no control of attitude. "
        "The arrays touch nothing.",
        "What controllers know of the asteroid's motion is exact, but for the errors of navigation "
        "that the scenario disperses.",
    ]


def clearance(found: CaptureFindings) -> str:
    """How near asteroids come to the bus."""
    known = found.spread("clearance_m")
    if known is None:
        return ""
    if known.least < 0.0:
        return f"The deepest asteroid reaches the bus, and {_METRE(-known.least)} further."
    return (
        f"The deepest asteroid leaves {_METRE(known.least)} between itself and the bus; in 95 % of "
        f"the captures it is more than {_METRE(known.quantiles[0.05].value)}."
    )

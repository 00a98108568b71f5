"""What a report of landings says in sentences and tables, with units and intervals."""

from __future__ import annotations

import numpy as np

from alight.analysis.footprint import Footprint
from alight.analysis.settling import DEEP, FIRST, FORCE, HARDEST, SETTLE
from alight.core import frames
from alight.core.outcomes import STILL_MOVING, Outcome
from alight.views import words
from alight.views.estimates import none_of, percent, stops_said, with_interval
from alight.views.report.landing.data import DEPTH
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.landing.terrain import FAR
from alight.views.report.losses import Loss
from alight.views.report.losses import said as said_of


def where(found: LandingFindings) -> str:
    """The middle and what ellipses hold, or clusters where there is no one middle."""
    where = found.where
    if where is None:
        return "Nowhere: no landing came to rest in the simulated time."
    if len(where.plane) == 1:
        return f"At {middle_text(found)}: one landing came to rest."
    if found.groups.count > 1:
        return clustered(found)
    if found.far > FAR:
        return _all_over(found)
    if found.hollow is not None:
        return (
            f"Around {middle_text(found)}, but hardly at the middle itself: "
            f"{percent(found.hollow)} of the landings rest near it, where a normal footprint "
            "has 10 %."
        )
    return f"Around {middle_text(found)}. {_held(found)}"


def _held(found: LandingFindings) -> str:
    """What ellipses hold."""
    half, most = found.ellipse(0.50), found.ellipse(0.95)
    if half is None or most is None:
        return "They are too few, or too close to a line, for ellipses."
    unit, (first, second) = words.length(most.semi_major), found.data.axes
    return (
        "Half of the landings that settle rest within an ellipse of "
        f"{unit.of(half.semi_major)} × {unit(half.semi_minor)}, 95 % within "
        f"{unit.of(most.semi_major)} × {unit(most.semi_minor)} "
        f"(semi-axes; the long one points {round(most.azimuth) % 180}° from {second} "
        f"to {first})."
    )


def clustered(found: LandingFindings) -> str:
    """Each cluster with its share and its middle."""
    shares, total = found.groups.shares, len(found.groups.label)
    each = [
        f"{percent(float(share))} ({len(part.plane)} of {total}) around {site_text(found, part)}"
        for share, part in zip(shares, found.parts, strict=True)
    ]
    return f"In {len(each)} clusters with empty ground between them: {'; '.join(each)}."


def _all_over(found: LandingFindings) -> str:
    assert found.where is not None
    said = (
        f"Over much of {found.data.body}: {percent(found.far)} of the landings rest on the far "
        "side, more than 90° from the median site. There is no single middle, and no ellipse "
        "describes it."
    )
    if not found.on_globe:
        return said
    latitude = np.degrees(frames.latitude_longitude(found.data.rest[found.data.settled])[0])
    low, high = np.quantile(latitude, [0.05, 0.95])
    return f"{said} 90 % rest between latitudes {_north(low)} and {_north(high)}."


def _north(degrees: float) -> str:
    return f"{abs(degrees):.0f}° {'N' if degrees >= 0.0 else 'S'}"


def when(found: LandingFindings) -> str:
    """Settling times."""
    times = found.spread(SETTLE)
    if times is None:
        return "Never: no landing came to rest in the simulated time."
    median, late = times.quantiles[0.5], times.quantiles[0.95]
    unit = words.time(median.value)
    if np.isfinite(found.known[SETTLE]).sum() == 1:
        return f"{unit(median.value)} after release."
    return (
        f"{with_interval(median, unit)} after release in the median. "
        f"95 % of the landings that settle are at rest within {with_interval(late, unit)}."
    )


def how_hard(found: LandingFindings) -> str:
    """Speeds of impact, and forces where hits have them."""
    speeds, hardest, forces = (found.spread(name) for name in (FIRST, HARDEST, FORCE))
    if speeds is None or hardest is None or forces is None:
        return "It never touched the ground."
    unit = words.speed(hardest.quantiles[0.95].value)
    median, force = speeds.quantiles[0.5], forces.quantiles[0.5]
    newton = words.newton(0.0)
    if found.data.runs == 1:
        return _one_hit(found, unit)
    runs = "runs" if speeds.n == found.data.runs else f"{speeds.n} runs that touch the ground"
    said = (
        f"The first impact is at {with_interval(median, words.speed(median.value))} towards the "
        "ground in the median; "
        f"in 95 % of the {runs} no impact exceeds {unit(hardest.quantiles[0.95].value)}."
    )
    if not found.data.forces:
        return f"{said} The law of contact is rigid: a hit takes no time and has no force."
    return (
        f"{said} The largest force of the ground is {with_interval(force, newton)} in the median "
        f"and below {newton(forces.quantiles[0.95].value)} in 95 %; it depends on the "
        "stiffness that the scenario gives to the contact."
    )


def _one_hit(found: LandingFindings, unit: words.Unit) -> str:
    """The speeds and the force of the only run."""
    first, hardest, force = (float(found.known[n][0]) for n in (FIRST, HARDEST, FORCE))
    said = f"The first impact, at {unit(first)} towards the ground, is the hardest."
    if first < hardest:
        said = f"The first impact is at {unit(first)} towards the ground, "
        said += f"the hardest at {unit(hardest)}."
    if not found.data.forces:
        return f"{said} The law of contact is rigid: a hit takes no time and has no force."
    return (
        f"{said} The largest force of the ground is {words.newton(0.0)(force)}; it depends on the "
        "stiffness that the scenario gives to the contact."
    )


_CUT_SHORT = {
    Outcome.TIMED_OUT: "were still moving at the end of the simulated time",
    Outcome.OUT_OF_STEPS: "were still moving when their allowed number of steps was used up",
}


def lost(found: LandingFindings) -> str:
    """How often it escapes or tips over, and how else runs ended."""
    runs = found.data.runs
    first, *others = found.losses
    told = [first, *(one for one in others if one.count and not one.asked)]
    said = " ".join(_share(one) for one in told)
    for outcome in STILL_MOVING:
        if found.count(outcome):
            part = percent(found.count(outcome) / runs)
            said += f" {part} ({found.count(outcome)}) {_CUT_SHORT[outcome]}."
    return said + "".join(f" {line}." for line in stops_said(found.data.stops, runs))


def _share(one: Loss) -> str:
    """How many runs are lost so, in the present where some are and in the past where none is."""
    if one.count:
        return said_of(one)
    return none_of(one.share.n, one.share.high, "runs", one.verb.did, one.verb.many)


def middle_text(found: LandingFindings) -> str:
    """The median place: latitude and longitude on a body, target axes where there is none."""
    assert found.where is not None
    return site_text(found, found.where)


def site_text(found: LandingFindings, where: Footprint) -> str:
    """The median place of some landings."""
    if found.on_globe:
        return place_text(*where.latitude_longitude)
    unit = words.length(float(np.abs(where.origin).max()))
    x, y, z = words.row([float(part) / unit.size for part in where.origin])
    return f"x = {x}, y = {y}, z = {z} {unit.name}"


def place_text(latitude: float, longitude: float) -> str:
    """``20.1° N, 40.3° E`` of angles in radians."""
    lat, lon = float(np.degrees(latitude)), float(np.degrees(longitude)) % 360.0
    return f"latitude {abs(lat):.2f}° {'N' if lat >= 0.0 else 'S'}, longitude {lon:.2f}° E"


# -- warnings ---------------------------------------------------------------------------------


def warnings(found: LandingFindings) -> list[str]:
    """What a reader must know before trusting the numbers."""
    told = []
    for outcome, key in zip(STILL_MOVING, ("stop.max_time", "stop.max_steps"), strict=True):
        late = found.count(outcome)
        if late > (0.01 * found.data.runs if outcome == Outcome.TIMED_OUT else 0):
            told.append(
                f"{percent(late / found.data.runs)} of the runs {_CUT_SHORT[outcome]}: settling "
                f"times and rest sites leave them out. A larger {key} would show how they end."
            )
    return told + _inside(found) + _full_strokes(found) + _deep_contact(found)


def _full_strokes(found: LandingFindings) -> list[str]:
    """Legs at the end of their strokes."""
    full = found.bottomed
    if full is None or not full.any():
        return []
    return [
        f"In {int(full.sum())} of {found.data.runs} landings a leg is crushed to the end of its "
        "stroke. From there on it is a stiff spring: forces and accelerations of these landings "
        "depend on its stiffness, and a real leg would break or hit its stop."
    ]


def _deep_contact(found: LandingFindings) -> list[str]:
    """Hits so much faster than springs are set for that contact goes deeper than it should.

    Springs of the clipped scheme follow the speed of each hit; those of the smooth one do not.
    """
    contact = found.data.scenario.get("contact", {})
    depth, speed = (_si(contact.get(name)) for name in ("depth", "speed"))
    if contact.get("scheme") != "smooth" or contact.get("stiffness"):
        return []
    if depth is None or speed is None:
        return []
    hits = found.values(HARDEST)
    deep = int(np.sum(hits > 2.0 * speed))
    if not deep:
        return []
    most = depth * float(hits.max()) / speed
    return [
        f"{deep} of {found.data.runs} landings hit more than twice as fast as contact.speed = "
        f"{contact['speed']}, for which the springs of contact are set: they go deeper than "
        f"contact.depth = {contact['depth']}, at most about {1e3 * most:.2g} mm. A larger "
        "contact.speed makes contact stiffer."
    ]


#: Units in which a scenario may give what is read here, in SI.
_SIZES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3}


def _si(text: object) -> float | None:
    """A quantity of the resolved scenario [SI]; None where it is none that is known here."""
    number, _, unit = str(text or "").partition(" ")
    try:
        return float(number) * _SIZES[unit.strip()]
    except (ValueError, KeyError):
        return None


def _inside(found: LandingFindings) -> list[str]:
    """What stands in landers at rest, between the points by which they touch."""
    depth = found.data.table.get(DEPTH)
    if depth is None or not (deep := int(np.sum(depth > DEEP))):
        return []
    at_rest, most = int(np.sum(np.isfinite(depth))), float(np.nanmax(depth))
    return [
        f"In {deep} of {at_rest} landings at rest, ground and lander overlap by more "
        f"than {words.quoted(1e3 * DEEP)} mm, at most by {words.length(most)(most)}: between the "
        "points by which a lander touches, nothing holds it. More points (lander.points) help; on "
        'ground.kind = "facets", with rocks or without, the whole hull touches unless '
        f'contact.touch is "points". The column {DEPTH} has the depth of each run.'
    ]


# -- tables -----------------------------------------------------------------------------------


ELLIPSE_HEAD = ["holds", "semi-axes", "area", "95 % interval of the area"]


def ellipse_rows(found: LandingFindings) -> list[list[str]]:
    """Share, semi-axes, area and its interval of each ellipse."""
    rows = []
    for e in found.ellipses:
        unit = words.length(e.semi_major)
        area = words.area(found.ellipses[0].area.value)
        axes = f"{unit.of(e.semi_major)} × {unit(e.semi_minor)}"
        given = (e.area.value, e.area.low, e.area.high)
        value, low, high = (words.quoted(float(f"{x / area.size:.3g}")) for x in given)
        ends = f"{low} to {high} {area.name}" if np.isfinite(given).all() else "–"
        rows.append([f"{100 * e.share:.0f} %", axes, f"{value} {area.name}", ends])
    return rows

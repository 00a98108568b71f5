"""What a report says in sentences and tables: numbers with units and intervals, in plain words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from alight.analysis.intervals import Estimate
from alight.analysis.settling import DEEP
from alight.core.outcomes import FIRST_OWN, OF_STOPS, STILL_MOVING, Outcome
from alight.views import report_light, report_loads, words
from alight.views.estimate_words import (
    SPREAD_HEAD,
    interval,
    percent,
    range_text,
    spread_cells,
    with_interval,
)
from alight.views.report_data import DEPTH
from alight.views.report_numbers import (
    COUNT,
    FAR,
    FIRST,
    FORCE,
    HARDEST,
    PATH,
    SETTLE,
    TOUCH,
    Findings,
    Told,
    azimuth,
)

#: What the intervals of a page are.
INTERVALS = (
    "Intervals are of 95 % and say what the number of runs leaves open, for the scenario as it "
    "stands below."
)


def answers(found: Findings) -> list[tuple[str, str]]:
    """(question, answer) of the four things that a user comes for, and of loads and light."""
    told = [
        ("Where does it come to rest?", _where(found)),
        ("When?", _when(found)),
        ("How hard does it hit?", _how_hard(found)),
        ("How often is it lost?", _lost(found)),
    ]
    if found.data.articulated:
        told.append((report_loads.QUESTION, report_loads.answer(found)))
    if isinstance(found.light, str):
        told.append((report_light.QUESTION, f"Not known. {found.light}"))
    elif found.light is not None:
        told.append((report_light.QUESTION, report_light.answer(found.light)))
    return told


def _where(found: Findings) -> str:
    where = found.where
    if where is None:
        return "Nowhere: no landing came to rest in the simulated time."
    said = f"Around {middle_text(found)}."
    half, most = found.ellipse(0.50), found.ellipse(0.95)
    if half is not None and most is not None:
        unit, (first, second) = words.length(most.semi_major), found.data.axes
        said += (
            " Half of the landings that settle rest within an ellipse of "
            f"{unit.of(half.semi_major)} × {unit(half.semi_minor)}, 95 % within "
            f"{unit.of(most.semi_major)} × {unit(most.semi_minor)} "
            f"(semi-axes; the long one points {round(azimuth(most)) % 180}° from {second} "
            f"to {first})."
        )
    elif found.far > FAR:
        part = percent(found.far)
        said += f" But {part} of them rest on the far side: no ellipse would tell where."
    else:
        said += " They are too few, or too much in line, for ellipses."
    return said


def _when(found: Findings) -> str:
    times = found.spread(SETTLE)
    if times is None:
        return "Never: no landing came to rest in the simulated time."
    median, late = times.quantiles[0.5], times.quantiles[0.95]
    unit = words.time(median.value)
    return (
        f"{with_interval(median, unit)} after release in the median. "
        f"95 % of the landings that settle are at rest within {with_interval(late, unit)}."
    )


def _how_hard(found: Findings) -> str:
    speeds, hardest, forces = (found.spread(name) for name in (FIRST, HARDEST, FORCE))
    if speeds is None or hardest is None or forces is None:
        return "It never touched the ground."
    unit = words.speed(hardest.quantiles[0.95].value)
    median, force = speeds.quantiles[0.5], forces.quantiles[0.5]
    newton = words.Unit("N", 1.0)
    said = (
        f"The first impact is at {with_interval(median, unit)} towards the ground in the median; "
        f"in 95 % of the runs no impact exceeds {unit(hardest.quantiles[0.95].value)}."
    )
    if not found.data.forces:
        return f"{said} The law of contact is rigid: a hit takes no time and has no force."
    return (
        f"{said} The largest force of the ground is {with_interval(force, newton)} in the median "
        f"and below {newton(forces.quantiles[0.95].value)} in 95 %; it depends on the "
        "stiffness that the scenario gives to the contact."
    )


_CUT_SHORT = {
    Outcome.TIMED_OUT: "were still moving at the end of the simulated time",
    Outcome.OUT_OF_STEPS: "were still moving when their allowed number of steps was used up",
}


def _lost(found: Findings) -> str:
    runs = found.data.runs
    if found.data.articulated:
        said = _share(found, Outcome.TIPPED_OVER, found.tipped, ("tip over", "tipped over"))
        if found.count(Outcome.ESCAPED):
            said += " " + _share(found, Outcome.ESCAPED, found.lost, ("escape", "escaped"))
    else:
        said = _share(found, Outcome.ESCAPED, found.lost, ("escape", "escaped"))
    for outcome in STILL_MOVING:
        if found.count(outcome):
            part = percent(found.count(outcome) / runs)
            said += f" {part} ({found.count(outcome)}) {_CUT_SHORT[outcome]}."
    return said + _stopped(found)


def _stopped(found: Findings) -> str:
    """Runs that the scenario's stops ended, each way by its sentence."""
    said = ""
    for outcome, count in found.data.outcomes.items():
        if outcome in OF_STOPS or int(outcome) >= FIRST_OWN:
            part = percent(count / found.data.runs)
            said += f" {part} ({count}) ended by a stop: {outcome.message}."
    return said


def _share(found: Findings, outcome: Outcome, part: Estimate, verb: tuple[str, str]) -> str:
    """How many runs ended so, in the present where some did and in the past where none did."""
    runs, count = found.data.runs, found.count(outcome)
    now, then = verb
    if count:
        return f"{percent(part.value)} of the runs {now} ({count} of {runs}; {interval(part)})."
    none = f"The only run did not {now}" if runs == 1 else f"None of the {runs} runs {then}"
    return f"{none}: with 95 % confidence fewer than {percent(part.high)} do."


def middle_text(found: Findings) -> str:
    """The median place: latitude and longitude on a body, target axes on a plane."""
    where = found.where
    assert where is not None
    if found.data.level is None:
        return place_text(*where.latitude_longitude)
    unit = words.length(float(np.abs(where.origin).max()))
    x, y, z = words.row([float(part) / unit.size for part in where.origin])
    return f"x = {x}, y = {y}, z = {z} {unit.name}"


def place_text(latitude: float, longitude: float) -> str:
    """``20.1° N, 40.3° E`` of angles in radians."""
    lat, lon = float(np.degrees(latitude)), float(np.degrees(longitude)) % 360.0
    return f"latitude {abs(lat):.2f}° {'N' if lat >= 0.0 else 'S'}, longitude {lon:.2f}° E"


# -- warnings ---------------------------------------------------------------------------------


def warnings(found: Findings) -> list[str]:
    """What a reader must know before trusting the numbers."""
    data = found.data
    told = []
    if data.runs < data.planned:
        told.append(
            f"The campaign is unfinished: {data.runs} of {data.planned} runs are there, and the "
            "report is about these."
        )
    if found.failed:
        told.append(
            f"{found.failed} of {data.runs} runs failed ({percent(found.failed / data.runs)})"
            ": they have no place of rest and count as neither settled nor lost."
        )
    for outcome, key in zip(STILL_MOVING, ("stop.max_time", "stop.max_steps"), strict=True):
        late = found.count(outcome)
        if late > 0.01 * data.runs:
            told.append(
                f"{percent(late / data.runs)} of the runs {_CUT_SHORT[outcome]}: settling times "
                f"and rest sites leave them out. A larger {key} would include them."
            )
    return told + _inside(found)


def _inside(found: Findings) -> list[str]:
    """What stands in landers at rest, between the points by which they touch."""
    depth = found.data.table.get(DEPTH)
    if depth is None or not (deep := int(np.sum(depth > DEEP))):
        return []
    at_rest, most = int(np.sum(np.isfinite(depth))), float(np.nanmax(depth))
    return [
        f"In {deep} of {at_rest} landings at rest, ground and lander stand in each other by more "
        f"than {words.length(DEEP)(DEEP)}, at most by {words.length(most)(most)}: between the "
        "points by which a lander touches, nothing holds it. More points (lander.points) help; on "
        'ground.kind = "facets", with rocks or without, the whole hull touches unless '
        f'contact.touch is "points". The column {DEPTH} has the depth of each run.'
    ]


# -- tables -----------------------------------------------------------------------------------


OUTCOME_HEAD = ["outcome", "runs", "share", "95 % interval", "meaning"]


def outcome_rows(found: Told) -> list[list[str]]:
    """Outcome, runs, share, interval, what it means."""
    rows = []
    for outcome, count in found.data.outcomes.items():
        part = found.share(outcome)
        name = outcome.name.lower().replace("_", " ")
        rows.append([name, str(count), percent(part.value), range_text(part), outcome.message])
    return rows


QUANTITY_HEAD = ["quantity", *SPREAD_HEAD]

#: Column, what it is called, and how its unit is chosen.
_QUANTITIES: tuple[tuple[str, str, Callable[[float], words.Unit]], ...] = (
    (SETTLE, "time from release to rest", words.time),
    (TOUCH, "time from release to first contact", words.time),
    (COUNT, "contacts", lambda _: words.Unit("", 1.0)),
    (PATH, "way of the centre of mass", words.length),
    (FIRST, "speed of the first impact", words.speed),
    (HARDEST, "speed of the hardest impact", words.speed),
    (FORCE, "largest normal force", words.newton),
)


def quantity_rows(found: Findings) -> list[list[str]]:
    """Quantity, median with interval, what 5, 95 and 99 % of the runs stay below, the greatest."""
    rows = []
    for column, label, choose in _QUANTITIES:
        if column == FORCE and not found.data.forces:
            continue
        known = found.spread(column)
        if known is None:
            rows.append([label, *["–"] * 5])
            continue
        unit = choose(known.quantiles[0.5].value)
        tell = "{:.0f}".format if column == COUNT else words.number
        title = f"{label} [{unit.name}]" if unit.name else label
        rows.append([title, *spread_cells(known, unit, tell)])
    return rows


ELLIPSE_HEAD = ["holds", "semi-axes", "area", "95 % interval of the area"]


def ellipse_rows(found: Findings) -> list[list[str]]:
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


SOBOL_HEAD = ["outcome", "share of its variance that one input explains (95 % interval)"]


def sobol_rows(found: Told, most: int = 3) -> list[list[str]]:
    """Each outcome with the inputs whose first-order Sobol index stands clear of 0."""
    told = found.sobol
    rows = []
    for k, output in enumerate(told.outputs if told else ()):
        assert told is not None
        said: list[str] = []
        for name in told.strongest(output):
            i = told.inputs.index(name)
            value, low, high = (float(part[i, k]) for part in (told.value, told.low, told.high))
            if low > 0.0 and value >= 0.005 and len(said) < most:
                said.append(f"{name} {100 * value:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)")
        rows.append([output, "; ".join(said) or "none alone"])
    return rows

"""The section of hops: where they went, how far from where they meant to, how long they took, how
often they were stuck, and what they used."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from alight.analysis import hops as found_hops
from alight.analysis.hops import RESULTS, Hops, hops_of
from alight.analysis.intervals import Estimate, wilson
from alight.core.errors import InputError
from alight.views import estimates, words
from alight.views.estimates import SPREAD_HEAD, spread_cells
from alight.views.figures.landing.hops import draw_plan, draw_spreads
from alight.views.report.findings import PARTS, quantile_numbers
from alight.views.report.landing.findings import LandingFindings
from alight.views.report.section import Figure, Paragraph, Part, Section, Table

QUESTION = "How do its hops go?"
#: What the page tells of each quantity: its name and how its unit is chosen.
_SHOWN = (
    (found_hops.TAKEOFF, "speed at take-off", words.speed),
    (found_hops.AIR, "time of the first flight", words.time),
    (found_hops.FLIGHT, "distance of the first flight", words.length),
    (found_hops.FIRST_MISS, "first contact from where it was meant", words.length),
    (found_hops.WAY, "distance from start to rest", words.length),
    (found_hops.MISS, "rest from where the flight was meant to end", words.length),
    (found_hops.DURATION, "time from start to rest", words.time),
    (found_hops.WHEEL, "fastest wheel", words.always("rad/s")),
    (found_hops.ENERGY, "most energy in the wheels", words.always("J")),
)
_NAMES = {
    "hopped": "left the ground and rested again",
    "moved": "moved without flight",
    "stuck": "stayed where it was",
    "lost": "did not come to rest again",
}
#: Columns of runs that say whether a lander has done what its manoeuvres are for.
_AIMS = {
    "arrived": "Does it rest in the goal of its plan?",
    "upright": "Does it come to rest upright?",
}
#: Hops of single numbers that have a row of their own, at most.
_EACH = 12


def read_hops(found: LandingFindings) -> Hops | None:
    """Those of a campaign; None where its lander has no manoeuvres."""
    campaign = found.data.campaign
    try:
        table = campaign.read("hops", list(found_hops.NEEDED))
    except InputError:
        return None
    columns: dict[str, Any] = {}
    for name in found_hops.NEEDED:
        values = table[name].to_pylist()
        plain = values if name == "result" else [np.nan if v is None else v for v in values]
        columns[name] = np.array(plain, dtype=object if name == "result" else np.float64)
    return hops_of(columns)


def section(found: LandingFindings) -> Section:
    """All of it; nothing where no hop was made."""
    hops = read_hops(found)
    if hops is None:
        return Section()
    if not hops.count:
        return Section("Hops", [Paragraph("No manoeuvre was begun.")], [(QUESTION, "None began.")])
    reached = _reached(found)
    said = [(question, _share_words(share)) for question, share in reached.values()]
    numbers = {name: [s.value, s.low, s.high] for name, (_, s) in reached.items()}
    return Section(
        "Hops",
        list(_parts(found, hops)),
        [*said, (QUESTION, answer(hops))],
        numbers={**_numbers(hops), **numbers},
    )


def _reached(found: LandingFindings) -> dict[str, tuple[str, Estimate]]:
    """What manoeuvres are for, by the column of runs that says whether it was reached."""
    campaign, out = found.data.campaign, {}
    for name, question in _AIMS.items():
        if name in campaign.schema("runs").names:
            rows = campaign.read("runs", [name])[name].to_numpy(zero_copy_only=False)
            out[name] = question, wilson(int((rows == 1).sum()), len(rows))
    return out


def _share_words(share: Estimate) -> str:
    return f"{estimates.percent(share.value)} of runs ({estimates.interval(share)})."


def answer(hops: Hops) -> str:
    """In a sentence or a few."""
    each = hops.per_run
    said = f"{hops.count} hops were begun in {len(each)} runs"
    said += f", {np.median(each):g} a run in the median"
    way, miss = hops.spread(found_hops.WAY), hops.spread(found_hops.MISS)
    if way is not None:
        unit = words.length(way.quantiles[0.5].value)
        said += f"; they end {_median(way, unit)} from where they began"
    if miss is not None:
        unit = words.length(miss.quantiles[0.5].value)
        said += f", {_median(miss, unit)} from where their flight was to end"
    stuck, lost = hops.share("stuck"), hops.share("lost")
    said += f". {_part(stuck, 'is stuck', 'are stuck')} ({estimates.interval(stuck)})"
    said += f", {_part(lost, 'does not', 'do not').lower()} come to rest again."
    if hops.limited:
        said += f" Wheels were too slow for {hops.limited} of them."
    return said


def _part(share: Estimate, one: str, many: str) -> str:
    """What a share of the hops does; none is more than 0 %."""
    return f"{estimates.percent(share.value)} {many}" if share.value else f"None {one}"


def _median(known: Any, unit: words.Unit) -> str:
    low, middle, high = (words.number(known.quantiles[p].value / unit.size) for p in PARTS[:3])
    return f"{middle} {unit.name} (middle 90 %: {low} to {high} {unit.name})"


def _parts(found: LandingFindings, hops: Hops) -> Iterator[Part]:
    yield Figure(
        "hops_plan",
        partial(draw_plan, found, hops),
        "Lines from where hops began to where they rested, seen from above",
        "Hops seen from above, as straight lines to where each rested (orange); those of a run are "
        "fainter from one to the next. Triangle: where the first one began.",
    )
    yield Figure(
        "hops",
        partial(draw_spreads, hops),
        "Histograms of how far hops go, how far off they are and how long they take",
        "Orange: the median. Grey: the middle 90 %.",
    )
    shares = [hops.share(name) for name in RESULTS]
    yield Table(
        ["result", "hops", "share", "95 % interval"],
        [
            [
                _NAMES[name], str(int((hops.results == name).sum())),
                estimates.percent(share.value), estimates.range_text(share),
            ]
            for name, share in zip(RESULTS, shares, strict=True)
        ],
        (1, 2, 3),
    )  # fmt: skip
    rows = [row for one in _SHOWN if (row := _row(hops, *one)) is not None]
    yield Table(["quantity", *SPREAD_HEAD], rows, range(1, 1 + len(SPREAD_HEAD)))
    last = int(hops.number[hops.made].max())
    if last > 0:
        yield Table(
            ["hop", "begun", "left the ground", "stuck", "median distance", "median miss"],
            [_numbered(hops, k) for k in range(min(last + 1, _EACH))],
            range(1, 6),
        )


def _row(hops: Hops, column: str, label: str, choose: Any) -> list[str] | None:
    known = hops.spread(column)
    if known is None or known.n == 0:
        return None
    unit = choose(known.quantiles[0.5].value)
    return [f"{label} [{unit.name}]", *spread_cells(known, unit)]


def _numbered(hops: Hops, number: int) -> list[str]:
    """One row: the hops of one number."""
    these = hops.made & (hops.number == number)
    counts = [int((these & (hops.results == name)).sum()) for name in ("hopped", "stuck")]
    told = []
    for column in (found_hops.WAY, found_hops.MISS):
        known = hops.spread(column, number)
        told.append("–" if known is None else _length(known.quantiles[0.5].value))
    return [str(number + 1), str(int(these.sum())), *map(str, counts), *told]


def _length(value: float) -> str:
    unit = words.length(value)
    return f"{words.number(value / unit.size)} {unit.name}"


def _numbers(hops: Hops) -> dict[str, Any]:
    out: dict[str, Any] = {
        "count": hops.count,
        "results": {name: int((hops.results == name).sum()) for name in RESULTS},
        "limited": hops.limited,
    }
    for column, _, _ in _SHOWN:
        known = hops.spread(column)
        out[column] = None if known is None else quantile_numbers(known)
    return {"hops": out}

"""A report on a sweep: everything against what was swept, and no statement of confidence.

Runs of a sweep are chosen, not drawn: how many of them do something says nothing of how likely it
is. The page shows what each combination did, and counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.analysis.columns import Array
from alight.views import words
from alight.views.estimates import plain_name
from alight.views.figures.sweep import draw_sweep
from alight.views.report import common, requirements
from alight.views.report.inputs import Input, name_of
from alight.views.report.section import Figure, Part, Section, Table, named

if TYPE_CHECKING:
    from alight.views.report.findings import Findings, Quantity

#: What stands below the answers of such a page.
SWEPT = (
    "The runs go through chosen values, and are no random sample: shares and middles of them say "
    "nothing of likelihood, and have no intervals."
)

#: Combinations in the table, at most, and quantities beside them.
ROWS, COLUMNS = 60, 6


@dataclass(frozen=True, eq=False)
class Axis:
    """What was swept: a number, or a list of values that have no order."""

    label: str
    unit: words.Unit
    values: Array
    """(n,) of each run, in that unit; of what is no number, which of the values it is, from 1."""
    told: Sequence[str]
    """The distinct values in words, ascending."""
    number: bool

    @property
    def distinct(self) -> Array:
        """Values, ascending."""
        return np.unique(self.values)

    def text(self, value: float) -> str:
        """A value in words."""
        return self.told[int(np.argmin(np.abs(self.distinct - value)))]


def axes_of(found: Findings[Any]) -> list[Axis]:
    """What was swept, that with most values first."""
    made = [_axis(key, found) for key in found.swept]
    return sorted(made, key=lambda axis: -len(axis.told))


def _axis(key: str, found: Findings[Any]) -> Axis:
    parts = [one for one in found.data.inputs if one.key == key]
    if len(parts) == 1:
        return _number(parts[0])
    columns = [p.values for p in parts] or _columns(key, found)
    rows, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    unit = parts[0].shown if parts else words.Unit("", 1.0)
    texts = [", ".join(words.row([float(x) / unit.size for x in row])) for row in rows]
    told = [f"({text}) {unit.name}".rstrip() for text in texts]
    values = np.asarray(which, dtype=np.float64).reshape(-1) + 1.0
    return Axis(name_of(key), words.Unit("", 1.0), values, told, number=False)


def _columns(key: str, found: Findings[Any]) -> list[Array]:
    """The numbers of a key that are no inputs, as those of an attitude."""
    names = [n for n in found.data.campaign.schema().names if n.startswith(f"{key}_")]
    return [found.data.column(name) for name in names]


def _number(one: Input) -> Axis:
    unit = one.shown
    values = np.array([float(f"{x / unit.size:.12g}") for x in one.values])
    told = [words.quoted(float(x)) for x in np.unique(values)]
    name = f" {unit.name}".rstrip().replace(" °", "°")
    return Axis(one.label, unit, values, [text + name for text in told], number=True)


def shown(found: Findings[Any]) -> list[Quantity]:
    """Quantities that some run has."""
    return [one for one in found.quantities if found.spread(one.column) is not None]


# -- the sections -----------------------------------------------------------------------------


def sweep_sections(kind: Any) -> list[Callable[[Any], Section]]:
    """The sections of a page about a sweep of some kind of runs."""
    return [requirements.section, opening, swept, *kind.single, endings, common.computed,
            common.scenario]  # fmt: skip


def opening(found: Findings[Any]) -> Section:
    """Whether the campaign is whole."""
    return common.opening(found, "have no values", found.things)


def swept(found: Findings[Any]) -> Section:
    """Every quantity against what was swept."""
    axes = axes_of(found)
    names = named(axis.label for axis in axes)
    figure = Figure(
        "sweep",
        partial(draw_sweep, found, axes, shown(found)),
        f"How {found.things} end, and their quantities, against {names}",
        _caption(found, axes),
    )
    parts: list[Part] = [figure, *_table(found, axes)]
    return Section(
        f"Against {names}", parts, [("What does the sweep show?", said(found, axes))],
        numbers={"swept": [axis.label for axis in axes]},
    )  # fmt: skip


def _caption(found: Findings[Any], axes: Sequence[Axis]) -> str:
    text = "Dots: single runs."
    if len(axes) == 1:
        return f"{text} Line: the median at each value."
    if len(axes) == 2:
        return f"{text} Lines: medians, one for each value of {axes[1].label}."
    return f"{text} Line: the median at each value of {axes[0].label}, over all the others."


def said(found: Findings[Any], axes: Sequence[Axis]) -> str:
    """How many runs, how they ended, and from where to where each quantity goes."""
    runs = found.data.runs
    combos, which = combinations(axes)
    each = "once" if runs == len(combos) else f"{runs / len(combos):g} times"
    ends = ", ".join(f"{n} {plain_name(way.name)}" for way, n in found.data.outcomes.items())
    text = f"{len(combos)} combinations of {named(a.label for a in axes)}, run {each}: {ends}."
    what = "" if runs == len(combos) else "median "
    told = (_ends(found, one, what, axes, combos, which) for one in shown(found)[:3])
    return " ".join([text, *told])


def combinations(axes: Sequence[Axis]) -> tuple[Array, Any]:
    """(k, axes) distinct combinations of values, and (n,) which of them each run has."""
    stacked = np.stack([axis.values for axis in axes], axis=1)
    combos, which = np.unique(stacked, axis=0, return_inverse=True)
    return combos, which.reshape(-1)


def _place(axes: Sequence[Axis], combos: Array) -> str:
    """``a release azimuth of 135° and a release speed of 4 cm/s``: what the combinations (k, axes)
    have in common; how many they are where that is nothing."""
    same = [k for k in range(len(axes)) if (combos[:, k] == combos[0, k]).all()]
    if not same:
        return f"{len(combos)} of the combinations"
    return named(f"{_a(axes[k].label)} of {axes[k].text(float(combos[0, k]))}" for k in same)


def _a(label: str) -> str:
    return f"{'an' if label[:1].lower() in 'aeiou' else 'a'} {label}"


def _ends(
    found: Findings[Any],
    one: Quantity,
    what: str,
    axes: Sequence[Axis],
    combos: Array,
    which: Any,
) -> str:
    """The smallest and the largest of a quantity over all combinations, and where they are: at all
    that read the same."""
    values = found.known[one.column]
    middle = np.array([_median(values[which == k]) for k in range(len(combos))])
    unit = one.choose(float(np.nanmedian(middle)))
    read = np.array([_read(one, float(x), unit, True) for x in middle])
    least, most = (_read(one, float(f(middle)), unit, True) for f in (np.nanmin, np.nanmax))
    some = "" if np.isfinite(middle).all() else " where it is known"
    if least == most:
        return f"The {what}{one.label} is {least} throughout{some}."
    low, high = (_place(axes, combos[read == text]) for text in (least, most))
    return f"The {what}{one.label} is smallest at {low} ({least}) and largest at {high} ({most})."


def _read(one: Quantity, value: float, unit: words.Unit, named_unit: bool = False) -> str:
    """A value as it is read: what is counted has no digits that say nothing."""
    if one.whole and value == round(value):
        return f"{value:.0f}"
    return unit(value) if named_unit else unit.of(value)


def _median(values: Array) -> float:
    """Of those that are known; nan where none is."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan


def medians(values: Array, axis: Axis, here: Any = None) -> Array:
    """(k,) median of what runs have at each value of an axis; nan where none has it."""
    out = []
    for value in axis.distinct:
        out.append(_median(values[(axis.values == value) & (True if here is None else here)]))
    return np.array(out)


def _table(found: Findings[Any], axes: Sequence[Axis]) -> list[Table]:
    """What each combination did: counts of endings, and medians where it was run repeatedly."""
    combos, which = combinations(axes)
    if len(combos) > ROWS:
        return []
    quantities = shown(found)[:COLUMNS]
    units = [q.choose(float(np.nanmedian(found.known[q.column]))) for q in quantities]
    pairs = list(zip(quantities, units, strict=True))
    heads = [f"{q.label} [{u.name}]" if u.name else q.label for q, u in pairs]
    rows = []
    for k, combo in enumerate(combos):
        own = np.flatnonzero(which == k)
        cells = [axis.text(float(v)) for axis, v in zip(axes, combo, strict=True)]
        cells.append(_ended(found, own))
        for one, unit in pairs:
            middle = _median(found.known[one.column][own])
            cells.append("–" if np.isnan(middle) else _read(one, middle, unit))
        rows.append(cells)
    head = [*(axis.label for axis in axes), "ended", *heads]
    return [Table(head, rows, range(len(axes) + 1, len(head)))]


def _ended(found: Findings[Any], own: Any) -> str:
    codes = found.data.codes[own]
    told = []
    for way in found.data.outcomes:
        if n := int((codes == int(way)).sum()):
            told.append(plain_name(way.name) if n == len(codes) else f"{n} {plain_name(way.name)}")
    return ", ".join(told)


def endings(found: Findings[Any]) -> Section:
    """Every ending with the number of runs that had it."""
    rows = [[plain_name(way.name), str(n), way.message] for way, n in found.data.outcomes.items()]
    return Section("How runs ended", [Table(["outcome", "runs", "meaning"], rows, (1,))])

"""``alight.compare``: what differs between campaigns, each number with its interval and test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.analysis.columns import Array, Bools
from alight.analysis.intervals import Estimate, quantile, wilson
from alight.analysis.rest_light import LightOf
from alight.analysis.two_samples import LEVEL, Tested, holm, share_difference, value_difference
from alight.campaign.reader import Campaign
from alight.core.compile_notice import reported
from alight.core.html import facts_html
from alight.core.progress import Progress, progress
from alight.core.stages import stage
from alight.views.compare.quantities import Measured, measured
from alight.views.compare.sides import (
    Changed,
    Pair,
    Side,
    changed_circumstances,
    changed_values,
    sides_of,
)
from alight.views.estimates import plain_name
from alight.views.report.requirements import Judged
from alight.views.words import Unit

if TYPE_CHECKING:
    from alight.views.report.files import Report


@dataclass(frozen=True)
class Against:
    """One campaign against the first."""

    tested: Tested | None
    """None where there is nothing to test."""
    p: float | None = None
    """Chance of a difference as large where there is none, corrected for all comparisons."""

    @property
    def differs(self) -> bool:
        """Whether a difference was found."""
        return self.p is not None and self.p < LEVEL


@dataclass(frozen=True)
class Row:
    """One thing that is compared."""

    label: str
    column: str
    """Of the table of runs, or ``share of`` an outcome."""
    unit: Unit
    values: tuple[Estimate, ...]
    """Share or median of each campaign."""
    against: tuple[Against, ...]
    """Every campaign but the first."""
    ranges: tuple[tuple[float, float], ...] = ()
    """What 5 % and 95 % of the runs of each campaign stay below; none of shares."""
    share: bool = False
    whole: bool = False
    """True of what is counted."""


class Comparison:
    """Some campaigns of one kind, those after the first each against the first."""

    def __init__(self, sides: Sequence[Side], show: str | Progress = "silent") -> None:
        self.sides = list(sides)
        self.pairs = [Pair(self.first, other) for other in self.sides[1:]]
        self.scenario: list[Changed] = changed_values(self.sides)
        """What differs in the resolved scenarios."""
        self.circumstances: list[Changed] = changed_circumstances(self.sides)
        """Runs, devices and versions that differ."""
        self.measured = measured(self.sides)
        rows = self._rows(show)
        self.shares = [row for row in rows if row.share]
        self.quantities = [row for row in rows if not row.share]

    @property
    def first(self) -> Side:
        """What the others are compared with."""
        return self.sides[0]

    @property
    def kind(self) -> str:
        """Kind of all campaigns."""
        return self.first.found.kind

    @property
    def rows(self) -> list[Row]:
        """Everything that is compared: shares of outcomes, then medians of quantities."""
        return [*self.shares, *self.quantities]

    @property
    def tests(self) -> int:
        """How many comparisons were made, which all chances are corrected for."""
        return sum(one.p is not None for row in self.rows for one in row.against)

    @cached_property
    def requirements(self) -> dict[str, list[Judged | None]]:
        """The verdict of each campaign on what any of them requires; None where it does not."""
        own = [{one.name: one for one in side.found.judged} for side in self.sides]
        names = dict.fromkeys(name for told in own for name in told)
        return {name: [told.get(name) for told in own] for name in names}

    def differing(self, number: int = 0) -> list[Row]:
        """Rows in which campaign ``number`` after the first was found to differ."""
        return [row for row in self.rows if row.against[number].differs]

    # -- comparing ----------------------------------------------------------------------------

    def _rows(self, show: str | Progress) -> list[Row]:
        ways = self._ways
        with progress(show) as bar:
            bar.start("Comparing", total=len(ways) + len(self.measured))
            rows = []
            for name, hits in ways.items():
                rows.append(self._share_row(name, hits))
                bar.advance()
            for one in self.measured:
                rows.append(self._quantity_row(one))
                bar.advance()
        return _corrected(rows)

    @cached_property
    def _ways(self) -> dict[str, list[Bools]]:
        """By outcome that any run has: which runs of each campaign ended so."""
        names = dict.fromkeys(way.name for side in self.sides for way in side.found.data.outcomes)
        found = {
            plain_name(name): [side.found.data.ended(name.upper()) for side in self.sides]
            for name in names
        }
        success = [getattr(side.found.data, "success", None) for side in self.sides]
        if all(hit is not None for hit in success):
            found = {"success": [np.asarray(hit) for hit in success], **found}
        return found

    def _share_row(self, name: str, hits: list[Bools]) -> Row:
        values = self._sure(wilson(int(hit.sum()), len(hit)) for hit in hits)
        against = []
        for pair, other in zip(self.pairs, hits[1:], strict=True):
            a, b = pair.rows((hits[0], other))
            found = share_difference(a, b, pair.paired) if pair.tested else None
            against.append(Against(found))
        unit = Unit("%", 0.01)
        return Row(name, f"share of {name}", unit, values, tuple(against), share=True)

    def _sure(self, values: Iterable[Estimate]) -> tuple[Estimate, ...]:
        """One value a campaign, without an interval where runs are no random sample."""
        pairs = zip(values, self.sides, strict=True)
        nan = float("nan")
        return tuple(v if s.drawn else replace(v, low=nan, high=nan) for v, s in pairs)

    def _quantity_row(self, one: Measured) -> Row:
        values = self._sure(quantile(known, 0.5) for known in one.values)
        ranges = tuple(_range(known) for known in one.values)
        against = []
        for pair, other in zip(self.pairs, one.values[1:], strict=True):
            a, b = pair.rows((one.values[0], other))
            found = value_difference(a, b, pair.paired) if pair.tested else None
            against.append(Against(found))
        given = one.quantity
        unit = given.choose(_size(values, ranges))
        told = (given.label, given.column, unit, values, tuple(against), ranges)
        return Row(*told, whole=given.whole)

    def same_runs(self, number: int = 0) -> tuple[int, int] | None:
        """Of the runs that are compared in pairs: those whose every number is the same, and all;
        None where they are not in pairs."""
        pair = self.pairs[number]
        if pair.common is None:
            return None
        same = np.ones(len(pair.common), dtype=bool)
        columns = [*self._ways.values(), *(one.values for one in self.measured)]
        for values in columns:
            a, b = pair.rows((values[0], values[number + 1]))
            same &= (a == b) | ((a != a) & (b != b))
        return int(same.sum()), len(same)

    # -- telling ------------------------------------------------------------------------------

    def write(self, out: str | os.PathLike[str], show: str | Progress = "auto") -> Report:
        """Write the page, which needs nothing else; ``out`` is a .html file or a folder."""
        from alight.views.compare.writing import write

        return write(self, Path(out), show)

    def to_dict(self) -> dict[str, Any]:
        """Everything for scripts, in SI units and in those that columns end in."""
        from alight.views.compare.numbers import numbers

        return numbers(self)

    def __str__(self) -> str:
        from alight.views.compare.words import summary

        return "\n".join(summary(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from alight.views.compare.words import answers

        names = " and ".join(side.name for side in self.sides)
        return facts_html(f"Comparison of {names}", answers(self))


def _range(known: Array) -> tuple[float, float]:
    """What 5 % and 95 % of the values stay below; nan where there is none."""
    values = known[np.isfinite(known)]
    low, high = np.quantile(values, [0.05, 0.95]) if len(values) else (np.nan, np.nan)
    return float(low), float(high)


def _size(values: Sequence[Estimate], ranges: Sequence[tuple[float, float]]) -> float:
    """What the unit of a quantity is chosen by: its median, or its reach on both sides of 0."""
    ends = [x for ends in ranges for x in ends if np.isfinite(x)]
    if ends and min(ends) < 0.0 < max(ends):
        return max(map(abs, ends))
    return max((abs(one.value) for one in values if np.isfinite(one.value)), default=0.0)


def _corrected(rows: Iterable[Row]) -> list[Row]:
    """The rows with chances corrected for the number of all comparisons."""
    listed = list(rows)
    found = [one.tested.p for row in listed for one in row.against if one.tested is not None]
    better = iter(holm(found))
    return [
        replace(
            row,
            against=tuple(
                one if one.tested is None else replace(one, p=next(better)) for one in row.against
            ),
        )
        for row in listed
    ]


def compare(
    *campaigns: Campaign | str | os.PathLike[str],
    show: str | Progress = "auto",
    light: Callable[[Campaign], LightOf] | None = None,
) -> Comparison:
    """What differs between campaigns of one kind, each after the first against the first.

    ``print`` it, ``write`` it as a page, or read ``scenario``, ``shares`` and ``quantities``. ::

        found = alight.compare("out/soft", "out/hard")
        found.differing()
        found.write("out/comparison.html")

    Requirements on light are judged with ``light``, as ``alight compare`` does.
    """
    with reported(show), stage("Comparing"):
        return Comparison(sides_of(campaigns, show, light), show)

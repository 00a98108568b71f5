"""What reports of every kind find: how runs ended, how quantities are spread, what drives them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from alight.analysis.columns import Array, Bools
from alight.analysis.convergence import Convergence
from alight.analysis.intervals import Estimate, Spread, spread, wilson
from alight.analysis.rest_light import RestLight
from alight.analysis.sensitivity import Sensitivity, rank_correlation, sobol_first_order
from alight.core.requirements import OUTCOME, Requirement
from alight.views import words
from alight.views.report.data import CampaignData
from alight.views.report.losses import Loss, Verb
from alight.views.report.requirements import FAILS, Judged, failing, judged

#: Parts of the runs below the values of the table of quantities.
PARTS = (0.05, 0.5, 0.95, 0.99)

#: Rows that sensitivities are taken over, at most: the noise of a correlation is then 0.005.
RANKED = 200_000

#: Fewer runs than this make no ellipse and no correlation.
FEW = 20

D = TypeVar("D", bound=CampaignData)


@dataclass(frozen=True)
class Quantity:
    """A column that the page has a row for."""

    column: str
    label: str
    choose: Callable[[float], words.Unit]
    """Its unit, from its median."""
    whole: bool = False
    """True of what is counted."""


@dataclass(frozen=True)
class Trend:
    """An answer whose growth with the runs is shown."""

    name: str
    """In the analysis."""
    title: str
    choose: Callable[[float], words.Unit]


class Findings(Generic[D]):
    """What a report says, each number computed once; kinds of runs add their own."""

    #: The kind of scenario, and what its runs are called.
    kind = ""
    things = "runs"
    #: Answers whose convergence is shown.
    trends: tuple[Trend, ...] = ()

    def __init__(self, data: D) -> None:
        self.data = data

    # -- how runs ended -----------------------------------------------------------------------

    def part(self, hit: Bools) -> Estimate:
        """The share of runs for which it holds."""
        return wilson(int(hit.sum()), self.data.runs)

    def count(self, code: int) -> int:
        """Runs that ended so."""
        return int(np.count_nonzero(self.data.codes == int(code)))

    def share(self, code: int) -> Estimate:
        """Share of the runs that ended so."""
        return wilson(self.count(code), self.data.runs)

    @property
    def failed(self) -> Bools:
        """(n,) ended for a numerical reason."""
        return self.data.failed

    # -- quantities ---------------------------------------------------------------------------

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The columns that the page reports."""
        raise NotImplementedError

    @cached_property
    def known(self) -> dict[str, Array]:
        """Quantities of each run by column; nan for runs that have none."""
        raise NotImplementedError

    @cached_property
    def _spreads(self) -> dict[str, Spread]:
        return {name: spread(values, PARTS) for name, values in self.known.items()}

    def spread(self, column: str) -> Spread | None:
        """How a quantity is spread over the runs that have it; None where no run does."""
        found = self._spreads[column]
        return found if found.n else None

    def values(self, column: str) -> Array:
        """The quantity of the runs that have it."""
        return self.known[column][np.isfinite(self.known[column])]

    # -- requirements and sweeps --------------------------------------------------------------

    @property
    def swept(self) -> list[str]:
        """Keys that a sweep goes through; empty where runs are a random sample."""
        return self.data.campaign.sweep_keys

    @cached_property
    def judged(self) -> list[Judged]:
        """The requirements of the scenario, and what the runs say of them."""
        labels = {q.column: q.label for q in self.quantities}
        return judged(self.data.campaign, labels, self.light_for)

    def light_for(self, asked: Requirement) -> RestLight | str:
        """What computes the light that a requirement asks for; or why nothing does."""
        return f"{asked.column} is of landings: others have no rest site."

    def _failing(self) -> list[Loss]:
        """Failing a requirement, as a kind of loss; outcomes that few may have are one already."""
        return [
            self.loss(f"requirement_{k}", f"Requirement: {one.name}", FAILS, failing(one))
            for k, one in enumerate(self.judged, 1)
            if (one.requirement.at_least or one.requirement.kind != OUTCOME) and one.verdict.runs
        ]

    # -- losses -------------------------------------------------------------------------------

    @cached_property
    def losses(self) -> list[Loss]:
        """Every kind of loss that these runs can have, whether or not one had it."""
        return [*self._losses(), *self._failing()]

    def _losses(self) -> list[Loss]:
        """Those that the kind of runs has."""
        return []

    @cached_property
    def uncertain(self) -> dict[str, tuple[Array, words.Unit]]:
        """What losses are held against, by name, with the unit to show it in."""
        return {one.label: (one.values, one.shown) for one in self.data.scalars}

    def loss(self, stem: str, title: str, verb: Verb, hit: Bools, of: Bools | None = None) -> Loss:
        """A kind of loss over all that is uncertain; it could happen to runs ``of``, or to all."""
        whole = np.ones(len(hit), dtype=np.bool_) if of is None else of
        return Loss(stem, title, verb, hit, whole, whole & ~self.failed, self.uncertain)

    # -- sensitivity and convergence ----------------------------------------------------------

    @property
    def convergence(self) -> Convergence:
        """What the first runs alone would have said."""
        raise NotImplementedError

    def _drivers(self) -> dict[str, Array]:
        """Inputs by their names on the page."""
        return {one.label: one.values for one in self.data.inputs}

    def _outputs(self) -> dict[str, Array]:
        """Outputs by their names on the page."""
        raise NotImplementedError

    @cached_property
    def _both(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Inputs and the outputs that some run has; every k-th run where there are many."""
        every = -(-self.data.runs // RANKED)
        inputs, outputs = (
            {name: values[::every] for name, values in found.items()}
            for found in (self._drivers(), self._outputs())
        )
        return inputs, {name: v for name, v in outputs.items() if np.isfinite(v).any()}

    @property
    def has_outputs(self) -> bool:
        """Whether some run has what inputs could be held against."""
        return bool(self._both[1])

    @property
    def ranked(self) -> int:
        """Runs that sensitivities are taken over."""
        return len(next(iter(self._both[1].values())))

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """Rank correlations; None without inputs or with few runs."""
        if self.data.runs < FEW or not self._drivers() or not self.has_outputs:
            return None
        return rank_correlation(*self._both)

    @cached_property
    def sobol(self) -> Sensitivity | None:
        """First-order Sobol indices; None without inputs or with few runs."""
        return sobol_first_order(*self._both) if self.sensitivity is not None else None

    # -- for scripts --------------------------------------------------------------------------

    def summary(self) -> dict[str, object]:
        """What every report has: the campaign, and how its runs ended."""
        return {
            "kind": self.kind,
            "title": self.data.title,
            "runs": self.data.runs,
            "planned_runs": self.data.planned,
            "outcomes": {way.name.lower(): n for way, n in self.data.outcomes.items()},
        }


def quantile_numbers(found: Spread) -> dict[str, object]:
    """Quantiles by name, for scripts."""
    return {
        "median" if p == 0.5 else f"p{100 * p:02.0f}": plain(e) for p, e in found.quantiles.items()
    }


def plain(found: Estimate) -> dict[str, float | None]:
    """For JSON, which has no nan."""
    ends = {"value": found.value, "low": found.low, "high": found.high}
    return {name: float(value) if math.isfinite(value) else None for name, value in ends.items()}

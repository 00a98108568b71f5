"""The numbers of a report, from the functions of the room ``analysis``, each computed once."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from alight.analysis.columns import Array
from alight.analysis.convergence import Convergence, convergence
from alight.analysis.footprint import Ellipse, Footprint, ellipses, footprint
from alight.analysis.intervals import Estimate, Spread, wilson
from alight.analysis.loads import ACCELERATION, STROKE, TILT, LoadSpread, greatest, loads
from alight.analysis.sensitivity import Sensitivity, rank_correlation, sobol_first_order
from alight.analysis.settling import Settling, read_runs, settling
from alight.core.errors import InputError
from alight.core.outcomes import AnyEnding, Outcome
from alight.views import words
from alight.views.report_data import CampaignData, Data
from alight.views.report_light import Light, light_of

#: Columns that the page is about, by short names.
SETTLE, TOUCH, COUNT, PATH = "settle_time_s", "first_contact_time_s", "bounces", "path_m"
FIRST, HARDEST = "first_contact_normal_speed_m_per_s", "hardest_normal_speed_m_per_s"
FORCE = "peak_force_N"

#: Parts of the runs below the values of the table of quantities.
PARTS = (0.05, 0.5, 0.95, 0.99)

#: Rows that sensitivities are taken over, at most: the noise of a correlation is then 0.005.
RANKED = 200_000

#: Fewer runs than this make no ellipse and no correlation.
FEW = 20

#: More of the landings than this on the far side, and a tangent plane says little.
FAR = 0.05

#: Outcomes that inputs are held against, by their names on the page.
OUTPUTS = {
    "settling time": SETTLE,
    "contacts": COUNT,
    "first impact speed": FIRST,
    "peak force": FORCE,
    "hardest impact speed": HARDEST,
}

#: Those of them that say little about a lander on legs, and what is told of it instead.
_NOT_OF_LEGS = ("contacts", "first impact speed")
_OF_LEGS = {"peak acceleration": ACCELERATION, "largest stroke": STROKE, "largest tilt": TILT}


#: An answer whose growth with the runs is shown: name in the analysis, title, unit of a value.
Trend = tuple[str, str, Callable[[float], words.Unit]]


class Told:
    """What reports of all kinds say: how runs ended, what drives it, whether runs are enough."""

    #: What a run is of, for readers.
    things = "runs"
    #: Answers whose convergence is shown.
    trends: tuple[Trend, ...] = ()

    def __init__(self, data: CampaignData) -> None:
        self._common = data

    @property
    def data(self) -> CampaignData:
        """What it is told from."""
        return self._common

    def count(self, outcome: AnyEnding) -> int:
        """Runs that ended so."""
        return self._common.outcomes.get(outcome, 0)

    def share(self, outcome: AnyEnding) -> Estimate:
        """Share of the runs that ended so."""
        return wilson(self.count(outcome), self._common.runs)

    @property
    def convergence(self) -> Convergence:
        """What the first runs alone would have said."""
        raise NotImplementedError

    # -- sensitivity --------------------------------------------------------------------------

    def _drivers(self) -> dict[str, Array]:
        """Inputs by their names on the page."""
        return {one.label: one.values for one in self._common.inputs}

    def _outputs(self) -> dict[str, Array]:
        """Outputs by their names on the page."""
        raise NotImplementedError

    @cached_property
    def _both(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Inputs and outputs; every k-th run where there are many."""
        every = -(-self._common.runs // RANKED)
        inputs, outputs = (
            {name: values[::every] for name, values in found.items()}
            for found in (self._drivers(), self._outputs())
        )
        return inputs, outputs

    @property
    def ranked(self) -> int:
        """Runs that sensitivities are taken over."""
        return len(next(iter(self._both[1].values())))

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """Rank correlations; None without inputs or with few runs."""
        if self._common.runs < FEW or not self._drivers():
            return None
        return rank_correlation(*self._both)

    @cached_property
    def sobol(self) -> Sensitivity | None:
        """First-order Sobol indices; None without inputs or with few runs."""
        return sobol_first_order(*self._both) if self.sensitivity is not None else None


class Findings(Told):
    """Everything that the page of landings and its figures say."""

    things = "landings"
    trends = (
        (f"median {SETTLE}", "Median settling time", words.time),
        ("ellipse_area_m2", "Area of the 95 % ellipse", words.area),
        (f"median {FORCE}", "Median largest force", words.newton),
        (f"median {HARDEST}", "Median speed of the hardest impact", words.speed),
        ("escaped", "Share that escapes", words.share),
        ("tipped_over", "Share that tips over", words.share),
    )

    def __init__(self, data: Data) -> None:
        super().__init__(data)
        self._data = data

    @property
    def data(self) -> Data:
        """What it is told from."""
        return self._data

    @cached_property
    def known(self) -> dict[str, Array]:
        """Quantities of each run by column; nan for runs that have none."""
        return read_runs(self.data.table)

    @cached_property
    def settling(self) -> Settling:
        """Shares of outcomes, and how the quantities are spread."""
        return settling(self.data.table, PARTS)

    @cached_property
    def where(self) -> Footprint | None:
        """Where landings rest; None if none does."""
        data = self.data
        return footprint(data.rest, data.level) if data.settled.any() else None

    @property
    def far(self) -> float:
        """Part of the landings on the far side of the body; a plane has none."""
        on_body = self.where is not None and self.data.level is None
        return self.where.far_share if self.where is not None and on_body else 0.0

    @cached_property
    def ellipses(self) -> list[Ellipse]:
        """Ellipses that hold 50, 95 and 99 % of these landings, as far as their number allows."""
        where = self.where
        if where is None or len(where.plane) < FEW or self.far > FAR:
            return []
        try:
            found = ellipses(where.plane)
        except InputError:  # all places on one line: no ellipse has that shape
            return []
        enough = [e for e in found if len(where.plane) * (1.0 - e.share) >= 1.0 - 1e-9]
        return [e for e in enough if e.kind == "empirical"]

    def ellipse(self, share: float) -> Ellipse | None:
        """The ellipse of a share, where there is one."""
        return next((e for e in self.ellipses if e.share == share), None)

    @cached_property
    def light(self) -> Light | str | None:
        """Light where landings rest, or why it is not known; None where nobody asks."""
        return light_of(self.data)

    # -- sensitivity --------------------------------------------------------------------------

    def _outputs(self) -> dict[str, Array]:
        """Outputs by their names on the page."""
        known, places = self.known, dict[str, Array]()
        if self.where is not None:
            local = (self.data.rest - self.where.origin) @ self.where.R_TL[:, :2]
            places = {f"rest place, {a}": c for a, c in zip(self.data.axes, local.T, strict=True)}
        outputs = {name: known[column] for name, column in OUTPUTS.items()}
        del outputs["hardest impact speed" if self.data.forces else "peak force"]
        if self.data.articulated:
            outputs = {n: a for n, a in outputs.items() if n not in _NOT_OF_LEGS}
            outputs |= self._of_legs()
        return {**outputs, **places}

    def _of_legs(self) -> dict[str, Array]:
        """What inputs are held against of articulated landers, by its name on the page."""
        touched = self.data.table["first_contact_time_s"]
        found = {n: greatest(self.data.loads, kind, touched) for n, kind in _OF_LEGS.items()}
        tipped = (self.data.table["outcome_code"] == Outcome.TIPPED_OVER).astype(np.float64)
        told = {n: a for n, a in found.items() if np.isfinite(a).any()}
        return {**told, "tipping over": tipped}

    @cached_property
    def loads(self) -> list[LoadSpread]:
        """What articulated landers bear; empty for rigid ones."""
        return loads(self.data.loads, self.data.table["first_contact_time_s"], PARTS)

    # -- convergence --------------------------------------------------------------------------

    @cached_property
    def convergence(self) -> Convergence:
        """What the first runs alone would have said."""
        rest = {name: self.data.table[name] for name in ("rest_x_m", "rest_y_m", "rest_z_m")}
        hard = FORCE if self.data.forces else HARDEST
        found = convergence({**self.known, **rest}, (SETTLE, hard))
        # What rigid landers cannot do, or legs seldom do, needs no panel.
        found.answers.pop("escaped" if self.data.articulated else "tipped_over")
        return found

    # -- shares and quantiles -----------------------------------------------------------------

    @property
    def lost(self) -> Estimate:
        """Share of runs that escape."""
        return self.settling.share(Outcome.ESCAPED)

    @property
    def tipped(self) -> Estimate:
        """Share of runs that tip over."""
        return self.settling.share(Outcome.TIPPED_OVER)

    @property
    def failed(self) -> int:
        """Runs that ended for a numerical reason."""
        return sum(n for outcome, n in self.data.outcomes.items() if outcome.failed)

    def spread(self, column: str) -> Spread | None:
        """How a quantity is spread; None where no run has it."""
        found = self.settling.spreads[column]
        return found if found.n else None

    def values(self, column: str) -> Array:
        """The quantity of the runs that have it."""
        found = self.known[column]
        return found[np.isfinite(found)]

    def numbers(self) -> dict[str, object]:
        """The key numbers, SI and degrees, for scripts."""
        told: dict[str, object] = {
            "title": self.data.title,
            "runs": self.data.runs,
            "planned_runs": self.data.planned,
            "outcomes": {o.name.lower(): n for o, n in self.data.outcomes.items()},
            "settled_share": plain(self.settling.share(Outcome.SETTLED)),
            "escaped_share": plain(self.lost),
            "rest": None if self.where is None else self._where_numbers(self.where),
            "light": self.light.numbers() if isinstance(self.light, Light) else None,
        }
        if self.data.articulated:
            told["tipped_over_share"] = plain(self.tipped)
            told["loads"] = self._load_numbers()
        for column in (SETTLE, TOUCH, COUNT, PATH, FIRST, HARDEST, FORCE):
            found = self.spread(column)
            if column == FORCE and not self.data.forces:
                found = None
            told[column] = found and quantile_numbers(found)
        return told

    def _load_numbers(self) -> dict[str, object]:
        """Quantiles of every load by its column; of several parts, the greatest without a part."""
        return {
            "_".join(part for part in (load.kind.start, load.part, load.kind.unit) if part): (
                quantile_numbers(load.spread) if load.spread.n else None
            )
            for load in self.loads
        }

    def _where_numbers(self, where: Footprint) -> dict[str, object]:
        latitude, longitude = np.degrees(where.latitude_longitude)
        return {
            "x_m": float(where.origin[0]),
            "y_m": float(where.origin[1]),
            "z_m": float(where.origin[2]),
            "latitude_deg": float(latitude) if self.data.level is None else None,
            "longitude_deg": float(longitude) if self.data.level is None else None,
            "far_side_share": self.far,
            "ellipses": [
                {
                    "share": e.share,
                    "semi_major_m": e.semi_major,
                    "semi_minor_m": e.semi_minor,
                    "azimuth_deg": azimuth(e),
                    "area_m2": plain(e.area),
                }
                for e in self.ellipses
            ],
        }


def azimuth(ellipse: Ellipse) -> float:
    """Direction of the long axis from north to east, 0 to 180 [deg]."""
    return float((90.0 - np.degrees(ellipse.angle)) % 180.0)


def quantile_numbers(found: Spread) -> dict[str, object]:
    """Quantiles by name, for scripts."""
    return {
        "median" if p == 0.5 else f"p{100 * p:02.0f}": plain(e) for p, e in found.quantiles.items()
    }


def plain(found: Estimate) -> dict[str, float | None]:
    """For JSON, which has no nan."""
    ends = {"value": found.value, "low": found.low, "high": found.high}
    return {name: value if math.isfinite(value) else None for name, value in ends.items()}

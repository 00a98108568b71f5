"""The numbers of a report of captures, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from alight.analysis import captures
from alight.analysis.bins import binned, varies
from alight.analysis.columns import Array, Bools
from alight.analysis.convergence import Convergence, growth
from alight.analysis.intervals import Estimate
from alight.views import words
from alight.views.figures.capture.endings import ENDS
from alight.views.report.capture.data import AT_REST, HELD, UNSETTLED, CaptureData
from alight.views.report.findings import Findings, Quantity, Trend, plain, quantile_numbers
from alight.views.report.losses import NOT_HELD, Loss

#: Inputs that shares are shown over, at most.
PANELS = 6

#: Parameters that every table has, as a reader knows them: name, unit, size of the unit.
PARAMETERS = {
    "spin_rpm": ("spin", "rpm", 1.0),
    "mass_kg": ("mass", "t", 1e3),
    "friction": ("friction", "", 1.0),
    "length_m": ("length", "m", 1.0),
}

#: Outcomes that inputs are held against, by their names on the page.
OUTPUTS = {
    "time to rest": "settle_s",
    "bending moment": "bending_nm",
    "slip": "slip_m",
    "axis from the pair's spin": "axis_deg",
    "thrust that the spin takes": "needed_n",
}


QUANTITIES = (
    Quantity("contact_s", "time to first contact", words.always("s")),
    Quantity("settle_s", "time from contact to rest", words.always("s")),
    Quantity("bending_nm", "bending moment at a drive assembly", words.always("N m")),
    Quantity("torsion_nm", "torsion about a boom", words.always("N m")),
    Quantity("force_n", "force between asteroid and fabric", words.always("N")),
    Quantity("depth_m", "depth in the fabric", words.always("m")),
    Quantity("slip_m", "path of slip", words.always("m")),
    Quantity("relative_rpm", "craft against asteroid at the end", words.always("rpm")),
    Quantity("pair_rpm", "spin of the pair at the end", words.always("rpm")),
    Quantity("axis_deg", "craft's axis from that spin", words.always("°")),
    Quantity("offset_m", "craft from the axis of that spin", words.always("m")),
    Quantity("needed_n", "thrust that this spin takes", words.always("N")),
    Quantity("propellant_kg", "propellant", words.always("kg")),
)


class CaptureFindings(Findings[CaptureData]):
    """Everything that the page of captures and its figures say."""

    kind, things = "capture", "captures"
    trends = (
        Trend("success", "Share that is held", words.share),
        Trend("at rest", "Share at rest in the end", words.share),
        Trend("p95 bending_nm", "Bending moment that 95 % stay below", words.always("N m")),
        Trend("median settle_s", "Median time from contact to rest", words.time),
    )

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The columns that the page reports."""
        return QUANTITIES

    @cached_property
    def known(self) -> dict[str, Array]:
        """Quantities of each run by column; nan for runs that have none."""
        return captures.known_of(self.data.table, self.data.kept, self.data.ended(HELD, AT_REST))

    @cached_property
    def limit(self) -> float:
        """Bending moment that the drive assemblies stand [N m]; the least where it varies."""
        found = captures.limit_of(self.data.table)
        return float(f"{np.nanmin(found):.9g}") if np.isfinite(found).any() else float("nan")

    @cached_property
    def duration(self) -> float:
        """Time that captures are followed for [s]."""
        return float(self.data.table["end_s"].max())

    # -- shares -------------------------------------------------------------------------------

    @property
    def success(self) -> Estimate:
        """In contact at the end, and never beyond the limit."""
        return self.part(self.data.success)

    @property
    def resting(self) -> Bools:
        """(n,) in contact and at rest."""
        return self.data.ended(HELD, AT_REST) & self.data.success

    @property
    def lasting(self) -> Bools:
        """(n,) held with no drift that would end it."""
        return self.data.ended(HELD) & self.data.success

    @property
    def overloaded(self) -> Bools:
        """(n,) beyond the limit at any time, whatever became of them."""
        return np.asarray(self.data.table["margin"] < 0.0)

    @property
    def touched(self) -> Bools:
        """(n,) came into contact."""
        return np.isfinite(self.data.table["contact_s"])

    @property
    def failed(self) -> Bools:
        """(n,) ended for a numerical reason; what comes beyond the rim the model knows of."""
        return self.data.failed & ~self.data.ended("RIM")

    @cached_property
    def ends(self) -> dict[str, Bools]:
        """The runs that ended in each of the ways of ``ENDS`` that occur; together they are all."""
        data = self.data
        found = {name: data.ended(name) for name in ENDS}
        found["OVERLOADED"] = data.kept & ~data.success
        for name in (HELD, AT_REST, UNSETTLED):
            found[name] = found[name] & data.success
        found["FAILED"] = self.failed
        found["STOPPED"] = data.stopped
        return {name: hit for name, hit in found.items() if hit.any()}

    # -- what varies --------------------------------------------------------------------------

    @cached_property
    def drivers(self) -> dict[str, tuple[Array, words.Unit]]:
        """What varies from run to run, by its name on the page, with the unit to show it in."""
        units = {label: words.Unit(unit, size) for label, unit, size in PARAMETERS.values()}
        own = {PARAMETERS[name][0]: self.data.table[name] for name in captures.PARAMETERS}
        others = [(one.label, one.values) for one in self.data.scalars]
        units |= {one.label: one.shown for one in self.data.scalars}
        return {n: (a, units[n]) for n, a in captures.distinct(own, others).items()}

    @property
    def panels(self) -> dict[str, tuple[Array, words.Unit]]:
        """Those of them that shares are shown over; single components of vectors tell little."""
        whole = [(n, found) for n, found in self.drivers.items() if "," not in n]
        return dict(whole[:PANELS])

    @property
    def shown(self) -> dict[str, tuple[Array, words.Unit]]:
        """As many of them as leave room for a panel of shapes."""
        return dict(list(self.panels.items())[: PANELS - self.mixed])

    @property
    def mixed(self) -> bool:
        """Whether asteroids of several shapes were captured."""
        return len(self.data.shapes) > 1 and varies(self.data.table["shape"])

    def _losses(self) -> list[Loss]:
        """What is not held."""
        return [self.loss("not_held", "Not held", NOT_HELD, ~self.data.success)]

    @property
    def uncertain(self) -> dict[str, tuple[Array, words.Unit]]:
        """What losses are held against, by name, with the unit to show it in."""
        return self.drivers

    def _drivers(self) -> dict[str, Array]:
        return {name: values for name, (values, _) in self.drivers.items()}

    def _outputs(self) -> dict[str, Array]:
        held = self.data.success.astype(np.float64)
        return {"being held": held, **{n: self.known[column] for n, column in OUTPUTS.items()}}

    @cached_property
    def convergence(self) -> Convergence:
        """What the first runs alone would have said."""
        return growth(
            {"success": self.data.success, "at rest": self.resting},
            {
                "p95 bending_nm": (self.known["bending_nm"], 0.95),
                "median settle_s": (self.known["settle_s"], 0.5),
            },
        )

    def numbers(self) -> dict[str, object]:
        """The key numbers of the runs for scripts; columns say their units."""
        told: dict[str, object] = {
            "duration_s": self.duration,
            "success_share": plain(self.success),
            "at_rest_share": plain(self.part(self.resting)),
            "held_for_good_share": plain(self.part(self.lasting)),
            "beyond_limit_share": plain(self.part(self.overloaded)),
            "bending_limit_nm": self.limit if np.isfinite(self.limit) else None,
            "margin_least": self._least_margin(),
        }
        for column in captures.QUANTITIES:
            found = self.spread(column)
            told[column] = found and {**quantile_numbers(found), "greatest": found.most}
        clearance = self.spread("clearance_m")
        told["clearance_least_m"] = clearance and clearance.least
        told["success_by"] = {name: self._by(*found) for name, found in self.panels.items()}
        return told

    def _least_margin(self) -> float | None:
        found = self.data.table["margin"]
        return float(found.min()) if np.isfinite(found).any() else None

    def _by(self, values: Array, unit: words.Unit) -> list[dict[str, object]]:
        """Success over an input, in the unit that it is shown in."""
        return [
            {"low": b.low / unit.size, "high": b.high / unit.size, "unit": unit.name,
             "runs": b.share.n, "success": plain(b.share)}
            for b in binned(values, self.data.success)
        ]  # fmt: skip

"""The numbers of a report of drops, each computed once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from alight.analysis.bins import varies
from alight.analysis.columns import Array, Bools
from alight.analysis.convergence import Convergence, growth
from alight.views import words
from alight.views.report.drop.data import DropData
from alight.views.report.findings import Findings, Quantity, Trend, plain, quantile_numbers

QUANTITIES = (
    Quantity("first_contact_s", "time from release to first contact", words.always("s")),
    Quantity("in_contact_s", "time from first contact until it last leaves", words.always("s")),
    Quantity("depth_m", "largest depth below the suspension plane", words.always("m")),
    Quantity("force_n", "largest force of the fabric", words.newton),
    Quantity("tension_n_per_m", "largest tension of the fabric", words.always("N/m")),
    Quantity("impact_m_s", "speed of the lowest point at contact", words.always("m/s")),
    Quantity("rebound_m_s", "speed of the lowest point as it last leaves", words.always("m/s")),
    Quantity("restitution", "the one over the other", words.bare),
    Quantity("slip_m", "path of slip along the fabric", words.always("m")),
    Quantity("fabric_share", "share of the energy lost in the fabric", words.share),
    Quantity("friction_share", "share lost to friction", words.share),
    Quantity("motion_share", "share that is motion at the end", words.share),
    Quantity("stored_share", "share that strains the fabric at the end", words.share),
)

#: Where the energy went: the column of a share, and what it is called.
SHARES = {
    "fabric_share": "lost in the fabric",
    "friction_share": "lost to friction",
    "motion_share": "motion at the end",
    "stored_share": "strain of the fabric at the end",
}

#: Outcomes that inputs are held against, by their names on the page.
OUTPUTS = {
    "depth": "depth_m",
    "force": "force_n",
    "time in contact": "in_contact_s",
    "rebound speed": "rebound_m_s",
    "slip": "slip_m",
    "share lost to friction": "friction_share",
}


class DropFindings(Findings[DropData]):
    """Everything that the page of drops and its figures say."""

    kind, things = "drop", "drops"
    trends = (
        Trend("left", "Share that comes off again", words.share),
        Trend("p95 depth_m", "Depth that 95 % stay above", words.always("m")),
        Trend("p95 force_n", "Force that 95 % stay below", words.newton),
        Trend("median in_contact_s", "Median time in contact", words.always("s")),
    )

    # -- who ----------------------------------------------------------------------------------

    @property
    def touched(self) -> Bools:
        """(n,) came upon the membrane."""
        return np.isfinite(self.data.table["first_contact_s"])

    @property
    def left(self) -> Bools:
        """(n,) came off it again, at least once."""
        return np.isfinite(self.data.table["release_s"])

    @property
    def rim(self) -> Bools:
        """(n,) reached past the rim, which ends a run."""
        return self.data.ended("RIM")

    @property
    def failed(self) -> Bools:
        """(n,) ended for a numerical reason; what comes beyond the rim the model knows of."""
        return self.data.failed & ~self.rim

    @property
    def staying(self) -> Bools:
        """(n,) on the membrane from the first contact to the end."""
        return self.touched & ~self.left & ~self.data.failed & ~self.data.stopped

    @cached_property
    def duration(self) -> float:
        """Time that drops are followed for [s]."""
        return float(self.data.table["end_s"].max())

    # -- quantities ---------------------------------------------------------------------------

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The columns that the page reports."""
        return tuple(one for one in QUANTITIES if one.column in self.known)

    @cached_property
    def known(self) -> dict[str, Array]:
        """Quantities of each run by column; nan for runs that have none.

        A run that was cut short has loads up to then, but no final slip and no shares.
        """
        table, whole = self.data.table, self.touched & ~self.data.failed
        lasted = table["release_s"] - table["first_contact_s"]
        found = {"in_contact_s": np.where(whole, lasted, np.nan)}
        found["slip_m"] = np.where(whole, table["slip_m"], np.nan)
        for name in ("first_contact_s", "depth_m", "force_n", "tension_n_per_m", "impact_m_s"):
            if name in table:
                found[name] = np.where(self.touched, table[name], np.nan)
        if "rebound_m_s" in table:
            found["rebound_m_s"] = np.where(whole, table["rebound_m_s"], np.nan)
            found["restitution"] = found["rebound_m_s"] / table["impact_m_s"]
            found |= self._shares(whole)
        return found

    def _shares(self, whole: Bools) -> dict[str, Array]:
        """Where the energy went that each body brought."""
        table = self.data.table
        brought = np.where(whole & (table["brought_j"] > 0.0), table["brought_j"], np.nan)
        columns = (("fabric", "damped_j"), ("friction", "rubbed_j"), ("motion", "moving_j"))
        found = {f"{name}_share": table[column] / brought for name, column in columns}
        stored = 1.0 - np.sum(list(found.values()), axis=0)
        # Less than the steps of a run get wrong is nothing.
        found["stored_share"] = np.where(np.abs(stored) < 1e-4, 0.0, stored)
        return found

    @property
    def accounted(self) -> bool:
        """Whether it is known where the energy went."""
        return "fabric_share" in self.known and self.spread("fabric_share") is not None

    # -- what varies --------------------------------------------------------------------------

    @property
    def varied(self) -> tuple[str, Array, words.Unit] | None:
        """A single number that varies, to show shares over: name, values, unit; None if none."""
        for one in self.data.inputs:
            if "," not in one.label and varies(one.values):
                return one.label, one.values, words.Unit(one.unit, 1.0)
        return None

    def _outputs(self) -> dict[str, Array]:
        return {name: self.known[c] for name, c in OUTPUTS.items() if c in self.known}

    @cached_property
    def convergence(self) -> Convergence:
        """What the first runs alone would have said."""
        return growth(
            {"left": self.left},
            {
                "p95 depth_m": (self.known["depth_m"], 0.95),
                "p95 force_n": (self.known["force_n"], 0.95),
                "median in_contact_s": (self.known["in_contact_s"], 0.5),
            },
        )

    def numbers(self) -> dict[str, object]:
        """The key numbers of the runs for scripts; columns say their units."""
        told: dict[str, object] = {
            "duration_s": self.duration,
            "left_share": plain(self.part(self.left)),
            "staying_share": plain(self.part(self.staying)),
            "rim_share": plain(self.part(self.rim)),
            "missed_share": plain(self.part(~self.touched)),
        }
        for one in self.quantities:
            found = self.spread(one.column)
            told[one.column] = found and {**quantile_numbers(found), "greatest": found.most}
        return told

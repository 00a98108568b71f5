"""What a report of drops on a membrane is made from: columns, and trajectories of single runs."""

from __future__ import annotations

from dataclasses import dataclass

from alight.campaign.reader import Campaign
from alight.views.report.data import CampaignData, read_common, schema_of

#: Columns that every table of drops has.
NEEDED = (
    "run", "outcome", "end_s", "first_contact_s", "slack_s", "release_s", "contacts", "depth_m",
    "tension_n_per_m", "force_n", "slip_m",
)  # fmt: skip

#: Columns that tables of old do not have: speeds, and where the energy went.
LATER = ("impact_m_s", "rebound_m_s", "brought_j", "moving_j", "damped_j", "rubbed_j")

#: Dispersed columns that begin so hold numbers without an order.
UNORDERED = ("release.attitude", "carrier.attitude", "body.shapes")


@dataclass(frozen=True, eq=False)
class DropData(CampaignData):
    """A campaign of drops; its table has the columns of ``NEEDED``, and may have ``LATER``."""

    @property
    def untitled(self) -> str:
        """What is done."""
        return "Drops on a membrane"


def read(campaign: Campaign) -> DropData:
    """Read the columns of ``campaign`` that a report needs."""
    known = schema_of(campaign).names
    wanted = [*NEEDED, *(name for name in LATER if name in known)]
    return DropData(**read_common(campaign, wanted, "outcome", without=UNORDERED))

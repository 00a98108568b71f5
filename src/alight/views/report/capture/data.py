"""What a report of captures is made from: columns of the campaign, trajectories of single runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from alight.analysis import captures
from alight.analysis.columns import Bools
from alight.campaign.reader import Campaign
from alight.views.figures.capture.scene import Look
from alight.views.report.data import CampaignData, read_common

#: Names of the outcomes with which asteroid and craft are in contact at the end.
HELD, AT_REST, UNSETTLED = "HELD", "AT_REST", "UNSETTLED"

#: Dispersed columns that begin so hold numbers without an order.
UNORDERED = ("asteroid.attitude", "asteroid.shapes")


@dataclass(frozen=True, eq=False)
class CaptureData(CampaignData):
    """A campaign of captures; its table has the columns of ``analysis.captures.NEEDED``."""

    looks: list[Look]
    """What each of the trajectories looks like; empty where that is not known."""

    @cached_property
    def kept(self) -> Bools:
        """(n,) runs in contact at the end."""
        return self.ended(HELD, AT_REST, UNSETTLED)

    @cached_property
    def success(self) -> Bools:
        """(n,) runs in contact at the end, and never beyond the limit of the arrays."""
        return np.asarray(self.table["success"] > 0.5)

    @property
    def untitled(self) -> str:
        """What is done."""
        return "Capture of an asteroid with a membrane"

    @property
    def shapes(self) -> list[str]:
        """Names of the asteroids' shapes, by the numbers in the table."""
        asteroid = self.scenario.get("asteroid", {})
        return [str(name) for name in asteroid.get("shapes") or [asteroid.get("shape", "asteroid")]]

    @property
    def thrust(self) -> float | None:
        """Along the craft's axis from contact on [N]; None where it is not one number."""
        return thrust_of(self.scenario)


def thrust_of(scenario: dict[str, Any]) -> float | None:
    """The thrust that a resolved scenario gives [N]; None where it varies or is not known."""
    if "approach.thrust" in scenario.get("dispersions", {}):
        return None
    number, _, unit = str(scenario.get("approach", {}).get("thrust", "")).partition(" ")
    try:
        return float(number) * {"N": 1.0, "kN": 1e3, "mN": 1e-3}[unit]
    except (ValueError, KeyError):
        return None


def read(campaign: Campaign, look: Callable[[int], Look] | None = None) -> CaptureData:
    """Read the columns of ``campaign`` that a report needs; ``look`` says what runs look like."""
    common = read_common(campaign, captures.NEEDED, "outcome", without=UNORDERED)
    looks = [] if look is None else [look(course.run) for course in common["courses"]]
    return CaptureData(**common, looks=looks)

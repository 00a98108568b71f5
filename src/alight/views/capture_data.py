"""What a report of captures is made from: columns of the campaign, and courses of single runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from alight.analysis import captures, columns
from alight.analysis.columns import Array, Bools
from alight.campaign.reader import Campaign
from alight.views.capture_scene import Look, Poses
from alight.views.report_data import COURSES, CampaignData, read_common

#: Names of the outcomes with which asteroid and craft are in contact at the end.
HELD, AT_REST, UNSETTLED = "HELD", "AT_REST", "UNSETTLED"

#: Dispersed columns that begin so hold numbers without an order.
UNORDERED = ("asteroid.attitude", "asteroid.shapes")


@dataclass(frozen=True, eq=False)
class CaptureCourse:
    """The whole of one capture, at k times."""

    run: int
    poses: Poses
    contact: float
    """When they first touched [s]; nan if they never did."""
    spin: float
    """Of the asteroid at the start [rpm]."""
    bending: Array
    """(k, 2) at the drive assemblies [N m]."""
    force: Array
    """(k,) between asteroid and fabric [N]."""
    depth: Array
    """(k,) of the asteroid in the fabric [m]."""
    slip: Array
    """(k,) path of the contact along the fabric up to then [m]."""
    relative: Array
    """(k,) rate of the craft against the asteroid [rpm]."""
    axis: Array
    """(k,) between the craft's axis and the spin of the pair [deg]."""
    thrust: float | None = None
    """Along the craft's axis from contact on [N], where it is known."""
    ending: str = ""
    """How it ended, in a word."""

    @property
    def time(self) -> Array:
        """(k,) [s]"""
        return self.poses.time

    @property
    def name(self) -> str:
        """Its number, and how it ended."""
        return f"run {self.run}: {self.ending}" if self.ending else f"run {self.run}"

    @property
    def end(self) -> float:
        """When the records end [s]."""
        return float(self.time[-1])


@dataclass(frozen=True, eq=False)
class CaptureData(CampaignData):
    """A campaign of captures; its table has the columns of ``analysis.captures.NEEDED``."""

    courses: list[CaptureCourse]
    looks: list[Look]
    """What each of the courses looks like; empty where that is not known."""

    def ended(self, *names: str) -> Bools:
        """(n,) the runs with an outcome of one of these names."""
        codes = [int(outcome) for outcome in self.outcomes if outcome.name in names]
        return np.isin(self.table["outcome"], codes)

    @cached_property
    def kept(self) -> Bools:
        """(n,) runs in contact at the end."""
        return self.ended(HELD, AT_REST, UNSETTLED)

    @cached_property
    def success(self) -> Bools:
        """(n,) runs in contact at the end, and never beyond the limit of the arrays."""
        return np.asarray(self.table["success"] > 0.5)

    @property
    def title(self) -> str:
        """The scenario's title, or what is done."""
        return str(self.scenario.get("title") or "Capture of an asteroid with a membrane")

    @property
    def shapes(self) -> list[str]:
        """Names of the asteroids' shapes, by the numbers in the table."""
        asteroid = self.scenario.get("asteroid", {})
        return [str(name) for name in asteroid.get("shapes") or [asteroid.get("shape", "asteroid")]]

    @property
    def thrust(self) -> float | None:
        """Along the craft's axis from contact on [N]; None where it is not one number."""
        return thrust_of(self.scenario)


def words_of(outcome: str) -> str:
    """The name of an outcome as it is read."""
    return outcome.lower().replace("_", " ")


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
    common = read_common(campaign, captures.NEEDED, without=UNORDERED)
    courses = [_course(campaign, run, common) for run in campaign.trajectories[:COURSES]]
    looks = [] if look is None else [look(course.run) for course in courses]
    return CaptureData(**common, courses=courses, looks=looks)


def _course(campaign: Campaign, run: int, common: dict[str, Any]) -> CaptureCourse:
    table, runs = campaign.trajectory(run), common["table"]

    def column(name: str) -> Array:
        return columns.column(table, name)

    def row(start: str, axes: str = "xyzw", end: str = "") -> Array:
        return np.stack([column(f"{start}{axis}{end}") for axis in axes], axis=1)

    poses = Poses(
        time=column("time_s"),
        asteroid=row("asteroid_", "xyz", "_m"),
        asteroid_attitude=row("asteroid_q"),
        craft=row("craft_", "xyz", "_m"),
        craft_attitude=row("craft_q"),
        arrays=np.stack([row("array_1_q"), row("array_2_q")], axis=1),
    )
    number = int(np.flatnonzero(runs["run"] == run)[0])
    names = {int(outcome): outcome.name for outcome in common["outcomes"]}
    return CaptureCourse(
        run=run,
        poses=poses,
        contact=float(runs["contact_s"][number]),
        spin=float(runs["spin_rpm"][number]),
        bending=row("bending_", "12", "_N_m"),
        force=column("force_N"),
        depth=column("depth_m"),
        slip=column("slip_m"),
        relative=column("relative_rate_rpm"),
        axis=column("axis_angle_deg"),
        thrust=thrust_of(campaign.scenario),
        ending=words_of(names[int(runs["outcome"][number])]),
    )

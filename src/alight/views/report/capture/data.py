"""What a report of captures is made from: columns of the campaign, and courses of single runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from alight.analysis import captures
from alight.analysis.columns import Array, Bools
from alight.campaign.reader import Campaign
from alight.views.estimates import plain_name
from alight.views.figures.capture.scene import Look, Poses
from alight.views.report.data import CampaignData, CourseColumns, kept_courses, read_common

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
    courses = [_course(kept, common) for kept in kept_courses(campaign)]
    looks = [] if look is None else [look(course.run) for course in courses]
    return CaptureData(**common, courses=courses, looks=looks)


def _course(kept: CourseColumns, common: dict[str, Any]) -> CaptureCourse:
    runs = common["table"]
    poses = Poses(
        time=kept.column("time_s"),
        asteroid=kept.rows("asteroid_", "_m"),
        asteroid_attitude=kept.rows("asteroid_q", axes="xyzw"),
        craft=kept.rows("craft_", "_m"),
        craft_attitude=kept.rows("craft_q", axes="xyzw"),
        arrays=np.stack([kept.rows(f"array_{k}_q", axes="xyzw") for k in (1, 2)], axis=1),
    )
    number = int(np.flatnonzero(runs["run"] == kept.run)[0])
    names = {int(way): way.name for way in common["outcomes"]}
    return CaptureCourse(
        run=kept.run,
        poses=poses,
        contact=float(runs["contact_s"][number]),
        spin=float(runs["spin_rpm"][number]),
        bending=kept.rows("bending_", "_N_m", "12"),
        force=kept.column("force_N"),
        depth=kept.column("depth_m"),
        slip=kept.column("slip_m"),
        relative=kept.column("relative_rate_rpm"),
        axis=kept.column("axis_angle_deg"),
        thrust=thrust_of(common["scenario"]),
        ending=plain_name(names[int(common["codes"][number])]),
    )

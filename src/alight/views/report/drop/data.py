"""What a report of drops on a membrane is made from: columns, and courses of single runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis.columns import Array
from alight.campaign.reader import Campaign
from alight.views.estimates import plain_name
from alight.views.report.data import (
    CampaignData,
    CourseColumns,
    kept_courses,
    read_common,
    schema_of,
)

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
class DropCourse:
    """The whole of one drop, at k times."""

    run: int
    time: Array
    """(k,) [s]."""
    height: Array
    """(k,) of the body's centre of mass above the carrier, along z of the carrier [m]."""
    speed: Array
    """(k,) of the body's centre of mass against the carrier [m/s]."""
    depth: Array
    """(k,) of the lowest point below the suspension plane [m]."""
    force: Array
    """(k,) of the fabric on the body [N]."""
    slip: Array
    """(k,) path of the contact along the fabric up to then [m]."""
    damped: Array
    """(k,) energy lost in the fabric up to then [J]."""
    rubbed: Array
    """(k,) energy lost to friction up to then [J]."""
    contact: float
    """When it first touched [s]; nan if never."""
    left: float
    """When it last left [s]; nan if never."""
    ending: str
    """How it ended, in a word."""

    @property
    def deepest(self) -> float:
        """When it was deepest [s]; nan if it never touched."""
        return float(self.time[int(self.depth.argmax())]) if self.depth.any() else float("nan")

    @property
    def end(self) -> float:
        """When the records end [s]."""
        return float(self.time[-1])


@dataclass(frozen=True, eq=False)
class DropData(CampaignData):
    """A campaign of drops; its table has the columns of ``NEEDED``, and may have ``LATER``."""

    courses: list[DropCourse]

    @property
    def untitled(self) -> str:
        """What is done."""
        return "Drops on a membrane"


def read(campaign: Campaign) -> DropData:
    """Read the columns of ``campaign`` that a report needs."""
    known = schema_of(campaign).names
    wanted = [*NEEDED, *(name for name in LATER if name in known)]
    common = read_common(campaign, wanted, "outcome", without=UNORDERED)
    return DropData(**common, courses=[_course(kept, common) for kept in kept_courses(campaign)])


def _course(kept: CourseColumns, common: dict[str, Any]) -> DropCourse:
    runs = common["table"]
    number = int(np.flatnonzero(runs["run"] == kept.run)[0])
    names = {int(way): way.name for way in common["outcomes"]}
    apart = kept.rows("body_", "_m") - kept.rows("carrier_", "_m")
    motion = kept.rows("body_v", "_m_per_s") - kept.rows("carrier_v", "_m_per_s")
    up = _third_axis(kept.rows("carrier_q", axes="xyzw"))
    return DropCourse(
        run=kept.run,
        time=kept.column("time_s"),
        height=np.einsum("ki,ki->k", apart, up),
        speed=np.linalg.norm(motion, axis=1),
        depth=kept.column("depth_m"),
        force=kept.column("force_N"),
        slip=kept.column("slip_m"),
        damped=kept.column("damped_J"),
        rubbed=kept.column("rubbed_J"),
        contact=float(runs["first_contact_s"][number]),
        left=float(runs["release_s"][number]),
        ending=plain_name(names[int(common["codes"][number])]),
    )


def _third_axis(attitude: Array) -> Array:
    """(k, 3) z of bodies in inertial axes, of quaternions (k, 4)."""
    x, y, z, w = attitude.T
    return np.stack([2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)], 1)

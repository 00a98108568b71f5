"""What a report of landings is made from: columns of the campaign, trajectories of single runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from alight.analysis import columns
from alight.analysis.columns import Array, Bools
from alight.analysis.footprint import plane_frame
from alight.analysis.loads import load_names
from alight.analysis.rest_light import LightOf
from alight.analysis.settling import QUANTITIES
from alight.analysis.sun import SunPath
from alight.campaign.reader import Campaign
from alight.shapes.mesh import Mesh
from alight.views.report.data import CampaignData, read_common, schema_of
from alight.views.report.landing.terrain import Ground

if TYPE_CHECKING:
    from alight.views.figures.articulated import Pose

#: Columns of the table of runs that are read, beside those that are dispersed.
NEEDED = (
    "run",
    "outcome_code",
    *QUANTITIES,
    *columns.point_names("rest_"),
    *columns.point_names("first_contact_"),
)

#: How deep hull and ground stand in each other at rest; campaigns of old do not have it.
DEPTH = "hull_depth_m"


@dataclass(frozen=True, eq=False)
class LandingData(CampaignData):
    """A campaign of landings; its table has the columns of ``NEEDED``."""

    loads: dict[str, Array] = field(default_factory=dict)
    """Columns of loads, (n,) each; none for rigid landers."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Longest strokes of legs by their names in columns [m], where they are known."""
    pose: Callable[[Mapping[str, float]], Pose] | None = None
    """What an articulated lander looks like in a row of a trajectory."""
    mesh: Mesh | None = None
    """The body, for maps and pictures."""
    sun: SunPath | None = None
    """The Sun's path across its sky; None where it is not known, or not asked for."""
    sun_note: str = ""
    """Why there is none, for readers; empty where it is not asked for."""
    light: LightOf | None = None
    """What computes the light that requirements ask for; from ``mesh`` and ``sun`` if None."""
    ground: Ground | str | None = None
    """What is touched, for maps of the terrain; a sentence where it is not known."""

    @cached_property
    def rest(self) -> Array:
        """(n, 3) where runs rest, target axes [m]; nan where they do not."""
        return columns.points(self.table, "rest_")

    @cached_property
    def times(self) -> Array:
        """(n,) when runs ended [s]."""
        return self.column("end_time_s")

    @cached_property
    def settled(self) -> Bools:
        """(n,) runs that rest."""
        return np.asarray(np.isfinite(self.rest[:, 0]))

    @property
    def level(self) -> Array | None:
        """Unit normal of the ground where it is flat; None on a body."""
        ground = self.scenario.get("ground", {})
        if ground.get("kind") not in ("plane", "patch"):
            return None
        normal = np.asarray(ground.get("normal") or (0.0, 0.0, 1.0), dtype=np.float64)
        return np.asarray(normal / np.linalg.norm(normal))

    @property
    def flat(self) -> bool:
        """True where the ground is a plane and nothing else."""
        ground = self.scenario.get("ground", {})
        return self.level is not None and not (ground.get("noise") or ground.get("rocks"))

    def ground_normal(self, run: int) -> Array:
        """Normal of the flat ground of a run, which may differ from run to run."""
        assert self.level is not None
        parts = [one.values for one in self.inputs if one.key == "ground.normal" and one.axis]
        if len(parts) != 3:
            return self.level
        at = int(np.flatnonzero(self.table["run"] == run)[0])
        normal = np.array([values[at] for values in parts])
        return np.asarray(normal / np.linalg.norm(normal))

    @property
    def nameless(self) -> bool:
        """True where it is not known on what it lands, as of ground that a study in Python made."""
        kind = self.scenario.get("ground", {}).get("kind")
        body = self.mesh is not None or bool(self.scenario.get("body"))
        return not body and kind not in ("plane", "patch", "sphere")

    @property
    def axes(self) -> tuple[str, str]:
        """What the directions on the ground are called."""
        if self.level is None:
            return "east", "north"
        first, second, _ = plane_frame(self.level).T
        return _axis_name(first, "x"), _axis_name(second, "y")

    @property
    def forces(self) -> bool:
        """True where the law of contact has forces; rigid hits take no time and have none."""
        return self.scenario.get("contact", {}).get("law", "compliant") in ("compliant", "hertz")

    @property
    def articulated(self) -> bool:
        """True where landers have joints: they may tip over, and there are loads."""
        return bool(self.loads)

    @property
    def untitled(self) -> str:
        """Lander and body."""
        return f"{self.lander} on {self.body}"

    @property
    def body(self) -> str:
        """Name of the body."""
        return _name(self.scenario.get("body"), "the ground")

    @property
    def lander(self) -> str:
        """Name of the lander."""
        return _name(self.scenario.get("lander"), "a lander")


def read(
    campaign: Campaign,
    mesh: Mesh | None = None,
    sun: SunPath | str | None = None,
    limits: Mapping[str, float] | None = None,
    pose: Callable[[Mapping[str, float]], Pose] | None = None,
    light: LightOf | None = None,
    ground: Ground | str | None = None,
) -> LandingData:
    """Read the columns of ``campaign`` that a report needs: 8 bytes each a run, and no more."""
    schema = schema_of(campaign)
    borne = load_names(schema.names)
    more = [DEPTH] if DEPTH in schema.names else []
    wanted = [*NEEDED, *more, *borne]
    common = read_common(campaign, wanted, "outcome_code", without=("release.attitude",))
    loads = {name: common["table"].pop(name) for name in borne}
    return LandingData(
        **common,
        loads=loads,
        limits=limits or {},
        pose=pose,
        mesh=mesh,
        sun=None if isinstance(sun, str) else sun,
        sun_note=sun if isinstance(sun, str) else "",
        light=light,
        ground=ground,
    )


def _axis_name(direction: Array, otherwise: str) -> str:
    """Which of the target's axes a direction is along; ``otherwise`` where it is none."""
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) < 1.0 - 1e-9:
        return otherwise
    return ("" if direction[k] > 0.0 else "−") + "xyz"[k]


def _name(section: Any, otherwise: str) -> str:
    """How a section of the scenario names what it describes."""
    table = section if isinstance(section, Mapping) else {}
    if table.get("name") or table.get("label"):
        return str(table.get("name") or table["label"])
    if table.get("mesh"):
        return re.split(r"[\\/]", str(table["mesh"]))[-1].rsplit(".", 1)[0]
    if table.get("shape") == "tree":
        return "an articulated lander"
    return f"a {table['shape']}" if table.get("shape") else otherwise

"""What a report is made from: the columns of a campaign that it needs, read shard by shard."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from alight.analysis import columns
from alight.analysis.columns import Array, Bools
from alight.analysis.footprint import plane_frame
from alight.analysis.loads import load_names
from alight.analysis.settling import QUANTITIES
from alight.analysis.sun import SunPath
from alight.campaign.plan import MOST_BYTES
from alight.campaign.reader import Campaign
from alight.core.errors import InputError
from alight.core.files import read_bounded
from alight.shapes.mesh import Mesh

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

#: Courses that are drawn, at most: more cannot be told apart.
COURSES = 6

#: E_J and its parts in the table of a course.
_ENERGY = {
    "total": "energy_J",
    **{p: f"energy_{p}_J" for p in ("linear", "angular", "centrifugal", "gravity", "elastic")},
}

#: How the columns of a course begin that only articulated landers have.
_OF_LEGS = ("acceleration_", "pad_force_", "belly_force_", "stroke_", "crush_force_", "slosh_")

#: What the components of vectors mean where the release is over a place of the ground.
_LOCAL = {"x": "east", "y": "north", "z": "up", "vx": "v east", "vy": "v north", "vz": "v up"}
_LOCAL_KEYS = ("release.velocity", "release.offset", "release.state")


@dataclass(frozen=True, eq=False)
class Input:
    """A dispersed number."""

    label: str
    """As a reader knows it: ``release.velocity, east``."""
    unit: str
    values: Array
    """(n,) one for each run, SI."""


@dataclass(frozen=True, eq=False)
class Course:
    """The whole of one run."""

    run: int
    time: Array
    """(k,) [s]."""
    position: Array
    """(k, 3) target axes [m]."""
    velocity: Array
    """(k, 3) relative to the turning target [m/s]."""
    energy: dict[str, Array]
    """E_J, named ``total``, and its parts [J]; empty for articulated landers."""
    parts: dict[str, Array] = field(default_factory=dict)
    """Other columns, by their names: what legs, pads and liquid of articulated landers do."""


@dataclass(frozen=True, eq=False)
class CampaignData:
    """What reports of all kinds read: columns in their own units, nan where they are empty."""

    table: dict[str, Array]
    """The columns that are needed, (n,) each, in order of runs."""
    inputs: list[Input]
    outcomes: dict[Any, int]
    """How many runs ended in each way; keys are members of an ``Ending``."""
    planned: int
    """Runs of the whole campaign; more than there are while it is unfinished."""
    scenario: dict[str, Any]
    """The resolved scenario."""
    scenario_text: str
    """The same as the text of a file."""
    facts: list[tuple[str, str]]
    """Seed, device, versions: (name, value) rows."""

    @property
    def runs(self) -> int:
        """Runs that are there."""
        return len(self.table["run"])


@dataclass(frozen=True, eq=False)
class Data(CampaignData):
    """A campaign of landings; its table has the columns of ``NEEDED``."""

    courses: list[Course]
    loads: dict[str, Array] = field(default_factory=dict)
    """Columns of loads, (n,) each; none for rigid landers."""
    mesh: Mesh | None = None
    """The body, for maps and pictures."""
    sun: SunPath | None = None
    """The Sun's way over its sky; None where it is not known, or nobody asks for it."""
    sun_note: str = ""
    """Why there is none, for readers; empty where nobody asks."""

    @cached_property
    def rest(self) -> Array:
        """(n, 3) where runs rest, target axes [m]; nan where they do not."""
        return columns.points(self.table, "rest_")

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
    def title(self) -> str:
        """The scenario's title, or lander and body."""
        return str(self.scenario.get("title") or f"{self.lander} on {self.body}")

    @property
    def body(self) -> str:
        """Name of the body."""
        return _name(self.scenario.get("body"), "the ground")

    @property
    def lander(self) -> str:
        """Name of the lander."""
        return _name(self.scenario.get("lander"), "a lander")


def read(campaign: Campaign, mesh: Mesh | None = None, sun: SunPath | str | None = None) -> Data:
    """Read the columns of ``campaign`` that a report needs: 8 bytes each a run, and no more."""
    schema = schema_of(campaign)
    borne = load_names(schema.names)
    more = [DEPTH] if DEPTH in schema.names else []
    common = read_common(campaign, [*NEEDED, *more, *borne], without=("release.attitude",))
    loads = {name: common["table"].pop(name) for name in borne}
    return Data(
        **common,
        courses=[_course(campaign, run) for run in campaign.trajectories[:COURSES]],
        loads=loads,
        mesh=mesh,
        sun=None if isinstance(sun, str) else sun,
        sun_note=sun if isinstance(sun, str) else "",
    )


def schema_of(campaign: Campaign) -> Any:
    """The schema of the table of runs; an error where there are none yet."""
    if not len(campaign):
        raise InputError(
            f"{campaign.folder} has no finished shard yet: there is nothing to report. Start the "
            "campaign again and let it finish one."
        )
    return campaign.dataset().schema


def read_common(
    campaign: Campaign, names: Sequence[str], without: tuple[str, ...]
) -> dict[str, Any]:
    """The fields of ``CampaignData``: the columns ``names``, and all dispersed numbers but those
    whose names begin with one of ``without``: an attitude's have no order."""
    schema = schema_of(campaign)
    drawn = [f for f in schema if "." in f.name and not f.name.startswith(without)]
    drawn = [f for f in drawn if not pa.types.is_string(f.type)]
    table = _columns(campaign, [*names, *(f.name for f in drawn)])
    inputs = [Input(_label(f.name, campaign.scenario), _unit(f), table.pop(f.name)) for f in drawn]
    return {
        "table": table,
        "inputs": inputs,
        "outcomes": campaign.count(),
        "planned": campaign.plan.total,
        "scenario": campaign.scenario,
        "scenario_text": _scenario_text(campaign),
        "facts": _facts(campaign),
    }


def _columns(campaign: Campaign, names: list[str]) -> dict[str, Array]:
    """Columns as arrays, filled shard by shard; nan where the table is empty."""
    out = {name: np.empty(len(campaign)) for name in names}
    begin = 0
    for part in campaign.shards("runs", names):
        end = begin + part.num_rows
        for name in names:
            out[name][begin:end] = columns.column(part, name)
        begin = end
    return out


def _course(campaign: Campaign, run: int) -> Course:
    table = campaign.trajectory(run)

    def column(name: str) -> Array:
        return columns.column(table, name)

    return Course(
        run=run,
        time=column("time_s"),
        position=np.stack([column(f"{axis}_m") for axis in "xyz"], axis=1),
        velocity=np.stack([column(f"v{axis}_m_per_s") for axis in "xyz"], axis=1),
        energy={part: column(name) for part, name in _ENERGY.items() if name in table.column_names},
        parts={name: column(name) for name in table.column_names if name.startswith(_OF_LEGS)},
    )


def _axis_name(direction: Array, otherwise: str) -> str:
    """Which of the target's axes a direction is along; ``otherwise`` where it is none."""
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) < 1.0 - 1e-9:
        return otherwise
    return ("" if direction[k] > 0.0 else "−") + "xyz"[k]


def _label(column: str, scenario: Mapping[str, Any]) -> str:
    """The name of a dispersed number: its key, and which component it is."""
    keys = scenario.get("dispersions", {})
    key = max((k for k in keys if column.startswith(k)), key=len, default="")
    rest = column[len(key) :]
    found = re.match(r"_(v?[xyz]|w|latitude|longitude|\d+)(_|$)", rest)
    if not key or not found:
        return key or column
    axis = found.group(1)
    local = "latitude" in scenario.get("release", {}) and key in _LOCAL_KEYS
    return f"{key}, {_LOCAL[axis] if local else axis}"


def _unit(field: Any) -> str:
    return (field.metadata or {}).get(b"unit", b"").decode()


def _name(section: Any, otherwise: str) -> str:
    """How a section of the scenario names what it describes."""
    table = section if isinstance(section, Mapping) else {}
    if table.get("name") or table.get("label"):
        return str(table.get("name") or table["label"])
    if table.get("mesh"):
        return re.split(r"[\\/]", str(table["mesh"]))[-1].rsplit(".", 1)[0]
    return f"a {table['shape']}" if table.get("shape") else otherwise


def _scenario_text(campaign: Campaign) -> str:
    """The resolved scenario as it stands beside the tables, or from the plan."""
    file = campaign.folder / "scenario.toml"
    if file.is_file():
        return read_bounded(file, MOST_BYTES, "the scenario").decode("utf-8", "replace")
    return json.dumps(campaign.scenario, indent=2, ensure_ascii=False)


def _facts(campaign: Campaign) -> list[tuple[str, str]]:
    plan = campaign.plan
    return [
        ("runs", f"{len(campaign)} of {plan.total} planned"),
        ("seed", str(campaign.scenario.get("seed", "not given"))),
        ("sampling", plan.sampling),
        ("device", {"cpu": "CPU", "gpu": "GPU"}.get(plan.device, plan.device)),
        *((f"version of {name}", version) for name, version in sorted(plan.versions.items())),
        ("plan, SHA-256", plan.hash),
    ]

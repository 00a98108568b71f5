"""What reports of every kind are made from: the columns that they need, read shard by shard."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alight.analysis import columns
from alight.analysis.columns import Array, Bools
from alight.campaign.plan import MOST_BYTES
from alight.campaign.reader import Campaign
from alight.core.errors import InputError
from alight.core.files import read_bounded
from alight.core.outcomes import FIRST_FAILURE, FIRST_OWN, OF_STOPS
from alight.views.estimates import plain_name
from alight.views.report.inputs import Input, input_of, scalars

#: Courses that are drawn, at most: more cannot be told apart.
COURSES = 6

#: Shards whose columns become arrays at once: turning many small pieces one by one takes longer.
TOGETHER = 128


@dataclass(frozen=True, eq=False)
class CampaignData:
    """What reports of all kinds read: columns in their own units, nan where they are empty."""

    table: dict[str, Array]
    """The columns that are needed, (n,) each, in order of runs."""
    codes: NDArray[np.int64]
    """(n,) how each run ended, as a number."""
    inputs: list[Input]
    outcomes: dict[Any, int]
    """How many runs ended in each way; keys are codes with a name and a sentence."""
    planned: int
    """Runs of the whole campaign; more than there are while it is unfinished."""
    scenario: dict[str, Any]
    """The resolved scenario."""
    scenario_text: str
    """The same as the text of a file."""
    facts: list[tuple[str, str]]
    """Seed, device, versions: (name, value) rows."""
    campaign: Campaign
    """Where it all comes from."""
    courses: list[Trajectory]
    """Runs that were kept whole, as many as can be shown."""

    @property
    def runs(self) -> int:
        """Runs that are there."""
        return len(self.table["run"])

    @cached_property
    def scalars(self) -> list[Input]:
        """Dispersed numbers, and what vectors of them amount to: a speed, a slope."""
        return scalars(self.inputs, self.scenario)

    @property
    def title(self) -> str:
        """The scenario's title, or what is done."""
        return str(self.scenario.get("title") or self.untitled)

    @property
    def untitled(self) -> str:
        """A title where the scenario has none."""
        return "A campaign"

    def column(self, name: str) -> Array:
        """(n,) any numbers of the table of runs, by the name of their column."""
        return self.table[name] if name in self.table else _columns(self.campaign, [name])[name]

    def ended(self, *names: str) -> Bools:
        """(n,) the runs with an outcome of one of these names, in capitals."""
        known = [int(way) for way in self.outcomes if way.name.upper() in names]
        return np.isin(self.codes, known)

    @cached_property
    def failed(self) -> Bools:
        """(n,) runs that ended for a numerical reason."""
        return (self.codes >= FIRST_FAILURE) & (self.codes < FIRST_OWN)

    @property
    def stops(self) -> dict[Any, int]:
        """How many runs each stop of the scenario ended, shipped ones and a user's own."""
        return {
            way: n
            for way, n in self.outcomes.items()
            if int(way) in OF_STOPS or int(way) >= FIRST_OWN
        }

    @property
    def stopped(self) -> Bools:
        """(n,) runs that ended so."""
        return np.isin(self.codes, [int(way) for way in self.stops])


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The whole of one run, at k times: columns of its own table, by name."""

    run: int
    table: Any
    row: dict[str, float]
    """The run in the table of all runs."""
    ending: str = ""
    """How it ended, in a word."""

    @property
    def names(self) -> list[str]:
        """Of its columns."""
        return columns.column_names(self.table)

    def __getitem__(self, name: str) -> Array:
        """(k,) one of them."""
        return columns.column(self.table, name)

    def rows(self, start: str, end: str = "", axes: str = "xyz") -> Array:
        """(k, c) the columns ``start`` + axis + ``end``, side by side."""
        return np.stack([self[f"{start}{axis}{end}"] for axis in axes], axis=1)

    @cached_property
    def time(self) -> Array:
        """(k,) [s]"""
        return self["time_s"]

    @property
    def end(self) -> float:
        """When the records end [s]."""
        return float(self.time[-1])


def schema_of(campaign: Campaign) -> Any:
    """The schema of the table of runs; an error where there are none yet."""
    if not len(campaign):
        raise InputError(
            f"{campaign.folder} has no finished shard yet: there is nothing to report. Start the "
            "campaign again and let it finish one."
        )
    return campaign.schema()


def read_common(
    campaign: Campaign, names: Sequence[str], code: str, without: tuple[str, ...]
) -> dict[str, Any]:
    """The fields of ``CampaignData``: the columns ``names``, outcomes from the column ``code``, and
    all dispersed numbers but those whose names begin with one of ``without``: an attitude's have no
    order."""
    schema = schema_of(campaign)
    drawn = [f for f in schema if "." in f.name and not f.name.startswith(without)]
    drawn = [f for f in drawn if not pa.types.is_string(f.type)]
    table = _columns(campaign, [*names, *(f.name for f in drawn)])
    scenario = campaign.scenario
    inputs = [input_of(f.name, _unit(f), table.pop(f.name), scenario) for f in drawn]
    fields: dict[str, Any] = {
        "table": table,
        "codes": table[code].astype(np.int64),
        "inputs": inputs,
        "outcomes": campaign.count(),
        "planned": campaign.plan.total,
        "scenario": campaign.scenario,
        "scenario_text": _scenario_text(campaign),
        "facts": _facts(campaign),
        "campaign": campaign,
    }
    kept = campaign.trajectories[:COURSES]
    return {**fields, "courses": [_trajectory(campaign, run, fields) for run in kept]}


def _trajectory(campaign: Campaign, run: int, common: Mapping[str, Any]) -> Trajectory:
    table, codes = common["table"], common["codes"]
    number = int(np.flatnonzero(table["run"] == run)[0])
    row = {name: float(values[number]) for name, values in table.items()}
    way = next(way for way in common["outcomes"] if int(way) == codes[number])
    return Trajectory(run, campaign.trajectory(run), row, plain_name(way.name))


def _columns(campaign: Campaign, names: list[str]) -> dict[str, Array]:
    """Columns as arrays, filled some shards at a time; nan where the table is empty."""
    out = {name: np.empty(len(campaign)) for name in names}
    begin, shards = 0, campaign.shards("runs", names)
    while parts := list(islice(shards, TOGETHER)):
        table = pa.concat_tables(parts)
        end = begin + table.num_rows
        for name in names:
            out[name][begin:end] = columns.column(table, name)
        begin = end
    return out


def _unit(field: Any) -> str:
    return (field.metadata or {}).get(b"unit", b"").decode()


def _scenario_text(campaign: Campaign) -> str:
    """The resolved scenario as it stands beside the tables, or from the plan."""
    file = campaign.folder / "scenario.toml"
    if file.is_file():
        return read_bounded(file, MOST_BYTES, "the scenario").decode("utf-8", "replace")
    return json.dumps(campaign.scenario, indent=2, ensure_ascii=False)


def _sampling(campaign: Campaign) -> str:
    """How values were drawn; those of a sweep are not, others beside it are."""
    swept = campaign.sweep_keys
    if not swept:
        return campaign.plan.sampling
    others = len(campaign.scenario.get("dispersions", {})) > len(swept)
    return "every combination of the sweep" + (f"; else {campaign.plan.sampling}" if others else "")


def _facts(campaign: Campaign) -> list[tuple[str, str]]:
    plan = campaign.plan
    return [
        ("runs", f"{len(campaign)} of {plan.total} planned"),
        ("seed", str(campaign.scenario.get("seed", "not given"))),
        ("sampling", _sampling(campaign)),
        ("device", {"cpu": "CPU", "gpu": "GPU"}.get(plan.device, plan.device)),
        *((f"version of {name}", version) for name, version in sorted(plan.versions.items())),
        ("plan, SHA-256", plan.hash),
    ]

"""The campaigns of a comparison: read, named, found to be comparable, and paired."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.analysis.rest_light import LightOf
from alight.campaign.plan import deciding, flat
from alight.campaign.reader import Campaign, open_campaign
from alight.core.errors import InputError
from alight.core.progress import Progress, progress
from alight.views.report.common import readable
from alight.views.report.findings import Findings
from alight.views.report.writing import KINDS, kind_of

Index = npt.NDArray[np.int64]

#: Characters of a value of a scenario, at most.
LONGEST = 60

#: Characters of a campaign's name, at most: it heads columns and names lines.
NAME = 32

#: What stands for a value that a scenario does not have.
_ABSENT = "-"
#: Samplings of runs that are drawn at random; all else is not a sample of anything.
RANDOM = ("random", "latin-hypercube", "sobol")


@dataclass(frozen=True, eq=False)
class Side:
    """One of the campaigns."""

    campaign: Campaign
    name: str
    """What pages and tables call it."""
    found: Findings[Any]

    @property
    def runs(self) -> int:
        """Runs that are there."""
        return self.found.data.runs

    @cached_property
    def numbers(self) -> Index:
        """(n,) numbers of these runs."""
        return self.found.data.table["run"].astype(np.int64)

    @property
    def drawn(self) -> bool:
        """Whether its runs are a random sample: something is dispersed, and at random."""
        varied = self.campaign.scenario.get("dispersions")
        if self.campaign.sweep_keys:
            return False
        return self.campaign.plan.sampling in RANDOM and (bool(varied) or self._shapes_vary)

    @property
    def _shapes_vary(self) -> bool:
        """Captures draw shapes that no key of [dispersions] names."""
        shapes = self.found.data.table.get("shape")
        return shapes is not None and bool((shapes != shapes[0]).any())


@dataclass(frozen=True, eq=False)
class Pair:
    """Two campaigns, the second against the first."""

    first: Side
    second: Side

    @cached_property
    def common(self) -> Index | None:
        """Numbers of runs that both have with the same draws; None where they have none."""
        one, other = (side.campaign for side in (self.first, self.second))
        if not self.tested:
            return None
        same = one.scenario.get("seed", 0) == other.scenario.get("seed", 0)
        if not same or one.plan.sampling != other.plan.sampling:
            return None
        if not one.plan.grows and one.plan.total != other.plan.total:
            return None  # runs of such samplings depend on how many there are
        both: Index = np.intersect1d(self.first.numbers, self.second.numbers)
        return both if len(both) > 1 else None

    @property
    def paired(self) -> bool:
        """Whether they are compared run by run."""
        return self.common is not None

    @property
    def tested(self) -> bool:
        """Whether chance has a part in it: both are random samples of more than one run."""
        return all(side.drawn and side.runs > 1 for side in (self.first, self.second))

    def rows(self, values: Sequence[Any]) -> tuple[Any, Any]:
        """Those of two arrays, a row for each run of the two, that are compared."""
        if self.common is None:
            return values[0], values[1]
        sides = (self.first, self.second)
        a, b = (
            array[np.isin(side.numbers, self.common)]
            for array, side in zip(values, sides, strict=True)
        )
        return a, b


def sides_of(
    campaigns: Sequence[Campaign | str | os.PathLike[str]],
    show: str | Progress = "silent",
    light: Callable[[Campaign], LightOf] | None = None,
) -> list[Side]:
    """The campaigns of a comparison, open and named; an error where they cannot be compared."""
    if len(campaigns) < 2:
        raise InputError("a comparison is of two campaigns or more: name another folder.")
    with progress(show) as bar:
        bar.start("Reading campaigns", total=2 * len(campaigns))
        opened = [_open(one, bar) for one in campaigns]
        found = _findings(opened, bar, light)
    names = _names(opened)
    return [Side(*one) for one in zip(opened, names, found, strict=True)]


def _open(given: Campaign | str | os.PathLike[str], bar: Progress) -> Campaign:
    opened = given if isinstance(given, Campaign) else open_campaign(given)
    bar.advance()
    return opened


def _findings(
    opened: Sequence[Campaign], bar: Progress, light: Callable[[Campaign], LightOf] | None
) -> list[Findings[Any]]:
    """What reports find in campaigns, which must be of one kind."""
    kinds = [kind_of(one) for one in opened]
    for one, kind in zip(opened, kinds, strict=True):
        if kind != kinds[0]:
            raise InputError(
                f"{opened[0].folder} holds {kinds[0]}s and {one.folder} {kind}s, which have no "
                "answers in common: compare campaigns of one kind."
            )
    out = []
    for one in opened:
        given = {} if light is None else {"light": light(one)}
        out.append(KINDS[kinds[0]].findings(one, given))
        bar.advance()
    return out


def _names(opened: Sequence[Campaign]) -> list[str]:
    """Names of folders; whole paths where two have the same, numbered where these are the same."""
    names = [one.folder.resolve().name for one in opened]
    if len(set(names)) < len(names):
        names = [str(one.folder) for one in opened]
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        short = name if len(name) <= NAME else f"{name[: NAME // 2]}…{name[-(NAME // 2 - 1) :]}"
        seen[short] += 1
        out.append(short if seen[short] == 1 else f"{short} ({seen[short]})")
    return out


# -- scenarios -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """A value that is not the same in all scenarios."""

    key: str
    values: tuple[str, ...]
    """As the resolved scenarios say it, with units; ``-`` where one has none."""


def changed_values(sides: Sequence[Side]) -> list[Changed]:
    """What differs between the resolved scenarios, by dotted key."""
    trees = [flat(_deciding(side.campaign)) for side in sides]
    keys = dict.fromkeys(key for tree in trees for key in tree)
    out = []
    for key in sorted(keys):
        whole = {json.dumps(tree.get(key), sort_keys=True) for tree in trees}
        if len(whole) == 1:
            continue
        short, long = (
            tuple(_said(tree[key], digits) if key in tree else _ABSENT for tree in trees)
            for digits in (False, True)
        )
        out.append(Changed(key, short if len(set(short)) > 1 else long))
    return out


def changed_circumstances(sides: Sequence[Side]) -> list[Changed]:
    """What differs beside the scenarios: number of runs, device, versions."""
    told: dict[str, list[str]] = {"runs": [], "device": []}
    for name in sorted({name for side in sides for name in side.campaign.plan.versions}):
        told[f"version of {name}"] = []
    for side in sides:
        plan = side.campaign.plan
        told["runs"].append(str(side.runs))
        told["device"].append(plan.device.upper())
        for name, versions in list(told.items())[2:]:
            versions.append(plan.versions.get(name.removeprefix("version of "), _ABSENT))
    return [Changed(key, tuple(values)) for key, values in told.items() if len(set(values)) > 1]


def _deciding(campaign: Campaign) -> dict[str, Any]:
    """A scenario without what no answer depends on."""
    tree = deciding(campaign.scenario)
    own = dict(tree.get("campaign", {}))
    own.pop("shard", None)
    return {**{k: v for k, v in tree.items() if k != "record"}, "campaign": own}


def _said(value: Any, digits: bool) -> str:
    """A value of a scenario; with all its ``digits``, or as many as a reader needs."""
    text = json.dumps(value, ensure_ascii=False)
    shown = json.loads(text if digits else readable(text)[0])
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
    if isinstance(shown, list) and all(isinstance(one, str) for one in shown):
        text = ", ".join(shown)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

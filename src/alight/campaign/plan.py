"""The plan of a campaign: what is run, in which shards, and whether a folder belongs to it.

A campaign of ``total`` runs is cut into shards of equal size, the last one smaller. The plan stands
in the folder as ``plan.json``: the scenario with every default, seed, versions and kind of device.
A folder resumes only with the plan it was begun with, as shards of two scenarios in one table
would be worthless. The one thing that may change is the number of runs, upwards, where a run does
not depend on it.
"""

from __future__ import annotations

import hashlib
import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import checked_whole
from alight.core.errors import FileError, InputError
from alight.core.files import read_bounded
from alight.core.outcomes import Ending, own_endings

#: Of the files in a campaign's folder; raised when older ones can no longer be read.
FORMAT = 2
PLAN_FILE = "plan.json"
#: Largest plan [bytes]: a scenario with every default, and seals of shards, are far smaller.
MOST_BYTES = 20_000_000

#: Key of the plan's own hash, over everything else in its file.
SUM = "sum"

#: Runs and shards of a campaign, at most: a folder with more files than this serves nobody.
MOST_RUNS, MOST_SHARDS = 10**9, 10**6

#: Differences between two plans that an error lists; the rest is counted.
_LISTED = 12


class PlanError(InputError):
    """A folder that holds another campaign than the one asked for."""


@dataclass(frozen=True)
class Plan:
    """What a campaign runs; equal plans make equal tables."""

    scenario: dict[str, Any]
    """The resolved scenario, without ``campaign.runs``, ``repeats`` and ``made_by``."""
    total: int
    """Runs of the campaign."""
    shard: int
    """Runs of a shard; the last may have fewer."""
    sampling: str
    """How dispersions are sampled."""
    device: str
    """``"cpu"`` or ``"gpu"``: they round differently."""
    versions: dict[str, str]
    """Of the code that makes the numbers."""
    endings: dict[int, Ending] = field(default_factory=dict)
    """Endings of its own stops, by code: a report elsewhere must know their names."""

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.total // self.shard)

    def runs(self, shard: int) -> npt.NDArray[np.int64]:
        """Run numbers of a shard."""
        if not 0 <= shard < self.shards:
            raise InputError(f"shard {shard} is asked for; the plan has 0 to {self.shards - 1}.")
        first = shard * self.shard
        return np.arange(first, min(first + self.shard, self.total), dtype=np.int64)

    @property
    def grows(self) -> bool:
        """True where more runs leave those before as they are."""
        return self.sampling == "random"

    def identity(self) -> dict[str, Any]:
        """All that a run's numbers depend on."""
        whole: dict[str, Any] = {
            "scenario": deciding(self.scenario),
            "shard": self.shard,
            "device": self.device,
            "versions": self.versions,
        }
        return whole if self.grows else {**whole, "runs": self.total}

    @cached_property
    def hash(self) -> str:
        """Names the campaign: every shard carries it. More runs keep it where they may be added."""
        return digest(self.identity())

    def to_json(self) -> bytes:
        """The text of ``plan.json``."""
        body = {
            "format": FORMAT,
            "hash": self.hash,
            "runs": self.total,
            "shard": self.shard,
            "sampling": self.sampling,
            "device": self.device,
            "versions": self.versions,
            "scenario": self.scenario,
        }
        if self.endings:
            body["endings"] = [
                {"code": int(one), "name": one.name, "sentence": one.message}
                for one in self.endings.values()
            ]
        whole = plain({**body, SUM: digest(body)})
        return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()


def make_plan(
    scenario: Any, device: str, versions: Mapping[str, str], runs: int | None = None
) -> Plan:
    """The plan of a scenario; ``runs`` replaces the scenario's own number."""
    total = checked_whole("runs", scenario.campaign.runs if runs is None else runs, 1)
    shard = checked_whole("campaign.shard", scenario.campaign.shard, 1)
    _check_size(total, shard)
    resolved = plain(scenario.resolved())
    # The plan has these once, at the top.
    for name in ("runs", "repeats"):
        resolved.get("campaign", {}).pop(name, None)
    resolved.pop("made_by", None)
    return Plan(
        scenario=resolved,
        total=total,
        shard=shard,
        sampling=str(scenario.campaign.sampling),
        device=device,
        versions=dict(versions),
        endings=own_endings(scenario.endings),
    )


def _check_size(total: int, shard: int) -> None:
    """Refuse what no folder can hold, before a plan is written that could not be taken back."""
    if total > MOST_RUNS:
        raise InputError(f"runs is {total}; a campaign has {MOST_RUNS} at most.")
    if -(-total // shard) > MOST_SHARDS:
        raise InputError(
            f"{total} runs in shards of {shard} make more than {MOST_SHARDS} files: take "
            f"campaign.shard = {-(-total // MOST_SHARDS)} or more."
        )


def read_plan(folder: pathlib.Path) -> Plan | None:
    """The plan of a folder, or None where there is none."""
    path = folder / PLAN_FILE
    if not path.exists():
        return None
    try:
        body = json.loads(read_bounded(path, MOST_BYTES, "the plan"))
        if body.pop(SUM, None) != digest(body) or body["format"] != FORMAT:
            raise FileError(
                f"{path} has been changed by hand, or is of another version of Alight: its "
                "contents and its hash disagree. Restore it, or use another folder."
            )
        return _plan_of(body)
    except FileError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as cause:
        why = "nested too deeply" if isinstance(cause, RecursionError) else cause
        raise FileError(
            f"{path} cannot be read as the plan of a campaign ({why}). It is written atomically, "
            "so something else has changed it: restore it, or use another folder."
        ) from None


def _plan_of(body: dict[str, Any]) -> Plan:
    """The plan in the table of its file."""
    total, shard = (checked_whole(name, body[name], 1) for name in ("runs", "shard"))
    _check_size(total, shard)
    names = ("scenario", "sampling", "device", "versions")
    told = [Ending(one["code"], one["name"], one["sentence"]) for one in body.get("endings", [])]
    given = {name: body[name] for name in names}
    plan = Plan(total=total, shard=shard, **given, endings=own_endings(told))
    if body["hash"] != plan.hash:
        raise ValueError("it names another campaign")
    return plan


def agreed(old: Plan, new: Plan, folder: pathlib.Path) -> Plan:
    """The plan to resume with where ``old`` lies in the folder and ``new`` is asked for."""
    changes = differences(old, new)
    if changes:
        more = len(changes) - _LISTED
        listed = "".join(f"\n  {line}" for line in changes[:_LISTED])
        rest = f"\n  and {more} more" if more > 0 else ""
        raise PlanError(
            f"{folder} holds another campaign, and tables of two campaigns cannot be merged. "
            f"Changed:{listed}{rest}\nTake another folder, or put the old values back."
        )
    if new.total < old.total:
        raise PlanError(
            f"{folder} is a campaign of {old.total} runs and {new.total} are asked for; runs are "
            f"never taken away. Ask for {old.total} or more, or take another folder."
        )
    if new.total > old.total and not old.grows:
        raise PlanError(
            f"{folder} is a campaign of {old.total} runs with {old.sampling} sampling, and "
            f"{new.total} are asked for. {_WHY_NOT[old.sampling]} Take another folder, or "
            'sampling = "random", to which runs can be added at any time.'
        )
    return new


_WHY_NOT = {
    "latin-hypercube": "A Latin hypercube is laid out for its number of runs: with more of them "
    "every run would get other values.",
    "sobol": "A Sobol sequence is even over the runs it was planned for, a power of two at best: "
    "a part of the next one added to it is not.",
}


def differences(old: Plan, new: Plan) -> list[str]:
    """What differs between two plans, by key: ``contact.friction: was 0.6, is 0.5``."""
    lines = []
    scenarios = (deciding(old.scenario), deciding(new.scenario), "")
    for one, other, label in (scenarios, (old.versions, new.versions, "version of ")):
        before, after = flat(one), flat(other)
        for key in sorted(before.keys() | after.keys()):
            was, now = before.get(key, "absent"), after.get(key, "absent")
            if was != now and not _both_nan(was, now):
                lines.append(f"{label}{key}: was {_said(was)}, is {_said(now)}")
    for name, label in (("shard", "campaign.shard"), ("device", "kind of device")):
        was, now = getattr(old, name), getattr(new, name)
        if was != now and not any(line.startswith(f"{label}:") for line in lines):
            lines.append(f"{label}: was {was}, is {now}")
    return lines


def deciding(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario without what no number depends on: what is reported, and paths of hashed files."""
    told = ("title", "report", "requirement")
    out = {key: value for key, value in scenario.items() if key not in told}
    for name, table in out.items():
        if isinstance(table, Mapping) and "sha256" in table:
            files = ("mesh", "map", "urdf", "file")
            out[name] = {key: value for key, value in table.items() if key not in files}
    samples = out.get("dispersions", {}).get("table")
    if isinstance(samples, list):
        hashed = [{k: v for k, v in one.items() if k != "file"} for one in samples]
        out["dispersions"] = {**out["dispersions"], "table": hashed}
    return out


def _by_name(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Tables of a list by name, or that of their body; by number where names are not unique."""
    names = [str(one.get("name") or one.get("body") or "") for one in tables]
    unique = all(names) and len(set(names)) == len(names)
    return dict(zip(names if unique else map(str, range(1, len(names) + 1)), tables, strict=True))


def flat(tree: Any, prefix: str = "") -> dict[str, Any]:
    """A tree of dictionaries as one, by dotted keys; tables of a list go by their names, and other
    lists are values."""
    if isinstance(tree, list | tuple) and tree and all(isinstance(one, Mapping) for one in tree):
        tree = _by_name(tree)
    if not isinstance(tree, Mapping):
        return {prefix: tree}
    out: dict[str, Any] = {}
    for key, value in tree.items():
        out.update(flat(value, f"{prefix}.{key}" if prefix else str(key)))
    return out


def plain(tree: Any) -> Any:
    """A tree in the types that JSON has."""
    if isinstance(tree, Mapping):
        return {str(key): plain(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(value) for value in tree]
    if isinstance(tree, np.ndarray | np.generic):
        return plain(tree.tolist())
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    return str(tree)


def digest(tree: Any) -> str:
    """SHA-256 of a tree's one text."""
    return hashlib.sha256(canonical(tree)).hexdigest()


def canonical(tree: Any) -> bytes:
    """One text for equal trees, whatever the order of their keys."""
    return json.dumps(plain(tree), sort_keys=True, separators=(",", ":")).encode()


def _both_nan(one: Any, other: Any) -> bool:
    return all(isinstance(x, float) and math.isnan(x) for x in (one, other))


def _said(value: Any) -> str:
    text = value if value == "absent" else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."

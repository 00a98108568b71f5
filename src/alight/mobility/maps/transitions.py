"""From the runs of a map to what commands lead to, for a goal and what is to be avoided.

Runs end well at rest within the goal's radius, badly where they escape, time out, fail or rest in a
region to be avoided, and else in the cell of their rest site. Runs that began inside the goal are
left out: nobody hops away from there.

The best of many noisy estimates looks better than it is. So runs are dealt out by their repeat into
two halves, of which each is judged by the other. And landers under a plan do not rest evenly over a
cell: rehearsals, runs under the plan itself, take the place of the map's runs where they go
(``joined``). Nor are all places of a cell alike: those who hop from it again are where a hop failed
before. So with each number of hops left a plan is judged by rehearsals with that many
(``judges_of``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.campaign.reader import Campaign
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.mobility.maps.cells import Cells
from alight.mobility.maps.decisions import Outcomes, overlaid
from alight.mobility.maps.regions import Disc, Region

#: Rehearsals of a command in a cell that are as good as the runs of a map.
ENOUGH = 8


@dataclass(frozen=True, eq=False)
class Hops:
    """All runs of a map, one row each."""

    cell: Any
    """(n,) where it began."""
    command: Any
    began: Array
    """(n, 3) the place in it [m]."""
    settled: Any
    """(n,) whether it came to rest."""
    escaped: Any
    rest: Array
    """(n, 3) where [m]; NaN where it did not."""
    time: Array
    """(n,) [s]"""
    half: Any
    """(n,) 0 or 1: which half of the repeats."""
    left: Any
    """(n,) hops that were left when it began, itself included; 0 of the hops of a map."""

    def __len__(self) -> int:
        return len(self.cell)


def read_hops(campaign: Campaign, cells: Cells, commands: int) -> Hops:
    """The runs of a map's campaign, shard by shard."""
    names = ["run", "make.cell", "make.command", "make.start", "outcome_code", "end_time_s",
             "rest_x_m", "rest_y_m", "rest_z_m"]  # fmt: skip
    parts = [
        _columns({name: shard[name].to_numpy(zero_copy_only=False) for name in names}, cells,
                 commands)
        for shard in campaign.shards("runs", names)
    ]  # fmt: skip
    if not parts:
        raise InputError("this map has no finished runs yet.")
    # One column after the other: there are never two whole tables.
    return Hops(**{n: np.concatenate([part.pop(n) for part in parts]) for n in list(parts[0])})


def _columns(shard: dict[str, Any], cells: Cells, commands: int) -> dict[str, Any]:
    """The columns of ``Hops`` of one shard."""
    places = cells.starts.shape[1]
    repeat = shard["run"].astype(np.int64) // (len(cells) * commands)
    code, cell = shard["outcome_code"], shard["make.cell"].astype(np.int32)
    start = np.minimum((shard["make.start"] * places).astype(np.int32), places - 1)
    return {
        "cell": cell,
        "command": shard["make.command"].astype(np.int32),
        "began": cells.starts[cell, start],
        "settled": code == Outcome.SETTLED,
        "escaped": code == Outcome.ESCAPED,
        "rest": np.stack([shard[f"rest_{axis}_m"].astype(np.float64) for axis in "xyz"], -1),
        "time": shard["end_time_s"].astype(np.float64),
        "half": (repeat % 2).astype(np.int8),
        "left": np.zeros(len(cell), dtype=np.int16),
    }


def outcomes_of(
    hops: Hops,
    cells: Cells,
    commands: int,
    goal: Disc,
    avoid: Sequence[Region] = (),
    half: int | None = None,
    left: int | None = None,
) -> Outcomes:
    """What commands lead to, from all runs, one ``half`` of them, or those with as many hops
    ``left``."""
    from scipy.sparse import csr_matrix

    n, m = len(cells), commands
    used = ~goal.holds(hops.began) & (True if half is None else hops.half == half)
    if left is not None:
        used &= hops.left == left
    row = (hops.cell.astype(np.int64) * m + hops.command)[used]
    settled, rest, time = hops.settled[used], hops.rest[used], hops.time[used]
    here = np.where(settled[:, None], rest, np.inf)
    arrived = settled & goal.holds(here)
    bad = ~settled
    for region in avoid:
        bad |= settled & region.holds(here) & ~arrived
    goes_on = ~arrived & ~bad
    count = np.bincount(row, minlength=n * m).astype(np.float64)
    share = 1.0 / np.maximum(count, 1.0)
    nexts = cells.of(rest[goes_on])
    rows = row[goes_on]
    move = csr_matrix((share[rows], (rows, nexts)), shape=(n * m, n))
    move.sum_duplicates()

    def mean(what: Array) -> Array:
        return np.asarray(np.bincount(row, what, n * m) * share).reshape(n, m)

    runs = count.astype(np.int64).reshape(n, m)
    return Outcomes(move, mean(arrived.astype(float)), mean(bad.astype(float)), mean(time), runs)


def joined(first: Hops, more: Hops, commands: int) -> Hops:
    """Runs of a map with those of rehearsals: of a command in a cell with at least ``ENOUGH`` of
    these, they alone count, as they began where landers under the plan do come to rest."""

    def rows(hops: Hops) -> Any:
        return hops.cell.astype(np.int64) * commands + hops.command

    size = int(max(rows(first).max(), rows(more).max())) + 1
    known = np.bincount(rows(more), minlength=size) >= ENOUGH
    kept = ~known[rows(first)]
    both = {
        name: np.concatenate([getattr(first, name)[kept], getattr(more, name)])
        for name in vars(first)
    }
    return Hops(**both)


def judges_of(
    first: Hops,
    met: Hops,
    cells: Cells,
    commands: int,
    goal: Disc,
    avoid: Sequence[Region],
    hops: int,
) -> tuple[Outcomes, ...]:
    """What commands lead to with 1, 2, ... ``hops`` left, from a map and rehearsals of one plan."""
    always = outcomes_of(joined(first, met, commands), cells, commands, goal, avoid)
    return tuple(
        overlaid(always, outcomes_of(met, cells, commands, goal, avoid, left=left), ENOUGH)
        for left in range(1, hops + 1)
    )


def reach(hops: Hops, cells: Cells, commands: int) -> Array:
    """(n, m) median way from start to rest of each command [m]; NaN where none came to rest."""
    way = np.linalg.norm(hops.rest - hops.began, axis=1)
    row = hops.cell.astype(np.int64) * commands + hops.command
    good = np.flatnonzero(hops.settled)
    order = good[np.lexsort((way[good], row[good]))]
    keys, first, count = np.unique(row[order], return_index=True, return_counts=True)
    out = np.full(len(cells) * commands, np.nan)
    out[keys] = way[order][first + count // 2]
    return out.reshape(len(cells), commands)

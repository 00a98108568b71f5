"""A plan flown: hop by hop, each run by the command of the cell where it rests.

Push-offs err and the ground varies as in the map's campaign, with draws of their own, addressed by
run and hop. A run ends where it arrives, is lost, or has used up its hops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.analysis.intervals import Estimate, wilson
from alight.campaign.dispersions.sampling import sample
from alight.campaign.study.study import MADE
from alight.core.checks import Array
from alight.core.outcomes import Outcome
from alight.core.progress import progress
from alight.engine import run_batch
from alight.mobility.maps.decisions import Plan
from alight.mobility.maps.hop_study import HopMaker, HopStudy
from alight.mobility.maps.regions import Disc, Region
from alight.mobility.maps.transitions import Hops

#: Numbers of runs whose draws a hop has: no two hops share any.
_APART = 10_000_000


@dataclass(frozen=True, eq=False)
class Flown:
    """How runs went under a plan."""

    arrived: Any
    """(n,) whether it came to rest in the goal."""
    lost: Any
    """(n,) whether it escaped, timed out, failed or rests where it must not."""
    hops: Any
    """(n,) hops made."""
    time: Array
    """(n,) all together [s]."""
    tracks: list[Array]
    """(hops + 1, 3) of each run: where it rested, from its start on [m]."""
    made: Hops
    """Every hop of every run."""

    def __len__(self) -> int:
        return len(self.arrived)

    @property
    def success(self) -> Estimate:
        """Share of runs that arrived, with its interval."""
        return wilson(int(self.arrived.sum()), len(self.arrived))

    def within(self, hops: int) -> float:
        """Share of runs that arrived in at most this number of hops."""
        return float((self.arrived & (self.hops <= hops)).mean())


Choice = Callable[[Any, int], Any]


def fly(
    study: HopStudy,
    starts: Array,
    plan: Plan | Choice,
    hops: int,
    goal: Disc,
    avoid: Sequence[Region] = (),
    *,
    seed: int = 1,
    device: str = "cpu",
    show: str = "silent",
) -> Flown:
    """Runs from ``starts`` (n, 3) [m] under a plan, or a function of cells and hops left."""
    maker = study.maker
    choose = plan if callable(plan) else (lambda cells, left: plan[left - 1][cells])
    n = len(starts)
    place, live = np.array(starts, dtype=np.float64), np.arange(n)
    arrived, lost = np.zeros(n, bool), np.zeros(n, bool)
    count, time = np.zeros(n, dtype=np.int64), np.zeros(n)
    tracks, made = [[one.copy()] for one in place], []
    arrived |= goal.holds(place)
    live = live[~arrived]
    with progress(show) as bar:
        bar.start("Plan flown", total=hops)
        for left in range(hops, 0, -1):
            if not len(live):
                break
            home = maker.cells.of(place[live])
            command = choose(home, left)
            ended, rest, took = _hop(study, maker, place[live], command, live + left * _APART,
                                     seed, device)  # fmt: skip
            made.append((home, command, place[live], ended, rest, took, live % 2,
                         np.full(len(live), left)))  # fmt: skip
            count[live] += 1
            time[live] += took
            place[live] = np.where(ended[:, None], rest, place[live])
            for row in live[ended]:
                tracks[row].append(place[row].copy())
            there = ended & goal.holds(rest)
            bad = ~ended
            for region in avoid:
                bad |= ended & region.holds(rest) & ~there
            arrived[live[there]], lost[live[bad]] = True, True
            live = live[~there & ~bad]
            bar.advance(1, arrived=int(arrived.sum()), lost=int(lost.sum()))
    ways = [np.array(track) for track in tracks]
    return Flown(arrived, lost, count, time, ways, _all_hops(made))


def _all_hops(made: list[Any]) -> Hops:
    """Hops of rounds as one table."""
    if not made:
        none, places = np.zeros(0, dtype=int), np.zeros((0, 3))
        return Hops(none, none, places, none > 0, none > 0, places, np.zeros(0), none, none)
    columns = [np.concatenate(one) for one in zip(*made, strict=True)]
    cell, command, began, settled, rest, time, half, left = columns
    return Hops(cell, command, began, settled, ~settled, rest, time, half, left)


def _hop(
    study: HopStudy, maker: HopMaker, places: Array, command: Any, numbers: Any, seed: int,
    device: str,
) -> tuple[Any, Array, Array]:  # fmt: skip
    """Whether runs came to rest, where, and after what time."""
    drawn = sample(study.seeded(seed), numbers)
    errors = np.stack([drawn[f"{MADE}{k}_error"] for k in ("speed", "across", "along")], -1)
    more = {key: value for key, value in drawn.items() if not key.startswith(MADE)}
    settled, rest = np.zeros(len(places), bool), np.full((len(places), 3), np.nan)
    time = np.zeros(len(places))
    for group in maker.thrown(places, maker.commands.thrown(command, errors), more):
        found = run_batch(group.model, group.release, device=device)
        settled[group.rows] = found.outcome == Outcome.SETTLED
        rest[group.rows], time[group.rows] = found.position, found.time
    return settled, np.where(settled[:, None], rest, np.nan), time

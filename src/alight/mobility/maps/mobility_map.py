"""``MobilityMap``: a campaign of hops from every cell by every command, and plans over it.

::

    made = MobilityMap(scenario, cells=300, commands=commands, repeats=40)
    made.run("out/map/hops")
    plan = made.plan(made.disc((0.2, 1.0), 30.0), hops=8)
    flown = plan.fly(1000)
    print(plan.predicted, flown.success)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alight import surfaces
from alight.actuators import StoredPlan
from alight.campaign import Campaign, run_campaign
from alight.campaign.study.subject import mesh_of
from alight.core import random
from alight.core.checks import Array, checked_whole
from alight.core.errors import InputError, unknown_name
from alight.mobility.aiming.free_flight import FreeFlight
from alight.mobility.aiming.push_off import PushOffs
from alight.mobility.aiming.scatter import ThrowErrors
from alight.mobility.maps.cells import Cells
from alight.mobility.maps.closed_loop import Flown, fly
from alight.mobility.maps.commands import Commands
from alight.mobility.maps.decisions import Outcomes, Plan, arrivals, evaluate, solve, success
from alight.mobility.maps.greedy import greedy_plan
from alight.mobility.maps.hop_study import HopStudy, made_of
from alight.mobility.maps.regions import DarkGround, Disc, Region, check_goal
from alight.mobility.maps.transitions import Hops, joined, judges_of, outcomes_of, reach, read_hops
from alight.scenario import load
from alight.scenario.document import Document
from alight.shapes.icosphere import icosphere
from alight.shapes.mesh import Mesh

if TYPE_CHECKING:
    from alight.analysis.rest_light import RestLight

#: What a plan may be best at.
OBJECTIVES = ("risk", "hops", "time")
#: How often a plan is rehearsed and made again.
ROUNDS = 2
#: A run that is lost, or that has used up its hops, counts as this many times all its hops.
FAILURE = 3.0


def check_objective(name: str) -> None:
    """Raise where a plan cannot be best at that."""
    if name not in OBJECTIVES:
        raise unknown_name("objective", name, OBJECTIVES)


class MobilityMap:
    """Hops over the whole of a body.

    Parameters
    ----------
    scenario:
        A landing scenario or the path of its file; how it is released does not matter.
    cells:
        How many patches the surface is cut into, or the ``Cells`` themselves.
    commands:
        What the lander can be commanded to do.
    repeats:
        How often each command is flown from each cell; even, as halves are compared.
    errors:
        Of the push-off.
    starts:
        From how many places of a cell hops begin.
    """

    def __init__(
        self,
        scenario: Document | str | os.PathLike[str],
        cells: int | Cells,
        commands: Commands,
        *,
        repeats: int = 40,
        errors: ThrowErrors | None = None,
        starts: int = 16,
        seed: int | None = None,
    ) -> None:
        given = scenario if isinstance(scenario, Document) else load(scenario)
        if checked_whole("repeats", repeats, 2) % 2:
            raise InputError(
                f"repeats is {repeats}; it must be even: a plan is made from one half of the runs, "
                "and what is predicted of it from the other."
            )
        self.commands, self.repeats = commands, repeats
        self.errors = errors or ThrowErrors()
        base = made_of(given)
        self.stand = PushOffs(base.prepared)
        self.cells = cells if isinstance(cells, Cells) else self._cut(cells, starts)
        self.study = HopStudy(
            given, self.cells, commands, repeats=repeats, errors=self.errors, seed=seed
        )
        self.campaign: Campaign | None = None

    @property
    def mesh(self) -> Mesh | None:
        """The body; None of flat ground."""
        model = self.stand.model
        if isinstance(model.surface, surfaces.Sphere):
            return icosphere(5, model.surface.radius)
        return mesh_of(model)

    def _cut(self, count: int, starts: int) -> Cells:
        mesh = self.mesh
        if mesh is None:
            raise InputError(
                f"{self.stand.scenario.source} has no body to cut into cells; give them: "
                "Cells.on_plane(width, spacing)."
            )
        return Cells.on_mesh(mesh, count, starts)

    def run(
        self, out: str | os.PathLike[str], device: str = "auto", show: str = "silent"
    ) -> Campaign:
        """Run the campaign into a folder, or resume it."""
        found = run_campaign(self.study, out=out, device=device, show=show)
        self.campaign = found.open()
        return self.campaign

    @cached_property
    def hops(self) -> Hops:
        """All its runs."""
        if self.campaign is None:
            raise InputError("this map has no runs yet: run(out) comes first.")
        return read_hops(self.campaign, self.cells, len(self.commands))

    @cached_property
    def reach(self) -> Array:
        """(n, m) median way of each hop [m]."""
        return reach(self.hops, self.cells, len(self.commands))

    def disc(self, place: npt.ArrayLike, radius: float) -> Disc:
        """The ground within ``radius`` [m] of a place: latitude and longitude [rad], or a position
        [m] on the ground."""
        given = np.asarray(place, dtype=np.float64)
        by_angles = given.shape == (2,) and not self.stand.scenario.flat
        if not (by_angles or given.shape == (3,)) or not np.isfinite(given).all():
            raise InputError(
                f"a place is {place!r}; it must be latitude and longitude [rad], or x, y, z [m]."
            )
        centre = self.stand.footing(given[None])[0] if by_angles else given
        off = np.linalg.norm(self.cells.centres - centre, axis=1).min()
        if off > radius + 2.0 * self.cells.spacing:
            raise InputError(
                f"the place {np.round(centre, 3).tolist()} m is {off:.4g} m from the nearest "
                "ground of this body: it is not on it."
            )
        return Disc((float(centre[0]), float(centre[1]), float(centre[2])), radius)

    def dark(self, light: RestLight, most: float) -> DarkGround:
        """The ground whose longest night under this ``light`` is longer than ``most`` [s], as a
        region to be avoided."""
        return DarkGround.of(self.cells, light, most)

    def plan(
        self,
        goal: Disc,
        avoid: Sequence[Region] = (),
        *,
        hops: int = 8,
        objective: str = "risk",
        rehearsals: int = 4000,
        device: str = "cpu",
        show: str = "silent",
    ) -> MobilityPlan:
        """The best commands on the way to ``goal`` in at most ``hops`` hops.

        ``objective``: least ``risk`` of not arriving, fewest ``hops``, or least ``time``. A run
        that escapes, does not come to rest or rests in a region of ``avoid`` is lost. The plan
        is flown by ``rehearsals`` runs, made again from what they met, and judged by as many
        others; 0 for none.
        """
        check_objective(objective)
        checked_whole("hops", hops, 1)
        check_goal(goal, avoid)
        known = self.hops
        first = self._solved(known, goal, tuple(avoid), hops, objective)
        for number in range(ROUNDS if rehearsals else 0):
            met = first.rehearsed(rehearsals, 101 + number, device, show)
            known = joined(known, met, len(self.commands))
            first = self._solved(known, goal, tuple(avoid), hops, objective)
        return first.judged(rehearsals, device, show) if rehearsals else first

    def _solved(
        self, known: Hops, goal: Disc, avoid: tuple[Region, ...], hops: int, objective: str
    ) -> MobilityPlan:
        count = len(self.commands)
        first, second = (
            outcomes_of(known, self.cells, count, goal, avoid, half) for half in (0, 1)
        )
        if not first.arrive.any():
            raise InputError(
                f"no plan exists: none of {len(known)} hops ended in the goal. Give it a larger "
                "radius, or the lander more or other commands."
            )
        mean = float(first.time[first.runs > 0].mean())
        costs: dict[str, Any] = {"risk": 1e-3 / hops, "hops": 1.0, "time": first.time}
        failures = {"risk": 1.0, "hops": FAILURE * hops, "time": FAILURE * hops * mean}
        cost = np.broadcast_to(costs[objective], first.arrive.shape)
        found = solve(first, cost, failures[objective], hops)
        return MobilityPlan(self, goal, avoid, found.plan, (second,) * hops, objective)

    def greedy(
        self,
        plan: MobilityPlan,
        rehearsals: int = 4000,
        device: str = "cpu",
        show: str = "silent",
    ) -> MobilityPlan:
        """The greedy rule for the same goal, judged in the same way."""
        pull = FreeFlight.of(self.stand.model).pull(self.cells.centres)
        own = greedy_plan(self.cells, self.commands, pull, np.array(plan.goal.centre), plan.hops)
        rule = MobilityPlan(self, plan.goal, plan.avoid, own, plan.judges, "greedy")
        return rule.judged(rehearsals, device, show) if rehearsals else rule


@dataclass(frozen=True, eq=False)
class MobilityPlan:
    """Commands by cell and hops left, and what is predicted of them."""

    made: MobilityMap
    goal: Disc
    avoid: tuple[Region, ...]
    plan: Plan
    """(hops, n) row h - 1 with h hops left."""
    judges: tuple[Outcomes, ...]
    """What commands lead to with 1, 2, ... hops left, from runs that the plan was not made from."""
    objective: str

    @property
    def hops(self) -> int:
        """Hops at most."""
        return len(self.plan)

    def rehearsed(self, runs: int, seed: int, device: str = "cpu", show: str = "silent") -> Hops:
        """The hops of runs under this plan, from all over the body."""
        _, starts = self.starts(runs, seed=seed)
        return fly(self.made.study, starts, self.plan, self.hops, self.goal, self.avoid,
                   seed=seed, device=device, show=show).made  # fmt: skip

    def judged(self, runs: int, device: str = "cpu", show: str = "silent") -> MobilityPlan:
        """The same plan, what it leads to known from runs under it that it was not made from."""
        met = self.rehearsed(runs, 99, device, show)
        count = len(self.made.commands)
        known = judges_of(
            self.made.hops, met, self.made.cells, count, self.goal, self.avoid, self.hops
        )
        return replace(self, judges=known)

    @cached_property
    def success(self) -> Array:
        """(n,) predicted chance of arriving from each cell."""
        return np.asarray(success(self.judges, self.plan)[-1])

    @cached_property
    def expected_hops(self) -> Array:
        """(n,) expected hops until it arrives, is lost or has used them up."""
        return np.asarray(evaluate(self.judges, self.plan, 1.0, 0.0)[-1])

    @cached_property
    def places(self) -> Any:
        """(k, 2) cell and place in it of all starts outside the goal."""
        outside = ~self.goal.holds(self.made.cells.starts)
        return np.argwhere(outside)

    def starts(self, count: int, place: Array | None = None, seed: int = 1) -> tuple[Any, Array]:
        """(count,) cells and (count, 3) places to start from: all over the body, or in the cell of
        a ``place`` [m]."""
        own = self.places
        if place is not None:
            home = int(self.made.cells.of(place[None])[0])
            own = own[own[:, 0] == home]
            if not len(own):
                raise InputError("the start is in the goal already: there is nothing to plan.")
        pick = random.uniform(seed, np.arange(count), "mobility: fresh starts", 1)[:, 0]
        rows = own[np.minimum((pick * len(own)).astype(int), len(own) - 1)]
        return rows[:, 0], self.made.cells.starts[rows[:, 0], rows[:, 1]]

    @property
    def stored(self) -> StoredPlan:
        """What a scenario follows: the commands, the goal, and what is avoided."""
        discs = [one for one in self.avoid if isinstance(one, Disc)]
        dark = [one for one in self.avoid if isinstance(one, DarkGround)]
        places = [one.places for one in dark] or [np.zeros((0, 3))]
        nights = [one.night > one.most for one in dark] or [np.zeros(0, dtype=bool)]
        errors = self.made.errors
        return StoredPlan(
            centres=self.made.cells.centres,
            throws=self.made.commands.throws,
            plan=self.plan,
            goal=np.array(self.goal.centre),
            goal_radius=self.goal.radius,
            avoid=np.array([(*one.centre, one.radius) for one in discs]).reshape(-1, 4),
            dark_places=np.concatenate(places),
            dark=np.concatenate(nights),
            vertical=str(self.made.stand.scenario.release.vertical),
            speed_error=errors.speed,
            angle_error=errors.angle,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as the file that ``[[manoeuvre]] command = "policy"`` follows."""
        more = {"success": self.success, "expected_hops": self.expected_hops}
        self.stored.save(path, reach=self.made.reach, **more)

    def arrivals(self, cells: Any) -> Array:
        """(hops + 1,) predicted share that has arrived by number of hops, from these cells."""
        share = np.bincount(cells, minlength=len(self.made.cells)) / len(cells)
        return arrivals(self.judges, self.plan, share)

    def fly(
        self,
        runs: int = 1000,
        place: Array | None = None,
        *,
        seed: int = 1,
        device: str = "cpu",
        show: str = "silent",
    ) -> tuple[Flown, float]:
        """The plan flown by fresh runs, and the share of them that was predicted to arrive."""
        cells, starts = self.starts(runs, place, seed)
        predicted = float(self.arrivals(cells)[-1])
        if predicted == 0.0:
            raise InputError(
                "no plan exists from there: no way leads from the start to the goal in "
                f"{self.hops} hops. Allow more hops, or other commands."
            )
        flown = fly(self.made.study, starts, self.plan, self.hops, self.goal, self.avoid,
                    seed=seed, device=device, show=show)  # fmt: skip
        return flown, predicted

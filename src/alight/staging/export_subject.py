"""What is exported: a campaign, a replay or a solution, with what its scenario says of it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alight.campaign.reader import Campaign, open_campaign
from alight.campaign.replay import Replay, checked_run_number
from alight.campaign.study.study import Study
from alight.campaign.tables.arrow import table_from
from alight.core.errors import InputError
from alight.engine.columns import Source
from alight.scenario import load
from alight.scenario.document import Document
from alight.staging import campaigns
from alight.staging.gathering import playback
from alight.views.exports.formats import Format
from alight.views.playback import Playback, Track


@dataclass(frozen=True, eq=False)
class Subject:
    """A campaign, a replay or a solution, with what is known of its scenario."""

    what: Any
    scenario: Any
    runs: list[int] | None
    device: str
    show: str

    @classmethod
    def of(cls, what: Any, runs: Any, scenario: Any, device: str, show: str) -> Subject:
        """From what a user gives; a scenario is run."""
        if isinstance(what, str | os.PathLike):
            path = Path(what)
            what = open_campaign(path) if path.is_dir() else load(what)
        if isinstance(what, Document):
            from alight.scenario.building.prepare import simulate

            scenario, what = what, simulate(what, device=device, progress=show)
        campaign = what if isinstance(what, Campaign) else getattr(what, "campaign", None)
        if scenario is None and campaign is not None:
            scenario = campaigns.scenario_of(campaign)
        if runs is not None and not isinstance(what, Campaign):
            raise InputError("runs are chosen of a campaign; this is a single run.")
        return cls(what, scenario, None if runs is None else list(runs), device, show)

    def check(self, wanted: Sequence[Format]) -> None:
        """An error where runs are not there, or a format needs the trajectory of one and there is
        none."""
        for run in self.runs or ():
            checked_run_number(self.what, run)
        need = [one.name for one in wanted if one.needs_runs]
        if need and isinstance(self.what, Campaign) and not self.run_numbers:
            raise InputError(
                f"{self.what.folder} has no kept trajectories, and {', '.join(need)} need some: "
                "name runs, which are computed again (--runs 1,5; in Python runs=[1, 5])."
            )

    @property
    def run_numbers(self) -> list[int]:
        """Runs whose trajectories are exported."""
        if isinstance(self.what, Campaign):
            return self.runs if self.runs is not None else self.what.trajectories
        return [getattr(self.what, "run", 0)]

    @property
    def title(self) -> str:
        """What it is called."""
        if isinstance(self.what, Campaign):
            return campaigns.title_of(self.what)
        return str(getattr(self.scenario, "title", None) or "A run")

    @property
    def body(self) -> str:
        """Name of the body."""
        named = getattr(getattr(self.scenario, "body", None), "name", None)
        return str(named or "target")

    @property
    def date(self) -> str | None:
        """The date of t = 0 that the scenario gives: of its Sun, or of its file of states."""
        sun = getattr(getattr(self.scenario, "environment", None), "sun", None)
        release = getattr(self.scenario, "release", None)
        return getattr(sun, "date", None) or getattr(release, "date", None)

    def shown(self, title: str | None) -> Playback:
        """The runs as a playback."""
        made = playback(
            self.what,
            scenario=self.scenario,
            runs=self.runs,
            title=title,
            device=self.device,
            show=self.show,
        )
        # A run at its release alone goes nowhere.
        tracks = tuple(t for t in map(_finite, made.tracks) if len(t.time) > 1)
        return dataclasses.replace(made, tracks=tracks)

    # -- tables ------------------------------------------------------------------------------------

    def tables(self) -> Iterator[tuple[str, Iterable[Any]]]:
        """Tables of runs and contacts, and the trajectories of runs, by name and in parts."""
        if isinstance(self.what, Campaign):
            for name in ("runs", "contacts"):
                yield name, self.what.shards(name)
            kept = set(self.what.trajectories)
            for run in self.run_numbers:
                yield f"trajectory_{run}", [self._trajectory(run, run in kept)]
        elif isinstance(self.what, Replay):
            yield "runs", [self.what.row]
            yield "contacts", [self.what.contacts]
            yield f"trajectory_{self.what.run}", [self.what.history]
        else:
            yield from self._of_solution()

    def _trajectory(self, run: int, kept: bool) -> Any:
        if kept:
            return self.what.trajectory(run)
        given = self.scenario if isinstance(self.scenario, Study) else None
        return self.what.replay(run, given, show=self.show).history

    def _of_solution(self) -> Iterator[tuple[str, Iterable[Any]]]:
        solution = self.what
        model = solution.model
        course = Source(solution, np.zeros(1, np.int64), model)
        met = Source(solution.events, solution.events["run"])
        yield "contacts", [table_from(model.columns.contacts, met)]
        yield "trajectory_0", [table_from(model.columns.course, course)]


def _finite(track: Track) -> Track:
    """A track up to the first line that is not finite: a run that failed may end with one."""
    parts = (track.position, track.velocity, track.attitude)
    good = np.logical_and.reduce([np.isfinite(a).all(axis=(1, 2)) for a in parts])
    if good.all():
        return track
    end = int(np.argmin(good))
    rows = {n: getattr(track, n)[:end] for n in ("time", "position", "velocity", "attitude")}
    surface = None if track.surface is None else track.surface[:end]
    return dataclasses.replace(track, **rows, surface=surface)

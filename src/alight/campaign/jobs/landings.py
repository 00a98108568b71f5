"""Landings of a campaign, told in tables of runs, contacts and courses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.jobs.job import Index, Job
from alight.campaign.shard_store import contacts_name
from alight.campaign.tables.articulated import Filled, course_columns, load_columns
from alight.campaign.tables.landing import contact_table, run_table, to_bytes, trajectory_table
from alight.core.outcomes import Outcome
from alight.engine import simulate
from alight.motions import Model, TreeSolution
from alight.motions.rigid.rest_depth import hull_depths
from alight.motions.rigid.state import final_states


class Landings(Job):
    """Landings of some runs, all of them done."""

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        return np.asarray(self._final["outcome"])

    def reserve(self, count: int) -> None:
        """Final states, how deep landers rest, and what their parts bore."""
        self._final = final_states(count)
        self._depth: Any = np.ma.masked_all(count)
        self._loads: dict[str, Filled] = {}

    def take(self, rows: Index, group: Any, result: Any) -> None:
        """Keep what came of the runs of one model."""
        self._final[rows] = result.final
        if isinstance(group.model, Model):
            place = (self.work.device, self.work.threads)
            self._depth[rows] = hull_depths(group.model, result.final, *place)
        for column, array in load_columns(result):
            blank = np.zeros(len(self.runs))
            self._loads.setdefault(column.name, (column, blank))[1][rows] = array

    def table(self, own: slice, more: list[Filled]) -> Any:
        """The table of some runs."""
        loads = [(column, a[own]) for column, a in self._loads.values()]
        given = (self.runs[own], self._final[own], [*loads, *more], self._depth[own])
        return run_table(*given, endings=self.endings)

    def more_files(self, shard: int, owners: Index, touches: Any) -> dict[str, bytes]:
        """The table of contacts."""
        return {contacts_name(shard): to_bytes(contact_table(owners, touches))}

    def course(self, run: int, group: Any) -> Any:
        """The table of the course of a run; one released inside the ground has none."""
        work = self.work
        if self._final["outcome"][np.searchsorted(self.runs, run)] == Outcome.STARTED_INSIDE:
            return None
        solution = simulate(group.model, group.release, device=work.device, threads=work.threads)
        joints = course_columns(solution) if isinstance(solution, TreeSolution) else None
        return trajectory_table(run, solution, joints)

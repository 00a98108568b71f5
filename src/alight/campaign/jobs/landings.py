"""Landings of a campaign: run in batches, told in tables of runs, contacts and courses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.dispersions.sampling import sample
from alight.campaign.shard_store import contacts_name, runs_name, trajectory_name
from alight.campaign.tables.articulated import Filled, course_columns, load_columns
from alight.campaign.tables.inputs import drawn_columns
from alight.campaign.tables.landing import contact_table, run_table, to_bytes, trajectory_table
from alight.core.checks import Array
from alight.core.outcomes import Outcome
from alight.core.progress import Progress
from alight.engine import Model, TreeSolution, simulate
from alight.engine.fleet import run_models
from alight.engine.records import Touch, stacked
from alight.engine.resting import hull_depths
from alight.engine.run import final_states


class Landings:
    """Landings of some runs, all of them done."""

    def __init__(
        self,
        work: Any,
        runs: npt.NDArray[np.int64],
        values: dict[str, Array],
        bar: Progress | None,
    ) -> None:
        self._work, self._runs, self._values = work, runs, values
        self._depth: Any = np.ma.masked_all(len(runs))
        self._final, self._loads, self._touches, self._owners = self._land(bar)

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        return np.asarray(self._final["outcome"])

    def files(self, shard: int, own: slice) -> tuple[dict[str, bytes], int]:
        """The files of a shard, whose runs are ``own`` of these, and its number of contacts."""
        runs, final = self._runs[own], self._final[own]
        drawn = {key: a[own] for key, a in self._values.items()}
        loads = [(column, a[own]) for column, a in self._loads]
        met = slice(*np.searchsorted(self._owners, [own.start, own.stop]))
        touches, owners = self._touches[met], self._runs[self._owners[met]]
        more = [*loads, *drawn_columns(self._work.scenario, drawn)]
        files = {
            runs_name(shard): to_bytes(run_table(runs, final, more, self._depth[own])),
            contacts_name(shard): to_bytes(contact_table(owners, touches)),
            **self._trajectories(runs, final),
        }
        return files, len(touches)

    def _land(self, bar: Progress | None) -> tuple[Any, list[Filled], Any, npt.NDArray[np.int64]]:
        """Final states and loads in the order of runs; contacts by run and time, and their rows."""
        count, work = len(self._runs), self._work
        final = final_states(count)
        parts, owners, loads = [], [], dict[str, Filled]()
        models, releases, rows = zip(*self._groups(count, self._values), strict=True)
        options = {"device": work.device, "threads": work.threads, "show": bar or "silent"}
        for numbers, result, each in run_models(models, releases, **options):
            own = np.concatenate([rows[i] for i in numbers])
            final[own] = result.final
            parts.append(result.touches)
            owners.append(own[result.touches["run"]])
            for number, part in zip(numbers, each, strict=True):
                self._note(models[number], part, rows[number], loads)
        touches, row = stacked(Touch, parts), np.concatenate(owners)
        # Groups come one after the other; within a run contacts are already in order of time.
        order = np.argsort(row, kind="stable")
        return final, list(loads.values()), touches[order], row[order]

    def _note(self, model: Any, result: Any, rows: Any, loads: dict[str, Filled]) -> None:
        """How deep landers rest, and what their parts bore, of the runs of one model."""
        work = self._work
        if isinstance(model, Model):
            depth = hull_depths(model, result.final, work.device, work.threads)
            self._depth[rows] = depth
        for column, array in load_columns(result):
            blank = np.zeros(len(self._runs))
            loads.setdefault(column.name, (column, blank))[1][rows] = array

    def _groups(
        self, count: int, values: dict[str, Array]
    ) -> list[tuple[Any, Any, npt.NDArray[np.int64]]]:
        """Models, the releases of their runs, and which runs these are."""
        groups = self._work.prepared.groups(values)
        if not values:  # nothing is dispersed: every run is the nominal one
            (only,) = groups
            same = only.release[np.zeros(count, dtype=np.int64)]
            return [(only.model, same, np.arange(count))]
        return [(g.model, g.release, np.asarray(g.rows, dtype=np.int64)) for g in groups]

    def _trajectories(self, runs: npt.NDArray[np.int64], final: Any) -> dict[str, bytes]:
        """Files of the runs whose course is kept; a run released inside the ground has none."""
        out, work = {}, self._work
        for run in work.kept(runs):
            if final["outcome"][run - runs[0]] == Outcome.STARTED_INSIDE:
                continue
            values = sample(work.scenario, [run], total=work.plan.total)
            ((model, release, _),) = self._groups(1, values)
            solution = simulate(model, release, device=work.device, threads=work.threads)
            joints = course_columns(solution) if isinstance(solution, TreeSolution) else None
            out[trajectory_name(run)] = to_bytes(trajectory_table(run, solution, joints))
        return out

"""Captures and drops of a campaign."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from alight.campaign.jobs.job import Index, Job
from alight.campaign.tables.articulated import Filled
from alight.campaign.tables.membrane import (
    capture_course,
    capture_table,
    drop_course,
    drop_numbers,
    drop_table,
)
from alight.core.checks import Array
from alight.engine.gain import moving_energy
from alight.motions.capture.result import ROW
from alight.motions.membrane.pull import released_energy
from alight.scenario.building.membrane_drops import length_of


class Captures(Job):
    """Captures of some runs, all of them done."""

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        return np.asarray(self._rows_of_runs["outcome"])

    def reserve(self, count: int) -> None:
        """A row for each run, and how long its asteroid is."""
        self._rows_of_runs: Any = np.zeros(count, dtype=ROW)
        self._lengths = np.zeros(count)

    def take(self, rows: Index, group: Any, result: Any) -> None:
        """Keep what came of the runs of one model."""
        self._rows_of_runs[rows] = result.rows
        self._rows_of_runs["run"][rows] = self.runs[rows]
        self._rows_of_runs["shape"][rows] = group.shape
        self._lengths[rows] = length_of(group.asteroid.mesh)

    def table(self, own: slice, more: list[Filled]) -> Any:
        """The table of some runs."""
        return capture_table(self._rows_of_runs[own], self._lengths[own], more, self.endings)

    def course(self, run: int, group: Any) -> Any:
        """The table of the course of a run."""
        every = float(self.work.scenario.record.every)
        return capture_course(run, group.follow(self.work.device, every, self.work.threads))


class Drops(Job):
    """Drops of some runs, all of them done."""

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """How each run ended."""
        return np.asarray(self._numbers["outcome"], dtype=np.int32)

    def reserve(self, count: int) -> None:
        """Numbers of each run by the names of columns."""
        self._numbers: dict[str, Any] = {"run": self.runs, "outcome": np.zeros(count, np.int64)}

    def take(self, rows: Index, group: Any, result: Any) -> None:
        """Keep what came of the runs of one model."""
        numbers = drop_numbers(result) | _energies(group, result.last)
        for name, array in numbers.items():
            blank = np.zeros(len(self.runs), dtype=np.asarray(array).dtype)
            self._numbers.setdefault(name, blank)[rows] = array

    def table(self, own: slice, more: list[Filled]) -> Any:
        """The table of some runs."""
        return drop_table({name: a[own] for name, a in self._numbers.items()}, more, self.endings)

    def course(self, run: int, group: Any) -> Any:
        """The table of the course of a run."""
        every = float(self.work.scenario.record.every)
        return drop_course(run, group.follow(self.work.device, every, self.work.threads))


def _energies(group: Any, last: Array) -> dict[str, Array]:
    """(n,) energy [J] that bodies brought, and what of it is motion at the end; ``last`` has their
    states. A carrier that gives way has a share that no column tells: empty then."""
    release, model = group.release, group.model
    mass, tensor = np.asarray(release.mass), np.asarray(release.inertia)
    before, after = (
        moving_energy(mass, tensor, velocity, rate)
        for velocity, rate in ((release.velocity, release.rate), (last[:, 3:6], last[:, 10:13]))
    )
    given = released_energy(model.law, mass, np.asarray(release.position), last[:, 0:3])
    brought = np.full(len(last), np.nan) if model.craft is not None else before + given
    return {"brought_j": brought, "moving_j": after}

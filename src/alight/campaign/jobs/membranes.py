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
from alight.motions.capture.result import ROW
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
        for name, array in drop_numbers(result).items():
            blank = np.zeros(len(self.runs), dtype=np.asarray(array).dtype)
            self._numbers.setdefault(name, blank)[rows] = array

    def table(self, own: slice, more: list[Filled]) -> Any:
        """The table of some runs."""
        return drop_table({name: a[own] for name, a in self._numbers.items()}, more, self.endings)

    def course(self, run: int, group: Any) -> Any:
        """The table of the course of a run."""
        every = float(self.work.scenario.record.every)
        return drop_course(run, group.follow(self.work.device, every, self.work.threads))

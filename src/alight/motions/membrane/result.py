"""What came of runs on a membrane: how they ended, their peaks, and histories."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.html import facts_html
from alight.core.outcomes import AnyEnding, Endings, Outcome, words
from alight.engine.columns import Columns
from alight.engine.motion import Start
from alight.engine.records import joined
from alight.engine.result import BatchResult
from alight.engine.told_run import ToldRun, only_one
from alight.membrane.forces import MembraneLoad

_LOAD: Any = MembraneLoad
#: Numbers of a load in a line of history.
LOAD_WIDTH = 36


#: What drops on membranes call some of the outcomes.
DROP_WORDS = words(
    (Outcome.TIMED_OUT, "TIMED_OUT", "reached the end of the simulated time"),
    (Outcome.LOST, "RELEASED", "left the membrane again"),
    (Outcome.RIM, "RIM", "failed: the body reached past the rim of the membrane"),
)


def load_records(lines: Array) -> Any:
    """(n,) records with the fields of ``MembraneLoad`` from (n, 36) numbers of lines."""
    loads: Any = np.zeros(len(lines), dtype=_LOAD.numpy_dtype())
    at = 0
    for name in loads.dtype.names:
        width = int(np.prod(loads.dtype[name].shape, dtype=int))
        loads[name] = lines[:, at : at + width].reshape(loads[name].shape)
        at += width
    return loads


class Caught(ToldRun):
    """What every state begins with: the body on the membrane."""

    states: Array
    """(n, r, width) of n runs with r records each."""
    records: npt.NDArray[np.int32]
    """(n,) how many records each run has."""

    def _steps(self) -> str:
        only_one(len(self.states))
        return f"{self._taken()} steps ({int(self.records[0])} records kept)"

    def _taken(self) -> int:
        """Steps of the only run."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.states)

    def __str__(self) -> str:
        return super().__str__() if len(self) == 1 else f"{len(self)} runs"

    def _repr_html_(self) -> str:
        if len(self) == 1:
            return super()._repr_html_()
        return facts_html(type(self).__name__, [("runs", str(len(self)))])

    def _own(self, run: int) -> slice:
        """Where the rows of one run are."""
        if not 0 <= run < len(self):
            raise IndexError(f"run {run} is asked for; there are {len(self)}")
        return slice(run, run + 1)

    def _met(self, run: int) -> Any:
        """The contacts of one run, as those of run 0."""
        own = self.events[self.events["run"] == run].copy()
        own["run"] = 0
        return own

    @property
    def position(self) -> Array:
        """(n, r, 3) of the body's centre of mass, inertial axes [m]."""
        return self.states[..., 0:3]

    @property
    def velocity(self) -> Array:
        """(n, r, 3) of the body, inertial axes [m/s]."""
        return self.states[..., 3:6]

    @property
    def attitude(self) -> Array:
        """(n, r, 4) of the body, body to inertial axes."""
        return self.states[..., 6:10]

    @property
    def rate(self) -> Array:
        """(n, r, 3) of the body [rad/s], body axes."""
        return self.states[..., 10:13]


@dataclass(frozen=True, eq=False)
class MembraneResult(BatchResult):
    """How runs on a membrane ended; row i is run i."""

    last: Array
    """(n, 30) states at the end."""
    energies: dict[str, Array] = field(default_factory=dict)
    """(n,) ``brought_j``: motion at the start and what gravity gave to the end; ``moving_j``:
    motion at the end [J]."""

    @classmethod
    def of(
        cls,
        runs: Start,
        touches: Any,
        codes: Any,
        kept: int,
        endings: Endings,
        energies: dict[str, Array],
    ) -> MembraneResult:
        """From what the engine brought back, with outcomes ``codes``."""
        final = joined(runs.runs, runs.notes)
        final["outcome"] = codes
        last = runs.rows["y"][:, :kept].copy()
        return cls(final, touches, last, energies=energies, endings=endings)

    @property
    def position(self) -> Array:
        """(n, 3) of the body at the end, inertial axes [m]."""
        return self.last[:, 0:3]

    @property
    def attitude(self) -> Array:
        """(n, 4) of the body at the end, body to inertial axes."""
        return self.last[:, 6:10]

    @property
    def end(self) -> Array:
        """(n,) when each run ended [s]."""
        return self.time

    @property
    def notes(self) -> dict[str, Array]:
        """(n,) ``first_contact_s``, ``slack_s`` and ``release_s`` [s], NaN if never; ``contacts``;
        ``depth_m``, ``tension`` [N/m], ``force_n``: the largest; ``impact_m_s`` and
        ``rebound_m_s``: of the lowest point at the first contact and as it last left; energies
        ``brought_j``, ``moving_j``, ``damped_j`` and ``rubbed_j``; ``steps``."""
        final = self.final
        times = {"first_contact_s": "first", "slack_s": "slack", "release_s": "release"}
        found = {name: when(final[key]) for name, key in times.items()}
        sizes = {"depth_m": "depth", "tension": "tension", "force_n": "force"}
        sizes |= {"contacts": "contacts", "steps": "steps"}
        found |= {name: final[key].copy() for name, key in sizes.items()}
        lost = {"damped_j": self.last[:, 26].copy(), "rubbed_j": self.last[:, 27].copy()}
        return found | self._speeds(found["release_s"]) | self.energies | lost

    def _speeds(self, left: Array) -> dict[str, Array]:
        """(n,) speeds [m/s] at the first contact, and after the one that ended when runs ``left``
        [s]; another may be under way."""
        towards, away = np.full(len(left), np.nan), np.full(len(left), np.nan)
        last_first = self.touches[::-1]  # of several, the first one stays
        towards[last_first["run"]] = -last_first["normal_speed_in"]
        ended = self.touches[self.touches["end"] == left[self.touches["run"]]]
        away[ended["run"]] = ended["normal_speed_out"]
        return {"impact_m_s": towards, "rebound_m_s": away}


@dataclass(frozen=True, eq=False, repr=False)
class MembraneFlight(Caught):
    """n runs with r records each; vectors in inertial axes, rates in body axes."""

    time: Array
    """(r,) [s]"""
    states: Array
    """(n, r, 30) as kernels have them; the properties below name the parts."""
    loads: Any
    """(n, r) records with the fields of ``MembraneLoad``."""
    records: npt.NDArray[np.int32]
    """(n,) how many records each run has; those after a run's end are zero."""
    outcome: list[AnyEnding]
    """How each run ended; ``print(flight.outcome[0])`` says it in words."""
    end: Array
    """(n,) when each run ended [s]."""
    last: Array
    """(n, 30) state at the end."""
    notes: dict[str, Array]
    """(n,) as those of ``MembraneResult``."""
    events: Any
    """Structured array of all contacts, by run and then by time (see ``engine.records.Touch``)."""
    endings: Endings = field(default_factory=dict)
    """What codes mean beside those of ``core.outcomes.Outcome``."""
    model: Any = None
    """What was run: body, membrane and what carries it."""

    @classmethod
    def of(
        cls,
        result: MembraneResult,
        time: Array,
        states: Array,
        loads: Any,
        records: npt.NDArray[np.int32],
        model: Any = None,
    ) -> MembraneFlight:
        """From a result and the records of its runs."""
        outcomes = [result.ending(code) for code in result.outcome]
        ends = (outcomes, result.time, result.last, result.notes, result.touches)
        return cls(time, states, loads, records, *ends, endings=result.endings, model=model)

    def __getitem__(self, run: int) -> MembraneFlight:
        """One of the runs, alone."""
        own = self._own(run)
        rows = {name: getattr(self, name)[own] for name in ("states", "loads", "records", "end")}
        notes = {name: values[own] for name, values in self.notes.items()}
        more = {"last": self.last[own], "notes": notes, "events": self._met(run)}
        return replace(self, outcome=self.outcome[own], **rows, **more)

    def _columns(self) -> Columns:
        from alight.motions.membrane.columns import DROPS  # which are made of these classes

        return DROPS

    def _ended(self) -> tuple[AnyEnding, float]:
        only_one(len(self.states))
        return self.outcome[0], float(self.end[0])

    def _taken(self) -> int:
        return int(self.notes["steps"][0])

    @property
    def craft_position(self) -> Array:
        """(n, r, 3) of the carrier [m]."""
        return self.states[..., 13:16]

    @property
    def craft_velocity(self) -> Array:
        """(n, r, 3) of the carrier [m/s]."""
        return self.states[..., 16:19]

    @property
    def craft_attitude(self) -> Array:
        """(n, r, 4) of the carrier."""
        return self.states[..., 19:23]

    @property
    def craft_rate(self) -> Array:
        """(n, r, 3) of the carrier [rad/s], its axes."""
        return self.states[..., 23:26]

    @property
    def damped(self) -> Array:
        """(n, r) energy lost in the fabric so far [J]."""
        return self.states[..., 26]

    @property
    def rubbed(self) -> Array:
        """(n, r) energy that friction has taken so far [J]; ``loads["strained"]`` is stored."""
        return self.states[..., 27]

    @property
    def slipped(self) -> Array:
        """(n, r) path of the contact along the fabric so far [m]."""
        return self.states[..., 28]

    @property
    def thrust_impulse(self) -> Array:
        """(n, r) integral of the thrust so far [N s]."""
        return self.states[..., 29]


def when(times: Array) -> Array:
    """Times, NaN where they are below 0: never."""
    return np.where(times < 0.0, np.nan, times)

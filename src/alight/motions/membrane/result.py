"""What came of runs on a membrane: histories, how they ended, and their peaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.outcomes import Ending


class MembraneOutcome(Ending):
    """How a run on a membrane ended.

    Codes are those of ``core.outcomes`` where the two mean the same, and others where they do not.
    """

    RUNNING = 0, "still running"
    TIMED_OUT = 3, "reached the end of the simulated time"
    RELEASED = 8, "left the membrane again"
    STEP_FLOOR = 16, "failed: the step shrank to its floor without meeting the tolerance"
    NOT_FINITE = 18, "failed: the state is no longer finite"
    GAINED_ENERGY = 21, "failed: contact gave more energy than it received"
    RIM = 24, "failed: the body reached past the rim of the membrane"


class Caught:
    """What every state begins with: the body on the membrane."""

    states: Array
    """(n, r, width) of n runs with r records each."""

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
    outcome: list[MembraneOutcome]
    end: Array
    """(n,) when each run ended [s]."""
    last: Array
    """(n, 30) state at the end."""
    notes: dict[str, Array]
    """(n,) ``first_contact_s``, ``slack_s`` and ``release_s`` [s], NaN if never; ``contacts``;
    ``depth_m``, ``tension`` [N/m], ``force_n``: the greatest; ``steps``."""

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


def collected(
    runs: Any, codes: npt.NDArray[np.int32], kept: int, every: float, records: int
) -> MembraneFlight:
    """Everything back on the host; ``codes`` are outcomes, ``kept`` the rows of a state kept."""
    states = runs.states.numpy().reshape(records, kept, -1).transpose(2, 0, 1)
    times = {"first_contact_s": runs.first, "slack_s": runs.slack, "release_s": runs.release}
    notes = {name: _times(values.numpy()) for name, values in times.items()}
    sizes = {"depth_m": "depth", "tension": "tension", "force_n": "force"}
    sizes |= {"contacts": "contacts", "steps": "steps"}
    notes |= {name: getattr(runs, field).numpy() for name, field in sizes.items()}
    return MembraneFlight(
        every * np.arange(records, dtype=np.float64),
        states,
        runs.loads.numpy().T,
        np.minimum(runs.saved.numpy(), records),
        [MembraneOutcome.of(code) for code in codes],
        runs.t.numpy(),
        runs.y.numpy()[:kept].T,
        notes,
    )


def _times(values: Array) -> Array:
    return np.where(values < 0.0, np.nan, values)

"""One run of a rigid lander in full detail: what ``simulate`` returns."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alight.actuators.arm import ArmsSwung, arms_swung
from alight.core import devices, frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import AnyEnding, Outcome
from alight.engine.batch import Batch
from alight.engine.columns import Columns
from alight.engine.history import Thinning
from alight.engine.lift import refusal
from alight.engine.records import stacked
from alight.engine.result import BatchResult
from alight.engine.told_run import ToldRun
from alight.motions.rigid.between_lines import attitudes_between, places_between
from alight.motions.rigid.energy import EnergyParts, energies
from alight.motions.rigid.state import Row

if TYPE_CHECKING:
    from alight.motions.rigid.model import Model

_ROW: Any = Row
#: Numbers of a line.
LINE_WIDTH = 17
#: Where a line says which phase it is of.
LINE_PHASE = 14


@dataclass(frozen=True, eq=False, repr=False)
class Solution(ToldRun):
    """The trajectory of one run: a line after every step, thinned in long runs; every contact."""

    model: Model
    rows: Any
    """Structured array, one line a step (``motions.rigid.state.Row``); the first is the release."""
    events: Any
    """Structured array of the contacts in order of time (see ``engine.records.Touch``)."""
    outcome: AnyEnding
    """How the run ended; ``print(solution.outcome)`` says it in words."""
    device: devices.Device
    thinning: Thinning
    """Which lines are kept; all of them in most runs."""
    result: BatchResult | None = None
    """How it ended, as a batch of one."""
    driven: Any = None
    """(n, 2 + wheels + 2 arms): 1 after steps under actuators, their work so far [J], speeds of
    wheels, angle and rate of each arm."""

    @property
    def steps(self) -> int:
        """Steps of the run, whether their lines are kept or not."""
        return self.thinning.steps

    @property
    def time(self) -> Array:
        """(n,) [s]."""
        return np.asarray(self.rows["t"])

    @property
    def position(self) -> Array:
        """(n, 3) of the centre of mass, target axes [m]."""
        return np.asarray(self.rows["x"])

    @property
    def velocity(self) -> Array:
        """(n, 3) relative to the turning target, target axes [m/s]."""
        return np.asarray(self.rows["v"])

    @property
    def attitude(self) -> Array:
        """(n, 4) quaternions xyzw, body to target axes."""
        return np.asarray(self.rows["q"])

    @property
    def rate(self) -> Array:
        """(n, 3) relative to the target, body axes [rad/s]."""
        return np.asarray(self.rows["w"])

    @property
    def in_contact(self) -> Any:
        """(n,) True where the step was one of the contact phase."""
        return self.rows["phase"] != 0

    @property
    def normal_force(self) -> Array:
        """(n,) of the ground on the lander, in the step before each line [N]."""
        return np.asarray(self.rows["force"])

    @property
    def wheel_speed(self) -> Array:
        """(n, wheels) relative to the lander [rad/s]."""
        return self._of_actuators()[:, 2 : 2 + self._wheels]

    @property
    def arm_angle(self) -> Array:
        """(n, arms) since the release [rad]; 0 after whole turns."""
        return self._of_actuators()[:, 2 + self._wheels :: 2]

    @property
    def arm_rate(self) -> Array:
        """(n, arms) relative to the lander [rad/s]."""
        return self._of_actuators()[:, 3 + self._wheels :: 2]

    @property
    def center_of_mass(self) -> Array:
        """(n, 3) target axes [m]: ``position``, but where arms have moved it in the lander."""
        return self.position + frames.quat_rotate(self.attitude, self._swung.shift)

    @property
    def _wheels(self) -> int:
        return len(self.model.drives.wheels) if self.model.drives else 0

    @property
    def _swung(self) -> ArmsSwung:
        drives = self.model.drives
        arms = () if drives is None else drives.arms
        none = np.zeros((len(self.rows), 0))
        angle, rate = (self.arm_angle, self.arm_rate) if arms else (none, none)
        return arms_swung(arms, self.model.lander.mass, angle, rate)

    @property
    def actuator_work(self) -> Array:
        """(n,) done by all actuators since the release [J]."""
        return self._of_actuators()[:, 1]

    def _of_actuators(self) -> Array:
        if self.driven is None:
            raise InputError("the lander has no actuators; give its Model some.")
        return np.asarray(self.driven)

    @cached_property
    def energy(self) -> EnergyParts:
        """E_J and its parts at each line [J]."""
        if self.driven is None:
            return energies(self.model, self.rows, self.device)
        swung, rows = self._swung, self.rows.copy()
        # Of the centre of mass; arms then add w . I w / 2 of what they add to I, w . h and T.
        rows["x"] = self.center_of_mass
        inner = swung.shift_rate + np.cross(self.rate, swung.shift)
        rows["v"] = self.velocity + frames.quat_rotate(self.attitude, inner)
        found = energies(self.model, rows, self.device)
        omega, _, _ = self.model.rotation.evaluate(self.time, device="cpu")
        target = frames.inertial_rate(self.attitude, np.zeros_like(self.rate), omega)
        twice = [np.einsum("ni,nij,nj->n", u, swung.inertia, u) for u in (self.rate, target)]
        arms = 0.5 * (twice[0] - twice[1]) + (self.rate * swung.spin).sum(-1) + swung.energy
        # With w relative to the target, a wheel adds J Om (a . w + Om / 2) to E_J.
        more = np.zeros(len(self.rows))
        for wheel, speed in zip(self.model.drives.wheels, self.wheel_speed.T, strict=True):  # type: ignore[union-attr]
            more += wheel.inertia * speed * (self.rate @ wheel.axis + 0.5 * speed)
        total = found.total + more + arms
        return dataclasses.replace(found, wheels=more, arms=arms, total=total)

    def sample(self, times: npt.ArrayLike) -> tuple[Array, Array]:
        """Position (m, 3) [m] and attitude (m, 4) at any times within the run [s].

        Positions are cubic between lines, from positions and velocities; attitudes are exact in
        flight; in contact and under actuators they turn from line to line as by an even torque.
        """
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        first, last = self.time[0], self.time[-1]
        if not ((t >= first) & (t <= last)).all():
            raise InputError(
                f"times must lie within the run, from {first:g} to {last:g} s; got "
                f"{t.min():g} to {t.max():g} s."
            )
        left = np.clip(np.searchsorted(self.time, t, side="right") - 1, 0, len(self.time) - 2)
        return self._places(t, left), self._attitudes(t, left)

    def _places(self, t: Array, left: Any) -> Array:
        return places_between(self.time, self.position, self.velocity, t, left)[0]

    def _attitudes(self, t: Array, left: Any) -> Array:
        model = self.model
        course = (self.time, self.attitude, self.rate, self.uneven)
        return attitudes_between(*course, model.lander.inertia, model.rotation, t, left)

    @property
    def uneven(self) -> Any:
        """(n,) True where the step before a line was in contact or under actuators."""
        if self.driven is None:
            return self.in_contact
        return self.in_contact | (self.driven[:, 0] != 0.0)

    def _columns(self) -> Columns:
        return self.model.columns

    def _ended(self) -> tuple[AnyEnding, float]:
        return self.outcome, float(self.time[-1])

    def _steps(self) -> str:
        return str(self.thinning)


def lines_as_rows(lines: Array) -> Any:
    """Lines as a kernel writes them, as a structured array of ``Row``."""
    rows: Any = np.zeros(len(lines), dtype=_ROW.numpy_dtype())
    at = 0
    for name in rows.dtype.names:
        width = int(np.prod(rows.dtype[name].shape, dtype=int))
        rows[name] = lines[:, at : at + width].reshape(rows[name].shape)
        at += width
    return rows


def solution_of(batch: Batch, result: BatchResult) -> Solution:
    """The trajectory of the only run of a batch that kept its history."""
    release, outcome = batch.release, result.ending(result.outcome[0])
    if outcome is Outcome.STARTED_INSIDE:
        x, y, z = (f"{float(part):.6g}" for part in np.round(release.position[0], 6) + 0.0)
        raise InputError(refusal(f"position ({x}, {y}, {z}) m"))
    history = batch.histories[0]
    first: Any = np.zeros(1, dtype=_ROW.numpy_dtype())
    first["x"], first["v"] = batch.released["x"], release.velocity
    first["q"], first["w"] = release.attitude, release.rate
    rows = stacked(Row, [first, *map(lines_as_rows, history.parts)])
    model: Any = batch.model
    thinning = history.thinning(releases=0)
    driven = None
    if model.drives is not None:
        idle = [0.0] * (2 * len(model.drives.arms))
        start = [[0.0, 0.0, *(wheel.speed for wheel in model.drives.wheels), *idle]]
        driven = np.concatenate([start, *(part[:, LINE_WIDTH:] for part in history.parts)])
    return Solution(model, rows, result.touches, outcome, batch.device, thinning, result, driven)

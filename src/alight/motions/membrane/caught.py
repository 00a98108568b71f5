"""What all motions of a body on a membrane share: steps, ends, memory and records."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Actuator
from alight.core import devices
from alight.core.checks import Array, checked_number, checked_vector, checked_whole
from alight.core.errors import InputError, unknown_name
from alight.core.types import scalar
from alight.engine.batch import Batch
from alight.engine.history import line_limit
from alight.engine.motion import EACH_STEP, LINES, Loop, Motion, Pace, Start, new_records
from alight.engine.stops.judging import judged
from alight.engine.stops.law import checked_stops, require_no_target
from alight.flight import External, Rotation
from alight.gravity import Gravity, Linearised, Uniform
from alight.integrators.tableau import RK4, RK54, Tableau
from alight.membrane import Captive, Membrane
from alight.membrane.captives import Captives
from alight.motions.membrane.drive import checked_actuators
from alight.motions.membrane.result import LOAD_WIDTH, load_records
from alight.motions.membrane.scene import caught_scene_function
from alight.motions.membrane.state import CaughtNotes, CaughtRun, Control, make_memory, slot_bytes
from alight.motions.membrane.stepping import LINE_HEAD

#: Why gravity that landers extrapolate is not taken here.
NOT_LINEARISED = (
    "linearised gravity is for landers, which come back to it at millions of small steps; what a "
    "membrane catches is pulled by the full law at every step: leave the linearisation out"
)
METHODS = {"rk4": RK4, "rk45": RK54}


@dataclass(frozen=True)
class CaughtStop:
    """When a run ends."""

    duration: float = 600.0
    """Time to simulate [s]."""
    until_release: bool = False
    """End a run when the body has left the membrane again."""
    max_steps: int = 10_000_000
    """Steps after which a run ends as still moving (``OUT_OF_STEPS``)."""

    def __post_init__(self) -> None:
        checked_number("duration [s]", self.duration)
        checked_whole("max_steps", self.max_steps, 1)


@dataclass(frozen=True)
class CaughtSteps:
    """How closely a run is followed."""

    method: str = "rk45"
    """Adaptive steps, or "rk4", fixed ones, as in paper 003."""
    step: float = 0.1
    """Length of the steps of "rk4", and the longest of "rk45" [s]."""
    tolerance: float = 1e-6
    """Error allowed in a step of "rk45", relative to the size and speed at hand."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown_name("method", self.method, list(METHODS))
        checked_number("step [s]", self.step)
        checked_number("tolerance", self.tolerance)

    @property
    def tableau(self) -> Tableau:
        """The weights of the method."""
        return METHODS[self.method]


class CaughtMotion(Motion):
    """A body on a membrane, and what carries it: subclasses say what that is."""

    membrane: Membrane
    gravity: Gravity | npt.ArrayLike
    rotation: Rotation | None
    externals: tuple[External, ...]
    actuators: tuple[Actuator, ...]
    stop: CaughtStop
    steps: CaughtSteps
    every: float | None
    #: Rows of a state that are recorded.
    kept: int
    #: Bodies, configuration and speeds of a craft with joints.
    craft_sizes: tuple[int, int, int] = (0, 0, 0)

    @property
    def captive(self) -> Captive | Captives:
        """The body."""
        raise NotImplementedError

    def _loop(self) -> tuple[Loop, Any]:
        """What the kernel is made from, and the struct of its world."""
        raise NotImplementedError

    def _take_laws(self) -> None:
        """Check what pulls, a vector becoming a law, and what ends runs."""
        object.__setattr__(self, "stops", checked_stops(self.stops))
        require_no_target(self.stops, "a body over a membrane")
        law = self.gravity
        if not isinstance(law, Gravity):
            law = Uniform(checked_vector("gravity [m/s^2]", law))
        if isinstance(law, Linearised):
            raise InputError(f"gravity is {law!r}; {NOT_LINEARISED}.")
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "externals", tuple(self.externals))
        object.__setattr__(self, "actuators", checked_actuators(self.actuators))
        for kind, given in ((Rotation, self.rotation), *((External, e) for e in self.externals)):
            if given is not None and not isinstance(given, kind):
                raise InputError(
                    f"{given!r} is no {kind.__name__.lower()} law, such as those of alight.flight."
                )

    law: Gravity

    # -- under the engine ----------------------------------------------------------------------

    tells_release = True

    def loop(self) -> Loop:
        """What the kernel is made from."""
        loop, world = self._loop()
        return judged(loop, self.stops, partial(caught_scene_function, world))

    def data(self, device: devices.Device) -> Any:
        """Parameters belong to runs: see ``world``."""
        raise NotImplementedError

    def pace(self, device: devices.Device) -> Pace:
        """How much is done at once."""
        stages = self.steps.tableau.stages
        each = slot_bytes(self.kept, stages, self.room, self.craft_sizes[0])
        return Pace(64, 128, 8, gpu_slots=65_536, gpu_memory=16 << 30, bytes_each=each)

    @property
    def layout(self) -> Hashable:
        """Rows of a state, stages of a step, parts of a craft and its actuators."""
        return self.kept, self.steps.tableau.stages, self.craft_sizes, len(self.pushers)

    @property
    def pushers(self) -> tuple[Actuator, ...]:
        """All actuators of the craft."""
        return self.actuators

    @property
    def room(self) -> tuple[int, ...]:
        """Vertices and facets of the body, suspension points and beads of the hoop."""
        ring = self.membrane.ring
        beads = ring.bead_count(self.membrane.hoop)
        return *self.captive.room, len(ring.points), beads

    def memory(self, slots: int, device: devices.Device, room: tuple[int, ...] = ()) -> Any:
        """What runs keep in memory, by slot."""
        stages = self.steps.tableau.stages
        sizes = self.craft_sizes, len(self.pushers)
        return make_memory(self.kept, stages, room or self.room, *sizes, slots, device)

    def rows(self, memory: Any) -> dict[str, Any]:
        """State, allowed errors, and what a craft with joints bore."""
        own = {"y": memory.y, "scale": memory.scale}
        if self.craft_sizes[0]:
            names = ("bending", "bending_at", "twist", "marks")
            own |= {name: getattr(memory.craft, name) for name in names}
        return own

    @property
    def line_width(self) -> int:
        """Numbers of a line of history."""
        return LINE_HEAD + self.kept + LOAD_WIDTH

    def line_phase(self, lines: Array) -> npt.NDArray[Any]:
        """(n,) whether the body touches."""
        return lines[:, 1]

    def control(self, device: devices.Device) -> Any:
        """How steps are taken, as kernels read it."""
        tableau = self.steps.tableau
        stages = tableau.stages
        a = np.zeros((stages + 1, stages + 1))
        for i, row in enumerate((*tableau.a, tableau.b)):
            a[i, : len(row)] = [float(value) for value in row]
        error = np.zeros(stages + 1)
        error[: len(tableau.error)] = [float(value) for value in tableau.error]
        control = Control()
        control.a = wp.array(a, dtype=scalar, device=device.name)
        c = [*(float(value) for value in tableau.c), 1.0]
        control.c = wp.array(c, dtype=scalar, device=device.name)
        control.error = wp.array(error, dtype=scalar, device=device.name)
        control.stages, control.order = stages, tableau.error_order
        control.end, control.longest = self.stop.duration, self.steps.step
        control.floor, control.kept = 1e-12 * self.stop.duration, self.kept
        control.every = self.every or self.stop.duration
        control.each = int(self.every == EACH_STEP)
        control.until_release = int(self.stop.until_release)
        control.max_steps = self.stop.max_steps
        return control

    def followed(self, every: float | None) -> CaughtMotion:
        """The same with a record each ``every`` seconds; ``EACH_STEP``: after each step."""
        same: CaughtMotion = dataclasses.replace(self, every=every)  # type: ignore[type-var]
        return same

    # -- records -------------------------------------------------------------------------------

    @property
    def record_count(self) -> int:
        """Records at times of a run that lasts to the end; without ``every`` its start alone."""
        if not self.every:
            return 1
        return int(np.floor(self.stop.duration / self.every * (1 + 1e-9))) + 1

    def keeping(self, runs: int, max_lines: int | None = None) -> dict[str, int]:
        """Options of a batch that keeps the records of its runs, all of them; of those after each
        step at most ``max_lines``."""
        if self.every == EACH_STEP:
            if runs != 1:
                raise InputError(f"a record after each step is kept of one run, not of {runs}.")
            return {"history": LINES, "max_lines": line_limit(max_lines)}
        slots = max(1, min(runs, LINES // 16))
        return {"history": LINES // slots, "max_lines": 2 * self.record_count + 16, "slots": slots}

    def records(self, batch: Batch) -> tuple[Array, Array, Any, npt.NDArray[np.int32]]:
        """Times (r,), states (n, r, width), loads (n, r) and how many each run has (n,)."""
        count, runs = self.record_count, len(batch.released)
        times = (self.every or self.stop.duration) * np.arange(count, dtype=np.float64)
        if self.every == EACH_STEP:
            times = np.concatenate([part[:, 0] for part in batch.histories[0].parts])
            count = len(times)
        states = np.zeros((runs, count, self.kept))
        loads = load_records(np.zeros((runs * count, LOAD_WIDTH))).reshape(runs, count)
        known = np.zeros(runs, dtype=np.int32)
        for run, history in batch.histories.items():
            lines = np.concatenate(history.parts)[:count]
            known[run] = n = len(lines)
            states[run, :n] = lines[:, LINE_HEAD : LINE_HEAD + self.kept]
            loads[run, :n] = load_records(lines[:, LINE_HEAD + self.kept :])
        return times, states, loads, known


def fly(model: CaughtMotion, release: Any, device: str, threads: int | None) -> Any:
    """Histories and ends of the runs of a release."""
    kept: dict[str, Any] = model.keeping(len(release))
    batch = Batch(model, release, device=device, threads=threads, **kept)
    return model.solution(batch, batch.run())


def started(motion: CaughtMotion, release: Any, start: Array, scale: Array) -> Start:
    """Runs that are about to start, with no strain where something may stick."""
    count, more = len(start), 3 * (motion.room[0] + motion.room[3])
    runs, notes = new_records(CaughtRun, count), new_records(CaughtNotes, count)
    runs["h"], runs["fresh"], runs["first"] = motion.steps.step, 1, -1.0
    notes["number"] = notes["row"] = np.arange(count)
    for name in ("slack", "release", "hoop_at"):
        notes[name] = -1.0
    # Errors of strains are measured by the same length as those of places.
    length = np.broadcast_to(scale[:, :1], (count, more))
    rows = {
        "y": np.concatenate([start, np.zeros((count, more))], axis=1),
        "scale": np.concatenate([scale, length], axis=1),
    }
    bodies = motion.craft_sizes[0]
    if bodies:
        rows |= {name: np.zeros((count, bodies)) for name in ("bending", "bending_at", "twist")}
        rows["marks"] = np.zeros((count, 2 * (motion.kept + 1)))
    return Start(runs, notes, rows, release, start)

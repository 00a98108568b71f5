"""The capture of a tumbling asteroid with a membrane (paper 003).

::

    craft = Spacecraft()
    asteroid = Captive.from_mesh(pear(11.0), mass=1e6)
    capture = Capture(craft.membrane(), asteroid, craft, approach("corkscrew"))
    flight = capture.run(rate=(0.01, 0.02, 0.047), duration=170.0, every=1.0)
    flight.rows["bending_nm"], flight.outcome, flight.bending
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Actuator
from alight.core import devices, frames
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.engine.batch import Batch
from alight.engine.columns import Columns, with_laws
from alight.engine.motion import Loop, Start, WorldRows, world_rows
from alight.engine.stops.law import StopLaw
from alight.flight import External, Rotation
from alight.gravity import Gravity, Uniform
from alight.membrane import Captive, Membrane
from alight.membrane.captives import Captives
from alight.membrane.forces import MembraneRow
from alight.membrane.hull import UPRIGHT, in_ring_axes, require_same_kind
from alight.membrane.law import state_rows
from alight.membrane.ring import SHALLOW
from alight.motions.capture import stepping
from alight.motions.capture.approach import Approach, Asteroids
from alight.motions.capture.columns import CAPTURE_KIND, CAPTURES
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.result import (
    CAPTURE_WORDS,
    CaptureFlight,
    CaptureResult,
    rows_of,
    windows,
)
from alight.motions.membrane.caught import CaughtMotion, CaughtSteps, CaughtStop, fly, started
from alight.motions.membrane.drive import drive_data, drive_of
from alight.motions.membrane.model import ZERO, inertias
from alight.motions.membrane.pull import Pull, pull_data, pull_of

#: Rate [rad/s] of the craft against the asteroid below which it always counts as at rest.
CALM_LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class CaptureRelease:
    """How n asteroids tumble at the start, one for each row of what is given; one row stands for
    all. The craft starts where its approach says."""

    rate: npt.ArrayLike
    """(n, 3) of the asteroid [rad/s], its axes."""
    attitude: npt.ArrayLike = UPRIGHT
    """(n, 4)"""
    position: npt.ArrayLike = ZERO
    """(n, 3) of its centre of mass [m], inertial axes."""
    velocity: npt.ArrayLike = ZERO
    """(n, 3) [m/s]"""
    mass: npt.ArrayLike | None = None
    """(n,) of the asteroid [kg] in place of its own; its inertia changes as much."""
    inertia_scale: npt.ArrayLike = 1.0
    """(n,), or (n, 3) along the body axes: further factors of its inertia."""
    friction: npt.ArrayLike | None = None
    """(n,) in place of the membrane's."""
    count: int | None = None
    """Of runs, where one row stands for all of them."""

    def __len__(self) -> int:
        if self.count is not None:
            return self.count
        shaped = ((name, state_rows(name, getattr(self, name))) for name in _STATES)
        given = [rows for _, rows in shaped]
        given += [np.atleast_1d(value) for value in (self.mass, self.friction) if value is not None]
        return max(map(len, [*given, np.atleast_1d(self.inertia_scale)]))


_STATES = ("rate", "attitude", "position", "velocity")


@dataclass(frozen=True, eq=False)
class _Prepared:
    """What a release makes of the runs."""

    masses: Array
    asteroids: Asteroids
    frictions: Array
    places: Array
    """(n, 6) places and velocities."""


#: What releases make of the runs of models, and how these are approached: ``start`` and ``world``
#: both need it.
_PLANS: WeakKeyDictionary[CaptureRelease, dict[Capture, tuple[_Prepared, Any]]] = (
    WeakKeyDictionary()
)


@dataclass(frozen=True, eq=False)
class Capture(CaughtMotion):
    """An asteroid, a craft with a membrane, and the way the one comes to the other."""

    membrane: Membrane
    asteroid: Captive | Captives
    """One for all runs, or one for each."""
    craft: Spacecraft
    approach: Approach
    calm_speed: float = 0.02
    """Slip [m/s] above which craft and asteroid are not at rest against each other; and likewise"""
    calm_part: float = 0.25
    """the rate of the one against the other, as a part of the asteroid's at the start. The drift
    toward a flat spin, slow as it is, continues at a tenth or two."""
    lost_height: float = 5.0
    """A run ends when the asteroid has left the membrane and is so far above it [m]."""
    gravity: Gravity | npt.ArrayLike = ZERO
    """A law, or what is the same everywhere [m/s^2]; on asteroid and craft."""
    rotation: Rotation | None = None
    """How the target of the gravity law turns; None where it does not."""
    externals: tuple[External, ...] = ()
    """What else accelerates asteroid and craft."""
    actuators: tuple[Actuator, ...] = ()
    """Of the bus, beside the thruster of the approach."""
    stop: CaughtStop = field(default_factory=CaughtStop)
    steps: CaughtSteps = field(default_factory=CaughtSteps)
    every: float | None = None
    """Time between records [s]; steps end on them. None keeps the start and the end."""
    stops: tuple[StopLaw, ...] = ()
    """Laws that end runs; the first that is met does."""

    shape: int = 0
    """A number for the asteroid's shape, kept in ``rows``."""

    Release = CaptureRelease
    run_kind = CAPTURE_KIND
    title = "Captures"
    words = CAPTURE_WORDS
    shown = {"lost": Outcome.LOST, "rim": Outcome.RIM}  # noqa: RUF012

    @property
    def columns(self) -> Columns:
        """What is reported of captures."""
        return with_laws(CAPTURES, self)

    def __post_init__(self) -> None:
        self._take_laws()
        if self.membrane.planar:
            raise InputError("the membrane is one of 2D; a capture takes three suspension points")
        require_same_kind(self.membrane.ring, self.asteroid)
        gap = self.membrane.ring.origin - np.array([0.0, 0.0, self.craft.ring_height])
        if np.abs(gap).max() > 1e-6 * self.craft.ring_height or self.membrane.ring.R[2, 2] < 0.999:
            raise InputError(
                f"the membrane hangs about {self.membrane.ring.origin} m in the craft's axes; it "
                f"must hang about (0, 0, {self.craft.ring_height:g}) and open along z: make it "
                "with craft.membrane(...), or with suspension=craft.suspension"
            )
        checked_number("calm_speed [m/s]", self.calm_speed)
        checked_number("calm_part", self.calm_part)
        checked_number("lost_height [m]", self.lost_height)
        if not isinstance(self.approach, Approach):
            raise InputError(
                f"approach is {self.approach!r}; give an Approach, such as approach('corkscrew')"
            )

    def run(
        self,
        rate: npt.ArrayLike,
        attitude: npt.ArrayLike = UPRIGHT,
        *,
        position: npt.ArrayLike = ZERO,
        velocity: npt.ArrayLike = ZERO,
        mass: npt.ArrayLike | None = None,
        inertia_scale: npt.ArrayLike = 1.0,
        friction: npt.ArrayLike | None = None,
        duration: float,
        step: float = 0.1,
        method: str = "rk45",
        tolerance: float = 1e-6,
        every: float | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> CaptureFlight:
        """Simulate n captures, one for each row of what is given; one row stands for all.

        The asteroid's centre of mass starts at the origin, at rest, unless stated otherwise.

        Args:
            rate: (n, 3) of the asteroid at the start [rad/s], its axes.
            attitude: (n, 4) of the asteroid at the start.
            position: (n, 3) of its centre of mass [m], inertial axes: from the origin of gravity.
            velocity: (n, 3) of it [m/s].
            mass: (n,) of the asteroid [kg] in place of its own; its inertia changes as much.
            inertia_scale: (n,), or (n, 3) along the body axes: further factors of its inertia.
            friction: (n,) in place of the membrane's.
            duration: Time to simulate [s], approach included.
            step: Length of the steps of "rk4", and the longest of "rk45" [s].
            method: "rk45", adaptive steps, or "rk4", fixed ones, as in paper 003.
            tolerance: Error allowed in a step of "rk45", relative to the size and speed at hand.
            every: Time between records [s]; steps end on them. None keeps the start alone.
            device: Where to run.
            threads: CPU threads; all cores unless given.
        """
        model = dataclasses.replace(
            self,
            stop=CaughtStop(duration),
            steps=CaughtSteps(method, step, tolerance),
            every=None if every is None else checked_number("every [s]", every),
        )
        release = CaptureRelease(
            *(rate, attitude, position, velocity),
            *(mass, inertia_scale, friction),
        )
        runs = model.prepared(release).asteroids.count
        release = dataclasses.replace(release, count=runs)
        flight: CaptureFlight = fly(model, release, device, threads)
        return flight

    # -- what the kernel is given --------------------------------------------------------------

    def prepared(self, release: CaptureRelease) -> _Prepared:
        """What a release makes of the runs."""
        w, q, x, v = (state_rows(name, getattr(release, name)) for name in _STATES)
        m = positive("mass [kg]", self.asteroid.mass if release.mass is None else release.mass)
        scale = positive("inertia_scale", release.inertia_scale, wide=True)
        rub = self.membrane.friction if release.friction is None else release.friction
        rubs = positive("friction", rub, zero=True)
        given = {"rate": w, "attitude": q, "position": x, "velocity": v}
        given |= {"mass": m, "inertia_scale": scale, "friction": rubs}
        lengths = {name: len(values) for name, values in given.items()}
        lengths["membrane"] = self.membrane.runs
        lengths["asteroid"] = self.asteroid.count
        if release.count is not None:
            lengths["runs"] = release.count
        count = max(lengths.values())
        if set(lengths.values()) - {1, count}:
            raise InputError(
                f"values are given for different numbers of runs: {lengths}; give one for all "
                "runs, or one for each"
            )
        m, rubs = np.broadcast_to(m, count).copy(), np.broadcast_to(rubs, count).copy()
        # A factor for each axis: the tensor is stretched on both sides, which keeps it symmetric.
        root = np.sqrt(np.broadcast_to(scale, (count, scale.shape[1])))
        root = np.broadcast_to(root, (count, 3))
        own = self.asteroid.inertia * (m / self.asteroid.mass)[:, None, None]
        tensors = root[:, :, None] * own * root[:, None, :]
        _require_real(tensors)
        wide = np.broadcast_to(q, (count, 4)).copy(), np.broadcast_to(w, (count, 3)).copy()
        places = np.concatenate([np.broadcast_to(a, (count, 3)) for a in (x, v)], axis=1)
        return _Prepared(m, Asteroids(self.asteroid, tensors, *wide), rubs, places)

    def _start(self, rows: Any, asteroids: Asteroids, places: Array) -> Array:
        """(n, width) states at the start."""
        tree = self.craft.tree
        count = asteroids.count
        x, v, turn, rate = self.approach.start(rows, asteroids)
        q = np.tile(tree.neutral(), (count, 1))
        q[:, 0:3], q[:, 3:7] = x, turn
        u = np.zeros((count, tree.n_v))
        u[:, 0:3], u[:, 3:6] = v, rate
        q[:, 0:3] += places[:, 0:3]
        u[:, 0:3] += places[:, 3:6]
        sums = np.zeros((count, stepping.SUMS))
        return np.concatenate([places, asteroids.attitude, asteroids.rate, q, u, sums], axis=1)

    def _require_free(self, start: Array) -> None:
        """An error unless every asteroid starts above the suspension plane."""
        a = stepping.CRAFT
        ring, corners = self.membrane.ring, self.asteroid.corners
        turn = frames.quat_conjugate(start[:, a + 3 : a + 7])
        place = frames.quat_rotate(turn, start[:, 0:3] - start[:, a : a + 3])
        x, R = in_ring_axes(ring, place, frames.quat_multiply(turn, start[:, 6:10]))
        heights = sum(R[:, 2, k : k + 1] * corners[..., k] for k in range(3))
        lowest = x[:, 2] + np.min(heights, axis=1)
        bad = np.flatnonzero(lowest < -SHALLOW * ring.reach)
        if len(bad):
            raise InputError(
                f"the asteroid of run {bad[0]} starts through the membrane: it reaches "
                f"{-lowest[bad[0]]:.4g} m below the suspension plane. Let the approach start "
                "farther away."
            )

    def _scales(self, start: Array) -> Array:
        """(n, width) sizes that errors are measured by: a length, a speed, their quotient."""
        length = np.broadcast_to(self.asteroid.reach + self.membrane.ring.reach, len(start))
        turning = np.linalg.norm(start[:, 10:13], axis=1)
        pushed = np.sqrt(self.approach.thrust / self.craft.mass * length)
        speed = np.maximum(length * turning, self.approach.speed + 0.1 * pushed)
        scale = np.zeros_like(start)
        tree = self.craft.tree
        q, v = stepping.CRAFT, stepping.CRAFT + tree.n_q
        scale[:, 0:3] = scale[:, q : q + 3] = length[:, None]
        scale[:, 3:6] = scale[:, v : v + 3] = speed[:, None]
        scale[:, 6:10] = scale[:, q + 3 : v] = 1.0
        scale[:, 10:13] = scale[:, v + 3 : v + tree.n_v] = (speed / length)[:, None]
        return scale

    # -- under the engine ----------------------------------------------------------------------

    @property
    def captive(self) -> Captive | Captives:
        """The asteroid."""
        return self.asteroid

    @property
    def kept(self) -> int:  # type: ignore[override]
        """Rows of a state that are recorded."""
        tree = self.craft.tree
        return stepping.CRAFT + tree.n_q + tree.n_v + stepping.SUMS

    @property
    def craft_sizes(self) -> tuple[int, int, int]:  # type: ignore[override]
        """Bodies, configuration and speeds of the craft."""
        tree = self.craft.tree
        return tree.count, tree.n_q, tree.n_v

    def _pull(self) -> Pull:
        return pull_of(self.law, self.rotation, self.externals)

    def _loop(self) -> tuple[Loop, Any]:
        kind, law = type(self.approach), self.law
        weightless = isinstance(law, Uniform) and not law.vector.any() and not self.externals
        load = self.membrane.load_function
        drive = drive_of(self.pushers)
        return stepping.capture_loop(load, kind.push, kind.Data, drive, self._pull(), weightless)

    @property
    def pushers(self) -> tuple[Actuator, ...]:
        """The thruster that presses the craft to the asteroid, and all others."""
        return (self.approach.thruster, *self.actuators)

    @classmethod
    def prepare_together(cls, models: Sequence[Any], releases: Sequence[Any]) -> None:
        """Let all asteroids tumble at once, as far as plans look ahead."""
        prepared = [m.prepared(r) for m, r in zip(models, releases, strict=True)]
        pairs = zip(models, prepared, strict=True)
        Approach.look_ahead([(m.approach, given.asteroids) for m, given in pairs])
        for model, release, given in zip(models, releases, prepared, strict=True):
            plan = model.approach.plan(given.asteroids, model.craft)
            _PLANS.setdefault(release, {})[model] = (given, plan)

    def _planned(self, release: CaptureRelease) -> tuple[_Prepared, Any]:
        """What a release makes of the runs, and how they are approached; found once."""
        if self not in _PLANS.get(release, {}):
            self.prepare_together([self], [release])
        return _PLANS[release][self]

    def start(self, release: CaptureRelease, device: devices.Device, threads: int | None) -> Start:
        """The runs with craft and asteroid on their way."""
        given, plan = self._planned(release)
        start = self._start(plan, given.asteroids, given.places)
        self._require_free(start)
        return started(self, (given, plan), start, self.steps.tolerance * self._scales(start))

    def world(self, release: CaptureRelease, device: devices.Device) -> Any:
        """The parameters of all laws and runs."""
        given, plan = self._planned(release)
        world = self._loop()[1]()
        fabric = np.resize(self.membrane.rows(), len(given.masses))
        fabric["friction"] = given.frictions
        world.rows = wp.array(fabric, dtype=MembraneRow, device=device.name)
        world.ring = self.membrane.ring.data(device, self.membrane.hoop)
        world.captive = self.asteroid.kernel_data(device)
        world.asteroid = inertias(given.masses, given.asteroids.inertia, device)
        world.tree = self.craft.tree.kernel_data(device)
        world.watch = self._watch(given.asteroids, device)
        world.control = self.approach.data(device, plan, self.craft)
        world.drive = drive_data(self.pushers, device)
        world.pull = pull_data(self._pull(), self.law, self.rotation, self.externals, device)
        world.limits = self.control(device)
        return world

    @property
    def own_worlds(self) -> bool:
        """Whether each run has an asteroid of its own size."""
        return self.asteroid.count > 1

    def worlds_each(
        self, release: CaptureRelease, device: devices.Device, rows: Any, which: Any
    ) -> WorldRows:
        """The parameters of all runs, with the asteroid of each laid over them."""
        assert isinstance(self.asteroid, Captives)
        first = self.world(release, device)
        table = world_rows([first], len(rows))
        captives, behind = self.asteroid.kernel_rows(table["captive"][:1], device)
        table["captive"] = captives[rows]
        return WorldRows(first, table, [self.stops], which, behind)

    def _watch(self, asteroids: Asteroids, device: devices.Device) -> Any:
        watch, name = stepping.Watch(), device.name
        calm = np.maximum(self.calm_part * np.linalg.norm(asteroids.rate, axis=1), CALM_LEAST)
        watch.calm_rate = wp.array(calm, dtype=scalar, device=name)
        watch.calm_speed, watch.lost_height = self.calm_speed, self.lost_height
        watch.standoff = self.craft.standoff
        watch.window = wp.array(windows(asteroids, self.stop.duration), dtype=scalar, device=name)
        return watch

    def result(self, runs: Start, touches: Any, threads: int | None) -> CaptureResult:
        """How the runs ended."""
        given: _Prepared = runs.release[0]
        found = rows_of(runs, self, given.asteroids, given.masses)
        found["friction"], found["shape"] = given.frictions, self.shape
        return CaptureResult.of(runs, touches, found, self.kept, self.all_endings)

    def solution(self, batch: Batch, result: CaptureResult) -> CaptureFlight:
        """Histories and ends of all runs."""
        given: _Prepared = batch.states.release[0]
        time, states, loads, records = self.records(batch)
        return CaptureFlight(
            *(self.craft, given.asteroids, given.masses, result.rows),
            *(time, states, loads),
            records,
            *(result.last, result.touches),
            endings=result.endings,
            model=self,
        )


def positive(name: str, given: npt.ArrayLike, *, wide: bool = False, zero: bool = False) -> Array:
    """(n,) finite numbers above 0 (or from it); with ``wide`` (n, 1) or (n, 3)."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    shaped = np.atleast_1d(values)
    if wide:
        shaped = shaped[:, None] if shaped.ndim == 1 else shaped
    right = shaped.ndim == (2 if wide else 1) and (not wide or shaped.shape[1] in (1, 3))
    if not right or not len(shaped) or not np.isfinite(shaped).all():
        more = ", or three for each" if wide else ""
        raise InputError(f"{name} is {given!r}; give one finite number, or one for each run{more}")
    if (shaped < 0.0).any() or (not zero and (shaped == 0.0).any()):
        least = "at least 0" if zero else "above 0"
        raise InputError(f"{name} has a value of {shaped.min():g}; all must be {least}")
    return shaped


def _require_real(tensors: Array) -> None:
    """An error for inertias that no distribution of mass has."""
    moments = np.linalg.eigvalsh(tensors)
    bad = np.flatnonzero(moments[:, 2] > (moments[:, 0] + moments[:, 1]) * (1.0 + 1e-9))
    if len(bad):
        told = ", ".join(f"{value:.4g}" for value in moments[bad[0]])
        raise InputError(
            f"the asteroid of run {bad[0]} has principal moments {told} kg m^2: the largest is "
            "more than the sum of the others, which no body has. Change inertia_scale."
        )

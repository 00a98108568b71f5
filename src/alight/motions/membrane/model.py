"""A body on a membrane: dropped on a trampoline, or caught by a craft that carries one (paper 003).

::

    trampoline = membrane.Membrane(30.0, 1.5, 0.2, suspension=membrane.hexagon(7.5))
    motion = MembraneMotion(trampoline, body, gravity=(0, 0, -9.80665))
    flight = motion.run((0, 0, 10), rate=(0.5, 1.0, -0.2), duration=3.0, step=0.01, every=0.12)
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Actuator
from alight.core import devices, frames
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine.batch import Batch
from alight.engine.columns import Columns, with_laws
from alight.engine.gain import gained_energy, moving_energy
from alight.engine.motion import Loop, Start
from alight.engine.stops.law import StopLaw
from alight.flight import External, Rotation
from alight.gravity import Gravity
from alight.membrane import Captive, Membrane
from alight.membrane.forces import MembraneRow
from alight.membrane.hull import UPRIGHT, in_ring_axes, require_same_kind
from alight.membrane.law import state_rows
from alight.membrane.ring import SHALLOW
from alight.motions.membrane import stepping
from alight.motions.membrane.caught import CaughtMotion, CaughtSteps, CaughtStop, fly, started
from alight.motions.membrane.columns import DROP_KIND, DROPS
from alight.motions.membrane.drive import drive_data, drive_of
from alight.motions.membrane.pull import pull_data, pull_of, released_energy
from alight.motions.membrane.result import DROP_WORDS, MembraneFlight, MembraneResult
from alight.motions.membrane.state import Inertia
from alight.vehicles import RigidLander

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Craft:
    """What carries the suspension points: they are given from its centre of mass, in its axes."""

    mass: float
    """[kg]"""
    inertia: npt.ArrayLike
    """(3, 3) about the centre of mass [kg m^2], or three moments."""

    def __post_init__(self) -> None:
        # A body of one point has the same checks.
        checked = Captive(self.mass, np.asarray(self.inertia, dtype=np.float64), np.zeros((1, 3)))
        object.__setattr__(self, "inertia", checked.inertia)


@dataclass(frozen=True, eq=False)
class MembraneRelease:
    """Where n runs start, one for each row of what is given; one row stands for all."""

    position: npt.ArrayLike
    """(n, 3) of the body's centre of mass [m], inertial axes; likewise the others."""
    velocity: npt.ArrayLike = ZERO
    """[m/s]"""
    attitude: npt.ArrayLike = UPRIGHT
    rate: npt.ArrayLike = ZERO
    """[rad/s], body axes."""
    craft_position: npt.ArrayLike = ZERO
    """Of the carrier; the suspension points are in its axes."""
    craft_velocity: npt.ArrayLike = ZERO
    craft_attitude: npt.ArrayLike = UPRIGHT
    craft_rate: npt.ArrayLike = ZERO
    mass: npt.ArrayLike | None = None
    """(n,) of the body [kg], in place of its own."""
    inertia: npt.ArrayLike | None = None
    """(n, 3, 3) of the body [kg m^2], in place of its own."""
    in_contact: bool = False
    """Allow a body that starts below the suspension plane."""

    def __post_init__(self) -> None:
        for name in _STATES:
            object.__setattr__(self, name, state_rows(name, getattr(self, name)))

    def __len__(self) -> int:
        lengths = {len(np.atleast_2d(getattr(self, name))) for name in _STATES}
        more = [1 if value is None else len(np.atleast_1d(value)) for value in (self.mass,)]
        return max(*lengths, *more)


_STATES = (
    *("position", "velocity", "attitude", "rate"),
    *("craft_position", "craft_velocity", "craft_attitude", "craft_rate"),
)


@dataclass(frozen=True, eq=False)
class MembraneMotion(CaughtMotion):
    """A body, a membrane and what carries it.

    Without a ``craft`` the suspension points stand still, or move evenly with the velocity and
    rate that a release gives it. Of a ``RigidLander`` the hull and the contact points are taken,
    without radii: a sphere is its inscribed mesh.
    """

    membrane: Membrane
    body: Captive | RigidLander
    craft: Craft | None = None
    gravity: Gravity | npt.ArrayLike = ZERO
    """A law, or what is the same everywhere [m/s^2]; on body and craft."""
    actuators: tuple[Actuator, ...] = ()
    """Thrusters, and what else acts on the craft by a schedule."""
    rotation: Rotation | None = None
    """How the target of the gravity law turns; None where it does not."""
    externals: tuple[External, ...] = ()
    """What else accelerates body and craft."""
    stop: CaughtStop = field(default_factory=CaughtStop)
    steps: CaughtSteps = field(default_factory=CaughtSteps)
    every: float | None = None
    """Time between records [s]; steps end on them. None keeps the start and the end."""
    stops: tuple[StopLaw, ...] = ()
    """Laws that end runs; the first that is met does."""

    Release = MembraneRelease
    run_kind = DROP_KIND
    title = "Drops"
    words = DROP_WORDS
    shown = {  # noqa: RUF012
        "done": Outcome.TIMED_OUT,
        "released": Outcome.LOST,
        "rim": Outcome.RIM,
    }

    @property
    def columns(self) -> Columns:
        """What is reported of drops."""
        return with_laws(DROPS, self)

    def __post_init__(self) -> None:
        self._take_laws()
        if isinstance(self.body, RigidLander):
            lander = self.body
            points = np.concatenate([lander.hull.vertices, lander.points])
            made = Captive(lander.mass, lander.inertia, points, lander.hull)
            object.__setattr__(self, "body", made)
        require_same_kind(self.membrane.ring, self.captive)
        if self.craft is None and self.actuators:
            raise InputError("actuators act on a craft, and there is none; give craft=Craft(...)")

    def run(
        self,
        position: npt.ArrayLike,
        velocity: npt.ArrayLike = ZERO,
        attitude: npt.ArrayLike = UPRIGHT,
        rate: npt.ArrayLike = ZERO,
        *,
        craft_position: npt.ArrayLike = ZERO,
        craft_velocity: npt.ArrayLike = ZERO,
        craft_attitude: npt.ArrayLike = UPRIGHT,
        craft_rate: npt.ArrayLike = ZERO,
        duration: float,
        step: float = 0.1,
        method: str = "rk45",
        tolerance: float = 1e-8,
        every: float | None = None,
        until_release: bool = False,
        in_contact: bool = False,
        mass: npt.ArrayLike | None = None,
        inertia: npt.ArrayLike | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> MembraneFlight:
        """Move n runs, one for each row of what is given; one row stands for all.

        Args:
            position: (n, 3) of the body's centre of mass [m], inertial axes; likewise the
                others: velocities [m/s], attitudes (n, 4), rates [rad/s] in body axes.
            velocity: Of the body.
            attitude: Of the body.
            rate: Of the body.
            craft_position: Of the carrier; the suspension points are in its axes.
            craft_velocity: Of the carrier.
            craft_attitude: Of the carrier.
            craft_rate: Of the carrier.
            duration: Time to simulate [s].
            step: Length of the steps of "rk4", and the longest of "rk45" [s].
            method: "rk45", adaptive steps, or "rk4", fixed ones, as in paper 003. Friction makes
                fixed steps unstable that are longer than the membrane's ``relaxation``.
            tolerance: Error allowed in a step of "rk45", relative to the size and speed at hand.
            every: Time between records [s]; steps end on them. None keeps the start alone.
            until_release: End a run when the body has left the membrane again.
            in_contact: Allow a body that starts below the suspension plane.
            mass: (n,) of the body [kg], in place of its own.
            inertia: (n, 3, 3) of the body [kg m^2], in place of its own.
            device: Where to run.
            threads: CPU threads; all cores unless given.
        """
        model = dataclasses.replace(
            self,
            stop=CaughtStop(duration, until_release=until_release),
            steps=CaughtSteps(method, step, tolerance),
            every=None if every is None else checked_number("every [s]", every),
        )
        release = MembraneRelease(
            *(position, velocity, attitude, rate),
            *(craft_position, craft_velocity, craft_attitude, craft_rate),
            *(mass, inertia, in_contact),
        )
        flight: MembraneFlight = fly(model, release, device, threads)
        return flight

    # -- under the engine ----------------------------------------------------------------------

    @property
    def captive(self) -> Captive:
        """The body."""
        assert isinstance(self.body, Captive)
        return self.body

    kept = stepping.WIDTH

    def _loop(self) -> tuple[Loop, Any]:
        pull = pull_of(self.law, self.rotation, self.externals)
        return stepping.membrane_loop(self.membrane.load_function, drive_of(self.actuators), pull)

    def start(self, release: MembraneRelease, device: devices.Device, threads: int | None) -> Start:
        """The runs as they are released."""
        start = self._states(release)
        if not release.in_contact:
            self._require_free(start)
        scale = self.steps.tolerance * self._scales(start)
        return started(self, release, start, scale)

    def _states(self, release: MembraneRelease) -> Array:
        """(n, 30) states at the start."""
        parts = [np.asarray(getattr(release, name)) for name in _STATES]
        lengths = {len(part) for part in parts} | {
            self.membrane.runs,
            1 if release.mass is None else np.size(release.mass),
        }
        count = max(lengths)
        if lengths - {1, count}:
            raise InputError(
                f"states and parameters are given for {sorted(lengths)} runs; give one row for all "
                "runs, or one for each"
            )
        wide = [np.broadcast_to(part, (count, part.shape[1])) for part in parts]
        sums = np.zeros((count, stepping.WIDTH - stepping.SUMS))
        return np.concatenate([*wide, sums], axis=1)

    def require_free(self, release: MembraneRelease) -> None:
        """An error where a body of a release that is not said to be in contact is not free."""
        if not release.in_contact:
            self._require_free(self._states(release))

    def _require_free(self, start: Array) -> None:
        """An error unless every body starts above the suspension plane."""
        ring, vertices = self.membrane.ring, self.captive.hull.vertices
        turn = frames.quat_conjugate(start[:, 19:23])
        place = frames.quat_rotate(turn, start[:, 0:3] - start[:, 13:16])
        x, R = in_ring_axes(ring, place, frames.quat_multiply(turn, start[:, 6:10]))
        depth = np.array(
            [-(z + row @ vertices.T).min() for z, row in zip(x[:, 2], R[:, 2], strict=True)]
        )
        bad = np.flatnonzero(depth > SHALLOW * ring.reach)
        if len(bad):
            raise InputError(
                f"the body of run {bad[0]} starts through the membrane: it reaches "
                f"{depth[bad[0]]:.4g} m below the suspension plane. Start it above the plane, on "
                "the side that up points to (in a scenario file by release.height or "
                "release.position); from Python in_contact=True lets it start pressed in."
            )

    def _scales(self, start: Array) -> Array:
        """(n, 30) sizes that errors are measured by: a length, a speed, their quotient."""
        length = self.captive.reach + self.membrane.ring.reach
        relative = np.linalg.norm(start[:, 3:6] - start[:, 16:19], axis=1)
        turning = [length * np.linalg.norm(start[:, k : k + 3], axis=1) for k in (10, 23)]
        pull = np.linalg.norm(self.law.evaluate(start[:, 0:3], "cpu")[1], axis=1)
        fall = np.sqrt(pull * length)
        speed = np.maximum.reduce([relative, *turning, fall + 1e-6 * length])
        one = np.ones((len(start), stepping.WIDTH)) * length
        for row in (stepping.BODY, stepping.CARRIER):
            one[:, row + 3 : row + 6] = speed[:, None]
            one[:, row + 6 : row + 10] = 1.0
            one[:, row + 10 : row + 13] = speed[:, None] / length
        one[:, stepping.SUMS :] = 0.0
        return one

    def world(self, release: MembraneRelease, device: devices.Device) -> Any:
        """The parameters of all laws and runs."""
        captive, mass, inertia = self.captive, release.mass, release.inertia
        masses = np.atleast_1d(np.asarray(captive.mass if mass is None else mass, float))
        tensors = np.asarray(captive.inertia if inertia is None else inertia, float)
        tensors = tensors.reshape(-1, 3, 3)
        if not (masses > 0.0).all() or not (np.linalg.eigvalsh(tensors) > 0.0).all():
            raise InputError("masses [kg] and moments of inertia [kg m^2] must be above 0")
        world = self._loop()[1]()
        world.rows = wp.array(self.membrane.rows(), dtype=MembraneRow, device=device.name)
        world.ring = self.membrane.ring.data(device, self.membrane.hoop)
        world.captive = captive.kernel_data(device)
        world.body = inertias(masses, tensors, device)
        if self.craft is None:
            world.carrier = inertias(np.full(1, np.inf), np.zeros((1, 3, 3)), device)
        else:
            own = np.asarray(self.craft.inertia, dtype=np.float64)
            world.carrier = inertias(np.array([self.craft.mass]), own[None], device)
        pull = pull_of(self.law, self.rotation, self.externals)
        world.pull = pull_data(pull, self.law, self.rotation, self.externals, device)
        world.drive = drive_data(self.actuators, device)
        world.limits = self.control(device)
        return world

    def result(self, runs: Start, touches: Any, threads: int | None) -> MembraneResult:
        """How the runs ended."""
        release: MembraneRelease = runs.release
        codes = runs.runs["outcome"].copy()
        ended = codes != Outcome.RUNNING
        before, after, given = self._energies(runs, release)
        if not release.in_contact:
            codes[ended & gained_energy(before, after, given)] = int(Outcome.GAINED_ENERGY)
        # What a carrier that gives way takes up is not told: no account closes then.
        brought = before + given if self.craft is None else np.full(len(codes), np.nan)
        energies = {"brought_j": brought, "moving_j": after}
        return MembraneResult.of(runs, touches, codes, self.kept, self.all_endings, energies)

    def _energies(self, runs: Start, release: MembraneRelease) -> tuple[Array, Array, Array]:
        """(n,) energy of motion at start and end, and what gravity, pushes and thrust gave [J]."""
        start, last = runs.first, runs.rows["y"][:, : self.kept]
        captive, mass, inertia = self.captive, release.mass, release.inertia
        m = np.asarray(captive.mass if mass is None else mass, dtype=np.float64)
        tensor = np.asarray(captive.inertia if inertia is None else inertia, dtype=np.float64)
        moving = [
            moving_energy(m, tensor, state[:, 3:6], state[:, 10:13]) for state in (start, last)
        ]
        given = last[:, stepping.PULLED]
        if self.craft is None and self.rotation is None and not self.externals:
            # A body alone in a field that stands still: by its potential, to rounding.
            given = released_energy(self.law, m, start[:, 0:3], last[:, 0:3])
        if self.craft is not None:
            own = (self.craft.mass, np.asarray(self.craft.inertia))
            for energy, state in zip(moving, (start, last), strict=True):
                energy += moving_energy(*own, state[:, 16:19], state[:, 23:26])
            # The work of the thrust, at the larger of the speeds at both ends.
            fastest = np.maximum(*(np.linalg.norm(s[:, 16:19], axis=1) for s in (start, last)))
            given = given + last[:, stepping.THRUST] * fastest
        return moving[0], moving[1], given

    def solution(self, batch: Batch, result: MembraneResult) -> MembraneFlight:
        """Histories and ends of all runs."""
        return MembraneFlight.of(result, *self.records(batch), model=self)


def inertias(mass: Array, tensor: Array, device: devices.Device) -> Any:
    """Rows of ``Inertia``; an infinite mass with no tensor is what nothing moves."""
    count = max(len(mass), len(tensor))
    row: Any = Inertia
    rows: Any = np.zeros(count, dtype=row.numpy_dtype())
    rows["inverse_mass"] = 1.0 / mass
    rows["inertia"] = tensor
    if np.isfinite(mass).all():
        inverse = np.linalg.inv(tensor)
        rows["inverse"] = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    return wp.array(rows, dtype=Inertia, device=device.name)

"""A body on a membrane: dropped on a trampoline, or caught by a craft that carries one (paper 003).

::

    trampoline = membrane.Membrane(30.0, 1.5, 0.2, suspension=membrane.hexagon(7.5))
    motion = MembraneMotion(trampoline, body, gravity=(0, 0, -9.80665))
    flight = motion.run((0, 0, 10), rate=(0.5, 1.0, -0.2), duration=3.0, step=0.01, every=0.12)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array, checked_number, checked_vector
from alight.core.errors import InputError, unknown_name
from alight.core.types import scalar, vec3
from alight.engine import membrane_kernel as kernels
from alight.engine.gain import gained_energy, moving_energy
from alight.engine.membrane_flight import MembraneFlight, MembraneOutcome, collected
from alight.engine.membrane_thrust import NO_THRUST, Thrust
from alight.integrators.tableau import RK4, RK54, Tableau
from alight.membrane import Captive, Membrane
from alight.membrane.forces import MembraneLoad, MembraneRow
from alight.membrane.geometry import by_slot, hull_memory
from alight.membrane.hull import UPRIGHT, in_ring_axes, require_same_kind
from alight.membrane.law import state_rows
from alight.membrane.ring import SHALLOW
from alight.vehicles import RigidLander

METHODS = {"rk4": RK4, "rk45": RK54}
#: Steps of one launch: between launches a run can be interrupted.
CHUNK = 512
#: Runs a CPU thread gets at least.
_MIN_ITEMS = 1
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
class MembraneMotion:
    """A body, a membrane and what carries it; ``run`` moves them.

    Without a ``craft`` the suspension points stand still, or move evenly with the velocity and
    rate that ``run`` is given for it. Of a ``RigidLander`` the hull and the contact points are
    taken, without radii: a sphere is its inscribed mesh.
    """

    membrane: Membrane
    body: Captive | RigidLander
    craft: Craft | None = None
    gravity: npt.ArrayLike = ZERO
    """The same everywhere [m/s^2], on body and craft."""
    thrust: Thrust = NO_THRUST
    """What acts on the craft."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", checked_vector("gravity [m/s^2]", self.gravity))
        if isinstance(self.body, RigidLander):
            lander = self.body
            points = np.concatenate([lander.hull.vertices, lander.points])
            made = Captive(lander.mass, lander.inertia, points, lander.hull)
            object.__setattr__(self, "body", made)
        require_same_kind(self.membrane.ring, self._captive())
        if self.craft is None and self.thrust is not NO_THRUST:
            raise InputError("thrust acts on a craft, and there is none; give craft=Craft(...)")

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
        given = {
            "position": position,
            "velocity": velocity,
            "attitude": attitude,
            "rate": rate,
            "craft_position": craft_position,
            "craft_velocity": craft_velocity,
            "craft_attitude": craft_attitude,
            "craft_rate": craft_rate,
        }
        start = self._start(given, mass)
        if not in_contact:
            self._require_free(start)
        target = devices.resolve(device)
        every_s = duration if every is None else checked_number("every [s]", every)
        records = 1 if every is None else int(np.floor(duration / every_s * (1 + 1e-9))) + 1
        control = self._control(method, step, tolerance, duration, every_s, until_release, start)
        data = control_data(control, start.shape[1], target)
        kernel, world_type = kernels.motion_kernel(
            self.membrane.load_function, type(self.thrust).push, type(self.thrust).Data
        )
        world = self._world(world_type, mass, inertia, target)
        memory = hull_memory(world.captive, world.ring, len(start), target)
        runs = new_runs(start, memory.strain.shape[0], control, records, target)
        while True:
            inputs = [world, data, memory, CHUNK, runs]
            devices.launch(
                kernel, len(start), inputs, target, threads, min_items=_MIN_ITEMS, block=64
            )
            codes = runs.outcome.numpy()
            if (codes != 0).all():
                break
        if not in_contact:
            codes[self._gained(start, runs.y.numpy()[: start.shape[1]].T, mass, inertia)] = int(
                MembraneOutcome.GAINED_ENERGY
            )
        return collected(runs, codes, start.shape[1], every_s, records)

    def _gained(
        self, start: Array, last: Array, mass: npt.ArrayLike | None, inertia: npt.ArrayLike | None
    ) -> Any:
        """(n,) whether the fabric gave a run more energy than it received."""
        captive = self._captive()
        m = np.asarray(captive.mass if mass is None else mass, dtype=np.float64)
        tensor = np.asarray(captive.inertia if inertia is None else inertia, dtype=np.float64)
        moving = [
            moving_energy(m, tensor, state[:, 3:6], state[:, 10:13]) for state in (start, last)
        ]
        given = m * ((last - start)[:, 0:3] @ np.asarray(self.gravity))
        if self.craft is not None:
            own = (self.craft.mass, np.asarray(self.craft.inertia))
            for energy, state in zip(moving, (start, last), strict=True):
                energy += moving_energy(*own, state[:, 16:19], state[:, 23:26])
            # The work of the thrust, at the larger of the speeds at both ends.
            fastest = np.maximum(*(np.linalg.norm(s[:, 16:19], axis=1) for s in (start, last)))
            given = given + last[:, 29] * fastest
        return gained_energy(moving[0], moving[1], given)

    # -- what the kernel is given --------------------------------------------------------------

    def _captive(self) -> Captive:
        assert isinstance(self.body, Captive)
        return self.body

    def _start(self, given: dict[str, npt.ArrayLike], mass: npt.ArrayLike | None) -> Array:
        """(n, 30) states at the start."""
        parts = [state_rows(name, values) for name, values in given.items()]
        lengths = {len(part) for part in parts} | {
            self.membrane.runs,
            1 if mass is None else np.size(mass),
        }
        count = max(lengths)
        if lengths - {1, count}:
            raise InputError(
                f"states and parameters are given for {sorted(lengths)} runs; give one row for all "
                "runs, or one for each"
            )
        wide = [np.broadcast_to(part, (count, part.shape[1])) for part in parts]
        sums = np.zeros((count, kernels.WIDTH - kernels.SUMS))
        return np.concatenate([*wide, sums], axis=1)

    def _require_free(self, start: Array) -> None:
        """An error unless every body starts above the suspension plane."""
        ring, vertices = self.membrane.ring, self._captive().hull.vertices
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
                "the side that up points to, or say in_contact=True if it is to start pressed in."
            )

    def _control(
        self,
        method: str,
        step: float,
        tolerance: float,
        duration: float,
        every: float,
        until_release: bool,
        start: Array,
    ) -> dict[str, Any]:
        if method not in METHODS:
            raise unknown_name("method", method, list(METHODS))
        tableau: Tableau = METHODS[method]
        return {
            "tableau": tableau,
            "longest": checked_number("step [s]", step),
            "end": checked_number("duration [s]", duration),
            "every": every,
            "until_release": int(until_release),
            "scale": checked_number("tolerance", tolerance) * self._scales(start),
        }

    def _scales(self, start: Array) -> Array:
        """(n, 30) sizes that errors are measured by: a length, a speed, their quotient."""
        length = self._captive().reach + self.membrane.ring.reach
        relative = np.linalg.norm(start[:, 3:6] - start[:, 16:19], axis=1)
        turning = [length * np.linalg.norm(start[:, k : k + 3], axis=1) for k in (10, 23)]
        fall = np.sqrt(float(np.linalg.norm(np.asarray(self.gravity))) * length)
        speed = np.maximum.reduce([relative, *turning, np.full(len(start), fall + 1e-6 * length)])
        one = np.ones((len(start), kernels.WIDTH)) * length
        for row in (kernels.BODY, kernels.CARRIER):
            one[:, row + 3 : row + 6] = speed[:, None]
            one[:, row + 6 : row + 10] = 1.0
            one[:, row + 10 : row + 13] = speed[:, None] / length
        one[:, kernels.SUMS :] = 0.0
        return one

    def _world(
        self,
        world_type: Any,
        mass: npt.ArrayLike | None,
        inertia: npt.ArrayLike | None,
        device: devices.Device,
    ) -> Any:
        captive = self._captive()
        masses = np.atleast_1d(np.asarray(captive.mass if mass is None else mass, float))
        tensors = np.asarray(captive.inertia if inertia is None else inertia, float)
        tensors = tensors.reshape(-1, 3, 3)
        if not (masses > 0.0).all() or not (np.linalg.eigvalsh(tensors) > 0.0).all():
            raise InputError("masses [kg] and moments of inertia [kg m^2] must be above 0")
        world = world_type()
        rows = self.membrane.rows()
        world.rows = wp.array(rows, dtype=MembraneRow, device=device.name)
        world.ring = self.membrane.ring.data(device, self.membrane.hoop)
        world.captive = captive.kernel_data(device)
        world.body = inertias(masses, tensors, device)
        if self.craft is None:
            world.carrier = inertias(np.full(1, np.inf), np.zeros((1, 3, 3)), device)
        else:
            own = np.asarray(self.craft.inertia, dtype=np.float64)
            world.carrier = inertias(np.array([self.craft.mass]), own[None], device)
        world.gravity = vec3(*np.asarray(self.gravity))
        world.thrust = self.thrust.data(device)
        return world


def inertias(mass: Array, tensor: Array, device: devices.Device) -> Any:
    """Rows of ``Inertia``; an infinite mass with no tensor is what nothing moves."""
    count = max(len(mass), len(tensor))
    row: Any = kernels.Inertia
    rows: Any = np.zeros(count, dtype=row.numpy_dtype())
    rows["inverse_mass"] = 1.0 / mass
    rows["inertia"] = tensor
    if np.isfinite(mass).all():
        inverse = np.linalg.inv(tensor)
        rows["inverse"] = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    return wp.array(rows, dtype=kernels.Inertia, device=device.name)


def control_data(given: dict[str, Any], kept: int, device: devices.Device) -> Any:
    """The struct of how steps are taken; ``kept`` rows of a state are recorded."""
    tableau: Tableau = given["tableau"]
    stages = tableau.stages
    a = np.zeros((stages + 1, stages + 1))
    for i, row in enumerate((*tableau.a, tableau.b)):
        a[i, : len(row)] = [float(value) for value in row]
    error = np.zeros(stages + 1)
    error[: len(tableau.error)] = [float(value) for value in tableau.error]
    control = kernels.Control()
    control.a = wp.array(a, dtype=scalar, device=device.name)
    c = [*(float(value) for value in tableau.c), 1.0]
    control.c = wp.array(c, dtype=scalar, device=device.name)
    control.error = wp.array(error, dtype=scalar, device=device.name)
    control.stages, control.order = stages, tableau.error_order
    control.floor, control.kept = 1e-12 * given["end"], kept
    for name in ("longest", "end", "every", "until_release"):
        setattr(control, name, given[name])
    return control


def new_runs(
    start: Array, sticking: int, given: dict[str, Any], records: int, device: devices.Device
) -> Any:
    """Memory of runs that are about to start, with no strain where something may stick."""
    slots, kept = start.shape
    width = kept + 3 * sticking
    # Errors of strains are measured by the same length as those of places.
    length = np.broadcast_to(given["scale"][:, :1], (slots, 3 * sticking))
    start = np.concatenate([start, np.zeros((slots, 3 * sticking))], axis=1)
    scale = np.concatenate([given["scale"], length], axis=1)

    def filled(value: float) -> Any:
        return wp.full(slots, value, dtype=scalar, device=device.name)

    runs = kernels.Runs()
    runs.y, runs.at = _columns(start, device), _columns(start, device)
    runs.scale = _columns(scale, device)
    runs.k = by_slot((given["tableau"].stages + 1) * width, slots, scalar, device)
    runs.t, runs.h = filled(0.0), filled(given["longest"])
    for name in ("fresh", "outcome", "steps", "saved", "touching", "contacts"):
        value = 1 if name == "fresh" else 0
        setattr(runs, name, wp.full(slots, value, dtype=int, device=device.name))
    for name in ("first", "slack", "release"):
        setattr(runs, name, filled(-1.0))
    for name in ("lowest", "depth", "tension", "force"):
        setattr(runs, name, filled(0.0))
    runs.states = wp.zeros((records * kept, slots), dtype=scalar, device=device.name)
    runs.loads = wp.zeros((records, slots), dtype=MembraneLoad, device=device.name)
    return runs


def _columns(values: Array, device: devices.Device) -> Any:
    """(n, rows) as [row, slot], laid out as ``by_slot`` does."""
    given = values if device.is_cpu else values.T
    array = wp.array(np.ascontiguousarray(given), dtype=scalar, device=device.name)
    return array.transpose() if device.is_cpu else array

"""The capture of a tumbling asteroid with a membrane (paper 003).

::

    craft = Spacecraft()
    asteroid = Captive.from_mesh(pear(11.0), mass=1e6)
    capture = Capture(craft.membrane(), asteroid, craft, approach("corkscrew"))
    flight = capture.run(rate=(0.01, 0.02, 0.047), duration=170.0, every=1.0)
    flight.rows["bending_nm"], flight.outcome, flight.bending
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import Array, checked_number
from alight.core.errors import InputError, unknown_name
from alight.core.types import scalar
from alight.engine import capture_kernel as kernels
from alight.engine.capture_approach import Approach, Asteroids
from alight.engine.capture_craft import Spacecraft
from alight.engine.capture_flight import ROW, CaptureFlight, rows_of, windows
from alight.engine.membrane_motion import CHUNK, METHODS, control_data, inertias, new_runs
from alight.membrane import Captive, Membrane
from alight.membrane.forces import MembraneRow
from alight.membrane.geometry import hull_memory
from alight.membrane.hull import UPRIGHT, in_ring_axes, require_same_kind
from alight.membrane.law import state_rows
from alight.membrane.ring import SHALLOW
from alight.vehicles.tree.data import run_rows, tree_memory

#: Rate [rad/s] of the craft against the asteroid below which it always counts as at rest.
CALM_LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class Capture:
    """An asteroid, a craft with a membrane, and the way the one comes to the other."""

    membrane: Membrane
    asteroid: Captive
    craft: Spacecraft
    approach: Approach
    calm_speed: float = 0.02
    """Slip [m/s] above which craft and asteroid are not at rest against each other; and likewise"""
    calm_part: float = 0.25
    """the rate of the one against the other, as a part of the asteroid's at the start. The drift
    toward a flat spin, slow as it is, goes on at a tenth or two."""
    lost_height: float = 5.0
    """A run ends when the asteroid has left the membrane and is so far above it [m]."""

    def __post_init__(self) -> None:
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

        The asteroid's centre of mass starts at the origin, at rest.

        Args:
            rate: (n, 3) of the asteroid at the start [rad/s], its axes.
            attitude: (n, 4) of the asteroid at the start.
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
        masses, asteroids, frictions = self._runs(rate, attitude, mass, inertia_scale, friction)
        checked_number("duration [s]", duration)
        if method not in METHODS:
            raise unknown_name("method", method, list(METHODS))
        every_s = duration if every is None else checked_number("every [s]", every)
        records = 1 if every is None else int(np.floor(duration / every_s * (1 + 1e-9))) + 1
        rows = self.approach.plan(asteroids, self.craft)
        start = self._start(rows, asteroids)
        self._require_free(start)
        target = devices.resolve(device)
        given = {
            "tableau": METHODS[method],
            "longest": checked_number("step [s]", step),
            "end": duration,
            "every": every_s,
            "until_release": 0,
            "scale": checked_number("tolerance", tolerance) * self._scales(start),
        }
        kept = start.shape[1]
        control = control_data(given, kept, target)
        kind = type(self.approach)
        kernel, world_type = kernels.capture_kernel(
            self.membrane.load_function, kind.push, kind.Data
        )
        world = self._world(world_type, masses, asteroids, frictions, rows, target)
        world.notes = self._notes(asteroids, kept, duration, target)
        memory = hull_memory(world.captive, world.ring, len(start), target)
        runs = new_runs(start, memory.strain.shape[0], given, records, target)
        while True:
            inputs = [world, control, memory, CHUNK, runs]
            devices.launch(kernel, len(start), inputs, target, threads, min_items=1, block=64)
            if (runs.outcome.numpy() != 0).all():
                break
        last = np.ascontiguousarray(runs.y.numpy()[:kept].T)
        found = rows_of(
            runs, world.notes, last, self.craft, asteroids, masses, self.approach.thrust, start
        )
        found["friction"] = frictions
        states = runs.states.numpy().reshape(records, kept, len(start))
        return CaptureFlight(
            self.craft,
            asteroids,
            masses,
            found,
            every_s * np.arange(records, dtype=np.float64),
            states.transpose(2, 0, 1),
            runs.loads.numpy().T,
            np.minimum(runs.saved.numpy(), records),
            last,
        )

    # -- what the kernel is given --------------------------------------------------------------

    def _runs(
        self,
        rate: npt.ArrayLike,
        attitude: npt.ArrayLike,
        mass: npt.ArrayLike | None,
        inertia_scale: npt.ArrayLike,
        friction: npt.ArrayLike | None,
    ) -> tuple[Array, Asteroids, Array]:
        """Masses (n,), asteroids and frictions (n,) of the runs."""
        w, q = state_rows("rate", rate), state_rows("attitude", attitude)
        m = positive("mass [kg]", self.asteroid.mass if mass is None else mass)
        scale = positive("inertia_scale", inertia_scale, wide=True)
        rub = self.membrane.friction if friction is None else friction
        rubs = positive("friction", rub, zero=True)
        given = {"rate": w, "attitude": q, "mass": m, "inertia_scale": scale, "friction": rubs}
        lengths = {name: len(values) for name, values in given.items()}
        lengths["membrane"] = self.membrane.runs
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
        return m, Asteroids(self.asteroid, tensors, *wide), rubs

    def _start(self, rows: Any, asteroids: Asteroids) -> Array:
        """(n, width) states at the start."""
        tree = self.craft.tree
        count = asteroids.count
        x, v, turn, rate = self.approach.start(rows, asteroids)
        q = np.tile(tree.neutral(), (count, 1))
        q[:, 0:3], q[:, 3:7] = x, turn
        u = np.zeros((count, tree.n_v))
        u[:, 0:3], u[:, 3:6] = v, rate
        still, sums = np.zeros((count, 6)), np.zeros((count, kernels.SUMS))
        return np.concatenate([still, asteroids.attitude, asteroids.rate, q, u, sums], axis=1)

    def _require_free(self, start: Array) -> None:
        """An error unless every asteroid starts above the suspension plane."""
        a = kernels.CRAFT
        ring, corners = self.membrane.ring, self.asteroid.hull.vertices
        turn = frames.quat_conjugate(start[:, a + 3 : a + 7])
        place = frames.quat_rotate(turn, start[:, 0:3] - start[:, a : a + 3])
        x, R = in_ring_axes(ring, place, frames.quat_multiply(turn, start[:, 6:10]))
        lowest = x[:, 2] + (R[:, 2] @ corners.T).min(axis=1)
        bad = np.flatnonzero(lowest < -SHALLOW * ring.reach)
        if len(bad):
            raise InputError(
                f"the asteroid of run {bad[0]} starts through the membrane: it reaches "
                f"{-lowest[bad[0]]:.4g} m below the suspension plane. Let the approach start "
                "farther away."
            )

    def _scales(self, start: Array) -> Array:
        """(n, width) sizes that errors are measured by: a length, a speed, their quotient."""
        length = self.asteroid.reach + self.membrane.ring.reach
        turning = np.linalg.norm(start[:, 10:13], axis=1)
        pushed = np.sqrt(self.approach.thrust / self.craft.mass * length)
        speed = np.maximum(length * turning, self.approach.speed + 0.1 * pushed)
        scale = np.zeros_like(start)
        tree = self.craft.tree
        q, v = kernels.CRAFT, kernels.CRAFT + tree.n_q
        scale[:, 0:3] = scale[:, q : q + 3] = length
        scale[:, 3:6] = scale[:, v : v + 3] = speed[:, None]
        scale[:, 6:10] = scale[:, q + 3 : v] = 1.0
        scale[:, 10:13] = scale[:, v + 3 : v + tree.n_v] = speed[:, None] / length
        return scale

    def _world(
        self,
        world_type: Any,
        masses: Array,
        asteroids: Asteroids,
        frictions: Array,
        rows: Any,
        device: devices.Device,
    ) -> Any:
        world = world_type()
        fabric = np.resize(self.membrane.rows(), len(masses))
        fabric["friction"] = frictions
        world.rows = wp.array(fabric, dtype=MembraneRow, device=device.name)
        world.ring = self.membrane.ring.data(device, self.membrane.hoop)
        world.captive = self.asteroid.kernel_data(device)
        world.asteroid = inertias(masses, asteroids.inertia, device)
        world.craft = craft_data(self.craft, len(masses), device)
        world.control = self.approach.data(device, rows, self.craft)
        return world

    def _notes(
        self, asteroids: Asteroids, kept: int, duration: float, device: devices.Device
    ) -> Any:
        count, bodies = asteroids.count, self.craft.tree.count
        notes = kernels.CaptureNotes()
        calm = np.maximum(self.calm_part * np.linalg.norm(asteroids.rate, axis=1), CALM_LEAST)
        notes.calm_rate = wp.array(calm, dtype=scalar, device=device.name)
        notes.calm_speed, notes.lost_height = self.calm_speed, self.lost_height
        notes.standoff = self.craft.standoff
        notes.window = wp.array(windows(asteroids, duration), dtype=scalar, device=device.name)
        notes.marks = run_rows(2 * (kept + 1), count, scalar, device)
        notes.marked = wp.zeros(count, dtype=int, device=device.name)
        notes.hoop = wp.zeros(count, dtype=scalar, device=device.name)
        notes.hoop_at = wp.full(count, -1.0, dtype=scalar, device=device.name)
        notes.restless = wp.zeros(count, dtype=scalar, device=device.name)
        for name in ("bending", "bending_at", "twist"):
            setattr(notes, name, run_rows(bodies, count, scalar, device))
        return notes


@dataclass(frozen=True, eq=False)
class CaptureBatch:
    """Captures of asteroids of several shapes; ``run`` returns one row for each."""

    membrane: Membrane
    asteroids: Sequence[Captive]
    craft: Spacecraft
    approach: Approach
    calm_speed: float = 0.02
    calm_part: float = 0.25
    lost_height: float = 5.0

    def __post_init__(self) -> None:
        if not len(self.asteroids):
            raise InputError("asteroids are empty; give at least one shape")

    def run(
        self,
        rate: npt.ArrayLike,
        shape: npt.ArrayLike = 0,
        attitude: npt.ArrayLike = UPRIGHT,
        *,
        mass: npt.ArrayLike | None = None,
        inertia_scale: npt.ArrayLike = 1.0,
        friction: npt.ArrayLike | None = None,
        **options: Any,
    ) -> Any:
        """(n,) records of ``ROW``, in the order of the runs.

        ``shape`` is the number of the asteroid of each run; all else as in ``Capture.run``. Runs of
        one shape are simulated together.
        """
        w, q = state_rows("rate", rate), state_rows("attitude", attitude)
        which = self._shapes(shape)
        scale = positive("inertia_scale", inertia_scale, wide=True)
        table: dict[str, Array] = {"rate": w, "attitude": q, "inertia_scale": scale}
        if mass is not None:
            table["mass"] = positive("mass [kg]", mass)
        if friction is not None:
            table["friction"] = positive("friction", friction, zero=True)
        lengths = {name: len(values) for name, values in table.items()} | {"shape": len(which)}
        count = max(lengths.values())
        if set(lengths.values()) - {1, count} or self.membrane.runs != 1:
            raise InputError(
                f"values are given for different numbers of runs: {lengths}; give one for all "
                "runs, or one for each, and a membrane with one value of each kind"
            )
        which = np.broadcast_to(which, count)
        found: Any = np.zeros(count, dtype=ROW)
        for number in np.unique(which):
            runs = np.flatnonzero(which == number)
            part: dict[str, Any] = {n: a[runs] if len(a) == count else a for n, a in table.items()}
            one = Capture(
                self.membrane,
                self.asteroids[number],
                self.craft,
                self.approach.part(runs, count),
                self.calm_speed,
                self.calm_part,
                self.lost_height,
            )
            if all(len(a) == 1 for a in part.values()):
                part["rate"] = np.broadcast_to(part["rate"], (len(runs), 3))
            found[runs] = one.run(**part, **options).rows
            found["shape"][runs] = number
        found["run"] = np.arange(count)
        return found

    def _shapes(self, shape: npt.ArrayLike) -> npt.NDArray[np.int64]:
        given = np.atleast_1d(np.asarray(shape))
        whole = given.ndim == 1 and np.issubdtype(given.dtype, np.integer)
        if not whole or given.min(initial=0) < 0 or given.max(initial=0) >= len(self.asteroids):
            raise InputError(
                f"shape is {shape!r}; it must be one whole number, or one for each run, from 0 to "
                f"{len(self.asteroids) - 1}: there are {len(self.asteroids)} asteroids"
            )
        return np.asarray(given, dtype=np.int64)


def craft_data(craft: Spacecraft, slots: int, device: devices.Device) -> Any:
    """The craft's tree and the memory of its runs."""
    tree = craft.tree
    data = kernels.CraftData()
    data.tree = tree.kernel_data(device)
    data.memory = tree_memory(tree.count, tree.n_v, slots, device)
    data.q, data.q_rate = (run_rows(tree.n_q, slots, scalar, device) for _ in range(2))
    data.v, data.acceleration = (run_rows(tree.n_v, slots, scalar, device) for _ in range(2))
    return data


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
            f"the asteroid of run {bad[0]} has principal moments {told} kg m^2: the greatest is "
            "more than the sum of the others, which no body has. Change inertia_scale."
        )

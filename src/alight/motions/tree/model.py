"""``TreeModel``: an articulated lander, its devices and the laws it lands by, checked."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Manoeuvre
from alight.actuators.table import actuator_table
from alight.contact.hertz import Hertz, deepest, duration
from alight.core import devices as hardware
from alight.core import frames
from alight.core.checks import Array, checked_direction, checked_number, checked_vector
from alight.core.errors import InputError, unknown_name
from alight.core.outcomes import Outcome
from alight.core.types import vec3
from alight.engine.batch import Batch, check_count
from alight.engine.columns import Columns, with_laws
from alight.engine.laws import check_laws
from alight.engine.motion import (
    Loop,
    Motion,
    Pace,
    Start,
    WorldRows,
    new_records,
    world_rows,
)
from alight.engine.stop import Stop
from alight.engine.stops.judging import judged
from alight.engine.stops.law import StopLaw, checked_stops
from alight.flight import External, Rotation, UniformRotation
from alight.flight.combine import combine, combined_data, combined_next
from alight.gravity import Gravity, Linearised
from alight.motions.rigid.drive.manoeuvres import records_of
from alight.motions.tree.account import kept
from alight.motions.tree.columns import tree_columns
from alight.motions.tree.composition import TreeComposition, TreeLaws, compose_tree
from alight.motions.tree.loop import tree_loop
from alight.motions.tree.manoeuvres import TreeTour
from alight.motions.tree.placing import placed_tree
from alight.motions.tree.result import NEVER, TreeResult, final_tree_states, named_peaks
from alight.motions.tree.scene import tree_scene_function
from alight.motions.tree.solution import TreeSolution, tree_solution_of
from alight.motions.tree.state import (
    IN_CONTACT,
    Sizes,
    TreeLimits,
    TreeNotes,
    TreeRun,
    line_parts,
    make_space,
)
from alight.surfaces import Surface
from alight.vehicles.fittings import Device, Fitted, Pad, fitted
from alight.vehicles.fittings_kernel import device_data
from alight.vehicles.tree.states import checked_numbers, require_unit
from alight.vehicles.tree.tree import Tree

INTEGRATORS = ("pece", "rk4")


@dataclass(frozen=True)
class TreeStop(Stop):
    """When a run of an articulated lander ends: as of a rigid one, or tipped over."""

    max_time: float = 1e3
    """Simulated time [s] after which it has timed out."""
    tip_angle: float = math.pi / 3.0
    """Angle [rad] between the lander's up and the local vertical at which it has tipped over, once
    it has touched the ground."""

    def __post_init__(self) -> None:
        super().__post_init__()
        angle = checked_number("tip_angle [rad]", self.tip_angle)
        if angle > math.pi:
            raise InputError(f"tip_angle is {angle:g} rad; no tilt exceeds pi. Degrees, perhaps?")


@dataclass(frozen=True)
class TreeSteps:
    """How closely motion is followed."""

    integrator: str = "pece"
    """"pece": Adams steps of variable size and order. "rk4": Runge-Kutta steps of one size."""
    tolerance: float = 1e-7
    """Error of a step allowed, root mean square over the state, in metres, radians, m/s, rad/s;
    for speeds above 1 relative to them. A hit adds up some tens of them. Of "pece" alone."""
    longest: float = 10.0
    """Longest step [s] of "pece"."""
    shortest: float = 1e-13
    """A step that would have to be shorter than this [s] ends the run as failed."""
    contact_step: float | None = None
    """Step [s] that is always taken, however near a pad is to the ground: no contact is shorter.
    A twentieth of a hit of the lightest pad at 1 m/s if not given."""
    step: float = 1e-4
    """The steps [s] of "rk4"."""

    def __post_init__(self) -> None:
        if self.integrator not in INTEGRATORS:
            raise unknown_name("integrator", str(self.integrator), INTEGRATORS)
        for name in ("tolerance", "longest", "shortest", "step"):
            checked_number(f"{name}", getattr(self, name))
        if self.contact_step is not None:
            checked_number("contact_step [s]", self.contact_step)


@dataclass(frozen=True, eq=False)
class TreeRelease:
    """States of a tree at t = 0, in target axes and relative to the turning target; a row a run."""

    tree: Tree
    q: Array
    """(n, n_q) configurations."""
    v: Array
    """(n, n_v) velocities."""

    def __init__(self, tree: Tree, q: npt.ArrayLike, v: npt.ArrayLike) -> None:
        a, b = checked_numbers("q", q, (tree.n_q,)), checked_numbers("v", v, (tree.n_v,))
        a, b = np.atleast_2d(a), np.atleast_2d(b)
        if a.ndim != 2 or b.ndim != 2 or len({len(a), len(b)} - {1}) > 1:
            raise InputError(
                f"a release has q of shape {a.shape} and v of {b.shape}; each needs one row for "
                "all runs or one for each run."
            )
        n = max(len(a), len(b))
        for joint in tree.joints:
            if joint.kind in ("spherical", "free"):
                end = tree.q_slices[joint.body].stop
                require_unit(joint, np.linalg.norm(a[:, end - 4 : end], axis=1))
        for name, rows in (("q", a), ("v", b)):
            full = np.array(np.broadcast_to(rows, (n, rows.shape[1])))
            full.flags.writeable = False
            object.__setattr__(self, name, full)
        object.__setattr__(self, "tree", tree)

    @classmethod
    def of(
        cls,
        tree: Tree,
        position: npt.ArrayLike,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        attitude: npt.ArrayLike = (0.0, 0.0, 0.0, 1.0),
        rate: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        joints: npt.ArrayLike | None = None,
        speeds: npt.ArrayLike | None = None,
    ) -> TreeRelease:
        """By the first body, which must be free: place [m] and velocity [m/s] of its origin,
        attitude (xyzw) and rate [rad/s, its axes], one for all runs or a row for each.

        ``joints`` and ``speeds`` are the rest of q and v; neutral and at rest if not given.
        """
        if tree.joints[0].kind != "free":
            raise InputError(
                f'the first body of tree "{tree.name}" has a {tree.joints[0].kind} joint; a '
                "release by its place needs a free one. Give TreeRelease(tree, q, v)."
            )
        rest, still = tree.neutral()[7:], np.zeros(tree.n_v - 6)
        q = [position, attitude, rest if joints is None else joints]
        v = [velocity, rate, still if speeds is None else speeds]
        return cls(tree, _side_by_side("q", q), _side_by_side("v", v))

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, rows: Any) -> TreeRelease:
        """The release of some of the runs."""
        pick = np.atleast_1d(np.arange(len(self))[rows])
        return TreeRelease(self.tree, self.q[pick], self.v[pick])


def _side_by_side(name: str, parts: Sequence[npt.ArrayLike]) -> Array:
    rows = [np.atleast_2d(np.asarray(part, dtype=np.float64)) for part in parts]
    counts = {len(row) for row in rows} - {1}
    if len(counts) > 1:
        raise InputError(
            f"a release has {' and '.join(map(str, sorted(counts)))} rows in parts of {name}; each "
            "needs one row for all runs or one for each run."
        )
    n = max([1, *counts])
    return np.concatenate([np.broadcast_to(row, (n, row.shape[1])) for row in rows], axis=1)


@dataclass(frozen=True, eq=False)
class TreeModel(Motion):
    """An articulated lander over a target; it never changes.

    Gravity is evaluated at the centre of mass and extrapolated from there to every body with its
    gradient; it is evaluated again when the centre of mass has moved by 1e-4 of its distance from
    the target's origin (relative error 3e-8). External pushes are those at the first body.
    """

    tree: Tree
    devices: Sequence[Device]
    gravity: Gravity
    surface: Surface
    contact: Hertz
    rotation: Rotation = field(default_factory=lambda: UniformRotation(0.0))
    externals: tuple[External, ...] = ()
    stop: TreeStop = field(default_factory=TreeStop)
    steps: TreeSteps = field(default_factory=TreeSteps)
    up: npt.ArrayLike = (0.0, 0.0, 1.0)
    """Which way is up when it stands, in the axes of the first body."""
    stops: tuple[StopLaw, ...] = ()
    """Laws that end runs; the first that is met does."""
    manoeuvres: tuple[Manoeuvre, ...] = ()
    """What the lander does by itself, one after the other, each from coming to rest: pulses of its
    actuators, and getting upright by its joints."""
    sun: tuple[float, float, float] | None = None
    """Where the Sun is, for manoeuvres that wait for it: a direction in inertial axes."""

    def __post_init__(self) -> None:
        kinds: tuple[tuple[str, type, str], ...] = (
            ("tree", Tree, "a vehicles.Tree"),
            ("gravity", Gravity, "a gravity law, such as gravity.PointMass(gm)"),
            ("surface", Surface, "a surface, such as surfaces.Plane()"),
            ("contact", Hertz, "a contact law of pads, such as contact.Hertz(1e5, 200.0)"),
            ("rotation", Rotation, "a rotation law, such as flight.UniformRotation(rate)"),
            ("stop", TreeStop, "motions.TreeStop(...)"),
            ("steps", TreeSteps, "motions.TreeSteps(...)"),
        )
        check_laws(self, kinds)
        object.__setattr__(self, "stops", checked_stops(self.stops))
        up = checked_vector("up", self.up)
        if not up.any():
            raise InputError("up is zero; it must point somewhere, at any length.")
        object.__setattr__(self, "up", up / np.linalg.norm(up))
        object.__setattr__(self, "devices", tuple(self.devices))
        object.__setattr__(self, "manoeuvres", tuple(self.manoeuvres))
        if self.sun is not None:
            sun = checked_direction("sun", self.sun)
            object.__setattr__(self, "sun", (float(sun[0]), float(sun[1]), float(sun[2])))
        self.tour  # noqa: B018  (checks them)
        if not self.fitted.touching:
            raise InputError(
                f'tree "{self.tree.name}" has no pads, with which it would touch the ground. Add a '
                "vehicles.Pad(body, place) at least, or a vehicles.Belly(body, points)."
            )

    @cached_property
    def fitted(self) -> Fitted:
        """The devices by kind."""
        return fitted(self.tree, self.devices)

    @cached_property
    def tour(self) -> TreeTour | None:
        """Its manoeuvres, as the kernel has them; None without."""
        if not self.manoeuvres:
            return None
        return TreeTour(self.manoeuvres, self.tree, self.fitted, self.sun)

    @cached_property
    def sizes(self) -> Sizes:
        """Numbers that the layout of memory depends on."""
        tree, parts = self.tree, self.fitted
        kinds = (parts.touching, parts.crushables, parts.actuators, parts.sloshes, parts.bellies)
        hops = self.tour.memory if self.tour else 0
        pads, crushables, actuators, sloshes, bellies = map(len, kinds)
        counts = (pads, crushables, actuators, sloshes, bellies)
        return Sizes(tree.count, tree.n_q, tree.n_v, *counts, hops)

    @property
    def full_gravity(self) -> Gravity:
        """The gravity law that is evaluated: a linearised one has its own extrapolation."""
        return self.gravity.full if isinstance(self.gravity, Linearised) else self.gravity

    @cached_property
    def size(self) -> float:
        """Largest distance of a pad from the first body's origin, all joints neutral [m]."""
        return _size(self.tree, self.fitted.touching)

    def composition(self) -> TreeComposition:
        """The functions and types of this model's kernel."""
        gravity = self.full_gravity
        external_data, push = combine(self.externals)
        return compose_tree(
            TreeLaws(
                gravity_field=gravity.field,
                gravity_data=gravity.Data,
                surface_point=self.surface.point,
                surface_data=self.surface.Data,
                spin=self.rotation.spin,
                attitude=self.rotation.attitude,
                rotation_data=self.rotation.Data,
                push=push,
                external_data=external_data,
                pushed=bool(self.externals),
                ground_at=self.contact.ground_law[0],
                ground_data=self.contact.ground_law[1],
                next=combined_next(self.externals),
                even=self.rotation.uniform,
                pece=self.steps.integrator == "pece",
                manoeuvres=len(self.tour.rows) if self.tour else 0,
            )
        )

    def contact_rows(self) -> Any:
        """Parameters of the contact, a row for each run or one for all."""
        return self.contact.rows(self.lightest, self.slip_mass)

    def data(self, device: hardware.Device) -> Any:
        """The parameters of all laws as one struct whose arrays live on ``device``."""
        world = self.composition().World()
        world.tree = self.tree.kernel_data(device)
        world.parts = device_data(self.tree, self.fitted, device)
        world.actuators = _actuators(self.tree, self.fitted, device)
        world.gravity = self.full_gravity.data(device)
        world.surface = self.surface.of([0]).data(device)
        world.rotation = self.rotation.data(device)
        world.external = combined_data(self.externals, device)
        world.contact = wp.array(self.contact_rows(), dtype=self.contact.Data, device=device.name)
        world.ground = self.contact.ground_data(device)
        world.limits = self._limits()
        world.slope, world.curvature = self._pressed(0)[:2]
        world.up, world.mass = vec3(*np.asarray(self.up)), self.tree.mass
        world.step = self.steps.step
        if self.tour:
            world.tour = self.tour.data(device)
        return world

    @property
    def own_worlds(self) -> bool:
        """Whether runs have ground or springs of their own."""
        return self.surface.count > 1 or self.contact.stiffness.size > 1

    def worlds_each(
        self, release: TreeRelease, device: hardware.Device, rows: Any, which: Any
    ) -> WorldRows:
        """The parameters of the first run, with ground and springs of each laid over them."""
        first = self.data(device)
        table = world_rows([first], len(rows))
        if self.surface.count > 1:
            table["surface"] = self.surface.table()[rows]
        if self.contact.stiffness.size > 1:
            found = np.array([self._pressed(i) for i in rows.tolist()]).reshape(-1, 4)
            table["slope"], table["curvature"] = found[:, 0], found[:, 1]
            limits = table["limits"]
            limits["contact_step"], limits["sink_depth"] = found[:, 2], found[:, 3]
        return WorldRows(first, table, [self.stops], which)

    def _pressed(self, run: int) -> tuple[float, float, float, float]:
        """What follows from the springs of a run: slope and curvature [1/m] that bound the ground,
        a step that no contact is shorter than [s], and the depth of a pad that has sunk in [m].

        Bounds hold down to where a force presses a pad that gives the lander 1 m/s^2.
        """
        springs = self.contact.stiffness
        k = float(springs[run if springs.size > 1 else 0])
        bounds = self.surface.bounds_to((self.tree.mass / k) ** (2.0 / 3.0))
        step = self.steps.contact_step
        if step is None:
            step = duration(self.lightest, 1.0, k) / 20.0
        sunk = max(self.size, 10.0 * deepest(self.tree.mass, 1.0, k))
        return bounds.slope, bounds.curvature, step, sunk

    @property
    def lightest(self) -> float:
        """Mass of the lightest body with a pad [kg]."""
        masses = [self.tree.bodies[self.tree.index(pad.body)].mass for pad in self.fitted.touching]
        return min([m for m in masses if m > 0.0] or [self.tree.mass])

    @cached_property
    def slip_mass(self) -> float:
        """Smallest mass that a pad has along the ground [kg]: a force F across ``up`` on it alone,
        joints neutral, moves it by F / m."""
        return _slip_mass(self.tree, self.fitted.touching, tuple(np.asarray(self.up).tolist()))

    def allowed(self) -> tuple[Array, Array]:
        """Errors of a step, absolute and relative, for each number of a state."""
        sizes, tolerance = self.sizes, self.steps.tolerance
        # Strains are 0 most of the time: they must not dilute the mean square of the others.
        tolerance *= math.sqrt(sizes.strain.start / sizes.rows)
        relative = np.zeros(sizes.rows)
        relative[sizes.n_q : sizes.n_q + sizes.n_v] = tolerance
        return np.full(sizes.rows, tolerance), relative

    # -- under the engine ----------------------------------------------------------------------

    shown = {  # noqa: RUF012
        "settled": Outcome.SETTLED,
        "tipped": Outcome.TIPPED_OVER,
    }
    Release = TreeRelease

    @cached_property
    def columns(self) -> Columns:
        """What is reported of landings, with loads by the names of parts."""
        return with_laws(tree_columns(self), self)

    tells_release = True

    def loop(self) -> Loop:
        """What the kernel is made from."""
        parts = self.composition()
        scene = partial(tree_scene_function, parts)
        return judged(tree_loop(parts), self.stops, scene, kept)

    def pace(self, device: hardware.Device) -> Pace:
        """How much is done at once."""
        each = self.sizes.bytes_each
        return Pace(256, 2000, 8, gpu_slots=65_536, gpu_memory=8 << 30, bytes_each=each)

    def start(self, release: TreeRelease, device: hardware.Device, threads: int | None) -> Start:
        """The runs as they are released; those inside the ground have already failed."""
        tree, n = self.tree, len(release)
        if release.tree is not tree:
            raise InputError(
                f'the release is of tree "{release.tree.name}" and the model of another, '
                f'"{tree.name}"; make the release with the model\'s own tree.'
            )
        check_count(self.contact.count, n)
        check_count(self.surface.count, n, "the ground")
        q, refused, poses = placed_tree(self, release, threads)
        runs, notes = new_records(TreeRun, n), new_records(TreeNotes, n)
        masses = np.array([body.mass for body in tree.bodies]) / tree.mass
        runs["x"] = np.einsum("b,nbi->ni", masses, poses.center)
        runs["v"] = np.einsum("b,nbi->ni", masses, poses.center_velocity)
        runs["fresh"] = 1
        runs["outcome"][refused] = Outcome.STARTED_INSIDE
        for name in ("touched", "until", "bound"):
            runs[name] = NEVER
        notes["number"] = np.arange(n)
        notes["row"] = np.arange(n) if self.contact.count > 1 else 0
        notes["anchor_x"] = np.nan  # nowhere yet
        notes["until"] = notes["rested"] = notes["wakes"] = NEVER
        crushed = np.array([part.crushed for part in self.fitted.crushables])
        rest = np.broadcast_to(crushed, (n, len(crushed)))
        y = np.concatenate([q, release.v, rest, np.zeros((n, 3 * self.sizes.pads))], axis=1)
        rows = {"y": y, "peaks": np.zeros((n, self.sizes.peaks))}
        if self.tour:
            rows["hops"] = np.zeros((n, self.sizes.hops))
        return Start(runs, notes, rows)

    @property
    def layout(self) -> tuple[Sizes, float]:
        """Bodies, joints and devices, and the error that a step may have."""
        return self.sizes, self.steps.tolerance

    def memory(self, slots: int, device: hardware.Device, room: tuple[int, ...] = ()) -> Any:
        """What runs keep in memory, by slot."""
        return make_space(self.sizes, slots, *self.allowed(), device)

    def rows(self, memory: Any) -> dict[str, Any]:
        """The state, and the largest of everything so far."""
        more = {"hops": memory.hops} if self.tour else {}
        return {"y": memory.rows.y, "peaks": memory.peaks, **more}

    def fresh(self, memory: Any) -> list[tuple[Any, float]]:
        """Nothing is switched on."""
        return [(memory.level, 0.0)]

    @property
    def line_width(self) -> int:
        """Numbers of a line of history."""
        return line_parts(self.sizes).width

    def line_phase(self, lines: Array) -> npt.NDArray[Any]:
        """(n,) whether the ground pushes."""
        return lines[:, IN_CONTACT] > 0.0

    def result(self, runs: Start, touches: Any, threads: int | None) -> TreeResult:
        """How the runs ended."""
        n_q, n_v = self.tree.n_q, self.tree.n_v
        y = runs.rows["y"]
        return TreeResult(
            final=final_tree_states(runs, self.tree, threads),
            touches=touches,
            model=self,
            q=y[:, :n_q].copy(),
            v=y[:, n_q : n_q + n_v].copy(),
            endings=self.all_endings,
            peaks=named_peaks(runs, self.sizes, len(self.fitted.pads)),
            tilt=runs.notes["tilt"].copy(),
            manoeuvres=self._records(runs),
        )

    def _records(self, runs: Start) -> Any:
        """Those of its manoeuvres; None without."""
        if self.tour is None:
            return None
        return records_of(runs.rows["hops"], len(self.tour.rows), self.size)

    def solution(self, batch: Batch, result: TreeResult) -> TreeSolution:
        """The trajectory of one run."""
        return tree_solution_of(batch, result)

    def _limits(self) -> Any:
        limits, stop, steps = TreeLimits(), self.stop, self.steps
        limits.max_time, limits.max_steps = stop.max_time, stop.max_steps
        limits.escape_radius = min(stop.escape_radius, 1e300)
        limits.settle_speed, limits.settle_rate = stop.settle_speed, stop.settle_rate
        limits.settle_time, limits.tip_angle = stop.settle_time, stop.tip_angle
        limits.longest, limits.shortest = steps.longest, steps.shortest
        limits.first = max(0.05 * math.sqrt(steps.tolerance), 10.0 * steps.shortest)
        limits.contact_step, limits.sink_depth = self._pressed(0)[2:]
        limits.size = self.size
        return limits


@functools.lru_cache(maxsize=64)
def _actuators(tree: Tree, parts: Fitted, device: hardware.Device) -> Any:
    """``ActuatorTable`` on ``device``; models of one lander share it."""

    def joint(body: str) -> tuple[int, int]:
        return tree.index(body), tree.v_slices[body].start

    return actuator_table(parts.actuators, joint, device)


@functools.lru_cache(maxsize=64)
def _size(tree: Tree, pads: tuple[Pad, ...]) -> float:
    """``TreeModel.size``: models of one lander share it."""
    poses = tree.kinematics(tree.neutral(), np.zeros(tree.n_v), device="cpu")
    far = [0.0]
    for pad in pads:
        origin = poses.position[tree.index(pad.body)] - poses.position[0]
        far.append(float(np.linalg.norm(origin)) + float(np.linalg.norm(pad.place)))
    return max(far)


@functools.lru_cache(maxsize=64)
def _slip_mass(tree: Tree, pads: tuple[Pad, ...], up: tuple[float, ...]) -> float:
    """``TreeModel.slip_mass``: models of one lander share it."""
    x, y = frames.local_frame(np.array(up)).T[:2]
    forces = np.zeros((len(pads), 4, tree.count, 3))  # along x, y, both, and none
    points = np.zeros((len(pads), 4, tree.count, 3))
    for k, pad in enumerate(pads):
        body = tree.index(pad.body)
        forces[k, :3, body], points[k, :, body] = (x, y, x + y), pad.place
    q, still = tree.neutral(), np.zeros((len(pads), 4, tree.n_v))
    a = tree.accelerations(q, still, forces=forces, points=points, device="cpu")
    # f . J M^-1 J^T f is twice the kinetic energy of the velocity M^-1 J^T f.
    xx, yy, both = np.moveaxis(2.0 * tree.energy(q, a[:, :3] - a[:, 3:], device="cpu")[0], 1, 0)
    xy = 0.5 * (both - xx - yy)
    most = 0.5 * (xx + yy) + np.hypot(0.5 * (xx - yy), xy)
    return min(tree.mass, 1.0 / max(float(most.max()), 1e-300))

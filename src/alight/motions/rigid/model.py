"""``Model``: the laws of one problem, checked and frozen, and their parameters on a device."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.actuators import Actuator, Arm, FollowPlan, Manoeuvre, Wheel
from alight.contact import Compliant, Impulse, Sliding
from alight.contact.hull.overlap import overlap_kernel
from alight.contact.hull.supported_surfaces import (
    HULL_TOUCHES,
    hull_functions,
    is_ball,
    shelf_of,
    touching_hull,
)
from alight.core import devices, frames
from alight.core.checks import Array, checked_direction, checked_number
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.engine.batch import Batch, check_count
from alight.engine.columns import Columns, with_laws
from alight.engine.deck import GPU_ROUNDS
from alight.engine.laws import check_laws
from alight.engine.motion import Loop, Motion, Pace, Start, new_records
from alight.engine.records import Touch, field_of, joined, size_of
from alight.engine.result import BatchResult
from alight.engine.stop import Stop
from alight.engine.stops.judging import judged
from alight.engine.stops.law import StopLaw, checked_stops
from alight.flight import External, Rotation, UniformRotation
from alight.flight.combine import combine, combined_data, combined_next
from alight.gravity import Gravity, Linearised, Uniform
from alight.motions.rigid.columns import HOPS, RIGID, drive_columns, plan_columns
from alight.motions.rigid.composition import Composition, Laws, Nothing, Scheme, compose
from alight.motions.rigid.drive.host_control import steer
from alight.motions.rigid.drive.laws import Drives
from alight.motions.rigid.drive.manoeuvres import Tour
from alight.motions.rigid.loop import rigid_loop
from alight.motions.rigid.phases.clipped import CLIPPED
from alight.motions.rigid.phases.hull import DEEPEST, hull_scheme
from alight.motions.rigid.phases.impulse import impulse_scheme
from alight.motions.rigid.phases.sliding import check_sliding, sliding_scheme
from alight.motions.rigid.phases.smooth import SMOOTH
from alight.motions.rigid.placing import placed
from alight.motions.rigid.release import Release, gap_kernel
from alight.motions.rigid.result import DrivenResult
from alight.motions.rigid.scene import scene_function
from alight.motions.rigid.solution import LINE_PHASE, LINE_WIDTH, Solution, solution_of
from alight.motions.rigid.state import Limits, Notes, Run, make_memory, slot_bytes
from alight.surfaces import Surface
from alight.surfaces.rocks.nearby_cache import NO_SHELF, ShelfSize
from alight.vehicles import RigidLander
from alight.vehicles.rigid.free_rotation import free_body
from alight.vehicles.rigid.hull_data import HullData

_SCHEMES: dict[str, Scheme] = {"clipped": CLIPPED, "smooth": SMOOTH}

#: Steps after which a landing leaves a GPU. Of the reference landings 17 in a thousand take more
#: than 16 384 steps, 3 in a thousand more than 32 768; a step of a lonely run takes 0.15 ms there.
HAND_OVER = 24_576


@dataclass(frozen=True)
class Steps:
    """How closely flight is followed (contact has its own ``resolution``)."""

    tolerance: float = 1e-9
    """Error of a step, relative to the distance from the origin and to the speed."""
    longest: float = 600.0
    """Longest step [s]."""
    shortest: float = 1e-9
    """A step that would have to be shorter than this [s] ends the run as failed."""

    def __post_init__(self) -> None:
        for name in ("tolerance", "longest", "shortest"):
            checked_number(name, getattr(self, name))


@dataclass(frozen=True, eq=False)
class Model(Motion):
    """A target, a lander and the laws between them; it never changes.

    Two models made of the same kinds of laws share one compiled kernel, whatever their numbers.
    """

    gravity: Gravity
    surface: Surface
    lander: RigidLander
    contact: Compliant
    rotation: Rotation = field(default_factory=lambda: UniformRotation(0.0))
    externals: tuple[External, ...] = ()
    stop: Stop = field(default_factory=Stop)
    steps: Steps = field(default_factory=Steps)
    stops: tuple[StopLaw, ...] = ()
    """Laws that end runs; the first that is met does."""
    actuators: tuple[Wheel | Arm | Actuator, ...] = ()
    """Wheels, arms, thrusters, springs (``alight.actuators``)."""
    manoeuvres: tuple[Manoeuvre, ...] = ()
    """What the lander does with them, one after the other, each from coming to rest."""
    sun: tuple[float, float, float] | None = None
    """Where the Sun is, for manoeuvres that wait for it: a direction in inertial axes."""

    def __post_init__(self) -> None:
        kinds: tuple[tuple[str, type, str], ...] = (
            ("gravity", Gravity, "a gravity law, such as gravity.PointMass(gm)"),
            ("surface", Surface, "a surface, such as surfaces.Plane()"),
            ("lander", RigidLander, 'a lander, such as alight.lander("minerva-ii-1").rigid()'),
            (
                "contact",
                Compliant,
                "one of rigid landers, such as contact.Compliant(restitution=0.6)",
            ),
            ("rotation", Rotation, "a rotation law, such as flight.UniformRotation(rate)"),
            ("stop", Stop, "engine.Stop(...)"),
            ("steps", Steps, "motions.Steps(...)"),
        )
        check_laws(self, kinds)
        object.__setattr__(self, "actuators", tuple(self.actuators))
        object.__setattr__(self, "manoeuvres", tuple(self.manoeuvres))
        if self.sun is not None:
            sun = checked_direction("sun", self.sun)
            object.__setattr__(self, "sun", (float(sun[0]), float(sun[1]), float(sun[2])))
        self._drives().check_body(self.lander.mass, self.lander.inertia)
        object.__setattr__(self, "stops", checked_stops(self.stops))
        if isinstance(self.contact, Sliding):
            check_sliding(self.surface, self.lander)
            if self.actuators:
                raise InputError(
                    "contact is Sliding, which moves a point on a smooth surface, and the lander "
                    "has actuators: nothing turns a point, and slides go by closed forms without "
                    "them. Use contact.Compliant or contact.Impulse with a lander that has a hull."
                )
        if self.contact.touch == "hull" and hull_functions(self.surface) is None:
            raise InputError(
                f'contact has touch = "hull" and the surface is {self.surface!r}; {HULL_TOUCHES}.'
            )

    @cached_property
    def drives(self) -> Drives | None:
        """The actuators, as the kernel has them; None without."""
        return self._drives() if self.actuators or self.manoeuvres else None

    def _drives(self) -> Drives:
        if not self.manoeuvres:
            return Drives(self.actuators)
        if not self.actuators and not all(
            isinstance(getattr(one, "command", None), FollowPlan) for one in self.manoeuvres
        ):
            raise InputError("the model has manoeuvres and no actuators to do them with.")
        plain = Drives(self.actuators)
        tour = Tour(self.manoeuvres, self.lander, plain.wheels, tuple(plain.names), self.sun)
        return Drives(self.actuators, tour)

    @property
    def full_gravity(self) -> Gravity:
        """The gravity law that is evaluated in full."""
        return self.gravity.full if isinstance(self.gravity, Linearised) else self.gravity

    @property
    def scheme(self) -> Scheme:
        """How contact is stepped: the contact's own ``stepping``, or what its ``scheme`` names."""
        if isinstance(self.contact, Impulse):
            return impulse_scheme(self.surface, self.lander)
        if isinstance(self.contact, Sliding):
            central = not self.externals and not isinstance(self.full_gravity, Uniform)
            return sliding_scheme(self.surface, central)
        if self.touches_by_hull:
            return hull_scheme(self.surface)
        own: Scheme | None = self.contact.stepping
        return _SCHEMES[self.contact.scheme] if own is None else own

    @cached_property
    def touches_by_hull(self) -> bool:
        """Whether springs are at pairs of hull and ground, not at the lander's points."""
        law, lander = self.contact, self.lander
        own = isinstance(law, Impulse | Sliding) or law.stepping is not None
        if own or law.touch == "points" or is_ball(lander):
            return False
        can = hull_functions(self.surface) is not None
        return can and (law.touch == "hull" or not lander.has_points_beyond)

    def contact_rows(self) -> Any:
        """Parameters of the contact, a row for each run or one for all."""
        return self._contact_rows

    @cached_property
    def _contact_rows(self) -> Any:
        """Computed once: each group of runs that moves to the host's cores asks for them again."""
        rows = self.contact.rows(self.lander)
        if self.touches_by_hull:
            most = DEEPEST * self.lander.bounding_radius
            rows["depth"] = np.minimum(rows["depth"], most)
        return rows

    @property
    def shelf(self) -> ShelfSize:
        """How many rocks a run keeps near it."""
        if isinstance(self.contact, Impulse) or self.touches_by_hull:
            return shelf_of(self.surface, self.lander)
        return NO_SHELF

    def composition(self) -> Composition:
        """The functions and types of this model's kernel."""
        gravity = self.full_gravity
        external_data, push = combine(self.externals)
        ground = self.contact.ground
        return compose(
            Laws(
                gravity_field=gravity.field,
                gravity_flight=gravity.flight,
                gravity_data=gravity.Data,
                surface_point=self.surface.point,
                surface_data=self.surface.Data,
                spin=self.rotation.spin,
                attitude=self.rotation.attitude,
                rotation_data=self.rotation.Data,
                push=push,
                external_data=external_data,
                contact_data=self.contact.Data,
                ground_at=None if ground is None else ground.at,
                ground_data=Nothing if ground is None else ground.Data,
                hull_data=HullData if self.scheme.hull else Nothing,
                scheme=self.scheme,
                linearised=isinstance(self.gravity, Linearised),
                steady=self.rotation.uniform and all(law.steady for law in self.externals),
                next=combined_next(self.externals),
                drive=self.drives.laws if self.drives else None,
            )
        )

    def data(self, device: devices.Device) -> Any:
        """The parameters of all laws as one struct whose arrays live on ``device``."""
        world = self.composition().World()
        lander = self.lander
        world.gravity = self.full_gravity.data(device)
        world.surface = self.surface.data(device)
        world.rotation = self.rotation.data(device)
        world.external = combined_data(self.externals, device)
        world.contact = wp.array(self.contact_rows(), dtype=self.contact.Data, device=device.name)
        ground = self.contact.ground
        world.ground = Nothing() if ground is None else ground.data(device)
        if self.scheme.hull:
            world.hull = touching_hull(lander, device)
        world.body = lander.kernel_data(device)
        world.free = free_body(lander.inertia)
        world.limits = self._limits()
        # Twice the depth aimed at: what bounds hold above the ground must hold in a dent too.
        bounds = self.surface.bounds_to(2.0 * self.contact.depth)
        world.slope, world.curvature = bounds.slope, bounds.curvature
        world.reach = self.gravity.reach if isinstance(self.gravity, Linearised) else 0.0
        world.lightest = self.lightest
        if self.drives is not None:
            world.actuators = self.drives.data(device)
        return world

    @property
    def lightest(self) -> float:
        """Smallest mass that a hit can meet [kg]: at the end of the longest lever."""
        lander, reach = self.lander, self.lander.bounding_radius
        inverse = lander.inverse_inertia
        if self.drives is not None:
            least = self.drives.free_inertia(lander.inertia)
            if self.drives.arms:
                least = self.drives.least_inertia(lander.mass, lander.inertia)
                reach += self.drives.farthest_shift(lander.mass)
            inverse = np.asarray(np.linalg.inv(least))
        softest = float(np.linalg.eigvalsh(inverse)[-1])
        return 1.0 / (1.0 / lander.mass + reach**2 * softest)

    # -- under the engine ----------------------------------------------------------------------

    def loop(self) -> Loop:
        """What the kernel is made from."""
        parts = self.composition()
        return judged(rigid_loop(parts), self.stops, partial(scene_function, parts))

    def kernels(self) -> list[Any]:
        """What places releases on the ground, and finds how deep hulls rest in it."""
        surface = self.surface
        found = [gap_kernel(surface.point, surface.Data), surface.point_kernel]
        return found if is_ball(self.lander) else [overlap_kernel(surface), *found]

    @property
    def waits(self) -> bool:
        """Whether functions of Python set levels."""
        return self.drives is not None and bool(self.drives.laws.hosted)

    def steer(self, states: Start, number: int) -> None:
        """Let them do so, where they are due."""
        steer(self, states, number)

    def pace(self, device: devices.Device) -> Pace:
        """How much is done at once."""
        own = slot_bytes(*self.layout)
        return Pace(bytes_each=own + GPU_ROUNDS * size_of(Touch), hand_over=HAND_OVER)

    def start(self, release: Release, device: devices.Device, threads: int | None) -> Start:
        """The runs as they are released; those inside the ground have already failed."""
        check_count(self.contact.count, len(release))
        self.contact_rows()  # kept: a campaign starts runs ahead, while others are under way
        runs, notes = new_records(Run, len(release)), new_records(Notes, len(release))
        notes["number"] = np.arange(len(release))
        notes["row"] = notes["number"] if self.contact.count > 1 else 0
        notes["anchor_x"] = np.nan  # nowhere yet
        runs["v"], runs["q"], runs["w"] = release.velocity, release.attitude, release.rate
        # Where something switches, the first such time is found in the kernel.
        switches = combined_next(self.externals) is not None or self.drives is not None
        runs["h"], runs["until"] = self.steps.longest, 0.0 if switches else self.stop.max_time
        runs["x"], refused = placed(self, release, device, threads)
        runs["outcome"][refused] = Outcome.STARTED_INSIDE
        if self.drives is None:
            return Start(runs, notes)
        omega, _, _ = self.rotation.evaluate(np.zeros(1), device="cpu")
        star = frames.inertial_rate(release.attitude, release.rate, omega[0])
        return Start(runs, notes, {"drives": self.drives.start(star, release.draw)})

    @property
    def layout(self) -> tuple[int, bool, ShelfSize, int]:
        """Contact points, whether single contacts are kept, rocks near a run, rows of actuators."""
        drives = self.drives.laws.rows if self.drives else 0
        return self.lander.n_points, self.scheme.pairs, self.shelf, drives

    def memory(self, slots: int, device: devices.Device, room: tuple[int, ...] = ()) -> Any:
        """What runs keep in memory, by slot."""
        return make_memory(slots, *self.layout, device)

    def fresh(self, memory: Any) -> list[tuple[Any, float]]:
        """Nothing is known yet of the ground near a run that begins."""
        shelf, points = memory.shelves.shelf, memory.points
        rocks = [(field_of(shelf, "reach"), -1.0)] if len(shelf) else []
        return [(points.clear, -1.0), (points.looked, -math.inf), *rocks]

    def rows(self, memory: Any) -> dict[str, Any]:
        """Arrays [row, slot] that go with a run."""
        return {"drives": memory.drives} if self.drives else {}

    def carried(self, memory: Any) -> dict[str, Any]:
        """How far points are surely from the ground, and what held a rigid lander."""
        held = ("held", "before") if self.scheme.pairs else ()
        ground = {name: getattr(memory.points, name) for name in ("clear", "looked", "tangent")}
        return {**ground, **{name: getattr(memory, name) for name in held}}

    Release = Release

    @property
    def line_width(self) -> int:
        """Numbers of a line; actuators add two, each wheel its speed, each arm angle and rate."""
        if self.drives is None:
            return LINE_WIDTH
        return LINE_WIDTH + 2 + self.drives.laws.wheels + 2 * self.drives.laws.arms

    @property
    def columns(self) -> Columns:
        """What is reported of landings."""
        own = RIGID
        if self.drives is not None:
            wheels = [wheel.name for wheel in self.drives.wheels]
            more = drive_columns(wheels, self.drives.names)
            hops = HOPS if self.manoeuvres else ()
            if self.drives.laws.throws:
                more = (*more, *plan_columns(self.drives.goal))
            own = replace(RIGID, runs=(*RIGID.runs, *more), hops=hops)
        return with_laws(own, self)

    def line_phase(self, lines: Array) -> npt.NDArray[Any]:
        """(n,) which phase lines are of."""
        return lines[:, LINE_PHASE]

    def result(self, runs: Start, touches: Any, threads: int | None) -> BatchResult:
        """How the runs ended."""
        final = joined(runs.runs, runs.notes)
        if self.drives is None:
            return BatchResult(final, touches, endings=self.all_endings)
        omega, _, _ = self.rotation.evaluate(final["t"], device="cpu")
        star = frames.inertial_rate(final["q"], final["w"], omega)
        rows = runs.rows["drives"]
        told = self.drives.told(rows, star)
        return DrivenResult(final, touches, *told, endings=self.all_endings)

    def solution(self, batch: Batch, result: BatchResult) -> Solution:
        """The trajectory of one run."""
        return solution_of(batch, result)

    def _limits(self) -> Any:
        limits, stop = Limits(), self.stop
        limits.max_time, limits.max_steps = stop.max_time, stop.max_steps
        limits.escape_radius = min(stop.escape_radius, 1e300)
        limits.settle_speed, limits.settle_rate = stop.settle_speed, stop.settle_rate
        limits.settle_time = stop.settle_time
        limits.rtol = self.steps.tolerance
        limits.max_step, limits.min_step = self.steps.longest, self.steps.shortest
        return limits

"""Composition: the laws of one model as one struct and a handful of functions for its kernel."""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.contact.ground_properties.local_law import local_contact
from alight.core.types import quat, scalar, vec3
from alight.gravity.law import FieldValue
from alight.gravity.linearised import extrapolate
from alight.motions.rigid.drive.laws import Drive, DriveLaws
from alight.motions.rigid.state import Limits, Memory, Run
from alight.vehicles.rigid.data import RigidBody, angular_energy, linear_energy
from alight.vehicles.rigid.free_rotation import FreeRotor, free_rotation


@dataclasses.dataclass(frozen=True)
class Scheme:
    """How contact is stepped: two factories, each given a ``Composition``.

    ``arrive(parts)`` returns a Warp function ``(world, run, memory, slot, closing, g) -> run`` that
    prepares a run for contact, ``run.dt`` being its first step [s]: flight hands over when nothing
    longer is safe.
    ``closing`` is the normal speed of the nearest point [m/s], ``g`` the acceleration [m/s^2].
    ``press(parts)`` returns a Warp function ``(world, run, memory, slot) -> run``: one step in
    contact, at whose end the run may be in flight again, or at rest. ``presses(parts)`` returns it
    in two, for hits and for sustained contact, where they are unlike enough to have a launch each.
    ``hits`` is True where ``run.lasting`` separates hits and contact that outlasts them: on ground
    that varies, a hit keeps the restitution of the place where it began.
    ``clearance(parts)`` replaces how flight bounds its steps: a Warp function ``(world, run, a,
    longest, memory, slot) -> Clearance``. ``rigid`` is True where contact has no springs, ``hull``
    asks for the lander's hull in the world; either asks for memory of single contacts.
    """

    name: str
    arrive: Any
    press: Any
    presses: Any = None
    hits: bool = False
    clearance: Any = None
    rigid: bool = False
    hull: bool = False

    @property
    def pairs(self) -> bool:
        """Whether runs keep the contacts of a step."""
        return self.rigid or self.hull


@dataclasses.dataclass(frozen=True)
class Laws:
    """The functions and types that a kernel is made from; two models with equal laws share it."""

    gravity_field: Any
    gravity_flight: Any
    gravity_data: Any
    surface_point: Any
    surface_data: Any
    spin: Any
    attitude: Any
    rotation_data: Any
    push: Any
    external_data: Any
    contact_data: Any
    ground_at: Any  # None where the ground is the same everywhere
    ground_data: Any
    hull_data: Any
    scheme: Scheme
    linearised: bool
    steady: bool  # nothing depends on time: E_J is a constant of free motion
    next: Any = None  # when an external push switches; None where none does
    drive: DriveLaws | None = None  # actuators; None where there are none

    @property
    def before_steps(self) -> bool:
        """Whether gravity is evaluated by the loop, before steps that need it. (The centre of mass
        of a lander with arms is elsewhere in contact.)"""
        return self.linearised and (self.drive is None or not self.drive.arms)


@dataclasses.dataclass(frozen=True)
class Composition:
    """What phases are written with."""

    laws: Laws
    World: Any
    pull: Any
    in_reach: Any  # whether gravity can still be extrapolated to where a run is
    evaluate: Any  # gravity in full where it is
    anchor: Any  # the same in a phase: nothing is left to do where the loop has seen to it
    frame_pull: Any
    turn: Any
    energy: Any
    contact_of: Any


@wp.struct
class Nothing:
    """In place of data that a model has no use for; a struct must have a field."""

    nothing: scalar


@wp.struct
class Energy:
    """E_J and its parts [J] (conserved where the target turns evenly; erratum note of 004)."""

    linear: scalar
    angular: scalar
    centrifugal: scalar
    gravity: scalar
    elastic: scalar
    total: scalar


@functools.cache
def compose(laws: Laws) -> Composition:
    """The struct of all parameters and the functions over it."""
    gravity_data, surface_data = laws.gravity_data, laws.surface_data
    rotation_data, external_data = laws.rotation_data, laws.external_data
    contact_data, ground_data = laws.contact_data, laws.ground_data
    hull_data = laws.hull_data
    drives = laws.drive is not None
    actuator_data, drive_data = (laws.drive.Data, Drive) if laws.drive else (Nothing, Nothing)
    field, flight, push = laws.gravity_field, laws.gravity_flight, laws.push
    spin, attitude = laws.spin, laws.attitude

    @wp.struct
    class World:
        gravity: gravity_data
        surface: surface_data
        rotation: rotation_data
        external: external_data
        contact: wp.array(dtype=contact_data)
        ground: ground_data
        hull: hull_data
        body: RigidBody
        free: FreeRotor
        limits: Limits
        slope: scalar  # bound on the gradient of the distance
        curvature: scalar  # bound on its second derivatives [1/m]
        reach: scalar  # gravity is extrapolated this far from where it was evaluated [m]
        lightest: scalar  # least mass a hit can meet [kg]
        actuators: actuator_data
        drive: drive_data  # what they do in the step under way

    @wp.func
    def frame_pull(world: World, t: scalar, x: vec3, v: vec3, gravity: vec3):
        """Acceleration relative to the turning target (paper 000, equation 2, corrected)."""
        now = spin(world.rotation, t)
        omega = now.rate
        extra = push(world.external, t, attitude(world.rotation, t), x)
        return (
            gravity
            - wp.cross(omega, wp.cross(omega, x))
            - scalar(2.0) * wp.cross(omega, v)
            - wp.cross(now.acceleration, x)
            + extra.acceleration
        )

    @wp.func
    def in_reach(world: World, run: Run, memory: Memory, slot: int):
        """Whether gravity was evaluated in full close enough to where the run is.

        Where flight evaluates it in full, contact still does not at each of its small steps: over a
        ten-thousandth of the distance from the origin the error is 3 (d/r)^2 = 3e-8.
        """
        d = run.x - memory.notes[slot].anchor_x
        reach2 = world.reach * world.reach
        if not wp.static(laws.linearised):
            reach2 = scalar(1e-8) * wp.dot(run.x, run.x)
        return wp.dot(d, d) <= reach2

    @wp.func
    def evaluate(world: World, run: Run, memory: Memory, slot: int):
        """Evaluate gravity in full where the run is."""
        d = run.x - memory.notes[slot].anchor_x
        value = field(world.gravity, run.x)
        if run.touching != 0:
            # The potential steps by what extrapolation had missed: no work of the contact.
            guess = extrapolate(memory.notes[slot].anchor, d)
            missed = world.body.mass * (value.potential - guess.potential)
            memory.notes[slot].energy -= missed
            memory.notes[slot].touch.energy_in -= missed
        memory.notes[slot].anchor = value
        memory.notes[slot].anchor_x = run.x

    @wp.func
    def anchor(world: World, run: Run, memory: Memory, slot: int):
        """Evaluate gravity in full, unless it was within reach; nothing where the loop does so
        before every step."""
        if wp.static(not laws.before_steps):  # noqa: SIM102
            if not in_reach(world, run, memory, slot):
                evaluate(world, run, memory, slot)

    @wp.func
    def pull(world: World, memory: Memory, slot: int, t: scalar, x: vec3, v: vec3):
        """Acceleration in flight [m/s^2]."""
        if wp.static(laws.linearised):
            value = extrapolate(memory.notes[slot].anchor, x - memory.notes[slot].anchor_x)
            return frame_pull(world, t, x, v, value.acceleration)
        value = flight(world.gravity, x)
        return frame_pull(world, t, x, v, value.acceleration)

    @wp.struct
    class Attitude:
        q: quat
        w: vec3

    @wp.func
    def turn(world: World, t: scalar, q: quat, w: vec3, dt: scalar):
        """Attitude and rate relative to the target after ``dt`` [s] without torque."""
        before = spin(world.rotation, t)
        q_NB = attitude(world.rotation, t) * q
        turned = free_rotation(world.free, q_NB, w + wp.quat_rotate_inv(q, before.rate), dt)
        after = spin(world.rotation, t + dt)
        out = Attitude()
        out.q = wp.normalize(wp.quat_inverse(attitude(world.rotation, t + dt)) * turned.q)
        out.w = turned.w - wp.quat_rotate_inv(out.q, after.rate)
        return out

    @wp.func
    def energy(world: World, run: Run, value: FieldValue):
        """E_J of ``run`` where gravity is ``value``; |I Omega| part counted as angular."""
        now = spin(world.rotation, run.t)
        O_B = wp.quat_rotate_inv(run.q, now.rate)
        swing = wp.cross(now.rate, run.x)
        extra = push(world.external, run.t, attitude(world.rotation, run.t), run.x)
        found = Energy()
        found.linear = linear_energy(world.body, run.v)
        found.angular = angular_energy(world.body, run.w) - angular_energy(world.body, O_B)
        if wp.static(drives):
            # Of wheels, E less the target's rate times the momentum, as of the lander itself.
            found.angular += world.drive.stored - wp.dot(O_B, world.drive.gyro)
        found.centrifugal = -linear_energy(world.body, swing)
        found.gravity = -world.body.mass * (value.potential + extra.potential)
        found.elastic = run.elastic
        found.total = (
            found.linear + found.angular + found.centrifugal + found.gravity + found.elastic
        )
        return found

    contact_of = _contact_of(laws, World)
    gravity = (in_reach, evaluate, anchor)
    return Composition(laws, World, pull, *gravity, frame_pull, turn, energy, contact_of)


def _contact_of(laws: Laws, World: Any) -> Any:
    """The function ``(world, run, memory, slot, x) -> contact parameters`` of a run at x [m]."""
    ground_at = laws.ground_at
    if ground_at is None:

        @wp.func
        def same_everywhere(world: World, run: Run, memory: Memory, slot: int, x: vec3):
            """Those of the run."""
            return world.contact[memory.notes[slot].row]

        return same_everywhere

    @wp.func
    def as_of_the_place(world: World, run: Run, memory: Memory, slot: int, x: vec3):
        """Those of the place where the ground held the lander last, or of its centre."""
        row = memory.notes[slot].row
        here = ground_at(world.ground, row, x + run.grip.lever)
        hit = here
        if wp.static(laws.scheme.hits) and run.touching != 0 and run.lasting == 0:
            hit = ground_at(world.ground, row, memory.notes[slot].touch.place)
        return local_contact(world.contact[row], here, hit, world.body.mass)

    return as_of_the_place

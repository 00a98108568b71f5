"""Composition for articulated landers: the laws of one model as one struct and its slopes."""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.table import ActuatorTable
from alight.contact.ground_properties.local_law import local_friction
from alight.contact.hertz import HertzData, hertz_normal, hertz_stored
from alight.contact.stick_friction import stick, stick_stored
from alight.core.types import scalar, vec3
from alight.engine.clock import before
from alight.flight.rotation import Spin
from alight.gravity.linearised import extrapolate
from alight.motions.tree.drive import act
from alight.motions.tree.manoeuvres import NoTour, TreeTourData
from alight.motions.tree.state import TreeLimits, TreeRun, TreeSpace
from alight.vehicles.fittings_kernel import DeviceData, crush_all
from alight.vehicles.tree.data import ARM, POSITION, RATE, TreeData, turn_of, vector_row
from alight.vehicles.tree.forward_dynamics import solve_tree, turned_inertia
from alight.vehicles.tree.joints import add_joint_efforts, configuration_rate, joint_stored
from alight.vehicles.tree.kinematics import (
    center_position,
    clear_forces,
    place_tree,
    point_velocity,
    push_body,
)


@dataclasses.dataclass(frozen=True)
class TreeLaws:
    """The functions and types that a kernel is made from; models with equal laws share it."""

    gravity_field: Any
    gravity_data: Any
    surface_point: Any
    surface_data: Any
    spin: Any
    attitude: Any
    rotation_data: Any
    push: Any
    external_data: Any
    ground_at: Any
    ground_data: Any
    pushed: bool  # by anything external
    even: bool  # the target turns evenly
    next: Any  # when something external switches; None where nothing does
    pece: bool  # Adams steps; otherwise Runge-Kutta steps of one size
    manoeuvres: int = 0  # how many are carried out


@dataclasses.dataclass(frozen=True)
class TreeComposition:
    """What the kernel is written with."""

    laws: TreeLaws
    World: Any
    slope: Any
    energy: Any
    down_at: Any
    """``(world, run, space, slot, omega) -> vec3``: acceleration of what stands at its centre of
    mass [m/s^2]."""


@wp.func
def vector_at(rows: wp.array2d(dtype=scalar), i: int, slot: int) -> vec3:
    """Vector ``i`` of rows that hold vectors one after the other."""
    return vec3(rows[3 * i, slot], rows[3 * i + 1, slot], rows[3 * i + 2, slot])


@wp.func
def set_vector(rows: wp.array2d(dtype=scalar), i: int, slot: int, value: vec3):
    """Write it."""
    rows[3 * i, slot] = value[0]
    rows[3 * i + 1, slot] = value[1]
    rows[3 * i + 2, slot] = value[2]


@wp.func
def let_go(space: TreeSpace, slot: int):
    """At the end of a step: a pad that does not press keeps no strain."""
    for i in range(space.pad_state.shape[0]):
        state = space.pad_state[i, slot]
        if state[2] <= scalar(0.0):
            set_vector(space.strain, i, slot, vec3())
            set_vector(space.trial_strain, i, slot, vec3())


@functools.cache
def compose_tree(laws: TreeLaws) -> TreeComposition:
    """The struct of all parameters and the functions over it."""
    gravity_data, surface_data = laws.gravity_data, laws.surface_data
    rotation_data, external_data = laws.rotation_data, laws.external_data
    ground_data, ground_at = laws.ground_data, laws.ground_at
    field, ground, push = laws.gravity_field, laws.surface_point, laws.push
    spin, attitude = laws.spin, laws.attitude
    tour_data = TreeTourData if laws.manoeuvres else NoTour

    @wp.struct
    class World:
        tree: TreeData
        parts: DeviceData
        actuators: ActuatorTable
        gravity: gravity_data
        surface: surface_data
        rotation: rotation_data
        external: external_data
        contact: wp.array(dtype=HertzData)
        ground: ground_data
        limits: TreeLimits
        slope: scalar  # bound on the gradient of the distance
        curvature: scalar  # bound on its second derivatives [1/m]
        up: vec3  # of the first body, in its axes
        tour: tour_data  # manoeuvres
        mass: scalar  # of all bodies [kg]
        step: scalar  # of Runge-Kutta steps [s]

    @wp.func
    def anchor(world: World, space: TreeSpace, slot: int):
        """Evaluate gravity at the centre of mass, unless it was within reach.

        From there it is extrapolated to every body, with its gradient. Over a ten-thousandth of the
        distance from the origin the error is 3 (d/r)^2 = 3e-8.
        """
        x = vec3()
        for i in range(world.tree.count):
            x += world.tree.bodies[i].mass / world.mass * center_position(space.tree, i, slot)
        d = x - space.notes[slot].anchor_x
        if not wp.dot(d, d) <= scalar(1e-8) * wp.dot(x, x):
            space.notes[slot].anchor = field(world.gravity, x)
            space.notes[slot].anchor_x = x

    @wp.func
    def weigh(world: World, space: TreeSpace, slot: int, t: scalar, now: Spin):
        """Gravity, pushes from outside, and what an uneven rotation adds, on every body.

        Returns the power [W] of what E_J has no potential for: the pushes, and of the rotation
        -Omega' . H, with H the inertial angular momentum about the target's origin. (Of a particle:
        what Omega' x r takes, and the change of |Omega x r|^2 / 2 in place.)
        """
        power = scalar(0.0)
        value = space.notes[slot].anchor
        place = space.notes[slot].anchor_x
        extra = vec3()
        if wp.static(laws.pushed):
            q_NT = attitude(world.rotation, t)
            when = t
            if wp.static(laws.next is not None):
                when = before(t, space.notes[slot].until)  # it has not switched yet
            pushed = push(world.external, when, q_NT, center_position(space.tree, 0, slot))
            extra = pushed.acceleration
        for i in range(world.tree.count):
            body = world.tree.bodies[i]
            if body.mass > scalar(0.0):
                c = center_position(space.tree, i, slot)
                here = extrapolate(value, c - place)
                a = here.acceleration + extra
                moment = vec3()
                arm = vector_row(space.tree, i, ARM, slot)
                if wp.static(laws.pushed):
                    v = point_velocity(space.tree, i, arm, now.rate, slot)
                    power += body.mass * wp.dot(extra, v)
                if wp.static(not laws.even):
                    inertia = turned_inertia(space.tree, body, i, slot)
                    a -= wp.cross(now.acceleration, c)
                    moment = -inertia * now.acceleration
                    u = point_velocity(space.tree, i, arm, now.rate, slot) + wp.cross(now.rate, c)
                    spun = inertia * vector_row(space.tree, i, RATE, slot)
                    power -= wp.dot(now.acceleration, body.mass * wp.cross(c, u) + spun)
                push_body(space.tree, i, arm, body.mass * a, moment, slot)
        return power

    @wp.func
    def press(world: World, space: TreeSpace, slot: int, omega: vec3, contact: HertzData):
        """Push of the ground on every pad.

        Along the gradient of the distance, so that the springs conserve energy on any surface.
        """
        for i in range(world.parts.pads.shape[0]):
            pad = world.parts.pads[i]
            lever = wp.quat_rotate(turn_of(space.tree, pad.body, slot), pad.place)
            origin = vector_row(space.tree, pad.body, POSITION, slot)
            found = ground(world.surface, origin + lever)
            gap = found.distance - pad.radius
            foot = lever - pad.radius * found.normal
            u = point_velocity(space.tree, pad.body, foot, omega, slot)
            rate = wp.dot(found.gradient, u)
            force = hertz_normal(contact, -gap, -rate) * found.gradient
            n = wp.length(force)
            strain = vector_at(space.trial_strain, i, slot)
            here = ground_at(world.ground, space.notes[slot].row, origin + foot)
            limit = local_friction(contact.friction, here) * n
            held = stick(strain, u, found.normal, limit, contact.grip, contact.relaxation)
            if n > scalar(0.0):
                force += held.force
                push_body(space.tree, pad.body, foot, force, vec3(), slot)
            space.pad_force[i, slot] = force
            space.pad_state[i, slot] = vec3(gap, rate, n)
            space.pad_slides[i, slot] = held.slides
            set_vector(space.rate_strain, i, slot, held.rate)

    @wp.func
    def slope(world: World, space: TreeSpace, slot: int, t: scalar, contact: HertzData):
        """Fill ``space.rows.slope`` at ``space.rows.trial`` and the time ``t`` [s]."""
        now = spin(world.rotation, t)
        place_tree(world.tree, space.trial_q, space.trial_v, now.rate, space.tree, slot)
        clear_forces(world.tree, space.tree, slot)
        anchor(world, space, slot)
        power = weigh(world, space, slot, t, now)
        press(world, space, slot, now.rate, contact)
        power += act(world.actuators, space.trial_v, space.level, space.tree, now.rate, slot)
        space.notes[slot].power = power
        add_joint_efforts(world.tree, space.trial_q, space.trial_v, space.tree.efforts, slot)
        crush_all(
            world.parts,
            space.trial_q,
            space.trial_v,
            space.trial_crushed,
            space.tree.efforts,
            space.rate_crushed,
            slot,
        )
        solve_tree(world.tree, space.tree, slot, space.acceleration)
        configuration_rate(world.tree, space.trial_q, space.trial_v, space.rate_q, slot)

    @wp.func
    def energy(world: World, space: TreeSpace, slot: int, t: scalar, contact: HertzData):
        """E_J [J] of a placed tree: kinetic energy relative to the turning target, what springs
        hold, and the potentials of gravity and of the rotation."""
        half = scalar(0.5)
        now = spin(world.rotation, t)
        value = space.notes[slot].anchor
        place = space.notes[slot].anchor_x
        total = scalar(0.0)
        for i in range(world.tree.count):
            body = world.tree.bodies[i]
            c = center_position(space.tree, i, slot)
            v = point_velocity(space.tree, i, vector_row(space.tree, i, ARM, slot), now.rate, slot)
            w = vector_row(space.tree, i, RATE, slot) - now.rate
            inertia = turned_inertia(space.tree, body, i, slot)
            swing = wp.cross(now.rate, c)
            here = extrapolate(value, c - place)
            total += body.mass * (half * (wp.dot(v, v) - wp.dot(swing, swing)) - here.potential)
            total += half * (wp.dot(w, inertia * w) - wp.dot(now.rate, inertia * now.rate))
            total += joint_stored(body, space.trial_q, slot)
        for i in range(world.parts.crushables.shape[0]):
            part = world.parts.crushables[i]
            short = space.trial_q[part.q_at, slot] - space.trial_crushed[i, slot]
            total += half * part.stiffness * short * short
        for i in range(world.parts.pads.shape[0]):
            state = space.pad_state[i, slot]
            total += hertz_stored(contact, -state[0])
            total += stick_stored(contact.grip, vector_at(space.trial_strain, i, slot))
        return total

    @wp.func
    def down_at(world: World, run: TreeRun, space: TreeSpace, slot: int, omega: vec3):
        value = space.notes[slot].anchor
        down = value.acceleration + value.gradient * (run.x - space.notes[slot].anchor_x)
        down -= wp.cross(omega, wp.cross(omega, run.x))
        return down

    return TreeComposition(laws, World, slope, energy, down_at)

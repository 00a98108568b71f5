"""Steps of an asteroid, a membrane and a craft with arrays on hinges, inside a kernel.

A state has the asteroid's place, velocity, attitude and rate (13 rows), then configuration and
velocity of the craft, a tree of bodies whose first, the bus, is free and carries the suspension
points, and then sums. The membrane and the thrusters act on the bus. Bending moments at the hinges
are looked at after every step, so that no peak is missed between records.
"""

import functools
from typing import Any

import warp as wp

from alight.core.types import scalar, vec3
from alight.engine.membrane_kernel import (
    RELEASED,
    Inertia,
    Runs,
    Wrench,
    make_unit,
    moving_at,
    put_slopes,
    stepping_kernel,
)
from alight.membrane.forces import MembraneLoad, MembraneRow, Moving
from alight.membrane.geometry import CaptiveData, HullMemory
from alight.membrane.ring import RingData
from alight.vehicles.tree.data import (
    POSITION,
    RATE,
    SPHERICAL,
    VELOCITY,
    TreeData,
    TreeMemory,
    vector_row,
)
from alight.vehicles.tree.forward_dynamics import solve_tree
from alight.vehicles.tree.joints import add_joint_efforts, configuration_rate, vector_at
from alight.vehicles.tree.joints import make_unit as make_tree_unit
from alight.vehicles.tree.kinematics import clear_forces, place_tree, push_body

#: First row of the craft's configuration; its velocity and the sums follow.
CRAFT = 13
#: Sums: energy lost in the fabric, to friction, in the hinges [J], path of slip [m], impulse of
#: forces [N s] and of torques [N m s] of the thrusters, and their work [J].
DAMPED, RUBBED, HINGES, SLIPPED, THRUST, TORQUE, WORK, SUMS = range(8)
#: How runs end beside the ways of ``membrane_kernel`` (see ``capture_flight.CaptureOutcome``).
STRUCK = 9


@wp.struct
class CaptureScene:
    """What a controller sees: time, contact, craft and asteroid as they are."""

    t: scalar  # [s]
    touched: scalar  # time of first contact [s]; below 0 before it
    craft: Moving  # the bus: its origin, and its attitude
    body: Moving  # the asteroid's centre of mass
    asteroid: Inertia


@wp.struct
class CraftData:
    """The craft's tree and the memory of its runs, [row, slot]."""

    tree: TreeData
    memory: TreeMemory
    q: wp.array2d(dtype=scalar)
    v: wp.array2d(dtype=scalar)
    q_rate: wp.array2d(dtype=scalar)
    acceleration: wp.array2d(dtype=scalar)


@wp.struct
class CaptureNotes:
    """What is watched after every step."""

    calm_rate: wp.array(dtype=scalar)  # rate of the craft against the asteroid [rad/s] and
    calm_speed: scalar  # slip [m/s] below which the two are at rest against each other
    lost_height: scalar  # of the asteroid above the suspension plane, from which on it is lost [m]
    standoff: scalar  # depth below that plane at which it is at the bus [m]
    window: wp.array(dtype=scalar)  # over which a drift is looked at [s]
    marks: wp.array2d(dtype=scalar)  # [2 * (row + 1), slot] states one and two windows ago, in turn
    marked: wp.array(dtype=int)  # how many there were
    restless: wp.array(dtype=scalar)  # last time at which they were not [s]
    bending: wp.array2d(dtype=scalar)  # [body, slot] greatest at each hinge [N m]
    bending_at: wp.array2d(dtype=scalar)  # when [s]
    twist: wp.array2d(dtype=scalar)  # greatest moment about the boom [N m]
    hoop: wp.array(dtype=scalar)  # greatest force on the hoop [N]
    hoop_at: wp.array(dtype=scalar)  # when it was first touched [s]; -1: never


@wp.func
def read_craft(craft: CraftData, y: wp.array2d(dtype=scalar), slot: int):
    """Configuration and velocity from a state."""
    for i in range(craft.tree.n_q):
        craft.q[i, slot] = y[wp.static(CRAFT) + i, slot]
    first = wp.static(CRAFT) + craft.tree.n_q
    for i in range(craft.tree.n_v):
        craft.v[i, slot] = y[first + i, slot]


@wp.func
def bus_motion(memory: TreeMemory, slot: int):
    """The bus of a placed craft."""
    m = Moving()
    m.x = vector_row(memory, 0, POSITION, slot)
    m.v = vector_row(memory, 0, VELOCITY, slot)
    m.q = memory.turns[0, slot]
    m.rate = wp.quat_rotate_inv(m.q, vector_row(memory, 0, RATE, slot))
    return m


@wp.func
def move_craft(craft: CraftData, force: vec3, torque: vec3, slot: int):
    """Accelerations and rates of a placed craft under ``force``, ``torque`` on its bus."""
    clear_forces(craft.tree, craft.memory, slot)
    push_body(craft.memory, 0, vec3(), force, torque, slot)
    add_joint_efforts(craft.tree, craft.q, craft.v, craft.memory.efforts, slot)
    solve_tree(craft.tree, craft.memory, slot, craft.acceleration)
    configuration_rate(craft.tree, craft.q, craft.v, craft.q_rate, slot)


@wp.func
def put_craft_slopes(craft: CraftData, runs: Runs, stage: int, slot: int):
    """Rates and accelerations of the craft as slopes of a stage."""
    row = stage * runs.y.shape[0] + wp.static(CRAFT)
    for i in range(craft.tree.n_q):
        runs.k[row + i, slot] = craft.q_rate[i, slot]
    row += craft.tree.n_q
    for i in range(craft.tree.n_v):
        runs.k[row + i, slot] = craft.acceleration[i, slot]


@wp.func
def hinge_loss(craft: CraftData, slot: int):
    """Power that the dampers of the hinges take [W]."""
    lost = scalar(0.0)
    for i in range(craft.tree.count):
        body = craft.tree.bodies[i]
        if body.kind == SPHERICAL:
            lost += body.damping * wp.length_sq(vector_at(craft.v, body.v_at, slot))
    return lost


@wp.func
def put_sums(
    craft: CraftData,
    runs: Runs,
    stage: int,
    load: MembraneLoad,
    push: Wrench,
    bus: Moving,
    slot: int,
):
    """Slopes of the sums."""
    row = stage * runs.y.shape[0] + wp.static(CRAFT) + craft.tree.n_q + craft.tree.n_v
    turning = wp.quat_rotate(bus.q, bus.rate)
    runs.k[row + wp.static(DAMPED), slot] = load.damped
    runs.k[row + wp.static(RUBBED), slot] = load.rubbed
    runs.k[row + wp.static(HINGES), slot] = hinge_loss(craft, slot)
    runs.k[row + wp.static(SLIPPED), slot] = load.slip
    runs.k[row + wp.static(THRUST), slot] = wp.length(push.force)
    runs.k[row + wp.static(TORQUE), slot] = wp.length(push.torque)
    work = wp.dot(push.force, bus.v) + wp.dot(push.torque, turning)
    runs.k[row + wp.static(WORK), slot] = work


@wp.func
def unit_craft(craft: CraftData, runs: Runs, slot: int):
    """Quaternions of the craft in a state to unit length."""
    read_craft(craft, runs.y, slot)
    make_tree_unit(craft.tree, craft.q, slot)
    for i in range(craft.tree.n_q):
        runs.y[wp.static(CRAFT) + i, slot] = craft.q[i, slot]


@wp.func
def watch_hinges(craft: CraftData, notes: CaptureNotes, t: scalar, slot: int):
    """Greatest moments of springs and dampers, across each boom (bending) and along it."""
    for i in range(craft.tree.count):
        body = craft.tree.bodies[i]
        if body.kind == SPHERICAL:
            moment = vector_at(craft.memory.efforts, body.v_at, slot)
            boom = wp.normalize(body.center)
            along = wp.dot(moment, boom)
            bending = wp.length(moment - along * boom)
            notes.twist[i, slot] = wp.max(notes.twist[i, slot], wp.abs(along))
            if bending > notes.bending[i, slot]:
                notes.bending[i, slot] = bending
                notes.bending_at[i, slot] = t


@wp.func
def watch_rest(
    notes: CaptureNotes, load: MembraneLoad, bus: Moving, body: Moving, t: scalar, slot: int
):
    """Remember when asteroid and craft last moved against each other, or did not touch."""
    between = wp.quat_rotate(body.q, body.rate) - wp.quat_rotate(bus.q, bus.rate)
    quick = wp.length(between) > notes.calm_rate[slot] or load.slip > notes.calm_speed
    if (load.below == 0 and load.beads == 0) or quick:
        notes.restless[slot] = t


@wp.func
def watch_hoop(notes: CaptureNotes, load: MembraneLoad, t: scalar, slot: int):
    """The greatest force on the hoop, and when it was first touched."""
    if load.beads > 0 and notes.hoop_at[slot] < scalar(0.0):
        notes.hoop_at[slot] = t
    notes.hoop[slot] = wp.max(notes.hoop[slot], load.hoop)


@wp.func
def keep_mark(notes: CaptureNotes, runs: Runs, t: scalar, slot: int):
    """Write down time and state once in a window; the last two are kept."""
    if t < scalar(notes.marked[slot]) * notes.window[slot]:
        return
    half = notes.marks.shape[0] / 2
    first = half * (notes.marked[slot] % 2)
    notes.marks[first, slot] = t
    for r in range(half - 1):
        notes.marks[first + 1 + r, slot] = runs.y[r, slot]
    notes.marked[slot] = notes.marked[slot] + 1


@functools.cache
def capture_kernel(load_of: Any, control: Any, control_data: Any) -> Any:
    """A kernel that takes up to ``count`` steps of each run, and the struct of its world.

    ``control(data, scene: CaptureScene, slot) -> Wrench`` acts on the bus, at its origin.
    """

    @wp.struct
    class CaptureWorld:
        rows: wp.array(dtype=MembraneRow)
        ring: RingData
        captive: CaptiveData
        asteroid: wp.array(dtype=Inertia)
        craft: CraftData
        notes: CaptureNotes
        control: control_data

    @wp.func
    def slopes(
        world: CaptureWorld, runs: Runs, stage: int, t: scalar, memory: HullMemory, slot: int
    ) -> MembraneLoad:
        body = moving_at(runs.at, 0, slot)
        craft = world.craft
        read_craft(craft, runs.at, slot)
        place_tree(craft.tree, craft.q, craft.v, vec3(), craft.memory, slot)
        bus = bus_motion(craft.memory, slot)
        row = world.rows[wp.min(slot, world.rows.shape[0] - 1)]
        load = load_of(row, world.ring, world.captive, body, bus, memory, slot)
        scene = CaptureScene()
        scene.t = t
        scene.touched = runs.first[slot]
        scene.craft = bus
        scene.body = body
        scene.asteroid = world.asteroid[wp.min(slot, world.asteroid.shape[0] - 1)]
        push = control(world.control, scene, slot)
        put_slopes(runs, stage, 0, scene.asteroid, body, load.force, load.torque, vec3(), slot)
        force = load.carrier_force + push.force
        torque = load.carrier_torque + push.torque
        move_craft(craft, force, torque, slot)
        put_craft_slopes(craft, runs, stage, slot)
        put_sums(craft, runs, stage, load, push, bus, slot)
        return load

    @wp.func
    def finish(world: CaptureWorld, runs: Runs, load: MembraneLoad, t: scalar, slot: int):
        # The last slopes were those of the new state: efforts and poses of the craft are its own.
        watch_hinges(world.craft, world.notes, t, slot)
        make_unit(runs.y, 6, slot)
        bus = bus_motion(world.craft.memory, slot)
        watch_rest(world.notes, load, bus, moving_at(runs.y, 0, slot), t, slot)
        watch_hoop(world.notes, load, t, slot)
        if runs.contacts[slot] > 0 and load.lowest > world.notes.lost_height:
            runs.outcome[slot] = wp.static(RELEASED)
        if -load.lowest > world.notes.standoff:
            runs.outcome[slot] = wp.static(STRUCK)
        unit_craft(world.craft, runs, slot)
        keep_mark(world.notes, runs, t, slot)

    return stepping_kernel(CaptureWorld, slopes, finish), CaptureWorld

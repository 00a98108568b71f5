"""Steps of an asteroid, a membrane and a craft with arrays on hinges, inside a kernel.

A state has the asteroid's place, velocity, attitude and rate (13 rows), then configuration and
velocity of the craft, a tree of bodies whose first, the bus, is free and carries the suspension
points, and then sums. The membrane and the thrusters act on the bus. Bending moments at the hinges
are looked at after every step, so that no peak is missed between records.
"""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.rows import vector_at
from alight.core.types import scalar, vec3
from alight.engine.motion import Loop
from alight.membrane.forces import MembraneLoad, MembraneRow, Moving
from alight.membrane.geometry import CaptiveData
from alight.membrane.ring import RingData
from alight.motions.membrane.drive import CraftDrive
from alight.motions.membrane.pull import Pull
from alight.motions.membrane.state import (
    CaughtMemory,
    CaughtRun,
    Control,
    CraftMemory,
    Inertia,
    Wrench,
    make_unit,
    moving_at,
)
from alight.motions.membrane.stepping import RELEASED, caught_loop, pull_power, put_slopes
from alight.vehicles.tree.data import (
    ARM,
    POSITION,
    RATE,
    SPHERICAL,
    VELOCITY,
    TreeData,
    TreeMemory,
    turn_of,
    vector_row,
)
from alight.vehicles.tree.forward_dynamics import solve_tree
from alight.vehicles.tree.joints import add_joint_efforts, configuration_rate
from alight.vehicles.tree.joints import make_unit as make_tree_unit
from alight.vehicles.tree.kinematics import (
    center_position,
    clear_forces,
    place_tree,
    point_velocity,
    push_body,
)

#: First row of the craft's configuration; its velocity and the sums follow.
CRAFT = 13
#: Sums: energy lost in the fabric, to friction, in the hinges [J], path of slip [m], impulse of
#: forces [N s] and of torques [N m s] of the thrusters, and their work [J], work of what pulls at
#: asteroid and craft [J].
DAMPED, RUBBED, HINGES, SLIPPED, THRUST, TORQUE, WORK, PULLED, SUMS = range(9)
#: How runs end beside the ways of drops.
STRUCK = int(Outcome.STRUCK)


@wp.struct
class CaptureScene:
    """What a controller sees: time, contact, craft and asteroid as they are."""

    t: scalar  # [s]
    touched: scalar  # time of first contact [s]; below 0 before it
    craft: Moving  # the bus: its origin, and its attitude
    body: Moving  # the asteroid's centre of mass
    asteroid: Inertia


@wp.struct
class Watch:
    """What is looked at after every step; numbers of each run where they are arrays."""

    calm_rate: wp.array(dtype=scalar)  # rate of the craft against the asteroid [rad/s] and
    calm_speed: scalar  # slip [m/s] below which the two are at rest against each other
    lost_height: scalar  # of the asteroid above the suspension plane, from which on it is lost [m]
    standoff: scalar  # depth below that plane at which it is at the bus [m]
    window: wp.array(dtype=scalar)  # over which a drift is looked at [s]


@wp.func
def read_craft(tree: TreeData, craft: CraftMemory, y: wp.array2d(dtype=scalar), slot: int):
    """Configuration and velocity from a state."""
    for i in range(tree.n_q):
        craft.q[i, slot] = y[wp.static(CRAFT) + i, slot]
    first = wp.static(CRAFT) + tree.n_q
    for i in range(tree.n_v):
        craft.v[i, slot] = y[first + i, slot]


@wp.func
def bus_motion(memory: TreeMemory, slot: int):
    """The bus of a placed craft."""
    m = Moving()
    m.x = vector_row(memory, 0, POSITION, slot)
    m.v = vector_row(memory, 0, VELOCITY, slot)
    m.q = turn_of(memory, 0, slot)
    m.rate = wp.quat_rotate_inv(m.q, vector_row(memory, 0, RATE, slot))
    return m


@wp.func
def move_craft(tree: TreeData, craft: CraftMemory, force: vec3, torque: vec3, slot: int):
    """Accelerations and rates of a placed craft, on whose bodies forces act already, under
    ``force`` and ``torque`` on its bus."""
    push_body(craft.tree, 0, vec3(), force, torque, slot)
    add_joint_efforts(tree, craft.q, craft.v, craft.tree.efforts, slot)
    solve_tree(tree, craft.tree, slot, craft.acceleration)
    configuration_rate(tree, craft.q, craft.v, craft.q_rate, slot)


@wp.func
def put_craft_slopes(tree: TreeData, memory: CaughtMemory, stage: int, slot: int):
    """Rates and accelerations of the craft as slopes of a stage."""
    row = stage * memory.y.shape[0] + wp.static(CRAFT)
    for i in range(tree.n_q):
        memory.k[row + i, slot] = memory.craft.q_rate[i, slot]
    row += tree.n_q
    for i in range(tree.n_v):
        memory.k[row + i, slot] = memory.craft.acceleration[i, slot]


@wp.func
def hinge_loss(tree: TreeData, craft: CraftMemory, slot: int):
    """Power that the dampers of the hinges take [W]."""
    lost = scalar(0.0)
    for i in range(tree.count):
        body = tree.bodies[i]
        if body.kind == SPHERICAL:
            lost += body.damping * wp.length_sq(vector_at(craft.v, body.v_at, slot))
    return lost


@wp.func
def put_sums(
    tree: TreeData,
    memory: CaughtMemory,
    stage: int,
    load: MembraneLoad,
    push: Wrench,
    bus: Moving,
    pulled: scalar,
    slot: int,
):
    """Slopes of the sums; ``pulled`` is the power of what pulls [W]."""
    row = stage * memory.y.shape[0] + wp.static(CRAFT) + tree.n_q + tree.n_v
    turning = wp.quat_rotate(bus.q, bus.rate)
    memory.k[row + wp.static(DAMPED), slot] = load.damped
    memory.k[row + wp.static(RUBBED), slot] = load.rubbed
    memory.k[row + wp.static(HINGES), slot] = hinge_loss(tree, memory.craft, slot)
    memory.k[row + wp.static(SLIPPED), slot] = load.slip
    memory.k[row + wp.static(THRUST), slot] = wp.length(push.force)
    memory.k[row + wp.static(TORQUE), slot] = wp.length(push.torque)
    work = wp.dot(push.force, bus.v) + wp.dot(push.torque, turning)
    memory.k[row + wp.static(WORK), slot] = work
    memory.k[row + wp.static(PULLED), slot] = pulled


@wp.func
def unit_craft(tree: TreeData, memory: CaughtMemory, slot: int):
    """Quaternions of the craft in a state to unit length."""
    read_craft(tree, memory.craft, memory.y, slot)
    make_tree_unit(tree, memory.craft.q, slot)
    for i in range(tree.n_q):
        memory.y[wp.static(CRAFT) + i, slot] = memory.craft.q[i, slot]


@wp.func
def watch_hinges(tree: TreeData, craft: CraftMemory, t: scalar, slot: int):
    """Greatest moments of springs and dampers, across each boom (bending) and along it."""
    for i in range(tree.count):
        body = tree.bodies[i]
        if body.kind == SPHERICAL:
            moment = vector_at(craft.tree.efforts, body.v_at, slot)
            boom = wp.normalize(body.center)
            along = wp.dot(moment, boom)
            bending = wp.length(moment - along * boom)
            craft.twist[i, slot] = wp.max(craft.twist[i, slot], wp.abs(along))
            if bending > craft.bending[i, slot]:
                craft.bending[i, slot] = bending
                craft.bending_at[i, slot] = t


@wp.func
def watch_rest(
    watch: Watch,
    memory: CaughtMemory,
    load: MembraneLoad,
    bus: Moving,
    body: Moving,
    t: scalar,
    slot: int,
):
    """Remember when asteroid and craft last moved against each other, or did not touch."""
    between = wp.quat_rotate(body.q, body.rate) - wp.quat_rotate(bus.q, bus.rate)
    quick = (
        wp.length(between) > watch.calm_rate[memory.notes[slot].row] or load.slip > watch.calm_speed
    )
    if (load.below == 0 and load.beads == 0) or quick:
        memory.notes[slot].restless = t


@wp.func
def watch_hoop(memory: CaughtMemory, load: MembraneLoad, t: scalar, slot: int):
    """The greatest force on the hoop, and when it was first touched."""
    if load.beads > 0 and memory.notes[slot].hoop_at < scalar(0.0):
        memory.notes[slot].hoop_at = t
    memory.notes[slot].hoop = wp.max(memory.notes[slot].hoop, load.hoop)


@wp.func
def keep_mark(watch: Watch, memory: CaughtMemory, t: scalar, slot: int):
    """Write down time and state once in a window; the last two are kept."""
    marked = memory.notes[slot].marked
    if t < scalar(marked) * watch.window[memory.notes[slot].row]:
        return
    half = memory.craft.marks.shape[0] / 2
    first = half * (marked % 2)
    memory.craft.marks[first, slot] = t
    for r in range(half - 1):
        memory.craft.marks[first + 1 + r, slot] = memory.y[r, slot]
    memory.notes[slot].marked = marked + 1


@wp.func
def row_of(memory: CaughtMemory, count: int, slot: int):
    """Which of ``count`` rows is the run's; one stands for all."""
    return wp.min(memory.notes[slot].row, count - 1)


@functools.cache
def capture_loop(
    load_of: Any,
    control: Any,
    control_data: Any,
    drive: CraftDrive,
    pull: Pull,
    weightless: bool,
) -> tuple[Loop, Any]:
    """The loop of captures, and the struct of its world.

    ``control(data, scene: CaptureScene, row) -> Wrench`` acts on the bus, at its origin, and so
    does ``drive``; ``row`` is the number of the run. ``weightless``: nothing pulls at asteroid and
    craft.
    """
    drive_data, thrust = drive.Data, drive.push
    pulled = pull.function
    pull_data = pull.Data

    @wp.struct
    class CaptureWorld:
        rows: wp.array(dtype=MembraneRow)
        ring: RingData
        captive: CaptiveData
        asteroid: wp.array(dtype=Inertia)
        tree: TreeData
        watch: Watch
        control: control_data
        drive: drive_data
        pull: pull_data
        limits: Control

    @wp.func
    def weigh(world: CaptureWorld, craft: CraftMemory, t: scalar, slot: int):
        """What pulls at each body of the craft; its power [W]."""
        clear_forces(world.tree, craft.tree, slot)
        power = scalar(0.0)
        if wp.static(not weightless):
            for i in range(world.tree.count):
                a = pulled(world.pull, t, center_position(craft.tree, i, slot))
                arm = vector_row(craft.tree, i, ARM, slot)
                push_body(craft.tree, i, arm, world.tree.bodies[i].mass * a, vec3(), slot)
                v = point_velocity(craft.tree, i, arm, vec3(), slot)
                power += world.tree.bodies[i].mass * wp.dot(a, v)
        return power

    @wp.func
    def slopes(
        world: CaptureWorld,
        run: CaughtRun,
        memory: CaughtMemory,
        stage: int,
        t: scalar,
        slot: int,
    ) -> MembraneLoad:
        body = moving_at(memory.at, 0, slot)
        craft = memory.craft
        read_craft(world.tree, craft, memory.at, slot)
        place_tree(world.tree, craft.q, craft.v, vec3(), craft.tree, slot)
        bus = bus_motion(craft.tree, slot)
        row = world.rows[row_of(memory, world.rows.shape[0], slot)]
        load = load_of(row, world.ring, world.captive, body, bus, memory.hull, slot)
        scene = CaptureScene()
        scene.t = t
        scene.touched = run.first
        scene.craft = bus
        scene.body = body
        scene.asteroid = world.asteroid[row_of(memory, world.asteroid.shape[0], slot)]
        push = control(world.control, scene, memory.notes[slot].row)
        more = thrust(world.drive, run, memory, bus, t, slot)
        push.force += more.force
        push.torque += more.torque
        fall = vec3()
        if wp.static(not weightless):
            fall = pulled(world.pull, t, body.x)
        put_slopes(memory, stage, 0, scene.asteroid, body, load.force, load.torque, fall, slot)
        force = load.carrier_force + push.force
        torque = load.carrier_torque + push.torque
        power = pull_power(scene.asteroid, body.v, fall) + weigh(world, craft, t, slot)
        move_craft(world.tree, craft, force, torque, slot)
        put_craft_slopes(world.tree, memory, stage, slot)
        put_sums(world.tree, memory, stage, load, push, bus, power, slot)
        return load

    @wp.func
    def carried(world: CaptureWorld, memory: CaughtMemory, slot: int):
        # The last slopes were those of the new state: poses of the craft are its own.
        return bus_motion(memory.craft.tree, slot)

    @wp.func
    def finish(
        world: CaptureWorld, run: CaughtRun, memory: CaughtMemory, load: MembraneLoad, slot: int
    ):
        out = run
        watch_hinges(world.tree, memory.craft, run.t, slot)
        make_unit(memory.y, 6, slot)
        bus = bus_motion(memory.craft.tree, slot)
        watch_rest(world.watch, memory, load, bus, moving_at(memory.y, 0, slot), run.t, slot)
        watch_hoop(memory, load, run.t, slot)
        if run.contacts > 0 and load.lowest > world.watch.lost_height:
            out.outcome = wp.static(RELEASED)
        if -load.lowest > world.watch.standoff:
            out.outcome = wp.static(STRUCK)
        unit_craft(world.tree, memory, slot)
        keep_mark(world.watch, memory, run.t, slot)
        return out

    return caught_loop(CaptureWorld, slopes, carried, finish, drive, pull.next), CaptureWorld

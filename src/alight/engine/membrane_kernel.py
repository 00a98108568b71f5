"""Steps of a body, a membrane and what carries it, inside a kernel: one run a thread.

Two rigid bodies, each with place and velocity in inertial axes, attitude, and rate in its own
axes: the body that is caught, and the carrier of the suspension points, which stands still (or
moves evenly) if it is given no mass. The method is data: a table of Runge-Kutta weights, so that
one kernel takes fixed steps of RK4 and adaptive ones of RK5(4). Both end on the slope at the new
state, which is the next step's first.

``stepping_kernel`` takes such steps for any state that a membrane acts on: ``motion_kernel`` here
for two rigid bodies, and ``capture_kernel`` for a body and a craft with arrays on hinges. The rows
of a motion are followed by three for each vertex of the body's hull: the strain of the fabric that
sticks there (``contact.stick_friction``). Records leave these out.
"""

import functools
from typing import Any

import warp as wp

from alight.core.frames import wp_quat_rate
from alight.core.types import mat33, quat, scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.integrators.runge_kutta_kernel import accepted, next_step
from alight.membrane.forces import MembraneLoad, MembraneRow, Moving
from alight.membrane.geometry import CaptiveData, HullMemory, outside
from alight.membrane.ring import RingData

#: Rows of a state: the body's place, velocity, attitude and rate, the carrier's, and sums.
BODY, CARRIER, SUMS, WIDTH = 0, 13, 26, 30
#: Sums: energy lost in the fabric [J], lost to friction [J], path of slip [m], thrust [N s].
DAMPED, RUBBED, SLIPPED, THRUST = 26, 27, 28, 29
#: How runs end (see ``membrane_flight.MembraneOutcome``).
RUNNING, TIMED_OUT, RELEASED, STEP_FLOOR, NOT_FINITE, RIM = 0, 3, 8, 16, 18, 24

_BODY, _CARRIER = wp.constant(BODY), wp.constant(CARRIER)
#: Steps that would end this close to a record, or to the end, end there. (In a function the sum
#: would be taken in float32.)
_CLOSE = wp.constant(scalar(1.0 + 1e-9))


@wp.struct
class Inertia:
    """Mass [kg] and inertia [kg m^2] as their inverses; zeros for what nothing moves."""

    inverse_mass: scalar
    inertia: mat33
    inverse: mat33


@wp.struct
class Wrench:
    """A force [N] at the carrier's centre of mass and a torque [N m], inertial axes."""

    force: vec3
    torque: vec3


@wp.struct
class Control:
    """How steps are taken."""

    a: wp.array2d(dtype=scalar)  # weights of the stages; the last row are those of the new state
    c: wp.array(dtype=scalar)  # where in a step the stages are
    error: wp.array(dtype=scalar)  # weights of the error estimate
    stages: int
    order: int  # of the embedded solution; 0: fixed steps
    longest: scalar  # [s]
    floor: scalar  # [s]
    end: scalar  # [s]
    every: scalar  # time between records [s]
    until_release: int
    kept: int  # rows of a record; those of strains follow in a state


@wp.struct
class Runs:
    """What belongs to runs, the slot last."""

    y: wp.array2d(dtype=scalar)  # [row, slot]; the number of rows is the width of a state
    at: wp.array2d(dtype=scalar)  # state of a stage
    scale: wp.array2d(dtype=scalar)  # error that is allowed in each row; 0: not looked at
    k: wp.array2d(dtype=scalar)  # [stage * width + row, slot] slopes
    t: wp.array(dtype=scalar)  # [s]
    h: wp.array(dtype=scalar)  # next step [s]
    fresh: wp.array(dtype=int)  # 1: the first slope is to be evaluated
    outcome: wp.array(dtype=int)
    steps: wp.array(dtype=int)
    saved: wp.array(dtype=int)  # records so far
    touching: wp.array(dtype=int)
    contacts: wp.array(dtype=int)  # times the body came to the membrane
    lowest: wp.array(dtype=scalar)  # height at the last step [m]
    first: wp.array(dtype=scalar)  # time of first contact [s]; -1: none
    slack: wp.array(dtype=scalar)  # time at which the membrane first went slack in contact [s]
    release: wp.array(dtype=scalar)  # time of the last release [s]
    depth: wp.array(dtype=scalar)  # greatest [m]
    tension: wp.array(dtype=scalar)  # greatest [N/m]
    force: wp.array(dtype=scalar)  # greatest [N]
    states: wp.array2d(dtype=scalar)  # [record * kept + row, slot]
    loads: wp.array2d(dtype=MembraneLoad)  # [record, slot]


@wp.func
def vector_at(y: wp.array2d(dtype=scalar), row: int, slot: int):
    """Three rows as a vector."""
    return vec3(y[row, slot], y[row + 1, slot], y[row + 2, slot])


@wp.func
def put_vector(y: wp.array2d(dtype=scalar), row: int, slot: int, value: vec3):
    """A vector into three rows."""
    for i in range(3):
        y[row + i, slot] = value[i]


@wp.func
def quat_at(y: wp.array2d(dtype=scalar), row: int, slot: int):
    """Four rows as a quaternion."""
    return quat(y[row, slot], y[row + 1, slot], y[row + 2, slot], y[row + 3, slot])


@wp.func
def moving_at(y: wp.array2d(dtype=scalar), row: int, slot: int):
    """Thirteen rows as a body that moves; attitude of unit length."""
    m = Moving()
    m.x = vector_at(y, row, slot)
    m.v = vector_at(y, row + 3, slot)
    m.q = wp.normalize(quat_at(y, row + 6, slot))
    m.rate = vector_at(y, row + 10, slot)
    return m


@wp.func
def make_unit(y: wp.array2d(dtype=scalar), row: int, slot: int):
    """Give the quaternion in four rows unit length."""
    q = wp.normalize(quat_at(y, row, slot))
    for i in range(4):
        y[row + i, slot] = q[i]


@wp.func
def put_slopes(
    runs: Runs,
    stage: int,
    first: int,
    m: Inertia,
    now: Moving,
    force: vec3,
    torque: vec3,
    fall: vec3,
    slot: int,
):
    """Derivatives of one rigid body; ``force`` and ``torque`` in inertial axes."""
    row = stage * runs.y.shape[0] + first
    put_vector(runs.k, row, slot, now.v)
    accelerates = m.inverse_mass * force
    if m.inverse_mass > scalar(0.0):
        accelerates += fall
    put_vector(runs.k, row + 3, slot, accelerates)
    rate = wp_quat_rate(quat_at(runs.at, first + 6, slot), now.rate)
    for i in range(4):
        runs.k[row + 6 + i, slot] = rate[i]
    turning = wp.quat_rotate_inv(now.q, torque) - wp.cross(now.rate, m.inertia * now.rate)
    put_vector(runs.k, row + 10, slot, m.inverse * turning)


@wp.func
def stage_state(control: Control, runs: Runs, stage: int, h: scalar, slot: int):
    """Fill ``at`` with the state of a stage."""
    width = runs.y.shape[0]
    for r in range(width):
        total = scalar(0.0)
        for j in range(stage):
            total += control.a[stage, j] * runs.k[j * width + r, slot]
        runs.at[r, slot] = runs.y[r, slot] + h * total


@wp.func
def step_error(control: Control, runs: Runs, h: scalar, slot: int):
    """Greatest error of a step over what is allowed; 0 for fixed steps, NaN passed on."""
    worst = scalar(0.0)
    width = runs.y.shape[0]
    for r in range(width):
        total = scalar(0.0)
        if control.order > 0 and runs.scale[r, slot] > scalar(0.0):
            for j in range(control.stages + 1):
                total += control.error[j] * runs.k[j * width + r, slot]
            total = wp.abs(h * total) / runs.scale[r, slot]
        if not (total <= worst):
            worst = total
        if not wp.isfinite(runs.at[r, slot]):
            return scalar(wp.nan)
    return worst


@wp.func
def keep_record(control: Control, runs: Runs, load: MembraneLoad, slot: int):
    """Write state and load into the history, if there is room."""
    number = runs.saved[slot]
    if number < runs.loads.shape[0]:
        for r in range(control.kept):
            runs.states[number * control.kept + r, slot] = runs.y[r, slot]
        runs.loads[number, slot] = load
    runs.saved[slot] = number + 1


@wp.func
def read_strains(control: Control, runs: Runs, memory: HullMemory, slot: int):
    """Strains of a stage, for the membrane to read."""
    for j in range(memory.strain.shape[0]):
        memory.strain[j, slot] = vector_at(runs.at, control.kept + 3 * j, slot)


@wp.func
def put_strain_rates(control: Control, runs: Runs, stage: int, memory: HullMemory, slot: int):
    """Slopes of the strains, which the membrane has written."""
    row = stage * runs.y.shape[0] + control.kept
    for j in range(memory.strain_rate.shape[0]):
        put_vector(runs.k, row + 3 * j, slot, memory.strain_rate[j, slot])


@wp.func
def drop_strains(control: Control, runs: Runs, memory: HullMemory, slot: int):
    """No strain is left where the fabric does not touch: it comes back as if never touched."""
    for j in range(memory.limit.shape[0]):
        if memory.limit[j, slot] == scalar(0.0):
            put_vector(runs.y, control.kept + 3 * j, slot, vec3())


@wp.func
def came_outside(ring: RingData, memory: HullMemory, slot: int):
    """True if a vertex below the plane, which has just come there, is not within the polygon."""
    for j in range(memory.place.shape[0]):
        p = memory.place[j, slot]
        if p[2] < -ring.shallow and outside(ring, p):
            return True
    return False


@wp.func
def keep_notes(
    control: Control,
    ring: RingData,
    memory: HullMemory,
    runs: Runs,
    load: MembraneLoad,
    t: scalar,
    h: scalar,
    slot: int,
):
    """Contacts, peaks and ends after a step that came to ``t``; True if thrust may change."""
    zero = scalar(0.0)
    changed = bool(False)
    was = runs.touching[slot]
    before = runs.lowest[slot]
    # The plane is crossed where the lowest height, taken as linear, is zero.
    crossed = t
    if before * load.lowest < zero:
        crossed = t - h * load.lowest / (load.lowest - before)
    touches = load.below > 0 or load.beads > 0
    if touches and was == 0:
        runs.touching[slot] = 1
        runs.contacts[slot] = runs.contacts[slot] + 1
        if runs.first[slot] < zero:
            runs.first[slot] = crossed
        changed = True
    if not touches and was == 1:
        runs.touching[slot] = 0
        runs.release[slot] = crossed
        changed = True
        if control.until_release == 1:
            runs.outcome[slot] = wp.static(RELEASED)
    if was == 1 and load.tension == zero and runs.slack[slot] < zero:
        runs.slack[slot] = t
    runs.lowest[slot] = load.lowest
    runs.depth[slot] = wp.max(runs.depth[slot], -load.lowest)
    runs.tension[slot] = wp.max(runs.tension[slot], load.tension)
    runs.force[slot] = wp.max(runs.force[slot], wp.length(load.force))
    if load.rim > 0 or (was == 0 and came_outside(ring, memory, slot)):
        # All of it outside a hoop: it came over the side. Or it is in and out, through the hoop.
        over = ring.beads.shape[0] > 0 and load.rim == load.through
        runs.outcome[slot] = wp.where(over, wp.static(RELEASED), wp.static(RIM))
    return changed


@functools.cache
def stepping_kernel(world_type: Any, slopes: Any, finish: Any) -> Any:
    """A kernel that takes up to ``count`` steps of each run.

    ``slopes(world, runs, stage, t, memory, slot) -> MembraneLoad`` fills the slopes of a stage from
    the state in ``at``; ``finish(world, runs, load, t, slot)`` mends the state that a step has come
    to, whose slopes were the last ones asked for. A world has a ``ring``.
    """

    @wp.func
    def one_step(world: world_type, control: Control, runs: Runs, memory: HullMemory, slot: int):
        """One step, kept or not."""
        t = runs.t[slot]
        wanted = runs.h[slot]
        due = wp.min(control.end, scalar(runs.saved[slot]) * control.every)
        if runs.saved[slot] == 0:
            due = wp.min(control.end, control.every)
        h = wanted
        lands = bool(False)
        if t + h * _CLOSE >= due:
            h = due - t
            lands = True
        load = MembraneLoad()
        first = 1 - runs.fresh[slot]
        for stage in range(first, control.stages + 1):
            stage_state(control, runs, stage, h, slot)
            read_strains(control, runs, memory, slot)
            load = slopes(world, runs, stage, t + control.c[stage] * h, memory, slot)
            put_strain_rates(control, runs, stage, memory, slot)
            if stage == 0 and runs.saved[slot] == 0:
                runs.lowest[slot] = load.lowest
                if load.below > 0:
                    runs.touching[slot] = 1
                    runs.contacts[slot] = 1
                    runs.first[slot] = t
                keep_record(control, runs, load, slot)
        runs.fresh[slot] = 0
        error = step_error(control, runs, h, slot)
        if not accepted(error):
            runs.h[slot] = next_step(h, error, control.order, scalar(1.0))
            if control.order == 0 or h <= control.floor:
                runs.outcome[slot] = wp.static(STEP_FLOOR)
                if not wp.isfinite(error):
                    runs.outcome[slot] = wp.static(NOT_FINITE)
            return
        if control.order > 0:
            after = next_step(h, error, control.order, scalar(5.0))
            if lands:
                after = wp.max(after, wanted)
            runs.h[slot] = wp.min(after, control.longest)
        width = runs.y.shape[0]
        for r in range(width):
            runs.y[r, slot] = runs.at[r, slot]
            runs.k[r, slot] = runs.k[control.stages * width + r, slot]
        t += h
        if lands:
            t = due
        runs.t[slot] = t
        runs.steps[slot] = runs.steps[slot] + 1
        drop_strains(control, runs, memory, slot)
        finish(world, runs, load, t, slot)
        if keep_notes(control, world.ring, memory, runs, load, t, h, slot):
            runs.fresh[slot] = 1  # thrust may begin: the slope at hand knows nothing of it
        if lands:
            keep_record(control, runs, load, slot)
        if t >= control.end and runs.outcome[slot] == 0:
            runs.outcome[slot] = wp.static(TIMED_OUT)

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def advance(
        offset: int,
        world: world_type,
        control: Control,
        memory: HullMemory,
        count: int,
        runs: Runs,
    ) -> None:
        slot = wp.tid() + offset
        for _ in range(count):
            if runs.outcome[slot] == 0:
                one_step(world, control, runs, memory, slot)

    return advance


@functools.cache
def motion_kernel(load_of: Any, thrust: Any, thrust_data: Any) -> Any:
    """A kernel that takes up to ``count`` steps of each run.

    ``thrust(data, t, touched, carrier, body) -> Wrench`` acts on the carrier; ``touched`` is the
    time of first contact [s], below 0 before.
    """

    @wp.struct
    class World:
        rows: wp.array(dtype=MembraneRow)
        ring: RingData
        captive: CaptiveData
        body: wp.array(dtype=Inertia)
        carrier: wp.array(dtype=Inertia)
        gravity: vec3
        thrust: thrust_data

    @wp.func
    def slopes(
        world: World, runs: Runs, stage: int, t: scalar, memory: HullMemory, slot: int
    ) -> MembraneLoad:
        body = moving_at(runs.at, _BODY, slot)
        carrier = moving_at(runs.at, _CARRIER, slot)
        row = world.rows[wp.min(slot, world.rows.shape[0] - 1)]
        load = load_of(row, world.ring, world.captive, body, carrier, memory, slot)
        push = thrust(world.thrust, t, runs.first[slot], carrier, body)
        one = world.body[wp.min(slot, world.body.shape[0] - 1)]
        other = world.carrier[wp.min(slot, world.carrier.shape[0] - 1)]
        fall = world.gravity
        put_slopes(runs, stage, _BODY, one, body, load.force, load.torque, fall, slot)
        force = load.carrier_force + push.force
        torque = load.carrier_torque + push.torque
        put_slopes(runs, stage, _CARRIER, other, carrier, force, torque, fall, slot)
        sums = stage * runs.y.shape[0]
        runs.k[sums + wp.static(DAMPED), slot] = load.damped
        runs.k[sums + wp.static(RUBBED), slot] = load.rubbed
        runs.k[sums + wp.static(SLIPPED), slot] = load.slip
        runs.k[sums + wp.static(THRUST), slot] = wp.length(push.force)
        return load

    @wp.func
    def finish(world: World, runs: Runs, load: MembraneLoad, t: scalar, slot: int):
        make_unit(runs.y, _BODY + 6, slot)
        make_unit(runs.y, _CARRIER + 6, slot)

    return stepping_kernel(World, slopes, finish), World

"""What a run of a body on a membrane carries, and the memory of all runs in slots.

A state is rows of numbers: those that a motion names first (the body's place, velocity, attitude
and rate, what carries the membrane, and sums), then three for each vertex of the body's hull and
each bead of the hoop: the strain of the fabric that sticks there (``contact.stick``). Records leave
these out.
"""

from typing import Any

import warp as wp

from alight.core import devices
from alight.core.rows import by_slot, quat_at, vector_at
from alight.core.types import mat33, scalar, vec3
from alight.engine.records import Touch, size_of
from alight.membrane.forces import MembraneLoad, Moving
from alight.membrane.memory import HullMemory, hull_bytes, new_hull_memory
from alight.vehicles.tree.data import TreeMemory, tree_memory


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
    """How steps are taken, and when a run ends."""

    a: wp.array2d(dtype=scalar)  # weights of the stages; the last row are those of the new state
    c: wp.array(dtype=scalar)  # where in a step the stages are
    error: wp.array(dtype=scalar)  # weights of the error estimate
    stages: int
    order: int  # of the embedded solution; 0: fixed steps
    longest: scalar  # [s]
    floor: scalar  # [s]
    end: scalar  # [s]
    every: scalar  # time between records [s]
    each: int  # 1: a record after every step instead, wherever it ends
    until_release: int
    kept: int  # rows of a record; those of strains follow in a state
    max_steps: int


@wp.struct
class CaughtRun:
    """What every step changes, beside the state."""

    t: scalar  # [s]
    h: scalar  # next step [s]
    first: scalar  # time of first contact [s]; -1: none
    lowest: scalar  # height at the last step [m]
    phase: int  # one for all
    outcome: int
    steps: int
    touches: int  # contacts ended
    contacts: int  # contacts begun
    touching: int
    fresh: int  # 1: the first slope is to be evaluated
    saved: int  # records so far
    told: int  # 1: the state is one to record


@wp.struct
class CaughtNotes:
    """What else is kept of a run. Times of what has not happened are -1."""

    number: int  # of the run in its batch
    row: int  # of the parameters it uses
    touch: Touch  # the contact under way
    load: MembraneLoad  # at the last state
    slack: scalar  # when the membrane first went slack in contact [s]
    release: scalar  # when the body last left it [s]
    depth: scalar  # greatest [m]
    tension: scalar  # greatest [N/m]
    force: scalar  # greatest [N]
    restless: scalar  # when craft and asteroid last moved against each other [s]
    hoop: scalar  # greatest force on the hoop [N]
    hoop_at: scalar  # when it was first touched [s]
    marked: int  # how often the state was written down


@wp.struct
class CraftMemory:
    """Of a craft with joints, [row, slot]."""

    tree: TreeMemory
    q: wp.array2d(dtype=scalar)
    v: wp.array2d(dtype=scalar)
    q_rate: wp.array2d(dtype=scalar)
    acceleration: wp.array2d(dtype=scalar)
    bending: wp.array2d(dtype=scalar)  # [body, slot] greatest at each hinge [N m]
    bending_at: wp.array2d(dtype=scalar)  # when [s]
    twist: wp.array2d(dtype=scalar)  # greatest moment about the boom [N m]
    marks: wp.array2d(dtype=scalar)  # [2 * (row + 1), slot] states one and two windows ago, in turn


@wp.struct
class CaughtMemory:
    """What runs keep in memory, the slot last."""

    notes: wp.array(dtype=CaughtNotes)
    y: wp.array2d(dtype=scalar)  # [row, slot]; the number of rows is the width of a state
    at: wp.array2d(dtype=scalar)  # state of a stage, without strains: these are in ``hull``
    scale: wp.array2d(dtype=scalar)  # error that is allowed in each row; 0: not looked at
    k: wp.array2d(dtype=scalar)  # [stage * width + row, slot] slopes
    strained: wp.array2d(dtype=int)  # [vertex or bead, slot] 0: no strain and no slope in this step
    strains: wp.array2d(dtype=int)  # [1 + vertex or bead, slot] how many are, and the list of them
    levels: wp.array2d(dtype=scalar)  # [actuator, slot]
    hull: HullMemory
    craft: CraftMemory


def make_memory(
    kept: int,
    stages: int,
    room: tuple[int, ...],
    craft: tuple[int, int, int],
    actuators: int,
    slots: int,
    device: devices.Device,
) -> Any:
    """Memory of ``slots`` runs; zeros.

    ``room`` are vertices and facets of the largest body, suspension points and beads of the hoop;
    ``craft`` bodies, configuration and speeds of a craft with joints.
    """
    vertices, facets, points, beads = room
    width = kept + 3 * (vertices + beads)

    def new(rows: int, kind: Any = scalar) -> Any:
        return by_slot(rows, slots, kind, device)

    memory = CaughtMemory()
    memory.notes = wp.zeros(slots, dtype=CaughtNotes, device=device.name)
    memory.y, memory.at, memory.scale = new(width), new(kept), new(width)
    memory.k = new((stages + 1) * width)
    memory.strained = new(vertices + beads, int)
    memory.strains = new(1 + vertices + beads, int)
    memory.levels = new(actuators)
    memory.hull = new_hull_memory(vertices, facets, points, beads, slots, device)
    bodies, n_q, n_v = craft
    own = CraftMemory()
    if bodies:
        own.tree = tree_memory(bodies, n_v, slots, device)
    own.q, own.q_rate = new(n_q), new(n_q)
    own.v, own.acceleration = new(n_v), new(n_v)
    for name in ("bending", "bending_at", "twist"):
        setattr(own, name, new(bodies))
    own.marks = new(2 * (kept + 1) if bodies else 0)
    memory.craft = own
    return memory


def slot_bytes(kept: int, stages: int, room: tuple[int, ...], bodies: int) -> int:
    """What one slot takes on the device [bytes], about."""
    vertices, _, _, beads = room
    width = kept + 3 * (vertices + beads)
    own = size_of(CaughtRun) + size_of(CaughtNotes) + 8 * (width * (stages + 3) + kept)
    hull = hull_bytes(*room) + 8 * (vertices + beads)
    return own + hull + 800 * bodies + (16 * kept if bodies else 0)


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

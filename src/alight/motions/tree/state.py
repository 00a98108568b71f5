"""What a run of an articulated lander carries, and the memory of all runs in slots."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.rows import by_slot
from alight.core.types import scalar, vec3
from alight.engine.records import Touch
from alight.gravity.law import FieldValue
from alight.integrators.pece_rows import ROWS, Adams, StateRows, state_rows
from alight.vehicles.tree.data import TreeMemory, tree_memory

# Rows of ``TreeSpace.peaks``, before those of single joints, pads, sloshes and bellies.
PEAK_ACCELERATION = wp.constant(0)
PEAK_TILT = wp.constant(1)
PEAK_SPEED = wp.constant(2)
PEAK_RATE = wp.constant(3)
PEAKS = wp.constant(4)


@wp.struct
class TreeLimits:
    """When a run ends, and how closely it is followed."""

    max_time: scalar  # [s]
    max_steps: int
    escape_radius: scalar  # [m]
    settle_speed: scalar  # [m/s]
    settle_rate: scalar  # [rad/s]
    settle_time: scalar  # [s]
    tip_angle: scalar  # [rad]
    longest: scalar  # step [s]
    shortest: scalar  # step [s]
    first: scalar  # step after a start [s]
    contact_step: scalar  # a step that no contact is shorter than [s]
    sink_depth: scalar  # deepest pad ever [m]
    size: scalar  # distance of the farthest pad from the first body's origin [m]


@wp.struct
class TreeRun:
    """What every step changes."""

    t: scalar  # [s]
    x: vec3  # centre of mass, target axes [m]
    v: vec3  # relative to the turning target [m/s]
    adams: Adams
    bound: scalar  # longest step in which no pad can reach the ground unseen [s]
    until: scalar  # when something switches next [s]
    touched: scalar  # when the ground was first touched [s]
    last: scalar  # when it last pushed [s]
    push: vec3  # force of the ground now [N]
    normal: scalar  # normal forces of all pads now [N]
    quiet: scalar  # how long it has been slow [s]
    still: scalar  # how long all its pads have held it [s]
    path: scalar  # of the centre of mass [m]
    taken: scalar  # the step just taken [s]; 0 at a start, below 0 where it was rejected
    order: int  # its order
    phase: int  # one for all
    fresh: int  # 1 where the integrator has to start anew
    status: int  # which pads press, crushables give and stops are met: a number for each case
    touching: int
    touches: int
    steps: int
    rejected: int
    outcome: int


@wp.struct
class TreeNotes:
    """What else is kept of a run."""

    number: int  # of the run in its batch
    row: int  # of the contact parameters it uses
    until: scalar  # when what pushes from outside switches next [s]
    rested: scalar  # when it last came to rest with a schedule to follow [s]
    rests: int  # how often
    wakes: scalar  # when it goes on from rest [s]
    tilt: scalar  # of the lander's up from the local vertical [rad]
    tour: int  # number of the next manoeuvre, or of that under way
    under: int  # 1 while one is under way
    on: scalar  # when its commands begin [s]
    off: scalar  # when they end [s]
    anchor: FieldValue  # gravity where it was last evaluated
    anchor_x: vec3  # and that place [m]
    touch: Touch  # the contact under way
    energy: scalar  # E_J less the work below, at the end of the last contact [J]
    power: scalar  # of actuators, pushes from outside and an uneven rotation [W], with the slope
    power_before: scalar  # the same where the last step ended [W]
    work: scalar  # of them all so far [J]
    turnover: scalar  # since the contact began, whether given or taken [J]
    first_place: vec3  # of the first touch [m]
    first_speed: scalar  # [m/s]
    hardest: scalar  # [m/s]
    peak_force: scalar  # [N]
    gain: scalar  # [J]
    drift: scalar  # [J]


@wp.struct
class TreeSpace:
    """Memory of all runs, [row, slot]. q, v, crushed and strain are parts of the rows of states."""

    tree: TreeMemory
    rows: StateRows
    q: wp.array2d(dtype=scalar)
    crushed: wp.array2d(dtype=scalar)
    strain: wp.array2d(dtype=scalar)  # [3 pad + axis, slot] of the grip of each pad [m]
    trial_q: wp.array2d(dtype=scalar)
    trial_v: wp.array2d(dtype=scalar)
    trial_crushed: wp.array2d(dtype=scalar)
    trial_strain: wp.array2d(dtype=scalar)
    rate_q: wp.array2d(dtype=scalar)
    acceleration: wp.array2d(dtype=scalar)
    rate_crushed: wp.array2d(dtype=scalar)
    rate_strain: wp.array2d(dtype=scalar)
    force: wp.array2d(dtype=vec3)  # [body, slot] through its joint [N]
    moment: wp.array2d(dtype=vec3)  # [N m]
    pad_force: wp.array2d(dtype=vec3)  # [pad, slot] of the ground [N]
    pad_state: wp.array2d(dtype=vec3)  # gap [m], its rate [m/s], normal force [N]
    pad_slides: wp.array2d(dtype=int)  # 1 where friction is at its limit
    level: wp.array2d(dtype=scalar)  # [actuator, slot]
    peaks: wp.array2d(dtype=scalar)
    hops: wp.array2d(dtype=scalar)  # records of manoeuvres
    notes: wp.array(dtype=TreeNotes)


class Sizes(NamedTuple):
    """Numbers that the layout of memory depends on."""

    bodies: int
    n_q: int
    n_v: int
    pads: int
    """All that touches the ground: pads, then points of bellies."""
    crushables: int
    actuators: int
    sloshes: int
    bellies: int
    hops: int = 0
    """Rows of the records of manoeuvres."""

    @property
    def rows(self) -> int:
        """Numbers of a state: q, v, crushed strokes, strains of the pads."""
        return self.n_q + self.n_v + self.crushables + 3 * self.pads

    @property
    def crushed(self) -> slice:
        """Where the crushed strokes are in a state."""
        first = self.n_q + self.n_v
        return slice(first, first + self.crushables)

    @property
    def strain(self) -> slice:
        """Where the strains of the pads are."""
        return slice(self.crushed.stop, self.rows)

    @property
    def peaks(self) -> int:
        """Rows of ``TreeSpace.peaks``."""
        return int(PEAKS) + 2 * self.bodies + self.pads + self.sloshes + self.bellies

    @property
    def bytes_each(self) -> int:
        """What one slot takes on the device [bytes], about."""
        body = 17 * 24 + 3 * 72 + 32 + 48
        return (
            8 * (self.rows * (ROWS + 4) + 5 * ROWS)
            + self.bodies * body
            + 8 * (self.peaks + self.hops)
            + 2000
        )


class Parts(NamedTuple):
    """Where the parts of a history's line are; slices of its numbers."""

    state: slice
    pads: slice
    normals: slice
    forces: slice
    moments: slice
    acceleration: slice
    turning: slice
    x: slice
    v: slice
    levels: slice
    sloshes: slice

    @property
    def width(self) -> int:
        """Numbers of a line."""
        return int(self.sloshes.stop)


#: How long a hit lasts, in units of ``TreeLimits.contact_step``.
HIT = wp.constant(scalar(20.0))

#: Numbers of a line before its parts: time, step, order, whether in contact.
LINE_HEAD = wp.constant(4)


#: Where the head of a line says whether the ground pushes.
IN_CONTACT = 3


def line_parts(sizes: Sizes) -> Parts:
    """The layout of a line, in the order in which ``tree_account`` writes it."""
    b = sizes.bodies
    counts = [sizes.rows, 3 * sizes.pads, sizes.pads, 3 * b, 3 * b, 3, 3, 3, 3]
    counts += [sizes.actuators, sizes.sloshes]
    edges = np.cumsum([int(LINE_HEAD), *counts]).tolist()
    return Parts(*(slice(i, j) for i, j in itertools.pairwise(edges)))


def make_space(
    sizes: Sizes, slots: int, allowed: Any, relative: Any, device: devices.Device
) -> Any:
    """Memory of ``slots`` runs; zeros."""

    def new(rows: int, kind: Any = scalar) -> Any:
        return by_slot(rows, slots, kind, device)

    space, rows = TreeSpace(), state_rows(sizes.rows, slots, allowed, relative, device)
    space.tree = tree_memory(sizes.bodies, sizes.n_v, slots, device)
    space.rows = rows
    q, v = slice(0, sizes.n_q), slice(sizes.n_q, sizes.n_q + sizes.n_v)
    crushed, strain = sizes.crushed, sizes.strain

    def view(whole: Any, part: slice) -> Any:
        return whole[part] if part.stop > part.start else new(0)

    space.q, space.crushed = view(rows.y, q), view(rows.y, crushed)
    space.strain = view(rows.y, strain)
    space.trial_q, space.trial_v = view(rows.trial, q), view(rows.trial, v)
    space.trial_crushed, space.trial_strain = view(rows.trial, crushed), view(rows.trial, strain)
    space.rate_q, space.acceleration = view(rows.slope, q), view(rows.slope, v)
    space.rate_crushed, space.rate_strain = view(rows.slope, crushed), view(rows.slope, strain)
    space.force, space.moment = new(sizes.bodies, vec3), new(sizes.bodies, vec3)
    space.pad_force, space.pad_state = new(sizes.pads, vec3), new(sizes.pads, vec3)
    space.pad_slides = new(sizes.pads, int)
    space.level, space.peaks = new(sizes.actuators), new(sizes.peaks)
    space.hops = new(sizes.hops)
    space.notes = wp.zeros(slots, dtype=TreeNotes, device=device.name)
    return space

"""The state of one run, and the records that runs leave: the structs of the engine's kernels."""

from typing import Any

import warp as wp

from alight.contact.compliant.clipped_springs import PointMemory
from alight.contact.hull.contact_list import MOST, HullContact
from alight.contact.impulse.contact_solver import HeldContact
from alight.contact.state import Found, Grip, Tangent
from alight.core import devices
from alight.core.types import quat, scalar, vec3
from alight.engine.motion import new_records
from alight.engine.records import Touch, joined, size_of
from alight.gravity.law import FieldValue
from alight.surfaces.rocks.nearby_cache import ShelfSize, Shelves

#: Phases of a run. Motions add their own after these.
FLIGHT = wp.constant(0)
CONTACT = wp.constant(1)

vec6 = wp.types.vector(length=6, dtype=scalar)


@wp.struct
class Limits:
    """When a run ends, and how closely it is followed."""

    max_time: scalar  # [s]
    max_steps: int
    escape_radius: scalar  # [m]
    settle_speed: scalar  # [m/s]
    settle_rate: scalar  # [rad/s]
    settle_time: scalar  # [s]
    rtol: scalar  # of a flight step, relative to the distance and the speed
    max_step: scalar  # [s]
    min_step: scalar  # [s]


@wp.struct
class Run:
    """What one run carries from step to step, as far as steps change it."""

    t: scalar  # [s]
    until: scalar  # when the next step must end at the latest [s]
    x: vec3  # centre of mass from the target's origin, target axes [m]
    v: vec3  # relative to the rotating target [m/s]
    q: quat  # body to target axes
    w: vec3  # relative to the target, body axes [rad/s]
    h: scalar  # step that the last error allows in flight [s]
    travel: scalar  # path that no point of the lander exceeds [m]
    path: scalar  # path of the centre of mass [m]
    stiffness: scalar  # of the springs in this contact [N/m]
    pace: scalar  # normal speed of the points in contact, slowly forgotten [m/s]
    turning: scalar  # time to the deepest point, as far as can be told [s]
    hit: scalar  # when the contact under way began [s]
    dt: scalar  # last step in contact [s]
    load: scalar  # trace of the inverse masses that touched in it [1/kg]
    elastic: scalar  # energy in the springs [J]
    force: scalar  # normal force in the last step [N]
    grip: Grip
    quiet: scalar  # time since the speeds last exceeded the settling limits [s]
    phase: int
    near: int  # 1 in flight close to the ground: such runs are kept together
    outcome: int
    lasting: int  # 1 once the contact has outlasted a hit
    touching: int  # 1 from its first push on
    touches: int  # contacts ended
    steps: int
    still: int  # steps since the lander last moved at all
    due: int  # 1 where gravity is to be evaluated before the next step
    spare: int  # keeps structs free of padding


@wp.struct
class Notes:
    """What else is kept of a run: read or written now and then, in memory.

    A GPU's thread has few registers. What is carried through every step competes for them, so all
    that most steps leave alone is here.
    """

    number: int  # of the run in its batch
    row: int  # of the contact parameters it uses
    rejected: int  # flight steps
    anchor: FieldValue  # gravity where it was last evaluated in full
    anchor_x: vec3  # and that place [m]
    touch: Touch  # the contact under way
    watch_t: scalar  # since when the lander's place is watched [s]
    watch_x: vec3  # where it was then [m]
    watch_q: quat
    energy: scalar  # E_J at the end of the last arc or contact [J]
    moving: scalar  # kinetic energy at the start of the last contact [J]
    first_time: scalar  # when the ground was first touched [s]
    first_place: vec3  # where [m]
    first_speed: scalar  # normal speed of that touch [m/s]
    hardest: scalar  # largest normal speed of a touch [m/s]
    peak_force: scalar  # largest normal force [N]
    gain: scalar  # largest rise of E_J in one contact, which was taken back [J]
    drift: scalar  # largest change of E_J in one arc of flight [J]


@wp.struct
class Memory:
    """What runs keep in memory, by slot."""

    points: PointMemory  # what is known of the ground near them
    found: wp.array2d(dtype=Found)  # points near the ground in the step under way
    contacts: wp.array2d(dtype=HullContact)  # of a rigid lander in the step under way
    held: wp.array2d(dtype=HeldContact)  # what holds it there, and what did in the step before
    before: wp.array2d(dtype=HeldContact)
    notes: wp.array(dtype=Notes)
    drives: wp.array2d(dtype=scalar)  # [row, slot] of actuators (``drive.laws``)
    shelves: Shelves  # rocks near it


@wp.struct
class Row:
    """One line of a history: the state after a step."""

    t: scalar  # [s]
    x: vec3  # [m]
    v: vec3  # [m/s]
    q: quat
    w: vec3  # [rad/s]
    phase: int
    force: scalar  # normal force in the step [N]
    elastic: scalar  # [J]


def final_states(count: int) -> Any:
    """(n,) structured array of all that is kept of runs, state and notes; zeros."""
    return joined(new_records(Run, count), new_records(Notes, count))


def make_memory(
    slots: int, points: int, pairs: bool, shelf: ShelfSize, drives: int, device: devices.Device
) -> Any:
    """Memory of ``slots`` runs of a lander with its ``points``; ``pairs``: of single contacts;
    ``drives``: rows of actuators."""
    name, most = device.name, MOST if pairs else 0
    memory = Memory()
    memory.notes = wp.zeros(slots, dtype=Notes, device=name)
    # One row more than there are points ends a search for those that are near.
    memory.points = PointMemory()
    memory.points.clear = wp.empty((points + 1, slots), dtype=scalar, device=name)
    memory.points.looked = wp.empty((points, slots), dtype=scalar, device=name)
    memory.points.tangent = wp.empty((points, slots), dtype=Tangent, device=name)
    memory.found = wp.empty((max(points, most), slots), dtype=Found, device=name)
    memory.contacts = wp.empty((most, slots), dtype=HullContact, device=name)
    memory.held = wp.zeros((most, slots), dtype=HeldContact, device=name)
    memory.before = wp.zeros((most, slots), dtype=HeldContact, device=name)
    memory.drives = wp.zeros((drives, slots), dtype=scalar, device=name)
    memory.shelves = shelf.shelves(slots, device)
    return memory


def slot_bytes(points: int, pairs: bool, shelf: ShelfSize, drives: int = 0) -> int:
    """What one slot takes on the device [bytes]."""
    most = MOST if pairs else 0
    own = size_of(Run) + size_of(Notes) + points * (16 + size_of(Tangent)) + 8 * drives
    own += max(points, most) * size_of(Found)
    return own + shelf.bytes_each + most * (size_of(HullContact) + 2 * size_of(HeldContact))

"""The state of one run, and the records that runs leave: the structs of the engine's kernels."""

import warp as wp

from alight.contact.hull.contact_list import HullContact
from alight.contact.impulse.contact_solver import HeldContact
from alight.contact.state import Found, Grip
from alight.core.types import quat, scalar, vec3
from alight.gravity.law import FieldValue
from alight.surfaces.rocks.nearby_cache import Shelves

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
class Touch:
    """One contact: from the first push of the ground to the last.

    Speeds are of the effective point of contact relative to the ground; ``place`` and ``normal``
    are where it began, in target axes.
    """

    run: int
    start: scalar  # [s]
    end: scalar  # [s]
    place: vec3  # [m]
    normal: vec3
    normal_speed_in: scalar  # along the normal, negative towards the ground [m/s]
    tangential_speed_in: scalar  # [m/s]
    normal_speed_out: scalar  # [m/s]
    tangential_speed_out: scalar  # [m/s]
    impulse: vec3  # of the ground on the lander [N s]
    normal_impulse: scalar  # [N s]
    peak_force: scalar  # largest normal force [N]
    depth: scalar  # deepest penetration [m]
    points: int  # most points that touched at once
    energy_in: scalar  # E_J before [J]
    energy_out: scalar  # E_J after [J]


@wp.struct
class Run:
    """What one run carries from step to step, as far as steps change it."""

    t: scalar  # [s]
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

    clear: wp.array2d(dtype=scalar)  # [point, slot]: travel up to which it cannot touch [m]
    found: wp.array2d(dtype=Found)  # points near the ground in the step under way
    contacts: wp.array2d(dtype=HullContact)  # of a rigid lander in the step under way
    held: wp.array2d(dtype=HeldContact)  # what holds it there, and what did in the step before
    before: wp.array2d(dtype=HeldContact)
    notes: wp.array(dtype=Notes)
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

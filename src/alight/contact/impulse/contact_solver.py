"""Several contacts at once, by impulses: hits one after the other, and sustained contact.

Where more than one contact closes, the one that closes fastest is hit first, by the law of
``impact_kernel``, then whichever closes fastest after that, until none does. Those that share its
normal, as when a face or an edge lands flat, are hit as one, at the mean of their places weighted
by their closing speeds: so springs of equal stiffness would begin to push. Each hit can only take
energy out, so all of them together can only take energy out. A pair that would hit each other's
partner back for ever does so with ever less speed; from ``ELASTIC`` hits on they give nothing back.

Sustained contact holds by impulses too, without restitution: none pulls, none lets its point go
through the ground within the step, friction ends the slip where its cone allows it, else it is the
largest against it. They are found by sweeps over the contacts (projected Gauss-Seidel) that start
from what held in the last step, so at rest all of them hold exactly. Rolling resistance and spin
friction (``rolling_resistance``) act on all contacts together, under the sum of their pushes; hits
have them too (``single_hit``).

Vectors are in target axes; ``inverse_inertia`` is turned into them.
"""

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.friction import kicked
from alight.contact.hull.contact_list import HullContact
from alight.contact.hull.feature_pairs import CORNER, PEAK
from alight.contact.impulse.single_hit import struck
from alight.contact.rolling_resistance import resist_turning, tangential
from alight.contact.state import CompliantData, Pressed
from alight.core.out_of_line import out_of_line
from alight.core.types import mat33, scalar, vec3
from alight.vehicles.rigid.data import RigidBody, inverse_mass_at

#: Hits of one collision that give something back, and hits at most.
ELASTIC, MOST_HITS = 40, 80
_ELASTIC = wp.constant(ELASTIC)
_MOST_HITS = wp.constant(MOST_HITS)
#: Sweeps over the contacts in one step, at most, and where wheels that are held in no time press
#: them at once, which no step before foretells; what ends them: the motion changed by less
#: than this share of what the load of the step gives. (Impulses may change for ever: those of a
#: face with more than three corners are not unique, and gaps differ by rounding.)
SWEEPS, SWEEPS_OF_A_HIT = wp.constant(60), wp.constant(20000)
_ENOUGH = wp.constant(scalar(1e-9))
_ROUNDING = wp.constant(scalar(1e-15))
#: Closing speeds below this share of the speed are rounding.
_CLOSED = wp.constant(scalar(1e-12))
#: Normals whose cosine is short of 1 by less than this are one normal.
_ALIKE = wp.constant(scalar(1e-9))
#: Of a gap below 0, this share is taken back in one step, at this share of the speed of a hop.
_BACK = wp.constant(scalar(0.1))
#: Steps grow by no more than this factor; so contacts are next looked at no later than after half
#: of one more than it, in steps.
GROWTH = 2.0
_UNTIL_NEXT = wp.constant(scalar(0.5 + 0.5 * GROWTH))
#: A contact that is left alone: it is on its way to a hit (``awaited_hits``).
AWAITED = -1
_AWAITED = wp.constant(AWAITED)
_CORNER = wp.constant(CORNER)
_PEAK = wp.constant(PEAK)


@wp.struct
class HeldContact:
    """What held one contact in the last step."""

    kind: int
    feature: int
    facet: int
    stuck: int  # 1 or 0; -1 where it is on its way to a hit
    impulse: vec3  # [N s]


@wp.struct
class Strike:
    """A collision of any number of contacts."""

    motion: Motion  # afterwards
    impulse: vec3  # of the ground [N s]
    weight: scalar  # sum of the normal impulses [N s]
    lever: vec3  # of the first hit [m]
    normal: vec3  # there
    hits: int
    least: scalar  # slowest that any contact separates afterwards [m/s]


@wp.func
def separation(m: Motion, n: vec3, lever: vec3):
    """How fast a contact opens [m/s]."""
    return wp.dot(n, m.v + wp.cross(m.w, lever))


@wp.func
def met_at(
    m: Motion,
    x: vec3,
    n: vec3,
    found: wp.array2d(dtype=HullContact),
    count: int,
    slot: int,
    near: scalar,
    bound: scalar,
):
    """Lever [m] of the hit that all contacts of one normal take together."""
    lever = vec3()
    weight = scalar(0.0)
    for k in range(count):
        point = found[k, slot]
        arm = point.point - x
        u = separation(m, point.normal, arm)
        alike = wp.dot(point.normal, n) > scalar(1.0) - _ALIKE
        if alike and u < -bound and point.gap <= near:
            lever -= u * arm
            weight -= u
    return lever / weight


@out_of_line
def strike(
    contact: CompliantData,
    body: RigidBody,
    inverse_inertia: mat33,
    x: vec3,
    start: Motion,
    found: wp.array2d(dtype=HullContact),
    count: int,
    slot: int,
    near: scalar,
    least: scalar,
    elastic: scalar,
):
    """Hit every contact no higher than ``near`` [m] that closes faster than ``least`` [m/s].

    Hits slower than ``elastic`` [m/s] give nothing back.
    """
    out = Strike()
    out.motion = start
    out.least = scalar(wp.inf)
    fast = wp.length(start.v) + wp.length(start.w) * body.bounding_radius
    bound = wp.max(least, _CLOSED * fast)
    going = bool(True)
    while going and out.hits < _MOST_HITS:
        fastest = -bound
        chosen = int(-1)
        for k in range(count):
            point = found[k, slot]
            u = separation(out.motion, point.normal, point.point - x)
            if u < fastest and point.gap <= near:
                fastest = u
                chosen = k
        going = chosen >= 0
        if going:
            n = found[chosen, slot].normal
            lever = met_at(out.motion, x, n, found, count, slot, near, bound)
            returned = contact.restitution
            if out.hits >= _ELASTIC or fastest > -elastic:
                returned = scalar(0.0)
            hit = struck(contact, returned, body, inverse_inertia, out.motion, n, lever)
            out.motion = hit.motion
            out.impulse += hit.impulse
            out.weight += wp.dot(hit.impulse, n)
            if out.hits == 0:
                out.lever = lever
                out.normal = n
            out.hits += 1
    for k in range(count):
        point = found[k, slot]
        out.least = wp.min(out.least, separation(out.motion, point.normal, point.point - x))
    return out


@wp.struct
class Holding:
    """Contact that goes on, after one step."""

    motion: Motion
    pressed: Pressed
    impulse: vec3  # of all contacts [N s]
    normal: vec3  # mean, weighted
    lever: vec3  # of the centre of pressure [m]
    torque: vec3  # against turning [N m s]


@wp.func
def recall(
    found: wp.array2d(dtype=HullContact),
    before: wp.array2d(dtype=HeldContact),
    held: wp.array2d(dtype=HeldContact),
    count: int,
    slot: int,
    share: scalar,
):
    """Start each contact from what held the same features in the last step, times ``share``."""
    for k in range(count):
        point = found[k, slot]
        new = HeldContact()
        new.kind = point.kind
        new.feature = point.feature
        new.facet = point.facet
        for j in range(before.shape[0]):
            old = before[j, slot]
            same = old.kind == point.kind and old.feature == point.feature
            if same and old.facet == point.facet:
                flat = tangential(point.normal, old.impulse)
                up = wp.max(scalar(0.0), wp.dot(point.normal, old.impulse))
                new.impulse = share * (flat + up * point.normal)
                new.stuck = wp.max(old.stuck, 0)
        held[k, slot] = new


@wp.func
def swing(m: Motion, x: vec3, point: HullContact):
    """Acceleration of a gap [m/s^2] while the lander moves and turns evenly.

    A corner goes round the middle, and so does the plane of a face over a corner of the ground. In
    a step that is followed in a straight line it would leave the ground, or get into it: a lander
    that spins on a tip would sink step by step. (Of two edges the plane turns as well as they do;
    steps are short enough for them.)
    """
    n = point.normal
    found = scalar(0.0)
    if point.kind == _CORNER:
        found = wp.dot(n, wp.cross(m.w, wp.cross(m.w, point.point - x)))
    elif point.kind == _PEAK:
        turning = wp.cross(m.w, n)
        r = point.point - point.gap * n - x
        found = scalar(2.0) * wp.dot(turning, m.v) - wp.dot(wp.cross(m.w, turning), r)
    return found


@wp.func
def press_on(
    contact: CompliantData,
    body: RigidBody,
    inverse_inertia: mat33,
    x: vec3,
    m: Motion,
    point: HullContact,
    old: HeldContact,
    dt: scalar,
    soon: scalar,
    slow: scalar,
):
    """The impulse of one contact that keeps its gap from closing beyond 0, within the cone; gaps
    may close in ``soon`` [s]."""
    lever = point.point - x
    n = point.normal
    # So fast may it close: when it is looked at again the gap is not below 0. What is opens again.
    allowed = -point.gap / (_UNTIL_NEXT * soon)
    if point.gap < scalar(0.0):
        allowed = _BACK * wp.min(allowed, slow)
    # What turns into the ground does so until the latest, what turns out of it to the soonest time.
    turned = swing(m, x, point)
    until = wp.where(turned < scalar(0.0), _UNTIL_NEXT, scalar(0.5))
    allowed -= scalar(0.5) * until * dt * turned
    u = m.v + wp.cross(m.w, lever)
    M = inverse_mass_at(body, inverse_inertia, lever)
    new = old
    # Where the cone allows it, push and friction together stop the point; each for itself would
    # undo what the other did.
    cone = contact.friction
    if old.stuck != 0:
        cone = contact.static_friction
    whole = old.impulse - wp.inverse(M) * (u - allowed * n)
    push = wp.dot(n, whole)
    new.stuck = 1
    if push < scalar(0.0) or wp.length(whole - push * n) > cone * push:
        new.stuck = 0
        # It slides. Friction may lift the point more than the push does: one that is found as if
        # there were none would be too large, the next would be none at all, and so on for ever.
        per = wp.dot(n, M * n)
        slip = tangential(n, u)
        size = wp.length(slip)
        if size > scalar(0.0):
            per = wp.max(per, per - contact.friction * wp.dot(n, M * slip) / size)
        up = wp.dot(n, old.impulse)
        push = wp.max(scalar(0.0), up - (wp.dot(n, u) - allowed) / per)
        # Friction meets the slip that the push leaves. What would end it points elsewhere, as the
        # lander is not equally light in all directions; friction is against the slip itself.
        slip = tangential(n, u + (push - up) * (M * n))
        flat = tangential(n, old.impulse) - slip / (wp.trace(M) - wp.dot(n, M * n))
        size = wp.length(flat)
        if size > contact.friction * push:
            flat = (contact.friction * push / size) * flat
        whole = push * n + flat
    new.impulse = whole
    return new


@wp.func
def stride_through(count: int):
    """A stride that comes by each of ``count`` contacts once, a third of the way round at a time.

    Corners of a face are in order around it. A corner hardly feels what its neighbour needs, so
    that sweeps from each to the next take three times as many as those across the face.
    """
    stride = wp.max((count + 1) / 3, 1)
    common = int(2)
    while common > 1:
        common = count
        rest = stride
        while rest > 0:
            swap = common % rest
            common = rest
            rest = swap
        if common > 1:
            stride += 1
    return stride


@wp.func
def hold(
    contact: CompliantData,
    body: RigidBody,
    inverse_inertia: mat33,
    x: vec3,
    start: Motion,
    found: wp.array2d(dtype=HullContact),
    held: wp.array2d(dtype=HeldContact),
    count: int,
    slot: int,
    dt: scalar,
    soon: scalar,
    torque: vec3,
    slow: scalar,
    sweeps: int,
):
    """``start`` held by the contacts for a step; ``torque`` [N m s] is the first guess of that.

    In ``sweeps`` at most, ``SWEEPS`` where the last step is a good guess. ``soon`` [s] is ``dt``,
    or more where that is so short that gaps known to rounding would push. A contact that opens
    more slowly than ``slow`` [m/s] closes again before it is a hop.
    """
    m = start
    T = torque
    rounding = _ROUNDING * (wp.length(m.v) + wp.length(m.w) * body.bounding_radius)
    m.w += inverse_inertia * T
    for k in range(count):
        m = kicked(body, inverse_inertia, m, found[k, slot].point - x, held[k, slot].impulse)
    stride = stride_through(count)
    next = int(0)
    sweep = int(0)
    going = bool(True)
    while going and sweep < sweeps:
        was = m
        pushes = vec3()
        for _ in range(count):
            k = next
            next = (next + stride) % count
            point = found[k, slot]
            old = held[k, slot]
            if old.stuck != _AWAITED:
                new = press_on(contact, body, inverse_inertia, x, m, point, old, dt, soon, slow)
                P = new.impulse - old.impulse
                m = kicked(body, inverse_inertia, m, point.point - x, P)
                held[k, slot] = new
                pushes += wp.dot(point.normal, new.impulse) * point.normal
        load = wp.length(pushes)
        if load > scalar(0.0):
            # Friction of several contacts resists spin about their centre by itself: no spread.
            n = pushes / load
            turn = resist_turning(contact, inverse_inertia, n, scalar(0.0), load, m.w, T)
            T = turn.rolling + turn.spin * n
            m.w = turn.w
        else:
            m.w -= inverse_inertia * T
            T = vec3()
        sweep += 1
        change = wp.length(m.v - was.v) + wp.length(m.w - was.w) * body.bounding_radius
        going = change > _ENOUGH * load / body.mass + rounding
    out = Holding()
    out.motion = m
    out.torque = T
    sums = Pressed()
    for k in range(count):
        point = found[k, slot]
        P = held[k, slot].impulse
        push = wp.dot(point.normal, P)
        u = separation(m, point.normal, point.point - x)
        if push > scalar(0.0):
            sums.active += 1
        elif point.gap < -dt * u or (u < slow and point.gap < contact.depth):
            sums.waiting = 1
        sums.weight += push
        sums.impulse += push * point.normal
        sums.lever += push * (point.point - x)
        sums.depth = wp.max(sums.depth, -point.gap)
        out.impulse += P
    if sums.weight > scalar(0.0):
        out.normal = wp.normalize(sums.impulse)
        out.lever = sums.lever / sums.weight
    out.pressed = sums
    return out

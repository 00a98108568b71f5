"""What is noted of an articulated lander after each step: contacts, peaks, and how it ends.

What contacts are judged by is E_J less the work of all that E_J has no potential for: thrusters,
motors and brakes, pushes from outside, a target that turns unevenly. That is constant in flight,
but for dampers of joints, and nothing may raise it in contact, however long actuators push in it.
"""

import functools
from typing import Any

import warp as wp

from alight.actuators.programme_kernel import NEVER
from alight.contact.hertz import HertzData
from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.engine.gain import gains_energy, has_failed
from alight.engine.records import Touch
from alight.engine.time_to_ground import free_time, path_length
from alight.motions.tree.after_rest import after_rest
from alight.motions.tree.composition import TreeComposition
from alight.motions.tree.drive import set_levels
from alight.motions.tree.manoeuvre_kernel import tour_functions
from alight.motions.tree.state import (
    HIT,
    LINE_HEAD,
    PEAK_ACCELERATION,
    PEAK_RATE,
    PEAK_SPEED,
    PEAK_TILT,
    PEAKS,
    TreeRun,
    TreeSpace,
)
from alight.vehicles.fittings_kernel import DeviceData, swing_angle
from alight.vehicles.tree.data import (
    ARM,
    MOVING,
    POSITION,
    RATE,
    TURNING,
    TreeMemory,
    turn_of,
    vector_row,
)
from alight.vehicles.tree.joint_loads import joint_loads
from alight.vehicles.tree.kinematics import center_position, point_velocity

_SETTLED = wp.constant(int(Outcome.SETTLED))
_ESCAPED = wp.constant(int(Outcome.ESCAPED))
_TIMED_OUT = wp.constant(int(Outcome.TIMED_OUT))
_TIPPED_OVER = wp.constant(int(Outcome.TIPPED_OVER))
_RUNNING = wp.constant(int(Outcome.RUNNING))
_NOT_FINITE = wp.constant(int(Outcome.NOT_FINITE))
_SANK = wp.constant(int(Outcome.SANK))
_GAINED_ENERGY = wp.constant(int(Outcome.GAINED_ENERGY))

#: A contact ends when the ground has not pushed for this many of the shortest contacts: legs that
#: tremble on the ground have not left it.
_PAUSE = wp.constant(scalar(10.0))
#: Longest step with a pad in the ground, in the same unit: a fifth of a hit.
_INSIDE = wp.constant(scalar(4.0))
#: At rest is what is slower than this share of what its load would give it in a hit ...
_STILL = wp.constant(scalar(1e-3))
#: ... for so many hits.
_STILL_HITS = wp.constant(scalar(20.0))
#: What a bound on a pad's acceleration is taken at, over its value now.
_MARGIN = wp.constant(scalar(1.5))


@wp.func
def point_acceleration(memory: TreeMemory, i: int, lever: vec3, slot: int) -> vec3:
    """Acceleration [m/s^2] of a point ``lever`` [m] off the origin of body ``i``."""
    w = vector_row(memory, i, RATE, slot)
    a = vector_row(memory, i, MOVING, slot) + wp.cross(w, wp.cross(w, lever))
    return a + wp.cross(vector_row(memory, i, TURNING, slot), lever)


@wp.struct
class Pressing:
    """What the ground does to all pads together."""

    force: vec3  # [N]
    normal: scalar  # sum of the normal forces [N]
    count: int
    sliding: int  # how many of them slide
    hardest: int  # the pad with the largest normal force, or -1
    depth: scalar  # deepest pad [m]; negative above the ground


@wp.func
def sum_pads(space: TreeSpace, slot: int) -> Pressing:
    """The pushes of the ground, once slopes were found."""
    found = Pressing()
    found.hardest = -1
    found.depth = scalar(-1e30)
    most = scalar(0.0)
    for i in range(space.pad_state.shape[0]):
        state = space.pad_state[i, slot]
        found.depth = wp.max(found.depth, -state[0])
        if state[2] > scalar(0.0):
            found.force += space.pad_force[i, slot]
            found.normal += state[2]
            found.count += 1
            found.sliding += space.pad_slides[i, slot]
            if state[2] > most:
                most = state[2]
                found.hardest = i
    return found


@wp.func
def kept(run: TreeRun):
    """Whether the last step was kept: the tree is placed at the state."""
    return run.taken >= scalar(0.0)


@wp.func
def belly_force(parts: DeviceData, space: TreeSpace, belly: int, slot: int):
    """Normal force [N] of the ground on all points of a belly."""
    total = scalar(0.0)
    for i in range(parts.pads.shape[0]):
        if parts.pads[i].belly == belly:
            state = space.pad_state[i, slot]
            total += state[2]
    return total


@wp.func
def add_work(space: TreeSpace, slot: int, h: scalar):
    """Add the work of a step of ``h`` [s] that ended here, by the trapezoidal rule.

    Where something switches, power jumps: a start (``h`` = 0) follows, which takes the new one.
    """
    notes = space.notes[slot]
    more = scalar(0.5) * h * (notes.power_before + notes.power)
    space.notes[slot].work = notes.work + more
    space.notes[slot].turnover = notes.turnover + wp.abs(more)
    space.notes[slot].power_before = notes.power


@wp.func
def raise_peak(space: TreeSpace, row: int, slot: int, value: scalar):
    """Keep the larger."""
    space.peaks[row, slot] = wp.max(space.peaks[row, slot], value)


@functools.cache
def arrive_functions(parts: TreeComposition) -> tuple[Any, Any]:
    """The function ``(world, run, space, slot, h, contact) -> run`` after a step of ``h`` [s], and
    ``(world, run, space, slot, before) -> run`` that ends contacts once stops were asked."""
    World, laws, energy = parts.World, parts.laws, parts.energy
    spin, ground = laws.spin, laws.surface_point
    following, rest = after_rest(parts).following, after_rest(parts).rest
    down_at, tours = parts.down_at, laws.manoeuvres > 0
    tour: Any = tour_functions(parts) if tours else None
    set_tour, leave = getattr(tour, "set_levels", None), getattr(tour, "leave", None)
    land = getattr(tour, "land", None)

    @wp.func
    def middle(world: World, run: TreeRun, space: TreeSpace, slot: int, h: scalar, omega: vec3):
        """``run`` with its centre of mass where the bodies now are."""
        out = run
        x = vec3()
        v = vec3()
        for i in range(world.tree.count):
            share = world.tree.bodies[i].mass / world.mass
            arm = vector_row(space.tree, i, ARM, slot)
            x += share * center_position(space.tree, i, slot)
            v += share * point_velocity(space.tree, i, arm, omega, slot)
        out.path += path_length(run.v, v, h)
        out.x = x
        out.v = v
        return out

    @wp.func
    def clear_time(world: World, space: TreeSpace, slot: int, omega: vec3):
        """How long no pad that is off the ground can reach it [s].

        One that has just reached it is not felt yet: as long as a pad is in the ground, steps are
        short against any hit.
        """
        least = scalar(1e30)
        spun = wp.length(omega)
        for i in range(world.parts.pads.shape[0]):
            pad = world.parts.pads[i]
            state = space.pad_state[i, slot]
            if state[0] > scalar(0.0):
                lever = wp.quat_rotate(turn_of(space.tree, pad.body, slot), pad.place)
                u = wp.length(point_velocity(space.tree, pad.body, lever, omega, slot))
                far = wp.length(vector_row(space.tree, pad.body, POSITION, slot))
                a = wp.length(point_acceleration(space.tree, pad.body, lever, slot))
                a = _MARGIN * (a + spun * (scalar(2.0) * u + spun * far))
                t = free_time(state[0], state[1], u, a, world.slope, world.curvature)
                least = wp.min(least, t)
            else:
                least = wp.min(least, _INSIDE * world.limits.contact_step)
        return wp.max(least, world.limits.contact_step)

    @wp.func
    def level(world: World, space: TreeSpace, slot: int, t: scalar, contact: HertzData):
        """E_J less the work so far [J]: what nothing may raise."""
        return energy(world, space, slot, t, contact) - space.notes[slot].work

    @wp.func
    def begin_touch(
        world: World,
        run: TreeRun,
        space: TreeSpace,
        slot: int,
        omega: vec3,
        contact: HertzData,
        found: Pressing,
    ):
        """``run`` at the first push of a contact."""
        out = run
        pad = world.parts.pads[found.hardest]
        lever = wp.quat_rotate(turn_of(space.tree, pad.body, slot), pad.place)
        place = vector_row(space.tree, pad.body, POSITION, slot) + lever
        below = ground(world.surface, place)
        n = below.normal
        u = point_velocity(space.tree, pad.body, lever - pad.radius * n, omega, slot)
        touch = Touch()
        touch.run = space.notes[slot].number
        touch.start = run.t
        touch.end = run.t
        touch.place = place - pad.radius * n
        touch.normal = n
        touch.normal_speed_in = wp.dot(n, u)
        touch.tangential_speed_in = wp.length(u - wp.dot(n, u) * n)
        touch.energy_in = level(world, space, slot, run.t, contact)
        space.notes[slot].turnover = scalar(0.0)
        if run.touches > 0:
            off = wp.abs(touch.energy_in - space.notes[slot].energy)
            space.notes[slot].drift = wp.max(space.notes[slot].drift, off)
        speed = wp.max(scalar(0.0), -touch.normal_speed_in)
        if run.touches == 0:
            out.touched = run.t
            space.notes[slot].first_place = touch.place
            space.notes[slot].first_speed = speed
        space.notes[slot].hardest = wp.max(space.notes[slot].hardest, speed)
        space.notes[slot].touch = touch
        if wp.static(tours):
            land(world, run, space, slot)
        out.touching = 1
        out.push = found.force
        out.normal = found.normal
        return out

    @wp.func
    def go_on_touching(
        run: TreeRun, space: TreeSpace, slot: int, h: scalar, before: TreeRun, found: Pressing
    ):
        """``run`` after a step of a contact that began before."""
        out = run
        half = scalar(0.5) * h
        touch = space.notes[slot].touch
        touch.impulse += half * (before.push + found.force)
        touch.normal_impulse += half * (before.normal + found.normal)
        touch.normal_speed_out = wp.dot(touch.normal, out.v)
        touch.tangential_speed_out = wp.length(out.v - touch.normal_speed_out * touch.normal)
        out.push = found.force
        out.normal = found.normal
        if found.count > 0:
            touch.end = out.t
        space.notes[slot].touch = touch
        return out

    @wp.func
    def note_touch(space: TreeSpace, slot: int, found: Pressing):
        """Peaks of the contact under way."""
        touch = space.notes[slot].touch
        touch.peak_force = wp.max(touch.peak_force, found.normal)
        touch.depth = wp.max(touch.depth, found.depth)
        touch.points = wp.max(touch.points, found.count)
        space.notes[slot].touch = touch
        space.notes[slot].peak_force = wp.max(space.notes[slot].peak_force, found.normal)

    @wp.func
    def end_touch(world: World, run: TreeRun, space: TreeSpace, slot: int, contact: HertzData):
        """``run`` after a contact; its record is complete."""
        out = run
        now = level(world, space, slot, run.t, contact)
        more = now - space.notes[slot].touch.energy_in
        space.notes[slot].touch.energy_out = now
        space.notes[slot].energy = now
        fastest = space.peaks[PEAK_SPEED, slot]
        moving = scalar(0.5) * world.mass * fastest * fastest
        pull = wp.length(space.notes[slot].anchor.acceleration)
        potential = world.mass * pull * world.limits.size + space.notes[slot].turnover
        space.notes[slot].gain = wp.max(space.notes[slot].gain, more)
        if gains_energy(more, moving, moving, potential) and not has_failed(out.outcome):
            out.outcome = _GAINED_ENERGY
        out.touches += 1
        out.touching = 0
        if wp.static(tours):
            leave(out, space, slot)
        return out

    @wp.func
    def tilt_of(world: World, run: TreeRun, space: TreeSpace, slot: int, omega: vec3):
        """Angle between the lander's up and the local vertical [rad]; 0 without weight."""
        down = down_at(world, run, space, slot, omega)
        up = wp.quat_rotate(turn_of(space.tree, 0, slot), world.up)
        return wp.atan2(wp.length(wp.cross(up, down)), -wp.dot(up, down))

    @wp.func
    def note_peaks(world: World, run: TreeRun, space: TreeSpace, slot: int, tilt: scalar, w: vec3):
        """Loads through joints, and the largest of everything so far."""
        joint_loads(world.tree, space.tree, slot, space.force, space.moment)
        arm = vector_row(space.tree, 0, ARM, slot)
        a = point_acceleration(space.tree, 0, arm, slot)
        raise_peak(space, PEAK_ACCELERATION, slot, wp.length(a))
        raise_peak(space, PEAK_TILT, slot, tilt)
        raise_peak(space, PEAK_SPEED, slot, wp.length(run.v))
        raise_peak(space, PEAK_RATE, slot, wp.length(w))
        count = world.tree.count
        for i in range(count):
            raise_peak(space, PEAKS + i, slot, wp.length(space.force[i, slot]))
            raise_peak(space, PEAKS + count + i, slot, wp.length(space.moment[i, slot]))
        at = int(PEAKS + 2 * count)
        pads = world.parts.pads.shape[0]
        for i in range(pads):
            state = space.pad_state[i, slot]
            raise_peak(space, at + i, slot, state[2])
        for i in range(world.parts.sloshes.shape[0]):
            angle = swing_angle(world.parts.sloshes[i], space.tree, slot)
            raise_peak(space, at + pads + i, slot, angle)
        at += pads + world.parts.sloshes.shape[0]
        for k in range(world.parts.bellies):
            raise_peak(space, at + k, slot, belly_force(world.parts, space, k, slot))

    @wp.func
    def watch(world: World, run: TreeRun, h: scalar, rate: scalar, found: Pressing):
        """``run`` with the times for which it has been slow, and held by pads that all stick."""
        out = run
        limits = world.limits
        speed = wp.length(run.v)
        slow = found.count > 0 and speed < limits.settle_speed and rate < limits.settle_rate
        out.quiet = wp.where(slow, run.quiet + h, scalar(0.0))
        little = _STILL * HIT * limits.contact_step * found.normal / world.mass
        held = slow and found.sliding == 0 and speed + rate * limits.size < little
        out.still = wp.where(held, run.still + h, scalar(0.0))
        return out

    @wp.func
    def at_rest(world: World, run: TreeRun, found: Pressing):
        """True when it has been held, or slow, for long enough."""
        limits = world.limits
        # A lander on the brink starts to topple no faster than this: look long enough.
        topple = scalar(3.0) * wp.sqrt(limits.size * world.mass / found.normal)
        quiet = run.quiet >= limits.settle_time and run.quiet >= topple
        return quiet or run.still >= _STILL_HITS * HIT * limits.contact_step

    @wp.func
    def end_of(
        world: World, run: TreeRun, space: TreeSpace, slot: int, tilt: scalar, found: Pressing
    ):
        """The outcome as things stand."""
        limits = world.limits
        depth = found.depth
        if not wp.isfinite(run.x) or not wp.isfinite(run.v):
            return _NOT_FINITE
        if depth > limits.sink_depth:
            return _SANK
        if wp.length(run.x) > limits.escape_radius:
            return _ESCAPED
        if tilt > limits.tip_angle and run.touched < NEVER:
            return _TIPPED_OVER
        # Joints may still move, and something be to come. ("and" would ask ``rest`` always.)
        if at_rest(world, run, found):  # noqa: SIM102
            if rest(world, run, space, slot) == _SETTLED:
                return _SETTLED
        if run.t >= limits.max_time:
            return _TIMED_OUT
        return _RUNNING

    @wp.func
    def arrive(
        world: World, run: TreeRun, space: TreeSpace, slot: int, h: scalar, contact: HertzData
    ):
        """``run`` after a step of ``h`` [s] (0 at a start), the tree being placed and solved."""
        now = spin(world.rotation, run.t)
        add_work(space, slot, h)
        out = middle(world, run, space, slot, h, now.rate)
        found = sum_pads(space, slot)
        if found.count > 0:
            out.last = run.t
        if out.touching != 0:
            out = go_on_touching(out, space, slot, h, run, found)
        elif found.count > 0:
            out = begin_touch(world, out, space, slot, now.rate, contact, found)
        if out.touching != 0:
            note_touch(space, slot, found)
        w = vector_row(space.tree, 0, RATE, slot) - now.rate
        tilt = tilt_of(world, out, space, slot, now.rate)
        space.notes[slot].tilt = tilt
        note_peaks(world, out, space, slot, tilt, w)
        out = watch(world, out, h, wp.length(w), found)
        pushed = space.notes[slot].until  # from outside, until then as before
        out.outcome = end_of(world, out, space, slot, tilt, found)
        if wp.static(tours):
            switched = set_tour(world, out, space, slot)
        else:
            switched = set_levels(world.actuators, out, space, slot)
        if wp.static(laws.next is not None):
            switched = switched or out.t >= pushed
        if switched:
            # It may yet move what has been slow so far.
            out.quiet = scalar(0.0)
            out.still = scalar(0.0)
        out.fresh = wp.where(switched, 1, 0)  # slopes jump
        out.until = following(world, out, space, slot)
        out.bound = clear_time(world, space, slot, now.rate)
        return out

    @wp.func
    def account(world: World, run: TreeRun, space: TreeSpace, slot: int, before: int):
        """``run`` without the contact that has ended, if its step was kept."""
        out = run
        pause = run.t - run.last > _PAUSE * world.limits.contact_step
        if kept(run) and run.touching != 0 and (pause or run.outcome != _RUNNING):
            contact = world.contact[space.notes[slot].row]
            out = end_touch(world, run, space, slot, contact)
        return out

    return arrive, account


@wp.func
def put(lines: wp.array2d(dtype=scalar), line: int, at: int, value: vec3) -> int:
    """Write a vector at ``at``; where the next thing goes."""
    lines[line, at] = value[0]
    lines[line, at + 1] = value[1]
    lines[line, at + 2] = value[2]
    return at + 3


@functools.cache
def line_function(parts: TreeComposition) -> Any:
    """The function that writes a line of history, laid out as ``tree_state.line_parts`` says."""
    World: Any = parts.World

    @wp.func
    def write_line(
        world: World,
        run: TreeRun,
        space: TreeSpace,
        slot: int,
        before: int,
        lines: wp.array2d(dtype=scalar),
        line: int,
    ):
        lines[line, 0] = run.t
        lines[line, 1] = run.taken
        lines[line, 2] = scalar(run.order)
        found = sum_pads(space, slot)
        lines[line, 3] = scalar(wp.min(found.count, 1))
        at = int(LINE_HEAD)
        for k in range(space.rows.y.shape[0]):
            lines[line, at] = space.rows.y[k, slot]
            at += 1
        pads = world.parts.pads.shape[0]
        for i in range(pads):
            at = put(lines, line, at, space.pad_force[i, slot])
        for i in range(pads):
            state = space.pad_state[i, slot]
            lines[line, at] = state[2]
            at += 1
        for i in range(world.tree.count):
            turn = turn_of(space.tree, i, slot)
            at = put(lines, line, at, wp.quat_rotate_inv(turn, space.force[i, slot]))
        for i in range(world.tree.count):
            turn = turn_of(space.tree, i, slot)
            at = put(lines, line, at, wp.quat_rotate_inv(turn, space.moment[i, slot]))
        arm = vector_row(space.tree, 0, ARM, slot)
        at = put(lines, line, at, point_acceleration(space.tree, 0, arm, slot))
        at = put(lines, line, at, vector_row(space.tree, 0, TURNING, slot))
        at = put(lines, line, at, run.x)
        at = put(lines, line, at, run.v)
        for i in range(world.actuators.each.shape[0]):
            lines[line, at] = space.level[i, slot]
            at += 1
        for i in range(world.parts.sloshes.shape[0]):
            lines[line, at] = swing_angle(world.parts.sloshes[i], space.tree, slot)
            at += 1

    return write_line

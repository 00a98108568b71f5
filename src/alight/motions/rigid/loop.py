"""Rigid landers under the engine's loop: their phases, and the account that is kept of contacts."""

import functools
from typing import Any

import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar
from alight.core.warp_setup import HULL_OPTIONS, POINT_OPTIONS
from alight.engine.gain import gains_energy, has_failed
from alight.engine.motion import Launch, Loop, Preparation
from alight.gravity.linearised import extrapolate
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.arms import arm_functions
from alight.motions.rigid.drive.kernel import drive_functions
from alight.motions.rigid.drive.laws import DRIVEN, WORK
from alight.motions.rigid.drive.wheels import wheel_functions
from alight.motions.rigid.phases.clipped import watch
from alight.motions.rigid.phases.driven import driven_phase
from alight.motions.rigid.phases.flight import flight_phase
from alight.motions.rigid.state import CONTACT, FLIGHT, Memory, Run
from alight.vehicles.rigid.data import angular_energy, linear_energy

_RUNNING = wp.constant(int(Outcome.RUNNING))
_ESCAPED = wp.constant(int(Outcome.ESCAPED))
_GAINED_ENERGY = wp.constant(int(Outcome.GAINED_ENERGY))

#: Blocks a multiprocessor has room for on a GPU. A kernel of one phase has half the registers a
#: thread could have, for twice the threads that hide each other's waiting; that of all phases is
#: for few runs, which wait for themselves alone.
GPU_BLOCKS_ONE, GPU_BLOCKS_ALL = 8, 4
#: Steps of one launch on a GPU. Threads go in step, and a run that leaves its phase waits for the
#: next launch: fewer than a phase has. (400 000 reference landings on an H200 ended after 23.6 s
#: with 4 and 6, 26.0 s with 8 and 12, 29.2 s with 8 and 24.)
GPU_STEPS = {"gravity": 1, "flight": 4, "contact": 6, "hits": 1, "sustained contact": 5}
#: The same of all phases, where runs that end leave their threads idle.
GPU_STEPS_ALL = 200


@functools.cache
def rigid_loop(parts: Composition) -> Loop:
    """What the kernel of one composition of laws is made from."""
    scheme = parts.laws.scheme
    fly, press = flight_phase(parts), scheme.press(parts)
    ever, gone, account = _accounts(parts)
    World: Any = parts.World
    drives = parts.laws.drive is not None
    if drives:
        fly, press = _acting(parts, _either_flight(parts, fly)), _acting(parts, press)
        ever, gone, account = (_fitted(parts, each) for each in (ever, gone, account))

    @wp.func
    def step(world: World, run: Run, memory: Memory, slot: int):
        """One step of whichever phase the run is in."""
        if run.phase == FLIGHT:
            return fly(world, run, memory, slot)
        return press(world, run, memory, slot)

    def launch(name: str, part: Any, noted: Any, last: int, blocks: int) -> Launch:
        return Launch(name, part, noted, last, GPU_STEPS[name], blocks)

    before = _preparation(parts)
    first = [] if before is None else [_preparing(parts, before)]
    flying = launch("flight", fly, ever, 2, GPU_BLOCKS_ONE)
    if scheme.presses is None:
        touching = [launch("contact", press, gone, 4, GPU_BLOCKS_ONE)]
    else:
        hit, last = scheme.presses(parts)
        if drives:
            hit, last = _acting(parts, hit), _acting(parts, last)
        touching = [
            launch("hits", hit, gone, 3, GPU_BLOCKS_ONE),
            launch("sustained contact", last, gone, 4, GPU_BLOCKS_ALL),
        ]
    following, wake = _switches(parts)
    return Loop(
        World=World,
        Run=Run,
        Memory=Memory,
        whole=Launch(
            "all phases", step, account, gpu_steps=GPU_STEPS_ALL, gpu_blocks=GPU_BLOCKS_ALL
        ),
        told=_told,
        line=_line_function(parts),
        options=HULL_OPTIONS if scheme.hull else POINT_OPTIONS,
        apart=(*first, flying, *touching),
        group=_group,
        groups=5,
        next=following,
        wake=wake,
        before=before,
        waits=parts.laws.drive is not None and bool(parts.laws.drive.hosted),
    )


@functools.cache
def _preparation(parts: Composition) -> Preparation | None:
    """Gravity in full, where it is then extrapolated for many steps."""
    if not parts.laws.before_steps:
        return None
    World: Any = parts.World
    in_reach, evaluate = parts.in_reach, parts.evaluate

    @wp.func
    def prepare(world: World, run: Run, memory: Memory, slot: int):
        out = run
        evaluate(world, out, memory, slot)
        out.due = 0
        return out

    return Preparation(in_reach, prepare)


@functools.cache
def _preparing(parts: Composition, before: Preparation) -> Launch:
    """The launch of what steps need before them."""
    World: Any = parts.World

    @wp.func
    def nothing(world: World, run: Run, memory: Memory, slot: int, was: int):
        return run

    return Launch("gravity", before.prepare, nothing, 0, GPU_STEPS["gravity"], prepares=True)


@functools.cache
def _switches(parts: Composition) -> tuple[Any, Any]:
    """When something switches next, and how a lander at rest continues from there."""
    if parts.laws.drive is not None:
        functions = drive_functions(parts)
        return functions.following, functions.wake
    if parts.laws.next is None:
        return None, None
    World: Any = parts.World
    external_next = parts.laws.next

    @wp.func
    def following(world: World, run: Run, memory: Memory, slot: int):
        return wp.min(world.limits.max_time, external_next(world.external, run.t))

    @wp.func
    def wake(world: World, run: Run, memory: Memory, slot: int):
        out = run
        if run.until < world.limits.max_time:
            out.t = run.until
            out.outcome = _RUNNING
            out.quiet = scalar(0.0)
            out.still = 0
            watch(out, memory, slot)
        return out

    return following, wake


@functools.cache
def _either_flight(parts: Composition, fly: Any) -> Any:
    """A step of flight: free, in closed form, or driven."""
    World: Any = parts.World
    drive = driven_phase(parts)

    @wp.func
    def fly_either(world: World, run: Run, memory: Memory, slot: int):
        if memory.drives[DRIVEN, slot] != scalar(0.0):
            return drive(world, run, memory, slot)
        return fly(world, run, memory, slot)

    return fly_either


@functools.cache
def _acting(parts: Composition, step: Any) -> Any:
    """``step`` with actuators at work."""
    World: Any = parts.World
    functions = drive_functions(parts)
    begin, fitted, longest = functions.begin, functions.fitted, functions.longest
    end = functions.end
    swings: Any = arm_functions(parts) if parts.laws.drive and parts.laws.drive.arms else None
    to_centre, to_origin = getattr(swings, "to_centre", None), getattr(swings, "to_origin", None)
    arms = swings is not None

    @wp.func
    def act(world: World, run: Run, memory: Memory, slot: int):
        start = begin(world, run, memory, slot)
        here = fitted(world, start, memory, slot)
        start.until = wp.min(run.until, start.t + longest(here, start, memory, slot))
        moved = start
        if wp.static(arms):  # noqa: SIM102
            if start.phase == CONTACT:
                moved = to_centre(here, start)
        out = step(here, moved, memory, slot)
        if wp.static(arms):  # noqa: SIM102
            if start.phase == CONTACT:
                out = to_origin(here, out)
        out.until = run.until
        return end(here, start, out, memory, slot)

    return act


@functools.cache
def _fitted(parts: Composition, account: Any) -> Any:
    """``account`` in the world of what is free and what is held."""
    World: Any = parts.World
    fitted = drive_functions(parts).fitted
    arms = parts.laws.drive is not None and parts.laws.drive.arms > 0

    @wp.func
    def fitted_account(world: World, run: Run, memory: Memory, slot: int, before: int):
        here = fitted(world, run, memory, slot)
        if wp.static(arms):
            # Energy is that of the centre of mass, which arms move in the body.
            inner = here.drive.shift_rate + wp.cross(run.w, here.body.shift)
            at = run
            at.x = run.x + wp.quat_rotate(run.q, here.body.shift)
            at.v = run.v + wp.quat_rotate(run.q, inner)
            out = account(here, at, memory, slot, before)
            inner = here.drive.shift_rate + wp.cross(out.w, here.body.shift)
            out.v = out.v - wp.quat_rotate(run.q, inner)
            out.x = run.x
            return out
        else:
            return account(here, run, memory, slot, before)

    return fitted_account


@wp.func
def _group(run: Run):
    """What needs gravity (0), flight far from the ground and close to it, hits, contact that
    lasts."""
    if run.due != 0:
        return 0
    if run.phase == FLIGHT:
        return 1 + run.near
    return 3 + run.lasting


@wp.func
def _told(run: Run, before: int):
    """Where flight hands over to contact nothing has moved yet; all else is a line."""
    return before != FLIGHT or run.phase == FLIGHT


@functools.cache
def _line_function(parts: Composition) -> Any:
    World: Any = parts.World
    drives = parts.laws.drive is not None
    wheels = parts.laws.drive.wheels if parts.laws.drive else 0
    arms = parts.laws.drive.arms if parts.laws.drive else 0
    spin = parts.laws.spin
    own: Any = wheel_functions(parts) if drives else None
    is_free, seen = getattr(own, "is_free", None), getattr(own, "seen", None)
    arm_state = arm_functions(parts).state if drives else None

    @wp.func
    def line(
        world: World,
        run: Run,
        memory: Memory,
        slot: int,
        before: int,
        lines: wp.array2d(dtype=scalar),
        row: int,
    ):
        """The state after a step of the phase ``before``, laid out as ``run.Row``."""
        lines[row, 0] = run.t
        for i in range(3):
            lines[row, 1 + i] = run.x[i]
            lines[row, 4 + i] = run.v[i]
            lines[row, 11 + i] = run.w[i]
        for i in range(4):
            lines[row, 7 + i] = run.q[i]
        lines[row, 14] = scalar(before)
        lines[row, 15] = run.force
        lines[row, 16] = run.elastic
        if wp.static(drives):
            lines[row, 17] = memory.drives[DRIVEN, slot]
            lines[row, 18] = memory.drives[WORK, slot]
            now = spin(world.rotation, run.t)
            star = run.w + wp.quat_rotate_inv(run.q, now.rate)
            for i in range(wp.static(wheels)):
                speed = scalar(0.0)
                if is_free(memory, slot, i):
                    speed = seen(world, memory, slot, i, star).speed
                lines[row, 19 + i] = speed
            for i in range(wp.static(arms)):
                arm = arm_state(memory, slot, i)
                lines[row, wp.static(19 + wheels) + 2 * i] = arm.angle
                lines[row, wp.static(20 + wheels) + 2 * i] = arm.rate

    return line


@functools.cache
def _accounts(parts: Composition) -> tuple[Any, Any, Any]:
    """What is noted after a step of flight, of contact, and of either."""
    World: Any = parts.World
    energy, anchor = parts.energy, parts.anchor
    drives = parts.laws.drive is not None

    @wp.func
    def level(world: World, run: Run, memory: Memory, slot: int):
        """E_J [J] with gravity extrapolated from its anchor."""
        value = extrapolate(memory.notes[slot].anchor, run.x - memory.notes[slot].anchor_x)
        found = energy(world, run, value)
        if wp.static(drives):
            # Less what actuators have done: so it is constant in flight, and never rises.
            return found.total - world.drive.work
        return found.total

    @wp.func
    def kinetic(world: World, run: Run):
        """Kinetic energy relative to the target [J]."""
        return linear_energy(world.body, run.v) + angular_energy(world.body, run.w)

    @wp.func
    def releasable(world: World, memory: Memory, slot: int, now: scalar, moving: scalar):
        """What gravity does over the lander's size [J]; all of it where E_J changes with time."""
        pull = wp.length(memory.notes[slot].anchor.acceleration)
        weight = world.body.mass * pull * world.body.bounding_radius
        if wp.static(not parts.laws.steady):
            weight += wp.abs(now - moving)
        return weight

    @wp.func
    def begin_contact(world: World, run: Run, memory: Memory, slot: int):
        """Account for the arc of flight that ends here."""
        anchor(world, run, memory, slot)
        now = level(world, run, memory, slot)
        if run.touches > 0:
            off = wp.abs(now - memory.notes[slot].energy)
            memory.notes[slot].drift = wp.max(memory.notes[slot].drift, off)
        memory.notes[slot].energy = now
        memory.notes[slot].moving = kinetic(world, run)

    @wp.func
    def end_contact(world: World, run: Run, memory: Memory, slot: int):
        """Account for the contact that ends here; ``run`` without what it gained."""
        out = run
        notes = memory.notes[slot]
        now = level(world, out, memory, slot)
        more = now - notes.energy
        moving = kinetic(world, out)
        potential = releasable(world, memory, slot, now, moving)
        if gains_energy(more, notes.moving, moving, potential) and not has_failed(out.outcome):
            out.outcome = _GAINED_ENERGY
        if wp.static(not parts.laws.steady):
            more = scalar(0.0)
        if more > scalar(0.0) and more < moving:
            # Steps of finite length may return a little more than came in: it is not given away.
            slow = wp.sqrt(scalar(1.0) - more / moving)
            notes.touch.impulse += (slow - scalar(1.0)) * world.body.mass * out.v
            out.v = slow * out.v
            out.w = slow * out.w
            now = notes.energy
        notes.touch.energy_out = now
        notes.gain = wp.max(notes.gain, more)
        notes.energy = now
        touch = notes.touch
        told = bool(True)
        if wp.static(parts.laws.scheme.hits and not parts.laws.scheme.rigid):
            # A point on its way out that grazed the ground, and was pushed by nothing to speak of.
            told = touch.normal_speed_in <= scalar(0.0) or touch.depth > scalar(0.0)
        speed = wp.max(scalar(0.0), -touch.normal_speed_in)
        if told and out.touches == 0:
            notes.first_time = notes.touch.start
            notes.first_place = notes.touch.place
            notes.first_speed = speed
        notes.hardest = wp.max(notes.hardest, speed)
        notes.peak_force = wp.max(notes.peak_force, notes.touch.peak_force)
        memory.notes[slot] = notes
        out.touches += int(told)
        out.touching = 0
        out.force = scalar(0.0)
        return out

    @wp.func
    def after_flight(world: World, run: Run, memory: Memory, slot: int, before: int):
        if run.phase == CONTACT:
            begin_contact(world, run, memory, slot)
        return run

    @wp.func
    def after_contact(world: World, run: Run, memory: Memory, slot: int, before: int):
        out = run
        if run.outcome == _RUNNING and wp.length(run.x) > world.limits.escape_radius:
            out.outcome = _ESCAPED
        left = out.outcome != _RUNNING or run.phase != before
        if left and run.touching != 0:
            out = end_contact(world, out, memory, slot)
        return out

    @wp.func
    def after_either(world: World, run: Run, memory: Memory, slot: int, before: int):
        if before == FLIGHT:
            return after_flight(world, run, memory, slot, before)
        return after_contact(world, run, memory, slot, before)

    return after_flight, after_contact, after_either

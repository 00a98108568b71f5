"""The record of a contact under way: how it begins, and what each step adds to it."""

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.rolling_resistance import tangential
from alight.contact.state import Pressed
from alight.core.types import scalar, vec3
from alight.engine.records import Touch
from alight.motions.rigid.state import Memory, Run


@wp.func
def begin_touch(
    run: Run, memory: Memory, slot: int, place: vec3, n: vec3, lever: vec3, start: Motion
):
    """``run`` at the first push of a contact at ``place`` [m], ``n`` the normal there."""
    out = run
    out.touching = 1
    out.hit = run.t
    touch = Touch()
    touch.run = memory.notes[slot].number
    touch.start = run.t
    touch.energy_in = memory.notes[slot].energy
    memory.notes[slot].touch = met(touch, place, n, lever, start)
    return out


@wp.func
def met(touch: Touch, place: vec3, n: vec3, lever: vec3, start: Motion):
    """``touch`` with where and how fast the lander meets the ground."""
    out = touch
    came = start.v + wp.cross(start.w, lever)
    out.place = place
    out.normal = n
    out.normal_speed_in = wp.dot(n, came)
    out.tangential_speed_in = wp.length(tangential(n, came))
    return out


@wp.func
def grazed(touch: Touch, n: vec3, lever: vec3, start: Motion):
    """True where a contact began with a point on its way out, which grazed the ground, and one that
    comes in follows: that one is the hit to tell of."""
    came = start.v + wp.cross(start.w, lever)
    return touch.normal_speed_in > scalar(0.0) and wp.dot(n, came) < scalar(0.0)


@wp.func
def note_push(
    run: Run,
    memory: Memory,
    slot: int,
    n: vec3,
    lever: vec3,
    start: Motion,
    end: Motion,
    weight: scalar,
    impulse: vec3,
    sums: Pressed,
    dt: scalar,
):
    """``run`` after a step in which the ground pushed by ``weight`` [N s] along ``n``.

    ``impulse`` [N s] is all that the ground gave. ``turning`` is how long it will be, at this pace,
    until the point no longer goes in.
    """
    out = run
    went = end.v + wp.cross(end.w, lever)
    closing = wp.dot(n, went)
    pace = closing - wp.dot(n, start.v + wp.cross(start.w, lever))
    out.turning = scalar(1e30)
    if closing < scalar(0.0) and pace > scalar(0.0):
        out.turning = -closing * dt / pace
    out.force = weight / dt
    memory.notes[slot].touch.end = run.t + dt
    memory.notes[slot].touch.normal_speed_out = closing
    memory.notes[slot].touch.tangential_speed_out = wp.length(tangential(n, went))
    memory.notes[slot].touch.impulse += impulse
    memory.notes[slot].touch.normal_impulse += weight
    touch = memory.notes[slot].touch
    memory.notes[slot].touch.peak_force = wp.max(touch.peak_force, out.force)
    memory.notes[slot].touch.depth = wp.max(touch.depth, sums.depth)
    memory.notes[slot].touch.points = wp.max(touch.points, sums.active)
    return out

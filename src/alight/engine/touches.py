"""The record of a contact under way: how it begins, and what each step adds to it."""

import warp as wp

from alight.contact.clipped import Motion
from alight.contact.grip import sideways
from alight.core.types import scalar, vec3
from alight.engine.run import Run, Touch


@wp.func
def begin_touch(run: Run, place: vec3, n: vec3, lever: vec3, start: Motion):
    """``run`` at the first push of a contact at ``place`` [m], ``n`` the normal there."""
    out = run
    came = start.v + wp.cross(start.w, lever)
    out.touching = 1
    out.hit = run.t
    out.touch = Touch()
    out.touch.run = run.number
    out.touch.start = run.t
    out.touch.place = place
    out.touch.normal = n
    out.touch.normal_speed_in = wp.dot(n, came)
    out.touch.tangential_speed_in = wp.length(sideways(n, came))
    out.touch.energy_in = run.energy
    return out


@wp.func
def note_push(
    run: Run,
    n: vec3,
    lever: vec3,
    start: Motion,
    end: Motion,
    weight: scalar,
    impulse: vec3,
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
    out.touch.end = run.t + dt
    out.touch.normal_speed_out = closing
    out.touch.tangential_speed_out = wp.length(sideways(n, went))
    out.touch.impulse += impulse
    out.touch.normal_impulse += weight
    out.touch.peak_force = wp.max(out.touch.peak_force, out.force)
    return out

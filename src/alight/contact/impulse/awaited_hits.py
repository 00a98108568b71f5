"""Contacts on their way to a hit, in sustained contact: which they are, and when they touch.

A lander that rocks stands on one corner while the next one comes down. That one must be hit at
once, the moment it touches: then the old one is free to rise, and what is left of the motion is
what keeps the angular momentum about the new corner (Housner 1963). Were it braked over some steps,
the old corner would come down again meanwhile and brake the lander too. So whatever comes from
above is left alone by what holds, a step ends where the next of them touches, and the hit follows.

Contacts that were held, and those that could not come faster than ``least`` [m/s] if they fell from
where they are, are no hits: they are held.
"""

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.hull.contact_list import HullContact
from alight.contact.impulse.contact_solver import AWAITED, HeldContact, separation, swing
from alight.core.types import scalar, vec3

_AWAITED = wp.constant(AWAITED)
#: A time that does not come [s].
_NEVER = wp.constant(scalar(1e30))


@wp.struct
class Coming:
    """What comes next, after a step."""

    time: scalar  # from the end of the step to the next touch [s]
    missed: scalar  # length of a step that would have ended at the first touch that it missed [s]
    due: int  # 1 where a hit is to follow at once


@wp.func
def comes_from_above(gap: scalar, u: scalar, g: scalar, least: scalar):
    """Whether a contact that separates with ``u`` [m/s] may close faster than ``least`` [m/s]."""
    return gap > scalar(0.0) and u * u + scalar(2.0) * g * gap > least * least


@wp.func
def await_hits(
    found: wp.array2d(dtype=HullContact),
    held: wp.array2d(dtype=HeldContact),
    count: int,
    slot: int,
    x: vec3,
    start: Motion,
    g: scalar,
    least: scalar,
):
    """Leave alone what did not hold in the last step and comes from above.

    ``start`` is the motion before the pulls of the step. What is below 0 is always held.
    """
    for k in range(count):
        point = found[k, slot]
        new = held[k, slot]
        u = separation(start, point.normal, point.point - x)
        idle = wp.dot(point.normal, new.impulse) == scalar(0.0)
        if idle and comes_from_above(point.gap, u, g, least):
            new.stuck = _AWAITED
            new.impulse = vec3()
            held[k, slot] = new


@wp.func
def time_to_touch(gap: scalar, u: scalar, a: scalar):
    """When gap + u t + a t^2/2 [m] goes through 0 on its way down [s], from now on."""
    square = u * u - scalar(2.0) * a * gap
    found = _NEVER
    if gap <= scalar(0.0) and u < scalar(0.0):
        found = scalar(0.0)
    elif square >= scalar(0.0):
        if u < scalar(0.0):
            found = scalar(2.0) * gap / (wp.sqrt(square) - u)
        elif a < scalar(0.0):
            found = (u + wp.sqrt(square)) / -a
    return found


@wp.func
def next_touch(
    found: wp.array2d(dtype=HullContact),
    held: wp.array2d(dtype=HeldContact),
    count: int,
    slot: int,
    x: vec3,
    start: Motion,
    m: Motion,
    dt: scalar,
    near: scalar,
    least: scalar,
):
    """What comes after a step of ``dt`` [s] in whose middle the contacts were found.

    ``m`` is the motion in its second half, and what changed ``start`` to it is taken to go on. Gaps
    of up to ``near`` [m], to either side of 0, are closed.
    """
    half = scalar(0.5) * dt
    pulled = Motion()
    pulled.v = (m.v - start.v) / dt
    pulled.w = (m.w - start.w) / dt
    out = Coming()
    out.time = _NEVER
    out.missed = _NEVER
    for k in range(count):
        if held[k, slot].stuck == _AWAITED:
            point = found[k, slot]
            lever = point.point - x
            turned = swing(m, x, point)
            before = separation(m, point.normal, lever)
            u = before + half * turned
            gap = point.gap + scalar(0.5) * half * (before + u)
            a = separation(pulled, point.normal, lever) + turned
            if gap < -near:
                out.missed = wp.min(out.missed, half + half * point.gap / (point.gap - gap))
            if gap <= near and u < -least:
                out.due = 1
            out.time = wp.min(out.time, time_to_touch(gap, u, a))
    if out.due > 0:
        out.time = scalar(0.0)
    return out


@wp.func
def touch_after_hits(
    found: wp.array2d(dtype=HullContact),
    count: int,
    slot: int,
    x: vec3,
    m: Motion,
    pull: vec3,
    near: scalar,
    least: scalar,
):
    """Time [s] to the next touch after hits, if nothing but ``pull`` [m/s^2] acts."""
    soonest = _NEVER
    for k in range(count):
        point = found[k, slot]
        u = separation(m, point.normal, point.point - x)
        if point.gap > near or u > least:
            a = wp.dot(point.normal, pull) + swing(m, x, point)
            soonest = wp.min(soonest, time_to_touch(point.gap, u, a))
    return soonest

"""A collision under way: compression, restitution, and the pieces of it that are in closed form.

Scaled as in ``impact_slip``: masses over m33, speeds over the closing speed.
"""

import warp as wp

from alight.contact.impulse.impact_slip import (
    Arc,
    Bearing,
    ContactInertia,
    resumed,
    solve_tangential,
)
from alight.core.types import scalar, vec2

SLID = wp.constant(1)
SWERVED = wp.constant(2)
HALTED = wp.constant(4)
STUCK = wp.constant(8)
RESUMED = wp.constant(16)
JAMMED = wp.constant(32)
RECOMPRESSED = wp.constant(64)
UNRESOLVED = wp.constant(128)

#: Far more pieces of a hodograph than any collision has had (see docs/explanation/impact.md).

_ENDLESS = wp.constant(scalar(1e300))


@wp.struct
class Hit:
    """A collision under way, scaled."""

    v: vec2  # slip
    rise: scalar  # v3
    drag: vec2  # tangential impulse so far
    push: scalar  # normal impulse so far
    pressed: scalar  # its part in compression
    taken: scalar  # minus the work of the normal force in compression
    given: scalar  # its work in restitution
    rubbed: scalar  # work of friction
    closing: bool  # in compression
    tried: bool  # slip does not die before this phase ends
    done: bool
    flags: int


@wp.func
def rise_after(body: ContactInertia, hit: Hit, arc: Arc):
    """v3 at the end of an arc."""
    return hit.rise + wp.dot(body.b, arc.drag) + arc.push


@wp.func
def work_over(body: ContactInertia, hit: Hit, arc: Arc):
    """Work of the normal force over an arc: the integral of v3 dp.

    v3 is linear in the impulses, and by parts b . int P dp = v.P + P.A P / 2 + p b.P + mu int s dp.
    """
    bend = scalar(0.5) * wp.dot(arc.drag, body.A * arc.drag)
    straight = (hit.rise + scalar(0.5) * arc.push + wp.dot(body.b, arc.drag)) * arc.push
    return straight + bend + arc.lag


@wp.func
def passed(body: ContactInertia, hit: Hit, arc: Arc):
    """The slip at the end of an arc."""
    return hit.v + arc.push * body.b + body.A * arc.drag


@wp.func
def along(body: ContactInertia, hit: Hit, arc: Arc):
    """``hit`` at the end of an arc that lies in one phase."""
    work = work_over(body, hit, arc)
    hit.rubbed += wp.dot(hit.v, arc.drag) - arc.lag
    rise = rise_after(body, hit, arc)
    hit.v = passed(body, hit, arc)
    hit.rise = rise
    hit.push += arc.push
    hit.drag += arc.drag
    if hit.closing:
        hit.taken -= work
        hit.pressed += arc.push
    else:
        hit.given += work
    return hit


@wp.func
def lifting(body: ContactInertia, v: vec2):
    """s dv3/dp: negative where the contact jams."""
    return wp.length(v) - body.friction * wp.dot(body.b, v)


@wp.func
def aside(body: ContactInertia, v: vec2):
    """On which side of b the slip is; dv3/dp is least where it changes, along b."""
    return body.b[0] * v[1] - body.b[1] * v[0]


# -- straight pieces ---------------------------------------------------------------------------


@wp.func
def moved(body: ContactInertia, hit: Hit, pull: vec2, lift: scalar, p: scalar):
    """``hit`` after the normal impulse p, with dP_t/dp = ``pull`` and dv3/dp = ``lift``."""
    change = body.b + body.A * pull
    half = scalar(0.5) * p
    work = p * (hit.rise + half * lift)
    hit.rubbed += p * wp.dot(pull, hit.v + half * change)
    hit.v += p * change
    hit.rise += p * lift
    hit.drag += p * pull
    hit.push += p
    if hit.closing:
        hit.pressed += p
        hit.taken -= work
    else:
        hit.given += work
    return hit


@wp.func
def straight(body: ContactInertia, hit: Hit, pull: vec2, lift: scalar, left: scalar):
    """Go on by ``left`` at most, with dP_t/dp and dv3/dp constant: v3 linear, works quadratic."""
    zero = scalar(0.0)
    if lift < zero:
        hit.flags = hit.flags | JAMMED
    while left > zero and not hit.done:
        p = left
        turned = bool(False)
        if hit.closing:
            if hit.rise + lift * left >= zero:
                p = -hit.rise / lift
                turned = True
        else:
            need = body.keep * hit.taken - hit.given
            square = hit.rise * hit.rise + scalar(2.0) * lift * need
            if square < zero:
                # Jamming: v3 would fall back to 0 before the stop rule is met.
                p = wp.min(left, -hit.rise / lift)
                turned = p < left
            else:
                speed = hit.rise + wp.sqrt(square)
                end = zero
                if need > zero:
                    end = scalar(2.0) * need / speed
                hit.done = end <= left
                p = wp.min(left, end)
        hit = moved(body, hit, pull, lift, p)
        left -= p
        if turned:
            hit = turn(body, hit)
    return hit


@wp.func
def turn(body: ContactInertia, hit: Hit):
    """At v3 = 0: from compression to restitution, or back where the contact jams."""
    hit.rise = scalar(0.0)
    if hit.closing:
        hit.done = hit.given >= body.keep * hit.taken
    else:
        hit.flags = hit.flags | RECOMPRESSED
    hit.closing = not hit.closing
    hit.tried = False
    return hit


@wp.func
def without_slip(body: ContactInertia, hit: Hit):
    """From s = 0 to the end: stick where mu reaches mu-bar, else slip again (section 5.4)."""
    hold = solve_tangential(body, body.b)
    if wp.length(hold) <= body.friction:
        hit.v = vec2(scalar(0.0), scalar(0.0))
        hit.flags = hit.flags | STUCK
        # 1 - b.A^-1 b = det(m*) / gamma: positive, so sticking ends every compression (000-16).
        lift = scalar(1.0) - wp.dot(body.b, hold)
        rubbed = hit.rubbed
        hit = straight(body, hit, -hold, lift, _ENDLESS)
        # Exactly: rounding is no slip, and no work.
        hit.v = vec2(scalar(0.0), scalar(0.0))
        hit.rubbed = rubbed
        return hit
    course = resumed(body)
    if (hit.flags & SLID) != 0:
        hit.flags = hit.flags | RESUMED
    hit.flags = hit.flags | SLID
    lift = scalar(1.0) - body.friction * wp.dot(body.b, course)
    return straight(body, hit, -body.friction * course, lift, _ENDLESS)


@wp.func
def straight_along(body: ContactInertia, hit: Hit, at: Bearing):
    """Slip in one direction, to s = 0 if nothing ends before."""
    pull = -body.friction * at.e
    push = _ENDLESS
    if at.along < scalar(0.0):
        push = -at.speed / at.along
    hit = straight(body, hit, pull, scalar(1.0) + wp.dot(body.b, pull), push)
    if push < _ENDLESS and not hit.done:
        hit.v = vec2(scalar(0.0), scalar(0.0))
    return hit

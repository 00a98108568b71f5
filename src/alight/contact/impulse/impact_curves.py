"""The curved pieces of a hodograph: by Taylor series, and at once where slip dies.

The ends of compression and restitution are roots of the series itself, found to rounding.
"""

import warp as wp

from alight.contact.impulse.impact_phases import (
    JAMMED,
    SWERVED,
    Hit,
    along,
    aside,
    lifting,
    passed,
    rise_after,
    turn,
    work_over,
)
from alight.contact.impulse.impact_slip import (
    Arc,
    Bearing,
    ContactInertia,
    Series,
    arc_to,
    ending,
    pace,
    series_of,
    solve_tangential,
)
from alight.core.types import scalar, vec2

#: Part of the speed scale that may be lost where the rest of a curve into s = 0 is taken at once.
_CLOSE = wp.constant(scalar(1e-13))


# -- into s = 0 --------------------------------------------------------------------------------


@wp.func
def even_lift(body: ContactInertia, one: vec2, other: vec2):
    """True where dv3/dp keeps its sign between two directions."""
    if body.friction * wp.length(body.b) < scalar(1.0):
        return True
    same = lifting(body, one) * lifting(body, other) > scalar(0.0)
    return same and aside(body, one) * aside(body, other) > scalar(0.0)


@wp.func
def jumped(body: ContactInertia, hit: Hit, at: Bearing, end: Bearing):
    """``hit`` when s = 0 is reached in the direction ``end``, or as it is if that is too early.

    Only if neither compression nor restitution ends on the way: of what is between the ends the
    integrals alone are known.
    """
    if not (end.along < scalar(0.0) and even_lift(body, at.e, end.e)):
        hit.tried = True
        return hit
    rest = ending(body, at, end)
    if not rest.error <= _CLOSE * body.size:
        return hit
    arc = Arc()
    arc.push = rest.push
    arc.drag = -solve_tangential(body, hit.v + rest.push * body.b)
    rubbed = -body.friction * rest.slide
    arc.lag = wp.dot(hit.v, arc.drag) - rubbed
    rise = rise_after(body, hit, arc)
    work = work_over(body, hit, arc)
    hit.tried = True
    if (hit.closing and rise >= scalar(0.0)) or (
        not hit.closing and (rise < scalar(0.0) or hit.given + work >= body.keep * hit.taken)
    ):
        return hit
    if lifting(body, end.e) < scalar(0.0):
        hit.flags = hit.flags | JAMMED
    hit.flags = hit.flags | SWERVED
    hit = along(body, hit, arc)
    hit.v = vec2(scalar(0.0), scalar(0.0))
    return hit


# -- step by step ------------------------------------------------------------------------------


@wp.func
def closing_root(body: ContactInertia, hit: Hit, at: Bearing, s: Series, low: scalar, high: scalar):
    """Where v3 = 0 between ``low`` and ``high``, at which it has different signs."""
    zero = scalar(0.0)
    sign = wp.where(hit.closing, scalar(1.0), scalar(-1.0))
    blown = scalar(0.5) * (low + high)
    i = int(0)
    while i < 60:
        arc = arc_to(body, at, s, blown)
        rise = rise_after(body, hit, arc)
        if sign * rise < zero:
            low = blown
        else:
            high = blown
        v = passed(body, hit, arc)
        slope = lifting(body, v) * pace(body, s, blown)
        next = blown - rise / slope
        # Not (a and b): a slope of 0 gives no number, and then halving is what is left.
        if not (next >= low and next <= high):
            next = scalar(0.5) * (low + high)
        i += 1
        if wp.abs(next - blown) <= scalar(4e-16) * high:
            i = 60
        blown = next
    return blown


@wp.func
def leaving_root(
    body: ContactInertia,
    hit: Hit,
    at: Bearing,
    s: Series,
    low: scalar,
    high: scalar,
    target: scalar,
):
    """Where the work over the arc is ``target`` + its value at ``low``, v3 being positive between.

    Newton's rule on the square root of the work, which is nearly linear in tau from v3 = 0 on.
    """
    begun = scalar(0.0)
    if low > scalar(0.0):
        begun = work_over(body, hit, arc_to(body, at, s, low))
    wanted = wp.sqrt(target)
    blown = high
    i = int(0)
    while i < 60:
        arc = arc_to(body, at, s, blown)
        work = wp.max(scalar(0.0), work_over(body, hit, arc) - begun)
        root = wp.sqrt(work)
        if root < wanted:
            low = blown
        else:
            high = blown
        speed = (
            wp.length(passed(body, hit, arc)) * rise_after(body, hit, arc) * pace(body, s, blown)
        )
        next = blown - scalar(2.0) * root * (root - wanted) / speed
        if not (next >= low and next <= high):
            next = scalar(0.5) * (low + high)
        i += 1
        if wp.abs(next - blown) <= scalar(4e-16) * high:
            i = 60
        blown = next
    return blown


@wp.func
def steady_to(body: ContactInertia, hit: Hit, at: Bearing, s: Series):
    """The step of the series, cut so that dv3/dp goes one way and keeps its sign.

    Then v3 has one root in the step at most. Only bodies that can jam at all need this.
    """
    high = s.step
    first = lifting(body, hit.v)
    side = aside(body, hit.v)
    v = passed(body, hit, arc_to(body, at, s, high))
    for what in range(2):
        begin = side
        end = aside(body, v)
        if what == 1:
            begin = first
            end = lifting(body, v)
        if begin * end < scalar(0.0):
            low = scalar(0.0)
            cut = high
            i = int(0)
            while i < 50:
                middle = scalar(0.5) * (low + cut)
                u = passed(body, hit, arc_to(body, at, s, middle))
                now = aside(body, u)
                if what == 1:
                    now = lifting(body, u)
                if begin * now > scalar(0.0):
                    low = middle
                else:
                    cut = middle
                i += 1
            # A step that begins at such a place sees it again by rounding: nothing to cut.
            if cut > scalar(1e-8) * high:
                high = cut
                v = passed(body, hit, arc_to(body, at, s, high))
    return high


@wp.func
def curved(body: ContactInertia, hit: Hit, at: Bearing):
    """One step by Taylor series, or less where the collision ends or falls back within it."""
    zero = scalar(0.0)
    hit.flags = hit.flags | SWERVED
    s = series_of(body, at)
    high = s.step
    if body.friction * wp.length(body.b) > scalar(1.0):
        high = steady_to(body, hit, at, s)
        if lifting(body, hit.v) < zero:
            hit.flags = hit.flags | JAMMED
    arc = arc_to(body, at, s, high)
    rise = rise_after(body, hit, arc)
    low = zero
    need = body.keep * hit.taken - hit.given
    pressed = zero
    begun = zero
    if hit.closing:
        if rise < zero:
            return along(body, hit, arc)
        low = closing_root(body, hit, at, s, zero, high)
        turned = arc_to(body, at, s, low)
        begun = work_over(body, hit, turned)
        pressed = turned.push
        need = body.keep * (hit.taken - begun) - hit.given
        if need <= zero:
            hit = along(body, hit, turned)
            hit.rise = zero
            hit.done = True
            return hit
    elif rise < zero:
        # Jamming: v3 falls back to 0, unless the stop rule is met before.
        high = closing_root(body, hit, at, s, zero, high)
        arc = arc_to(body, at, s, high)
        if work_over(body, hit, arc) < need:
            return turn(body, along(body, hit, arc))
    ends = work_over(body, hit, arc) - begun >= need
    if ends:
        high = leaving_root(body, hit, at, s, low, high, need)
        arc = arc_to(body, at, s, high)
    hit.pressed += pressed
    hit.taken -= begun
    hit.given -= begun
    if hit.closing:
        hit.tried = False
    hit.closing = False
    hit = along(body, hit, arc)
    hit.done = ends
    return hit

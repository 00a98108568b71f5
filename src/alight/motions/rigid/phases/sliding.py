"""The contact phase of a point on a smooth surface (paper 001): it bounces, or slides.

Flight ends where the gap has closed. A bounce takes no time: if it rises by ``hop``, the point
flies again (paper 001, equations 30 and 31). Else it keeps to the ground, and ``slide_step``
carries it to its stop or to where the ground falls away under it. One stay on the ground is one
contact.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.compliant.clipped_springs import Motion
from alight.contact.sliding.kernel import bounced, carried
from alight.contact.time_to_contact.bounds import open_time
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.engine.time_to_ground import time_to_travel
from alight.motions.rigid.composition import Composition, Scheme
from alight.motions.rigid.contact_notes import begin_touch
from alight.motions.rigid.phases.clearance import Clearance
from alight.motions.rigid.phases.slide_step import enter, law_function, slide_function
from alight.motions.rigid.state import FLIGHT, Memory, Run
from alight.surfaces import Surface
from alight.vehicles import RigidLander
from alight.vehicles.rigid.data import RigidBody

#: A gap of this share of the distance from the origin (or of the lander's radius) is closed: it is
#: rounding.
_ROUNDING = wp.constant(scalar(2e-14))
_END = wp.constant(scalar(1e-13))
#: An arc that does not come back: ground this far below [shares of the distance], gravity as round
#: as this, and kinetic energy over what holds it; and what tells it from contact.
_FAR = wp.constant(scalar(0.9))
_ROUND = wp.constant(scalar(0.25))
_FREE = wp.constant(scalar(1.25))
_LEFT = wp.constant(2)
_ESCAPED = wp.constant(int(Outcome.ESCAPED))
#: Closing speeds below this share of the speed are no hit: the point is put down.
_PUT_DOWN = wp.constant(scalar(1e-9))


@wp.func
def closed(body: RigidBody, x: vec3):
    """The gap [m] at ``x`` that counts as none."""
    return wp.max(_END * body.bounding_radius, _ROUNDING * wp.length(x))


@functools.cache
def leaving_function(parts: Composition) -> Any:
    """The function ``(world, run) -> bool``: True on an arc that does not come back.

    Far out, where the body below takes up a tenth of the distance or less and gravity is that of a
    point mass to a quarter, going outwards, with a kinetic energy in inertial axes of 5/4 of what
    holds it. An irregular body that turns can take a few hundredths of that back at such distances
    (they fall with the square of radius over distance), not a fifth.
    """
    World, laws = parts.World, parts.laws
    surface_point, gravity, spin = laws.surface_point, laws.gravity_flight, laws.spin

    @wp.func
    def leaving(world: World, run: Run):
        far = wp.length(run.x)
        now = spin(world.rotation, run.t)
        v = run.v + wp.cross(now.rate, run.x)
        if wp.dot(run.x, v) <= scalar(0.0):
            return bool(False)
        below = surface_point(world.surface, run.x)
        if below.distance < _FAR * far:
            return bool(False)
        value = gravity(world.gravity, run.x)
        held = value.potential
        off = wp.abs(wp.length(value.acceleration) * far - held)
        return off < _ROUND * held and scalar(0.5) * wp.dot(v, v) > _FREE * held

    return leaving


@functools.cache
def arrive_sliding(parts: Composition, central: bool) -> Any:
    """The function ``(world, run, memory, slot, closing, g) -> run``: the shortest flight step.

    Flight has no way to end an arc that does not come back; it hands it over instead.
    """
    World, leaving = parts.World, leaving_function(parts)

    @wp.func
    def arrive(world: World, run: Run, memory: Memory, slot: int, closing: scalar, g: scalar):
        out = run
        gap = closed(world.body, run.x)
        out.dt = gap / (wp.length(run.v) + wp.sqrt(g * gap))
        out.lasting = 0
        out.still = 0
        if wp.static(central) and run.near == 0 and leaving(world, run):
            out.dt = scalar(1e30)
            out.lasting = _LEFT
        return out

    return arrive


@functools.cache
def point_clearance(parts: Composition) -> Any:
    """The function ``(world, run, a, longest, memory, slot) -> Clearance`` of a point.

    Its distance f changes at the rate f' now, and f'' is at least -(L a + kappa s^2) while the
    speed is at most s: first with the speed of now, then with the most it can grow to in the time
    that this allows. Where the point has just bounced, the gap is 0 and f' above it.
    """
    World, surface_point = parts.World, parts.laws.surface_point

    @wp.func
    def clearance(world: World, run: Run, a: scalar, longest: scalar, memory: Memory, slot: int):
        at = surface_point(world.surface, run.x)
        speed = wp.length(run.v)
        rate = wp.dot(at.gradient, run.v)
        gap = wp.max(at.distance - closed(world.body, run.x), scalar(0.0))
        first = world.slope * a + world.curvature * speed * speed
        most = wp.min(longest, open_time(gap, rate, first))
        faster = speed + a * most
        bend = world.slope * a + world.curvature * faster * faster
        h = wp.max(open_time(gap, rate, bend), time_to_travel(gap / world.slope, speed, a))
        out = Clearance()
        out.h = wp.min(longest, h)
        if out.h < longest:
            out.near = 1
        out.closing = wp.max(scalar(0.0), -rate) / wp.length(at.gradient)
        return out

    return clearance


@functools.cache
def press_sliding(parts: Composition, bend: Any) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of a bounce or a step on the ground."""
    World, pull = parts.World, parts.pull
    law_at, slide = law_function(parts), slide_function(parts, bend)

    @wp.func
    def collide(world: World, run: Run, memory: Memory, slot: int):
        """``run`` after it met the ground: in flight again, or on it."""
        out = run
        at = bend(world.surface, run.x)
        n = at.gradient / wp.length(at.gradient)
        law = law_at(world, memory, slot, run.x)
        start = Motion()
        start.v = run.v
        out = begin_touch(out, memory, slot, run.x, n, vec3(), start)
        if wp.dot(n, run.v) < -_PUT_DOWN * wp.length(run.v):
            out.v = bounced(law, n, run.v)
        up = wp.max(scalar(0.0), wp.dot(n, out.v))
        # The weight of a point at rest there: what the next hop is measured by.
        g = -wp.dot(n, pull(world, memory, slot, run.t, run.x, vec3()))
        out.still = 0
        out.force = scalar(0.0)
        if up * up > scalar(2.0) * wp.max(g, scalar(0.0)) * law.hop:
            out.phase = FLIGHT
            out.h = world.limits.max_step  # steps on the way down say nothing about the way up
        else:
            along = out.v - wp.dot(n, out.v) * n
            free = pull(world, memory, slot, run.t, run.x, along)
            push = carried(at, along, free, law.friction, bool(False))
            if push.support > scalar(0.0):
                out.v = along
            out.lasting = 1
            out.dt = scalar(0.0)
        gave = out.v - run.v
        enter(out, memory, slot, n, gave, wp.dot(n, gave), world.body.mass)
        return out

    @wp.func
    def press(world: World, run: Run, memory: Memory, slot: int):
        out = run
        out.steps += 1
        out.quiet = scalar(0.0)
        if run.lasting == 0:
            return collide(world, out, memory, slot)
        if run.lasting == _LEFT:
            out.outcome = _ESCAPED
            return out
        return slide(world, out, memory, slot)

    return press


@functools.cache
def _scheme(bend: Any, central: bool) -> Scheme:
    def arrive(parts: Composition) -> Any:
        return arrive_sliding(parts, central)

    def press(parts: Composition) -> Any:
        return press_sliding(parts, bend)

    return Scheme("sliding", arrive, press, clearance=point_clearance)


def sliding_scheme(surface: Surface, central: bool) -> Scheme:
    """The scheme of a point that slides on a smooth surface.

    ``central`` is True where nothing but a body about the origin pulls: then an arc that does not
    come back to it ends as an escape.
    """
    return _scheme(surface.bend, central)


def check_sliding(surface: Surface, lander: RigidLander) -> None:
    """Refuse ground that has no bend, and landers that are no points."""
    if surface.bend is None:
        raise InputError(
            f"contact.Sliding needs ground that is smooth and knows how it bends, and "
            f"{type(surface).__name__} does not: take surfaces.Parametric, Sphere or Plane. On "
            "other ground a lander slides with contact.Impulse or contact.Compliant."
        )
    if lander.n_points != 1 or lander.points.any() or lander.radii.any():
        raise InputError(
            f"contact.Sliding follows a point, and {lander.name} touches with "
            f"{lander.n_points} point(s) away from its centre of mass: take "
            "RigidLander.point(mass), or contact.Impulse or contact.Compliant for its shape."
        )

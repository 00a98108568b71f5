"""Clipped contact of whole hulls with facets and rocks: springs at every pair that touches.

A corner of the lander on the ground, a corner of the ground under a face of the lander, and two
ridges that cross each have a gap phi (``contact.hull.facet_contacts``), which changes by n . (v + w
x c) with the normal n and the lever c of the pair: to first order nothing else does, as what turns
the normal moves the two points along each other. So each pair is a point of
``contact.compliant.clipped_springs`` with G = n, its spring has a potential, and all that is said
of points there (restitution, energy, rest) holds.

Flight goes by the planes between hull and facets (``impulse_gaps``), as for rigid contact. These do
not tell how fast the first pair closes, which the springs of a hit are set by. So flight ends as
close to the ground as the stiffest springs ask for, and the first step in contact looks.
"""

import functools
from typing import Any

import warp as wp

from alight.contact.hull.supported_surfaces import clear_function, depth_function, hull_functions
from alight.contact.state import Found
from alight.core.outcomes import Outcome
from alight.core.types import mat33, quat, scalar, vec3
from alight.motions.rigid.composition import Composition, Scheme
from alight.motions.rigid.phases.clipped import arrive_clipped, press_clipped
from alight.motions.rigid.phases.impulse_gaps import hull_gaps
from alight.motions.rigid.phases.stiffness import GENTLE_SPEED, contact_step, hit_stiffness
from alight.motions.rigid.state import FLIGHT, Memory, Run
from alight.surfaces import Surface

_RUNNING = wp.constant(int(Outcome.RUNNING))
_SANK = wp.constant(int(Outcome.SANK))

#: How deep springs may be pressed in, at most [shares of the lander's radius]: pairs are told from
#: others by small angles, which a deep dent would blur.
DEEPEST = 1e-2
#: Pairs are looked for this far beyond what a step can cover: as many times the depth aimed at, and
#: at least this share of the lander's radius. None must be lost while it pushes.
_BEYOND = wp.constant(scalar(4.0))
_AT_LEAST = wp.constant(scalar(1e-2))
#: Pace [m/s] of a contact whose first pair does not close.
_SEEN = wp.constant(scalar(1e-300))
_TWICE = wp.constant(scalar(2.0))
#: Share of the motion's energy that such springs may hold.
_LITTLE = wp.constant(scalar(1e-3))
_SLOWEST = wp.constant(scalar(GENTLE_SPEED))


@functools.cache
def hull_near(parts: Composition, contacts: Any, clear: Any) -> Any:
    """As ``points_near``, for the pairs of hull and ground."""
    World = parts.World
    find, _ = hull_gaps(parts, contacts, clear)

    @wp.func
    def near(
        world: World,
        run: Run,
        memory: Memory,
        slot: int,
        x: vec3,
        q: quat,
        R: mat33,
        margin: scalar,
    ):
        depth = world.contact[memory.notes[slot].row].depth
        beyond = wp.max(_BEYOND * depth, _AT_LEAST * world.body.bounding_radius)
        count = find(world, run, memory, slot, x, q, margin + beyond)
        for k in range(count):
            pair = memory.contacts[k, slot]
            point = Found()
            point.gap = pair.gap
            point.gradient = pair.normal
            point.lever = pair.point - x
            memory.found[k, slot] = point
        return count

    return near


@wp.func
def first_closing(run: Run, R: mat33, memory: Memory, slot: int, count: int):
    """How fast the pair closes that touches first [m/s]; 0 where none closes."""
    w = R * run.w
    soonest = scalar(1e300)
    closing = scalar(0.0)
    for k in range(count):
        point = memory.found[k, slot]
        u = -wp.dot(point.gradient, run.v + wp.cross(w, point.lever))
        if u > scalar(0.0):
            time = wp.max(point.gap, scalar(0.0)) / u
            if time < soonest:
                soonest = time
                closing = u
    return closing


@wp.func
def pressed_sum(memory: Memory, slot: int, count: int):
    """The depths of all pairs that overlap, added up [m]."""
    total = scalar(0.0)
    for k in range(count):
        total += wp.max(scalar(0.0), -memory.found[k, slot].gap)
    return total


@functools.cache
def arrive_hull(parts: Composition) -> Any:
    """As ``arrive_clipped``, with the first step [s] of the stiffest springs a hit may have."""
    World, contact_of = parts.World, parts.contact_of
    ready = arrive_clipped(parts)

    @wp.func
    def arrive(world: World, run: Run, memory: Memory, slot: int, closing: scalar, g: scalar):
        out = ready(world, run, memory, slot, closing, g)
        if out.lasting == 0:
            contact = contact_of(world, run, memory, slot, run.x)
            most = hit_stiffness(contact, world.body.mass, _SLOWEST, g)
            most = wp.max(out.stiffness, most)
            out.dt = contact_step(contact, most, scalar(1.0) / world.lightest)
        return out

    return arrive


@functools.cache
def press_hull(parts: Composition, contacts: Any, clear: Any, below: Any) -> Any:
    """The function ``(world, run, memory, slot) -> run`` of one step in contact."""
    World, contact_of = parts.World, parts.contact_of
    anchor, frame_pull = parts.anchor, parts.frame_pull
    near = hull_near(parts, contacts, clear)
    step = press_clipped(parts, _finder(contacts, clear))

    @wp.func
    def press(world: World, run: Run, memory: Memory, slot: int):
        ready = run
        if run.lasting == 0 and run.pace == scalar(0.0):
            R = wp.quat_to_matrix(run.q)
            fast = wp.length(run.v) + wp.length(run.w) * world.body.bounding_radius
            count = near(world, run, memory, slot, run.x, run.q, R, scalar(2.0) * fast * run.dt)
            closing = first_closing(run, R, memory, slot, count)
            anchor(world, run, memory, slot)
            gravity = memory.notes[slot].anchor.acceleration
            g = wp.length(frame_pull(world, run.t, run.x, vec3(), gravity))
            contact = contact_of(world, run, memory, slot, run.x)
            wanted = hit_stiffness(contact, world.body.mass, closing, g)
            ready.stiffness = wp.max(run.stiffness, wanted)
            ready.pace = wp.max(closing, _SEEN)
            # What begins inside, where a pair was lost and another is found, must gain nothing by
            # it: springs that push by twice the weight let it out no farther than touching, and
            # those that hold little beside the motion add little.
            depth = wp.max(pressed_sum(memory, slot, count), _SEEN)
            gentle = _TWICE * world.body.mass * g / depth
            gentle = wp.max(gentle, _LITTLE * world.body.mass * (fast / depth) * (fast / depth))
            if gentle < ready.stiffness:
                ready.stiffness = gentle
                ready.lasting = 1
        out = step(world, ready, memory, slot)
        if out.phase == FLIGHT and out.outcome == _RUNNING:
            at = below(world.surface, out.x)
            if at.distance < scalar(0.0):
                out.outcome = _SANK
        return out

    return press


@functools.cache
def _finder(contacts: Any, clear: Any) -> Any:
    return functools.partial(hull_near, contacts=contacts, clear=clear)


@functools.cache
def _scheme(contacts: Any, clear: Any, below: Any) -> Scheme:
    def press(parts: Composition) -> Any:
        return press_hull(parts, contacts, clear, below)

    def clearance(parts: Composition) -> Any:
        return hull_gaps(parts, contacts, clear)[1]

    return Scheme(
        "clipped on facets", arrive_hull, press, hits=True, clearance=clearance, hull=True
    )


def hull_scheme(surface: Surface) -> Scheme:
    """The scheme of springs between a hull and facets, with or without rocks on them."""
    functions: Any = hull_functions(surface)
    return _scheme(functions[1], clear_function(surface, False), depth_function(surface))

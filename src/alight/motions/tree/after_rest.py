"""How a tree continues after rest: from the next switch of a schedule or of a push from outside.

Where its joints do not move either, time goes straight there (``wake``); where they do (a wheel
that spins up, liquid that swings), every step in between is taken.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.programme_kernel import NEVER, first_after_rest, next_switch, switches_at
from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.motions.tree.composition import TreeComposition
from alight.motions.tree.drive import begun
from alight.motions.tree.manoeuvre_kernel import tour_functions
from alight.motions.tree.state import TreeLimits, TreeRun, TreeSpace
from alight.vehicles.tree.data import PRISMATIC, REVOLUTE, SPHERICAL, TreeData

_SETTLED = wp.constant(int(Outcome.SETTLED))
_RUNNING = wp.constant(int(Outcome.RUNNING))


@wp.func
def joints_move(tree: TreeData, limits: TreeLimits, v: wp.array2d(dtype=scalar), slot: int):
    """Whether a joint within the tree moves faster than what is at rest."""
    for i in range(tree.count):
        body = tree.bodies[i]
        if body.kind == REVOLUTE and wp.abs(v[body.v_at, slot]) > limits.settle_rate:
            return True
        if body.kind == PRISMATIC and wp.abs(v[body.v_at, slot]) > limits.settle_speed:
            return True
        if body.kind == SPHERICAL:
            rate = vec3(v[body.v_at, slot], v[body.v_at + 1, slot], v[body.v_at + 2, slot])
            if wp.length(rate) > limits.settle_rate:
                return True
    return False


@dataclasses.dataclass(frozen=True)
class AfterRest:
    """What a loop is made from."""

    following: Any
    """``(world, run, space, slot) -> scalar``: when something switches next [s]."""
    rest: Any
    """``(world, run, space, slot) -> outcome`` of a tree that the ground holds."""
    wake: Any
    """``(world, run, space, slot) -> run`` that continues from the next switch, if there is one."""


@functools.cache
def after_rest(parts: TreeComposition) -> AfterRest:
    """The functions of one composition of laws."""
    World: Any = parts.World
    external_next, timed = parts.laws.next, parts.laws.next is not None
    tours = parts.laws.manoeuvres > 0
    tour: Any = tour_functions(parts) if tours else None
    tour_next, plan = getattr(tour, "following", None), getattr(tour, "plan", None)
    commanded = getattr(tour, "commanded", None)

    @wp.func
    def following(world: World, run: TreeRun, space: TreeSpace, slot: int):
        soon = next_switch(world.actuators.programmes, run.t, begun(run, space, slot))
        if wp.static(timed):
            outside = external_next(world.external, run.t)
            space.notes[slot].until = outside
            soon = wp.min(soon, outside)
        if wp.static(tours):
            soon = wp.min(soon, tour_next(space, slot, run.t))
        return soon

    @wp.func
    def rest(world: World, run: TreeRun, space: TreeSpace, slot: int):
        """At rest, or still running where something is to come and joints move meanwhile."""
        pushed = space.notes[slot].until
        soon = following(world, run, space, slot)
        # What switches where this step ends is still to come.
        if switches_at(world.actuators.programmes, run.t, begun(run, space, slot)):
            soon = run.t
        if wp.static(timed):  # noqa: SIM102
            if run.t >= pushed:
                soon = run.t
        rests = space.notes[slot].rests
        if rests == 0 or soon >= NEVER:
            delay = first_after_rest(world.actuators.programmes, rests + 1)
            if delay < NEVER:
                space.notes[slot].rested = run.t
                space.notes[slot].rests = rests + 1
                soon = wp.min(soon, run.t + delay)
        if wp.static(tours):
            # Where its last command ends it has not rested since.
            if soon >= NEVER and commanded(space, slot, run.t):
                return _RUNNING
            if soon >= NEVER:
                soon = plan(world, run, space, slot)
        space.notes[slot].wakes = soon
        moves = joints_move(world.tree, world.limits, space.trial_v, slot)
        if moves and soon < world.limits.max_time:
            return _RUNNING
        return _SETTLED

    @wp.func
    def wake(world: World, run: TreeRun, space: TreeSpace, slot: int):
        out = run
        soon = space.notes[slot].wakes
        if soon < world.limits.max_time:
            out.t = soon
            out.outcome = _RUNNING
            out.fresh = 1  # levels are set where it starts anew
            out.quiet = scalar(0.0)
            out.still = scalar(0.0)
        return out

    return AfterRest(following, rest, wake)

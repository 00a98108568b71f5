"""Manoeuvres in each run of an articulated lander: begun when it has come to rest, carried out by
levels of its actuators, and recorded.

One is over when the lander is at rest again after its last command. What gets it upright is left
out where it is upright already.
"""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.programme_kernel import NEVER, level_at
from alight.core.types import scalar, vec3
from alight.flight.sun_wait import sun_wait
from alight.motions.rigid.drive.manoeuvres import (
    BEGUN,
    CONTACTS,
    END,
    END_PLACE,
    LEFT_OUT,
    OVER,
    PLACE,
    RECORD,
    SHARE,
    START,
    STATE,
    TAKEOFF,
    TOUCH,
    TOUCH_PLACE,
    VELOCITY,
    WORK_OF_HOP,
)
from alight.motions.tree.composition import TreeComposition
from alight.motions.tree.drive import begun
from alight.motions.tree.manoeuvres import TreeManoeuvreData
from alight.motions.tree.state import TreeRun, TreeSpace


@dataclasses.dataclass(frozen=True)
class TourFunctions:
    """What a loop with manoeuvres is made from."""

    following: Any
    """``(space, slot, t) -> scalar``: when a command begins or ends next [s]."""
    set_levels: Any
    """``(world, run, space, slot) -> bool``: levels from now on; True where one has changed."""
    plan: Any
    """``(world, run, space, slot) -> scalar``: at rest; when the next one begins [s]."""
    commanded: Any
    """``(space, slot, t) -> bool``: whether commands of one are still to end."""
    leave: Any
    """``(run, space, slot)``: the lander has left the ground."""
    land: Any
    """``(world, run, space, slot, place)``: it touches it again."""


@wp.func
def keep(space: TreeSpace, slot: int, row: int, v: vec3):
    """Write a vector into the records."""
    for k in range(3):
        space.hops[row + k, slot] = v[k]


@functools.cache
def tour_functions(parts: TreeComposition) -> TourFunctions:
    """The functions of the manoeuvres of one composition of laws."""
    World, laws = parts.World, parts.laws
    spin, down_at, count = laws.spin, parts.down_at, laws.manoeuvres
    sunlit = sun_wait(laws.spin, laws.attitude, laws.rotation_data)

    @wp.func
    def record_of(space: TreeSpace, slot: int):
        """The first row of the record of the manoeuvre that is under way."""
        return RECORD * space.notes[slot].tour

    @wp.func
    def following(space: TreeSpace, slot: int, t: scalar):
        soon = NEVER
        note = space.notes[slot]
        if note.under != 0:
            if note.on > t:
                soon = note.on
            elif note.off > t:
                soon = note.off
        return soon

    @wp.func
    def commanded(space: TreeSpace, slot: int, t: scalar):
        note = space.notes[slot]
        return note.under != 0 and t <= note.off

    @wp.func
    def set_levels(world: World, run: TreeRun, space: TreeSpace, slot: int):
        changed = bool(False)
        since = begun(run, space, slot)
        note = space.notes[slot]
        acts = note.under != 0 and note.on <= run.t and run.t < note.off
        for i in range(world.actuators.each.shape[0]):
            level = level_at(world.actuators.programmes, i, run.t, since)
            if acts:
                level += world.tour.levels[world.tour.each[note.tour].first + i]
            if level != space.level[i, slot]:
                changed = True
                space.level[i, slot] = level
        return changed

    @wp.func
    def begins(world: World, one: TreeManoeuvreData, t: scalar, up: vec3):
        """When a manoeuvre begins that a lander at rest since ``t`` waits for [s]."""
        when = wp.max(t + one.delay, one.not_before)
        if one.sun > scalar(-1.5):
            when = sunlit(world.rotation, world.tour.sun, up, one.sun, when)
        return when

    @wp.func
    def begin(run: TreeRun, space: TreeSpace, slot: int, when: scalar):
        """Begin the record of a manoeuvre that starts ``when`` [s]."""
        at = record_of(space, slot)
        space.hops[at + STATE, slot] = BEGUN
        space.hops[at + START, slot] = when
        keep(space, slot, at + PLACE, run.x)
        space.hops[at + SHARE, slot] = scalar(1.0)
        space.hops[at + WORK_OF_HOP, slot] = space.notes[slot].work
        space.hops[at + CONTACTS, slot] = scalar(run.touches)
        space.notes[slot].under = 1
        space.notes[slot].on = when

    @wp.func
    def close(run: TreeRun, space: TreeSpace, slot: int, t: scalar):
        """The manoeuvre that was under way is over."""
        at = record_of(space, slot)
        space.hops[at + STATE, slot] = wp.max(space.hops[at + STATE, slot], OVER)
        space.hops[at + END, slot] = t
        keep(space, slot, at + END_PLACE, run.x)
        done = space.notes[slot].work - space.hops[at + WORK_OF_HOP, slot]
        space.hops[at + WORK_OF_HOP, slot] = done
        met = scalar(run.touches) - space.hops[at + CONTACTS, slot]
        space.hops[at + CONTACTS, slot] = met
        space.notes[slot].under = 0
        space.notes[slot].tour = space.notes[slot].tour + 1

    @wp.func
    def plan(world: World, run: TreeRun, space: TreeSpace, slot: int):
        if space.notes[slot].under != 0:
            close(run, space, slot, run.t)
        now = spin(world.rotation, run.t)
        up = -wp.normalize(down_at(world, run, space, slot, now.rate))
        soon = NEVER
        t = scalar(run.t)
        while (
            soon >= NEVER
            and space.notes[slot].tour < wp.static(count)
            and t < world.limits.max_time
        ):
            one = world.tour.each[space.notes[slot].tour]
            t = begins(world, one, t, up)
            if t < world.limits.max_time:
                begin(run, space, slot, t)
                if one.within >= space.notes[slot].tilt:
                    space.hops[record_of(space, slot) + STATE, slot] = LEFT_OUT
                    close(run, space, slot, t)
                else:
                    space.notes[slot].off = t + one.duration
                    soon = t
        return soon

    @wp.func
    def leave(run: TreeRun, space: TreeSpace, slot: int):
        if space.notes[slot].under != 0 and run.t >= space.notes[slot].on:
            at = record_of(space, slot)
            if space.hops[at + TAKEOFF, slot] == scalar(0.0):
                space.hops[at + TAKEOFF, slot] = run.t
                keep(space, slot, at + VELOCITY, run.v)

    @wp.func
    def land(world: World, run: TreeRun, space: TreeSpace, slot: int):
        if space.notes[slot].under != 0:
            at = record_of(space, slot)
            left = space.hops[at + TAKEOFF, slot] > scalar(0.0)
            if left and space.hops[at + TOUCH, slot] == scalar(0.0):
                came = run.x - vec3(
                    space.hops[at + PLACE, slot],
                    space.hops[at + PLACE + 1, slot],
                    space.hops[at + PLACE + 2, slot],
                )
                if wp.length(came) < world.limits.size:
                    # A foot that is set down again has not carried it away.
                    space.hops[at + TAKEOFF, slot] = scalar(0.0)
                else:
                    space.hops[at + TOUCH, slot] = run.t
                    keep(space, slot, at + TOUCH_PLACE, run.x)

    return TourFunctions(following, set_levels, plan, commanded, leave, land)

"""Programmes inside kernels: which level holds, and when it changes next."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from alight.actuators.controller import Controller
from alight.actuators.schedule import TRIGGERS, Schedule
from alight.core import devices
from alight.core.types import scalar

AFTER_TOUCH = wp.constant(TRIGGERS.index("touch"))
AFTER_REST = wp.constant(TRIGGERS.index("rest"))
#: A time that does not come [s].
NEVER = wp.constant(scalar(1e30))


@wp.struct
class Programme:
    """What sets one level: rows of a table of times, or a controller every so often."""

    after: int
    """Number of the trigger in ``TRIGGERS``."""
    first: int
    last: int
    """Rows: from ``first`` up to but without ``last``; none for a controller."""
    repeats: int
    period: scalar
    """Of a controller [s]; 0 for a schedule."""


@wp.struct
class Programmes:
    """All of a lander."""

    each: wp.array(dtype=Programme)
    times: wp.array(dtype=scalar)  # [s]
    levels: wp.array(dtype=scalar)


@wp.struct
class Begun:
    """When what programmes count from came about [s]; NEVER before."""

    touched: scalar
    rested: scalar
    rests: int  # how often the lander has come to rest with a programme to follow


@wp.func
def origin_of(programme: Programme, begun: Begun):
    """What its times count from [s]."""
    if programme.after == AFTER_TOUCH:
        return begun.touched
    if programme.after == AFTER_REST:
        return begun.rested
    return scalar(0.0)


@wp.func
def level_at(all: Programmes, i: int, t: scalar, begun: Begun):
    """The level of programme ``i`` from the time ``t`` [s] on."""
    programme = all.each[i]
    if programme.after == AFTER_REST and begun.rests > programme.repeats:
        return all.levels[programme.last - 1]
    origin = origin_of(programme, begun)
    level = scalar(0.0)
    if origin < NEVER:
        for k in range(programme.first, programme.last):
            if origin + all.times[k] <= t:
                level = all.levels[k]
    return level


@wp.func
def next_switch(all: Programmes, t: scalar, begun: Begun):
    """The first time after ``t`` [s] at which a schedule switches."""
    soon = NEVER
    for i in range(all.each.shape[0]):
        programme = all.each[i]
        origin = origin_of(programme, begun)
        over = programme.after == AFTER_REST and begun.rests > programme.repeats
        if origin < NEVER and not over:
            for k in range(programme.first, programme.last):
                when = origin + all.times[k]
                if when > t:
                    soon = wp.min(soon, when)
    return soon


@wp.func
def switches_at(all: Programmes, t: scalar, begun: Begun):
    """Whether a schedule switches at the time ``t`` [s] itself."""
    found = bool(False)
    for i in range(all.each.shape[0]):
        programme = all.each[i]
        origin = origin_of(programme, begun)
        over = programme.after == AFTER_REST and begun.rests > programme.repeats
        if origin < NEVER and not over:
            for k in range(programme.first, programme.last):
                found = found or origin + all.times[k] == t
    return found


@wp.func
def next_tick(period: scalar, t: scalar):
    """The first whole number of periods after ``t`` [s]."""
    return (wp.floor(t / period + scalar(1e-9)) + scalar(1.0)) * period


@wp.func
def next_control(all: Programmes, t: scalar):
    """The first time after ``t`` [s] at which a controller sets its level."""
    soon = NEVER
    for i in range(all.each.shape[0]):
        if all.each[i].period > scalar(0.0):
            soon = wp.min(soon, next_tick(all.each[i].period, t))
    return soon


@wp.func
def first_after_rest(all: Programmes, rests: int):
    """How long after its ``rests``-th coming to rest a lander goes on [s]; NEVER if it does not."""
    soon = NEVER
    for i in range(all.each.shape[0]):
        programme = all.each[i]
        if programme.after == AFTER_REST and rests <= programme.repeats:
            soon = wp.min(soon, all.times[programme.first])
    return soon


def programmes(commands: Sequence[Schedule | Controller], device: devices.Device) -> Any:
    """``Programmes`` with its arrays on ``device``."""
    rows: Any = np.zeros(len(commands), dtype=Programme.numpy_dtype())  # type: ignore[attr-defined]
    times: list[float] = []
    levels: list[float] = []
    for i, command in enumerate(commands):
        if isinstance(command, Controller):
            rows[i]["period"] = command.period
            continue
        rows[i]["after"], rows[i]["repeats"] = TRIGGERS.index(command.after), command.repeats
        rows[i]["first"], rows[i]["last"] = len(times), len(times) + len(command.times)
        times += command.times
        levels += command.levels
    data = Programmes()
    data.each = wp.array(rows, dtype=Programme, device=device.name)
    data.times = wp.array(np.array(times), dtype=scalar, device=device.name)
    data.levels = wp.array(np.array(levels), dtype=scalar, device=device.name)
    return data

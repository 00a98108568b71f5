"""Actuators on the craft of a drop or a capture: what they push with, and when they switch.

Levels are those of their schedules (``actuators.programme_kernel``), constant between switches: no
step passes over one. Contact is found at the end of the step in which it began: what is switched on
by it acts from there on. The craft is one body to them, as a rigid lander is.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import warp as wp

from alight.actuators import Actuator, Schedule
from alight.actuators.law import combined, combined_data
from alight.actuators.programme_kernel import (
    NEVER,
    Begun,
    Programmes,
    level_at,
    next_switch,
    programmes,
)
from alight.core import devices
from alight.core.errors import InputError
from alight.core.types import quat, scalar, vec3
from alight.engine.scene import Scene
from alight.membrane.forces import Moving
from alight.motions.membrane.state import CaughtMemory, CaughtRun, Wrench

#: What runs over a membrane do not have: their craft does not come to rest on anything.
NO_REST = (
    'counts from "rest", which comes to landers; a craft with a membrane counts from "release" or '
    'from the first "touch"'
)


def checked_actuators(actuators: Sequence[Any]) -> tuple[Actuator, ...]:
    """Those of a craft, or an error that says which of them it cannot have."""
    for one in actuators:
        if not isinstance(one, Actuator) or one.act is None:
            raise InputError(
                f"{one!r} is among the actuators of a craft; each must be a Thruster, or another "
                "Actuator with a function act. Wheels and springs are for landers."
            )
        if getattr(one, "body", None) is not None:
            raise InputError(
                f'actuator "{one.name}" is fixed in body "{one.body}"; actuators of a craft act '  # type: ignore[attr-defined]
                "on its bus, so leave body out."
            )
        if not isinstance(one.schedule, Schedule):
            raise InputError(
                f'actuator "{one.name}" is commanded by {one.schedule!r}; those of a craft have a '
                "Schedule. What steers it until contact is its approach."
            )
        if one.schedule.after == "rest":
            raise InputError(f'the schedule of "{one.name}" {NO_REST}.')
    return tuple(actuators)


@dataclass(frozen=True)
class CraftDrive:
    """What a loop is made from."""

    Data: Any
    count: int
    set_levels: Any
    """``(data, run, memory, slot)``: levels from now on."""
    push: Any
    """``(data, run, memory, craft, t, slot) -> Wrench`` on the craft, inertial axes."""
    following: Any
    """``(data, run) -> scalar``: when a level switches next [s]."""


def drive_of(actuators: Sequence[Actuator]) -> CraftDrive:
    """The functions of some actuators; the same kinds with other numbers have the same ones."""
    return _drive(tuple((a.Data, a.act, a.kick) for a in actuators))


def drive_data(actuators: Sequence[Actuator], device: devices.Device) -> Any:
    """Their parameters."""
    data = drive_of(actuators).Data()
    data.pushers = combined_data(actuators, device)
    given = [a.schedule for a in actuators]
    rows = tuple((s.times, s.levels, s.after) for s in given if isinstance(s, Schedule))
    data.programmes = _programmes(rows, device)
    return data


@functools.lru_cache(maxsize=64)
def _programmes(rows: tuple[Any, ...], device: devices.Device) -> Any:
    """Models that differ in forces alone share their schedules."""
    return programmes([Schedule(*row) for row in rows], device)


@wp.func
def _begun(run: CaughtRun):
    out = Begun()
    out.touched = wp.where(run.first < scalar(0.0), NEVER, run.first)
    out.rested = NEVER
    return out


@wp.func
def _seen(run: CaughtRun, number: int, craft: Moving, t: scalar):
    """The craft as laws see it, in inertial axes."""
    out = Scene()
    out.number = number
    out.t = t
    out.x = craft.x
    out.v = craft.v
    out.q = craft.q
    out.w = craft.rate
    out.height = run.lowest
    out.touches = run.touches
    out.touching = run.touching
    out.touched = wp.where(run.first < scalar(0.0), NEVER, run.first)
    out.turn = quat(scalar(0.0), scalar(0.0), scalar(0.0), scalar(1.0))
    return out


@functools.cache
def _drive(kinds: tuple[tuple[Any, Any, Any], ...]) -> CraftDrive:
    push_data, act, _ = combined(kinds)
    count = len(kinds)

    @wp.struct
    class DriveData:
        programmes: Programmes
        pushers: push_data

    @wp.func
    def set_levels(data: DriveData, run: CaughtRun, memory: CaughtMemory, slot: int):
        since = _begun(run)
        for i in range(wp.static(count)):
            memory.levels[i, slot] = level_at(data.programmes, i, run.t, since)

    @wp.func
    def push(
        data: DriveData, run: CaughtRun, memory: CaughtMemory, craft: Moving, t: scalar, slot: int
    ):
        out = Wrench()
        if wp.static(count > 0):
            scene = _seen(run, memory.notes[slot].number, craft, t)
            force = vec3()
            torque = vec3()
            for i in range(wp.static(count)):
                effort = act(data.pushers, scene, memory.levels, 0, slot, i)
                force += effort.force
                torque += effort.torque
            out.force = wp.quat_rotate(craft.q, force)
            out.torque = wp.quat_rotate(craft.q, torque)
        return out

    @wp.func
    def following(data: DriveData, run: CaughtRun):
        return next_switch(data.programmes, run.t, _begun(run))

    return CraftDrive(DriveData, count, set_levels, push, following)

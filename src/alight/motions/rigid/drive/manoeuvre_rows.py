"""What manoeuvres keep of a run: commanded levels, and the record of the one under way."""

import dataclasses
import functools
from typing import Any

import warp as wp

from alight.actuators.programme_kernel import NEVER
from alight.core.types import scalar, vec3
from alight.motions.rigid.composition import Composition
from alight.motions.rigid.drive.manoeuvres import (
    DUE,
    EACH_LEVEL,
    NEXT,
    OFF,
    ON,
    OWN,
    RECORD,
    SET,
)
from alight.motions.rigid.state import Memory


@dataclasses.dataclass(frozen=True)
class ManoeuvreRows:
    """Functions over memory."""

    record_of: Any
    """``(memory, slot) -> int``: first row of the record of the manoeuvre under way."""
    keep: Any
    """``(memory, slot, row, vector)``: write it there."""
    level: Any
    """``(memory, slot, c, t) -> scalar`` of level ``c``."""
    following: Any
    """``(memory, slot, t) -> scalar``: when a level changes next [s]."""
    switches: Any
    """``(memory, slot, t) -> bool``: whether a level changes at the time ``t`` [s] itself."""
    command: Any
    """``(memory, slot, c, value, start, end)``: set level ``c`` from and until these times."""
    silence: Any
    """``(memory, slot)``: nothing is commanded."""


@functools.cache
def manoeuvre_rows(parts: Composition) -> ManoeuvreRows:
    """The functions of one composition of laws."""
    drive: Any = parts.laws.drive
    levels, own, records = drive.levels, drive.tour_row, drive.record_row
    throws, throw_row = drive.throws, drive.throw_row

    @wp.func
    def row_of(c: int):
        return wp.static(own) + OWN + EACH_LEVEL * c

    @wp.func
    def record_of(memory: Memory, slot: int):
        """The first row of the record of the manoeuvre that is under way."""
        return wp.static(records) + RECORD * int(memory.drives[wp.static(own) + NEXT, slot])

    @wp.func
    def keep(memory: Memory, slot: int, row: int, v: vec3):
        for k in range(3):
            memory.drives[row + k, slot] = v[k]

    @wp.func
    def level(memory: Memory, slot: int, c: int, t: scalar):
        row = row_of(c)
        found = scalar(0.0)
        if memory.drives[row + ON, slot] <= t and t < memory.drives[row + OFF, slot]:
            found = memory.drives[row + SET, slot]
        return found

    @wp.func
    def following(memory: Memory, slot: int, t: scalar):
        soon = NEVER
        for c in range(wp.static(levels)):
            row = row_of(c)
            if memory.drives[row + SET, slot] != scalar(0.0):
                for k in range(2):
                    when = memory.drives[row + ON + k, slot]
                    if when > t:
                        soon = wp.min(soon, when)
        due = memory.drives[wp.static(own) + DUE, slot]
        if due > t:
            soon = wp.min(soon, due)
        if wp.static(throws):
            thrown = memory.drives[wp.static(throw_row), slot]
            if thrown > t:
                soon = wp.min(soon, thrown)
        return soon

    @wp.func
    def switches(memory: Memory, slot: int, t: scalar):
        found = bool(False)
        for c in range(wp.static(levels)):
            row = row_of(c)
            if memory.drives[row + SET, slot] != scalar(0.0):
                for k in range(2):
                    found = found or memory.drives[row + ON + k, slot] == t
        return found

    @wp.func
    def command(memory: Memory, slot: int, c: int, value: scalar, start: scalar, end: scalar):
        row = row_of(c)
        memory.drives[row + SET, slot] = value
        memory.drives[row + ON, slot] = start
        memory.drives[row + OFF, slot] = end

    @wp.func
    def silence(memory: Memory, slot: int):
        """Nothing is commanded."""
        for c in range(wp.static(levels)):
            command(memory, slot, c, scalar(0.0), NEVER, NEVER)
        memory.drives[wp.static(own) + DUE, slot] = scalar(0.0)

    return ManoeuvreRows(record_of, keep, level, following, switches, command, silence)

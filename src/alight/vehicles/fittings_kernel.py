"""Devices of a tree inside kernels: what they push with, and what crushables remember."""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.vehicles.fittings import Brake, Crushable, Fitted, Thruster
from alight.vehicles.tree.data import TreeData, TreeMemory
from alight.vehicles.tree.kinematics import point_velocity, push_body
from alight.vehicles.tree.tree import Tree

THRUST = wp.constant(0)
TORQUE = wp.constant(1)
BRAKE = wp.constant(2)

#: A time that does not come [s].
NEVER = wp.constant(scalar(1e30))


@wp.struct
class PadData:
    """A point or ball of a body that touches the ground."""

    body: int
    place: vec3
    """In body axes [m]."""
    radius: scalar
    """[m]"""
    belly: int
    """The belly that it is a point of; -1 for a pad."""


@wp.struct
class CrushData:
    """A crushable on the prismatic joint of a body."""

    q_at: int
    v_at: int
    """Rows of the joint."""
    force: scalar
    """[N]"""
    limit: scalar
    """[m]"""
    stiffness: scalar
    """[N/m]"""
    damping: scalar
    """[N s/m]"""


@wp.struct
class ActuatorData:
    """A thruster, motor or brake, and where its schedule is."""

    kind: int
    """THRUST, TORQUE or BRAKE."""
    body: int
    v_at: int
    """Row of the joint's velocity; unused by thrusters."""
    after_touch: int
    """1 where times count from the first touch."""
    first: int
    last: int
    """Rows of the schedule: from ``first`` up to but without ``last``."""
    strength: scalar
    """Force [N] or torque [N m] at level 1."""
    place: vec3
    """In body axes [m]."""
    direction: vec3
    """In body axes, unit."""
    speed: scalar
    """Of a brake [rad/s], [m/s]."""


@wp.struct
class SloshData:
    """A body whose swing against another is watched."""

    body: int
    parent: int
    direction: vec3


@wp.struct
class DeviceData:
    """All devices of a tree."""

    pads: wp.array(dtype=PadData)
    """All that touches the ground: pads, then points of bellies."""
    bellies: int
    crushables: wp.array(dtype=CrushData)
    actuators: wp.array(dtype=ActuatorData)
    sloshes: wp.array(dtype=SloshData)
    times: wp.array(dtype=scalar)
    """Of all schedules, one after the other [s]."""
    levels: wp.array(dtype=scalar)


@wp.struct
class Crush:
    """What a crushable does."""

    force: scalar
    """Against compression [N]."""
    rate: scalar
    """Of its crushed stroke [m/s]."""


@wp.func
def crush(part: CrushData, x: scalar, speed: scalar, crushed: scalar) -> Crush:
    """Force and crushing of an element at stroke ``x`` [m] that moves at ``speed`` [m/s]."""
    done = Crush()
    done.force = part.stiffness * (x - crushed) + part.damping * speed
    if done.force > part.force and crushed < part.limit:
        done.rate = (done.force - part.force) / part.damping
        done.force = part.force
    return done


@wp.func
def crush_all(
    parts: DeviceData,
    q: wp.array2d(dtype=scalar),
    v: wp.array2d(dtype=scalar),
    crushed: wp.array2d(dtype=scalar),
    efforts: wp.array2d(dtype=scalar),
    rate_out: wp.array2d(dtype=scalar),
    slot: int,
):
    """Add the efforts of all crushables, and tell how fast they crush."""
    for i in range(parts.crushables.shape[0]):
        part = parts.crushables[i]
        done = crush(part, q[part.q_at, slot], v[part.v_at, slot], crushed[i, slot])
        efforts[part.v_at, slot] = efforts[part.v_at, slot] - done.force
        rate_out[i, slot] = done.rate


@wp.func
def act(
    tree: TreeData,
    parts: DeviceData,
    v: wp.array2d(dtype=scalar),
    level: wp.array2d(dtype=scalar),
    memory: TreeMemory,
    spin: vec3,
    slot: int,
):
    """Add the forces and efforts of all thrusters, motors and brakes at their present levels.

    Returns their power [W], relative to axes that turn at ``spin`` [rad/s].
    """
    power = scalar(0.0)
    for i in range(parts.actuators.shape[0]):
        part = parts.actuators[i]
        size = part.strength * level[i, slot]
        if size != scalar(0.0):
            if part.kind == THRUST:
                turn = memory.turns[part.body, slot]
                lever = wp.quat_rotate(turn, part.place)
                force = size * wp.quat_rotate(turn, part.direction)
                push_body(memory, part.body, lever, force, vec3(), slot)
                power += wp.dot(force, point_velocity(memory, part.body, lever, spin, slot))
            else:
                u = v[part.v_at, slot]
                if part.kind == BRAKE:
                    size = -size * u / wp.sqrt(u * u + part.speed * part.speed)
                memory.efforts[part.v_at, slot] = memory.efforts[part.v_at, slot] + size
                power += size * u
    return power


@wp.struct
class Switched:
    """After looking at the schedules."""

    changed: bool
    """A level is not what it was."""
    later: scalar
    """When the next level changes [s]; NEVER if none does."""


@wp.func
def switch_levels(
    parts: DeviceData, t: scalar, touched: scalar, level_out: wp.array2d(dtype=scalar), slot: int
) -> Switched:
    """Levels at the time ``t`` [s], ``touched`` being when the ground was first touched or NEVER.

    Between two switches levels are constant: slopes stay smooth, and a step ends at each switch.
    """
    found = Switched()
    found.later = NEVER
    for i in range(parts.actuators.shape[0]):
        part = parts.actuators[i]
        origin = scalar(0.0)
        if part.after_touch != 0:
            origin = touched
        level = scalar(0.0)
        if origin < NEVER:
            for k in range(part.first, part.last):
                when = origin + parts.times[k]
                if when <= t:
                    level = parts.levels[k]
                else:
                    found.later = wp.min(found.later, when)
        if level != level_out[i, slot]:
            found.changed = True
            level_out[i, slot] = level
    return found


@wp.func
def swing_angle(part: SloshData, memory: TreeMemory, slot: int):
    """How far the mass has swung from where it hangs [rad], 0 to pi."""
    now = wp.quat_rotate(memory.turns[part.body, slot], part.direction)
    rest = wp.quat_rotate(memory.turns[part.parent, slot], part.direction)
    return wp.atan2(wp.length(wp.cross(now, rest)), wp.dot(now, rest))


@functools.lru_cache(maxsize=64)
def device_data(tree: Tree, parts: Fitted, device: devices.Device) -> Any:
    """``DeviceData`` with its arrays on ``device``; models of one lander share it."""
    times = [t for a in parts.actuators for t in a.schedule.times]
    levels = [x for a in parts.actuators for x in a.schedule.levels]
    ends = np.cumsum([0, *(len(a.schedule.times) for a in parts.actuators)])
    data = DeviceData()
    touching = zip(parts.touching, parts.owners, strict=True)
    pads = [(tree.index(p.body), p.place, p.radius, belly) for p, belly in touching]
    data.pads = _table(PadData, pads, device)
    data.bellies = len(parts.bellies)
    data.crushables = _table(CrushData, [_crush_row(tree, c) for c in parts.crushables], device)
    rows = [_actuator_row(tree, a, ends[i], ends[i + 1]) for i, a in enumerate(parts.actuators)]
    data.actuators = _table(ActuatorData, rows, device)
    sloshes = [(tree.index(s.body), tree.index(s.parent), s.direction) for s in parts.sloshes]
    data.sloshes = _table(SloshData, sloshes, device)
    data.times = wp.array(np.array(times, dtype=np.float64), dtype=scalar, device=device.name)
    data.levels = wp.array(np.array(levels, dtype=np.float64), dtype=scalar, device=device.name)
    return data


def _table(kind: Any, rows: list[Any], device: devices.Device) -> Any:
    table: Any = np.zeros(len(rows), dtype=kind.numpy_dtype())
    for i, row in enumerate(rows):
        for name, value in zip(table.dtype.names, row, strict=True):
            table[i][name] = value
    return wp.array(table, dtype=kind, device=device.name)


def _crush_row(tree: Tree, part: Crushable) -> tuple[Any, ...]:
    at = (tree.q_slices[part.body].start, tree.v_slices[part.body].start)
    return (*at, part.force, part.limit, part.stiffness, part.damping)


def _actuator_row(tree: Tree, part: Any, first: int, last: int) -> tuple[Any, ...]:
    push = isinstance(part, Thruster)
    kind = int(THRUST) if push else int(BRAKE if isinstance(part, Brake) else TORQUE)
    zero = (0.0, 0.0, 0.0)
    return (
        kind,
        tree.index(part.body),
        tree.v_slices[part.body].start,
        int(part.schedule.after == "touch"),
        first,
        last,
        part.force if push else part.torque,
        part.place if push else zero,
        part.direction if push else zero,
        part.speed if isinstance(part, Brake) else 0.0,
    )

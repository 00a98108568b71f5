"""Devices of a tree inside kernels: what touches, what crushables remember, how liquid swings."""

import functools
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.types import scalar, vec3
from alight.vehicles.fittings import Crushable, Fitted
from alight.vehicles.tree.data import TreeMemory, turn_of
from alight.vehicles.tree.tree import Tree


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
class SloshData:
    """A body whose swing against another is watched."""

    body: int
    parent: int
    direction: vec3


@wp.struct
class DeviceData:
    """All devices of a tree but its actuators."""

    pads: wp.array(dtype=PadData)
    """All that touches the ground: pads, then points of bellies."""
    bellies: int
    crushables: wp.array(dtype=CrushData)
    sloshes: wp.array(dtype=SloshData)


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
def swing_angle(part: SloshData, memory: TreeMemory, slot: int):
    """How far the mass has swung from where it hangs [rad], 0 to pi."""
    now = wp.quat_rotate(turn_of(memory, part.body, slot), part.direction)
    rest = wp.quat_rotate(turn_of(memory, part.parent, slot), part.direction)
    return wp.atan2(wp.length(wp.cross(now, rest)), wp.dot(now, rest))


@functools.lru_cache(maxsize=64)
def device_data(tree: Tree, parts: Fitted, device: devices.Device) -> Any:
    """``DeviceData`` with its arrays on ``device``; models of one lander share it."""
    data = DeviceData()
    touching = zip(parts.touching, parts.owners, strict=True)
    pads = [(tree.index(p.body), p.place, p.radius, belly) for p, belly in touching]
    data.pads = _table(PadData, pads, device)
    data.bellies = len(parts.bellies)
    data.crushables = _table(CrushData, [_crush_row(tree, c) for c in parts.crushables], device)
    sloshes = [(tree.index(s.body), tree.index(s.parent), s.direction) for s in parts.sloshes]
    data.sloshes = _table(SloshData, sloshes, device)
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

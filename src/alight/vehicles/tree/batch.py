"""Many states of one tree on a device: the kernels that evaluate and fly them."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.rows import by_slot
from alight.core.types import scalar, vec3
from alight.core.warp_setup import VECTOR_OPTIONS
from alight.vehicles.tree.data import (
    POSITION,
    RATE,
    VELOCITY,
    TreeData,
    TreeMemory,
    tree_memory,
    turn_of,
    vector_row,
)
from alight.vehicles.tree.forward_dynamics import solve_tree
from alight.vehicles.tree.joint_loads import TreeSums, joint_loads, tree_sums
from alight.vehicles.tree.joints import add_joint_efforts, configuration_rate, make_unit
from alight.vehicles.tree.kinematics import clear_forces, place_tree, push_body

#: Runs a CPU thread gets at least: one evaluation of a small tree takes a microsecond.
_MIN_ITEMS = 256


@wp.struct
class Applied:
    """What acts on a tree. One row stands for all bodies, and one column for all slots."""

    efforts: wp.array2d(dtype=scalar)
    """[row of a velocity, slot] of the joints, beside their own springs and motors [N], [N m]."""
    gravity: wp.array2d(dtype=vec3)
    """[body, slot] acceleration at the centres of mass, world axes [m/s^2]."""
    forces: wp.array2d(dtype=vec3)
    """[body, slot] world axes [N]."""
    moments: wp.array2d(dtype=vec3)
    """[body, slot] world axes [N m]."""
    points: wp.array2d(dtype=vec3)
    """[body, slot] where the forces act, body axes [m]."""


@wp.struct
class StepMemory:
    """What a Runge-Kutta step keeps, [row, slot]."""

    q: wp.array2d(dtype=scalar)
    v: wp.array2d(dtype=scalar)
    q_sum: wp.array2d(dtype=scalar)
    v_sum: wp.array2d(dtype=scalar)
    q_rate: wp.array2d(dtype=scalar)


@wp.func
def _vector(values: wp.array2d(dtype=vec3), i: int, slot: int) -> vec3:
    return values[wp.min(i, values.shape[0] - 1), wp.min(slot, values.shape[1] - 1)]


@wp.func
def _apply(tree: TreeData, applied: Applied, memory: TreeMemory, slot: int):
    """Forces and efforts from outside."""
    clear_forces(tree, memory, slot)
    for i in range(tree.count):
        body = tree.bodies[i]
        turn = turn_of(memory, i, slot)
        weight = body.mass * _vector(applied.gravity, i, slot)
        force = _vector(applied.forces, i, slot)
        moment = _vector(applied.moments, i, slot)
        push_body(memory, i, wp.quat_rotate(turn, body.center), weight, moment, slot)
        lever = wp.quat_rotate(turn, _vector(applied.points, i, slot))
        push_body(memory, i, lever, force, vec3(), slot)
    column = wp.min(slot, applied.efforts.shape[1] - 1)
    for k in range(tree.n_v):
        memory.efforts[k, slot] = applied.efforts[k, column]


@wp.func
def _evaluate(
    tree: TreeData,
    q: wp.array2d(dtype=scalar),
    v: wp.array2d(dtype=scalar),
    applied: Applied,
    spin: vec3,
    memory: TreeMemory,
    slot: int,
    acceleration_out: wp.array2d(dtype=scalar),
):
    """Accelerations at one state."""
    place_tree(tree, q, v, spin, memory, slot)
    _apply(tree, applied, memory, slot)
    add_joint_efforts(tree, q, v, memory.efforts, slot)
    solve_tree(tree, memory, slot, acceleration_out)


@functools.cache
def _solve_kernel(with_loads: bool) -> Any:
    """Accelerations of one state a thread, and perhaps the loads through its joints."""

    @wp.kernel(module="unique", enable_backward=False, module_options=VECTOR_OPTIONS)
    def solve_states(
        offset: int,
        tree: TreeData,
        q: wp.array2d(dtype=scalar),
        v: wp.array2d(dtype=scalar),
        applied: Applied,
        spin: vec3,
        memory: TreeMemory,
        acceleration_out: wp.array2d(dtype=scalar),
        force_out: wp.array2d(dtype=vec3),
        moment_out: wp.array2d(dtype=vec3),
    ) -> None:
        slot = wp.tid() + offset
        _evaluate(tree, q, v, applied, spin, memory, slot, acceleration_out)
        if wp.static(with_loads):
            joint_loads(tree, memory, slot, force_out, moment_out)

    return solve_states


@functools.cache
def _place_kernel() -> Any:
    """Poses, velocities and sums of one state a thread."""

    @wp.kernel(module="unique", enable_backward=False, module_options=VECTOR_OPTIONS)
    def place_states(
        offset: int,
        tree: TreeData,
        q: wp.array2d(dtype=scalar),
        v: wp.array2d(dtype=scalar),
        gravity: vec3,
        spin: vec3,
        memory: TreeMemory,
        position_out: wp.array2d(dtype=vec3),
        velocity_out: wp.array2d(dtype=vec3),
        rate_out: wp.array2d(dtype=vec3),
        sums_out: wp.array(dtype=TreeSums),
    ) -> None:
        slot = wp.tid() + offset
        place_tree(tree, q, v, spin, memory, slot)
        for i in range(tree.count):
            rate = vector_row(memory, i, RATE, slot) - spin
            position_out[i, slot] = vector_row(memory, i, POSITION, slot)
            velocity_out[i, slot] = vector_row(memory, i, VELOCITY, slot)
            rate_out[i, slot] = wp.quat_rotate_inv(turn_of(memory, i, slot), rate)
        sums_out[slot] = tree_sums(tree, q, gravity, memory, slot)

    return place_states


@functools.cache
def _fly_kernel() -> Any:
    """Steps of the classical Runge-Kutta method, one run a thread."""

    @wp.func
    def step(
        tree: TreeData,
        q: wp.array2d(dtype=scalar),
        v: wp.array2d(dtype=scalar),
        applied: Applied,
        spin: vec3,
        h: scalar,
        memory: TreeMemory,
        kept: StepMemory,
        acceleration: wp.array2d(dtype=scalar),
        slot: int,
    ):
        for k in range(tree.n_q):
            kept.q[k, slot] = q[k, slot]
            kept.q_sum[k, slot] = scalar(0.0)
        for k in range(tree.n_v):
            kept.v[k, slot] = v[k, slot]
            kept.v_sum[k, slot] = scalar(0.0)
        for stage in range(int(4)):
            _evaluate(tree, q, v, applied, spin, memory, slot, acceleration)
            configuration_rate(tree, q, v, kept.q_rate, slot)
            weight = h / wp.where(stage == 0 or stage == 3, scalar(6.0), scalar(3.0))
            ahead = wp.where(stage == 2, h, scalar(0.5) * h)
            for k in range(tree.n_q):
                total = kept.q_sum[k, slot] + weight * kept.q_rate[k, slot]
                kept.q_sum[k, slot] = total
                q[k, slot] = kept.q[k, slot] + ahead * kept.q_rate[k, slot]
                if stage == 3:
                    q[k, slot] = kept.q[k, slot] + total
            for k in range(tree.n_v):
                total = kept.v_sum[k, slot] + weight * acceleration[k, slot]
                kept.v_sum[k, slot] = total
                v[k, slot] = kept.v[k, slot] + ahead * acceleration[k, slot]
                if stage == 3:
                    v[k, slot] = kept.v[k, slot] + total
        make_unit(tree, q, slot)

    @wp.kernel(module="unique", enable_backward=False, module_options=VECTOR_OPTIONS)
    def fly_states(
        offset: int,
        tree: TreeData,
        applied: Applied,
        spin: vec3,
        h: scalar,
        count: int,
        memory: TreeMemory,
        kept: StepMemory,
        acceleration: wp.array2d(dtype=scalar),
        q_out: wp.array2d(dtype=scalar),
        v_out: wp.array2d(dtype=scalar),
    ) -> None:
        slot = wp.tid() + offset
        for _ in range(count):
            step(tree, q_out, v_out, applied, spin, h, memory, kept, acceleration, slot)

    return fly_states


class TreeBatch:
    """States of a tree on a device, with all memory that evaluating them takes.

    ``Tree`` makes one for each call; one that is kept saves the way to the device and back.
    """

    def __init__(
        self, data: Any, q: Array, v: Array, device: devices.Device, threads: int | None = None
    ) -> None:
        self.data, self.device, self.threads = data, device, threads
        self.slots = len(q)
        self.q, self.v = self._rows(q), self._rows(v)
        self.memory = tree_memory(data.count, data.n_v, self.slots, device)
        self.acceleration = self._new(data.n_v, scalar)
        self.applied = self.acting({})
        self.spin = vec3()

    def acting(self, given: Mapping[str, Array]) -> Any:
        """``Applied`` from arrays (slots or 1, rows or 1[, 3]); zeros where nothing is given."""
        applied = Applied()
        efforts = given.get("efforts", np.zeros((1, self.data.n_v)))
        applied.efforts = self._rows(efforts)
        for name in ("gravity", "forces", "moments", "points"):
            values = given.get(name, np.zeros((1, 1, 3)))
            flipped = np.ascontiguousarray(values.transpose(1, 0, 2))
            setattr(applied, name, wp.array(flipped, dtype=vec3, device=self.device.name))
        return applied

    def solve(self) -> None:
        """Fill ``acceleration``; on a GPU without waiting."""
        nothing = wp.empty((0, 0), dtype=vec3, device=self.device.name)
        self._solve(_solve_kernel(False), nothing, nothing)

    def loads(self) -> tuple[Array, Array, Array]:
        """Forces and moments (slots, bodies, 3) through the joints, and attitudes."""
        force, moment = (self._new(self.data.count, vec3) for _ in range(2))
        self._solve(_solve_kernel(True), force, moment)
        return _columns(force), _columns(moment), self.turns()

    def _solve(self, kernel: Any, force: Any, moment: Any) -> None:
        inputs = [self.data, self.q, self.v, self.applied, self.spin, self.memory]
        self._launch(kernel, [*inputs, self.acceleration, force, moment])

    def place(self, gravity: Array) -> tuple[Array, Array, Array, Array, Any]:
        """Positions, attitudes, velocities, rates (slots, bodies, .) and the rows of the sums."""
        found = [self._new(self.data.count, vec3) for _ in range(3)]
        sums = wp.zeros(self.slots, dtype=TreeSums, device=self.device.name)
        inputs = [self.data, self.q, self.v, vec3(*gravity), self.spin, self.memory]
        self._launch(_place_kernel(), [*inputs, *found, sums])
        position, velocity, rate = (_columns(values) for values in found)
        return position, self.turns(), velocity, rate, sums.numpy()

    def turns(self) -> Array:
        """(slots, bodies, 4) attitudes, once the tree was placed."""
        return _columns(self.memory.turns)[: self.slots].reshape(self.slots, -1, 4)

    @functools.cached_property
    def _step_memory(self) -> Any:
        kept = StepMemory()
        for name in ("q", "q_sum", "q_rate"):
            setattr(kept, name, self._new(self.data.n_q, scalar))
        for name in ("v", "v_sum"):
            setattr(kept, name, self._new(self.data.n_v, scalar))
        return kept

    def fly(self, step: float, count: int) -> None:
        """Move ``q`` and ``v`` on by ``count`` steps of ``step`` [s]."""
        inputs = [self.data, self.applied, self.spin, step, count, self.memory, self._step_memory]
        self._launch(_fly_kernel(), [*inputs, self.acceleration, self.q, self.v])

    def columns(self, values: Any) -> Array:
        """An array of the batch as NumPy, (slots, rows)."""
        return _columns(values)

    def _launch(self, kernel: Any, arguments: list[Any]) -> None:
        if self.slots:
            devices.launch(
                kernel,
                self.slots,
                arguments,
                self.device,
                self.threads,
                min_items=_MIN_ITEMS,
                block=64,
            )

    def _new(self, rows: int, kind: Any) -> Any:
        return by_slot(rows, self.slots, kind, self.device)

    def _rows(self, values: Array) -> Any:
        found = by_slot(values.shape[1], len(values), scalar, self.device)
        if values.size:
            found.assign(np.ascontiguousarray(values.T))
        return found


def _columns(values: Any) -> Array:
    """(rows, slots, ...) of a device as (slots, rows, ...), never a view of the device's memory."""
    return np.array(np.swapaxes(values.numpy(), 0, 1), order="C")

"""``Tree``: a lander of rigid bodies and joints, with its dynamics in O(n).

    tree = Tree("lander", bodies=[TreeBody("bus", 340.0, (600, 650, 600)), ...],
                joints=[Joint("bus", "free"), Joint("leg", "prismatic", "bus", axis=(0, -1, 0))])
    tree.accelerations(q, v, gravity=(0, -1e-3, 0))

A configuration q and a velocity v are the joints' numbers in the order of ``tree.bodies``, in which
parents come first; ``tree.q_slices[name]`` and ``tree.v_slices[name]`` find them. What each kind of
joint has is in ``joints``. Quaternions are xyzw; Euler angles are for reports
(``vehicles.euler``). Every method takes any number of states, ``q`` of shape (..., n_q).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Unpack
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import warp as wp

from alight.core import devices, frames
from alight.core.checks import (
    Array,
    checked_name,
    checked_number,
    checked_vector,
    checked_whole,
)
from alight.core.errors import InputError, unknown_name
from alight.core.types import vec3
from alight.vehicles.tree.batch import TreeBatch
from alight.vehicles.tree.data import BodyData, TreeData
from alight.vehicles.tree.joint_kinds import KINDS
from alight.vehicles.tree.parts import Joint, TreeBody
from alight.vehicles.tree.states import (
    Acting,
    Flight,
    JointLoads,
    Kinematics,
    Momentum,
    TreeEnergy,
    checked_numbers,
    over_states,
    require_unit,
    turned_by,
)
from alight.vehicles.tree.structure_checks import ordered, require_inertia

#: Fields of ``BodyData`` that a ``Joint`` has by the same name.
_OF_JOINTS = (
    *("place", "turn", "axis", "stiffness", "rest", "damping", "lower", "upper"),
    *("stop_stiffness", "stop_damping", "friction", "friction_speed", "motor"),
)


#: What trees are to kernels, by device; not in the trees themselves, which can be pickled.
_ON_DEVICES: WeakKeyDictionary[Tree, dict[str, Any]] = WeakKeyDictionary()


class Tree:
    """Rigid bodies joined in a tree. It never changes once made."""

    def __init__(self, name: str, bodies: Sequence[TreeBody], joints: Sequence[Joint]) -> None:
        self._name = checked_name("a tree", name)
        parts = ordered(f'tree "{name}"', bodies, joints)
        require_inertia(f'tree "{name}"', parts)
        self._bodies = tuple(body for body, _ in parts)
        self._joints = tuple(joint for _, joint in parts)

    # -- layout --------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    @property
    def bodies(self) -> tuple[TreeBody, ...]:
        """Parents first, otherwise as they were given."""
        return self._bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joint of each body, in the same order."""
        return self._joints

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self._bodies)

    @cached_property
    def n_q(self) -> int:
        """Numbers of a configuration."""
        return sum(joint.n_q for joint in self._joints)

    @cached_property
    def n_v(self) -> int:
        """Numbers of a velocity: the freedoms of the tree."""
        return sum(joint.n_v for joint in self._joints)

    @cached_property
    def mass(self) -> float:
        """Of all bodies [kg]."""
        return sum(body.mass for body in self._bodies)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Number of the parent of each body; -1 for the world."""
        number = {body.name: i for i, body in enumerate(self._bodies)}
        return tuple(-1 if j.parent is None else number[j.parent] for j in self._joints)

    @cached_property
    def q_slices(self) -> MappingProxyType[str, slice]:
        """Where the joint of each body, by the body's name, is in a configuration."""
        return _slices(self._joints, [joint.n_q for joint in self._joints])

    @cached_property
    def v_slices(self) -> MappingProxyType[str, slice]:
        """Where the joint of each body, by the body's name, is in a velocity."""
        return _slices(self._joints, [joint.n_v for joint in self._joints])

    def index(self, body: str) -> int:
        """Number of a body."""
        names = [b.name for b in self._bodies]
        if body not in names:
            raise unknown_name(f'body of tree "{self.name}"', body, names)
        return names.index(body)

    def neutral(self) -> Array:
        """(n_q,) all angles, strokes and places 0, and no turns."""
        q = np.zeros(self.n_q)
        for joint in self._joints:
            if joint.kind in ("spherical", "free"):
                q[self.q_slices[joint.body].stop - 1] = 1.0
        return q

    def __str__(self) -> str:
        kinds = [joint.kind for joint in self._joints]
        told = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)
        return f"{self.name}: {self.mass:.5g} kg, {self.count} bodies, {self.n_v} freedoms ({told})"

    # -- dynamics ------------------------------------------------------------------------------

    def accelerations(self, q: npt.ArrayLike, v: npt.ArrayLike, **acting: Unpack[Acting]) -> Array:
        """(..., n_v) time derivative of ``v``; arguments as in ``Acting``."""
        batch, shape = self._batch(q, v, acting)
        batch.solve()
        found = batch.columns(batch.acceleration)
        self._require_finite(found)
        return found.reshape(*shape, self.n_v)

    def loads(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        axes: str = "world",
        **acting: Unpack[Acting],
    ) -> JointLoads:
        """Force and moment through every joint, fixed ones too, in ``axes`` "world" or "body"."""
        if axes not in ("world", "body"):
            raise unknown_name("axes", axes, ("world", "body"))
        batch, shape = self._batch(q, v, acting)
        force, moment, turns = batch.loads()
        self._require_finite(force.reshape(batch.slots, -1))
        if axes == "body":
            force, moment = (frames.quat_rotate_inv(turns, x) for x in (force, moment))
        full = (*shape, self.count, 3)
        return JointLoads(force.reshape(full), moment.reshape(full))

    def kinematics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        device: str = "auto",
        threads: int | None = None,
    ) -> Kinematics:
        """Poses and velocities of all bodies."""
        batch, shape = self._batch(q, v, Acting(device=device, threads=threads))
        position, turn, velocity, rate, _ = batch.place(np.zeros(3))
        arm = frames.quat_rotate(turn, np.array([body.center for body in self._bodies]))
        spin = np.cross(frames.quat_rotate(turn, rate), arm)
        found = (position, turn, velocity, rate, position + arm, velocity + spin)
        return Kinematics(*(x.reshape(*shape, self.count, x.shape[-1]) for x in found))

    def energy(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        gravity: npt.ArrayLike = (0.0, 0.0, 0.0),
        device: str = "auto",
        threads: int | None = None,
    ) -> TreeEnergy:
        """Energy in world axes that do not turn, under uniform ``gravity`` [m/s^2]."""
        g = checked_vector("gravity [m/s^2]", gravity)
        batch, shape = self._batch(q, v, Acting(device=device, threads=threads))
        sums = batch.place(g)[-1]
        return TreeEnergy(*(sums[name].reshape(shape) for name in TreeEnergy._fields))

    def momentum(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        about: npt.ArrayLike | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> Momentum:
        """Momentum in world axes that do not turn; ``about`` a point, or the centre of mass."""
        batch, shape = self._batch(q, v, Acting(device=device, threads=threads))
        sums = batch.place(np.zeros(3))[-1]
        linear, angular, center = (sums[name] for name in Momentum._fields)
        if about is not None:
            angular = angular + np.cross(center - checked_vector("about [m]", about), linear)
        return Momentum(*(x.reshape(*shape, 3) for x in (linear, angular, center)))

    # -- motion --------------------------------------------------------------------------------

    def integrate(self, q: npt.ArrayLike, v: npt.ArrayLike, dt: float) -> Array:
        """(..., n_q) the configuration after ``dt`` [s] at a constant velocity ``v``.

        Quaternions turn about the rate, exactly, and stay unit: they are not added to.
        """
        dt = checked_number("dt [s]", dt, -np.inf)
        q, v, shape = self._states(q, v)
        found = np.array(q)
        for joint in self._joints:
            a, b = self.q_slices[joint.body], self.v_slices[joint.body]
            x, speed = q[:, a], dt * v[:, b]
            if joint.kind in ("spherical", "free"):
                n = joint.n_q - 4
                found[:, a] = np.concatenate(
                    [x[:, :n] + speed[:, :n], turned_by(x[:, n:], speed[:, n:])], axis=1
                )
            else:
                found[:, a] = x + speed
        return found.reshape(*shape, self.n_q)

    def fly(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        step: float,
        count: int,
        every: int | None = None,
        **acting: Unpack[Acting],
    ) -> Flight:
        """``count`` steps [s] of the classical Runge-Kutta method (order 4), under constant loads.

        States are kept each ``every`` steps, the first and last included; those two alone if
        not given. Quaternions are integrated as such and made unit after each step (paper 002
        Eqs. 18-20). Stops and friction are not smooth: where they act the order is lower.
        """
        step = checked_number("step [s]", step, -np.inf)
        count = checked_whole("count", count, 1)
        every = count if every is None else checked_whole("every", every, 1)
        batch, shape = self._batch(q, v, acting)
        done, states = 0, [(0.0, batch.columns(batch.q), batch.columns(batch.v))]
        while done < count:
            some = min(every, count - done)
            batch.fly(step, some)
            done += some
            states.append((done * step, batch.columns(batch.q), batch.columns(batch.v)))
        self._require_finite(states[-1][2])
        time, qs, vs = zip(*states, strict=True)
        return Flight(
            np.array(time),
            np.array(qs).reshape(len(time), *shape, self.n_q),
            np.array(vs).reshape(len(time), *shape, self.n_v),
        )

    # -- for kernels ---------------------------------------------------------------------------

    def kernel_data(self, device: devices.Device) -> Any:
        """The ``TreeData`` struct, its array on ``device``; made once."""
        kept = _ON_DEVICES.setdefault(self, {})
        if device.name not in kept:
            kept[device.name] = self._new_kernel_data(device)
        return kept[device.name]

    def _new_kernel_data(self, device: devices.Device) -> Any:
        data = TreeData()
        data.count, data.n_q, data.n_v = self.count, self.n_q, self.n_v
        kind: Any = BodyData
        table: Any = np.zeros(self.count, dtype=kind.numpy_dtype())
        for i, (body, joint) in enumerate(zip(self._bodies, self._joints, strict=True)):
            row = table[i]
            row["parent"], row["kind"] = self.parents[i], KINDS[joint.kind][0]
            row["q_at"] = self.q_slices[body.name].start
            row["v_at"] = self.v_slices[body.name].start
            row["mass"], row["inertia"], row["center"] = body.mass, body.inertia, body.center
            for name in _OF_JOINTS:
                row[name] = getattr(joint, name)
        data.bodies = wp.array(table, dtype=BodyData, device=device.name)
        return data

    def batch(self, q: npt.ArrayLike, v: npt.ArrayLike, **acting: Unpack[Acting]) -> TreeBatch:
        """States kept on a device, to be evaluated or flown again and again."""
        return self._batch(q, v, acting)[0]

    def _batch(
        self, q: npt.ArrayLike, v: npt.ArrayLike, acting: Acting
    ) -> tuple[TreeBatch, tuple[int, ...]]:
        for name in acting:
            if name not in Acting.__annotations__:
                raise unknown_name("argument", name, Acting.__annotations__)
        states, velocities, shape = self._states(q, v)
        target = devices.resolve(acting.get("device", "auto"))
        data = self.kernel_data(target)
        batch = TreeBatch(data, states, velocities, target, acting.get("threads"))
        batch.applied = batch.acting(self._given(acting, shape))
        spin = acting.get("spin")
        if spin is not None:
            batch.spin = vec3(*checked_vector("spin [rad/s]", spin))
        return batch, shape

    def _states(self, q: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Array, Array, tuple[int, ...]]:
        """Configurations (n, n_q) and velocities (n, n_v), and the shape they came in."""
        a, b = checked_numbers("q", q, (self.n_q,)), checked_numbers("v", v, (self.n_v,))
        try:
            shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
        except ValueError:
            raise InputError(
                f"q has shape {a.shape} and v {b.shape}; without the last number the two must "
                "match, or broadcast"
            ) from None
        n = int(np.prod(shape))
        a = np.broadcast_to(a, (*shape, self.n_q)).reshape(n, self.n_q)
        b = np.broadcast_to(b, (*shape, self.n_v)).reshape(n, self.n_v)
        for joint in self._joints:
            if joint.kind in ("spherical", "free"):
                end = self.q_slices[joint.body].stop
                require_unit(joint, np.linalg.norm(a[:, end - 4 : end], axis=1))
        return a, b, shape

    def _given(self, acting: Acting, shape: tuple[int, ...]) -> dict[str, Array]:
        """Arrays (states or 1, rows, ...) of what acts."""
        found: dict[str, Array] = {}
        for name in ("gravity", "forces", "moments", "points"):
            value: npt.ArrayLike | None = acting.get(name)  # type: ignore[assignment]
            if value is None:
                continue
            array = np.asarray(value)
            if name == "gravity" and array.shape == (3,):
                value = np.broadcast_to(array, (self.count, 3))
            found[name] = over_states(name, value, (self.count, 3), shape)
        if acting.get("points") is None:
            found["points"] = np.array([[body.center for body in self._bodies]])
        elif acting.get("forces") is None:
            raise InputError("points are given at which forces act, but no forces; give forces")
        tau = acting.get("tau")
        if tau is not None:
            found["efforts"] = over_states("tau", tau, (self.n_v,), shape)
        return found

    def _require_finite(self, rows: Array) -> None:
        bad = ~np.isfinite(rows).all(axis=tuple(range(1, rows.ndim)))
        if bad.any():
            raise InputError(
                f'tree "{self.name}" has no finite accelerations in {int(bad.sum())} of '
                f"{len(rows)} states (first: number {int(np.argmax(bad))}). Its configuration "
                "leaves a joint without inertia, or a step is too long for a stiff joint: give "
                "the bodies concerned mass and inertia, or take shorter steps."
            )


def _slices(joints: Sequence[Joint], sizes: list[int]) -> MappingProxyType[str, slice]:
    edges = np.cumsum([0, *sizes])
    pairs = zip(joints, edges[:-1], edges[1:], strict=True)
    return MappingProxyType({j.body: slice(int(a), int(b)) for j, a, b in pairs})

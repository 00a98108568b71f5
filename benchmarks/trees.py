"""Articulated trees: time of an evaluation beside Pinocchio's, growth with bodies, a step."""

from collections.abc import Callable
from typing import Any

import numpy as np

from alight.cli.bench import Row, median_time, turn_by_turn
from alight.core import frames
from alight.core.devices import Device, resolve
from alight.core.errors import MissingExtraError
from alight.core.extras import require
from alight.vehicles import Joint, Tree, TreeBody

TITLE = "Trees"

NOTES = """\
Accelerations of articulated trees by the O(n) algorithm, in float64, on one core, 256 states in a
launch. The lander has a free bus, three sliding legs, a slosh pendulum on a ball joint and a hinged
antenna: 6 bodies, 13 freedoms. *peer* is Pinocchio's `aba` on the same states, turn by turn, called
state by state from Python, so that some of its time is that of the call. *error* is the largest
difference of the two over the largest acceleration of a state. *step* is one of the classical
Runge-Kutta method, four evaluations. A chain alternates hinges and slides.
"""

GRAVITY = np.array([0.0, -5e-3, 0.0])
STATES = 256


def lander() -> Tree:
    """Six bodies, none of them fixed."""
    leg = (6.0, (0.5, 0.02, 0.5), (0.0, -0.4, 0.0))
    seats = ((0.8668, -1.0, 1.455), (0.8668, -1.0, -1.455), (-1.6532, -1.0, 0.0))
    legs = [f"leg {k}" for k in (1, 2, 3)]
    bodies = [
        TreeBody("bus", 330.0, [[640, 6, -15], [6, 690, 9], [-15, 9, 620]], (0.01, 0.02, -0.01)),
        *(TreeBody(name, *leg) for name in legs),
        TreeBody("liquid", 10.0, (0.05, 0.04, 0.05), (0.0, -0.15, 0.0)),
        TreeBody("antenna", 3.0, (0.2, 0.1, 0.15), (0.1, 0.2, 0.0)),
    ]
    joints = [
        Joint("bus", "free"),
        *(
            Joint(name, "prismatic", "bus", seat, axis=(0, 1, 0))
            for name, seat in zip(legs, seats, strict=True)
        ),
        Joint("liquid", "spherical", "bus", (0.0, 0.0268, 0.0)),
        Joint("antenna", "revolute", "bus", (0.3, 1.0, 0.0), axis=(1, 2, 0)),
    ]
    return Tree("lander", bodies, joints)


def chain(count: int) -> Tree:
    """A free body with hinges and slides in turn on it."""
    bodies, joints = [], []
    for k in range(count):
        bodies.append(TreeBody(f"b{k}", 2.0, (0.1, 0.2, 0.15), (0.1, 0.0, 0.05)))
        kind = "free" if k == 0 else ("revolute", "prismatic")[k % 2]
        axis = (0.0, 1.0, k % 3) if k else None
        parent = f"b{k - 1}" if k else None
        joints.append(Joint(f"b{k}", kind, parent, (0.3, 0.0, 0.1), axis=axis))
    return Tree(f"chain of {count}", bodies, joints)


def states(tree: Tree, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Configurations and velocities anywhere."""
    rng = np.random.default_rng(2015)
    start = np.tile(tree.neutral(), (count, 1))
    moved = tree.integrate(start, rng.uniform(-1.0, 1.0, (count, tree.n_v)), 1.0)
    return moved, rng.uniform(-1.0, 1.0, (count, tree.n_v))


class Peer:
    """The same tree in Pinocchio."""

    def __init__(self, module: Any, tree: Tree) -> None:
        self.module, self.tree, self.model = module, tree, module.Model()
        self.model.gravity.linear = GRAVITY
        for i, (body, joint) in enumerate(zip(tree.bodies, tree.joints, strict=True)):
            place = module.SE3(frames.quat_to_matrix(np.asarray(joint.turn)), np.array(joint.place))
            parent = tree.parents[i] + 1
            self.model.addJoint(parent, self._joint(joint), place, joint.name)
            own = module.Inertia(body.mass, np.array(body.center), np.array(body.inertia))
            self.model.appendBodyToJoint(i + 1, own, module.SE3.Identity())
        self.data = self.model.createData()

    def _joint(self, joint: Joint) -> Any:
        if joint.kind == "free":
            return self.module.JointModelFreeFlyer()
        if joint.kind == "spherical":
            return self.module.JointModelSpherical()
        turning = joint.kind == "revolute"
        unaligned = "JointModelRevoluteUnaligned" if turning else "JointModelPrismaticUnaligned"
        return getattr(self.module, unaligned)(np.array(joint.axis))

    def call(self, q: np.ndarray, v: np.ndarray, out: np.ndarray) -> Callable[[], None]:
        """A call that fills ``out`` with accelerations, in Pinocchio's axes of the free joint."""
        aba, model, data = self.module.aba, self.model, self.data
        speeds = np.array(v)
        speeds[:, :3] = frames.quat_rotate_inv(q[:, 3:7], v[:, :3])
        effort = np.zeros(self.tree.n_v)
        rows = [(np.array(a), np.array(b)) for a, b in zip(q, speeds, strict=True)]

        def run() -> None:
            for k, (a, b) in enumerate(rows):
                out[k] = aba(model, data, a, b, effort)

        return run


def in_our_axes(q: np.ndarray, v: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Pinocchio's accelerations with the bus's own as the second derivative of its place."""
    found = np.array(out)
    moving = frames.quat_rotate_inv(q[:, 3:7], v[:, :3])
    found[:, :3] = frames.quat_rotate(q[:, 3:7], out[:, :3] + np.cross(v[:, 3:6], moving))
    return found


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    pin = None
    try:
        pin = require("pinocchio", "dev")
    except MissingExtraError as absent:
        print(f"no comparison: {absent}")
    found = []
    for tree in (lander(), chain(6), chain(20)):
        print(f"  {tree.name}", flush=True)
        found.append(_row(tree, Peer(pin, tree) if pin else None, 5 * repeats))
    found.append(_step_row(lander(), repeats))
    if device.is_gpu:
        found += _gpu_rows(lander(), device, repeats)
    return found


def _row(tree: Tree, peer: Peer | None, repeats: int) -> Row:
    """One evaluation on one core, beside Pinocchio's."""
    q, v = states(tree, STATES)
    batch = tree.batch(q, v, gravity=GRAVITY, device="cpu", threads=1)
    title, per = f"{tree.name}, {tree.n_v} freedoms", 1e6 / STATES
    if peer is None:
        return Row(title, median_time(batch.solve, repeats) * per, "us")
    out = np.empty((STATES, tree.n_v))
    ours, theirs, ratio = turn_by_turn(batch.solve, peer.call(q, v, out), repeats, 1.0)
    other, found = in_our_axes(q, v, out), batch.columns(batch.acceleration)
    error = (np.abs(found - other).max(axis=1) / np.abs(other).max(axis=1)).max()
    return Row(title, ours * per, "us", None, theirs * per, ratio, 1.0, float(error), 1e-10)


def _step_row(tree: Tree, repeats: int) -> Row:
    """A Runge-Kutta step inside a kernel, memory warm."""
    q, v = states(tree, STATES)
    batch = tree.batch(q, v, gravity=GRAVITY, device=resolve("cpu").name, threads=1)
    time = median_time(lambda: batch.fly(1e-6, 20), repeats)
    return Row(f"{tree.name}, step", time * 1e6 / (20 * STATES), "us/step")


def _gpu_rows(tree: Tree, device: Device, repeats: int) -> list[Row]:
    """Many states at once."""
    count = 200_000
    q, v = states(tree, count)
    batch = tree.batch(q, v, gravity=GRAVITY, device=device.name)

    def timed(call: Callable[[], None]) -> float:
        def run() -> None:
            call()
            device.synchronize()

        return median_time(run, repeats) * 1e6 / count

    where = f"{count} at once, {device.label}"
    evaluation = timed(batch.solve)
    step = timed(lambda: batch.fly(1e-6, 10)) / 10
    return [
        Row(f"{tree.name}, {where}", evaluation, "us"),
        Row(f"{tree.name}, step, {where}", step, "us/step"),
    ]

"""Where runs start: their releases, checked against the ground and lifted out of it (``lift``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.contact.hull.overlap import overlap
from alight.contact.hull.supported_surfaces import is_ball
from alight.contact.impulse.law import Impulse
from alight.contact.sliding.law import Sliding
from alight.core import devices, frames
from alight.core.checks import Array
from alight.engine.lift import HELD, lifted
from alight.engine.release import Release, lowest_points


def placed(
    model: Any, release: Release, device: devices.Device, threads: int | None
) -> tuple[Array, Any]:
    """Positions (n, 3) [m] that runs of a rigid lander start from, and which are refused."""

    def lowest(rows: Any, x: Array) -> Any:
        return lowest_of(model, x, release.attitude[rows], device, threads)

    def look(rows: Any, x: Array) -> tuple[Array, Array]:
        found = lowest(rows, x)
        return found["gap"], found["way"]

    def rests(rows: Any) -> Any:
        x = release.position[rows]
        weight = model.lander.mass * pull_at(model, x, device, threads)
        return spring_push(model, rows, lowest(rows, x)["pressed"], weight) < HELD * weight

    return lifted(look, release.position, model.lander.bounding_radius, rests)


def lowest_of(model: Any, x: Array, q: Array, device: devices.Device, threads: int | None) -> Any:
    """(k,) structured array of ``Lowest``: of contact points, and where the hull touches of that.

    The hull is looked at only where the lander reaches as far as the ground.
    """
    low = np.array(lowest_points(model, x, q, device, threads))
    near = np.flatnonzero(low["way"].any(axis=1))
    if model.scheme.hull and not is_ball(model.lander) and len(near):
        found = overlap(
            model.surface, model.lander, x[near], q[near], device=device.name, threads=threads
        )
        deeper = found.depth > np.maximum(0.0, -low["gap"][near])
        rows = near[deeper]
        low["gap"][rows], low["way"][rows] = -found.depth[deeper], found.way[deeper]
        low["pressed"][rows] = np.maximum(low["pressed"][rows], found.depth[deeper])
    return low


def spring_push(model: Any, rows: Any, pressed: Array, weight: Array) -> Array:
    """(k,) what the springs of some runs push with [N], their depths being ``pressed`` [m] in sum.

    Rigid landers have no springs, and what those of laws with a stepping of their own push is not
    known here: any depth is too much for them.
    """
    law = model.contact
    if isinstance(law, Impulse | Sliding) or law.stepping is not None:
        return np.full(len(pressed), np.inf)
    table = model.contact_rows()
    each = rows if len(table) > 1 else np.zeros(len(rows), dtype=np.int64)
    given, depth = table["stiffness"][each], table["depth"][each]
    # Springs that follow the speed press a tenth of the depth in at rest (``stiffness``).
    return np.asarray(np.where(given > 0.0, given, 10.0 * weight / depth) * pressed)


def pull_at(model: Any, x: Array, device: devices.Device, threads: int | None) -> Array:
    """(k,) gravity and centrifugal acceleration of what is at rest on the target [m/s^2]."""
    gravity = model.full_gravity.evaluate(x, device.name, threads)[1]
    omega = model.rotation.evaluate(0.0, "cpu")[0]
    return np.asarray(np.linalg.norm(gravity - np.cross(omega, np.cross(omega, x)), axis=1))


def placed_tree(model: Any, release: Any, threads: int | None) -> tuple[Array, Any]:
    """Configurations (n, n_q) that runs of an articulated lander start from, and which are refused.

    A lander whose first body is not free cannot be lifted: its pads must be above the ground.
    """
    q = np.array(release.q)
    tree, pads = model.tree, model.fitted.pads
    poses = tree.kinematics(q, release.v, device="cpu", threads=threads)
    which = [tree.index(pad.body) for pad in pads]
    places = np.array([pad.place for pad in pads])
    radii = np.array([pad.radius for pad in pads])
    arms = frames.quat_rotate(poses.attitude[:, which], places[None])
    origin = poses.position[:, 0]
    arms = arms + poses.position[:, which] - origin[:, None]

    def depths(rows: Any, x: Array) -> tuple[Array, Array]:
        found = model.surface.sample(x[:, None] + arms[rows], "cpu", threads)
        return found.distance - radii, found.gradient

    def look(rows: Any, x: Array) -> tuple[Array, Array]:
        gap, gradient = depths(rows, x)
        low, each = np.argmin(gap, axis=1), np.arange(len(rows))
        way = gradient[each, low]
        return gap[each, low], way / np.einsum("ij,ij->i", way, way)[:, None]

    def rests(rows: Any) -> Any:
        deep = np.maximum(0.0, -depths(rows, origin[rows])[0])
        table = model.contact_rows()
        k = table["stiffness"][rows if len(table) > 1 else np.zeros(len(rows), dtype=np.int64)]
        weight = tree.mass * pull_at(model, poses.center[rows, 0], devices.resolve("cpu"), threads)
        return k * np.sum(deep**1.5, axis=1) < HELD * weight

    first, refused = lifted(look, origin, model.size, rests)
    if tree.joints[0].kind != "free":
        return q, refused | (first != origin).any(axis=1)
    q[:, :3] = first
    return q, refused

"""Where runs of an articulated lander start: their releases, lifted out of the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core import devices, frames
from alight.core.checks import Array
from alight.engine.lift import HELD, lifted, pull_at


def placed_tree(model: Any, release: Any, threads: int | None) -> tuple[Array, Any, Any]:
    """Configurations (n, n_q) that runs of an articulated lander start from, which are refused, and
    where their bodies are.

    A lander whose first body is not free cannot be lifted: its pads must be above the ground.
    """
    q = np.array(release.q)
    tree, pads = model.tree, model.fitted.touching
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
        return q, refused | (first != origin).any(axis=1), poses
    if (first != origin).any():
        q[:, :3] = first
        poses = tree.kinematics(q, release.v, device="cpu", threads=threads)
    return q, refused, poses

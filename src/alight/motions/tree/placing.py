"""Where runs of an articulated lander start: their releases, lifted out of the ground."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from alight.core import devices, frames
from alight.core.checks import Array
from alight.engine.lift import HELD, lifted, pull_at

Depths = Callable[[Any, Array], tuple[Array, Array]]


def _depths(model: Any, poses: Any, threads: int | None) -> Depths:
    """``(rows, positions of the first body) -> gaps, gradients`` at all that may touch."""
    tree, pads = model.tree, model.fitted.touching
    which = [tree.index(pad.body) for pad in pads]
    places = np.array([pad.place for pad in pads])
    radii = np.array([pad.radius for pad in pads])
    arms = frames.quat_rotate(poses.attitude[:, which], places[None])
    arms = arms + poses.position[:, which] - poses.position[:, :1]

    def depths(rows: Any, x: Array) -> tuple[Array, Array]:
        found = model.surface.of(rows).sample(x[:, None] + arms[rows], "cpu", threads)
        return found.distance - radii, found.gradient

    return depths


def pad_gaps(
    model: Any, release: Any, threads: int | None = None
) -> tuple[Callable[[Any, Array], Array], Array]:
    """``(rows, positions) -> gaps`` of some runs whose first body is at these positions, and the
    positions (n, 3) [m] of the release."""
    poses = model.tree.kinematics(np.array(release.q), release.v, device="cpu", threads=threads)
    depths = _depths(model, poses, threads)

    def gaps(rows: Any, x: Array) -> Array:
        return np.asarray(depths(rows, x)[0].min(axis=1))

    return gaps, np.array(poses.position[:, 0])


def placed_tree(model: Any, release: Any, threads: int | None) -> tuple[Array, Any, Any]:
    """Configurations (n, n_q) that runs of an articulated lander start from, which are refused, and
    where their bodies are.

    A lander whose first body is not free cannot be lifted: its pads must be above the ground.
    """
    q, tree = np.array(release.q), model.tree
    poses = tree.kinematics(q, release.v, device="cpu", threads=threads)
    origin = poses.position[:, 0]
    depths = _depths(model, poses, threads)

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

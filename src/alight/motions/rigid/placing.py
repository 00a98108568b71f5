"""Where runs start: their releases, checked against the ground and lifted out of it (``lift``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.contact.hull.overlap import overlap
from alight.contact.hull.supported_surfaces import is_ball
from alight.contact.impulse.law import Impulse
from alight.contact.sliding.law import Sliding
from alight.core import devices
from alight.core.checks import Array
from alight.engine.lift import HELD, lifted, pull_at
from alight.motions.rigid.release import Release, lowest_points


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

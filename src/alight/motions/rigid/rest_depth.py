"""How landers rest: how deep their hulls and the ground overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from alight.contact.hull.overlap import overlap
from alight.contact.hull.supported_surfaces import is_ball
from alight.core import devices
from alight.core.checks import Array
from alight.core.outcomes import Outcome
from alight.motions.rigid.release import lowest_points

if TYPE_CHECKING:
    from alight.motions.rigid.model import Model
    from alight.motions.rigid.solution import Solution


def hull_depths(model: Model, final: Any, device: str, threads: int | None = None) -> Any:
    """(n,) masked array [m] of how deep each lander at rest and the ground overlap.

    ``final`` are last states of a rigid lander, as ``BatchResult.final``; those that do not rest
    are masked. Springs press in by a tenth of their depth at rest; what is much deeper stands in
    the lander between its contact points, where nothing pushes (``contact.overlap``).
    """
    out = np.ma.masked_all(len(final), dtype=np.float64)
    rows = np.flatnonzero(final["outcome"] == Outcome.SETTLED)
    if len(rows):
        x, q = final["x"][rows], final["q"][rows]
        out[rows] = _depths(model, x, q, device, threads)
    return out


def resting_depth(solution: Solution) -> float:
    """The same [m] of one run that came to rest."""
    x, q = solution.position[-1:], solution.attitude[-1:]
    return float(_depths(solution.model, x, q, solution.device.name, None)[0])


def _depths(model: Model, x: Array, q: Array, device: str, threads: int | None) -> Array:
    if is_ball(model.lander):
        low = lowest_points(model, x, q, devices.resolve(device), threads)
        return np.maximum(0.0, -np.array(low["gap"]))
    return overlap(model.surface, model.lander, x, q, device=device, threads=threads).depth

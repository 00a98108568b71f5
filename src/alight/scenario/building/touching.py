"""Landers placed on the ground: moved along a way until they just touch.

The gap between lander and ground changes along the way by no more than the slope bound of the
surface times what it is moved: a step of gap over slope never goes through the ground, and the gap
shrinks by a fixed factor each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from alight import motions
from alight.contact.hull.supported_surfaces import is_ball
from alight.core import devices
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.motions.rigid.placing import lowest_of
from alight.motions.tree.placing import pad_gaps

#: A gap [m], or share of the distance from the origin, that counts as touching: what the engine
#: itself calls so when it lifts releases.
_TOUCHES, _ROUNDING = 1e-9, 1e-14
_LOOKS = 20_000


def touching(model: Any, release: Any, up: Array) -> Array:
    """(n, 3) positions along unit vectors ``up`` from those of a release, where landers touch."""
    look, start, size = _look(model, release)
    slope = model.surface.bounds.slope
    x = start + 2.0 * size * up
    small = np.maximum(_TOUCHES, 4.0 * _ROUNDING * (np.linalg.norm(x, axis=1) + size))
    left = np.arange(len(x))
    for _ in range(_LOOKS):
        gap, exact = look(left, x[left])
        # Never left below: what is pressed in by rounding would be lifted by the engine.
        open_ = ~(exact & (gap >= 0.0) & (gap <= small[left]))
        left, gap, exact = left[open_], gap[open_], exact[open_]
        if not len(left):
            return np.asarray(x)
        # Half of what touches is aimed at, so that rounding leaves it outside; where only a bound
        # is known, a little more than that, so that it is looked at closely.
        aim = np.where(exact, 0.5, -0.5) * small[left]
        x[left] -= ((gap - aim) / slope)[:, None] * up[left]
    raise InputError(
        "the lander finds no place on the ground there: it may stand between walls that it touches "
        "wherever it is put. Choose another place or attitude."
    )


def _look(model: Any, release: Any) -> tuple[Any, Array, float]:
    """Gaps of some runs at positions and whether each is exact or a lower bound; the positions they
    start from, and the lander's size [m]."""
    if isinstance(release, motions.TreeRelease):
        gaps, origin = pad_gaps(model, release)
        return (lambda rows, x: (gaps(rows, x), np.ones(len(x), bool))), origin, float(model.size)
    cpu = devices.resolve("cpu")
    # Of a ball over ground whose distance is a true one, the bound by its size is the gap itself.
    lander, slope = model.lander, model.surface.bounds.slope
    full = is_ball(lander) and lander.radii[0] >= (1.0 - 1e-12) * lander.bounding_radius
    known = full and slope <= 1.0

    def look(rows: Any, x: Array) -> tuple[Array, Any]:
        found = lowest_of(model, x, release.attitude[rows], cpu, None)
        return np.array(found["gap"]), np.array(found["way"]).any(axis=1) | known

    return look, np.array(release.position), float(model.lander.bounding_radius)

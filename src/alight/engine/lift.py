"""Releases a little below the ground: left as pressed in, lifted until they touch, or refused.

Places come rounded: written to the millimetre, or taken from a map. A lander released below the
ground would start with energy in its springs that nobody put there, or, being rigid, with a gap
that cannot be. So one rule holds for every law of contact. A lander up to ``TOLERANCE`` below the
ground is lifted until it just touches; one that is deeper is refused: that is no rounding but a
mistake. What its own weight presses in is at rest, not below the ground, and is left as it is: with
springs that push by no more than ``HELD`` times the weight m g it cannot leave the ground, for it
swings about its dent at rest by no more than that dent.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from alight.core import devices
from alight.core.checks import Array

#: How far below the ground a lander may be released [m]: places are written to the millimetre. The
#: same for every law of contact and every lander.
TOLERANCE = 1e-3

#: Push of the springs at the release, over the weight, up to which a lander is at rest on them.
HELD = 2.0

#: Looks at the ground that a lift may take. A plane needs two, a valley one more for each side.
_LOOKS = 32
#: What is below 0 by less than this [m], or this share of the distance from the origin, touches: so
#: far off may ground be by rounding whose corners are far away.
_TOUCHES, _ROUNDING = 1e-9, 1e-14
#: A side of the ground that faces the lift under a smaller cosine than this leaves no room for it.
_FACING = 0.1

#: ``(rows, positions) -> gaps, ways`` of some runs: the least distance from the ground (k,) [m],
#: and what way (k, 3) would raise it by 1 m.
Look = Callable[[Any, Array], tuple[Array, Array]]

#: ``(rows) -> which`` of some runs that are below ground rest on their springs.
Rests = Callable[[Any], Any]


def lifted(look: Look, positions: Array, size: float, rests: Rests) -> tuple[Array, Any]:
    """Positions (n, 3) [m] to start from, and which of the runs are refused.

    ``size`` is how far the lander reaches from its position [m]. A run is lifted along the normal
    of the ground at its deepest point; where that brings it into another side of the ground, along
    the mean of the normals met.
    """
    x = np.array(positions, dtype=np.float64)
    gap, way = look(np.arange(len(x)), x)
    small = np.maximum(_TOUCHES, _ROUNDING * (np.linalg.norm(x, axis=1) + size))
    left = np.flatnonzero(~(gap >= -small))
    refused = np.zeros(len(x), dtype=bool)
    if len(left):
        left = left[~rests(left)]
        refused[left] = ~(gap[left] >= -TOLERANCE)
        left = left[~refused[left]]
    met, gap, way = np.zeros_like(x), gap[left], way[left]
    for _ in range(_LOOKS):
        if not len(left):
            break
        met[left] += way / np.linalg.norm(way, axis=1, keepdims=True)
        length = np.linalg.norm(met[left], axis=1, keepdims=True)
        up = met[left] / np.where(length > 0.0, length, 1.0)
        # Along ``up`` the gap grows by G . up, the way being G / |G|^2.
        steep = np.einsum("ij,ij->i", way, up) / np.einsum("ij,ij->i", way, way)
        room = steep * np.linalg.norm(way, axis=1) > _FACING
        refused[left[~room]] = True
        left, gap, steep, up = left[room], gap[room], steep[room], up[room]
        x[left] -= (gap / steep)[:, None] * up
        gap, way = look(left, x[left])
        below = gap < -small[left]
        left, gap, way = left[below], gap[below], way[below]
    refused[left] = True
    return x, refused


def refusal(where: str) -> str:
    """What to say of a lander released too deep, at ``where``."""
    return (
        f"the lander is released inside the ground: {where}. Up to {1e3 * TOLERANCE:g} mm below "
        "the ground it would be lifted until it touches; this is deeper, or leaves it no room. In "
        "a scenario file raise height in [release], or move position (or offset) there away from "
        "the ground; the place is that of the centre of mass (of the first body, for articulated "
        "landers), so allow for what reaches below it. In Python give another position; "
        "Release.above places a lander by its height."
    )


def pull_at(model: Any, x: Array, device: devices.Device, threads: int | None) -> Array:
    """(k,) gravity and centrifugal acceleration of what is at rest on the target [m/s^2]."""
    gravity = model.full_gravity.evaluate(x, device.name, threads)[1]
    omega = model.rotation.evaluate(0.0, "cpu")[0]
    return np.asarray(np.linalg.norm(gravity - np.cross(omega, np.cross(omega, x)), axis=1))

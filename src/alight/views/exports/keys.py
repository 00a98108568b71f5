"""Key frames: the fewest lines from which a straight way between them shows a trajectory.

Animations move parts evenly from key to key. Where a step of the history bends, lines are added;
where many lie on one straight way, those between are left out. Both keep within a stated error of
the track, which is raised where more keys than ``MOST_KEYS`` would be needed. Since the way is
straight between keys, nothing overshoots at a hit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.interpolation import turned
from alight.views.exports.arcs import FIXED, angle_between
from alight.views.playback import Playback, Track

#: Keys of one part, at most.
MOST_KEYS = 20_000
#: Error of turns [rad], and of places as a share of the lander's size; never below a tenth of a mm.
TURN, SHARE, LEAST = 2e-3, 0.005, 1e-4
_HALVINGS = 14

Index = npt.NDArray[np.int64]
#: How far lines are from the way between two keys: (keys before, keys after, lines) -> distances.
Off = Callable[[Index, Index, Index], Array]


@dataclass(frozen=True, eq=False)
class Keys:
    """Values of one part at key times."""

    time: Array
    """(n,) rising [s]."""
    value: Array
    """(n, 3) places [m] or (n, 4) quaternions, of which two that follow are less than half a turn
    apart in sign."""
    error: float
    """How far a straight way between keys is from the track, at most [m] or [rad]."""


def place_tolerance(playback: Playback) -> float:
    """The error of places that is aimed at [m]."""
    return max(LEAST, SHARE * playback.lander_size)


def origin_of(playback: Playback, axes: str) -> tuple[bool, Array]:
    """Whether a scene stands still, and where its places are counted from (3,) [m]: near where runs
    end, for the sake of 32 bits; the centre of a body that turns."""
    still = axes == FIXED or playback.attitude is None
    return still, playback.focus[0] if still else np.zeros(3)


def place_keys(track: Track, part: int, tolerance: float) -> Keys:
    """Key frames of where a part is."""
    between = 0.25 * tolerance  # as much is left for what lies between lines
    time = _bent(track, part, between)
    value = track.at(time)[0][:, part]

    def off(left: Index, right: Index, at: Index) -> Array:
        share = _share(time, left, right, at)[:, None]
        straight = value[left] + share * (value[right] - value[left])
        return np.asarray(np.linalg.norm(value[at] - straight, axis=1))

    kept, error = _fewest(len(time), off, tolerance - between)
    return Keys(time[kept], value[kept], error + between)


def turn_keys(track: Track, part: int, tolerance: float = TURN) -> Keys:
    """Key frames of how a part is turned."""
    time = np.unique(track.time)
    value = one_sign(track.at(time)[1][:, part])

    def off(left: Index, right: Index, at: Index) -> Array:
        even = turned(value[left], value[right], _share(time, left, right, at))
        return angle_between(value[at], even)

    kept, error = _fewest(len(time), off, tolerance)
    return Keys(time[kept], one_sign(value[kept]), error)


def body_keys(playback: Playback) -> tuple[Array, Array]:
    """Times [s] and attitudes of the body's axes: evenly, with a sixth of a radian between two."""
    assert playback.attitude is not None
    end, count = max(playback.end, 1e-3), 64
    while True:
        time = np.linspace(0.0, end, count)
        q = playback.attitude(time)
        if count >= MOST_KEYS or angle_between(q[:-1], q[1:]).max() < 1.0 / 6.0:
            return time, one_sign(q)
        count *= 2


def _share(time: Array, left: Index, right: Index, at: Index) -> Array:
    span = time[right] - time[left]
    return np.asarray((time[at] - time[left]) / np.where(span > 0.0, span, 1.0))


def one_sign(q: Array) -> Array:
    """The same attitudes, none of them on the other side of the one before."""
    flips = np.cumprod(np.where((q[1:] * q[:-1]).sum(axis=1) < 0.0, -1.0, 1.0))
    return np.asarray(q * np.concatenate([[1.0], flips])[:, None])


def _bent(track: Track, part: int, tolerance: float) -> Array:
    """Times of all lines, and of as many between them as steps that bend need."""
    time = np.unique(track.time)
    place = track.at(time)[0][:, part]
    for _ in range(_HALVINGS):
        middle = 0.5 * (time[:-1] + time[1:])
        real = track.at(middle)[0][:, part]
        away = np.linalg.norm(real - 0.5 * (place[:-1] + place[1:]), axis=1)
        wanted = np.flatnonzero((away > tolerance) & (middle > time[:-1]) & (middle < time[1:]))
        if not len(wanted) or len(time) + len(wanted) > 10 * MOST_KEYS:
            break
        time = np.insert(time, wanted + 1, middle[wanted])
        place = np.insert(place, wanted + 1, real[wanted], axis=0)
    return time


def _fewest(count: int, off: Off, tolerance: float) -> tuple[Index, float]:
    """Which of ``count`` lines are keys, and how far the others are from the way between keys."""
    if count <= 2:
        return np.arange(count), 0.0
    while True:
        kept, error = _split(count, off, tolerance)
        if len(kept) <= MOST_KEYS:
            return kept, error
        tolerance *= 2.0


def _split(count: int, off: Off, tolerance: float) -> tuple[Index, float]:
    """Begin with both ends; add the line that is farthest off between two keys, until none is."""
    is_key = np.zeros(count, dtype=bool)
    is_key[[0, -1]] = True
    lines = np.arange(count)
    while True:
        keys = np.flatnonzero(is_key)
        between = np.searchsorted(keys, lines, side="right") - 1
        between = np.minimum(between, len(keys) - 2)
        away = off(keys[between], keys[between + 1], lines)
        away[is_key] = 0.0
        worst = float(away.max())
        if not worst > tolerance or len(keys) > MOST_KEYS:
            return keys, worst
        most = np.maximum.reduceat(away, keys[:-1])
        first = np.flatnonzero((away == most[between]) & (away > tolerance))
        # One line of each gap: the first of those that are farthest.
        is_key[first[np.unique(between[first], return_index=True)[1]]] = True

"""Fewer lines for the same motion: lines are left out where even motion between others is as good.

Between lines of a track places are cubics, and a step in flight may be minutes long: lines are
added first, so that what is thinned shows all of the way (``refined``).

All tracks are thinned at once, as lines of Douglas and Peucker are: the ends of each piece stay,
and a piece that some line departs from by more than is allowed is cut at the line that departs
most. A departure is the larger of the distance over its tolerance [m] and the angle over its own
[rad]. The page moves parts evenly between what is left, so the tolerances are the errors of what it
shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.core.interpolation import cubic, turned

#: Largest turn between lines that stay [rad]: a turn of half a circle has no shorter way.
MOST_TURN = 2.0


#: Lines between which the way is straight but for this part of the tolerance.
STRAIGHT = 0.1

#: Pieces of one step at most.
PIECES = 2000


def refined(
    time: Array, position: Array, velocity: Array, attitude: Array, far: float
) -> tuple[Array, Array, Array]:
    """Times, places (n, P, 3) and attitudes (n, P, 4) with lines added where the cubic between two
    departs from the straight way by more than ``STRAIGHT`` of ``far`` [m]."""
    step = np.diff(time)
    h = np.where(step > 0.0, step, 1.0)[:, None, None]
    way, start, end = np.diff(position, axis=0) / h, velocity[:-1], velocity[1:]
    # The second derivative of Hermite's cubic is largest at an end; a chord sags by a h^2 / 8.
    bend = [
        np.linalg.norm(x, axis=2) for x in (3 * way - 2 * start - end, 3 * way - start - 2 * end)
    ]
    most = 2.0 * np.maximum(*bend).max(axis=1) * step
    pieces = np.ceil(np.sqrt(most / (8.0 * STRAIGHT * far)))
    pieces = np.where(step > 0.0, np.clip(pieces, 1, PIECES), 1).astype(np.int64)
    left = np.repeat(np.arange(len(step)), pieces)
    first = np.concatenate([[0], np.cumsum(pieces)])
    s = (np.arange(len(left)) - first[left]) / pieces[left]
    u = s[:, None, None]
    places = cubic(position[left], position[left + 1], start[left], end[left], h[left], u)
    turns = turned(attitude[left], attitude[left + 1], s)
    places[first[:-1]], turns[first[:-1]] = position[:-1], attitude[:-1]  # to the bit
    return (
        np.append(time[left] + s * step[left], time[-1:]),
        np.concatenate([places, position[-1:]]),
        np.concatenate([turns, attitude[-1:]]),
    )


def kept_lines(
    time: Array, position: Array, attitude: Array, forced: Any, far: float, angle: float
) -> Any:
    """(n,) which lines stay; ``forced`` ones do, and must include the ends of each track.

    ``position`` (n, P, 3) and ``attitude`` (n, P, 4) are those of all tracks, one after the other.
    """
    kept = np.asarray(forced, bool).copy()
    open_lines = np.flatnonzero(~kept)
    while len(open_lines):
        ends = np.flatnonzero(kept)
        piece = np.searchsorted(ends, open_lines) - 1
        left, right = ends[piece], ends[piece + 1]
        off = _departure(time, position, attitude, open_lines, left, right, far, angle)
        first = np.flatnonzero(np.diff(piece, prepend=-1))
        worst = np.maximum.reduceat(off, first)
        cut = worst > 1.0
        which = np.repeat(np.arange(len(first)), np.diff([*first, len(piece)]))
        at_worst = (off == worst[which]) & cut[which]
        places = np.flatnonzero(at_worst)
        _, once = np.unique(which[places], return_index=True)
        kept[open_lines[places[once]]] = True
        open_lines = open_lines[cut[which]]
        open_lines = open_lines[~kept[open_lines]]
    return kept


def _departure(
    time: Array,
    position: Array,
    attitude: Array,
    at: Any,
    left: Any,
    right: Any,
    far: float,
    angle: float,
) -> Array:
    """(m,) how far lines ``at`` are from even motion between ``left`` and ``right``, over what is
    allowed."""
    span = time[right] - time[left]
    s = np.where(span > 0.0, (time[at] - time[left]) / np.where(span > 0.0, span, 1.0), 0.0)
    even = position[left] + s[:, None, None] * (position[right] - position[left])
    off = np.linalg.norm(position[at] - even, axis=2).max(axis=1) / far
    between = turned(attitude[left], attitude[right], s)
    dot = np.abs((between * attitude[at]).sum(axis=2)).min(axis=1)
    off = np.maximum(off, 2.0 * np.arccos(np.clip(dot, 0.0, 1.0)) / angle)
    ends = np.abs((attitude[left] * attitude[right]).sum(axis=2)).min(axis=1)
    wide = 2.0 * np.arccos(np.clip(ends, 0.0, 1.0)) > MOST_TURN
    # A piece that turns far is cut in its middle, whichever line departs most.
    return np.where(wide, np.maximum(off, 2.0 + np.minimum(s, 1.0 - s)), off)

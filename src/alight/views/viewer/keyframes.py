"""Fewer lines for the same motion: lines are left out where even motion between others is as good.

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
from alight.core.interpolation import turned

#: Largest turn between lines that stay [rad]: a turn of half a circle has no shorter way.
MOST_TURN = 2.0


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

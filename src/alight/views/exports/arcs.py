"""Arcs: the trajectory of one part between two jumps of velocity, in the axes that a file is in.

Within an arc places are Hermite's cubics between lines, from positions and velocities, and
attitudes turn evenly from line to line. That is how tracks are read (``views.playback``), and how
SPICE (SPK type 13 of degree 3, CK type 3) and CCSDS messages (Hermite of degree 3) are read by
others. In other axes a cubic is no cubic, and free flight turns unevenly: there lines are added,
halfway between two, until what is read between lines is right to ``PLACE`` and ``TURN``. Nothing is
interpolated across a jump.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.interpolation import cubic, cubic_rate, turned
from alight.views.playback import Playback, Track
from alight.views.playback.model import OfTime

#: What lines are added for, where axes turn: errors between lines at most [m], [rad].
PLACE, TURN = 1e-4, 2e-7
#: Lines of an arc, at most: some hundred megabytes.
MOST_LINES = 2_000_000
#: Halvings of a step, at most.
_DEEPEST = 24

FIXED, INERTIAL = "fixed", "inertial"
AXES = (INERTIAL, FIXED)


@dataclass(frozen=True, eq=False)
class Arc:
    """One part at n times between two jumps."""

    time: Array
    """(n,) rising [s]."""
    position: Array
    """(n, 3) [m]"""
    velocity: Array
    """(n, 3) [m/s]"""
    attitude: Array
    """(n, 4) xyzw, from the part's axes to those of the file."""

    @property
    def rate(self) -> Array:
        """(n, 3) angular velocity in the axes of the file [rad/s], of the turns to both sides."""
        return turning_rate(self.time, self.attitude)

    def __len__(self) -> int:
        return len(self.time)


def turning_rate(time: Array, attitude: Array) -> Array:
    """(n, 3) angular velocities, in the axes turned to, of even turns from line to line [rad/s]:
    the mean of those before and after, weighted by how near they are."""
    step = np.diff(time)
    turns = frames.quat_multiply(attitude[1:], frames.quat_conjugate(attitude[:-1]))
    way = frames.rotation_vector(turns) / step.reshape(-1, *([1] * (attitude.ndim - 1)))
    if len(step) == 1:
        return np.repeat(way, 2, axis=0)
    share = (step[:-1] / (step[:-1] + step[1:])).reshape(-1, *([1] * (attitude.ndim - 1)))
    inner = way[:-1] * (1.0 - share) + way[1:] * share
    # At the ends the slope between two lines is carried on.
    return np.concatenate([2.0 * way[:1] - inner[:1], inner, 2.0 * way[-1:] - inner[-1:]])


def arcs_of(
    playback: Playback, track: Track, part: int, axes: str, turn: float = TURN
) -> list[Arc]:
    """The arcs of one part, in ``FIXED`` axes, those of the playback, or in ``INERTIAL`` ones.

    Attitudes between lines are right to ``turn`` [rad]; infinity where places alone are wanted.
    """
    turning = playback.attitude if axes == INERTIAL else None
    whole, own = track.exact if turn < np.inf else None, None
    if whole is not None:

        def own(time: Array) -> Array:
            return whole(time)[:, part]

    return [finer(arc, turning, own, turn) for arc in _lines(track, part)]


def _lines(track: Track, part: int) -> Iterator[Arc]:
    """As the track has them; arcs that take no time are left out."""
    for piece in track.segments:
        if piece.stop - piece.start > 1:
            parts = (track.position, track.velocity, track.attitude)
            yield Arc(track.time[piece], *(of[piece, part] for of in parts))


def finer(arc: Arc, turning: OfTime | None, exact: OfTime | None, turn: float = TURN) -> Arc:
    """An arc seen in axes that its own turn against, with as many lines as that takes.

    ``turning`` is from its own axes to those; ``exact`` has its attitudes at any time, where they
    are known better than by even turns between lines.
    """
    lines = arc
    for _ in range(_DEEPEST):
        seen = _turned_lines(lines, turning)
        if turning is None and exact is None:
            break
        half = _halfway(lines)
        if exact is not None:
            half = dataclasses.replace(half, attitude=exact(half.time))
        off = _unlike(_halfway(seen), _turned_lines(half, turning), turn)
        # Only steps that a clock can still halve.
        room = (half.time > lines.time[:-1]) & (half.time < lines.time[1:])
        wanted = np.flatnonzero(off & room)
        if not len(wanted):
            break
        lines = _with_lines(lines, half, wanted)
    return seen


def _turned_lines(arc: Arc, turning: OfTime | None) -> Arc:
    """The lines alone in the other axes."""
    if turning is None:
        return arc
    q = turning(arc.time)
    carried = arc.velocity + np.cross(spin_of(turning, arc.time, q), arc.position)
    return Arc(
        arc.time,
        frames.quat_rotate(q, arc.position),
        frames.quat_rotate(q, carried),
        frames.quat_multiply(q, arc.attitude),
    )


#: Half of the time over which the rate of turning axes is taken [s].
_BRIEF = 0.5


def spin_of(turning: OfTime, time: Array, q: Array) -> Array:
    """(n, 3) angular velocity of turning axes, in themselves [rad/s]."""
    before, after = (turning(time + side) for side in (-_BRIEF, _BRIEF))
    step = frames.quat_multiply(after, frames.quat_conjugate(before))
    return frames.quat_rotate_inv(q, frames.rotation_vector(step) / (2.0 * _BRIEF))


def _halfway(arc: Arc) -> Arc:
    """The states halfway between lines."""
    h = np.diff(arc.time)[:, None]
    (a, b), (u, v) = _pairs(arc.position), _pairs(arc.velocity)
    place = cubic(a, b, u, v, h, np.array(0.5))
    velocity = cubic_rate(a, b, u, v, h, np.array(0.5))
    q, p = _pairs(arc.attitude)
    turn = turned(q, p, np.full(len(h), 0.5))
    return Arc(arc.time[:-1] + 0.5 * h[:, 0], place, velocity, turn)


def _pairs(of: Array) -> tuple[Array, Array]:
    return of[:-1], of[1:]


def _unlike(read: Arc, right: Arc, turn: float) -> Any:
    """Which of the states that are read halfway, where errors are largest, are off by too much."""
    away = np.linalg.norm(read.position - right.position, axis=1)
    return (away > PLACE) | (angle_between(read.attitude, right.attitude) > turn)


def angle_between(q: Array, p: Array) -> Array:
    """Angles between attitudes [rad]."""
    step = frames.quat_multiply(q, frames.quat_conjugate(p))
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(step[..., :3], axis=-1), abs(step[..., 3])))


def _with_lines(lines: Arc, more: Arc, wanted: Any) -> Arc:
    if len(lines) + len(wanted) > MOST_LINES:
        raise InputError(
            f"an arc would take more than {MOST_LINES} lines: it lasts too long for how fast it "
            'turns. Export it in axes fixed in the body (frame="fixed"), or a part of the run.'
        )
    names = ("time", "position", "velocity", "attitude")
    joined = (np.insert(getattr(lines, n), wanted + 1, getattr(more, n)[wanted], 0) for n in names)
    return Arc(*joined)

"""Arcs: the trajectory of one part between two jumps of velocity, in the axes that a file is in.

Within an arc places are Hermite's cubics between lines, from positions and velocities. Attitudes
turn evenly from line to line, or, of landers whose rates are known, are Hermite's cubics of
quaternions. That is how SPICE (SPK type 13 of degree 3, CK type 3, and type 5 of degree 3) and
CCSDS messages (linear, and Hermite of degree 3) are read by others. In other axes a cubic is no
cubic, and free flight turns unevenly: there lines are added, halfway between two, until what is
read between lines is right to ``PLACE`` and ``TURN``. Nothing is interpolated across a jump.
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
from alight.views.playback.model import OfTime, Turning

#: What lines are added for, where axes turn: errors between lines at most [m], [rad].
PLACE, TURN = 1e-4, 2e-7
#: Lines of an arc, at most: some hundred megabytes.
MOST_LINES = 2_000_000
#: Turn between two lines of Hermite's cubic, at most [rad]: halfway through a whole turn it would
#: be right by chance.
_WIDEST = 1.0
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
    spin: Array | None = None
    """(n, 3) angular velocity in the part's axes [rad/s], where it is known: then attitudes between
    lines are Hermite's."""

    @property
    def rate(self) -> Array:
        """(n, 3) angular velocity in the axes of the file [rad/s]; where it is not known, of the
        turns to both sides."""
        if self.spin is not None:
            return frames.quat_rotate(self.attitude, self.spin)
        return turning_rate(self.time, self.attitude)

    @property
    def quaternions(self) -> tuple[Array, Array]:
        """(n, 4) attitudes of signs that do not flip, and their rates, of known spins [1/s]."""
        assert self.spin is not None
        flips = (self.attitude[1:] * self.attitude[:-1]).sum(axis=1) < 0.0
        sign = np.where(np.cumsum([False, *flips]) % 2 == 1, -1.0, 1.0)[:, None]
        q = sign * self.attitude
        return q, frames.quat_rate(q, self.spin)

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

        def own(time: Array) -> tuple[Array, Array]:
            attitude, spin = whole(time)
            return attitude[:, part], spin[:, part]

    return [finer(arc, turning, own, turn) for arc in _lines(track, part)]


def _lines(track: Track, part: int) -> Iterator[Arc]:
    """As the track has them; arcs that take no time are left out."""
    for piece in track.segments:
        if piece.stop - piece.start > 1:
            parts = (track.position, track.velocity, track.attitude)
            yield Arc(track.time[piece], *(of[piece, part] for of in parts))


def finer(arc: Arc, turning: OfTime | None, exact: Turning | None, turn: float = TURN) -> Arc:
    """An arc seen in axes that its own turn against, with as many lines as that takes.

    ``turning`` is from its own axes to those; ``exact`` has its attitudes and rates at any time,
    where they are known better than by even turns between lines.
    """
    lines = arc
    if exact is not None:
        # The last line is that before a jump.
        inside = np.append(arc.time[:-1], np.nextafter(arc.time[-1], -np.inf))
        lines = dataclasses.replace(arc, spin=exact(inside)[1])
    for _ in range(_DEEPEST):
        seen = _turned_lines(lines, turning)
        if turning is None and exact is None:
            break
        half = _halfway(lines)
        if exact is not None:
            attitude, spin = exact(half.time)
            half = dataclasses.replace(half, attitude=attitude, spin=spin)
        off = _unlike(_halfway(seen), _turned_lines(half, turning), turn) | _wide(seen)
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
    omega = spin_of(turning, arc.time, q)
    carried = arc.velocity + np.cross(omega, arc.position)
    spin = None if arc.spin is None else frames.inertial_rate(arc.attitude, arc.spin, omega)
    return Arc(
        arc.time,
        frames.quat_rotate(q, arc.position),
        frames.quat_rotate(q, carried),
        frames.quat_multiply(q, arc.attitude),
        spin,
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
    if arc.spin is None:
        turn = turned(*_pairs(arc.attitude), np.full(len(h), 0.5))
    else:
        q, rate = arc.quaternions
        turn = frames.quat_normalize(cubic(*_pairs(q), *_pairs(rate), h, np.array(0.5)))
    return Arc(arc.time[:-1] + 0.5 * h[:, 0], place, velocity, turn)


def _pairs(of: Array) -> tuple[Array, Array]:
    return of[:-1], of[1:]


def _unlike(read: Arc, right: Arc, turn: float) -> Any:
    """Which of the states that are read halfway, where errors are largest, are off by too much."""
    away = np.linalg.norm(read.position - right.position, axis=1)
    return (away > PLACE) | (angle_between(read.attitude, right.attitude) > turn)


def _wide(arc: Arc) -> Any:
    """Between which lines of Hermite's cubics a part turns too far."""
    if arc.spin is None:
        return np.zeros(len(arc) - 1, np.bool_)
    speed = np.linalg.norm(arc.spin, axis=1)
    return np.maximum(speed[:-1], speed[1:]) * np.diff(arc.time) > _WIDEST


def angle_between(q: Array, p: Array) -> Array:
    """Angles between attitudes [rad]."""
    step = frames.quat_multiply(q, frames.quat_conjugate(p))
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(step[..., :3], axis=-1), abs(step[..., 3])))


def _with_lines(lines: Arc, more: Arc, wanted: Any) -> Arc:
    if len(lines) + len(wanted) > MOST_LINES:
        raise InputError(
            f"an arc would take more than {MOST_LINES} lines: it lasts too long for how fast it "
            "turns. Formats without attitudes between states have it: csv, parquet, vtk."
        )
    names = (
        "time",
        "position",
        "velocity",
        "attitude",
        *(["spin"] if lines.spin is not None else []),
    )
    joined = (np.insert(getattr(lines, n), wanted + 1, getattr(more, n)[wanted], 0) for n in names)
    return Arc(*joined)

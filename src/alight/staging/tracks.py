"""Tracks of landers from histories: the lines there are, some between them, and both sides of hits.

A history has a line after each step, and in flight steps may be many turns long. Between lines a
lander tumbles freely, which is followed exactly (``Solution.sample``); here lines are added until
no turn between two of them exceeds ``TURN``, so that even turns between lines are as good.

A rigid hit takes no time: a history has two lines at its time, before and after the velocity jumps.
Both stay, and nothing is interpolated between them. Where a long history is thinned the lines of
some contacts are not there, and the way past them is smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alight.analysis import columns
from alight.core.checks import Array
from alight.motions.rigid.between_lines import (
    attitudes_between,
    places_between,
    turns_between,
)
from alight.views.playback import Contacts
from alight.views.playback.model import Turning

#: Largest turn between lines [rad], and lines that are added for it at most.
TURN, MOST = 0.3, 60_000


class Lines(NamedTuple):
    """The history of a rigid lander."""

    time: Array
    """(n,) [s]"""
    position: Array
    velocity: Array
    attitude: Array
    rate: Array
    """(n, 3) relative to the target, body axes [rad/s]."""
    uneven: Any
    """(n,) whether the step before a line was no free flight."""


class Course(NamedTuple):
    """A body at T times, both sides of jumps among them."""

    time: Array
    position: Array
    velocity: Array
    attitude: Array
    jumps: Array


def rigid_course(lines: Lines, inertia: Array, rotation: Any) -> Course:
    """The trajectory of a rigid lander."""
    lines = _two_at_most(lines)
    jumps = lines.time[1:][np.diff(lines.time) == 0.0]
    time, left = _denser(lines)
    places, speeds = places_between(lines.time, lines.position, lines.velocity, time, left)
    turns = attitudes_between(
        lines.time, lines.attitude, lines.rate, lines.uneven, inertia, rotation, time, left
    )
    # The line that ends a step is that line, to the bit.
    last = len(lines.time) - 1
    for found, own in ((places, lines.position), (speeds, lines.velocity), (turns, lines.attitude)):
        found[-1] = own[last]
    return Course(time, places, speeds, turns, jumps)


def exact_turns(lines: Lines, inertia: Array, rotation: Any) -> Turning:
    """Attitudes (n, 1, 4) and rates (n, 1, 3) at any times of the history."""
    lines = _two_at_most(lines)

    def turns(times: Array) -> tuple[Array, Array]:
        t = np.clip(np.asarray(times, np.float64), lines.time[0], lines.time[-1])
        left = np.clip(np.searchsorted(lines.time, t, side="right") - 1, 0, len(lines.time) - 2)
        course = (lines.time, lines.attitude, lines.rate, lines.uneven)
        attitude, rate = turns_between(*course, inertia, rotation, t, left)
        return attitude[:, None], rate[:, None]

    return turns


def _two_at_most(lines: Lines) -> Lines:
    """Without lines between the first and the last of one time."""
    same = np.diff(lines.time) == 0.0
    inner = np.concatenate([[False], same]) & np.concatenate([same, [False]])
    return Lines(*(np.asarray(a)[~inner] for a in lines)) if inner.any() else lines


def _denser(lines: Lines) -> tuple[Array, Any]:
    """(T,) times of all lines and between them, and (T,) the line before each."""
    step = np.diff(lines.time)
    angle = np.linalg.norm(lines.rate[:-1], axis=1) * step
    most = max(TURN, float(angle.sum()) / MOST)
    pieces = np.maximum(1, np.ceil(angle / most)).astype(np.int64)
    left = np.repeat(np.arange(len(step)), pieces)
    first = np.concatenate([[0], np.cumsum(pieces)[:-1]])
    part = (np.arange(len(left)) - first[left]) / pieces[left]
    time = np.concatenate([lines.time[left] + part * step[left], lines.time[-1:]])
    return time, np.concatenate([left, [max(len(step) - 1, 0)]]).astype(np.int64)


def contacts_of(events: Any) -> Contacts:
    """Contacts from records of ``engine.records.Touch``."""
    return _contacts(lambda name: np.asarray(events[name]), events["place"], events["normal"])


def stored_contacts(table: Any) -> Contacts:
    """The same from a table of contacts of one run; of captures the body's places."""
    stored = {"start": "start_time_s", "end": "end_time_s", "peak_force": "peak_force_N"}
    stored |= {"normal_speed_in": "normal_speed_in_m_per_s"}

    def column(name: str) -> Array:
        return columns.column(table, stored[name])

    def rows(start: str, unit: str) -> Array:
        names = [f"{start}{axis}{unit}" for axis in "xyz"]
        return np.stack([columns.column(table, n) for n in names], axis=1)

    return _contacts(column, rows("", "_m"), rows("normal_", ""))


def _contacts(get: Callable[[str], Array], place: Array, normal: Array) -> Contacts:
    start, end = get("start"), get("end")
    force = get("peak_force")
    sudden = ~(end > start) & ~(force > 0.0)  # rigid hits have impulses alone
    force = np.where(sudden, np.nan, force)
    return Contacts(start, np.asarray(place), np.asarray(normal), -get("normal_speed_in"), force)

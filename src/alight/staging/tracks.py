"""Tracks of landers from histories: the lines there are, some between them, and both sides of hits.

A history has a line after each step, and in flight steps may be many turns long. Between lines a
lander tumbles freely, which is followed exactly (``Solution.sample``); here lines are added until
no turn between two of them exceeds ``TURN``, so that even turns between lines are as good.

A rigid hit takes no time: the velocity jumps, and a line has the one after it. The one before is

    v- = 2 (x1 - x0) / h - v0

from the line before, exact under a constant acceleration, and no more is known of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from alight.core.checks import Array
from alight.motions.rigid.between_lines import attitudes_between, places_between
from alight.views.playback import Contacts

#: Largest turn between lines [rad], and lines that are added for it at most.
TURN, MOST = 0.3, 60_000
#: A hit is at a line whose time differs by no more than this part of it.
SAME = 1e-12


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


def rigid_course(lines: Lines, hits: Array, inertia: Array, rotation: Any) -> Course:
    """The course of a rigid lander; ``hits`` (k,) are times of hits that take no time [s]."""
    at = _lines_of(lines.time, hits)
    lines = _both_sides(lines, at)
    jumps = lines.time[1:][np.diff(lines.time) == 0.0]
    time, left = _denser(lines)
    places, speeds = places_between(lines.time, lines.position, lines.velocity, time, left)
    turns = attitudes_between(
        lines.time, lines.attitude, lines.rate, lines.uneven, inertia, rotation, time, left
    )
    return Course(time, places, speeds, turns, jumps)


def _lines_of(time: Array, hits: Array) -> Any:
    """Numbers of the lines at the times of hits, each once; thinned ones are not there."""
    if not len(hits) or len(time) < 2:
        return np.zeros(0, np.int64)
    near = np.clip(np.searchsorted(time, hits), 1, len(time) - 1)
    near -= np.abs(time[near - 1] - hits) < np.abs(time[near] - hits)
    found = np.abs(time[near] - hits) <= SAME * np.maximum(np.abs(hits), 1.0)
    return np.unique(near[found & (near > 0)])


def _both_sides(lines: Lines, at: Any) -> Lines:
    """A line more before each of the lines ``at``, with the velocity before the hit."""
    at = at[lines.time[at] > lines.time[at - 1]] if len(at) else at
    if not len(at):
        return lines
    step = (lines.time[at] - lines.time[at - 1])[:, None]
    before = 2.0 * (lines.position[at] - lines.position[at - 1]) / step - lines.velocity[at - 1]
    out = Lines(*(np.insert(np.asarray(a), at, np.asarray(a)[at], axis=0) for a in lines))
    out.velocity[at + np.arange(len(at))] = before
    return out


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


def contacts_of(events: Any) -> tuple[Contacts, Array]:
    """Contacts from records of ``engine.records.Touch``, and times of those that take no time."""
    return _contacts(lambda name: np.asarray(events[name]), events["place"], events["normal"])


def stored_contacts(table: Any) -> tuple[Contacts, Array]:
    """The same from a table of contacts of one run; of captures the body's places."""
    stored = {"start": "start_time_s", "end": "end_time_s", "peak_force": "peak_force_N"}
    stored |= {"normal_speed_in": "normal_speed_in_m_per_s"}

    def column(name: str) -> Array:
        return np.asarray(table[stored[name]].to_numpy(), np.float64)

    def rows(start: str, unit: str) -> Array:
        names = [f"{start}{axis}{unit}" for axis in "xyz"]
        return np.stack([np.asarray(table[n].to_numpy(), np.float64) for n in names], axis=1)

    return _contacts(column, rows("", "_m"), rows("normal_", ""))


def _contacts(get: Callable[[str], Array], place: Array, normal: Array) -> tuple[Contacts, Array]:
    start, end = get("start"), get("end")
    force = get("peak_force")
    sudden = ~(end > start) & ~(force > 0.0)  # rigid hits have impulses alone
    force = np.where(sudden, np.nan, force)
    found = Contacts(start, np.asarray(place), np.asarray(normal), -get("normal_speed_in"), force)
    return found, start[sudden]

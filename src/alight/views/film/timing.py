"""Which time of a run each frame shows: even, or slower around the hardest contacts.

The film gives a share of its length to the hardest contacts and the rest evenly to the whole run.
With s the time on screen, ds/dt = (1 - share) S / T + share S sum w_i k((t - t_i) / h_i) / h_i:
k is the bell 0.5 sech^2, whose integral is 0.5 tanh, and the weights w_i, by the speed of
contact, add up to one. What integrates in closed form is exact: s runs from 0 to S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.views.playback import Playback

#: Hardest contacts that are slowed down for, at most.
HARDEST = 6

#: Half a slow stretch lasts as long as a lander takes for so many of its sizes at the speed of the
#: contact, and no longer than this part of the run.
SIZES, PART = 12.0, 0.04

#: Lines of the table that is inverted, over the run and over each slow stretch.
LINES = 4000


@dataclass(frozen=True, eq=False)
class Timing:
    """Times of the frames [s], and how fast each plays: simulated over shown time."""

    time: Array
    rate: Array


def even(start: float, end: float, frames: int, seconds: float) -> Timing:
    """Frames at even times, both ends included."""
    rate = (end - start) / seconds
    return Timing(np.linspace(start, end, frames), np.full(frames, rate))


def timing(
    playback: Playback, frames: int, seconds: float, share: float, start: float, end: float
) -> Timing:
    """Times of frames between two times of a playback; ``share`` of them around contacts."""
    when, speed = _hardest(playback, start, end)
    if share <= 0.0 or not len(when) or end <= start:
        return even(start, end, frames, seconds)
    size = playback.lander_size or 1.0
    half = np.clip(SIZES * size / speed, 1e-3 * PART * (end - start), PART * (end - start))
    weight = speed / speed.sum()
    table = _lines(start, end, when, half)
    shown = _shown(table, start, end, when, half, weight, share) * seconds
    slope = _rates(table, start, end, when, half, weight, share) * seconds
    time = np.interp(np.linspace(0.0, seconds, frames), shown, table)
    return Timing(time, 1.0 / np.interp(time, table, slope))


def _hardest(playback: Playback, start: float, end: float) -> tuple[Array, Array]:
    """Times and speeds of the hardest contacts of all tracks, in order of time."""
    time = np.concatenate([t.contacts.time for t in playback.tracks] or [np.zeros(0)])
    speed = np.concatenate([np.abs(t.contacts.speed) for t in playback.tracks] or [np.zeros(0)])
    known = np.isfinite(speed) & (speed > 0.0) & (time >= start) & (time <= end)
    time, speed = time[known], speed[known]
    chosen = np.sort(np.argsort(-speed, kind="stable")[:HARDEST])
    return time[chosen], speed[chosen]


def _lines(start: float, end: float, when: Array, half: Array) -> Array:
    """Times at which the table stands: dense where it bends."""
    near = [t + h * np.linspace(-6.0, 6.0, LINES // 4) for t, h in zip(when, half, strict=True)]
    every = np.concatenate([np.linspace(start, end, LINES), *near])
    return np.unique(np.clip(every, start, end))


def _shown(
    t: Array, start: float, end: float, when: Array, half: Array, weight: Array, share: float
) -> Array:
    """Part of the film that is over at times, 0 to 1."""
    bells = np.zeros_like(t)
    for c, h, w in zip(when, half, weight, strict=True):
        low, high = np.tanh((start - c) / h), np.tanh((end - c) / h)
        bells += w * (np.tanh((t - c) / h) - low) / (high - low)
    return np.asarray((1.0 - share) * (t - start) / (end - start) + share * bells)


def _rates(
    t: npt.NDArray[np.float64], start: float, end: float, when: Array, half: Array, weight: Array,
    share: float,
) -> Array:  # fmt: skip
    """The derivative of ``_shown`` [1/s]."""
    bells = np.zeros_like(t)
    for c, h, w in zip(when, half, weight, strict=True):
        whole = np.tanh((end - c) / h) - np.tanh((start - c) / h)
        bells += w / np.cosh(np.clip((t - c) / h, -300.0, 300.0)) ** 2 / h / whole
    return np.asarray((1.0 - share) / (end - start) + share * bells)

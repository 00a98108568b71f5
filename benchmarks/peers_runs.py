"""What is asked of an engine with fixed steps: first contacts, hits, landings, lying on a slope.

A ``batch`` has a ``setting``, continues by ``advance(steps, moving)`` and shows its ``states()``:
``peers_mujoco.Batch`` and ``peers_warp.Batch``.
"""

import dataclasses
from typing import Any

import numpy as np

from benchmarks import peers_cube as cube

#: Landings on a core, and of a batch on a GPU, are looked at once in this time [s].
LOOK, LOOK_GPU = 1.0, 2.0
#: A cube whose lowest corner is nearer to the ground than this [m] touches it.
NEAR = 1e-5


def first_contacts(batch: Any, states: cube.States) -> np.ndarray:
    """When a corner is first below the ground, less the exact time, in steps."""
    exact = cube.first_touch(states)
    found = np.full(len(states), np.nan)
    everyone = np.ones(len(states), bool)
    for k in range(1, int(exact.max() / batch.setting.step) + 4):
        batch.advance(1, everyone)
        below = cube.lowest(batch.states()) < 0.0
        found = np.where(np.isnan(found) & below, k * batch.setting.step, found)
    return (found - exact) / batch.setting.step


def struck(batch: Any, lowest: Any = cube.lowest) -> np.ndarray:
    """Hits, until each has left the ground again: ``peers_cube.hit_results``."""
    before, step = batch.states(), batch.setting.step
    everyone = np.ones(len(before), bool)
    touched, out = np.zeros(len(before), bool), np.full((len(before), 2), np.nan)
    # Three steps down, half a turn of the spring and a step or two up again.
    for _ in range(int(3 + 4.0 / (batch.setting.omega * step)) + 8):
        batch.advance(1, everyone)
        now = batch.states()
        height = lowest(now)
        touched |= height <= 0.0
        leaves = touched & (height > 0.0) & (now.velocity[:, 2] > 0.0) & np.isnan(out[:, 0])
        lost = before.velocity[:, 0] - now.velocity[:, 0]
        out[leaves] = np.column_stack([now.velocity[:, 2], lost])[leaves]
    return cube.hit_results(before, lowest(before), *out.T)


def kept(batch: Any, at: Any = cube.LEFT_AT) -> list[float]:
    """Mean energy that cubes have left at times ``at`` [J/kg]."""
    everyone, now, out = np.ones(len(batch.states()), bool), 0.0, []
    for then in at:
        batch.advance(round((then - now) / batch.setting.step), everyone)
        now = then
        out.append(float(cube.energy(batch.states()).mean()))
    return out


def ball_lowest(states: cube.States) -> np.ndarray:
    """Height of a ball as wide as the cube [m]."""
    return states.position[:, 2] - 0.5 * cube.SIDE


def lain(batch: Any) -> np.ndarray:
    """How far cubes move along the ground in 1e4 s, the first hundred left out [m]."""
    step, everyone = batch.setting.step, np.ones(len(batch.states()), bool)
    chunk = round(100.0 / step)
    batch.advance(chunk, everyone)
    start = batch.states().position
    for _ in range(round(cube.LYING / 100.0) - 1):
        batch.advance(chunk, everyone)
    return np.linalg.norm((batch.states().position - start)[:, :2], axis=1)


@dataclasses.dataclass
class Watch:
    """Looks at cubes now and then, and tells when each came to rest."""

    count: int

    def __post_init__(self) -> None:
        self.rest, self.since, self.first = (np.full(self.count, np.nan) for _ in range(3))
        self.low, self.gain = np.full(self.count, np.inf), np.zeros(self.count)

    @property
    def left(self) -> np.ndarray:
        """Which have not come to rest yet."""
        return np.isnan(self.rest)

    def look(self, at: float, states: cube.States) -> None:
        """``at`` [s]; energy counts in flight, where nothing of it is in springs."""
        touching = cube.lowest(states) < NEAR
        speed = np.linalg.norm(states.velocity, axis=1)
        rate = np.linalg.norm(states.rate, axis=1)
        slow = touching & (speed < cube.SLOW) & (rate < cube.SLOW_RATE)
        self.since = np.where(slow, np.where(np.isnan(self.since), at, self.since), np.nan)
        done = self.left & (at - self.since >= cube.QUIET)
        self.rest = np.where(done, self.since, self.rest)
        self.first = np.where(np.isnan(self.first) & touching, at, self.first)
        flying, now = ~touching, cube.energy(states)
        self.gain = np.where(flying, np.maximum(self.gain, now - self.low), self.gain)
        self.low = np.where(flying, np.minimum(self.low, now), self.low)


def landed(batch: Any, longest: float = cube.LONGEST, limit: float = np.inf) -> cube.Landed:
    """Landings to rest, or as far as they get in ``limit`` seconds.

    Time counts up to when each cube last moved: the quiet time in which that shows does not.
    """
    watch, ticks, took = Watch(len(batch.states())), [], []
    clock, alone = cube.clock(batch.device), batch.device == "cpu"  # worlds of a GPU go together
    steps = max(1, round((LOOK if alone else LOOK_GPU) / batch.setting.step))
    apart = steps * batch.setting.step
    batch.ready(steps)
    while watch.left.any() and len(ticks) * apart < longest and sum(took) < limit:
        moving = watch.left
        began = clock()
        batch.advance(steps, moving)
        took.append(clock() - began)
        ticks.append(moving.sum() if alone else 1)
        watch.look(len(ticks) * apart, batch.states())
    ends = np.arange(1, len(ticks) + 1) * apart
    until = np.where(watch.left, np.inf, watch.rest)
    if alone:
        share = np.array([(until >= end).sum() for end in ends]) / np.array(ticks)
    else:
        share = (ends <= until.max()).astype(float)
    spent = float(np.sum(np.array(took) * share)) / watch.count
    last = batch.states().position
    return cube.Landed(watch.rest, last, watch.first, watch.gain, spent)

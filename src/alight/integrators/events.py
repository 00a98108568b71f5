"""Events: where a function of time and state passes through zero, found on dense output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.integrators.dense import Segment

#: ``(t, y) -> number``; may carry the attributes ``terminal`` and ``direction``.
Event = Callable[[float, Array], float]

# Roots are found to this share of their step.
_ROOT = 1e-13
# Shares of a step at which to look up the sign of a function that is zero at its start.
_JUST_INSIDE = (1e-3, 1e-6)


@dataclass(frozen=True)
class Happened:
    """When one event happened."""

    t: Array
    """Times, (m,)."""
    y: Array
    """States, (m, n)."""


class Watch:
    """Follows one event function along the steps of a solution."""

    def __init__(self, event: Event, number: int, t0: float, y0: Array) -> None:
        self.event, self.number = event, number
        self.direction = _checked_direction(event, number)
        self.stops_after = _checked_terminal(event, number)
        self.times: list[float] = []
        self.states: list[Array] = []
        self._value = self._evaluate(t0, y0)

    def root(self, step: Segment) -> float | None:
        """The share of ``step`` at which the event happens, in (0, 1], or None.

        A sign at the end that differs from that at the start is always seen. Zero at the start
        counts for the step before (or is where the solution starts), so the sign is then taken
        just inside: a ball that leaves the ground and is below it a step later has landed.
        """
        low, before = 0.0, self._value
        after = self._value = self._evaluate(step.t1, step.y1)
        if before == 0.0:
            low, before = self._start(step, after)
        if before == 0.0 or before * self.direction > 0.0 or not _crosses(before, after):
            return None
        if after == 0.0:
            return 1.0
        return float(brentq(self._inside, low, 1.0, args=(step,), xtol=_ROOT))

    def record(self, t: float, y: Array) -> bool:
        """Keep one occurrence; True when it is the one that ends the solution."""
        self.times.append(t)
        self.states.append(y)
        return len(self.times) == self.stops_after

    def happened(self, size: int) -> Happened:
        """All occurrences, of a state of ``size`` numbers."""
        return Happened(np.array(self.times), np.array(self.states).reshape(-1, size))

    def _start(self, step: Segment, after: float) -> tuple[float, float]:
        """A share just inside ``step`` and the value there, of a sign unlike ``after`` if any."""
        low, before = 0.0, 0.0
        for low in _JUST_INSIDE:
            before = self._inside(low, step)
            if before != 0.0 and _crosses(before, after):
                break
        return low, before

    def _inside(self, theta: float, step: Segment) -> float:
        return self._evaluate(step.time(theta), step.part(theta))

    def _evaluate(self, t: float, y: Array) -> float:
        value = float(self.event(t, y))
        if math.isnan(value):
            raise InputError(
                f"event {self.number} returned NaN at t = {t!r}; it must be a number at every "
                "state the solution can reach, for its sign is what is watched"
            )
        return value


def watches(events: Event | Sequence[Event] | None, t0: float, y0: Array) -> tuple[Watch, ...]:
    """A watch for each event of a list, for a single one, or for none."""
    if events is None:
        return ()
    given: Iterable[Event] = (events,) if callable(events) else events
    found = []
    for number, event in enumerate(given):
        if not callable(event):
            raise InputError(f"event {number} is {event!r}; it must be a function (t, y) -> number")
        found.append(Watch(event, number, t0, y0))
    return tuple(found)


def look(all_watches: Sequence[Watch], step: Segment) -> tuple[Watch, float] | None:
    """Record what happens in a step, in order; the watch that ends the solution, and when."""
    found = [(root, w) for w in all_watches if (root := w.root(step)) is not None]
    for theta, watch in sorted(found, key=lambda pair: pair[0]):
        t = step.time(theta)
        if watch.record(t, step.part(theta)):
            return watch, theta
    return None


def _crosses(before: float, after: float) -> bool:
    """Opposite signs, or an end at zero; products could underflow to zero."""
    return after <= 0.0 if before > 0.0 else after >= 0.0


def _checked_direction(event: Event, number: int) -> float:
    direction = getattr(event, "direction", 0)
    if isinstance(direction, bool) or not isinstance(direction, (int, float)):
        raise InputError(
            f"event {number} has direction {direction!r}; it must be a number: positive to count "
            "only rises through zero, negative only falls, 0 both"
        )
    return float(direction)


def _checked_terminal(event: Event, number: int) -> int:
    """After how many occurrences the solution ends; 0 for never."""
    terminal = getattr(event, "terminal", False)
    if not isinstance(terminal, (bool, int)) or terminal < 0:
        raise InputError(
            f"event {number} has terminal {terminal!r}; it must be True, False, or the number of "
            "occurrences after which the solution ends"
        )
    return int(terminal)

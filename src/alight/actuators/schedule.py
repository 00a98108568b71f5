"""Programmes: levels that change in steps, at times counted from the release, from the first touch
of the ground or from coming to rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alight.core.checks import Array, checked_number
from alight.core.errors import InputError, unknown_name

#: What a schedule may count its times from, in the order of their numbers in kernels.
TRIGGERS = ("release", "touch", "rest")


@dataclass(frozen=True, eq=False)
class Schedule:
    """A level that changes in steps: 0 before the first time, then ``levels[i]`` from ``times[i]``.

    ``Schedule()`` is a level of 1 from the release on; ``Schedule.after_touch(0.5, 10.0)`` one of 1
    from half a second after the first touch, for ten seconds. ``Schedule.never()`` stays at 0.
    """

    times: Sequence[float] = (0.0,)
    """[s] after the trigger, rising."""
    levels: Sequence[float] = (1.0,)
    """By which the force or torque is multiplied; one for each time."""
    after: str = "release"
    """"release", "touch", the first one, or "rest", when the lander has come to rest."""
    repeats: int = 1
    """How often it runs, each time from another coming to rest; for ``after = "rest"``."""

    def __post_init__(self) -> None:
        times, levels = (_row(x) for x in (self.times, self.levels))
        if len(times) != len(levels) or not len(times):
            raise InputError(
                f"a schedule has {len(times)} times and {len(levels)} levels; it needs as many of "
                "one as of the other, and one at least."
            )
        if not (np.isfinite(times).all() and np.isfinite(levels).all()):
            raise InputError("a schedule has times or levels that are not finite; all must be.")
        if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
            raise InputError(
                f"the times of a schedule are {times.tolist()} s; they must rise, from 0 on."
            )
        if self.after not in TRIGGERS:
            raise unknown_name("trigger of a schedule", str(self.after), TRIGGERS)
        self._check_repeats()
        for name, value in (("times", times), ("levels", levels)):
            object.__setattr__(self, name, tuple(value.tolist()))

    def _check_repeats(self) -> None:
        if not isinstance(self.repeats, int) or isinstance(self.repeats, bool) or self.repeats < 1:
            raise InputError(
                f"a schedule repeats {self.repeats!r} times; give a whole number >= 1."
            )
        if self.repeats > 1 and self.after != "rest":
            raise InputError(
                f'a schedule after "{self.after}" repeats {self.repeats} times; what comes once '
                'starts one run of it. Repeat it after "rest", or write all times.'
            )

    @classmethod
    def never(cls) -> Schedule:
        """A level of 0."""
        return cls((0.0,), (0.0,))

    @classmethod
    def after_touch(cls, delay: float = 0.0, duration: float = math.inf) -> Schedule:
        """On from ``delay`` [s] after the first touch, for ``duration`` [s]."""
        return cls._on(delay, duration, "touch")

    @classmethod
    def after_rest(
        cls, delay: float = 0.0, duration: float = math.inf, repeats: int = 1
    ) -> Schedule:
        """On from ``delay`` [s] after the lander has come to rest, for ``duration`` [s]."""
        return cls._on(delay, duration, "rest", repeats)

    @classmethod
    def between(cls, start: float, end: float = math.inf) -> Schedule:
        """On from ``start`` to ``end`` [s] after the release."""
        start = checked_number("start [s]", start, above=False)
        return cls._on(start, end - start, "release")

    @classmethod
    def _on(cls, delay: float, duration: float, after: str, repeats: int = 1) -> Schedule:
        delay = checked_number("delay [s]", delay, above=False)
        if not duration > 0.0:
            raise InputError(
                f"the duration is {duration!r} s; it must be above 0, or infinite for no end."
            )
        if math.isinf(duration):
            return cls((delay,), (1.0,), after, repeats)
        return cls((delay, delay + duration), (1.0, 0.0), after, repeats)


def _row(value: Sequence[float]) -> Array:
    try:
        return np.array(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError(f"a schedule holds {value!r}; it must be numbers.") from None

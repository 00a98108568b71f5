"""Runge-Kutta steps on the host: fixed, or as long as the error allows."""

from __future__ import annotations

import math

import numpy as np

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.integrators.control import GROWTH, TINY, following_step
from alight.integrators.dense import Segment
from alight.integrators.problem import Problem, Settings
from alight.integrators.tableau import RK4, RK54, Row, Tableau


class RungeKutta:
    """Where an integration is, and one step of a tableau from there."""

    def __init__(self, tableau: Tableau, problem: Problem) -> None:
        self.tableau, self.problem = tableau, problem
        self.t, self.y = problem.t0, problem.y0
        self.slope = problem.slope(self.t, self.y)
        self.rejected = 0
        s = tableau.stages
        self._a = [_floats(row, len(row)) for row in tableau.a]
        self._b, self._c = _floats(tableau.b, s), _floats(tableau.c, s)
        self._error, self._bend = _floats(tableau.error, s + 1), _floats(tableau.dense, s + 1)

    def trial(self, t1: float) -> tuple[Segment, Array]:
        """A step to ``t1`` that may yet be rejected, and its error estimate (n,)."""
        s, h = self.tableau.stages, t1 - self.t
        k = np.empty((s + 1, self.y.size))
        k[0] = self.slope
        for i in range(1, s):
            k[i] = self.problem.slope(self.t + self._c[i] * h, self.y + h * (self._a[i] @ k[:i]))
        y1 = self.y + h * (self._b @ k[:s])
        k[s] = self.problem.slope(t1, y1)
        step = Segment(self.t, t1, self.y, y1, self.slope, k[s], self._bend @ k)
        return step, h * (self._error @ k)

    def accept(self, step: Segment) -> Segment:
        """Move to the end of a step."""
        self.t, self.y, self.slope = step.t1, step.y1, step.k1
        return step


class FixedSteps(RungeKutta):
    """Steps of one size (the last one may be shorter), without an error estimate."""

    def __init__(self, tableau: Tableau, problem: Problem, settings: Settings) -> None:
        others = (settings.first_step, settings.min_step)
        if settings.step is None or others != (None, None) or settings.max_step != math.inf:
            raise InputError(
                f'method "{tableau.name}" takes fixed steps: give step, their size, and leave out '
                'first_step, min_step and max_step; or use method "rk45", which finds its steps'
            )
        super().__init__(tableau, problem)
        self._size, self._done = settings.step, 0

    def advance(self) -> Segment | Outcome:
        """The next step, or why there is none."""
        start, end = self.problem.t0, self.problem.t1
        t1 = start + self.problem.direction * self._size * (self._done + 1)
        # Rounding must not leave a sliver of a step for the end.
        if abs(t1 - start) > self.problem.span - 1e-9 * self._size:
            t1 = end
        if t1 == self.t:
            return Outcome.STEP_FLOOR
        step, _ = self.trial(t1)
        if not (np.isfinite(step.y1).all() and np.isfinite(step.k1).all()):
            return Outcome.NOT_FINITE
        self._done += 1
        return self.accept(step)


class AdaptiveSteps(RungeKutta):
    """Steps as long as the embedded error estimate allows."""

    def __init__(self, tableau: Tableau, problem: Problem, settings: Settings) -> None:
        if settings.step is not None:
            raise InputError(
                f'step is {settings.step:g}, but method "{tableau.name}" finds its own steps; '
                'use first_step, min_step or max_step, or method "rk4" for fixed steps'
            )
        super().__init__(tableau, problem)
        self._settings = settings
        self._size = settings.first_step or self._first_size()

    def advance(self) -> Segment | Outcome:
        """The next step that meets the tolerance, or why there is none."""
        if not np.isfinite(self.slope).all():
            return Outcome.NOT_FINITE
        floor = self._settings.min_step or 10.0 * float(np.spacing(abs(self.t)))
        growth = GROWTH
        while True:
            size, t1 = self._end_of_step(floor)
            step, error = self.trial(t1)
            norm = self._norm(error, step)
            self._size = following_step(size, norm, self.tableau.error_order, growth)
            if norm <= 1.0:  # false for NaN
                return self.accept(step)
            self.rejected += 1
            growth = 1.0
            if size <= floor:
                return Outcome.STEP_FLOOR

    def _end_of_step(self, floor: float) -> tuple[float, float]:
        """The size of the step to try, and where it ends."""
        size = min(max(self._size, floor), self._settings.max_step)
        left = abs(self.problem.t1 - self.t)
        if size >= left * (1.0 - 1e-9):
            return left, self.problem.t1
        return size, self.t + self.problem.direction * size

    def _norm(self, error: Array, step: Segment) -> float:
        """The error over the error allowed, root mean square; not finite if the state is not."""
        if not np.isfinite(step.y1).all():
            return math.inf
        return _rms(error, self._scale(np.maximum(np.abs(step.y0), np.abs(step.y1))))

    def _scale(self, size: Array) -> Array:
        return np.maximum(self._settings.atol + self._settings.rtol * size, TINY)

    def _first_size(self) -> float:
        """A first step from the size of the state, its slope and its bend.

        The steps of Hairer, Norsett and Wanner, Solving ODEs I, section II.4; where a size is
        zero, a millionth of the span stands in, so that no unit of time is preferred.
        """
        span, scale = self.problem.span, self._scale(np.abs(self.y))
        state, slope = _rms(self.y, scale), _rms(self.slope, scale)
        guess = 0.01 * state / slope if min(state, slope) > 1e-5 else 1e-6 * span
        guess = min(guess, span)
        if not guess > 0.0:  # an empty span, or a slope that is not finite
            return span
        h = self.problem.direction * guess
        moved = self.problem.slope(self.t + h, self.y + h * self.slope)
        largest = max(slope, _rms(moved - self.slope, scale) / guess)
        exponent = 1.0 / (self.tableau.error_order + 1)
        size = (0.01 / largest) ** exponent if largest > 1e-15 else 1e-3 * guess
        return min(100.0 * guess, size) if math.isfinite(size) else guess


def rk4(problem: Problem, settings: Settings) -> FixedSteps:
    """The classical method of order 4."""
    return FixedSteps(RK4, problem, settings)


def rk45(problem: Problem, settings: Settings) -> AdaptiveSteps:
    """Order 5 with an error estimate of order 4."""
    return AdaptiveSteps(RK54, problem, settings)


def _floats(row: Row, length: int) -> Array:
    return np.array([float(x) for x in row] + [0.0] * (length - len(row)))


def _rms(values: Array, scale: Array) -> float:
    ratio = values / scale
    return math.sqrt(float(ratio @ ratio) / ratio.size)

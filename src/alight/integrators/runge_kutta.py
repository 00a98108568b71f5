"""Runge-Kutta steps on the host: fixed, or as long as the error allows."""

from __future__ import annotations

import math

import numpy as np

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.core.outcomes import Outcome
from alight.integrators.dense import BentSegment, Segment
from alight.integrators.problem import InitialValueProblem, Settings
from alight.integrators.step_control import GROWTH, following_step
from alight.integrators.tableau import RK4, RK54, Row, Tableau
from alight.integrators.tolerance import Tolerance, checked_adaptive, first_size, floor_of, rms


class RungeKutta:
    """Where an integration is, and one step of a tableau from there."""

    def __init__(self, tableau: Tableau, problem: InitialValueProblem) -> None:
        self.tableau, self.problem = tableau, problem
        self.t, self.y = problem.t0, problem.y0
        self.slope = problem.slope(self.t, self.y)
        self.rejected, self.order = 0, tableau.order
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
        step = BentSegment(self.t, t1, self.y, y1, self.slope, k[s], self._bend @ k)
        return step, h * (self._error @ k)

    def accept(self, step: Segment) -> Segment:
        """Move to the end of a step."""
        self.t, self.y, self.slope = step.t1, step.y1, step.k1
        return step


class FixedSteps(RungeKutta):
    """Steps of one size (the last one may be shorter), without an error estimate."""

    def __init__(self, tableau: Tableau, problem: InitialValueProblem, settings: Settings) -> None:
        others = (settings.first_step, settings.min_step)
        if settings.step is None or others != (None, None) or settings.max_step != math.inf:
            raise InputError(
                f'method "{tableau.name}" takes fixed steps: give step, their size, and leave out '
                'first_step, min_step and max_step; or use method "rk45" or "pece", which find '
                "their steps"
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

    def __init__(self, tableau: Tableau, problem: InitialValueProblem, settings: Settings) -> None:
        checked_adaptive(tableau.name, settings)
        super().__init__(tableau, problem)
        self._settings, self._tolerance = settings, Tolerance(settings)
        self._size = settings.first_step or first_size(
            problem, self._tolerance, self.slope, tableau.error_order
        )

    def advance(self) -> Segment | Outcome:
        """The next step that meets the tolerance, or why there is none."""
        if not np.isfinite(self.slope).all():
            return Outcome.NOT_FINITE
        floor = floor_of(self._settings, self.t)
        growth = GROWTH
        while True:
            size, t1 = self._end_of_step(floor)
            step, error = self.trial(t1)
            scale = self._tolerance.scale_of_step(step.y0, step.y1)
            norm = math.inf if scale is None else rms(error, scale)
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


def rk4(problem: InitialValueProblem, settings: Settings) -> FixedSteps:
    """The classical method of order 4."""
    return FixedSteps(RK4, problem, settings)


def rk45(problem: InitialValueProblem, settings: Settings) -> AdaptiveSteps:
    """Order 5 with an error estimate of order 4."""
    return AdaptiveSteps(RK54, problem, settings)


def _floats(row: Row, length: int) -> Array:
    return np.array([float(x) for x in row] + [0.0] * (length - len(row)))

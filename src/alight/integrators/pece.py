"""Adams-Bashforth-Moulton steps on the host: predict, evaluate, correct, evaluate (002 section 3).

The method of Shampine and Gordon: order 1 to 12 and step both vary, it starts itself at order 1,
and asks for two slopes a step whatever the order. The formulas are those of ``adams``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.outcomes import Outcome
from alight.integrators.adams import HOST
from alight.integrators.dense import Segment
from alight.integrators.problem import InitialValueProblem, Settings
from alight.integrators.tolerance import Tolerance, checked_adaptive, first_size, floor_of, rms

Row = list[float]


@dataclass(frozen=True)
class AdamsSegment(Segment):
    """A step of the Adams method: the integral of the polynomial through the last slopes."""

    differences: Array
    """phi_1(n+1), ... phi_{k+1}(n+1), (k + 1, n)."""
    psi: Row
    """psi_i(n+1)."""

    def part(self, theta: npt.ArrayLike) -> Array:
        """States (..., n) at shares (...) of the step; exact at 0 and 1.

        The integral runs back from the new state. It misses the old one by far less than the error
        allowed, as the new state was corrected with a predicted slope; a cubic that is flat at both
        ends takes the miss away, so that states and slopes go on from step to step.
        """
        share = np.asarray(theta, np.float64)
        rest = 1.0 - share[..., None]
        miss = self.y0 - self._back(np.zeros(()))
        inside = self._back(share) + rest * rest * (3.0 - 2.0 * rest) * miss
        return np.where(rest == 1.0, self.y0, inside)

    def _back(self, share: Array) -> Array:
        """The integral from the end of the step back to its share ``share``."""
        count = len(self.differences)
        back = (share - 1.0) * (self.t1 - self.t0)
        g = HOST.dense_weights(self.psi, back, count - 1)
        weights = np.empty((*share.shape, count))
        for i in range(count):
            weights[..., i] = g[i + 1]
        return self.y1 + back[..., None] * (weights @ self.differences)


@dataclass(frozen=True)
class _Trial:
    """A step that was predicted and corrected, and may yet be rejected."""

    t1: float
    y1: Array
    lost: Array
    """What rounding took from ``y1``, (n,)."""
    psi: Row
    stars: Array
    """beta_i phi_i(n), (k or k + 1, n)."""
    error: float
    """The error estimate over the error allowed (002 Eq. 36)."""
    equal: tuple[float, float, float]
    """What it would be with equal steps at orders k - 2, k - 1 and k."""
    scale: Array | None
    """The error allowed, (n,)."""


class Pece:
    """Where an integration is, with the differences of its slopes, and the next step from there."""

    def __init__(self, problem: InitialValueProblem, settings: Settings) -> None:
        checked_adaptive("pece", settings)
        self.problem, self._settings, self._tolerance = problem, settings, Tolerance(settings)
        self.t, self.y = problem.t0, problem.y0
        slope = problem.slope(self.t, self.y)
        self.rejected, self.order = 0, 1
        self._next, self._starting, self._same = 1, True, 0
        self._phi, self._psi = slope[None], [0.0] * 15
        self._lost = np.zeros_like(self.y)
        self._size = settings.first_step or first_size(problem, self._tolerance, slope, 1)

    def advance(self) -> Segment | Outcome:
        """The next step that meets the tolerance, or why there is none."""
        if not np.isfinite(self._phi[0]).all():
            return Outcome.NOT_FINITE
        floor = floor_of(self._settings, self.t)
        failures = 0
        while True:
            size, t1 = self._end_of_step(floor)
            trial = self._trial(t1)
            if trial.error <= 1.0:  # false for NaN
                slope = self.problem.slope(t1, trial.y1)
                if np.isfinite(slope).all():
                    return self._accept(trial, slope)
            failures += 1
            self.rejected += 1
            self._next, self._starting, ratio = HOST.retreat(self._next, failures, *trial.equal)
            self._size = ratio * size
            if size <= floor:
                return Outcome.STEP_FLOOR

    def _end_of_step(self, floor: float) -> tuple[float, float]:
        """The size of the step to try, and where it ends."""
        size = min(max(self._size, floor), self._settings.max_step)
        left = abs(self.problem.t1 - self.t)
        size = HOST.fitted(size, left)
        return size, self.problem.t1 if size == left else self.t + self.problem.direction * size

    def _trial(self, t1: float) -> _Trial:
        """Predict, evaluate, correct (002 Eqs. 21, 32, 33); Eq. 33 starts at the slope."""
        k, known = self._next, len(self._phi)
        h = t1 - self.t
        psi, beta, sigma, g = HOST.coefficients(self._psi, h, k, known)
        rows = min(k + 1, known)
        stars = np.array(beta[1 : rows + 1])[:, None] * self._phi[:rows]
        mean = np.array(g[1 : k + 1]) @ stars[:k]
        slope = self.problem.slope(t1, self.y + h * mean)
        # phi^p_{i+1}(n+1) for i = k - 2, k - 1, k: slopes less what was expected of them.
        sums = np.add.accumulate(stars[:k])
        new = slope - sums[-1]
        # The step is small beside the state: what the sum loses is given back to the next.
        moved = h * (mean + g[k + 1] * new) + self._lost
        y1 = self.y + moved
        lost = moved - (y1 - self.y)
        scale = self._tolerance.scale_of_step(self.y, y1)
        if scale is None:
            return _Trial(t1, y1, lost, psi, stars, math.inf, (math.inf,) * 3, None)
        size = rms(new, scale)
        equal = (
            HOST.constant(h, sigma, k - 2) * rms(slope - sums[-3], scale) if k > 2 else 0.0,
            HOST.constant(h, sigma, k - 1) * rms(slope - sums[-2], scale) if k > 1 else 0.0,
            HOST.constant(h, sigma, k) * size,
        )
        error = abs(h * (g[k + 1] - g[k])) * size
        return _Trial(t1, y1, lost, psi, stars, error, equal, scale)

    def _accept(self, trial: _Trial, slope: Array) -> Segment:
        """Move to the end of a step, renew the differences, and choose order and size."""
        k, h, y0, k0 = self._next, trial.t1 - self.t, self.y, self._phi[0]
        self._same = HOST.equal_steps(self._same, h, self._psi[1])
        phi = np.concatenate([slope[None], slope - np.add.accumulate(trial.stars)])
        step = AdamsSegment(self.t, trial.t1, y0, trial.y1, k0, slope, phi[: k + 1], trial.psi)
        above = math.inf
        if len(phi) > k + 1 and trial.scale is not None:
            above = HOST.constant(h, [1.0] * 15, k + 1) * rms(phi[k + 1], trial.scale)
        self._next, self._starting, ratio = HOST.onward(
            k, self._starting, self._same, *trial.equal, above
        )
        self.t, self.y, self._lost = trial.t1, trial.y1, trial.lost
        self._phi, self._psi, self.order = phi, trial.psi, k
        self._size = ratio * abs(h)
        return step

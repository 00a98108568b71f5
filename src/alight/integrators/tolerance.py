"""What the adaptive methods share on the host: the error allowed, and sizes of steps."""

from __future__ import annotations

import math

import numpy as np

from alight.core.checks import Array
from alight.core.errors import InputError
from alight.integrators.problem import InitialValueProblem, Settings
from alight.integrators.step_control import TINY


class Tolerance:
    """The error that a step may make."""

    def __init__(self, settings: Settings) -> None:
        self._rtol, self._atol = settings.rtol, settings.atol

    def scale(self, size: Array) -> Array:
        """The error allowed, (n,), of a state of that size."""
        return np.maximum(self._atol + self._rtol * size, TINY)

    def scale_of_step(self, y0: Array, y1: Array) -> Array | None:
        """The error allowed in a step between two states; None if the new one is not finite."""
        if not np.isfinite(y1).all():
            return None
        return self.scale(np.maximum(np.abs(y0), np.abs(y1)))


def checked_adaptive(name: str, settings: Settings) -> None:
    """An error where a fixed step is given to a method that finds its own."""
    if settings.step is not None:
        raise InputError(
            f'step is {settings.step:g}, but method "{name}" finds its own steps; '
            'use first_step, min_step or max_step, or method "rk4" for fixed steps'
        )


def floor_of(settings: Settings, t: float) -> float:
    """The shortest step that is tried at time ``t``."""
    return settings.min_step or 10.0 * float(np.spacing(abs(t)))


def first_size(
    problem: InitialValueProblem, tolerance: Tolerance, slope: Array, error_order: int
) -> float:
    """A first step from the size of the state, its slope and its bend; asks for one more slope.

    The steps of Hairer, Norsett and Wanner, Solving ODEs I, section II.4; where a size is
    zero, a millionth of the span stands in, so that no unit of time is preferred.
    """
    t, y, span = problem.t0, problem.y0, problem.span
    scale = tolerance.scale(np.abs(y))
    state, speed = rms(y, scale), rms(slope, scale)
    guess = 0.01 * state / speed if min(state, speed) > 1e-5 else 1e-6 * span
    guess = min(guess, span)
    if not guess > 0.0:  # an empty span, or a slope that is not finite
        return span
    h = problem.direction * guess
    moved = problem.slope(t + h, y + h * slope)
    largest = max(speed, rms(moved - slope, scale) / guess)
    size = (0.01 / largest) ** (1.0 / (error_order + 1)) if largest > 1e-15 else 1e-3 * guess
    return min(100.0 * guess, size) if math.isfinite(size) else guess


def rms(values: Array, scale: Array) -> float:
    """Root mean square of values over their scale."""
    ratio = values / scale
    return math.sqrt(float(ratio @ ratio) / ratio.size)

"""What an integration is given, checked: the problem itself and the wishes about steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array, checked_number
from alight.core.errors import InputError

#: ``(t, y) -> dy/dt`` with ``y`` and the result of shape (n,).
Rhs = Callable[[float, Array], npt.ArrayLike]

#: Relative tolerances below this ask for more digits than rounding leaves.
LEAST_RTOL = 1e-14


class InitialValueProblem:
    """An initial value problem; counts how often its right-hand side is asked."""

    def __init__(self, rhs: Rhs, t_span: Sequence[float], y0: npt.ArrayLike) -> None:
        if not callable(rhs):
            raise InputError(f"rhs is {rhs!r}; it must be a function (t, y) -> dy/dt")
        self.t0, self.t1 = _checked_span(t_span)
        self.y0 = _checked_state("y0", y0)
        self.evaluations = 0
        self._rhs = rhs

    @property
    def direction(self) -> float:
        """1 when time runs forward, -1 when it runs backward."""
        return 1.0 if self.t1 >= self.t0 else -1.0

    @property
    def span(self) -> float:
        """Length of the interval, positive either way."""
        return abs(self.t1 - self.t0)

    def slope(self, t: float, y: Array) -> Array:
        """The right-hand side at (t, y); NaN is a valid answer, a wrong shape is not."""
        self.evaluations += 1
        # A copy: a function may return the same work array every time.
        slope = np.array(self._rhs(t, y), dtype=np.float64)
        if slope.shape != self.y0.shape:
            raise InputError(
                f"rhs returned an array of shape {slope.shape} at t = {t:g}; y0 has shape "
                f"{self.y0.shape} and its derivative must have the same"
            )
        return slope


@dataclass(frozen=True)
class Settings:
    """Wishes about steps; which of them a method heeds is said in ``solve``."""

    rtol: float
    """Error allowed in a step, relative to the state."""
    atol: Array
    """Error allowed in a step, (n,) or (), in the unit of the state."""
    first_step: float | None
    """Size of the first step; None to find one."""
    max_step: float
    """No step is longer."""
    min_step: float | None
    """A step this short that still fails ends the solution; None for ten units in the last
    place of t."""
    step: float | None
    """Size of fixed steps."""


def checked_settings(
    problem: InitialValueProblem,
    rtol: float,
    atol: npt.ArrayLike,
    first_step: float | None,
    max_step: float,
    min_step: float | None,
    step: float | None,
) -> Settings:
    """The wishes as ``Settings``, or an error that says what is wrong with one."""
    rtol = checked_number("rtol", rtol, above=False)
    if 0.0 < rtol < LEAST_RTOL:
        raise InputError(
            f"rtol is {rtol:g}; below {LEAST_RTOL:g} rounding exceeds the error asked for. "
            "Use a larger rtol, or 0 to let atol alone decide"
        )
    absolute = _checked_atol(atol, problem.y0.shape)
    if rtol == 0.0 and not (absolute > 0.0).all():
        raise InputError("rtol is 0 and atol is not positive everywhere: no error would be allowed")
    settings = Settings(
        rtol=rtol,
        atol=absolute,
        first_step=_optional("first_step", first_step),
        max_step=math.inf if max_step == math.inf else checked_number("max_step", max_step),
        min_step=_optional("min_step", min_step),
        step=_optional("step", step),
    )
    if settings.min_step is not None and settings.min_step > settings.max_step:
        raise InputError(f"min_step ({min_step:g}) exceeds max_step ({max_step:g}); swap them?")
    return settings


def checked_times(problem: InitialValueProblem, t_eval: npt.ArrayLike | None) -> Array | None:
    """The times at which states are wanted, in the order in which time runs."""
    if t_eval is None:
        return None
    t = _numbers("t_eval", t_eval)
    low, high = sorted((problem.t0, problem.t1))
    if t.ndim != 1 or (t.size and not (t.min() >= low and t.max() <= high)):
        raise InputError(
            f"t_eval has shape {t.shape} and values {t!r}; it must be a list of times within "
            f"t_span, from {low:g} to {high:g}"
        )
    if (problem.direction * np.diff(t) <= 0.0).any():
        way = "rise" if problem.direction > 0.0 else "fall, as time runs backward"
        raise InputError(f"t_eval must {way} from each value to the next; got {t!r}")
    return t


def _checked_span(t_span: Sequence[float]) -> tuple[float, float]:
    t = _numbers("t_span", t_span)
    if t.shape != (2,):
        raise InputError(f"t_span is {t_span!r}; it must be two times, (start, end)")
    return float(t[0]), float(t[1])


def _checked_state(name: str, value: npt.ArrayLike) -> Array:
    y = _numbers(name, value)
    if y.ndim != 1 or y.size == 0:
        raise InputError(f"{name} has shape {y.shape}; it must be a list of one or more numbers")
    return y


def _checked_atol(atol: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    absolute = _numbers("atol", atol)
    if absolute.shape not in ((), shape) or (absolute < 0.0).any():
        raise InputError(
            f"atol is {atol!r}; it must be one number of at least 0, or one for each of the "
            f"{shape[0]} components of y0"
        )
    return absolute


def _numbers(name: str, value: Any) -> Array:
    """A copy of ``value`` as finite float64, or an error that names it."""
    try:
        if np.iscomplexobj(value):
            raise TypeError("complex numbers; integrate real and imaginary parts side by side")
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{name} is {value!r}; it must be numbers: {cause}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} is {value!r}; it must be finite")
    return array


def _optional(name: str, value: float | None) -> float | None:
    return None if value is None else checked_number(name, value)

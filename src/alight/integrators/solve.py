"""``solve``: an initial value problem on the host, with events and dense output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array, checked_whole
from alight.core.errors import InputError, unknown_name
from alight.core.outcomes import Outcome
from alight.integrators import pece, runge_kutta
from alight.integrators.dense import Segment
from alight.integrators.events import Event, Happened, Watch, look, watches
from alight.integrators.problem import (
    InitialValueProblem,
    Rhs,
    Settings,
    checked_settings,
    checked_times,
)


class Stepper(Protocol):
    """What a method offers: where it is, and its next step or why there is none."""

    t: float
    order: int
    """Order of the step taken last."""
    rejected: int

    def advance(self) -> Segment | Outcome:
        """Take one step."""


#: Methods by name; a new one needs a row here and nothing else in this file.
METHODS: dict[str, Callable[[InitialValueProblem, Settings], Stepper]] = {
    "rk4": runge_kutta.rk4,
    "rk45": runge_kutta.rk45,
    "pece": pece.Pece,
}

#: What to do about a failure.
_ADVICE = {
    Outcome.STEP_FLOOR: "the right-hand side is not finite, jumps or is stiff there. Mend it, let "
    "an event end the solution at the jump, allow larger errors (rtol, atol) or lower min_step",
    Outcome.STEP_LIMIT: "raise max_steps, or allow larger errors (rtol, atol)",
    Outcome.NOT_FINITE: "mend the right-hand side there, or let an event end the solution before",
}


@dataclass(frozen=True)
class History:
    """The steps of a solution, one entry a step."""

    t: Array
    """Where each began, (steps,)."""
    size: Array
    """How long each was, (steps,); where an event ended the solution, the last goes past it."""
    order: npt.NDArray[np.int64]
    """The order of the method in each, (steps,); of the predictor, for ``"pece"``."""


@dataclass(frozen=True)
class Solved:
    """A solution, as far as it got."""

    t: Array
    """Times, (m,): the ends of steps, or those of ``t_eval`` that were reached."""
    y: Array
    """States at these times, (m, n)."""
    events: tuple[Happened, ...]
    """For each event its times ``t`` and states ``y``."""
    outcome: Outcome | None
    """Why the solution failed; None when it reached its end or a terminal event."""
    message: str
    """How it ended, in words."""
    stopped_by: int | None
    """Number of the event that ended it, or None."""
    evaluations: int
    """Calls of the right-hand side."""
    steps: int
    """Steps taken."""
    rejected: int
    """Steps tried and not taken."""
    span: tuple[float, float]
    """Where the solution starts and how far it got."""
    history: History = field(repr=False)
    """Size and order of every step."""
    segments: tuple[Segment, ...] | None = field(repr=False, default=None)
    """The steps themselves, where ``dense=True`` asked for them."""

    @property
    def success(self) -> bool:
        """True when the solution reached its end or a terminal event."""
        return self.outcome is None

    def sample(self, t: npt.ArrayLike) -> Array:
        """States (..., n) at times (...) within ``span``, by dense output."""
        if self.segments is None:
            raise InputError("this solution kept no dense output; call solve(..., dense=True)")
        times = np.asarray(t, dtype=np.float64)
        low, high = sorted(self.span)
        if not ((times >= low) & (times <= high)).all():
            raise InputError(f"t is {t!r}; this solution reaches from {low:g} to {high:g}")
        if not self.segments:
            return np.broadcast_to(self.y[0], (*times.shape, self.y.shape[1])).copy()
        way = 1.0 if self.span[1] >= self.span[0] else -1.0
        ends = np.array([way * s.t1 for s in self.segments[:-1]])
        flat = times.reshape(-1)
        which = np.searchsorted(ends, way * flat)
        out = np.empty((flat.size, self.y.shape[1]))
        for i in np.unique(which):
            out[which == i] = self.segments[i].at(flat[which == i])
        return out.reshape(*times.shape, -1)


def solve(
    rhs: Rhs,
    t_span: Sequence[float],
    y0: npt.ArrayLike,
    method: str = "rk45",
    *,
    rtol: float = 1e-9,
    atol: npt.ArrayLike = 1e-12,
    first_step: float | None = None,
    max_step: float = math.inf,
    min_step: float | None = None,
    step: float | None = None,
    events: Event | Sequence[Event] | None = None,
    t_eval: npt.ArrayLike | None = None,
    dense: bool = False,
    max_steps: int = 1_000_000,
) -> Solved:
    """Integrate dy/dt = rhs(t, y) from ``y0`` at ``t_span[0]`` to ``t_span[1]``, either way.

    Parameters
    ----------
    method:
        ``"rk45"``: order 5, steps as long as the tolerances allow. ``"pece"``: Adams formulas of
        order 1 to 12, steps and order as the tolerances allow, two slopes a step: for smooth
        problems, tight tolerances and costly right-hand sides. ``"rk4"``: order 4, steps of size
        ``step``.
    rtol, atol:
        A step is kept when its error, root mean square over the components and each over
        ``atol + rtol |y|``, is at most 1; ``atol`` may be an array. Not for ``"rk4"``.
    first_step, max_step, min_step:
        Limits on steps, not for ``"rk4"``; a step as short as ``min_step`` that still fails ends
        the solution with ``Outcome.STEP_FLOOR``. A right-hand side that gives NaN fails a step.
    events:
        Functions ``(t, y) -> number``, whose zeros are found on dense output. An attribute
        ``terminal`` (True, or a count) ends the solution there; ``direction`` > 0 counts only
        rises through zero, < 0 only falls.
    t_eval:
        Times at which states are wanted, instead of the ends of steps.
    dense:
        Keep every step, for ``Solved.sample``.
    max_steps:
        Steps allowed; then the solution ends with ``Outcome.STEP_LIMIT``.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    problem = InitialValueProblem(rhs, t_span, y0)
    settings = checked_settings(problem, rtol, atol, first_step, max_step, min_step, step)
    trace = _Trace(problem, checked_times(problem, t_eval), dense)
    limit = checked_whole("max_steps", max_steps, 1)
    watched = watches(events, problem.t0, problem.y0)
    # A right-hand side that leaves its domain fails the step: no news for the user.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        stepper = METHODS[method](problem, settings)
        outcome, stopped_by = _march(stepper, problem.t1, watched, trace, limit)
    return _solved(problem, stepper, watched, trace, outcome, stopped_by)


def _march(
    stepper: Stepper, end: float, watched: Sequence[Watch], trace: _Trace, limit: int
) -> tuple[Outcome | None, int | None]:
    """Step to ``end``; why that failed, or the number of the event that ended it, or neither."""
    while stepper.t != end:
        taken = Outcome.STEP_LIMIT if trace.steps == limit else stepper.advance()
        if isinstance(taken, Outcome):
            return taken, None
        stop = look(watched, taken)
        trace.add(taken, stepper.order, 1.0 if stop is None else stop[1])
        if stop is not None:
            return None, stop[0].number
    return None, None


def _solved(
    problem: InitialValueProblem,
    stepper: Stepper,
    watched: Sequence[Watch],
    trace: _Trace,
    outcome: Outcome | None,
    stopped_by: int | None,
) -> Solved:
    t, y = trace.arrays()
    return Solved(
        t=t,
        y=y,
        events=tuple(w.happened(problem.y0.size) for w in watched),
        outcome=outcome,
        message=_message(outcome, stopped_by, trace.reached),
        stopped_by=stopped_by,
        evaluations=problem.evaluations,
        steps=trace.steps,
        rejected=stepper.rejected,
        span=(problem.t0, trace.reached),
        history=trace.history(),
        segments=tuple(trace.segments) if trace.dense else None,
    )


class _Trace:
    """What is kept of the steps: their ends, or states at given times, and perhaps all of them."""

    def __init__(self, problem: InitialValueProblem, t_eval: Array | None, dense: bool) -> None:
        self.steps, self.reached = 0, problem.t0
        self.segments: list[Segment] = []
        self._size, self._way, self.dense = problem.y0.size, problem.direction, dense
        self._left = t_eval
        self._t: list[Array] = []
        self._y: list[Array] = []
        self._history: list[tuple[float, float, int]] = []
        if t_eval is None:
            self._keep(np.array([problem.t0]), problem.y0[None])
        else:
            at_start = t_eval[:1][t_eval[:1] == problem.t0]
            self._keep(at_start, problem.y0[None][: at_start.size])
            self._left = t_eval[at_start.size :]

    def add(self, step: Segment, order: int, share: float) -> None:
        """Keep a step, up to ``share`` of it."""
        self._history.append((step.t0, abs(step.t1 - step.t0), order))
        self.steps += 1
        self.reached = step.time(share)
        if self.dense:
            self.segments.append(step)
        if self._left is None:
            end = step.y1 if share == 1.0 else step.part(share)
            self._keep(np.array([self.reached]), end[None])
            return
        count = int(np.searchsorted(self._way * self._left, self._way * self.reached, "right"))
        self._keep(self._left[:count], step.at(self._left[:count]))
        self._left = self._left[count:]

    def arrays(self) -> tuple[Array, Array]:
        """Times (m,) and states (m, n)."""
        return np.concatenate(self._t), np.concatenate(self._y).reshape(-1, self._size)

    def history(self) -> History:
        """Where steps began, how long they were and of which order."""
        t, size, order = np.array(self._history).reshape(-1, 3).T
        return History(t, size, order.astype(np.int64))

    def _keep(self, t: Array, y: Array) -> None:
        self._t.append(t)
        self._y.append(y)


def _message(outcome: Outcome | None, stopped_by: int | None, reached: float) -> str:
    """How a solution ended, in words."""
    if outcome is not None:
        advice = f": {_ADVICE[outcome]}" if outcome in _ADVICE else ""
        return f"{outcome.message} (at t = {reached:.17g}){advice}"
    if stopped_by is not None:
        return f"event {stopped_by} ended the solution at t = {reached:.17g}"
    return f"reached the end of the time span, t = {reached:.17g}"

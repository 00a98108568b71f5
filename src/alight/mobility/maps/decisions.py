"""Decisions over cells: the best command in each, by how many hops are left.

A finite Markov decision process. From cell c the command a ends a run well with the chance g(c, a),
lost with f(c, a), else in cell c' with P(c' | c, a), at the cost k(c, a). With h hops left

    V_h(c) = min_a [ k(c, a) + f(c, a) F + sum_c' P(c' | c, a) V_h-1(c') ],    V_0(c) = F

F being the cost of a run that is lost, or that has not arrived when its hops are used up. With k
= 0 and F = 1 the value is the chance of failure (least risk); with k = 1 or the time of a hop it
is the expected number of hops or time, failure counted at F. The plan is the command that takes
the least, by cell and hops left. ``evaluate`` is the same recursion with a plan that is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.errors import InputError

Plan = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What commands lead to."""

    move: Any
    """(n m, n) sparse: chances of the next cell; row c m + a is command a in cell c."""
    arrive: Array
    """(n, m) chance of arriving."""
    fail: Array
    """(n, m) chance of being lost."""
    time: Array
    """(n, m) mean time of a hop [s]."""
    known: Any
    """(n, m) whether there were any runs of it."""

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.arrive.shape[0])

    @property
    def commands(self) -> int:
        """Number of commands."""
        return int(self.arrive.shape[1])


@dataclass(frozen=True, eq=False)
class Solved:
    """The best plan, and what it costs."""

    plan: Plan
    """(hops, n) the command in each cell; row h - 1 with h hops left."""
    value: Array
    """(hops + 1, n) expected cost by the number of hops left."""


def solve(outcomes: Outcomes, cost: Array, failure: float, hops: int) -> Solved:
    """Value iteration over ``hops`` hops with costs (n, m) and that of failure."""
    if hops < 1:
        raise InputError(f"a plan over {hops} hops has no first hop; give at least 1.")
    n, m = outcomes.cells, outcomes.commands
    fixed = np.where(outcomes.known, cost + failure * outcomes.fail, np.inf)
    plan, value = np.empty((hops, n), dtype=np.int64), np.empty((hops + 1, n))
    value[0] = failure
    for h in range(1, hops + 1):
        total = fixed + np.asarray(outcomes.move @ value[h - 1]).reshape(n, m)
        plan[h - 1] = np.argmin(total, axis=1)
        value[h] = total[np.arange(n), plan[h - 1]]
    return Solved(plan, value)


def evaluate(outcomes: Outcomes, plan: Plan, cost: Array | float, failure: float) -> Array:
    """(hops + 1, n) expected cost of a plan (hops, n)."""
    n, m = outcomes.cells, outcomes.commands
    fixed = np.broadcast_to(cost, (n, m)) + failure * outcomes.fail
    value = np.empty((len(plan) + 1, n))
    value[0] = failure
    for h in range(1, len(plan) + 1):
        rows = np.arange(n) * m + plan[h - 1]
        value[h] = fixed.reshape(-1)[rows] + np.asarray(outcomes.move[rows] @ value[h - 1])
    return value


def success(outcomes: Outcomes, plan: Plan) -> Array:
    """(hops + 1, n) chance that a plan arrives, by the number of hops left."""
    return np.asarray(1.0 - evaluate(outcomes, plan, 0.0, 1.0))


def arrivals(outcomes: Outcomes, plan: Plan, share: Array) -> Array:
    """(hops + 1,) how much of what begins with ``share`` (n,) in each cell has arrived after 0, 1,
    ... hops under a plan."""
    n, m = outcomes.cells, outcomes.commands
    here, out = np.asarray(share, dtype=np.float64), [0.0]
    for row in plan[::-1]:
        chosen = np.arange(n) * m + row
        out.append(out[-1] + float(here @ outcomes.arrive.reshape(-1)[chosen]))
        here = np.asarray(here @ outcomes.move[chosen])
    return np.array(out)

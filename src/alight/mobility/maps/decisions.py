"""Decisions over cells: the best command in each, by how many hops are left.

A finite Markov decision process. From cell c the command a ends a run well with the chance g(c, a),
lost with f(c, a), else in cell c' with P(c' | c, a), at the cost k(c, a). With h hops left

    V_h(c) = min_a [ k(c, a) + f(c, a) F + sum_c' P(c' | c, a) V_h-1(c') ],    V_0(c) = F

F being the cost of a run that is lost, or that has not arrived when its hops are used up. With k
= 0 and F = 1 the value is the chance of failure (least risk); with k = 1 or the time of a hop it
is the expected number of hops or time, failure counted at F. The plan is the command that takes
the least, by cell and hops left. ``evaluate`` is the same recursion with a plan that is given, and
what commands lead to may then depend on the hops left.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    runs: Any
    """(n, m) how many runs of it there were."""

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
    fixed = np.where(outcomes.runs > 0, cost + failure * outcomes.fail, np.inf)
    plan, value = np.empty((hops, n), dtype=np.int64), np.empty((hops + 1, n))
    value[0] = failure
    for h in range(1, hops + 1):
        total = fixed + np.asarray(outcomes.move @ value[h - 1]).reshape(n, m)
        plan[h - 1] = np.argmin(total, axis=1)
        value[h] = total[np.arange(n), plan[h - 1]]
    return Solved(plan, value)


def overlaid(below: Outcomes, over: Outcomes, enough: int) -> Outcomes:
    """``over`` where it has at least ``enough`` runs, ``below`` elsewhere."""
    from scipy.sparse import diags_array

    taken = over.runs >= enough
    chosen = taken.reshape(-1).astype(float)
    move = diags_array(1.0 - chosen) @ below.move + diags_array(chosen) @ over.move
    names = ("arrive", "fail", "time", "runs")
    both = [np.where(taken, getattr(over, name), getattr(below, name)) for name in names]
    return Outcomes(move.tocsr(), *both)


def evaluate(
    outcomes: Sequence[Outcomes], plan: Plan, cost: Array | float, failure: float
) -> Array:
    """(hops + 1, n) expected cost of a plan (hops, n), with outcomes by hops left, from 1 on."""
    n, m = outcomes[0].cells, outcomes[0].commands
    value = np.empty((len(plan) + 1, n))
    value[0] = failure
    for h, (row, known) in enumerate(zip(plan, outcomes, strict=True), 1):
        fixed = np.broadcast_to(cost, (n, m)) + failure * known.fail
        chosen = np.arange(n) * m + row
        value[h] = fixed.reshape(-1)[chosen] + np.asarray(known.move[chosen] @ value[h - 1])
    return value


def success(outcomes: Sequence[Outcomes], plan: Plan) -> Array:
    """(hops + 1, n) chance that a plan arrives, by the number of hops left."""
    return np.asarray(1.0 - evaluate(outcomes, plan, 0.0, 1.0))


def arrivals(outcomes: Sequence[Outcomes], plan: Plan, share: Array) -> Array:
    """(hops + 1,) how much of what begins with ``share`` (n,) in each cell has arrived after 0, 1,
    ... hops under a plan."""
    n, m = outcomes[0].cells, outcomes[0].commands
    here, out = np.asarray(share, dtype=np.float64), [0.0]
    for row, known in zip(plan[::-1], outcomes[::-1], strict=True):
        chosen = np.arange(n) * m + row
        out.append(out[-1] + float(here @ known.arrive.reshape(-1)[chosen]))
        here = np.asarray(here @ known.move[chosen])
    return np.array(out)

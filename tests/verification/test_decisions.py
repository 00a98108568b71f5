"""Decisions over cells: value iteration against closed forms and against every plan there is.

    V_h(c) = min_a [ k(c, a) + f(c, a) F + sum_c' P(c' | c, a) V_h-1(c') ],    V_0 = F

A chain of one cell that a hop leaves for the goal with the chance p and for good with q has arrived
after h hops with the chance p (1 - r^h) / (1 - r), r = 1 - p - q; and takes (1 - r^h) / (1 - r)
hops in the mean.
"""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from alight.mobility.maps.decisions import Outcomes, arrivals, evaluate, solve, success


def problem(move, arrive, fail, time=None):
    """Of chances (cells, commands, cells), (cells, commands) and (cells, commands)."""
    move, arrive = np.asarray(move, float), np.asarray(arrive, float)
    n, m = arrive.shape
    known = np.ones((n, m), bool)
    spent = np.ones((n, m)) if time is None else np.asarray(time, float)
    return Outcomes(
        csr_matrix(move.reshape(n * m, n)), arrive, np.asarray(fail, float), spent, known
    )


def drawn(seed, n=3, m=2):
    """A random problem: its chances sum to 1."""
    rng = np.random.default_rng(seed)
    chance = rng.dirichlet(np.ones(n + 2), size=(n, m))
    return problem(
        chance[:, :, :n], chance[:, :, n], chance[:, :, n + 1], rng.uniform(1, 5, (n, m))
    )


def test_a_chain_of_one_cell_has_the_closed_form():
    p, q, hops = 0.3, 0.1, 7
    chain = problem([[[1.0 - p - q]]], [[p]], [[q]])
    r = 1.0 - p - q
    plan, chains = np.zeros((hops, 1), dtype=int), [chain] * hops
    h = np.arange(hops + 1)
    assert success(chains, plan)[:, 0] == pytest.approx(p * (1.0 - r**h) / (1.0 - r), rel=1e-12)
    mean = evaluate(chains, plan, 1.0, 0.0)[:, 0]
    assert mean == pytest.approx((1.0 - r**h) / (1.0 - r), rel=1e-12)
    arrived = arrivals(chains, plan, np.ones(1))
    assert arrived == pytest.approx(success(chains, plan)[:, 0], rel=1e-12)


def test_a_line_of_cells_takes_the_fewest_hops():
    """Steps of one and two cells to the goal behind the last: ceil(k / 2) hops from the k-th."""
    n = 9
    move, arrive = np.zeros((n, 2, n)), np.zeros((n, 2))
    for cell, (command, step) in itertools.product(range(n), enumerate((1, 2))):
        if cell - step < 0:
            arrive[cell, command] = 1.0
        else:
            move[cell, command, cell - step] = 1.0
    found = solve(problem(move, arrive, np.zeros((n, 2))), np.ones((n, 2)), 100.0, 8)
    assert found.value[-1] == pytest.approx(np.ceil(np.arange(1, n + 1) / 2.0), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["risk", "hops", "time"])
def test_no_plan_of_all_there_are_is_better(seed, kind):
    one = drawn(seed)
    n, m, hops = 3, 2, 2
    cost = {"risk": np.zeros((n, m)), "hops": np.ones((n, m)), "time": one.time}[kind]
    failure = {"risk": 1.0, "hops": 6.0, "time": 20.0}[kind]
    found = solve(one, cost, failure, hops)
    plans = [np.array(p).reshape(hops, n) for p in itertools.product(range(m), repeat=hops * n)]
    known = [one] * hops
    values = np.array([evaluate(known, plan, cost, failure)[-1] for plan in plans])
    assert found.value[-1] == pytest.approx(values.min(axis=0), rel=1e-12)
    assert evaluate(known, found.plan, cost, failure) == pytest.approx(found.value, rel=1e-12)


def test_what_arrives_is_what_succeeds_whichever_way_it_is_counted():
    """Also where chances differ by the number of hops left."""
    known = [drawn(seed, 5, 3) for seed in range(6)]
    plan = solve(known[0], np.zeros((5, 3)), 1.0, 6).plan
    share = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    forward, backward = arrivals(known, plan, share), share @ success(known, plan)[-1]
    assert forward[-1] == pytest.approx(backward, rel=1e-12)
    assert (np.diff(forward) >= 0.0).all()


def test_commands_without_runs_are_not_chosen():
    one = drawn(2)
    known = np.array([[True, False], [False, True], [True, True]])
    limited = Outcomes(one.move, one.arrive, one.fail, one.time, known)
    plan = solve(limited, np.zeros((3, 2)), 1.0, 4).plan
    assert (plan[:, 0] == 0).all()
    assert (plan[:, 1] == 1).all()

"""Coefficients against the theory, in exact fractions: no tolerance anywhere.

A rooted tree t of order q with subtrees t_1..t_m has density gamma(t) = q prod gamma(t_i) and
stage weights w_i(t) = prod_k sum_j a_ij w_j(t_k). A method has order p if and only if
sum_i b_i w_i(t) = 1/gamma(t) for all trees of order q <= p (Butcher).
"""

import dataclasses
import functools
from fractions import Fraction

import numpy as np
import pytest

from alight.integrators import RK4, RK54

METHODS = [RK4, RK54]


@functools.cache
def trees(order):
    """Rooted trees as sorted tuples of subtrees: 1, 1, 2, 4, 9, 20 of orders 1 to 6."""
    return sorted(forests(order - 1))


@functools.cache
def forests(total):
    """Sets of trees with ``total`` nodes together."""
    if total == 0:
        return {()}
    return {
        tuple(sorted((first, *others)))
        for n in range(1, total + 1)
        for first in trees(n)
        for others in forests(total - n)
    }


def size(tree):
    return 1 + sum(size(t) for t in tree)


def density(tree):
    product = size(tree)
    for t in tree:
        product *= density(t)
    return product


def rows(tableau):
    """The matrix a with the row of stage s + 1, the slope at the new state."""
    n = tableau.stages + 1
    return [row + (Fraction(0),) * (n - len(row)) for row in (*tableau.a, tableau.b)]


def stage_weights(tree, a):
    weights = [Fraction(1)] * len(a)
    for subtree in tree:
        inner = stage_weights(subtree, a)
        weights = [
            w * sum(x * y for x, y in zip(row, inner, strict=True))
            for w, row in zip(weights, a, strict=True)
        ]
    return weights


def defects(weights, a, order):
    """Trees of ``order`` whose condition is not met."""

    def weight(tree):
        return sum(b * w for b, w in zip(weights, stage_weights(tree, a), strict=True))

    return [t for t in trees(order) if weight(t) != Fraction(1, density(t))]


def all_stages(row, tableau):
    return row + (Fraction(0),) * (tableau.stages + 1 - len(row))


def test_the_trees_are_all_there():
    assert [len(trees(q)) for q in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.parametrize("tableau", METHODS, ids=lambda m: m.name)
def test_shapes_and_row_sums(tableau):
    s = tableau.stages
    assert [len(row) for row in tableau.a] == list(range(s))
    assert len(tableau.c) == s
    assert [sum(row) for row in tableau.a] == list(tableau.c)
    assert len(tableau.error) in (0, s + 1)


@pytest.mark.parametrize("tableau", METHODS, ids=lambda m: m.name)
def test_order_of_the_step_is_as_claimed_and_no_higher(tableau):
    weights = all_stages(tableau.b, tableau)
    for order in range(1, tableau.order + 1):
        assert not defects(weights, rows(tableau), order)
    assert defects(weights, rows(tableau), tableau.order + 1)


def test_order_of_the_embedded_solution():
    weights = [b - e for b, e in zip(all_stages(RK54.b, RK54), RK54.error, strict=True)]
    for order in range(1, RK54.error_order + 1):
        assert not defects(weights, rows(RK54), order)
    # Were it of order 5 too, the estimate would see nothing.
    assert len(defects(weights, rows(RK54), RK54.error_order + 1)) == 9


def test_a_wrong_coefficient_is_noticed():
    b = list(RK54.b)
    b[2], b[3] = b[2] + Fraction(1, 10**6), b[3] - Fraction(1, 10**6)
    wrong = dataclasses.replace(RK54, b=tuple(b))
    assert defects(all_stages(wrong.b, wrong), rows(wrong), 2)


def test_coefficients_are_those_of_another_tool():
    from scipy.integrate import RK45

    ours = [[float(x) for x in row] for row in (RK54.b, RK54.c, RK54.error)]
    for mine, theirs in zip(ours, (RK45.B, RK45.C, -RK45.E), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)

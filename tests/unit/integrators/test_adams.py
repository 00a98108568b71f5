"""The laws of the Adams method, in exact fractions, and what they choose."""

import math
from fractions import Fraction

import numpy as np
import pytest

from alight.integrators import adams
from alight.integrators.adams import ERROR_CONSTANTS, MAX_ORDER, ROWS
from alight.integrators.step_control import step_factor

EXACT = adams.laws(Fraction, lambda: [Fraction(0)] * ROWS, ERROR_CONSTANTS, lambda f: f, None)
HOST = adams.laws(
    float, lambda: [0.0] * ROWS, [float(c) for c in ERROR_CONSTANTS], lambda f: f, step_factor
)
orders = pytest.mark.parametrize("k", range(1, MAX_ORDER + 1))


def test_equal_steps_have_the_constants_of_the_books():
    """Adams-Bashforth: 1, 1/2, 5/12, 3/8, 251/720, ...; Adams-Moulton: -1/2, -1/12, -1/24, ..."""
    psi = [Fraction(i) for i in range(ROWS)]
    _, beta, sigma, g = EXACT.coefficients(psi, Fraction(1), 8, 9)
    assert [str(x) for x in g[1:7]] == ["1", "1/2", "5/12", "3/8", "251/720", "95/288"]
    assert beta[1:10] == [1] * 9
    assert sigma[1:10] == [1] * 9
    known = ["-1/2", "-1/12", "-1/24", "-19/720", "-3/160", "-863/60480"]
    assert [str(x) for x in ERROR_CONSTANTS[1:7]] == known


def test_weights_are_integrals():
    """g_i is the integral of a product of i - 1 factors: here by Gauss's rule."""
    rng = np.random.default_rng(4)
    gamma, eta = rng.uniform(-1.0, 1.0, (2, ROWS))
    s, w = np.polynomial.legendre.leggauss(7)
    s, w = 0.5 * (s + 1.0), 0.5 * w
    c, expected = np.ones(7), [1.0]
    for i in range(1, MAX_ORDER + 1):
        c = c * (gamma[i] - eta[i] * (1.0 - s))
        expected.append(w @ c)
    g = HOST.weights(gamma, eta, MAX_ORDER + 1)
    # The triangle subtracts numbers that may be larger than what is left of them.
    np.testing.assert_allclose(g[1 : MAX_ORDER + 2], expected, rtol=0, atol=1e-14)


@orders
def test_the_constant_is_that_of_equal_steps(k):
    assert HOST.constant(-0.5, 1.0, k) == pytest.approx(0.5 * abs(float(ERROR_CONSTANTS[k])))


# What comes next -------------------------------------------------------------------------------


def test_a_start_raises_order_and_step():
    k, starting, ratio = HOST.onward(3, True, 1, 9.0, 3.0, 0.9, math.inf)
    assert (k, starting, ratio) == (4, True, 2.0)
    # It ends where a lower order would do, and at the highest.
    assert HOST.onward(4, True, 1, 1e-6, 1e-6, 1e-5, math.inf)[:2] == (3, False)
    assert HOST.onward(MAX_ORDER, True, 1, 9.0, 3.0, 0.9, math.inf)[:2] == (MAX_ORDER, False)


def test_an_order_rises_only_on_equal_steps():
    errors = (4e-1, 2e-1, 1e-1, 5e-2)
    assert HOST.onward(5, False, 6, *errors)[0] == 6
    assert HOST.onward(5, False, 5, *errors)[0] == 5
    assert HOST.onward(MAX_ORDER, False, 99, *errors)[0] == MAX_ORDER
    assert HOST.onward(5, False, 6, *errors[:3], 1e-1)[0] == 5
    # From order 1 it takes half the error.
    assert HOST.onward(1, False, 2, 0.0, 0.0, 1e-1, 6e-2)[0] == 1
    assert HOST.onward(1, False, 2, 0.0, 0.0, 1e-1, 4e-2)[0] == 2


def test_an_order_falls_where_lower_ones_promise_less():
    assert HOST.onward(5, False, 1, 0.1, 0.1, 0.2, math.inf)[0] == 4
    assert HOST.onward(5, False, 1, 0.3, 0.1, 0.2, math.inf)[0] == 5
    assert HOST.onward(5, False, 6, 0.3, 0.1, 0.2, 0.15)[0] == 4
    assert HOST.onward(2, False, 1, 0.0, 0.15, 0.2, math.inf)[0] == 2
    assert HOST.onward(2, False, 1, 0.0, 0.09, 0.2, math.inf)[0] == 1


@pytest.mark.parametrize(
    ("error", "ratio"),
    [(1e-9, 2.0), (0.5 / 16, 2.0), (0.51 / 16, 1.0), (0.5, 1.0), (0.6, 0.9), (1.0, 0.5**0.25)],
)
def test_the_step_doubles_stays_or_shrinks_by_half_at_most(error, ratio):
    assert HOST.onward(3, False, 1, 9.0, 9.0, error, math.inf)[2] == pytest.approx(ratio)
    assert HOST.onward(3, False, 1, 9.0, 9.0, 1e6, math.inf)[2] == 0.5


def test_failures_lead_to_a_new_start():
    assert HOST.retreat(6, 1, 9.0, 9.0, 5.0) == (6, False, 0.5)
    assert HOST.retreat(6, 2, 4.0, 4.0, 5.0) == (5, False, 0.5)
    assert HOST.retreat(6, 3, 9.0, 9.0, 5.0) == (1, True, 0.5)
    k, starting, ratio = HOST.retreat(1, 4, 0.0, 0.0, 8.0)
    assert (k, starting) == (1, True)
    assert ratio == pytest.approx(0.25)  # the error goes as the square, and half is aimed at
    assert HOST.retreat(1, 9, 0.0, 0.0, 1e20)[2] == 0.2


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_error_that_is_none_shortens_the_step_and_says_nothing_of_orders(bad):
    assert HOST.retreat(6, 1, bad, bad, bad) == (6, False, 0.5)
    assert HOST.retreat(6, 4, bad, bad, bad) == (1, True, 0.2)


def test_steps_are_equal_up_to_the_rounding_of_time():
    assert HOST.equal_steps(4, 0.1 + 1e-12, 0.1) == 5
    assert HOST.equal_steps(4, -0.1, -0.1) == 5
    assert HOST.equal_steps(4, 0.1, 0.09) == 1

"""Adams formulas in divided differences, and which order and step come next: one source.

Steps x_n, x_{n-1}, ... need not be equal. With psi_i(n) = x_n - x_{n-i} the modified differences

    phi_1(n) = f_n,    phi_i(n) = psi_1(n) ... psi_{i-1}(n) f[x_n, ..., x_{n-i+1}]

are the backward differences of f where steps are equal. The polynomial through the last k slopes,
at x_n + s h of the next step, is the sum of c_i(s) beta_i phi_i(n), where (002 Eqs. 21-31)

    beta_i = psi_1(n+1) ... psi_{i-1}(n+1) / (psi_1(n) ... psi_{i-1}(n)),
    c_1 = 1,    c_{i+1}(s) = c_i(s) (1 - alpha_i (1 - s)),    alpha_i = h / psi_i(n+1),

since (s h + psi_{i-1}(n)) / psi_i(n+1) = 1 - alpha_i (1 - s). Its integral over the step has the
weights g_i, the integrals of c_i, and multiplying c_i by (1 - s)^(q-1) gives g_{i,q}, for which the
recurrence is read off the line above: g_{i+1,q} = g_{i,q} - alpha_i g_{i,q+1}, g_{1,q} = 1/q.

``laws`` writes these functions for one kind of number: Warp's scalar (``pece_rows``), fractions
(the constants below, and tests). Tables begin at 1, as in the equations.
"""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from alight.integrators import step_control

#: The highest order of the predictor; the corrector's is one more.
MAX_ORDER = 12
#: Rows of a table: differences 1 to MAX_ORDER + 2, and row 0, which no difference needs.
ROWS = MAX_ORDER + 3
#: A step aims at this share of the error allowed.
AIM = 0.5
#: A step that failed is tried again at half its size; so many failures in a row start anew.
RESTART = 3
#: Steps that differ by less than this share count as equal: time is rounded.
EQUAL = 1e-6


class AdamsFormulas(NamedTuple):
    """The functions, for one kind of number."""

    weights: Callable[..., Any]
    coefficients: Callable[..., Any]
    equal_steps: Callable[..., Any]
    constant: Callable[..., Any]
    onward: Callable[..., Any]
    retreat: Callable[..., Any]


def laws(
    number: Any, row: Any, error_constants: Any, func: Callable[..., Any], step_factor: Any
) -> AdamsFormulas:
    """The laws for numbers of type ``number``, in tables that ``row()`` makes.

    ``func`` turns a function into one that the others may call (``wp.func`` for kernels);
    ``step_factor`` is ``step_control.step_factor`` treated so.
    """

    @func
    def weights(gamma: row, eta: row, count: int):  # type: ignore[no-untyped-def]
        """Integrals over 0 < s < 1 of c_i(s), c_{i+1} = c_i (gamma_i - eta_i (1 - s)); 002 Eq. 31.

        Column q of the triangle is weighted with (1 - s)^(q-1); it starts at 1/q.
        """
        g = row()
        column = row()
        for q in range(1, count + 1):
            column[q] = number(1.0) / number(q)
        g[1] = column[1]
        for i in range(1, count):
            for q in range(1, count + 1 - i):
                column[q] = gamma[i] * column[q] - eta[i] * column[q + 1]
            g[i + 1] = column[1]
        return g

    @func
    def coefficients(psi: row, h: number, order: int, known: int):  # type: ignore[no-untyped-def]
        """For a step h: psi(n+1), beta, sigma and g (002 Eqs. 25-31).

        ``psi`` is psi(n) and ``known`` how many differences there are: at least ``order``. sigma_i,
        the product of j alpha_j over j < i, is what turns phi_i into the backward difference that
        equal steps of h would have.
        """
        reach = row()
        beta = row()
        sigma = row()
        alpha = row()
        ones = row()
        reach[1] = h
        for i in range(2, ROWS):
            reach[i] = psi[i - 1] + h
        beta[1] = number(1.0)
        sigma[1] = number(1.0)
        for i in range(1, order + 1):
            alpha[i] = h / reach[i]
            ones[i] = number(1.0)
            sigma[i + 1] = number(i) * alpha[i] * sigma[i]
            if i < known:
                beta[i + 1] = beta[i] * reach[i] / psi[i]
        return reach, beta, sigma, weights(ones, alpha, order + 1)

    @func
    def equal_steps(same: int, h: number, last: number) -> int:
        """How many steps in a row, up to one of h, were of one size; ``last`` is the one before."""
        count = int(1)
        if abs(h - last) <= number(EQUAL) * abs(h):
            count = same + 1
        return count

    @func
    def constant(h: number, sigma: number, order: int) -> number:
        """By what phi^p_{order+1} is multiplied for the error that equal steps would make, with
        ``sigma``_{order+1}.

        The difference of the correctors of orders k + 1 and k: h (g_{k+1} - g_k), 002 Eq. 36.
        """
        return abs(h * error_constants[order] * sigma)

    @func
    def lowers(order: int, below2: number, below1: number, here: number) -> bool:
        """True when lower orders promise less: differences that do not fall are not to be used."""
        lower = bool(False)
        known = here < number(step_control.HUGE)
        if order == 2 and known:
            lower = below1 <= number(0.5) * here
        if order > 2 and known:
            lower = max(below1, below2) <= here
        return lower

    @func
    def grown(order: int, error: number) -> number:
        """The next step over the last: 2, or 1, or from 1/2 to 0.9; ``error`` was made at 1."""
        ratio = number(1.0)
        if error * number(2.0) ** number(order + 1) <= number(AIM):
            ratio = number(2.0)
        if not error <= number(AIM):
            wanted = (number(AIM) / error) ** (number(1.0) / number(order + 1))
            ratio = max(number(0.5), min(number(0.9), wanted))
        return ratio

    @func
    def onward(  # type: ignore[no-untyped-def]
        order: int,
        starting: bool,
        same: int,
        below2: number,
        below1: number,
        here: number,
        above: number,
    ):
        """After a step that was kept: the next order, whether still starting, the step's ratio.

        Errors at orders k - 2 to k + 1 are those of equal steps, over the error allowed. While
        starting, order and step rise every time; later an order rises only on an estimate made from
        equal steps (``same`` > order), else the estimate is of the step's changes.
        """
        k = int(order)
        error = here
        lower = lowers(order, below2, below1, here)
        steady = same > order and order < MAX_ORDER and not (starting or lower)
        if steady and order > 1 and below1 <= min(here, above):
            lower = bool(True)
        if lower:
            k = order - 1
            error = below1
        share = number(1.0)
        if order == 1:
            share = number(0.5)
        if steady and not lower and above < share * here:
            k = order + 1
            error = above
        still = starting and not lower and order < MAX_ORDER
        ratio = grown(k, error)
        if still:
            k = order + 1
            ratio = number(2.0)
        return k, still, ratio

    @func
    def retreat(order: int, failures: int, below2: number, below1: number, here: number):  # type: ignore[no-untyped-def]
        """After ``failures`` steps in a row that were not kept: the next order, whether that is a
        new start, the step's ratio.

        Differences across a jump of the slope, or of one of its derivatives, are worth nothing, so
        repeated failures mean to start again at order 1. From there on the error goes as h^2 and
        the step is taken from it: no history is left that it could distort.
        """
        k = int(order)
        ratio = number(0.5)
        if lowers(order, below2, below1, here):
            k = order - 1
        if failures >= RESTART:
            k = int(1)
        if failures > RESTART:
            ratio = step_factor(
                here,
                number(0.5),
                number(0.5),
                number(math.sqrt(AIM)),
                number(step_control.SHRINK),
                number(step_control.TINY),
                number(step_control.HUGE),
            )
        return k, failures >= RESTART, ratio

    return AdamsFormulas(weights, coefficients, equal_steps, constant, onward, retreat)


def _error_constants() -> list[Fraction]:
    """g_{k+1} - g_k of equal steps, where alpha_i = 1/i: -1/2, -1/12, -1/24, ... from k = 1."""
    exact = laws(Fraction, lambda: [Fraction(0)] * ROWS, None, lambda f: f, None)
    alpha = [Fraction(0)] + [Fraction(1, i) for i in range(1, ROWS)]
    g = exact.weights([Fraction(1)] * ROWS, alpha, ROWS - 1)
    return [Fraction(0)] + [after - before for before, after in itertools.pairwise(g[1:])]


#: Error constants by order, exactly; the entry 0 is not used.
ERROR_CONSTANTS = tuple(_error_constants())

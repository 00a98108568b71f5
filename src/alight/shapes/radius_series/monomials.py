"""Monomials x^a y^b z^c of degrees N and N - 1: paper 001's polynomial form without repetition.

Equation 3 of paper 001 sums every monomial up to degree N. On the unit sphere
x^2 + y^2 + z^2 = 1 ties them together: of the (N+1)(N+2)(N+3)/6 columns only (N+1)^2 are
independent. The monomials of degree N and N - 1 alone span the same functions, are exactly
(N+1)^2, and the spherical harmonics up to degree N are another basis of that very space.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from alight.shapes.radius_series import harmonics

Array = NDArray[np.float64]
Exponents = NDArray[np.int64]


@lru_cache(maxsize=128)
def of_degree(degree: int) -> Exponents:
    """Exponents (count, 3) of one degree, in paper 001's order; none below degree 0."""
    rows = [(degree - i, i - k, k) for i in range(degree + 1) for k in range(i + 1)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def exponents(degree: int) -> Exponents:
    """Exponents of the (degree + 1)^2 monomials: those of ``degree``, then of ``degree`` - 1."""
    return np.concatenate((of_degree(degree), of_degree(degree - 1)))


def basis(powers: Exponents, directions: Array) -> Array:
    """Each monomial at ``directions`` (n, 3): (n, monomials)."""
    top = int(powers.max(initial=0))
    table = np.ones((top + 1, 3, len(directions)))
    for k in range(top):
        table[k + 1] = table[k] * directions.T
    x, y, z = (table[powers[:, axis], axis] for axis in range(3))
    x *= y
    x *= z
    return np.asarray(x.T)


def norms(powers: Exponents) -> Array:
    """Root mean square of each monomial over the unit sphere.

    mean x^2a y^2b z^2c = (2a-1)!! (2b-1)!! (2c-1)!! / (2(a+b+c)+1)!!
    """
    logs = np.array([_log_odd_factorial(k) for k in range(int(powers.sum(1).max(initial=0)) + 2)])
    mean_square = logs[powers].sum(axis=1) - logs[powers.sum(axis=1) + 1]
    return np.asarray(np.exp(0.5 * mean_square))


def _log_odd_factorial(k: int) -> float:
    """Logarithm of (2k - 1)!! = (2k)! / (2^k k!)."""
    return math.lgamma(2 * k + 1) - k * math.log(2.0) - math.lgamma(k + 1)


class Derivatives:
    """The polynomial, its three slopes and six second slopes, each as coefficients by degree.

    A slope of a homogeneous polynomial of degree k is one of degree k - 1, so the monomials of
    four neighbouring degrees serve all ten.
    """

    def __init__(self, coefficients: Array) -> None:
        degree = math.isqrt(len(coefficients)) - 1
        top = len(of_degree(degree))
        # a block of ten columns per degree: value, 3 first and 6 second derivatives
        blocks: dict[int, Array] = {}
        for k, part in ((degree, coefficients[:top]), (degree - 1, coefficients[top:])):
            _add(blocks, k, 0, part)
            for i in range(3):
                slope = _slope(k, part, i)
                _add(blocks, k - 1, 1 + i, slope)
                for j in range(i, 3):
                    _add(blocks, k - 2, 4 + _PAIRS.index((i, j)), _slope(k - 1, slope, j))
        self._parts = [(of_degree(k), block) for k, block in blocks.items()]

    def value(self, directions: Array) -> Array:
        """The polynomial at ``directions`` (n, 3): (n,)."""
        total = np.zeros(len(directions))
        for powers, block in self._parts:
            if block[:, 0].any():
                total += basis(powers, directions) @ block[:, 0]
        return total

    def evaluate(self, directions: Array) -> tuple[Array, Array, Array]:
        """Value (n,), gradient (n, 3) and Hessian (n, 3, 3) of the polynomial in space."""
        ten = np.zeros((len(directions), 10))
        for powers, block in self._parts:
            ten += basis(powers, directions) @ block
        hessian = np.empty((len(directions), 3, 3))
        for column, (i, j) in enumerate(_PAIRS):
            hessian[:, i, j] = hessian[:, j, i] = ten[:, 4 + column]
        return ten[:, 0], ten[:, 1:4], hessian


_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def _add(blocks: dict[int, Array], degree: int, column: int, part: Array) -> None:
    if degree >= 0:
        block = blocks.setdefault(degree, np.zeros((len(of_degree(degree)), 10)))
        block[:, column] += part


def _slope(degree: int, part: Array, axis: int) -> Array:
    """Coefficients of d/dx_axis of a homogeneous polynomial, on the monomials one degree lower."""
    powers = of_degree(degree)
    out = np.zeros(len(of_degree(degree - 1)))
    falls = powers[:, axis] > 0
    lower = powers[falls].copy()
    lower[:, axis] -= 1
    # place in paper 001's order: x^(k-i) y^(i-l) z^l comes i (i + 1) / 2 + l -th
    i, last = lower[:, 1] + lower[:, 2], lower[:, 2]
    out[i * (i + 1) // 2 + last] = powers[falls, axis] * part[falls]
    return out


@lru_cache(maxsize=8)
def _to_harmonics(degree: int) -> Array:
    """Matrix from coefficients of unit-norm monomials to harmonic coefficients.

    c[l, m] is the mean over the sphere of Y[l, m] times the polynomial: exact by quadrature.
    """
    directions, weights = harmonics.sphere_quadrature(2 * degree)
    powers = exponents(degree)
    columns = basis(powers, directions) / norms(powers)
    return np.asarray((harmonics.basis(degree, directions) * weights[:, None]).T @ columns)


def to_harmonic(coefficients: Array) -> Array:
    """Harmonic coefficients of the same function on the sphere."""
    degree = math.isqrt(len(coefficients)) - 1
    return np.asarray(_to_harmonics(degree) @ (coefficients * norms(exponents(degree))))


def from_harmonic(coefficients: Array) -> Array:
    """Monomial coefficients of the same function on the sphere.

    Solved with columns of unit norm (condition 1.4e3 at degree 22, against 2e7 unscaled).
    """
    degree = math.isqrt(len(coefficients)) - 1
    scaled = np.linalg.solve(_to_harmonics(degree), coefficients)
    return scaled / norms(exponents(degree))

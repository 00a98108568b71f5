"""Real spherical harmonics as polynomials in x, y, z, with exact first and second derivatives.

Over unit directions n = (x, y, z)

    Y[l, m](n) = q[l, |m|](z) * Re (x + i y)^m     for m >= 0
    Y[l, m](n) = q[l, |m|](z) * Im (x + i y)^|m|   for m < 0

where q[l, m] is the m-th derivative of the Legendre polynomial of degree l, scaled so that the
mean of Y^2 over the sphere is 1 (4 pi normalised, no Condon-Shortley phase). Written this way
(after Pines 1973, AIAA J. 11, 1508) nothing is divided by the distance to the axis, so the
poles are ordinary points. Terms are ordered l = 0, 1, ... and m = -l ... l within each l.

The same recursions run one direction at a time in a kernel: the tables below depend on the
degree alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def terms_of_order(order: int, degree: int) -> NDArray[np.int64]:
    """Places of Y[l, order] for l = |order| ... degree in the sequence of terms, as indices."""
    ls = np.arange(abs(order), degree + 1)
    return np.asarray(ls * ls + ls + order)


@lru_cache(maxsize=32)
def recursion(degree: int) -> tuple[Array, Array, Array]:
    """Tables of the column recursion q[l] = a z q[l-1] - b q[l-2] and of q[m, m], all by [l, m].

    Normalised form of (l - m) P_l = (2l - 1) z P_{l-1} - (l + m - 1) P_{l-2}; running down a
    column of fixed m is stable for the polynomials q as for the Legendre functions themselves.
    """
    a = np.zeros((degree + 1, degree + 1))
    b = np.zeros_like(a)
    diagonal = np.ones(degree + 1)
    for m in range(degree + 1):
        if m > 0:
            ratio = 3.0 if m == 1 else (2 * m + 1) / (2 * m)
            diagonal[m] = diagonal[m - 1] * math.sqrt(ratio)
        for k in range(m + 1, degree + 1):
            span = (k - m) * (k + m)
            a[k, m] = math.sqrt((2 * k + 1) * (2 * k - 1) / span)
            if k > m + 1:
                b[k, m] = math.sqrt((2 * k + 1) * (k + m - 1) * (k - m - 1) / (span * (2 * k - 3)))
    return a, b, diagonal


def legendre_columns(degree: int, z: Array) -> Iterator[tuple[int, Array]]:
    """Yield (m, q) with q[l - m, point] = q[l, m](z) for l = m ... degree."""
    a, b, diagonal = recursion(degree)
    for m in range(degree + 1):
        q = np.empty((degree + 1 - m, len(z)))
        q[0] = diagonal[m]
        if degree > m:
            q[1] = a[m + 1, m] * z * q[0]
        for k in range(m + 2, degree + 1):
            q[k - m] = a[k, m] * z * q[k - m - 1] - b[k, m] * q[k - m - 2]
        yield m, q


def planar_powers(degree: int, x: Array, y: Array) -> tuple[Array, Array]:
    """Real and imaginary part of (x + i y)^m for m = 0 ... degree, each (degree + 1, points)."""
    real = np.ones((degree + 1, len(x)))
    imag = np.zeros((degree + 1, len(x)))
    for m in range(degree):
        real[m + 1] = x * real[m] - y * imag[m]
        imag[m + 1] = x * imag[m] + y * real[m]
    return real, imag


def basis(degree: int, directions: Array) -> Array:
    """Every Y[l, m] up to ``degree`` at unit ``directions`` (n, 3): (n, (degree + 1)^2)."""
    x, y, z = directions.T
    real, imag = planar_powers(degree, x, y)
    out = np.empty(((degree + 1) ** 2, len(directions)))
    for m, q in legendre_columns(degree, z):
        out[terms_of_order(m, degree)] = q * real[m]
        if m > 0:
            out[terms_of_order(-m, degree)] = q * imag[m]
    return out.T


@lru_cache(maxsize=32)
def slope_factors(degree: int) -> Array:
    """Factor k[l, m] of dq[l, m]/dz = k[l, m] q[l, m + 1]."""
    k = np.zeros((degree + 1, degree + 1))
    for m in range(degree + 1):
        ls = np.arange(m, degree + 1)
        k[ls, m] = np.sqrt((ls - m) * (ls + m + 1) / (2.0 if m == 0 else 1.0))
    return k


def column_weights(coefficients: Array) -> list[Array]:
    """For each m, what the column q[., m] is weighed with: (6, degree + 1 - m).

    Rows: the cosine and sine coefficients of order m, then those of m - 1 times the factors of
    one z derivative, then those of m - 2 times the factors of two.
    """
    degree = math.isqrt(len(coefficients)) - 1
    k = slope_factors(degree)
    weights = []
    for m in range(degree + 1):
        w = np.zeros((6, degree + 1 - m))
        factor = np.ones(degree + 1 - m)
        for derivative in range(min(m, 2) + 1):
            order = m - derivative
            if derivative > 0:
                factor = factor * k[m:, order]
            # l = m ... degree alone: the lower ones have no such derivative
            cosine = coefficients[terms_of_order(order, degree)][derivative:]
            w[2 * derivative] = factor * cosine
            if order > 0:
                sine = coefficients[terms_of_order(-order, degree)][derivative:]
                w[2 * derivative + 1] = factor * sine
        weights.append(w)
    return weights


def series_value(weights: list[Array], directions: Array) -> Array:
    """The series at unit ``directions`` (n, 3): (n,)."""
    degree = len(weights) - 1
    x, y, z = directions.T
    real, imag = planar_powers(degree, x, y)
    total = np.zeros(len(directions))
    for m, q in legendre_columns(degree, z):
        cosine, sine = weights[m][:2] @ q
        total += cosine * real[m] + sine * imag[m]
    return total


def series_derivatives(weights: list[Array], directions: Array) -> tuple[Array, Array, Array]:
    """Value (n,), gradient (n, 3) and Hessian (n, 3, 3) of the polynomial sum of q(z) (x + iy)^m.

    They are those of the polynomial in space, not yet of the function on the sphere.
    """
    degree, count = len(weights) - 1, len(directions)
    x, y, z = directions.T
    real, imag = planar_powers(degree, x, y)
    # sums[d, 0 or 1, m]: d-th z derivative of the cosine or sine factor of order m
    sums = np.zeros((3, 2, degree + 3, count))
    for m, q in legendre_columns(degree, z):
        columns = weights[m] @ q
        for d in range(min(m, 2) + 1):
            sums[d, :, m - d] = columns[2 * d : 2 * d + 2]
    return _assemble(sums, real, imag)


def _assemble(sums: Array, real: Array, imag: Array) -> tuple[Array, Array, Array]:
    """Join z factors and planar powers; d(x + iy)^m/dx = m (x + iy)^(m-1), and d/dy = i d/dx."""
    degree, count = len(real) - 1, real.shape[1]
    m = np.arange(degree + 1.0)[:, None]

    def pair(d: int, drop: int) -> tuple[Array, Array]:
        """Sums over m of the d-th z derivative with ``drop`` planar x derivatives, and with i."""
        factor = m if drop == 1 else m * (m - 1) if drop == 2 else np.ones_like(m)
        c = (factor * sums[d, 0, : degree + 1])[drop:]
        s = (factor * sums[d, 1, : degree + 1])[drop:]
        a, b = real[: degree + 1 - drop], imag[: degree + 1 - drop]
        along = np.einsum("mn,mn->n", c, a) + np.einsum("mn,mn->n", s, b)
        across = np.einsum("mn,mn->n", s, a) - np.einsum("mn,mn->n", c, b)
        return along, across

    gradient = np.empty((count, 3))
    hessian = np.empty((count, 3, 3))
    value = pair(0, 0)[0]
    gradient[:, 0], gradient[:, 1] = pair(0, 1)
    gradient[:, 2] = pair(1, 0)[0]
    hessian[:, 0, 0], hessian[:, 0, 1] = pair(0, 2)
    hessian[:, 1, 1] = -hessian[:, 0, 0]
    hessian[:, 0, 2], hessian[:, 1, 2] = pair(1, 1)
    hessian[:, 2, 2] = pair(2, 0)[0]
    for i, j in ((1, 0), (2, 0), (2, 1)):
        hessian[:, i, j] = hessian[:, j, i]
    return value, gradient, hessian


def sphere_quadrature(degree: int) -> tuple[Array, Array]:
    """Directions (n, 3) and weights (n,), summing to 1, that average polynomials of ``degree``.

    Gauss-Legendre nodes in z times equal steps in longitude: exact up to rounding.
    """
    nodes, node_weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    steps = degree + 1
    longitude = 2.0 * np.pi * (np.arange(steps) + 0.5) / steps
    ring = np.sqrt(1.0 - nodes**2)
    directions = np.stack(
        (
            np.outer(ring, np.cos(longitude)),
            np.outer(ring, np.sin(longitude)),
            np.outer(nodes, np.ones(steps)),
        ),
        axis=-1,
    ).reshape(-1, 3)
    return directions, np.repeat(node_weights / (2.0 * steps), steps)

"""Radius series: a body's surface as r(n), one radius for every direction n from the origin.

Two bases of the same functions: ``HarmonicSeries`` (real spherical harmonics) and
``PolynomialSeries`` (monomials of degrees N and N - 1, paper 001). Both are smooth everywhere,
poles included, and give exact first and second derivatives.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from alight.core.errors import InputError
from alight.shapes.icosphere import icosphere, sphere_points_mesh
from alight.shapes.mesh import Mesh
from alight.shapes.radius_series import harmonics, monomials
from alight.shapes.radius_series.fit import MIN_VISIBLE, FitReport, fit_harmonics

Array = NDArray[np.float64]

_BLOCK = 2048  # directions evaluated at a time: keeps the tables in cache


class RadiusSeries(ABC):
    """A radius [m] over unit directions, as (N + 1)^2 coefficients [m] of degree N.

    ``report`` holds the errors of the fit where the series was fitted to a mesh, else None.
    """

    coefficients: Array
    degree: int
    report: FitReport | None

    def __init__(self, coefficients: ArrayLike, *, report: FitReport | None = None) -> None:
        values = np.array(coefficients, dtype=np.float64)
        degree = math.isqrt(values.size) - 1
        if values.ndim != 1 or values.size == 0 or (degree + 1) ** 2 != values.size:
            raise InputError(
                f"coefficients have shape {values.shape}; a series of degree N has (N + 1)^2 of "
                "them in one row: 1, 4, 9, ..., 529 for degree 22."
            )
        if not np.isfinite(values).all():
            bad = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"coefficient {bad} is {values[bad]}; every one must be finite.")
        values.setflags(write=False)
        self.coefficients, self.degree, self.report = values, degree, report

    @classmethod
    @abstractmethod
    def fit(cls, mesh: Mesh, degree: int, *, min_visible: float = MIN_VISIBLE) -> Self:
        """Least-squares fit of the radius of ``mesh`` about its origin, weighted by solid angle.

        Refused where less than the fraction ``min_visible`` of the surface can be seen from the
        origin, and where the mesh has too few vertices for ``degree``. See ``report``.
        """

    @abstractmethod
    def _value(self, directions: Array) -> Array:
        """Radius at unit directions."""

    @abstractmethod
    def _polynomial(self, directions: Array) -> tuple[Array, Array, Array]:
        """Value, gradient and Hessian, in space, of a polynomial equal to r on the sphere."""

    def radius(self, directions: ArrayLike) -> Array:
        """Radius [m] towards ``directions`` (..., 3), of any length: (...)."""
        n, shape = _unit(directions)
        blocks = [self._value(n[s : s + _BLOCK]) for s in range(0, len(n), _BLOCK)]
        return np.concatenate(blocks or [np.zeros(0)]).reshape(shape)

    def evaluate(self, directions: ArrayLike) -> tuple[Array, Array, Array]:
        """Radius, gradient and Hessian towards ``directions`` (..., 3), of any length.

        The derivatives are those of f(x) = r(x/|x|) at |x| = 1. So ``dr`` (..., 3) [m/rad] is
        tangential, dr . n = 0, and ``d2r`` (..., 3, 3) [m/rad^2] is symmetric with
        d2r n = -dr. At any other |x| the gradient of f is dr/|x| and its Hessian d2r/|x|^2; the
        outward normal of the surface is n - dr/r, made unit.
        """
        n, shape = _unit(directions)
        radius, gradient = np.empty(len(n)), np.empty((len(n), 3))
        hessian = np.empty((len(n), 3, 3))
        for start in range(0, len(n), _BLOCK):
            block = slice(start, start + _BLOCK)
            radius[block], gradient[block], hessian[block] = _on_sphere(
                n[block], *self._polynomial(n[block])
            )
        return radius.reshape(shape), gradient.reshape((*shape, 3)), hessian.reshape((*shape, 3, 3))

    @property
    def volume(self) -> float:
        """Volume inside the surface [m^3]: one third of r^3 over all directions, exactly."""
        n, weights = harmonics.sphere_quadrature(3 * self.degree)
        return float(4 * np.pi / 3 * (weights @ self.radius(n) ** 3))

    @property
    def mean_radius(self) -> float:
        """Radius of the sphere of the same volume [m]."""
        return float(np.cbrt(3 * self.volume / (4 * np.pi)))

    def to_mesh(self, n_vertices: int | None = None, *, subdivisions: int | None = None) -> Mesh:
        """Mesh of the surface over evenly spread directions.

        Either about ``n_vertices`` of them, or an icosphere of ``subdivisions`` (4 if nothing
        is asked: 2562 vertices, 5120 facets).
        """
        if n_vertices is not None and subdivisions is not None:
            raise InputError("give n_vertices or subdivisions, not both.")
        if n_vertices is not None:
            sphere = sphere_points_mesh(n_vertices)
        else:
            sphere = icosphere(4 if subdivisions is None else subdivisions)
        n = sphere.vertices / np.linalg.norm(sphere.vertices, axis=1, keepdims=True)
        radius = self.radius(n)
        if not radius.min() > 0:
            worst = int(radius.argmin())
            raise InputError(
                f"the radius is {radius[worst]:.4g} m towards {np.round(n[worst], 3).tolist()}: it "
                "must be positive in every direction. The series is no body; check its "
                "coefficients, or fit with a lower degree."
            )
        # Whole, as the sphere is and each vertex stays in its direction: looking takes longer.
        return Mesh(n * radius[:, None], sphere.faces, check=False)

    def __repr__(self) -> str:
        fitted = f", fitted: {self.report}" if self.report else ""
        return (
            f"{type(self).__name__}(degree {self.degree}, {len(self.coefficients)} coefficients, "
            f"mean radius {self.mean_radius:.6g} m{fitted})"
        )


class HarmonicSeries(RadiusSeries):
    """Radius as a sum of real spherical harmonics, r(n) = sum c[l, m] Y[l, m](n).

    Y is 4 pi-normalised, without Condon-Shortley phase; m > 0 goes with cos(m lon), m < 0 with
    sin(|m| lon); coefficients [m] in the order l = 0, 1, ...; m = -l ... l.
    """

    def __init__(self, coefficients: ArrayLike, *, report: FitReport | None = None) -> None:
        super().__init__(coefficients, report=report)
        self._weights = harmonics.column_weights(self.coefficients)

    @classmethod
    def fit(cls, mesh: Mesh, degree: int, *, min_visible: float = MIN_VISIBLE) -> Self:
        """Least-squares fit to ``mesh``; see ``RadiusSeries.fit``."""
        coefficients, report = fit_harmonics(mesh, degree, min_visible)
        return cls(coefficients, report=report)

    def to_polynomial(self) -> PolynomialSeries:
        """The same surface in monomials."""
        return PolynomialSeries(monomials.from_harmonic(self.coefficients), report=self.report)

    def _value(self, directions: Array) -> Array:
        return harmonics.series_value(self._weights, directions)

    def _polynomial(self, directions: Array) -> tuple[Array, Array, Array]:
        return harmonics.series_derivatives(self._weights, directions)


class PolynomialSeries(RadiusSeries):
    """Radius as a sum of monomials x^a y^b z^c of degrees N and N - 1 (paper 001, equation 3).

    Coefficients [m] in the order of ``exponents``: degree N first, then N - 1; within each
    x^(k-i) y^(i-l) z^l with i = 0 ... k and l = 0 ... i.
    """

    def __init__(self, coefficients: ArrayLike, *, report: FitReport | None = None) -> None:
        super().__init__(coefficients, report=report)
        self._derivatives = monomials.Derivatives(self.coefficients)

    @classmethod
    def fit(cls, mesh: Mesh, degree: int, *, min_visible: float = MIN_VISIBLE) -> Self:
        """Least-squares fit to ``mesh``; see ``RadiusSeries.fit``.

        Solved in harmonics, which span the same functions and are far better conditioned, then
        rewritten in monomials: the least-squares surface is the same.
        """
        coefficients, report = fit_harmonics(mesh, degree, min_visible)
        return cls(monomials.from_harmonic(coefficients), report=report)

    @property
    def exponents(self) -> NDArray[np.int64]:
        """Exponents (a, b, c) of each coefficient's monomial, ((N + 1)^2, 3)."""
        return monomials.exponents(self.degree)

    def to_harmonic(self) -> HarmonicSeries:
        """The same surface in spherical harmonics."""
        return HarmonicSeries(monomials.to_harmonic(self.coefficients), report=self.report)

    def _value(self, directions: Array) -> Array:
        return self._derivatives.value(directions)

    def _polynomial(self, directions: Array) -> tuple[Array, Array, Array]:
        return self._derivatives.evaluate(directions)


def _unit(directions: ArrayLike) -> tuple[Array, tuple[int, ...]]:
    """Unit directions as (n, 3), and the shape they came in less its last axis."""
    d = np.asarray(directions, dtype=np.float64)
    if d.ndim == 0 or d.shape[-1] != 3:
        raise InputError(f"directions have shape {d.shape}; the last axis must hold x, y, z.")
    flat = d.reshape(-1, 3)
    length = np.linalg.norm(flat, axis=1, keepdims=True)
    if not (np.isfinite(length) & (length > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(length) & (length > 0)))[0])
        raise InputError(f"direction {bad} is {flat[bad].tolist()}; it has no direction.")
    return flat / length, d.shape[:-1]


def _on_sphere(n: Array, value: Array, g: Array, h: Array) -> tuple[Array, Array, Array]:
    """Derivatives of E(x/|x|) at |x| = 1 from those of E in space.

    With P = 1 - n n^T: gradient P g; Hessian P H P - (n.g) P - n (P g)^T - (P g) n^T.
    """
    projector = np.eye(3) - n[:, :, None] * n[:, None, :]
    radial = np.einsum("ni,ni->n", n, g)
    tangent = g - radial[:, None] * n
    mixed = n[:, :, None] * tangent[:, None, :]
    half = 0.5 * (projector @ h @ projector - radial[:, None, None] * projector) - mixed
    return value, tangent, half + np.swapaxes(half, 1, 2)  # symmetric to the last bit

"""Parametric: a smooth body whose surface is one radius for every direction (paper 001)."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from alight.core import devices
from alight.core.checks import Array, checked_vector
from alight.core.errors import InputError
from alight.core.types import vec3
from alight.shapes import builtin
from alight.shapes.mesh import Mesh
from alight.shapes.radius_series import harmonics
from alight.shapes.radius_series.fit import MIN_VISIBLE, FitReport
from alight.shapes.radius_series.series import HarmonicSeries, PolynomialSeries, RadiusSeries
from alight.surfaces.law import Bounds, Surface
from alight.surfaces.parametric.bounds import Survey
from alight.surfaces.parametric.series_kernel import (
    ParametricData,
    parametric_bend,
    parametric_point,
    series_data,
)

#: Degree of the series in paper 001 for Ryugu: 529 terms.
DEGREE = 22


class Parametric(Surface):
    """The smooth surface x = center + r(n) n of a radius series.

    With x from the centre the distance is ``d = |x| - r(x/|x|)``: exact in sign, measured along the
    line to the centre, so up to ``bounds.slope`` times the way to the ground. It has continuous
    derivatives of every order but at the centre itself, and no direction is special. Its bounds
    are proven, not sampled (see ``bounds``).
    """

    Data = ParametricData
    point = parametric_point
    bend = parametric_bend

    def __init__(self, series: RadiusSeries, center: npt.ArrayLike = (0, 0, 0)) -> None:
        if not isinstance(series, HarmonicSeries | PolynomialSeries):
            raise InputError(
                f"series is {series!r}; a parametric surface needs a HarmonicSeries or a "
                "PolynomialSeries. Parametric.from_mesh fits one to a mesh, and "
                "Parametric.from_body takes that of a built-in shape"
            )
        self.series = series
        self.center = checked_vector("center [m]", center)
        self._harmonic = series if isinstance(series, HarmonicSeries) else series.to_harmonic()
        self._survey = Survey(self._harmonic)
        if not self._survey.least > 0.0:
            towards = np.round(self._survey.lowest, 3).tolist()
            raise InputError(
                f"the radius falls to {self._survey.least:.4g} m towards {towards}: it must be "
                "positive in every direction. The series is no body; check its coefficients, or "
                "fit with a lower degree"
            )

    @classmethod
    def from_mesh(
        cls,
        mesh: Mesh,
        degree: int = DEGREE,
        *,
        center: npt.ArrayLike = (0, 0, 0),
        min_visible: float = MIN_VISIBLE,
    ) -> Self:
        """The least-squares series of a mesh about ``center`` [m]; its errors are in ``report``.

        Refused where less than the part ``min_visible`` of the surface can be seen from there,
        and where the mesh has too few vertices for ``degree``.
        """
        middle = checked_vector("center [m]", center)
        moved = mesh.translated(-middle) if middle.any() else mesh
        return cls(HarmonicSeries.fit(moved, degree, min_visible=min_visible), middle)

    @classmethod
    def from_body(cls, name: str) -> Self:
        """The series of a built-in shape, such as ``"ryugu"``, its centre of mass at the origin."""
        shape = builtin.find(name).shape
        if not isinstance(shape, HarmonicSeries):
            raise InputError(
                f"{name} is built of lobes, not of a radius series: it is not star-shaped, so "
                "that some directions from its centre meet its surface more than once. Use "
                "DistanceField.from_mesh or Facets"
            )
        return cls(shape, -center_of_mass(shape))

    @property
    def report(self) -> FitReport | None:
        """Errors of the fit; None of a series that was given."""
        return self.series.report

    def at(self, directions: npt.ArrayLike) -> Array:
        """Points (..., 3) [m] of the surface, from its centre towards ``directions`` (..., 3)."""
        d = np.asarray(directions, dtype=np.float64)
        radius = self._harmonic.radius(d)
        return self.center + d * (radius / np.linalg.norm(d, axis=-1))[..., None]

    def bounds_to(self, depth: float) -> Bounds:
        """Proven slope and curvature wherever ``distance >= -depth`` [m]."""
        if not depth < self._survey.least:
            raise InputError(
                f"{depth:g} m below this surface lies its centre (its radius falls to "
                f"{self._survey.least:.4g} m), where the distance has no bounded slope"
            )
        return self._survey.at_depth(float(depth))

    def data(self, device: devices.Device) -> Any:
        """The table of terms, and the centre."""
        data = ParametricData()
        data.series, data.center = series_data(self._harmonic, device), vec3(*self.center)
        return data

    def __repr__(self) -> str:
        return f"Parametric({self.series!r}, center={self.center.tolist()})"


def center_of_mass(series: RadiusSeries) -> Array:
    """Centre of mass [m] of the homogeneous body within r(n), exactly: 3/4 of n r^4 over r^3."""
    n, weights = harmonics.sphere_quadrature(4 * series.degree + 1)
    radius = series.radius(n)
    return np.asarray(0.75 * (weights * radius**4) @ n / (weights @ radius**3))

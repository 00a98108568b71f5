"""How fast the distance of a parametric surface can change: bounds that hold in every direction.

With d = |x| - r(n), s = r(n) - depth the least |x| that counts towards n, and M = s P - d2r
(P = 1 - n n^T), the gradient has length sqrt(1 + |dr|^2/|x|^2) and the Hessian is
P/|x| - d2r/|x|^2. In t = 1/|x| a second derivative is p t - q t^2 with 0 <= p <= 1: largest in
size at t = 1/s, or at its vertex, where it is at most 1/(2 s). So bounds B and K must satisfy

    |dr|^2 <= B^2 s^2,    -K s^2 <= u.M u <= K s^2 for each unit vector u,    K >= 1/(2 s),

everywhere. Both sides are polynomials on the sphere, of degree k at most, and are looked at on a
grid of which some point lies within an angle delta of any direction. Let such a polynomial f
range from f_min to f_max, with A = (f_max - f_min)/2. Along the great circle from where f_max is
to the next point of the grid it is a trigonometric polynomial of degree k, and one of those falls
from its maximum no faster than A cos(k angle) (M. Riesz, 1914). Hence

    f_max <= max on the grid + A (1 - cos(k delta)),
    A <= (max - min on the grid)/(2 cos(k delta)).
"""

import math

import numpy as np

from alight.core.checks import Array
from alight.shapes.radius_series.series import RadiusSeries
from alight.surfaces.law import Bounds

#: k delta of the grid. Smaller is tighter, and takes more points: 200 000 for degree 22, where
#: bounds come out a few percent above the largest values there are.
FINENESS = 0.25


def covering_grid(spacing: float) -> Array:
    """Unit vectors (n, 3), rows in latitude; none is farther than spacing/sqrt(2) from any."""
    rows = max(2, math.ceil(math.pi / spacing))
    half = 0.5 * math.pi / rows
    parts = []
    for row in range(rows):
        latitude = (2 * row + 1) * half - 0.5 * math.pi
        # the longest circle of latitude in the band: steps on all others are shorter
        widest = math.cos(max(0.0, abs(latitude) - half))
        columns = max(3, math.ceil(2.0 * math.pi * widest / spacing))
        longitude = 2.0 * math.pi * np.arange(columns) / columns
        level = math.cos(latitude)
        up = np.full(columns, math.sin(latitude))
        parts.append(np.stack((level * np.cos(longitude), level * np.sin(longitude), up), axis=1))
    return np.concatenate(parts)


class Survey:
    """Radius, slope and second slope of a series on a grid fine enough to bound them."""

    def __init__(self, series: RadiusSeries) -> None:
        degree = series.degree
        self._most = max(2 * degree, degree + 2)  # degree k of the polynomials above
        delta = FINENESS / self._most
        n = covering_grid(math.sqrt(2.0) * delta)
        self._n = n
        self._radius, gradient, self._second = series.evaluate(n)
        self._slope2 = np.einsum("ni,ni->n", gradient, gradient)
        self._worst = int(self._radius.argmin())
        # (1 - cos)/(2 cos): what f may exceed its grid by, as a part of its range there
        self._margin = (1.0 - math.cos(FINENESS)) / (2.0 * math.cos(FINENESS))
        of_radius = (1.0 - math.cos(degree * delta)) / (2.0 * math.cos(degree * delta))
        span = float(np.ptp(self._radius)) * of_radius
        #: No radius is below or above these [m].
        self.least, self.most = float(self._radius.min()) - span, float(self._radius.max()) + span
        self._known: dict[float, Bounds] = {}

    @property
    def lowest(self) -> Array:
        """The direction of the smallest radius on the grid."""
        return np.asarray(self._n[self._worst])

    def at_depth(self, depth: float) -> Bounds:
        """Slope and curvature [1/m] wherever d >= -depth [m]; depth must be below ``least``."""
        if depth not in self._known:
            self._known[depth] = self._at_depth(depth)
        return self._known[depth]

    def _at_depth(self, depth: float) -> Bounds:
        s = self._radius - depth
        across = np.eye(3) - self._n[:, :, None] * self._n[:, None, :]
        bend = np.abs(np.linalg.eigvalsh(s[:, None, None] * across - self._second)).max(axis=1)
        floor = self.least - depth
        slope2 = self._ratio(self._slope2, s, floor, low=0.0)
        curvature = self._ratio(bend, s, floor, low=float(bend.max()))
        return Bounds(math.sqrt(1.0 + slope2), max(curvature, 0.5 / floor))

    def _ratio(self, w: Array, s: Array, floor: float, low: float) -> float:
        """The smallest B with w <= B s^2 in every direction, ``floor`` being the smallest s.

        f = w - B s^2 lies above -low - B max(s)^2 on the grid. Its maximum stays below zero where
        (1 + margin)(w - B s^2) + margin (low + B max(s)^2) <= 0 on the grid. Where s spans too
        much for that, w and s are bounded each by itself.
        """
        margin, top = self._margin, float(s.max()) ** 2
        most = float(w.max()) + margin * (float(w.max()) + low)
        apart = most / floor**2
        under = (1.0 + margin) * s**2 - margin * top
        if under.min() <= 0.0:
            return apart
        over = (1.0 + margin) * w + margin * low
        return min(apart, float((over / under).max()))

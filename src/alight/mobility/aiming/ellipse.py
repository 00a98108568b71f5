"""Where first impacts scatter: the ellipse of a linear map, and how many of a sample it holds.

Errors of the push-off, a covariance S of speed, azimuth and elevation, become S_v = J S J^T of the
start velocity, S_r = Phi_rv S_v Phi_rv^T at the time of arrival, and P S_r P^T on the ground, where
P = 1 - v n^T / (n.v) goes along the arrival. Of a normal law in two dimensions 39.3 % lie within
one standard deviation (1 - exp(-1/2)) and 86.5 % within two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alight.core.checks import Array
from alight.core.frames import cross

#: Shares within one and two standard deviations of a normal law in the plane.
WITHIN_1, WITHIN_2 = 1.0 - float(np.exp(-0.5)), 1.0 - float(np.exp(-2.0))


@dataclass(frozen=True, eq=False)
class Ellipse:
    """The linear ellipse of first impacts on the tangent plane of the target."""

    centre: Array
    """(3,) the target on the ground [m]."""
    axes: Array
    """(2, 3) unit vectors on the ground: down range and across."""
    covariance: Array
    """(2, 2) along these [m^2]."""
    arrival: Array
    """(3,) velocity of arrival [m/s]."""
    normal: Array
    """(3,) of the ground."""

    @property
    def semi_axes(self) -> tuple[float, float]:
        """One standard deviation along its long and its short axis [m]."""
        small, large = np.sqrt(np.maximum(np.linalg.eigvalsh(self.covariance), 0.0))
        return float(large), float(small)

    @property
    def angle(self) -> float:
        """Of the long axis from down range towards across [rad], within a quarter turn."""
        long = np.linalg.eigh(self.covariance)[1][:, 1]
        return float(np.arctan(long[1] / long[0])) if long[0] else 0.5 * np.pi

    def flattened(self, places: Array) -> Array:
        """(n, 2) places [m] down range and across, moved to the plane along the arrival."""
        off = places - self.centre
        along = (off @ self.normal) / float(self.arrival @ self.normal)
        return np.asarray((off - along[:, None] * self.arrival) @ self.axes.T)

    def deviations(self, places: Array) -> Array:
        """(n,) how many standard deviations off places (n, 3) [m] are."""
        flat = self.flattened(places)
        return np.asarray(
            np.sqrt(np.sum(flat * np.linalg.solve(self.covariance, flat.T).T, axis=1))
        )

    def outline(self, deviations: float = 1.0, count: int = 73) -> Array:
        """(count, 3) points on the ellipse of that many standard deviations [m]."""
        values, vectors = np.linalg.eigh(self.covariance)
        turn = np.linspace(0.0, 2.0 * np.pi, count)
        circle = np.stack([np.cos(turn), np.sin(turn)], -1)
        flat = deviations * (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return np.asarray(self.centre + flat @ self.axes)


def first_impact_ellipse(
    centre: Array, normal: Array, arrival: Array, by_throw: Array, sigma: Array
) -> Ellipse:
    """The ellipse of a push-off whose speed, azimuth and elevation have deviations ``sigma``.

    ``centre`` (3,) is the target [m], ``normal`` that of the ground, ``arrival`` the velocity
    [m/s] there, ``sigma`` (3,) in [m/s] and [rad]. ``by_throw`` (3, 3) are the derivatives of the
    place on arrival by the three [s], [m/rad]: Phi_rv J.
    """
    level = arrival - (arrival @ normal) * normal
    length = np.linalg.norm(level)
    if length > 0.0:
        down = level / length
    else:  # straight down: any direction will do
        down = cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        down = down / np.linalg.norm(down)
    axes = np.stack([down, cross(normal, down)])
    P = np.eye(3) - np.outer(arrival, normal) / float(arrival @ normal)
    spread = axes @ P @ by_throw * np.asarray(sigma)
    return Ellipse(centre, axes, spread @ spread.T, arrival, normal)

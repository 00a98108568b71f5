"""Moments of inertia of uniform solids about their centres of mass [kg m^2], in closed form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array


def box(size: npt.ArrayLike, mass: float) -> Array:
    """A box of sides x, y, z [m]: m (y^2 + z^2) / 12 about x, and so on."""
    squares = np.asarray(size, dtype=np.float64) ** 2
    return np.diag(mass / 12.0 * (squares.sum() - squares))


def cylinder(diameter: float, height: float, mass: float) -> Array:
    """A round cylinder along z: m r^2 / 2 about its axis, m (3 r^2 + h^2) / 12 across."""
    radius = 0.5 * diameter
    across = mass / 12.0 * (3.0 * radius**2 + height**2)
    return np.diag([across, across, 0.5 * mass * radius**2])


def prism(sides: int, diameter: float, height: float, mass: float) -> Array:
    """A regular prism along z, corners on the circle of ``diameter`` [m].

    The integral of x^2 and of y^2 over a regular polygon of unit mass is
    r^2 (2 + cos(2 pi / n)) / 12, the same along every direction.
    """
    radius = 0.5 * diameter
    level = mass * radius**2 / 12.0 * (2.0 + np.cos(2.0 * np.pi / sides))
    across = level + mass * height**2 / 12.0
    return np.diag([across, across, 2.0 * level])


def sphere(diameter: float, mass: float) -> Array:
    """A ball: 2/5 m r^2."""
    return 0.4 * mass * (0.5 * diameter) ** 2 * np.eye(3)


def parallel_axis(mass: float, offset: Array) -> Array:
    """What a point of ``mass`` at ``offset`` [m] adds to an inertia: m (d^2 1 - d d^T)."""
    return mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))

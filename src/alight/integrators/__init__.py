"""Integrators for kernels: Runge-Kutta and Adams steps, with error control; no physics."""

from typing import TYPE_CHECKING

from alight.core import lazy

if TYPE_CHECKING:
    from alight.integrators.tableau import RK4, RK54, Tableau

__all__ = ["RK4", "RK54", "Tableau"]

lazy.door(
    __name__,
    {
        "alight.integrators.tableau": "RK4 RK54 Tableau",
    },
)

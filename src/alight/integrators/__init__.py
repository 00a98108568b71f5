"""Integrators for kernels: Runge-Kutta and Adams steps, with error control; no physics."""

from alight.integrators.tableau import RK4, RK54, Tableau

__all__ = ["RK4", "RK54", "Tableau"]

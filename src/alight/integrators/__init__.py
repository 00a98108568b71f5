"""Integrators: Runge-Kutta and Adams steps on the host and inside kernels, events, dense output."""

from alight.integrators.solve import History, Solved, solve
from alight.integrators.tableau import RK4, RK54, Tableau

__all__ = ["RK4", "RK54", "History", "Solved", "Tableau", "solve"]

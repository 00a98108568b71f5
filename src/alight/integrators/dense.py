"""Dense output: the solution inside a step, by one formula for the host and for kernels.

For Runge-Kutta methods a cubic takes the states and slopes of both ends (Hairer, Norsett and
Wanner, Solving ODEs I, Eq. II.6.7); a method may add h theta^2 (1 - theta)^2 times its *bend*, a
weighted sum of stages, which leaves both ends as they are and raises the order to 4. So the output
meets the steps exactly, has a continuous slope from step to step, and needs five vectors instead of
all stages. The Adams method has its own formula, in ``pece``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array
from alight.core.types import scalar


def between(
    theta: scalar, rest: scalar, h: scalar, y0: Any, y1: Any, k0: Any, k1: Any, bend: Any
) -> Any:
    """The state at the share ``theta`` of a step of length ``h``; ``rest`` is 1 - theta.

    It is written without literals so that NumPy and Warp can both run it.
    """
    both = theta * rest
    inner = h * (rest * k0 - theta * k1 + both * bend) - (rest - theta) * (y1 - y0)
    return rest * y0 + theta * y1 + both * inner


@dataclass(frozen=True)
class Segment(ABC):
    """One accepted step, with what it takes to find states inside it."""

    t0: float
    """Where the step began."""
    t1: float
    """Where it ended; before ``t0`` when time runs backward."""
    y0: Array
    """State at ``t0``, (n,)."""
    y1: Array
    """State at ``t1``, (n,)."""
    k0: Array
    """Slope at ``t0``, (n,)."""
    k1: Array
    """Slope at ``t1``, (n,)."""

    @abstractmethod
    def part(self, theta: npt.ArrayLike) -> Array:
        """States (..., n) at shares (...) of the step; exact at 0 and 1."""

    def time(self, theta: float) -> float:
        """The time at the share ``theta`` of the step; exactly ``t1`` at 1."""
        return self.t1 if theta == 1.0 else self.t0 + theta * (self.t1 - self.t0)

    def at(self, t: npt.ArrayLike) -> Array:
        """States (..., n) at times (...) between ``t0`` and ``t1``."""
        return self.part((np.asarray(t, np.float64) - self.t0) / (self.t1 - self.t0))


@dataclass(frozen=True)
class BentSegment(Segment):
    """A step of a Runge-Kutta method: the cubic and its bend."""

    bend: Array
    """Weighted sum of stages, (n,); zeros leave the cubic."""

    def part(self, theta: npt.ArrayLike) -> Array:
        """States (..., n) at shares (...) of the step; exact at 0 and 1."""
        share = np.asarray(theta, np.float64)[..., None]
        h = self.t1 - self.t0
        return between(share, 1.0 - share, h, self.y0, self.y1, self.k0, self.k1, self.bend)

"""Free flight in the axes of the turning target, with how its end depends on its start.

    r'' = g(r) + p(t, r) - 2 W x r' - W x (W x r) - W' x r

and beside it the variational equations, from the gravity gradient G of the true field:

    dr'' = (G - [W][W] - [W']) dr - 2 [W] dr'

whose solution from dr(0) = 0, dr'(0) = 1 is the part of the state-transition matrix that shooting
needs: ``Phi_rv`` = d r(T) / d v(0). The gradient of external pushes p is left out: those of Sun and
companion are smaller than the body's by orders of magnitude, and it only slows Newton's steps.

All flights of a batch take the same number of steps, each of its own length, by the 5(4) pair of
``integrators.tableau``; the embedded estimate gives the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.flight import External, Rotation
from alight.gravity import Gravity, Linearised
from alight.integrators.tableau import RK54

#: Steps of a flight at first, and at most.
STEPS, MOST_STEPS = 24, 768

_A = [np.array([float(x) for x in row]) for row in RK54.a]
_B, _C = (np.array([float(x) for x in row]) for row in (RK54.b, RK54.c))
_ERROR = np.array([float(x) for x in RK54.error])


@dataclass(frozen=True, eq=False)
class Flights:
    """How flights of given times end."""

    position: Array
    """(n, 3) at the end [m]."""
    velocity: Array
    """(n, 3) at the end, relative to the turning target [m/s]."""
    by_velocity: Array
    """(n, 3, 3) ``Phi_rv``: d position / d start velocity [s]."""
    path: Array
    """(n, steps + 1, 3) positions at equal times, start and end included [m]."""
    error: Array
    """(n,) estimated error of the end [m]: the sum of those of the steps."""

    def __getitem__(self, rows: Any) -> Flights:
        """Some of them."""
        return Flights(**{name: a[rows] for name, a in vars(self).items()})


class FreeFlight:
    """What moves a lander that touches nothing: gravity, rotation and external pushes."""

    def __init__(
        self,
        gravity: Gravity,
        rotation: Rotation,
        externals: Sequence[External] = (),
        device: str = "cpu",
    ) -> None:
        # A field that is reused along one path cannot be asked for many paths at once.
        self.gravity = gravity.full if isinstance(gravity, Linearised) else gravity
        self.rotation, self.externals, self.device = rotation, tuple(externals), device
        self._turning = _matrices(rotation, np.zeros(1)) if rotation.uniform else None

    @classmethod
    def of(cls, model: Any, device: str = "cpu") -> FreeFlight:
        """That of a model."""
        return cls(model.gravity, model.rotation, model.externals, device)

    def pull(self, places: Array) -> Array:
        """(n, 3) what a plumb line feels at places at the start [m/s^2]."""
        _, frame = _matrices(self.rotation, np.zeros(1))
        return np.asarray(self.gravity.evaluate(places, self.device)[1] + places @ frame[0].T)

    def fly(self, position: Array, velocity: Array, time: Array, steps: int = STEPS) -> Flights:
        """Flights from positions (n, 3) [m] with velocities (n, 3) [m/s] for times (n,) [s]."""
        n = len(position)
        h = (np.asarray(time) / steps)[:, None, None]
        t = np.zeros(n)
        # Column 0 is the state itself, columns 1 to 3 are its derivatives by the start velocity.
        x, v = np.zeros((n, 3, 4)), np.zeros((n, 3, 4))
        x[:, :, 0], v[:, :, 0] = position, velocity
        v[:, :, 1:] = np.eye(3)
        path, error = np.empty((n, steps + 1, 3)), np.zeros(n)
        path[:, 0] = position
        force = self._rates(t, x, v)
        for k in range(steps):
            x, v, force, wrong = self._step(t, x, v, force, h)
            t = t + h[:, 0, 0]
            error += wrong
            path[:, k + 1] = x[:, :, 0]
        return Flights(x[:, :, 0], v[:, :, 0], x[:, :, 1:], path, error)

    def _step(
        self, t: Array, x: Array, v: Array, force: Array, h: Array
    ) -> tuple[Array, Array, Array, Array]:
        """One step of the pair; ``force`` is v' at its start, and at its end on return."""
        slopes_x, slopes_v = [v], [force]
        for row, c in zip(_A[1:], _C[1:], strict=True):
            stage_x = x + h * _sum(row, slopes_x)
            stage_v = v + h * _sum(row, slopes_v)
            slopes_x.append(stage_v)
            slopes_v.append(self._rates(t + c * h[:, 0, 0], stage_x, stage_v))
        x, v = x + h * _sum(_B, slopes_x), v + h * _sum(_B, slopes_v)
        force = self._rates(t + h[:, 0, 0], x, v)
        slip = (h * _sum(_ERROR, [*slopes_x, v]))[:, :, 0]
        return x, v, force, np.linalg.norm(slip, axis=1)

    def _rates(self, t: Array, x: Array, v: Array) -> Array:
        """(n, 3, 4) v' of states and of their derivatives."""
        place = x[:, :, 0]
        # A row that has gone astray stays so, without harm to the others.
        place = np.where(np.isfinite(place).all(axis=1, keepdims=True), place, 0.0)
        _, pull, gradient = self.gravity.evaluate(place, self.device)
        for law in self.externals:
            pull = pull + law.evaluate(t, place, self.rotation, self.device)[0]
        coriolis, frame = self._turning or _matrices(self.rotation, t)
        out = coriolis @ v + frame @ x
        out[:, :, 0] += pull
        out[:, :, 1:] += gradient @ x[:, :, 1:]
        return out


def _matrices(rotation: Rotation, t: Array) -> tuple[Array, Array]:
    """(n, 3, 3) what the turning of the axes makes of velocities and of places: -2 [W] and
    -([W][W] + [W'])."""
    rate, spin_up, _ = rotation.evaluate(t, device="cpu")
    W = frames.skew(rate)
    return -2.0 * W, -(W @ W + frames.skew(spin_up))


def _sum(weights: Array, slopes: Sequence[Array]) -> Any:
    """Their sum, those without weight left out."""
    return sum(w * k for w, k in zip(weights, slopes, strict=True) if w)

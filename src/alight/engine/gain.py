"""Energy from nowhere: a contact that returns more than it received has failed.

E_J (``motions.rigid.energy``), less the work of what drives a lander, falls under damping, friction
and restitution and else is constant. Steps of finite length may raise it a little, by up to 2 % of
the energy at hand on ground of bricks and hills (``tests/properties``); the kernels take that back.
What exceeds a tenth is a fault of the model or of its numbers: such a run is not an escape, and
nothing after it can be trusted.
"""

from typing import Any

import numpy as np
import warp as wp

from alight.core.checks import Array
from alight.core.outcomes import FIRST_FAILURE, FIRST_OWN
from alight.core.types import scalar

#: Share of the energy at hand beyond which a rise of E_J ends a run as failed.
GAIN_LIMIT = 0.1


_FIRST_FAILURE, _FIRST_OWN = wp.constant(FIRST_FAILURE), wp.constant(FIRST_OWN)


@wp.func
def has_failed(outcome: int):
    """Whether a run has failed already, whatever the reason."""
    return outcome >= _FIRST_FAILURE and outcome < _FIRST_OWN


@wp.func
def gains_energy(more: scalar, before: scalar, after: scalar, potential: scalar):
    """Whether a rise of E_J by ``more`` [J] in one contact is out of all proportion.

    The energy at hand is the kinetic energy ``before`` and ``after`` the contact, and the
    ``potential`` energy [J] that may have been released in it without a change of E_J.
    """
    return more > wp.static(scalar(GAIN_LIMIT)) * (before + after + potential)


def gained_energy(before: Array, after: Array, given: Array) -> Any:
    """(n,) the same for whole runs: kinetic energies [J] at start and end, and the work [J] that
    gravity and thrusters gave in between. What springs hold at the end only makes it less."""
    return after - before - given > GAIN_LIMIT * (before + after + np.abs(given))


def moving_energy(mass: Any, inertia: Array, velocity: Array, rate: Array) -> Array:
    """(n,) kinetic energy [J] of bodies, ``rate`` (n, 3) [rad/s] and ``inertia`` in their axes."""
    turning = np.einsum("...i,...ij,...j->...", rate, inertia, rate)
    return np.asarray(0.5 * (mass * np.sum(velocity**2, axis=-1) + turning))

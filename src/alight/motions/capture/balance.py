"""Could friction hold what is caught? A balance of forces that knows nothing of sliding.

Asteroid and craft are taken as one stiff body at one instant, with the angular momentum that they
have and the thrust that acts. Newton and Euler then say which force and torque the craft must
get at its membrane to move along:

    F = m (a + w' x r + w x (w x r)) - T,   M = I w' + w x I w,   I_pair w' = r x T - w x I_pair w

The fabric presses with known forces N at its vertices. What is left of F and M must come from
friction forces f across these, |f| <= mu N. Whether there are such forces is a question of statics,
with a convex answer, whatever the law by which things slide: the smallest mu for which there are
some is what ``friction_to_hold`` gives (the static theorem of plasticity). Where that is more than
the friction there is, slip is no matter of the model of friction.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from alight.core import frames
from alight.core.checks import Array
from alight.membrane import Membrane
from alight.motions.capture.result import CaptureFlight, pair_inertia, pair_spin_vector

#: Directions in which a friction force is sought: the circle of the limit is a polygon, too small
#: by 1 - cos(pi / n) at most.
_DIRECTIONS = 16


def needed_wrench(flight: CaptureFlight, record: int, thrust: npt.ArrayLike, run: int = 0) -> Array:
    """(6,) force [N] and torque about its centre of mass [N m] that the craft must get from its
    membrane, were the pair one stiff body; inertial axes. ``thrust`` (3,) [N] on the craft."""
    one = slice(run, run + 1)
    given = (flight.states[one, record], flight.craft, flight.asteroids.inertia[one])
    w = pair_spin_vector(*given, flight.mass[one])[0]
    whole = pair_inertia(*given, flight.mass[one])[0]
    m, M, T = flight.craft.mass, flight.mass[run], np.asarray(thrust, dtype=np.float64)
    q = flight.q[run, record]
    S = frames.quat_to_matrix(q[3:7])
    own = S @ flight.craft.inertia @ S.T
    r = (q[0:3] - flight.states[run, record, 0:3]) * M / (m + M)
    turning = np.linalg.solve(whole, np.cross(r, T) - np.cross(w, whole @ w))
    a = T / (m + M) + np.cross(turning, r) + np.cross(w, np.cross(w, r))
    return np.concatenate([m * a - T, own @ turning + np.cross(w, own @ w)])


def friction_to_hold(
    flight: CaptureFlight,
    membrane: Membrane,
    record: int,
    thrust: npt.ArrayLike,
    run: int = 0,
) -> float:
    """The smallest friction coefficient with which the fabric would hold at a record; inf where no
    friction would, and 0 where none is needed."""
    state, q, v = (a[run, record] for a in (flight.states, flight.q, flight.v))
    found = membrane.load(
        flight.asteroids.body.body(run),
        state[0:3],
        state[3:6],
        state[6:10],
        state[10:13],
        carrier_position=q[0:3],
        carrier_velocity=v[0:3],
        carrier_attitude=q[3:7],
        carrier_rate=v[3:6],
        device="cpu",
    )
    pressed = np.linalg.norm(found.normal[0], axis=1)
    held = np.flatnonzero(pressed > 1e-9 * max(pressed.max(), 1e-300))
    wanted = needed_wrench(flight, record, thrust, run)
    if not len(held):
        return 0.0 if not wanted.any() else np.inf
    forces, arms = found.normal[0, held], found.vertices[0, held] - q[0:3]
    # The craft gets the opposite of what the fabric does to the asteroid.
    wanted = wanted + np.concatenate([forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)])
    return _least_part(wanted, forces, arms)


def _least_part(wanted: Array, forces: Array, arms: Array) -> float:
    """The smallest mu for which forces across ``forces``, up to mu times these, give ``wanted``."""
    size = np.linalg.norm(forces, axis=1)
    one, other = _across(forces / size[:, None])
    angle = 2.0 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    rays = np.cos(angle)[:, None, None] * one + np.sin(angle)[:, None, None] * other
    rays = (rays * size[None, :, None]).transpose(1, 0, 2).reshape(-1, 3)
    levers = np.repeat(arms, _DIRECTIONS, axis=0)
    length = max(float(np.linalg.norm(arms, axis=1).max()), 1e-300)
    scale = np.concatenate([np.ones(3), np.full(3, 1.0 / length)]) / size.sum()
    columns = np.concatenate([rays, np.cross(levers, rays)], axis=1).T * scale[:, None]
    # Unknowns: parts of the rays, and mu; the parts at one vertex add up to mu at most.
    count = len(size)
    equal = np.concatenate([columns, np.zeros((6, 1))], axis=1)
    most = np.zeros((count, equal.shape[1]))
    for j in range(count):
        most[j, j * _DIRECTIONS : (j + 1) * _DIRECTIONS] = 1.0
    most[:, -1] = -1.0
    cost = np.zeros(equal.shape[1])
    cost[-1] = 1.0
    found = linprog(cost, most, np.zeros(count), equal, wanted * scale, method="highs")
    return float(found.fun) if found.status == 0 else np.inf


def _across(normals: Array) -> tuple[Array, Array]:
    """Two unit vectors across each of (n, 3) normals."""
    other = np.where(np.abs(normals[:, :1]) < 0.7, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    one = np.cross(normals, other)
    one = one / np.linalg.norm(one, axis=1)[:, None]
    return one, np.cross(normals, one)

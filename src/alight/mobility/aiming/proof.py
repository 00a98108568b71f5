"""Push-offs flown by the engine itself to their first impact, and corrected until they hit.

Shooting flies the centre of mass in the field as the law gives it. The engine may reuse gravity
along its path, a lander has corners, and ground has bends: what counts is where the engine's lander
first touches the engine's ground. With the miss m of that place and the projection
P = 1 - v n^T / (n.v) along the arrival on the ground's tangent plane, the next push-off is

    v0 - Phi_rv^-1 P m

which is Newton's method with the state-transition matrix of the shot, on the engine's own map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import warp as wp

from alight.core import devices
from alight.core.checks import Array
from alight.core.outcomes import Ending
from alight.core.types import scalar
from alight.engine import run_batch
from alight.engine.scene import Scene
from alight.engine.stops.law import StopLaw
from alight.mobility.aiming.push_off import PushOffs, throws_of
from alight.mobility.aiming.shooting import Shots

#: Corrections at most.
ROUNDS = 12
#: Farther off than this share of the way, it has met other ground.
ASTRAY = 0.2


@wp.struct
class TouchedData:
    """How many contacts."""

    count: scalar


@wp.func
def touched(data: TouchedData, scene: Scene):
    """Whether so many contacts have ended."""
    return scalar(scene.touches) >= data.count


class Touched(StopLaw):
    """Ends a run after its first contact."""

    Data, test = TouchedData, touched
    ending = Ending(64, "touched", "touched the ground")

    def data(self, device: devices.Device) -> Any:
        """Parameters; no arrays."""
        data = TouchedData()
        data.count = 1.0
        return data


@dataclass(frozen=True, eq=False)
class Proof:
    """What the engine made of push-offs."""

    throws: Array
    """(n, 3) speed [m/s], azimuth and elevation [rad] after the last correction."""
    velocity: Array
    """(n, 3) the same as a vector in target axes [m/s]."""
    time: Array
    """(n,) of first impact [s]; NaN where there was none."""
    miss: Array
    """(n,) distance of the first impact from the target on the ground [m]; infinite without."""
    rounds: Any
    """(n,) corrections made."""


def prove(
    stand: PushOffs,
    places: Array,
    shots: Shots,
    target: Array,
    axes: Array,
    tolerance: float,
    device: str = "cpu",
) -> Proof:
    """Fly ``shots`` from ``places`` and correct them until they touch within ``tolerance`` [m].

    ``target`` (n, 3) are points on the ground [m], ``axes`` (n, 3, 3) east, north and up of each
    start.
    """
    n = len(shots)
    velocity, best = shots.velocity.copy(), shots.velocity.copy()
    miss, time, rounds = np.full(n, np.inf), np.full(n, np.nan), np.zeros(n, dtype=int)
    back = _back(shots, stand.query(target)[1])
    way = np.linalg.norm(target - shots.start, axis=1)
    live = np.arange(n)
    for number in range(ROUNDS + 1):
        place, when = first_impacts(
            stand, places[live], throws_of(velocity[live], axes[live]), shots.time[live], device
        )
        off = place - target[live]
        far = np.linalg.norm(off, axis=1)
        better = far < miss[live]
        closer = live[better]
        miss[closer], time[closer], best[closer] = far[better], when[better], velocity[closer]
        rounds[closer] = number
        more = (far > tolerance) & (far < ASTRAY * way[live])
        # Overshooting by a bend of the ground: half a step from the best one so far.
        velocity[live] = np.where(better[:, None], velocity[live], best[live])
        step = np.where(better, 1.0, 0.5)[:, None] * np.einsum("nij,nj->ni", back[live], off)
        live, step = live[more], step[more]
        velocity[live] -= step
        if not len(live):
            break
    return Proof(throws_of(best, axes), best, time, miss, rounds)


def _back(shots: Shots, normal: Array) -> Array:
    """(n, 3, 3) from misses on the ground to changes of the start velocity [1/s]."""
    return np.asarray(np.linalg.solve(shots.end.by_velocity, along(shots.end.velocity, normal)))


def along(velocity: Array, normal: Array) -> Array:
    """(n, 3, 3) P = 1 - v n^T / (n.v): along velocities on planes with these normals."""
    pace = np.sum(velocity * normal, axis=1)[:, None, None]
    return np.asarray(np.eye(3) - velocity[:, :, None] * normal[:, None, :] / pace)


def first_impacts(
    stand: PushOffs, places: Array, throws: Array, times: Array, device: str = "cpu"
) -> tuple[Array, Array]:
    """(n, 3) where push-offs first touch the ground [m], and when [s]; infinite where they do not.

    ``times`` are about when that should be: a run is followed for half as long again.
    """
    model, release = stand.release(places, throws)
    longest = max(1.5 * float(np.max(times)), 1.0)
    stop = replace(model.stop, max_time=longest)
    found = run_batch(replace(model, stop=stop, stops=(Touched(),)), release, device=device)
    hit = np.asarray(found.touched)
    place = np.where(hit[:, None], found.final["first_place"], np.inf)
    return place, np.where(hit, found.final["first_time"], np.nan)

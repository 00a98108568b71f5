"""Families of push-offs from one place to another: a curve of start velocity over flight time.

Times are scanned about that of a 45 degree throw; each is shot at from three guesses, the throw in
gravity that is the same everywhere and Lambert's two ways about a point mass in inertial axes.
Solutions at neighbouring times belong to one family where the slope dv0/dT leads from one to the
other. The speed along a family falls to a smallest value and rises again: before it are the shallow
solutions, which fly low and short, behind it the steep ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core import frames
from alight.core.checks import Array
from alight.mobility.aiming.free_flight import Flights, FreeFlight
from alight.mobility.aiming.lambert import lambert
from alight.mobility.aiming.shooting import Shots, shoot, slowest

#: Flight times of a scan, over that of a 45 degree throw over the same distance.
SCAN = np.geomspace(0.3, 4.0, 22)
#: Two shots at one time are the same if they differ by less than this share of the speed.
_SAME = 1e-4


@dataclass(frozen=True)
class Ground:
    """What is asked of the ground: its distance and normal at points."""

    query: Any
    """(points) -> distances [m] and outward normals."""

    def normal(self, places: Array) -> Array:
        """(n, 3) outward normals at places."""
        return np.asarray(self.query(places)[1])

    def clear(self, paths: Array) -> Any:
        """(n,) whether paths (n, k, 3) are above ground all the way, both ends left out."""
        inner = paths[:, 1:-1]
        safe = np.where(np.isfinite(inner), inner, 0.0)
        return (np.asarray(self.query(safe)[0]) > 0.0).all(axis=1)


@dataclass(frozen=True, eq=False)
class Family:
    """Shots from one place to another by rising flight time."""

    pair: int
    """Which start and target."""
    shots: Shots
    leaves: Any
    """(n,) whether each goes up from the ground and comes down on it."""
    clear: Any
    """(n,) whether no ground is in between."""

    @property
    def open(self) -> Any:
        """(n,) whether it can be flown, at whatever speed."""
        return self.leaves & self.clear


def scan(
    flight: FreeFlight, ground: Ground, start: Array, target: Array, gm: Array | None
) -> list[Family]:
    """The families of each pair of ``start`` and ``target`` (n, 3) [m], by pair and time.

    ``gm`` (n,) [m^3/s^2] is that of Lambert's guesses; None where there is no centre.
    """
    pairs, times = len(start), len(SCAN)
    pull = 0.5 * (flight.pull(start) + flight.pull(target))
    throw = np.sqrt(2.0 * np.linalg.norm(target - start, axis=1) / np.linalg.norm(pull, axis=1))
    pair = np.repeat(np.arange(pairs), times)
    time = (throw[:, None] * SCAN).reshape(-1)
    guesses = _guesses(
        flight, start[pair], target[pair], time, pull[pair], None if gm is None else gm[pair]
    )
    count = len(guesses)
    pair, time = np.tile(pair, count), np.tile(time, count)
    shots = shoot(flight, start[pair], target[pair], time, np.concatenate(guesses), fine=False)
    up = np.sum(shots.velocity * ground.normal(start)[pair], axis=1) > 0.0
    down = np.sum(shots.end.velocity * ground.normal(target)[pair], axis=1) < 0.0
    clear = ground.clear(shots.end.path)
    found = []
    for number in range(pairs):
        own = np.flatnonzero((pair == number) & shots.reached)
        for rows in _chains(shots, own):
            found.append(Family(number, shots[rows], (up & down)[rows], clear[rows]))
    return found


def _guesses(
    flight: FreeFlight, start: Array, target: Array, time: Array, pull: Array, gm: Array | None
) -> list[Array]:
    """Start velocities (n, 3) to begin with."""
    t = time[:, None]
    found = [(target - start) / t - 0.5 * pull * t]
    if gm is None:
        return found
    rate, _, turned = flight.rotation.evaluate(np.concatenate([[0.0], time]), device="cpu")
    # Inertial axes that agree with those of the target at t = 0.
    later = frames.quat_multiply(frames.quat_conjugate(turned[:1]), turned[1:])
    end = frames.quat_rotate(later, target)
    moving = frames.cross(rate[:1], start)
    return found + [lambert(gm, start, end, time, way) - moving for way in (False, True)]


def _chains(shots: Shots, rows: Any) -> list[Any]:
    """Rows of one pair, sorted into families by rising time."""
    order = rows[np.argsort(shots.time[rows], kind="stable")]
    chains: list[list[int]] = []
    for row in order:
        home, best = None, 0.35
        for chain in chains:
            last = chain[-1]
            size = max(shots.speed[row], shots.speed[last])
            off = np.linalg.norm(shots.velocity[row] - shots.velocity[last])
            if shots.time[row] == shots.time[last]:
                if off < _SAME * size:
                    break  # the same shot, found from another guess
                continue
            step = shots.time[row] - shots.time[last]
            ahead = shots.velocity[last] + 0.5 * step * (_slope(shots, last) + _slope(shots, row))
            wrong = float(np.linalg.norm(shots.velocity[row] - ahead)) / size
            if wrong < best:
                home, best = chain, wrong
        else:
            if home is None:
                chains.append([row])
            else:
                home.append(row)
    return [np.array(chain) for chain in chains]


def _slope(shots: Shots, row: int) -> Array:
    return np.asarray(shots[row : row + 1].by_time[0])


# ---------------------------------------------------------------------------------------------
# Single shots of families
# ---------------------------------------------------------------------------------------------


def least(flight: FreeFlight, families: list[Family]) -> list[Shots | None]:
    """The slowest shot of each family that can be flown, refined between its neighbours."""
    found: list[Shots | None] = []
    dips: list[tuple[int, Shots, Shots]] = []
    for number, family in enumerate(families):
        open_ = np.flatnonzero(family.open)
        if not len(open_):
            found.append(None)
            continue
        k = int(open_[np.argmin(family.shots.speed[open_])])
        found.append(family.shots[k : k + 1])
        sides = _dip(family.shots, k)
        if sides is not None and family.open[list(sides)].all():
            i, j = sides
            dips.append((number, family.shots[i : i + 1], family.shots[j : j + 1]))
    if dips:
        refined = slowest(flight, stacked([d[1] for d in dips]), stacked([d[2] for d in dips]))
        for row, (number, _, _) in enumerate(dips):
            if refined.reached[row]:
                found[number] = refined[row : row + 1]
    return found


def _dip(shots: Shots, k: int) -> tuple[int, int] | None:
    """The neighbours between which the speed is least, where it falls and then rises."""
    rise = np.sum(shots.velocity * shots.by_time, axis=1)
    for i, j in ((k - 1, k), (k, k + 1)):
        if i >= 0 and j < len(shots) and rise[i] < 0.0 < rise[j]:
            return i, j
    return None


def at_speed(
    flight: FreeFlight, families: list[Family], speeds: Array
) -> list[tuple[Shots | None, Shots | None]]:
    """The shallow and the steep shot of each family at a speed (one for each) [m/s].

    Begun from the scanned shots between which the speed passes that value, before and behind the
    slowest.
    """
    wanted: list[tuple[int, int, Shots, float]] = []
    for number, (family, speed) in enumerate(zip(families, speeds, strict=True)):
        slow = int(np.argmin(family.shots.speed))
        above = family.shots.speed > speed
        before, behind = np.flatnonzero(above[:slow]), slow + np.flatnonzero(above[slow:])
        if len(before):
            wanted.append((number, 0, family.shots[before[-1] : before[-1] + 1], speed))
        if len(behind):
            wanted.append((number, 1, family.shots[behind[0] : behind[0] + 1], speed))
    found: list[list[Shots | None]] = [[None, None] for _ in families]
    if wanted:
        near = stacked([w[2] for w in wanted])
        speed = np.array([w[3] for w in wanted])
        made = shoot(flight, near.start, near.target, near.time, near.velocity, speed=speed)
        good = made.reached & (np.abs(made.speed / speed - 1.0) < 1e-5)
        for row, (number, side, _, _) in enumerate(wanted):
            if good[row]:
                found[number][side] = made[row : row + 1]
    return [(one[0], one[1]) for one in found]


def stacked(shots: list[Shots]) -> Shots:
    """Single shots as one; their paths are not kept, as they may differ in steps."""

    def rows(of: list[Any], *names: str) -> dict[str, Any]:
        return {name: np.concatenate([getattr(one, name) for one in of]) for name in names}

    ends = rows([one.end for one in shots], "position", "velocity", "by_velocity", "error")
    end = Flights(**ends, path=np.zeros((len(shots), 0, 3)))
    return Shots(**rows(list(shots), "start", "target", "time", "velocity", "reached"), end=end)

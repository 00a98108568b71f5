"""``Aimer``: from places on the ground to the push-offs that lead from one to the other.

::

    found = alight.aim("itokawa_cube.toml", (0.2, 0.5), (0.25, 0.6))   # latitude, longitude [rad]
    for hop in found.hops:
        print(hop.name, hop.speed, hop.azimuth, hop.elevation, hop.time, hop.miss)

Families are scanned and single shots of them chosen (``families``); the engine flies each of these
and corrects it (``proof``). Where it meets other ground first, steeper shots are tried.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from alight.core.checks import Array, checked_number
from alight.core.errors import InputError
from alight.gravity import Uniform
from alight.mobility.aiming.families import Family, Ground, at_speed, least, scan, stacked
from alight.mobility.aiming.free_flight import FreeFlight
from alight.mobility.aiming.hop import LEAST, SHALLOW, STEEP, Aim, Hop
from alight.mobility.aiming.proof import prove
from alight.mobility.aiming.push_off import PushOffs, by_throw, push_off_scenario
from alight.mobility.aiming.shooting import Shots, finely
from alight.scenario import load, prepare
from alight.scenario.document import Document

#: How near to the target the engine's first impact must be [m].
TOLERANCE = 1e-3
#: Speed of the shallow and the steep hop over the least one, where none is given.
FASTER = 1.2
#: How often steeper shots are tried where the engine meets other ground first, and how much longer
#: each flies than the one before.
TRIES, LONGER = 4, 1.25
#: Points of the paths that hops are told with.
POINTS = 96


@dataclass(frozen=True, eq=False)
class _Try:
    """A shot that the engine is to fly."""

    pair: int
    family: int
    """Its rank among those of the pair, from 1."""
    name: str
    shot: Shots
    home: Family


class Aimer:
    """A scenario prepared for aiming; made once for many places.

    Parameters
    ----------
    scenario:
        A landing scenario or the path of its file; how it is released does not matter.
    device:
        Where fields are evaluated and flights are flown.
    progress:
        How the making of tables is reported: "silent", "auto", "text" or "rich".
    """

    def __init__(
        self,
        scenario: Document | str | os.PathLike[str],
        device: str = "cpu",
        progress: str = "silent",
    ) -> None:
        given = scenario if isinstance(scenario, Document) else load(scenario)
        self.scenario, self.device = push_off_scenario(given), device
        self.stand = PushOffs(prepare(self.scenario, device, progress))
        self.flight = FreeFlight.of(self.stand.model, device)
        self.ground = Ground(self.stand.query)
        self.central = not isinstance(self.flight.gravity, Uniform)

    def aim(
        self,
        start: npt.ArrayLike,
        target: npt.ArrayLike,
        *,
        max_speed: float | None = None,
        speed: float | None = None,
    ) -> Aim:
        """All push-offs from one place to another: of each family the slowest, and the shallow and
        the steep one at ``speed`` [m/s] (1.2 times the least if not given).

        Places are latitude and longitude [rad], on flat ground positions [m]. ``max_speed`` is the
        escape speed at the start if not given.
        """
        starts, targets = (self._places(np.atleast_2d(a)) for a in (start, target))
        wanted = None if speed is None else checked_number("speed [m/s]", speed)
        return _Aiming(self, starts, targets, max_speed).all_hops(wanted)

    def aim_many(
        self, starts: npt.ArrayLike, targets: npt.ArrayLike, *, max_speed: float | None = None
    ) -> list[Aim]:
        """The slowest push-off for each of many pairs of places (n, 2), all at once."""
        rows = [self._places(np.asarray(a, np.float64)) for a in (starts, targets)]
        if len(rows[0]) != len(rows[1]):
            raise InputError(f"{len(rows[0])} starts and {len(rows[1])} targets are no pairs.")
        return _Aiming(self, rows[0], rows[1], max_speed).slowest_hops()

    def _places(self, given: Any) -> Array:
        """Places as rows, checked."""
        width = 3 if self.scenario.flat else 2
        rows = np.asarray(given, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != width or not np.isfinite(rows).all():
            want = "x, y, z [m] on flat ground" if width == 3 else "latitude and longitude [rad]"
            raise InputError(f"a place is {np.asarray(given).tolist()}; it must be {want}.")
        if width == 2 and (np.abs(rows[:, 0]) > 0.5 * np.pi * (1.0 + 1e-12)).any():
            raise InputError(
                f"a latitude is {math.degrees(float(np.abs(rows[:, 0]).max())):g} deg; it must be "
                "from -90 to 90 deg."
            )
        return rows

    def limits(self, start: Array, given: float | None) -> Array:
        """(n,) largest speeds [m/s]: the one given, or the escape speed."""
        if given is not None:
            return np.full(len(start), checked_number("max_speed [m/s]", given))
        if not self.central:
            return np.full(len(start), np.inf)
        potential = self.flight.gravity.evaluate(start, self.device)[0]
        return np.asarray(np.sqrt(2.0 * np.asarray(potential)))

    def gm(self, start: Array, target: Array) -> Array | None:
        """(n,) of the point mass that pulls as the body does between both [m^3/s^2]."""
        if not self.central:
            return None
        both = np.stack([start, target])
        potential = self.flight.gravity.evaluate(both, self.device)[0]
        return np.asarray((potential * np.linalg.norm(both, axis=2)).mean(axis=0))


class _Aiming:
    """Pairs of places that are being aimed for."""

    def __init__(self, aimer: Aimer, starts: Array, targets: Array, limit: float | None) -> None:
        self.aimer, self.places = aimer, starts
        stand, ground = aimer.stand, aimer.ground
        self.start, self.axes = stand.standing(starts)
        foot, self.goal = stand.footing(starts), stand.footing(targets)
        if (np.linalg.norm(self.goal - foot, axis=1) < TOLERANCE).any():
            raise InputError("start and target are one place: a hop needs somewhere to go.")
        self.normal = ground.normal(self.goal)
        # The centre of mass ends as high over the ground as it began.
        height = np.sum((self.start - foot) * ground.normal(foot), axis=1)
        aimed = self.goal + height[:, None] * self.normal
        self.limits = aimer.limits(self.start, limit)
        gm = aimer.gm(self.start, aimed)
        self.families = scan(aimer.flight, ground, self.start, aimed, gm)
        self.slow = least(aimer.flight, self.families)

    def all_hops(self, speed: float | None) -> Aim:
        """Of the only pair: of each family the slowest, the shallow and the steep one."""
        tries = self._slowest()
        tries += self._both_sides(tries, speed)
        return self._aims(tries)[0]

    def slowest_hops(self) -> list[Aim]:
        """Of each pair the slowest."""
        return self._aims([one for one in self._slowest() if one.family == 1])

    def _aims(self, tries: list[_Try]) -> list[Aim]:
        hops, nearest = self._flown(tries)
        last = {one.pair: one for one in tries if one.family == 1}
        for _ in range(TRIES):
            more = [self._steeper(one) for pair, one in last.items() if not hops.get(pair)]
            again = [one for one in more if one is not None]
            if not again:
                break
            last = {one.pair: one for one in again}
            found, near = self._flown(again)
            hops |= found
            nearest |= {p: min(m, nearest.get(p, math.inf)) for p, m in near.items()}
        return [self._aim(k, hops.get(k, []), nearest.get(k)) for k in range(len(self.places))]

    def _aim(self, pair: int, hops: list[Hop], nearest: float | None) -> Aim:
        own = tuple(one for one in self.families if one.pair == pair)
        limit = float(self.limits[pair])
        reason = "" if hops else _reason(own, limit, nearest)
        ranked = sorted(hops, key=lambda hop: (hop.family, hop.time))
        start, goal = self.start[pair], self.goal[pair]
        return Aim(start, goal, self.places[pair], tuple(ranked), own, limit, reason)

    # -- which shots ---------------------------------------------------------------------------

    def _slowest(self) -> list[_Try]:
        """The slowest of each family that keeps to the limit, ranked by speed."""
        found = [
            (family.pair, float(shot.speed[0]), k)
            for k, (family, shot) in enumerate(zip(self.families, self.slow, strict=True))
            if shot is not None and shot.speed[0] <= self.limits[family.pair]
        ]
        tries: list[_Try] = []
        for pair, _, k in sorted(found):
            rank = 1 + sum(one.pair == pair for one in tries)
            shot = self.slow[k]
            assert shot is not None
            tries.append(_Try(pair, rank, LEAST, shot, self.families[k]))
        return tries

    def _both_sides(self, slowest: list[_Try], speed: float | None) -> list[_Try]:
        """The shallow and the steep shots of families, where they can be flown."""
        wanted = [FASTER * float(one.shot.speed[0]) if speed is None else speed for one in slowest]
        speeds = np.minimum(wanted, self.limits[[one.pair for one in slowest]])
        flight = self.aimer.flight
        found = at_speed(flight, [one.home for one in slowest], speeds) if slowest else []
        return [
            _Try(one.pair, one.family, name, shot, one.home)
            for one, both in zip(slowest, found, strict=True)
            for name, shot in zip((SHALLOW, STEEP), both, strict=True)
            if shot is not None and self._flies(shot)
        ]

    def _steeper(self, tried: _Try) -> _Try | None:
        """The next shot of the family that flies longer, goes free of the ground and is allowed."""
        shots, home = tried.shot, tried.home
        later = home.shots.time >= LONGER * float(shots.time[0])
        allowed = home.open & (home.shots.speed <= self.limits[tried.pair])
        rows = np.flatnonzero(later & allowed)
        if not len(rows):
            return None
        shot = finely(self.aimer.flight, home.shots[rows[0] : rows[0] + 1])
        return _Try(tried.pair, tried.family, STEEP, shot, home)

    def _flies(self, shot: Shots) -> bool:
        """Whether a shot goes up, comes down and meets no ground in between."""
        ground = self.aimer.ground
        up = np.sum(shot.velocity * ground.normal(shot.start), axis=1) > 0.0
        down = np.sum(shot.end.velocity * ground.normal(shot.target), axis=1) < 0.0
        return bool((up & down & ground.clear(shot.end.path))[0])

    # -- flown by the engine -------------------------------------------------------------------

    def _flown(self, tries: list[_Try]) -> tuple[dict[int, list[Hop]], dict[int, float]]:
        """Hops that hit, by pair; and how near the best of each pair came [m]."""
        hops: dict[int, list[Hop]] = {}
        nearest: dict[int, float] = {}
        if not tries:
            return hops, nearest
        aimer, shots = self.aimer, stacked([one.shot for one in tries])
        pair = np.array([one.pair for one in tries])
        goal, axes = self.goal[pair], self.axes[pair]
        proof = prove(aimer.stand, self.places[pair], shots, goal, axes, TOLERANCE, aimer.device)
        time = np.where(np.isfinite(proof.time), proof.time, shots.time)
        end = aimer.flight.fly(shots.start, proof.velocity, time, POINTS)
        slopes = end.by_velocity @ by_throw(proof.throws, axes)
        for k, one in enumerate(tries):
            miss = float(proof.miss[k])
            nearest[one.pair] = min(miss, nearest.get(one.pair, math.inf))
            if miss > TOLERANCE:
                continue
            speed, azimuth, elevation = proof.throws[k].tolist()
            hop = Hop(
                name=one.name,
                family=one.family,
                throw=(speed, azimuth, elevation),
                velocity=proof.velocity[k],
                time=float(proof.time[k]),
                arrival=end.velocity[k],
                normal=self.normal[one.pair],
                target=goal[k],
                by_throw=slopes[k],
                path=end.path[k],
                miss=miss,
                corrections=int(proof.rounds[k]),
            )
            hops.setdefault(one.pair, []).append(hop)
        return hops, nearest


def _reason(families: tuple[Family, ...], limit: float, nearest: float | None) -> str:
    """Why there is no hop; ``nearest`` is how far the engine's flights stayed off [m]."""
    if not families:
        return (
            "no flight was found that ends there: the target is out of reach of one hop of up to "
            "four times the time of a 45 degree throw"
        )
    if nearest is not None:
        off = "nothing" if math.isinf(nearest) else f"other ground first, {nearest:.3g} m from it"
        return (
            f"as the engine flies it, the lander touches {off}: rough ground, or a grazing arrival"
        )
    speeds = [float(one.shots.speed[one.open].min()) for one in families if one.open.any()]
    if speeds:
        return (
            f"out of reach: the slowest push-off takes {100.0 * min(speeds):.4g} cm/s, and the "
            f"limit is {100.0 * limit:.4g} cm/s. Allow more speed, or go in several hops"
        )
    if any(one.leaves.any() for one in families):
        return "ground is in between on every path: go round it in several hops"
    return "every path would begin or end inside the ground: the target lies behind a slope"


def aim(
    scenario: Document | str | os.PathLike[str],
    start: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    max_speed: float | None = None,
    speed: float | None = None,
    device: str = "cpu",
    progress: str = "silent",
) -> Aim:
    """The push-offs that lead from one place to another; see ``Aimer.aim``.

    Places are latitude and longitude [rad], or (3,) positions [m] on flat ground; speeds [m/s].
    """
    return Aimer(scenario, device, progress).aim(start, target, max_speed=max_speed, speed=speed)

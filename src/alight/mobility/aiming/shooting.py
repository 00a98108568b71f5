"""Shooting: start velocities whose flights end at a place, by Newton's method, many at once.

For a given flight time T:   dv = Phi_rv^-1 (r_t - r(T)).
Along a family of solutions: dv0/dT = -Phi_rv^-1 v(T), as the end must stay where it is.
For a given speed v both vary: with a = Phi_rv^-1 (r_t - r(T)) and b = Phi_rv^-1 v(T)

    dT = (v0.a - (v^2 - v0.v0) / 2) / (v0.b),   dv = a - b dT

and where v0.b = 0 the family has its smallest speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from alight.core.checks import Array
from alight.mobility.aiming.free_flight import MOST_STEPS, STEPS, Flights, FreeFlight

#: Newton's steps at most, and the share of the speed that one may change.
ITERATIONS, BOLDEST = 14, 0.5
#: What a shot has a row of, beside its flight.
_ROWS = ("start", "target", "time", "velocity", "reached")
#: Distance from the target at which a flight has reached it, as a share of the distance flown.
CLOSE = 1e-7


@dataclass(frozen=True, eq=False)
class Shots:
    """Start velocities and the flights that they make; rows whose ``reached`` is false miss."""

    start: Array
    """(n, 3) [m]."""
    target: Array
    """(n, 3) [m]."""
    time: Array
    """(n,) of flight [s]."""
    velocity: Array
    """(n, 3) at the start, relative to the turning target [m/s]."""
    end: Flights
    reached: Any
    """(n,) whether the flight ends at the target."""

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: Any) -> Shots:
        """Some of them."""
        picked = {name: getattr(self, name)[rows] for name in _ROWS}
        return Shots(**picked, end=self.end[rows])

    @property
    def speed(self) -> Array:
        """(n,) at the start [m/s]."""
        return np.linalg.norm(self.velocity, axis=1)

    @property
    def by_time(self) -> Array:
        """(n, 3) how the start velocity changes with the flight time, dv0/dT [m/s^2]."""
        return -_solve(self.end.by_velocity, self.end.velocity)


def shoot(
    flight: FreeFlight,
    start: Array,
    target: Array,
    time: Array,
    velocity: Array,
    *,
    speed: Array | None = None,
    fine: bool = True,
) -> Shots:
    """Newton's method from ``velocity`` (n, 3); with ``speed`` (n,) the flight time varies, too.

    Rows that have come close are left; with ``fine`` all are then flown in steps short enough for
    their error.
    """
    time, velocity = np.array(time, dtype=np.float64), np.array(velocity, dtype=np.float64)
    way = np.linalg.norm(target - start, axis=1)
    live = np.flatnonzero(np.isfinite(velocity).all(axis=1))
    for _ in range(ITERATIONS):
        if not len(live):
            break
        found = flight.fly(start[live], velocity[live], time[live])
        miss = target[live] - found.position
        off = np.linalg.norm(miss, axis=1)
        wanted = None if speed is None else speed[live]
        far = ~(off <= CLOSE * way[live])
        if wanted is not None:
            far |= np.abs(np.linalg.norm(velocity[live], axis=1) / wanted - 1.0) > CLOSE
        dv, dT = _newton(found, miss, velocity[live], time[live], wanted)
        # What has gone astray (a path through the centre, a singular matrix) is given up.
        far &= np.isfinite(dv).all(axis=1)
        step = _shortened(dv, velocity[live], way[live] / time[live]) * far
        velocity[live] += step[:, None] * dv
        time[live] += step * dT
        live = live[far]
    good = np.isfinite(velocity).all(axis=1)
    safe = np.where(np.isfinite(velocity).all(axis=1, keepdims=True), velocity, 0.0)
    end = flight.fly(start, safe, time)
    off = np.linalg.norm(target - end.position, axis=1)
    good &= off <= 10.0 * CLOSE * way
    shots = Shots(start, target, time, safe, end, good)
    return finely(flight, shots) if fine else shots


def finely(flight: FreeFlight, shots: Shots) -> Shots:
    """Shots as they stand, flown in as many steps as their error asks for; one more step of
    Newton's takes back what coarser steps had left."""
    start, target, time, safe = shots.start, shots.target, shots.time, shots.velocity
    way = np.linalg.norm(target - start, axis=1)
    good, steps, end = shots.reached.copy(), STEPS, shots.end
    while steps < MOST_STEPS and (good & (end.error > 0.1 * CLOSE * way)).any():
        steps *= 2
        end = flight.fly(start, safe, time, steps)
        good &= np.linalg.norm(target - end.position, axis=1) < 0.1 * way
    dv, _ = _newton(end, target - end.position, safe, time, None)
    small = np.linalg.norm(dv, axis=1) < 1e-2 * np.linalg.norm(safe, axis=1)
    safe = safe + np.where((good & small)[:, None], dv, 0.0)
    end = flight.fly(start, safe, time, steps)
    off = np.linalg.norm(target - end.position, axis=1)
    return Shots(start, target, time, safe, end, good & (off <= 10.0 * CLOSE * way))


def slowest(flight: FreeFlight, before: Shots, after: Shots) -> Shots:
    """The slowest shots of families, each between a shot before and one after it (in time).

    The speed falls at ``before`` and rises at ``after``: v0.dv0/dT changes its sign. A secant
    that stays between the two finds where (the Illinois form of regula falsi).
    """
    low, high = before.time.copy(), after.time.copy()
    f_low, f_high = (_rise(one) for one in (before, after))
    here = before
    for _ in range(12):
        with np.errstate(divide="ignore", invalid="ignore"):
            time = high - f_high * (high - low) / (f_high - f_low)
        time = np.where(np.isfinite(time), time, 0.5 * (low + high))
        guess = here.velocity + here.by_time * (time - here.time)[:, None]
        here = shoot(flight, before.start, before.target, time, guess, fine=False)
        rise = _rise(here)
        up = rise > 0.0
        f_low = np.where(up, 0.5 * f_low, rise)
        f_high = np.where(up, rise, 0.5 * f_high)
        low, high = np.where(up, low, time), np.where(up, time, high)
        if (np.abs(rise) <= 1e-6 * here.speed**2 / time).all():
            break
    return finely(flight, here)


def _rise(shots: Shots) -> Array:
    """(n,) half the derivative of the squared speed by the flight time [m^2/s^3]."""
    return np.asarray(np.sum(shots.velocity * shots.by_time, axis=1))


def _newton(
    found: Flights, miss: Array, velocity: Array, time: Array, speed: Array | None
) -> tuple[Array, Array]:
    """Changes of velocity and flight time that would reach the target of a linear flight."""
    a = _solve(found.by_velocity, miss)
    if speed is None:
        return a, np.zeros(len(time))
    b = _solve(found.by_velocity, found.velocity)
    short = 0.5 * (speed**2 - np.sum(velocity**2, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        dT = (np.sum(velocity * a, axis=1) - short) / np.sum(velocity * b, axis=1)
    dT = np.clip(dT, -0.4 * time, 0.4 * time)
    return a - b * dT[:, None], dT


def _shortened(dv: Array, velocity: Array, pace: Array) -> Array:
    """(n,) share of a step that changes the speed by no more than ``BOLDEST``."""
    most = BOLDEST * np.maximum(np.linalg.norm(velocity, axis=1), pace)
    length = np.linalg.norm(dv, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(length > most, most / length, 1.0)


def _solve(matrix: Array, vector: Array) -> Array:
    """Solutions (n, 3); NaN where a matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, vector[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        singular = ~(np.abs(np.linalg.det(matrix)) > 0.0)
        safe = np.where(singular[:, None, None], np.eye(3), matrix)
        found = np.linalg.solve(safe, vector[:, :, None])[:, :, 0]
        return np.where(singular[:, None], np.nan, found)

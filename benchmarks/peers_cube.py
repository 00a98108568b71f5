"""The problem that Alight and other engines are given alike: a cube on a plane at 1e-4 m/s^2.

Nothing here belongs to an engine. The cube is uniform, so that it turns evenly in flight, and when
a corner first meets the ground has a closed form up to one root: what every engine must agree on
before anything else of it counts.
"""

import dataclasses
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from scipy.stats import ks_2samp

#: Side [m], mass [kg] and moment of inertia [kg m^2] of the cube.
SIDE, MASS = 0.2, 1.0
INERTIA = MASS * SIDE**2 / 6.0
#: Weight [m/s^2], restitution and friction asked for. No rolling resistance, no spin friction of a
#: point: not every engine has the same laws of them.
G, RESTITUTION, FRICTION = 1e-4, 0.5, 0.6
#: Below this speed [m/s] and rate [rad/s] for this long [s] a cube in contact is at rest ...
SLOW, SLOW_RATE, QUIET = 1e-5, 1e-4, 30.0
#: ... which it must be by then [s].
LONGEST = 4000.0
#: Corners from the centre of mass, in body axes [m].
CORNERS = 0.5 * SIDE * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
#: Speeds of single hits [m/s], and slip of oblique ones over that: a ball sticks, a ball slides.
SPEEDS, SLIPS = (1e-3, 1e-2, 1e-1, 1.0), (2.0, 4.0)
#: When the energy that is left is looked at [s]: after the first hits, and after most.
LEFT_AT = (30.0, 200.0)
#: Slopes on which a cube is laid down [deg]; friction holds it up to 31. And for how long [s].
SLOPES, LYING = (0.0, 10.0, 25.0), 1e4


@dataclasses.dataclass(frozen=True)
class States:
    """States of cubes, one row each."""

    position: np.ndarray
    """(n, 3) of the centre of mass [m]; the ground is z = 0."""
    velocity: np.ndarray
    """(n, 3) [m/s]."""
    attitude: np.ndarray
    """(n, 4) quaternions xyzw, body to ground."""
    rate: np.ndarray
    """(n, 3) in body axes [rad/s]."""

    def __len__(self) -> int:
        return len(self.position)

    def __getitem__(self, rows: object) -> "States":
        return States(*(getattr(self, f.name)[rows] for f in dataclasses.fields(self)))


@dataclasses.dataclass(frozen=True)
class Landed:
    """How landings ended, one row each."""

    rest: np.ndarray
    """When the cube last moved [s]; nan where it did not come to rest."""
    position: np.ndarray
    """(n, 3) where [m]."""
    first: np.ndarray
    """When it first touched the ground [s]."""
    gain: np.ndarray
    """Energy won over the least it had in flight before [J/kg]."""
    seconds: float
    """Time up to when each last moved, of one landing [s]."""

    @property
    def settled(self) -> float:
        """The share that came to rest."""
        return float(np.isfinite(self.rest).mean())

    @property
    def away(self) -> np.ndarray:
        """Distance along the ground from the release [m]."""
        return np.hypot(self.position[:, 0], self.position[:, 1])


def releases(count: int, seed: int = 17) -> States:
    """Cubes 0.3 m up, coming down at 1 cm/s as if from 0.5 m higher, in any attitude.

    The fall before is left out: nothing happens in it, and an engine with fixed steps would pay.
    """
    rng = np.random.default_rng(seed)
    velocity = 2e-3 * rng.normal(size=(count, 3))
    velocity[:, 2] = -1e-2
    attitude = rng.normal(size=(count, 4))
    attitude /= np.linalg.norm(attitude, axis=1)[:, None]
    position = np.tile([0.0, 0.0, 0.3], (count, 1))
    return States(position, velocity, attitude, 0.02 * rng.normal(size=(count, 3)))


def hits(speed: float, slip: float, gaps: np.ndarray, pose: str = "corner") -> States:
    """Cubes that come down without turning, the lowest corner so far above the ground [m].

    Straight below the centre of mass a hit does not turn the cube: on ``"corner"`` there is one
    contact, on ``"face"`` there are four. ``"ball"`` is for oblique hits: friction turns it, and
    that does not change how its lowest point comes back.
    """
    turn = Rotation.identity()
    if pose == "corner":
        turn = Rotation.align_vectors([[0.0, 0.0, -1.0]], [[1.0, 1.0, 1.0]])[0]
    count, drop = len(gaps), 0.5 * SIDE if pose == "ball" else -turn.apply(CORNERS)[:, 2].min()
    position = np.column_stack([np.zeros((count, 2)), drop + gaps])
    velocity = np.tile([slip * speed, 0.0, -speed], (count, 1))
    return States(position, velocity, np.tile(turn.as_quat(), (count, 1)), np.zeros((count, 3)))


def hit_speed(states: States, gap: np.ndarray) -> np.ndarray:
    """Speed at the ground [m/s] of what falls by ``gap`` [m] without turning."""
    return np.sqrt(states.velocity[:, 2] ** 2 + 2.0 * G * gap)


def slip_lost(speed: np.ndarray, slip: np.ndarray) -> np.ndarray:
    """Slip that a ball loses in a rigid hit [m/s]: mu (1 + e) v, or what sticking takes."""
    return np.minimum(FRICTION * (1.0 + RESTITUTION) * speed, 2.0 / 7.0 * slip)


def hit_results(states: States, gap: np.ndarray, out: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Speed ``out`` over that of the hit, slip ``lost`` over what a ball should lose: (n, 2)."""
    speed, slip = hit_speed(states, gap), states.velocity[:, 0]
    asked = np.where(slip > 0.0, slip_lost(speed, slip), np.nan)
    return np.column_stack([out / speed, lost / asked])


def flight(states: States, after: np.ndarray) -> States:
    """Where cubes are ``after`` so long [s] without contact: a parabola, and an even turn."""
    t = np.asarray(after)[:, None]
    fall = np.array([0.0, 0.0, -G])
    turn = Rotation.from_quat(states.attitude) * Rotation.from_rotvec(states.rate * t)
    position = states.position + t * states.velocity + 0.5 * t**2 * fall
    return States(position, states.velocity + t * fall, turn.as_quat(), states.rate)


def lowest(states: States) -> np.ndarray:
    """Height of the lowest corner [m]: z - side/2 (|R_31| + |R_32| + |R_33|)."""
    x, y, z, w = states.attitude.T
    up = np.abs(x * z - w * y) + np.abs(y * z + w * x) + np.abs(0.5 - (x * x + y * y))
    return states.position[:, 2] - SIDE * up


def first_touch(states: States) -> np.ndarray:
    """When the first corner meets the ground [s], to rounding."""
    grid = np.linspace(0.0, 60.0, 1201)
    found = []
    for i in range(len(states)):
        many = states[np.full(len(grid), i)]
        k = int(np.argmax(lowest(flight(many, grid)) < 0.0))
        one = states[i : i + 1]
        root = brentq(lambda t, s=one: lowest(flight(s, [t]))[0], grid[k - 1], grid[k], xtol=1e-12)
        found.append(root)
    return np.array(found)


def energy(states: States) -> np.ndarray:
    """Kinetic and potential energy [J/kg], over that of a cube that lies flat."""
    spin = 0.5 * INERTIA / MASS * (states.rate**2).sum(axis=1)
    return 0.5 * (states.velocity**2).sum(axis=1) + spin + G * (states.position[:, 2] - 0.5 * SIDE)


def clock(device: str) -> Callable[[], float]:
    """A core's own time, so that what else the machine does hardly counts; wall time of a GPU."""
    return time.process_time if device == "cpu" else time.perf_counter


def slope(degrees: float) -> np.ndarray:
    """Gravity [m/s^2] seen from axes along a slope that falls towards +x."""
    return G * np.array([np.sin(np.radians(degrees)), 0.0, -np.cos(np.radians(degrees))])


def apart(one: Landed, other: Landed) -> tuple[float, float]:
    """How unlike the distances and the times to rest of two engines are.

    Two-sample Kolmogorov-Smirnov statistics over the value that chance exceeds once in a thousand.
    Single landings cannot be compared: which corner hits first decides where a cube goes.
    """
    n, m = len(one.rest), len(other.rest)
    chance = 1.95 * np.sqrt((n + m) / (n * m))
    pairs = ((one.away, other.away), (one.rest, other.rest))
    return tuple(float(ks_2samp(a, b, nan_policy="omit").statistic / chance) for a, b in pairs)

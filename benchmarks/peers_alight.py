"""Alight's side of the comparison with other engines."""

from typing import Any

import numpy as np

from alight import gravity, surfaces
from alight.contact import Compliant, Impulse
from alight.core.outcomes import Outcome
from alight.engine import Stop, run_batch
from alight.motions import Model, Release
from alight.vehicles import RigidLander
from benchmarks import peers_cube as cube

LAWS = {"Compliant": Compliant, "Impulse": Impulse}


def model(
    law: str,
    degrees: float = 0.0,
    lander: RigidLander | None = None,
    friction: float = cube.FRICTION,
    longest: float = cube.LONGEST,
) -> Model:
    """The cube on the plane."""
    contact = LAWS[law](cube.RESTITUTION, friction, rolling_resistance=0.0, patch_radius=0.0)
    return Model(
        gravity.Uniform(cube.slope(degrees)),
        surfaces.Plane(),
        lander or RigidLander.cube(cube.SIDE, cube.MASS),
        contact,
        stop=Stop(max_time=longest, settle_speed=cube.SLOW, settle_rate=cube.SLOW_RATE,
                  settle_time=cube.QUIET),
    )  # fmt: skip


def release(states: cube.States) -> Release:
    """The same states, as Alight takes them."""
    return Release(states.position, states.velocity, states.attitude, states.rate)


def landed(law: str, states: cube.States, device: str = "cpu", repeats: int = 3) -> cube.Landed:
    """Landings to rest; the median time of ``repeats``, on one core or a GPU."""
    ground, begin = model(law), release(states)
    threads = 1 if device == "cpu" else None
    run_batch(ground, begin[:64], device=device, threads=threads)  # kernels are compiled
    clock, times = cube.clock(device), []
    for _ in range(repeats):
        began = clock()
        result = run_batch(ground, begin, device=device, threads=threads)
        times.append(clock() - began)
    final = result.final
    still = np.where(result.outcome == Outcome.SETTLED, final["t"] - final["quiet"], np.nan)
    gain = final["gain"] / cube.MASS
    spent = float(np.median(times)) / len(states)
    return cube.Landed(still, final["x"], final["first_time"], gain, spent)


def struck(law: str, speed: float, slip: float, pose: str, device: str = "cpu") -> np.ndarray:
    """Hits: ``peers_cube.hit_results``."""
    gaps = np.linspace(0.0, 1e-3, 17)[1:]
    states = cube.hits(speed, slip, gaps, pose)
    lander = RigidLander.sphere(cube.SIDE, cube.MASS) if pose == "ball" else None
    result = run_batch(model(law, lander=lander), release(states), device=device)
    first = result.touches[np.unique(result.touches["run"], return_index=True)[1]]
    lost = -first["impulse"][:, 0] / cube.MASS
    return cube.hit_results(states, gaps, first["normal_speed_out"], lost)


def kept(
    law: str, states: cube.States, friction: float, device: str = "cpu", at: Any = cube.LEFT_AT
) -> list[float]:
    """Mean energy that cubes have left at times ``at`` [J/kg]."""
    out = []
    for longest in at:
        ground = model(law, friction=friction, longest=longest)
        final = run_batch(ground, release(states), device=device).final
        there = cube.States(final["x"], final["v"], final["q"], final["w"])
        out.append(float(cube.energy(there).mean()))
    return out


def lain(law: str, degrees: float, device: str = "cpu", times: int = 10) -> float:
    """How far a cube at rest on a slope moves when it is let go again so many times [m].

    A run ends when the ground holds the cube: it cannot be watched any longer. Let go again it has
    lost the grip that held it, and must find it again.
    """
    ground = model(law, degrees)
    flat = cube.hits(0.0, 0.0, np.zeros(1), "face")
    result = run_batch(ground, release(flat), device=device)
    start = result.final["x"][0]
    for _ in range(times):
        if result.outcome[0] != Outcome.SETTLED:
            return float("nan")
        final = result.final
        result = run_batch(ground, Release(final["x"], attitude=final["q"]), device=device)
    return float(np.linalg.norm((result.final["x"][0] - start)[:2]))

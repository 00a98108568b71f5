"""Landings of articulated landers: the lander of paper 002, by Adams and by Runge-Kutta steps."""

from collections.abc import Callable

import numpy as np

from alight.cli.bench import Row, median_time, turn_by_turn
from alight.contact.hertz import Hertz
from alight.core import frames
from alight.core.devices import Device
from alight.engine import Batch, run_batch
from alight.gravity import PointMass
from alight.motions import TreeModel, TreeRelease, TreeResult, TreeSteps, TreeStop
from alight.surfaces import Sphere
from alight.vehicles import dcap_lander

TITLE = "Landings of articulated landers"

NOTES = """\
The lander of paper 002 (6 bodies, 11 freedoms, 3 crushables, 4 thrusters) comes down at 0.96 m/s on
a sphere with Phobos' gravity. *touchdown* is its first 3 s, in which all legs crush, on one core;
the peer is the classical Runge-Kutta method with the step that is as accurate: 2.5e-5 m at the end
(*error*, of the 2.4 m that it falls). *to rest* are landings with velocity (5 cm/s), attitude (3
deg) and friction (0.05 to 0.6) dispersed, followed until they rest or tip over, up to 100 s.
"""

RADIUS, GRAVITY = 11_100.0, 5.7e-3
LANDER = dcap_lander()


def model(friction: float | np.ndarray, steps: TreeSteps, end: float) -> TreeModel:
    """The lander over its ground."""
    return TreeModel(
        *(LANDER.tree, LANDER.devices, PointMass(GRAVITY * RADIUS**2), Sphere(radius=RADIUS)),
        Hertz(1e5, 200.0, friction),
        stop=TreeStop(max_time=end),
        steps=steps,
        up=(0.0, 1.0, 0.0),
    )


def release(count: int, spread: float) -> TreeRelease:
    """Tilted by 10 deg, leg 3 first, 2.4 m up; with ``spread`` 1 as the notes say."""
    rng = np.random.default_rng(2015)
    turn = frames.quat_from_axis_angle((0.0, 0.0, 1.0), np.radians(10.0))
    axis = rng.normal(size=(count, 3))
    tilt = frames.quat_from_axis_angle(axis, spread * np.radians(3.0) * rng.normal(size=count))
    velocity = np.array([0.0, -0.955, 0.0]) + spread * 0.05 * rng.normal(size=(count, 3))
    attitude = frames.quat_multiply(np.broadcast_to(turn, (count, 4)), tilt)
    return TreeRelease.of(LANDER.tree, (0.0, RADIUS + 2.4, 0.0), velocity, attitude)


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    found = [_touchdown(repeats), _to_rest(64, "cpu", 1, "one core", repeats)]
    if device.is_gpu:
        found.append(_to_rest(20_000, device.name, None, f"20 000 at once, {device.label}", 3))
    return found


def _touchdown(repeats: int) -> Row:
    """Adams steps beside Runge-Kutta steps of like error."""
    same, end = release(8, 0.0), 3.0

    def timed(steps: TreeSteps) -> tuple[Callable[[], None], Callable[[], TreeResult]]:
        kept: list[TreeResult] = []
        case = model(0.05, steps, end)

        def run() -> None:
            kept[:] = [run_batch(case, same, device="cpu", threads=1)]

        return run, lambda: kept[0]

    exact = run_batch(model(0.05, TreeSteps(tolerance=1e-10), end), same[0], device="cpu")
    adams, adams_end = timed(TreeSteps(tolerance=1e-5))
    rk4, rk4_end = timed(TreeSteps(integrator="rk4", step=5e-4))
    ours, theirs, ratio = turn_by_turn(adams, rk4, repeats, 1.0)
    errors = [np.linalg.norm(e().position[0] - exact.position[0]) for e in (adams_end, rk4_end)]
    print(f"  touchdown: Adams {errors[0]:.1e} m, Runge-Kutta {errors[1]:.1e} m off", flush=True)
    per = 1e3 / len(same)
    return Row(
        "touchdown, Adams (peer: RK4)",
        *(ours * per, "ms/landing", None, theirs * per, ratio),
        None,
        float(errors[0] / 2.4),
        5e-5,
    )


def _to_rest(count: int, device: str, threads: int | None, where: str, repeats: int) -> Row:
    """Dispersed landings until they rest."""
    friction = np.random.default_rng(7).uniform(0.05, 0.6, count)
    case = model(friction, TreeSteps(tolerance=1e-6), 100.0)
    given = release(count, 1.0)
    ends: list[TreeResult] = []

    def run() -> None:
        ends[:] = [Batch(case, given, device=device, threads=threads).run()]

    time = median_time(run, min(repeats, 3))
    told = ", ".join(f"{n} {outcome.name.lower()}" for outcome, n in ends[0].count().items())
    print(f"  to rest, {where}: {count / time:.1f} landings/s; {told}", flush=True)
    return Row(f"to rest, {where}", 1e3 * time / count, "ms/landing")

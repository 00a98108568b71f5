"""Integrators at equal accuracy: the Adams method against RK4 and RK5(4), in slopes and in time."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp
from scipy.integrate import solve_ivp

from alight.cli.bench import Row, turn_by_turn
from alight.core import devices
from alight.core.devices import Device
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.gravity import Polyhedron
from alight.integrators import RK54, pece_kernel, runge_kutta_kernel, solve, step_control
from alight.scenario import bodies

TITLE = "Integrators"

NOTES = """\
Each method at the loosest setting (tolerance, or step of RK4) whose error at the end, and that of
every tighter one, is at most what the row says, against scipy's DOP853 at 1e-13. Rows of the host
solve one problem from Python; *peer* is the method named, *faster* the ratio, of slopes or of times
taken turn by turn. Pendulum: paper 002's example with a stop (its PECE code was 38 % faster than
its RK4). Orbit: e = 0.3, three turns. *error* is that of the Adams method over the one allowed.
Kernel rows: orbits of a day around Itokawa of 1280 facets, one thread a run.
"""


@dataclass(frozen=True)
class Problem:
    """Something to integrate on the host."""

    rhs: Callable
    span: float
    start: Sequence[float]
    limits: tuple[float, ...]
    """Errors of the first component at the end that are asked for."""
    steps: int
    """Steps of RK4 to begin with."""
    longest: float = math.inf
    """No step of the reference is longer, so that it sees the stop."""

    @functools.cached_property
    def truth(self) -> float:
        """The first component at the end."""
        done = solve_ivp(
            self.rhs, (0, self.span), self.start, "DOP853",
            rtol=1e-13, atol=1e-14, max_step=self.longest,
        )  # fmt: skip
        return float(done.y[0, -1])


def orbit(t: float, y: np.ndarray) -> np.ndarray:
    pull = -1.0 / (y[0] * y[0] + y[1] * y[1]) ** 1.5
    return np.array([y[2], y[3], pull * y[0], pull * y[1]])


def pendulum(t: float, y: np.ndarray) -> np.ndarray:
    """As in ``examples/pendulum_on_stop.py``."""
    depth = math.sin(min(1.5, max(0.0, y[0] - math.pi / 6.0)))
    return np.array([y[1], -0.5 * y[0] - 0.05 * y[1] - 1e5 * depth**1.5 * math.sqrt(1 - depth**2)])


PROBLEMS = {
    "pendulum": Problem(pendulum, 10.0, [0.0, math.radians(50.0)], (1e-4, 1e-6), 3000, 1e-3),
    "orbit": Problem(orbit, 20.0, [0.7, 0.0, 0.0, math.sqrt(1.3 / 0.7)], (1e-4, 1e-7, 1e-10), 100),
}

NAMES = {"rk4": "RK4", "rk45": "RK5(4)"}


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    found = []
    for name, problem in PROBLEMS.items():
        for limit in problem.limits:
            print(f"  {name} to {limit:g}", flush=True)
            found += host_rows(name, problem, limit, repeats)
    return found + kernel_rows(device, repeats)


def host_rows(name: str, problem: Problem, limit: float, repeats: int) -> list[Row]:
    """The Adams method against the others where all are within ``limit``."""
    adams, slopes, error = cheapest(problem, "pece", limit)
    found = []
    for method in ("rk4", "rk45"):
        other, others, _ = cheapest(problem, method, limit)
        title = f"{name} to {limit:g}, Adams against {NAMES[method]}"
        ratio = others / slopes
        wrong = error / limit
        count = f"{title}: slopes"
        found.append(
            Row(count, slopes, "slopes", None, others, ratio, error=wrong, error_allowed=1.0)
        )
        mine, theirs, faster = turn_by_turn(adams, other, min(repeats, 3), 1.0)
        asked = 1.38 if (name, method) == ("pendulum", "rk4") else None
        clock = f"{title}: time"
        found.append(Row(clock, 1e3 * mine, "ms", None, 1e3 * theirs, faster, asked))
    return found


def cheapest(problem: Problem, method: str, limit: float) -> tuple[Callable, int, float]:
    """The loosest setting that holds ``limit``, as do the three next tighter ones.

    Returns a call that solves with it, the slopes it takes and its error.
    """
    settings = ladder(problem, method)
    held: list[tuple[Callable, int, float]] = []
    for setting in settings:
        call = functools.partial(
            solve, problem.rhs, (0.0, problem.span), problem.start, method, **setting
        )
        done = call()
        error = abs(done.y[-1, 0] - problem.truth)
        held = [*held, (call, done.evaluations, error)] if done.success and error <= limit else []
        if len(held) == 4:
            return held[0]
    raise RuntimeError(f"{method} does not get to {limit:g}")


def ladder(problem: Problem, method: str) -> list[dict[str, float]]:
    """Settings from loose to tight."""
    if method == "rk4":
        return [{"step": problem.span / round(problem.steps * 1.3**n)} for n in range(24)]
    return [{"rtol": tol, "atol": tol} for tol in 10.0 ** -np.arange(3.0, 13.6, 0.25)]


# Inside a kernel -------------------------------------------------------------------------------

vec6 = wp.types.vector(length=6, dtype=scalar)
RUNS = {True: 32, False: 4096}


@functools.cache
def kernels(data_type, field):
    """Kernels that follow an orbit to its end by the Adams method and by RK5(4)."""

    @wp.func
    def rhs(data: data_type, t: scalar, y: vec6):
        g = field(data, wp.vec3d(y[0], y[1], y[2])).acceleration
        return vec6(y[3], y[4], y[5], g[0], g[1], g[2])

    begin = pece_kernel.begin_function(rhs, vec6, data_type)
    attempt = pece_kernel.attempt_function(rhs, vec6, data_type)
    step = runge_kutta_kernel.step_function(RK54, rhs, vec6, data_type)
    norm = runge_kutta_kernel.error_norm_function(vec6)
    fitted = pece_kernel.laws.fitted

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def adams(
        offset: int,
        data: data_type,
        start: wp.array(dtype=vec6),
        end: scalar,
        first: scalar,
        rtol: scalar,
        atol: vec6,
        phi: wp.array2d(dtype=vec6),
        state_out: wp.array(dtype=vec6),
        slopes_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        t = scalar(0.0)
        run = begin(data, phi, i, t, y, first)
        slopes = int(1)
        while t < end and slopes < 100000:
            h = fitted(run.size, end - t)
            tried = attempt(data, phi, i, run, t, y, h, rtol, atol)
            run = tried.adams
            slopes += 1
            if tried.kept:
                t = wp.where(h == end - t, end, t + h)
                y = tried.y
                slopes += 1
        state_out[i] = y
        slopes_out[i] = slopes

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def rk54(
        offset: int,
        data: data_type,
        start: wp.array(dtype=vec6),
        end: scalar,
        first: scalar,
        rtol: scalar,
        atol: vec6,
        phi: wp.array2d(dtype=vec6),
        state_out: wp.array(dtype=vec6),
        slopes_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        t = scalar(0.0)
        h = first
        k = rhs(data, t, y)
        slopes = int(1)
        while t < end and slopes < 100000:
            left = end - t
            h = wp.min(h, left)
            taken = step(data, t, y, k, h)
            error = norm(y, taken.y, taken.error, rtol, atol)
            slopes += 6
            if runge_kutta_kernel.accepted(error):
                t = wp.where(h == left, end, t + h)
                y = taken.y
                k = taken.slope
            h = runge_kutta_kernel.next_step(h, error, 4, scalar(step_control.GROWTH))
        state_out[i] = y
        slopes_out[i] = slopes

    return adams, rk54


def kernel_rows(device: Device, repeats: int) -> list[Row]:
    """Orbits of a day about Itokawa: slopes and time of a run."""
    print("  orbits in a kernel", flush=True)
    body = bodies.find("itokawa")
    field = Polyhedron(body.mesh(1280), gm=body.gm)
    runs, name = RUNS[device.is_cpu], device.name
    start = orbits(body.gm, runs)
    states = wp.array(start, dtype=vec6, device=name)
    atol = vec6(*[1e-10 * x for x in (1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-4)])

    def prepared(which, rtol):
        out = wp.zeros_like(states)
        slopes = wp.zeros(runs, dtype=int, device=name)
        phi = wp.zeros((pece_kernel.ROWS, runs), dtype=vec6, device=name)
        inputs = [field.data(device), states, 86400.0, 1.0, rtol, atol, phi]

        def call() -> None:
            devices.launch(which, runs, inputs, device, outputs=[out, slopes], threads=1)
            device.synchronize()

        call()
        return call, out.numpy(), slopes.numpy().mean()

    def off(end):
        return (np.linalg.norm((end - truth)[:, :3], axis=1) / size).max()

    adams, rk54 = kernels(field.Data, field.field)
    truth = prepared(rk54, 1e-13)[1]
    size = np.linalg.norm(truth[:, :3], axis=1)
    other, end, many = prepared(rk54, 1e-10)
    allowed = off(end)
    for rtol in 1e-10 / 2.0 ** np.arange(8):
        one, end, few = prepared(adams, rtol)
        if off(end) <= allowed:
            break
    mine, theirs, faster = turn_by_turn(one, other, repeats, 1.0)
    title = f"kernel, orbits to {allowed:.0e}, Adams against RK5(4)"
    count, clock, ratio = f"{title}: slopes", f"{title}: time", many / few
    wrong = off(end) / allowed
    return [
        Row(count, few, "slopes/run", None, many, ratio, error=wrong, error_allowed=1.0),
        Row(clock, 1e3 * mine / runs, "ms/run", None, 1e3 * theirs / runs, faster),
    ]


def orbits(gm: float, count: int) -> np.ndarray:
    """States (count, 6) [m, m/s] of near-circular orbits 500 to 800 m out."""
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(count, 3, 2)))[0]
    radius = rng.uniform(500.0, 800.0, count)[:, None]
    speed = np.sqrt(gm / radius) * rng.uniform(0.95, 1.1, (count, 1))
    return np.hstack([radius * axes[..., 0], speed * axes[..., 1]])

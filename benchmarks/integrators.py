"""Integrators in kernels at equal accuracy: the Adams method against RK4 and RK5(4)."""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import warp as wp
from examples.pendulum_on_stop import Pendulum
from scipy.integrate import solve_ivp

from alight.cli.bench import Row, turn_by_turn
from alight.core import devices
from alight.core.devices import Device
from alight.core.types import scalar
from alight.core.warp_setup import POINT_OPTIONS
from alight.gravity import Polyhedron
from alight.integrators import RK4, RK54, step_control
from alight.integrators.pece_rows import (
    StateRows,
    begin_rows,
    correct_rows,
    give_way,
    keep_rows,
    predict_rows,
    state_rows,
    weigh_step,
)
from alight.integrators.runge_kutta_kernel import (
    accepted,
    error_norm_function,
    next_step,
    step_function,
)
from alight.scenario import bodies

TITLE = "Integrators"

NOTES = """\
Kernels, one thread a run, on one core or a GPU. Each method at the loosest setting (tolerance, or
step of RK4) whose error at the end, and that of the three next tighter ones, is at most what the
row says; *peer* is the method named, *faster* the ratio of slopes, or of times taken turn by turn.
Pendulum: paper 002's example with a stop (its PECE code was 38 % faster than its RK4), against
SciPy's DOP853 at 1e-13. Orbits: of a day around Itokawa of 1280 facets, against RK5(4) at 1e-13.
*error* is that of the Adams method over the one allowed.
"""

vec2 = wp.types.vector(length=2, dtype=scalar)
vec6 = wp.types.vector(length=6, dtype=scalar)
RUNS = {True: 32, False: 4096}


@wp.func
def pendulum_rates(data: int, t: scalar, y: vec2):
    """As in ``examples/pendulum_on_stop.py``."""
    depth = wp.sin(wp.clamp(y[0] - scalar(wp.static(math.pi / 6.0)), scalar(0.0), scalar(1.5)))
    push = scalar(1e5) * wp.pow(depth, scalar(1.5)) * wp.sqrt(scalar(1.0) - depth * depth)
    return vec2(y[1], -scalar(0.5) * y[0] - scalar(0.05) * y[1] - push)


@functools.cache
def orbit_rates(field, data_type):
    """Velocity and pull of an orbit in a gravity field."""

    @wp.func
    def rates(data: data_type, t: scalar, y: vec6):
        g = field(data, wp.vec3d(y[0], y[1], y[2])).acceleration
        return vec6(y[3], y[4], y[5], g[0], g[1], g[2])

    return rates


@functools.cache
def kernels(rates, vector, data_type):
    """Kernels that follow runs to the end: by the Adams method, RK5(4), and RK4 in fixed steps."""
    classic, step = (step_function(each, rates, vector, data_type) for each in (RK4, RK54))
    norm, length = error_norm_function(vector), vector._length_

    @wp.func
    def find_slope(data: data_type, rows: StateRows, slot: int, t: scalar):
        y = vector()
        for k in range(length):
            y[k] = rows.trial[k, slot]
        slope = rates(data, t, y)
        for k in range(length):
            rows.slope[k, slot] = slope[k]

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def adams(
        offset: int,
        data: data_type,
        start: wp.array(dtype=vector),
        end: scalar,
        first: scalar,
        tolerance: scalar,
        rows: StateRows,
        state_out: wp.array(dtype=vector),
        slopes_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        for k in range(length):
            rows.y[k, i] = start[i][k]
            rows.trial[k, i] = start[i][k]
        t = scalar(0.0)
        find_slope(data, rows, i, t)
        run = begin_rows(rows, i, first)
        slopes = int(1)
        while t < end and slopes < 1000000:
            h = run.size
            if scalar(2.0) * h > end - t:
                h = scalar(0.5) * (end - t)
            if run.size >= end - t:
                h = end - t
            step = weigh_step(rows, i, run, h)
            predict_rows(rows, i, run, step)
            find_slope(data, rows, i, t + h)
            found = correct_rows(rows, i, run, step)
            slopes += 1
            if accepted(found.error):
                find_slope(data, rows, i, t + h)
                slopes += 1
                run = keep_rows(rows, i, run, step, found)
                t = wp.where(h == end - t, end, t + h)
            else:
                run = give_way(run, h, found.errors)
        y = vector()
        for k in range(length):
            y[k] = rows.y[k, i]
        state_out[i] = y
        slopes_out[i] = slopes

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def rk54(
        offset: int,
        data: data_type,
        start: wp.array(dtype=vector),
        end: scalar,
        first: scalar,
        tolerance: scalar,
        atol: vector,
        state_out: wp.array(dtype=vector),
        slopes_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        t = scalar(0.0)
        h = first
        k = rates(data, t, y)
        slopes = int(1)
        while t < end and slopes < 1000000:
            left = end - t
            h = wp.min(h, left)
            taken = step(data, t, y, k, h)
            error = norm(y, taken.y, taken.error, tolerance, atol)
            slopes += 6
            if accepted(error):
                t = wp.where(h == left, end, t + h)
                y = taken.y
                k = taken.slope
            h = next_step(h, error, 4, scalar(step_control.GROWTH))
        state_out[i] = y
        slopes_out[i] = slopes

    @wp.kernel(module="unique", enable_backward=False, module_options=POINT_OPTIONS)
    def rk4(
        offset: int,
        data: data_type,
        start: wp.array(dtype=vector),
        end: scalar,
        first: scalar,
        tolerance: scalar,
        atol: vector,
        state_out: wp.array(dtype=vector),
        slopes_out: wp.array(dtype=int),
    ) -> None:
        i = wp.tid() + offset
        y = start[i]
        k = rates(data, scalar(0.0), y)
        count = int(wp.round(end / first))
        for n in range(count):
            taken = classic(data, scalar(n) * first, y, k, first)
            y = taken.y
            k = taken.slope
        state_out[i] = y
        slopes_out[i] = 1 + 4 * count

    return adams, rk54, rk4


class Task(NamedTuple):
    """What to follow, on a device."""

    kernels: tuple
    data: object
    start: np.ndarray
    """(runs, n) states."""
    end: float
    first: float
    allowed: np.ndarray
    """(n,) absolute error of a step, over its tolerance."""

    def prepared(
        self, which: int, device: Device, tolerance: float, first: float | None = None
    ) -> tuple[Callable[[], None], np.ndarray, float]:
        """A call of one of the kernels, the states it leads to and the slopes of a run."""
        runs, n = self.start.shape
        vector, name = {2: vec2, 6: vec6}[n], device.name
        start = wp.array(self.start, dtype=vector, device=name)
        out, slopes = wp.zeros_like(start), wp.zeros(runs, dtype=int, device=name)
        allowed = tolerance * self.allowed
        last: object = vector(*allowed)
        if which == 0:
            last = state_rows(n, runs, allowed, np.full(n, tolerance), device)
        inputs = [self.data, start, self.end, first or self.first, tolerance, last]

        def call() -> None:
            devices.launch(
                self.kernels[which], runs, inputs, device, outputs=[out, slopes], threads=1
            )
            device.synchronize()

        call()
        return call, out.numpy(), float(slopes.numpy().mean())


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table."""
    return pendulum_rows(device, repeats) + orbit_rows(device, repeats)


def compared(title: str, ours: tuple, theirs: tuple, wrong: float, runs: int, repeats: int, asked):
    """Slopes and time of the Adams method beside those of another, per run."""
    (one, _, few), (other, _, many) = ours, theirs
    mine, peer, faster = turn_by_turn(one, other, repeats, 1.0)
    ratio = many / few
    return [
        Row(f"{title}: slopes", few, "slopes", None, many, ratio, error=wrong, error_allowed=1.0),
        Row(f"{title}: time", 1e3 * mine / runs, "ms", None, 1e3 * peer / runs, faster, asked),
    ]


def pendulum_rows(device: Device, repeats: int) -> list[Row]:
    """The pendulum on a stop, to two errors, against both other methods."""
    case, runs = Pendulum(), RUNS[device.is_cpu]
    start = np.tile([0.0, case.speed], (runs, 1))
    every = kernels(pendulum_rates, vec2, int)
    task = Task(every, 0, start, case.span, 1e-4, np.ones(2))
    truth = solve_ivp(
        case.rhs, (0, case.span), start[0], "DOP853", rtol=1e-13, atol=1e-14, max_step=1e-3
    ).y[0, -1]

    def cheapest(which: int, limit: float) -> tuple[tuple, float]:
        """The loosest setting that holds ``limit``, as do the three next tighter ones."""
        tolerances = 10.0 ** -np.arange(3.0, 13.6, 0.25)
        steps = case.span / np.round(3000 * 1.3 ** np.arange(24))
        held: list[tuple] = []
        for setting in steps if which == 2 else tolerances:
            how = (1.0, setting) if which == 2 else (setting, None)
            done = task.prepared(which, device, *how)
            error = abs(done[1][0, 0] - truth)
            held = [*held, (done, error)] if error <= limit else []
            if len(held) == 4:
                return held[0]
        raise RuntimeError(f"method {which} does not get to {limit:g}")

    found = []
    for limit in (1e-4, 1e-6):
        print(f"  pendulum to {limit:g}", flush=True)
        adams, error = cheapest(0, limit)
        for which, name, asked in ((2, "RK4", 1.38), (1, "RK5(4)", None)):
            other, _ = cheapest(which, limit)
            title = f"pendulum to {limit:g}, Adams against {name}"
            found += compared(title, adams, other, error / limit, runs, repeats, asked)
    return found


def orbit_rows(device: Device, repeats: int) -> list[Row]:
    """Orbits of a day about Itokawa, against RK5(4) at 1e-10."""
    print("  orbits", flush=True)
    body, runs = bodies.find("itokawa"), RUNS[device.is_cpu]
    field = Polyhedron(body.mesh(1280), gm=body.gm)
    every = kernels(orbit_rates(field.field, field.Data), vec6, field.Data)
    allowed = np.array([1.0, 1.0, 1.0, 1e-4, 1e-4, 1e-4])
    task = Task(every, field.data(device), orbits(body.gm, runs), 86400.0, 1.0, allowed)
    truth = task.prepared(1, device, 1e-13)[1]

    def off(end: np.ndarray) -> float:
        apart = np.linalg.norm((end - truth)[:, :3], axis=1)
        return float((apart / np.linalg.norm(truth[:, :3], axis=1)).max())

    other = task.prepared(1, device, 1e-10)
    limit = off(other[1])
    for tolerance in 1e-10 / 2.0 ** np.arange(8):
        one = task.prepared(0, device, tolerance)
        if off(one[1]) <= limit:
            break
    title = f"orbits to {limit:.0e}, Adams against RK5(4)"
    return compared(title, one, other, off(one[1]) / limit, runs, repeats, None)


def orbits(gm: float, count: int) -> np.ndarray:
    """States (count, 6) [m, m/s] of near-circular orbits 500 to 800 m out."""
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(count, 3, 2)))[0]
    radius = rng.uniform(500.0, 800.0, count)[:, None]
    speed = np.sqrt(gm / radius) * rng.uniform(0.95, 1.1, (count, 1))
    return np.hstack([radius * axes[..., 0], speed * axes[..., 1]])

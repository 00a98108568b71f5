"""A motion of your own: dust that is thrown up from an asteroid and falls back, or leaves it."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from alight.core.outcomes import Outcome
from alight.core.types import scalar, vec3
from alight.core.warp_setup import POINT_OPTIONS
from alight.engine import BatchResult, run_batch, simulate
from alight.engine.columns import RUN, Column, Columns, vector
from alight.engine.motion import Launch, Loop, Motion, Pace, Start, new_records
from alight.engine.records import Touch, joined
from alight.gravity import Gravity, PointMass

SETTLED = wp.constant(int(Outcome.SETTLED))
ESCAPED = wp.constant(int(Outcome.ESCAPED))


@wp.struct
class Grain:
    """What a step changes; the first five fields every motion has."""

    t: scalar  # [s]
    phase: int
    outcome: int
    steps: int
    touches: int
    x: vec3  # [m]
    v: vec3  # [m/s]


@wp.struct
class GrainNotes:
    """What is kept beside it: number of the run, row of its parameters, contact under way."""

    number: int
    row: int
    touch: Touch


@wp.struct
class GrainMemory:
    """Notes of the runs in slots."""

    notes: wp.array(dtype=GrainNotes)


@wp.struct
class GrainLimits:
    """When a run ends, and its steps."""

    max_steps: int
    step: scalar  # [s]
    ground: scalar  # radius of the body [m]
    far: scalar  # [m]


@functools.cache
def dust_loop(field: Any, field_data: Any) -> Loop:
    """What the kernel is made from, for one gravity law."""

    @wp.struct
    class World:
        gravity: field_data
        limits: GrainLimits

    @wp.func
    def step(world: World, run: Grain, memory: GrainMemory, slot: int):
        """Half a drift, a kick, half a drift."""
        out = run
        half = scalar(0.5) * world.limits.step
        x = run.x + half * run.v
        value = field(world.gravity, x)
        out.v = run.v + world.limits.step * value.acceleration
        out.x = x + half * out.v
        out.t = run.t + world.limits.step
        out.steps += 1
        r = wp.length(out.x)
        if r < world.limits.ground:
            out.outcome = SETTLED
        if r > world.limits.far:
            out.outcome = ESCAPED
        return out

    @wp.func
    def account(world: World, run: Grain, memory: GrainMemory, slot: int, before: int):
        return run

    @wp.func
    def told(run: Grain, before: int):
        return True

    @wp.func
    def line(
        world: World,
        run: Grain,
        memory: GrainMemory,
        slot: int,
        before: int,
        lines: wp.array2d(dtype=scalar),
        row: int,
    ):
        lines[row, 0] = run.t
        for i in range(3):
            lines[row, 1 + i] = run.x[i]

    whole = Launch("flight", step, account)
    return Loop(World, Grain, GrainMemory, whole, told, line, POINT_OPTIONS)


@dataclass(frozen=True)
class Throw:
    """Places (n, 3) [m] and velocities (n, 3) [m/s] of grains."""

    x: np.ndarray
    v: np.ndarray

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True)
class Dust(Motion):
    """Grains about a body of ``radius`` [m]; steps of ``step`` [s], gone beyond ``far`` [m]."""

    gravity: Gravity
    radius: float
    far: float
    step: float = 1.0
    max_steps: int = 1_000_000

    Release = Throw
    title = "Grains"

    def loop(self) -> Loop:
        """What the kernel is made from."""
        return dust_loop(self.gravity.field, self.gravity.Data)

    def pace(self, device):
        """As many runs and steps at once as the engine likes."""
        return Pace()

    def data(self, device):
        """Parameters as the kernel reads them."""
        world = self.loop().World()
        world.gravity = self.gravity.data(device)
        limits = GrainLimits()
        limits.max_steps, limits.step = self.max_steps, self.step
        limits.ground, limits.far = self.radius, self.far
        world.limits = limits
        return world

    def start(self, release, device, threads):
        """Grains where they are thrown from."""
        runs, notes = new_records(Grain, len(release)), new_records(GrainNotes, len(release))
        runs["x"], runs["v"] = release.x, release.v
        notes["number"] = np.arange(len(release))
        return Start(runs, notes)

    layout = ()

    def memory(self, slots, device, room=()):
        """What runs keep in memory."""
        memory = GrainMemory()
        memory.notes = wp.zeros(slots, dtype=GrainNotes, device=device.name)
        return memory

    line_width = 4

    def line_phase(self, lines):
        """There is one phase."""
        return np.zeros(len(lines))

    def result(self, runs, touches, threads):
        """Last states of the grains."""
        return BatchResult(joined(runs.runs, runs.notes), touches)

    columns = Columns(
        (
            RUN,
            Column("end_time", "s", "when it fell or left", "final.t"),
            *vector("end_", "m", "where", "final.x"),
        )
    )

    def solution(self, batch, result):
        """Time [s] and places [m] of the only grain."""
        lines = np.concatenate(batch.histories[0].parts)
        return lines[:, 0], lines[:, 1:]


if __name__ == "__main__":
    gm, radius = 30.0, 450.0
    escape = math.sqrt(2.0 * gm / radius)
    speeds = np.array([0.3, 0.6, 0.9, 1.1]) * escape
    up = np.array([1.0, 0.0, 0.0])
    dust = Dust(PointMass(gm), radius, far=20.0 * radius, step=0.5)
    for part, v in zip(("0.3", "0.6", "0.9"), speeds, strict=False):
        time, x = simulate(dust, Throw(radius * up[None], v * up[None]))
        top = radius / (1.0 - (v / escape) ** 2)
        print(
            f"{part} of the escape speed: rises to {x[:, 0].max():.2f} m, closed form {top:.2f} m"
        )
    result = run_batch(dust, Throw(np.tile(radius * up, (4, 1)), speeds[:, None] * up))
    for v, outcome in zip(speeds, result.outcome, strict=True):
        print(f"{v:.3f} m/s: {Outcome.of(outcome)}")

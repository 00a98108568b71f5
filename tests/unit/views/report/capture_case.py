"""A made-up campaign of captures with the columns of a real one, without simulating.

What comes of a capture follows from spin, mass and friction by plain formulas: a test knows what a
report must say. Asteroids of more than 900 t reach past the rim; friction below 0.3 keeps moving.
"""

import json
import pathlib
import sys
from types import SimpleNamespace

import numpy as np

from alight.campaign.plan import Plan
from alight.campaign.shard_store import Shard, runs_name, trajectory_name, write_shard, write_whole
from alight.core.outcomes import Outcome
from alight.motions.capture.craft import Spacecraft
from alight.motions.capture.result import ROW
from alight.shapes import icosphere
from alight.views.figures.capture.scene import Look

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from tables_case import capture_course, capture_table, input_columns, to_bytes

LIMIT, DURATION, CONTACT = 1765.0, 180.0, 10.0

SCENARIO = {
    "kind": "capture",
    "title": "Made-up captures",
    "seed": 3,
    "asteroid": {
        "shapes": ["pear", "bennu"],
        "facets": 80,
        "length": "8 m",
        "mass": "500 t",
        "spin": "0.3 rpm",
        "axis": [0.3, 0.2, 0.93],
    },
    "spacecraft": {"moment_limit": "1765 N*m"},
    "approach": {"controller": "corkscrew", "thrust": "475 N"},
    "stop": {"duration": "180 s"},
    "dispersions": {
        "asteroid.spin": {"kind": "uniform", "low": "0.1 rpm", "high": "0.5 rpm"},
        "asteroid.mass": {"kind": "uniform", "low": "100 t", "high": "1000 t"},
        "membrane.friction": {"kind": "uniform", "low": 0.1, "high": 1.0},
        "approach.offset": {"kind": "normal", "sigma": "0.3 m"},
    },
}
UNITS = {
    "asteroid.spin": ("rad/s",), "asteroid.mass": ("kg",), "membrane.friction": ("",),
    "approach.offset": ("m", "m"),
}  # fmt: skip


def make_captures(folder, runs=200, shard=100, *, shards=None, trajectories=(), change=None):
    """Write a campaign into ``folder``; ``change(rows)`` may alter what came of the runs."""
    place = pathlib.Path(folder)
    versions = {"alight": "0.1", "warp-lang": "1.19"}
    plan = Plan(
        scenario=SCENARIO, total=runs, shard=shard, sampling="random", device="cpu",
        versions=versions,
    )  # fmt: skip
    write_whole(place / "plan.json", plan.to_json())
    write_whole(place / "scenario.toml", json.dumps(SCENARIO).encode())
    for number in range(plan.shards if shards is None else shards):
        write_shard(place, plan, _shard(plan, number, trajectories, change))
    return place


def _shard(plan, number, trajectories, change):
    runs = plan.runs(number)
    values = drawn(runs)
    rows = rows_of(runs, values)
    if change is not None:
        change(rows)
    more = input_columns(values, UNITS)
    files = {runs_name(number): to_bytes(capture_table(rows, 5.0 + rows["mass_kg"] / 2e5, more))}
    for run in sorted(set(trajectories) & set(runs.tolist())):
        files[trajectory_name(run)] = to_bytes(capture_course(run, _flight(rows[run - runs[0]])))
    codes, counts = np.unique(rows["outcome"], return_counts=True)
    return Shard(number, files, 0, {int(c): int(n) for c, n in zip(codes, counts, strict=True)})


def drawn(runs):
    """The dispersed values of runs, by key."""
    rng = np.random.default_rng(int(runs[0]) + 5)
    n = len(runs)
    return {
        "asteroid.spin": rng.uniform(0.1, 0.5, n) * np.pi / 30.0,
        "asteroid.mass": rng.uniform(1e5, 1e6, n),
        "membrane.friction": rng.uniform(0.1, 1.0, n),
        "approach.offset": rng.normal(0.0, 0.3, (n, 2)),
    }


def rows_of(runs, values):
    """Records of ``ROW``."""
    rows = np.zeros(len(runs), dtype=ROW)
    spin, mass, friction = (
        values[key] for key in ("asteroid.spin", "asteroid.mass", "membrane.friction")
    )
    rows["run"], rows["shape"] = runs, runs % 2
    rows["spin_rpm"], rows["mass_kg"], rows["friction"] = spin * 30.0 / np.pi, mass, friction
    rim = mass > 9e5
    rows["outcome"] = np.where(friction < 0.3, Outcome.TIMED_OUT, Outcome.HELD)
    rows["outcome"][rim] = Outcome.RIM
    rows["success"] = ~rim
    rows["end_s"], rows["contact_s"] = np.where(rim, 60.0, DURATION), CONTACT
    held = rows["outcome"] == Outcome.HELD
    rows["settle_s"] = np.where(held, 100.0 - 50.0 * friction, np.nan)
    rows["lost_s"] = np.nan
    rows["bending_nm"] = rows["bending_1_nm"] = 100.0 + 4e-4 * mass
    rows["margin"] = LIMIT / rows["bending_nm"] - 1.0
    rows["torsion_nm"], rows["force_n"] = 5.0 + friction, 900.0 + 400.0 * rows["spin_rpm"]
    rows["depth_m"] = 3.0 + mass / 1e6
    rows["clearance_m"] = 6.0 - rows["depth_m"]
    rows["slip_m"], rows["relative_rpm"] = 1.0 / friction, 0.1 * rows["spin_rpm"]
    rows["pair_rpm"], rows["axis_deg"] = 0.9 * rows["spin_rpm"], 90.0 * friction
    rows["offset_m"], rows["needed_n"] = 8.0, 1000.0 * rows["spin_rpm"]
    rows["propellant_kg"] = 28.0 + rows["spin_rpm"]
    return rows


def _flight(row, count=61):
    """The craft sinks on to the asteroid and turns with it."""
    craft = Spacecraft()
    time = np.linspace(0.0, float(row["end_s"]), count)
    q, v = np.tile(craft.tree.neutral(), (count, 1)), np.zeros((count, craft.tree.n_v))
    half = 0.5 * float(row["spin_rpm"]) * np.pi / 30.0 * time
    turn = np.stack([0.0 * half, 0.0 * half, np.sin(half), np.cos(half)], axis=1)
    q[:, 2], q[:, 3:7] = -14.0 + 3.0 * np.tanh(time / 20.0), turn
    loads = np.zeros((1, count), dtype=[("force", np.float64, 3), ("lowest", np.float64)])
    loads["force"][0, :, 2] = np.where(time > CONTACT, 475.0, 0.0)
    loads["lowest"][0] = -3.0 * np.clip(time - CONTACT, 0.0, 10.0) / 10.0
    sums = np.zeros((1, count, 7))
    sums[0, :, 3] = row["slip_m"] * time / time[-1]
    bending = row["bending_nm"] * np.abs(np.sin(time))[None, :, None] * np.array([1.0, 0.6])
    zero = np.zeros((1, count, 3))
    return SimpleNamespace(
        craft=craft, records=np.array([count]), time=time, q=q[None], v=v[None], loads=loads,
        position=zero, velocity=zero, attitude=turn[None], rate=zero, bending=bending, sums=sums,
        relative_rate=np.full((1, count), 0.005), pair_rate=np.full((1, count), 0.05),
        axis_angle=np.linspace(0.0, 1.2, count)[None],
    )  # fmt: skip


def plain_look(run=0):
    """A ball under a flat membrane: nothing is computed for it."""
    ring = Spacecraft().suspension
    flat = SimpleNamespace(below=False)
    return Look(icosphere(1, 4.0), 3.0, 6.0, 2.5, 5.0, ring, lambda place, attitude: flat)

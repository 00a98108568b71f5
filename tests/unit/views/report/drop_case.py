"""A made-up campaign of drops with the columns of a real one, without simulating.

A body of 100 kg comes at 14 m/s and so brings 9800 J. Friction takes half its coefficient of that,
the fabric 40 %; what is left it leaves with. Bodies with friction above 0.55 stay on the membrane;
every 50th reaches past the rim.
"""

import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from alight.campaign.plan import Plan
from alight.campaign.shard_store import Shard, runs_name, trajectory_name, write_shard, write_whole

IMPACT, BROUGHT, CONTACT, END = 14.0, 9800.0, 1.25, 3.0
TIMED_OUT, RIM = 3, 24

SCENARIO = {
    "kind": "drop",
    "title": "Made-up drops",
    "seed": 3,
    "body": {"shape": "castalia", "mass": "100 kg"},
    "stop": {"duration": "3 s"},
    "dispersions": {
        "membrane.friction": {"kind": "uniform", "low": 0.1, "high": 0.6},
        "release.height": {"kind": "normal", "sigma": "0.1 m"},
    },
}
COLUMNS = (
    "run", "outcome", "ending", "end_s", "first_contact_s", "slack_s", "release_s", "contacts",
    "depth_m", "tension_n_per_m", "force_n", "slip_m", "impact_m_s", "rebound_m_s", "brought_j",
    "moving_j", "damped_j", "rubbed_j", "steps",
)  # fmt: skip


def make_drops(folder, runs=200, *, trajectories=(), change=None, without=(), **changes):
    """Write a campaign of one shard into ``folder``; ``change(rows)`` may alter what came of it."""
    place = pathlib.Path(folder)
    plan = Plan(
        scenario={**SCENARIO, **changes}, total=runs, shard=runs, sampling="random", device="cpu",
        versions={"alight": "0.1"},
    )  # fmt: skip
    write_whole(place / "plan.json", plan.to_json())
    write_whole(place / "scenario.toml", json.dumps(plan.scenario).encode())
    rows = rows_of(runs)
    if change is not None:
        change(rows)
    table = pa.table({name: _known(rows[name]) for name in rows if name not in without})
    files = {runs_name(0): _bytes(table)}
    for run in trajectories:
        files[trajectory_name(run)] = _bytes(pa.table(_course(rows, run)))
    codes, counts = np.unique(rows["outcome"], return_counts=True)
    told = {int(c): int(n) for c, n in zip(codes, counts, strict=True)}
    write_shard(place, plan, Shard(0, files, 0, told))
    return place


def rows_of(runs):
    """What came of the runs, by column."""
    rng = np.random.default_rng(4)
    friction = rng.uniform(0.1, 0.6, runs)
    rows = {name: np.zeros(runs) for name in COLUMNS}
    rows["run"], rows["steps"] = np.arange(runs), np.full(runs, 500)
    rim = np.arange(runs) % 50 == 49
    left = (friction < 0.55) & ~rim
    rows["outcome"] = np.where(rim, RIM, TIMED_OUT).astype(np.int32)
    rows["ending"] = np.where(rim, "rim", "timed_out")
    rows["end_s"], rows["first_contact_s"] = np.full(runs, END), np.full(runs, CONTACT)
    rows["slack_s"] = rows["release_s"] = np.where(left, CONTACT + 0.7 + friction, np.nan)
    rows["contacts"] = np.ones(runs, np.int64)
    rows["depth_m"], rows["force_n"] = 3.5 - friction, 9000.0 + 2000.0 * friction
    rows["tension_n_per_m"], rows["slip_m"] = 700.0 - 50.0 * friction, 0.5 / friction
    rows["impact_m_s"] = np.full(runs, IMPACT)
    rows["rebound_m_s"] = np.where(left, IMPACT * (0.6 - 0.5 * friction), np.nan)
    rows["brought_j"], rows["damped_j"] = np.full(runs, BROUGHT), np.full(runs, 0.4 * BROUGHT)
    rows["rubbed_j"] = 0.5 * friction * BROUGHT
    rows["moving_j"] = BROUGHT - rows["damped_j"] - rows["rubbed_j"]
    rows["membrane.friction"], rows["release.height_m"] = friction, rng.normal(10.0, 0.1, runs)
    return rows


def _known(values):
    if values.dtype.kind == "f":
        return pa.array(values, mask=np.isnan(values))
    return pa.array(values)


def _course(rows, run, count=61):
    """Down to the greatest depth half a second after contact, and up again."""
    time = np.linspace(0.0, END, count)
    down = np.clip(1.0 - ((time - CONTACT - 0.5) / 0.5) ** 2, 0.0, None)
    zero, one = np.zeros(count), np.ones(count)
    part = np.clip((time - CONTACT) / 1.0, 0.0, 1.0)
    found = {"run": np.full(count, run), "time_s": time}
    for name in ("body", "carrier"):
        found |= {f"{name}_{axis}_m": zero for axis in "xyz"}
        found |= {f"{name}_v{axis}_m_per_s": zero for axis in "xyz"}
        found |= {f"{name}_q{axis}": one if axis == "w" else zero for axis in "xyzw"}
        found |= {f"{name}_w{axis}_rad_per_s": zero for axis in "xyz"}
    depth = rows["depth_m"][run] * down
    found["body_z_m"] = 10.0 * (1.0 - time / CONTACT) * (time < CONTACT) - depth
    found["body_vz_m_per_s"] = np.gradient(found["body_z_m"], time)
    found |= {"in_contact": depth > 0.0, "force_N": rows["force_n"][run] * down, "depth_m": depth}
    found |= {"slip_m": rows["slip_m"][run] * part, "tension_N_per_m": 700.0 * down}
    found |= {"damped_J": rows["damped_j"][run] * part, "rubbed_J": rows["rubbed_j"][run] * part}
    return found


def _bytes(table):
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    return out.getvalue().to_pybytes()

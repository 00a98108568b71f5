"""A made-up campaign with the columns of a real one, in any number of runs, without simulating.

Landers fall from 60 m over 20° N, 40° E of a ball of 440 m. Where they rest, when, and how hard
they hit follows from what is dispersed by plain formulas: a test knows what a report must say.
"""

import json
import pathlib
import sys
from types import SimpleNamespace

import numpy as np

from alight.campaign.plan import Plan
from alight.campaign.shard_store import (
    Shard,
    contacts_name,
    runs_name,
    trajectory_name,
    write_shard,
    write_whole,
)
from alight.core import frames
from alight.core.outcomes import Outcome
from alight.engine.records import Touch
from alight.motions.rigid.state import final_states

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # tests are no package

from tables_case import contact_table, input_columns, run_table, to_bytes, trajectory_table

RADIUS = 440.0
GRAVITY = 1.5e-4
PLACE = np.radians([20.0, 40.0])

SCENARIO = {
    "title": "MINERVA-II-1 on Ryugu",
    "seed": 7,
    "body": {"name": "Ryugu", "facets": 1280},
    "gravity": {"law": "reduced", "linearise": "5 m"},
    "lander": {"name": "MINERVA-II-1", "points": 32},
    "release": {"latitude": "20 deg", "longitude": "40 deg", "height": "60 m"},
    "contact": {"restitution": 0.6, "friction": 0.6},
    "dispersions": {
        "release.velocity": {"kind": "normal", "sigma": "5 cm/s"},
        "release.height": {"kind": "normal", "sigma": "5 m"},
        "contact.restitution": {"kind": "uniform", "low": 0.5, "high": 0.7},
    },
}
UNITS = {"release.velocity": ("m/s",) * 3, "release.height": ("m",), "contact.restitution": ("",)}


def make_campaign(
    folder,
    runs=400,
    shard=100,
    *,
    shards=None,
    escaped=0.02,
    ending=Outcome.ESCAPED,
    trajectories=(),
    radius=None,
    depth=None,
    endings=None,
    **changes,
):
    """Write a campaign of ``runs`` into ``folder``; only its first ``shards`` if given.

    A share ``escaped`` of the runs ends as ``ending``, the others settle.
    ``radius(latitude, longitude)`` [rad] is that of the ground [m]; ``depth`` [m] is how deep hull
    and ground stand in each other, in every other run that rests; ``endings`` are those of stops,
    by code; ``changes`` replace parts of the scenario.
    """
    place = pathlib.Path(folder)
    plan = Plan(
        scenario={**SCENARIO, **changes},
        total=runs,
        shard=shard,
        sampling="random",
        device="cpu",
        versions={"alight": "0.1", "warp-lang": "1.19"},
        endings=endings or {},
    )
    write_whole(place / "plan.json", plan.to_json())
    write_whole(place / "scenario.toml", _toml(plan.scenario).encode())
    for number in range(plan.shards if shards is None else shards):
        shard = _shard(plan, number, (escaped, ending), trajectories, radius, depth)
        write_shard(place, plan, shard)
    return place


def _toml(scenario):
    values = {key: value for key, value in scenario.items() if not isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    for name, table in scenario.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]"]
            for key, value in table.items():
                text = json.dumps(value, ensure_ascii=False)
                if isinstance(value, dict):
                    key = f'"{key}"'
                    text = (
                        "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items()) + " }"
                    )
                lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"


def drawn(runs):
    """The dispersed values of runs, by key."""
    rng = np.random.default_rng(int(runs[0]) + 11)
    n = len(runs)
    return {
        "release.velocity": rng.normal(0.0, 0.05, (n, 3)),
        "release.height": rng.normal(60.0, 5.0, n),
        "contact.restitution": rng.uniform(0.5, 0.7, n),
    }, rng


def _shard(plan, number, others, trajectories, radius, depth):
    runs = plan.runs(number)
    values, rng = drawn(runs)
    final = _final(values, rng, *others, radius)
    inside = None
    if depth is not None:
        inside = np.ma.masked_array(depth * (runs % 2), final["outcome"] != Outcome.SETTLED)
    table = run_table(runs, final, input_columns(values, UNITS), inside)
    files = {
        runs_name(number): to_bytes(table),
        contacts_name(number): to_bytes(
            contact_table(np.zeros(0, np.int64), np.zeros(0, Touch.numpy_dtype()))
        ),
    }
    for run in set(trajectories) & set(runs.tolist()):
        row = final[run - runs[0]]
        files[trajectory_name(run)] = to_bytes(trajectory_table(run, _course(row)))
    codes, counts = np.unique(final["outcome"], return_counts=True)
    return Shard(number, files, 0, {int(c): int(k) for c, k in zip(codes, counts, strict=True)})


def _final(values, rng, escaped, ending, radius):
    """Falls last sqrt(2 h/g); bounces carry on for as long again as restitution says."""
    n = len(values["release.height"])
    v, h, e = (values[key] for key in ("release.velocity", "release.height", "contact.restitution"))
    fall = np.sqrt(2.0 * np.clip(h, 1.0, None) / GRAVITY)
    speed = np.hypot(GRAVITY * fall, v[:, 2])
    whole = fall * (1.0 + 2.0 * e / (1.0 - e)) * rng.lognormal(0.0, 0.1, n)
    out = final_states(n)
    out["outcome"] = np.where(rng.random(n) < escaped, ending, Outcome.SETTLED)
    out["t"], out["first_time"], out["first_speed"] = whole, fall, speed
    first = v[:, :2] * fall[:, None]
    rest = first * 1.6 + rng.normal(0.0, 8.0, (n, 2)) * [1.0, 0.7]
    out["first_place"], out["x"] = _ground(first, radius), _ground(rest, radius)
    out["q"][:, 3] = 1.0
    out["touches"] = 4 + rng.poisson(20.0 * e)
    out["path"] = 1.3 * h + 2.0 * np.linalg.norm(rest, axis=1)
    out["hardest"] = speed * rng.uniform(1.0, 1.1, n)
    out["peak_force"] = 60.0 * speed * rng.lognormal(0.0, 0.25, n)
    return out


def _ground(flat, radius):
    """Points of the ground east and north [m] of the nominal place."""
    latitude = PLACE[0] + flat[:, 1] / RADIUS
    longitude = PLACE[1] + flat[:, 0] / (RADIUS * np.cos(PLACE[0]))
    height = RADIUS if radius is None else radius(latitude, longitude)[:, None]
    return frames.direction(latitude, longitude) * height


def _course(row):
    """Parabolas between the release and the place of rest, each hop half as long as the last."""
    rest = np.array(row["x"])
    east, north, up = frames.local_frame(rest).T
    hops = np.array([row["first_time"], *(row["first_time"] * 0.9 * 0.6**k for k in range(12))])
    start = rest + 60.0 * up - 40.0 * east - 25.0 * north
    ends = np.cumsum(hops)
    time, place, velocity = [], [], []
    for k, length in enumerate(hops):
        t = np.linspace(0.0, length, 6)
        part = (ends[k] - length + t) / ends[-1]
        rise = 0.0 if k == 0 else 0.5 * GRAVITY * length
        height = 60.0 if k == 0 else 0.0
        z = height + rise * t - 0.5 * GRAVITY * t * t
        level = start - 60.0 * up + np.outer(part, rest - start + 60.0 * up)
        time.append(ends[k] - length + t)
        place.append(level + np.outer(z, up))
        along = (rest - start + 60.0 * up) / ends[-1]
        velocity.append(along + np.outer(rise - GRAVITY * t, up))
    time, place, velocity = (np.concatenate(x) for x in (time, place, velocity))
    n = len(time)
    moving = 0.5 * 1.1 * (velocity**2).sum(axis=1)
    weight = 1.1 * GRAVITY * ((place - rest) @ up)
    zero = np.zeros(n)
    energy = SimpleNamespace(
        total=moving + weight, linear=moving, angular=zero, centrifugal=zero, gravity=weight,
        elastic=zero,
    )  # fmt: skip
    return SimpleNamespace(
        time=time, position=place, velocity=velocity, attitude=np.tile([0.0, 0, 0, 1], (n, 1)),
        rate=np.zeros((n, 3)), in_contact=np.zeros(n, bool), normal_force=zero, energy=energy,
    )  # fmt: skip

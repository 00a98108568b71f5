"""Reports of a thousand runs and of a million: how long ``alight report`` takes, and its memory.

``python -m benchmarks.reports SOURCE OUT RUNS`` makes a large campaign alone, to look at by hand.
"""

import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from alight.campaign.plan import PLAN_FILE, Plan
from alight.campaign.reader import Campaign, open_campaign
from alight.campaign.shard_store import (
    Shard,
    contacts_name,
    runs_name,
    trajectory_name,
    write_shard,
    write_whole,
)
from alight.campaign.tables.arrow import to_bytes
from alight.cli.bench import Row
from alight.core.devices import Device
from alight.core.outcomes import Outcome

TITLE = "Reports"

NOTES = """\
`alight report` of MINERVA-II-1 landings on Ryugu: with maps, pictures, light and sensitivities, in
a process of its own, its start included. A thousand runs are simulated; the larger campaigns repeat
their shards of 250 runs with every number changed by a thousandth or so, contacts and all. Memory
is the largest that the process and those it draws with had together (PSS). *error* is the largest
relative difference of medians, 95 % quantiles, areas of ellipses and shares in the report from
those of a plain computation on the whole tables.
"""

SCENARIO = pathlib.Path(__file__).parents[1] / "scenarios" / "ryugu_minerva.toml"

#: Runs of a campaign, and what its report may take: seconds, and gigabytes.
CASES = ((1_000, 5.0, 2.0), (100_000, None, None), (1_000_000, 60.0, 2.0))

#: Quantities that are compared.
QUANTITIES = (
    "settle_time_s", "first_contact_time_s", "first_contact_normal_speed_m_per_s", "peak_force_N",
)  # fmt: skip


def rows(device: Device, repeats: int = 3) -> list[Row]:
    """Time and memory of each campaign."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        source = pathlib.Path(place) / "source"
        _alight("campaign", str(SCENARIO), "--runs", str(CASES[0][0]), "--out", str(source))
        for runs, seconds, memory in CASES:
            print(f"  a report of {runs} runs", flush=True)
            folder = pathlib.Path(place) / f"runs-{runs}"
            grown(source, folder, runs)
            found += _case(folder, runs, seconds, memory, repeats if runs <= 1000 else 1)
    return found


def _case(
    folder: pathlib.Path, runs: int, seconds: float | None, memory: float | None, repeats: int
) -> list[Row]:
    error = difference(_report(folder).told, open_campaign(folder))
    made = [_report(folder) for _ in range(repeats)]
    took = sorted(one.seconds for one in made)[repeats // 2]
    peak = max(one.memory for one in made) / 1e9
    title = f"{runs} runs"
    return [
        Row(title, took, "s", asked=seconds, error=error, error_allowed=1e-12),
        Row(f"{title}: memory", peak, "GB", asked=memory),
    ]


# -- a large campaign -------------------------------------------------------------------------


def grown(source: pathlib.Path, out: pathlib.Path, runs: int) -> None:
    """Write a campaign of ``runs`` that repeats the shards of one, its numbers a little changed."""
    small = open_campaign(source)
    plan = dataclasses.replace(small.plan, total=runs)
    out.mkdir()
    write_whole(out / PLAN_FILE, plan.to_json())
    write_whole(out / "scenario.toml", (source / "scenario.toml").read_bytes())
    parts = list(zip(small.shards("runs"), small.shards("contacts"), strict=True))
    for number in range(plan.shards):
        shard = _repeated(plan, number, *parts[number % len(parts)])
        if number == 0:
            for run in small.trajectories:
                name = trajectory_name(run)
                shard.files[name] = (source / name).read_bytes()
        write_shard(out, plan, shard)


def _repeated(plan: Plan, number: int, table: Any, contacts: Any) -> Shard:
    runs = plan.runs(number)
    table = table.slice(0, len(runs))
    old = table.column("run").to_numpy()
    rng = np.random.default_rng(number)
    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            factor = pa.array(1.0 + 1e-3 * rng.standard_normal(len(runs)))
            table = table.set_column(place, field, pa.compute.multiply(table[field.name], factor))
    table = table.set_column(0, table.schema.field("run"), pa.array(runs))
    touched = contacts.column("run").to_numpy()
    contacts = contacts.filter(pa.array(touched <= old[-1]))
    moved = contacts.column("run").to_numpy() - old[0] + runs[0]
    contacts = contacts.set_column(0, contacts.schema.field("run"), pa.array(moved))
    files = {runs_name(number): to_bytes(table), contacts_name(number): to_bytes(contacts)}
    codes, counts = np.unique(table.column("outcome_code").to_numpy(), return_counts=True)
    ended = {int(code): int(n) for code, n in zip(codes, counts, strict=True)}
    return Shard(number, files, contacts.num_rows, ended)


# -- is it right ------------------------------------------------------------------------------


def difference(told: dict[str, Any], campaign: Campaign) -> float:
    """Largest relative difference of a report's numbers from those of the whole tables."""
    names = ["outcome_code", *QUANTITIES, *(f"rest_{axis}_m" for axis in "xyz")]
    table = pa.concat_tables([pq.read_table(file, columns=names) for file in campaign.files()])
    known = {name: table[name].to_numpy(zero_copy_only=False) for name in names}
    pairs = [(told["runs"], table.num_rows)]
    escaped = known["outcome_code"] == Outcome.ESCAPED
    pairs.append((told["escaped_share"]["value"], escaped.mean()))
    for name in QUANTITIES:
        finite = known[name][np.isfinite(known[name].astype(np.float64))]
        for key, part in (("median", 0.5), ("p95", 0.95)):
            pairs.append((told[name][key]["value"], np.quantile(finite, part)))
    rest = np.stack([known[f"rest_{axis}_m"] for axis in "xyz"], axis=1)
    middle = np.nanmedian(rest, axis=0)
    pairs += [(told["rest"][f"{axis}_m"], middle[k]) for k, axis in enumerate("xyz")]
    pairs += [
        (one["area_m2"]["value"], _area(rest, middle, one["share"]))
        for one in told["rest"]["ellipses"]
    ]
    return max(abs(a - b) / max(abs(b), 1e-300) if a != b else 0.0 for a, b in pairs)


def _area(rest: np.ndarray, middle: np.ndarray, share: float) -> float:
    """Area of the ellipse of the covariance, east and north, that holds a share of the places."""
    up = middle / np.linalg.norm(middle)
    east = np.cross([0.0, 0.0, 1.0], up)
    east /= np.linalg.norm(east)
    flat = (rest[np.isfinite(rest[:, 0])] - middle) @ np.stack([east, np.cross(up, east)], axis=1)
    flat = flat - flat.mean(axis=0)
    cov = np.cov(flat.T)
    out = np.sort(np.einsum("ni,ij,nj->n", flat, np.linalg.inv(cov), flat))
    return float(np.pi * np.sqrt(np.linalg.det(cov)) * out[int(np.ceil(share * len(out))) - 1])


# -- time and memory --------------------------------------------------------------------------


@dataclasses.dataclass
class Made:
    """A report that was made."""

    told: dict[str, Any]
    seconds: float
    memory: int
    """[bytes]"""


def _alight(*words: str) -> str:
    command = [sys.executable, "-m", "alight", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _report(folder: pathlib.Path) -> Made:
    start = time.perf_counter()
    command = [sys.executable, "-m", "alight", "report", str(folder), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watch = _Watch(process.pid)
        said, _ = process.communicate()
        seconds = time.perf_counter() - start
        memory = watch.end()
    if process.returncode:
        raise RuntimeError(f"alight report {folder} failed")
    return Made(json.loads(said), seconds, memory)


class _Watch:
    """The largest memory of a process and its children, looked at ten times a second."""

    def __init__(self, process: int) -> None:
        self._process, self._most, self._over = process, 0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            self._most = max(self._most, _memory(self._process))

    def end(self) -> int:
        """What it was [bytes]."""
        self._over.set()
        self._thread.join()
        return self._most


def _memory(process: int) -> int:
    """Proportional set sizes of a process and all below it [bytes]: shared pages count once."""
    place = pathlib.Path(f"/proc/{process}")
    try:
        lines = (place / "smaps_rollup").read_text().splitlines()
        children = (place / "task" / str(process) / "children").read_text().split()
    except OSError:  # it has ended
        return 0
    own = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
    return own + sum(_memory(int(child)) for child in children)


if __name__ == "__main__":
    grown(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))

"""What a campaign asks of the host for each run, part by part: what a GPU waits for.

Threads of a campaign share Python's lock, so what they do adds up: a rate of 500 runs a second
leaves 2 ms a run for all parts together. Kernels are left out but for those that place releases.
"""

import pathlib
import tempfile
import time
from contextlib import contextmanager
from typing import Any

import numpy as np

from alight.campaign.dispersions.sampling import sample
from alight.campaign.jobs.job import Job
from alight.campaign.jobs.shard import Drawn, Work
from alight.campaign.plan import Plan, make_plan
from alight.campaign.shard_store import SEALS, write_shard
from alight.cli.bench import Row
from alight.core import devices
from alight.core.devices import Device
from alight.core.outcomes import Outcome
from alight.engine.batch import Batch
from alight.engine.lot import Lot
from alight.engine.records import Touch, rows_of, stacked
from alight.engine.worlds import Worlds
from alight.scenario import load
from alight.scenario.shipped_scenarios import find

TITLE = "Work of the host a run"

NOTES = """\
Shipped scenarios, runs drawn in lots as for a GPU; processor time of all threads of the host, of
which Python's lock lets most do one at a time. *draw*: random numbers; *models*: models and
releases made from them; *start*: states, releases placed over the ground; *worlds*: parameters for
kernels; *take*: results, contacts, columns; *tables*: Arrow, Parquet and compression; *write*:
files, seals, forced to the disk. Contacts are those of some runs that are carried to their ends,
repeated. *asked* is the sum that rates asked through the front door leave room for.
"""

#: Scenario, runs at once, runs carried to their ends for their contacts, ms a run allowed in all.
CASES = (
    ("paper002_dispersed", 4096, 16, 0.3),
    ("paper003_dispersed", 1024, 8, 1.0),
    ("ryugu_minerva", 16_384, 64, None),
    ("itokawa_cube", 16_384, 32, None),
)
PARTS = ("draw", "models", "start", "worlds", "take", "tables", "write")


class _Clock:
    """Processor time [s] by part."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(PARTS, 0.0)

    @contextmanager
    def part(self, name: str) -> Any:
        begin = time.process_time()
        yield
        self.spent[name] += time.process_time() - begin


def rows(device: Device, repeats: int = 5) -> list[Row]:
    """Every figure of the table: of the host, whatever the device."""
    return [row for case in CASES for row in host_rows(*case)]


def host_rows(name: str, count: int, carried: int, allowed: float | None) -> list[Row]:
    """The parts of one scenario, and their sum."""
    work = _work(name, count)
    contacts = _contacts(work, carried)
    once(work, min(count, 200), contacts, _Clock())  # warm
    clock = _Clock()
    once(work, count, contacts, clock)
    each = {part: 1e3 * spent / count for part, spent in clock.spent.items()}
    whole = Row(f"{name}, {count} runs, in all", sum(each.values()), "ms/run", allowed)
    return [whole, *(Row(f"{name}: {part}", value, "ms/run") for part, value in each.items())]


def _work(name: str, count: int) -> Work:
    scenario = load(find(name).path).replaced({"record.trajectories": []})
    plan: Plan = make_plan(scenario, "cpu", {}, count)
    work = Work(scenario, plan, "cpu", threads=1)
    _ = work.prepared
    return work


def _contacts(work: Work, runs: int) -> Any:
    """All contacts of some runs."""
    values = sample(work.scenario, np.arange(runs), total=runs)
    job = Job(work, np.arange(runs), values)
    found = []
    for part in job.parts:
        batch = Batch(part.model, job.lot(part), device="cpu")
        batch.run()
        found += batch._first.drained
    every = stacked(Touch, found)
    return rows_of(every, np.argsort(every["run"], kind="stable"))


def once(work: Work, count: int, contacts: Any, clock: _Clock) -> None:
    """All that the host does for so many runs."""
    shards = range(-(-count // work.plan.shard))
    runs = np.concatenate([work.plan.runs(shard) for shard in shards])[:count]
    with clock.part("draw"):
        values = sample(work.scenario, runs, total=work.plan.total)
    with clock.part("models"):
        job = Job(work, runs, values)
    with clock.part("start"):
        lots = [(part, job.lot(part)) for part in job.parts]
    device = devices.resolve("cpu")
    for part, lot in lots:
        loop = part.model.loop()
        table = Worlds(loop.World, loop.judge, part.model.stops, device)
        with clock.part("worlds"):
            table.remove(table.add(part.model.worlds(lot.release, device, lot.running)))
        _end(lot, contacts)
    with clock.part("take"):
        for part, lot in lots:
            job.take(part, lot.result())
        job.close()
    drawn = Drawn.__new__(Drawn)
    drawn.shards_of, drawn.runs, drawn.job = list(shards), runs, job
    drawn._edges = [*range(0, count, work.plan.shard), count]
    with clock.part("tables"):
        made = [make() for make in drawn.shards()]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / SEALS).mkdir()
        with clock.part("write"):
            for shard in made:
                write_shard(folder, work.plan, shard)


def _end(lot: Lot, contacts: Any) -> None:
    """As if all runs had timed out, with contacts like those of others."""
    runs = lot.states.runs
    runs["outcome"] = np.where(runs["outcome"] == 0, int(Outcome.TIMED_OUT), runs["outcome"])
    runs["t"] = 100.0
    if len(contacts):
        each = int(contacts["run"].max()) + 1
        times = -(-len(runs) // each)
        more = rows_of(contacts, np.tile(np.arange(len(contacts)), times))
        more["run"] += np.repeat(each * np.arange(times, dtype=np.int32), len(contacts))
        lot.drained.append(more[: np.searchsorted(more["run"] >= len(runs), True)])

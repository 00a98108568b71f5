"""A campaign of one alternative: kept in a folder, resumed, and timed without its preparation."""

from __future__ import annotations

import json
import pathlib
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from alight.campaign import run_campaign
from alight.campaign.executors import Local, Tally
from alight.campaign.jobs.shard import Work
from alight.campaign.shard_store import Shard
from alight.scenario.document import Document

#: Shards that the runs of an alternative are cut into: each is timed by itself.
SHARDS = 16


@dataclass(frozen=True)
class Cost:
    """What runs of an alternative cost on the cores of this machine."""

    run_s: float
    """Processor time of a run, once kernels are compiled and tables are built [s]: the median over
    shards."""
    setup_s: float
    """Until its first run could begin: tables are built or read from disk [s]."""
    wall_s: float
    """How long a run took on the clock [s]."""


class Stopwatch(Local):
    """Computes shards on this machine's cores, and times them.

    In the first shard kernels are compiled: it does not count, and where it is the only one it is
    computed twice.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setup_s = 0.0
        self.timed: list[tuple[float, float]] = []

    def prepare(self, work: Work) -> None:
        """Make meshes and fields, and time it."""
        began = time.process_time()
        super().prepare(work)
        self.setup_s = time.process_time() - began

    def compute(self, work: Work, shards: Sequence[int], tally: Tally) -> Iterator[Shard]:
        """Yield the shards in order, each timed."""
        for number, shard in enumerate(shards):
            began = time.process_time(), time.perf_counter()
            (made,) = super().compute(work, [shard], tally)
            if number > 0 or self.timed:
                self._note(began, len(work.plan.runs(shard)))
            elif len(shards) == 1:
                began = time.process_time(), time.perf_counter()
                work.compute(shard)
                self._note(began, len(work.plan.runs(shard)))
            yield made

    def _note(self, began: tuple[float, float], runs: int) -> None:
        spent = time.process_time() - began[0], time.perf_counter() - began[1]
        self.timed.append((spent[0] / runs, spent[1] / runs))

    def cost(self) -> Cost | None:
        """What was found; None where nothing was computed."""
        if not self.timed:
            return None
        run, wall = (statistics.median(column) for column in zip(*self.timed, strict=True))
        return Cost(run, self.setup_s, wall)


def measured(
    scenario: Document, folder: pathlib.Path, runs: int, minutes: float, show: str
) -> tuple[Cost, int]:
    """Run an alternative, or resume it; fewer than ``runs`` where they would take longer.

    Two shards are run first, and tell how many runs fit into ``minutes``.
    """
    shard = max(1, -(-runs // SHARDS))
    plain = scenario.replaced(
        {"campaign.shard": shard, "campaign.sampling": "random", "record.trajectories": None}
    )
    kept = _read(folder)
    first = min(2 * shard, runs)
    cost = kept or _run(plain, first, folder, show)
    fit = int(60.0 * minutes / max(cost.wall_s, 1e-9))
    total = min(runs, max(first, fit - fit % shard))
    if total > first:
        later = _run(plain, total, folder, show, cost)
        cost = kept or later
    _keep(folder, cost)
    return cost, total


def _run(
    scenario: Document, total: int, folder: pathlib.Path, show: str, known: Cost | None = None
) -> Cost:
    watch = Stopwatch()
    run_campaign(scenario, total, out=folder, device="cpu", executor=watch, show=show)
    found = watch.cost()
    if found is None and known is None:  # everything was there, but not what it cost
        return _again(scenario, total, folder)
    if found is None:
        assert known is not None
        return known
    return found if known is None else Cost(found.run_s, known.setup_s, found.wall_s)


def _again(scenario: Document, total: int, folder: pathlib.Path) -> Cost:
    """Time runs whose results are kept already."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        return _run(scenario, total, pathlib.Path(place) / "timed", "silent")


def _path(folder: pathlib.Path) -> pathlib.Path:
    return folder.parent / f"{folder.name}.cost.json"


def _read(folder: pathlib.Path) -> Cost | None:
    try:
        return Cost(**json.loads(_path(folder).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _keep(folder: pathlib.Path, cost: Cost) -> None:
    path = _path(folder)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(cost)), "utf-8")
    part.replace(path)
